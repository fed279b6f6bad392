/* One output log: absolute offsets in a file whose past can be given up, and the gaps in it. */
#ifndef SANDBOXD_LOG_H
#define SANDBOXD_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct journal;

/* Bytes that were read from the command and are not in the log: [from, to). */
struct gap {
    uint64_t from;
    uint64_t to;
};

struct log {
    /* -1 until the first byte: most commands never say a word on one of their streams. */
    int fd;
    int directory;
    /* NULL: nothing is kept, and the head is always the end. */
    const char *name;
    uint64_t cap_bytes;
    uint64_t head;
    uint64_t end;
    uint64_t lost;
    /* One place more than is ever kept: a new gap comes in before two are joined. */
    struct gap gaps[GAPS_LIMIT + 1];
    unsigned gap_count;
    /* Learns of every new head and gap before the bytes go. */
    struct journal *journal;
};

/* Keeps what comes in the file of this name, which is not there yet. */
void keep_log(struct log *log, int directory, const char *name);
/* Takes all bytes, whatever the disk says. */
void append_to_log(struct log *log, const uint8_t *bytes, size_t size);
/* How many bytes still fit under the cap. */
size_t log_room(const struct log *log);
/* Gives up old bytes so that three quarters of the cap stay, but none from `keep_from` on. */
void evict_from_log(struct log *log, uint64_t keep_from);
/* Reads all from an offset to the end; 0 when that is more than `size`, or not all of it is kept. */
size_t read_log_tail(const struct log *log, uint64_t from, uint8_t *bytes, size_t size);
/* Gives up everything and keeps nothing from now on. */
void release_log(struct log *log);

#endif
