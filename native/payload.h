/* What a release carries behind this program: found, and described by its trailer and its table. */
#ifndef SANDBOXD_PAYLOAD_H
#define SANDBOXD_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sha256.h"

#define PAYLOAD_FILES 16u
#define PAYLOAD_NAME_BYTES 24u

/* A file that comes out of it. */
struct payload_file {
    char name[PAYLOAD_NAME_BYTES];
    uint64_t size;
};

struct payload {
    /* Our own program. */
    int file;
    /* The table, and the compressed files behind it. */
    uint64_t offset;
    uint64_t length;
    /* Of these bytes. */
    uint8_t digest[SHA256_BYTES];
    /* Where the compressed files begin, counted from `offset`. */
    uint64_t table_bytes;
    unsigned count;
    struct payload_file files[PAYLOAD_FILES];
    /* The directory of the unpacked files, locked as long as we may need them; or -1. */
    int directory;
};

enum payload_search { PAYLOAD_FOUND, PAYLOAD_ABSENT, PAYLOAD_UNKNOWN };

/* Looks behind our own program. Complains when it cannot (PAYLOAD_UNKNOWN). */
enum payload_search find_payload(struct payload *payload);
/* Reads bytes of table and files, `at` counted from the table; false when they are not there. */
bool read_payload(const struct payload *payload, void *bytes, size_t size, uint64_t at);
void complain_of_damage(const char *what);

#endif
