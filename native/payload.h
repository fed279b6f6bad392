/* Finds the payload that a release carries behind this program, and reads its trailer and table. */
#ifndef BOXKEEP_PAYLOAD_H
#define BOXKEEP_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sha256.h"

#define PAYLOAD_FILES 16u
#define PAYLOAD_NAME_BYTES 24u

/* A file in the payload. */
struct payload_file {
    char name[PAYLOAD_NAME_BYTES];
    uint64_t size;
};

struct payload {
    /* Our own program. */
    int file;
    /* The table and the compressed files that follow it. */
    uint64_t offset;
    uint64_t length;
    /* The digest of the bytes in this range. */
    uint8_t digest[SHA256_BYTES];
    /* The size of the table. The compressed files begin this far from `offset`. */
    uint64_t table_bytes;
    unsigned count;
    struct payload_file files[PAYLOAD_FILES];
    /* The directory of the unpacked files, locked as long as we may need them, or -1. */
    int directory;
};

enum payload_search { PAYLOAD_FOUND, PAYLOAD_ABSENT, PAYLOAD_UNKNOWN };

/* Looks for a payload behind our own program. PAYLOAD_UNKNOWN follows a complaint. */
enum payload_search find_payload(struct payload *payload);
/* Reads bytes of table and files, with `at` counted from the table. False when they are not available. */
bool read_payload(const struct payload *payload, void *bytes, size_t size, uint64_t at);
void complain_of_damage(const char *what);

#endif
