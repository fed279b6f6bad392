/* SHA-256, which verifies the daemon that the program carries. */
#ifndef BOXKEEP_SHA256_H
#define BOXKEEP_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32u

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};

void begin_sha256(struct sha256 *sha);
void add_sha256(struct sha256 *sha, const uint8_t *bytes, size_t size);
void end_sha256(struct sha256 *sha, uint8_t digest[SHA256_BYTES]);

#endif
