/* One output log: a file with absolute offsets, old content that can be evicted, and recorded gaps. */
#ifndef BOXKEEP_LOG_H
#define BOXKEEP_LOG_H

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
    /* -1 until the first byte, because most commands never write to one of their streams. */
    int fd;
    int directory;
    /* NULL means that nothing is kept and the head is always the end. */
    const char *name;
    uint64_t cap_bytes;
    uint64_t head;
    uint64_t end;
    uint64_t lost;
    /* One element more than is kept, because a new gap is added before two gaps are joined. */
    struct gap gaps[GAPS_LIMIT + 1];
    unsigned gap_count;
    /* Receives every new head and gap before the bytes are freed. */
    struct journal *journal;
};

/* Keeps the output in a file of this name, which does not exist yet. */
void keep_log(struct log *log, int directory, const char *name);
/* Consumes all bytes, even if the disk does not take them. */
void append_to_log(struct log *log, const uint8_t *bytes, size_t size);
/* How many bytes still fit under the cap. */
size_t log_room(const struct log *log);
/* Evicts old bytes until three quarters of the cap are left. Keeps all bytes from `keep_from` on. */
void evict_from_log(struct log *log, uint64_t keep_from);
/* Reads everything from an offset to the end. Returns 0 when that is more than `size`, or not all of it is kept. */
size_t read_log_tail(const struct log *log, uint64_t from, uint8_t *bytes, size_t size);
/* Drops all content and keeps nothing from now on. */
void release_log(struct log *log);

#endif
