/* The daemon that a release carries behind this program: found, and unpacked once into a private place. */
#ifndef SANDBOXD_PAYLOAD_H
#define SANDBOXD_PAYLOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sha256.h"

/* What the last 64 bytes of the file say. */
struct payload {
    int file;
    uint64_t offset;
    uint64_t length;
    uint8_t digest[SHA256_BYTES];
};

enum payload_search { PAYLOAD_FOUND, PAYLOAD_ABSENT, PAYLOAD_UNKNOWN };

/* Looks behind our own program. Complains when it cannot (PAYLOAD_UNKNOWN). */
enum payload_search find_payload(struct payload *payload);
/* Makes sure that the daemon is unpacked, and tells where. Complains when it cannot be. */
bool unpack_payload(const struct payload *payload, char path[PATH_MAX]);

#endif
