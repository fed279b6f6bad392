/* Reads and writes frames on a stream socket, with bounds checks on every field. */
#ifndef BOXKEEP_FRAME_H
#define BOXKEEP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads fields one after another. A missing field marks the reader as failed and reads as zero. */
struct field_reader {
    const uint8_t *at;
    size_t left;
    bool has_failed;
};

struct field_reader read_fields(const uint8_t *bytes, size_t size);
uint16_t read_u16(struct field_reader *reader);
uint32_t read_u32(struct field_reader *reader);
uint64_t read_u64(struct field_reader *reader);
/* The NUL-terminated string at the current position. It points into the frame's own bytes. */
const char *read_string(struct field_reader *reader);
/* Whether every field was present and no bytes are left over. */
bool is_read_exactly(const struct field_reader *reader);

/* Writes fields one after another into a buffer. A field that does not fit marks the writer as failed. */
struct field_writer {
    uint8_t *bytes;
    size_t size;
    size_t used;
    bool has_failed;
};

struct field_writer write_fields(uint8_t *bytes, size_t size);
void write_u16(struct field_writer *writer, uint16_t value);
void write_u32(struct field_writer *writer, uint32_t value);
void write_u64(struct field_writer *writer, uint64_t value);
void write_bytes(struct field_writer *writer, const void *bytes, size_t size);
void write_frame_header(struct field_writer *writer, uint16_t type, size_t payload_bytes);

struct frame {
    uint16_t type;
    size_t size;
    const uint8_t *payload;
};

/* Bytes that have arrived on a socket and do not form a whole frame yet. Starts as all zeroes. */
struct inbox {
    uint8_t *bytes;
    size_t capacity;
    size_t start;
    size_t end;
    /* Bytes at the beginning of the memory that have ever been written. */
    size_t filled;
};

enum fill_outcome { FILL_MORE, FILL_EMPTY, FILL_ENDED };
enum next_outcome { NEXT_FRAME, NEXT_INCOMPLETE, NEXT_INVALID };

/* Reads once from the socket. */
enum fill_outcome fill_inbox(struct inbox *inbox, int fd);
/* The next whole frame. It stays valid until the next fill. */
enum next_outcome next_frame(struct inbox *inbox, struct frame *frame);
void empty_inbox(struct inbox *inbox);
/* Overwrites the frames that were taken, and keeps the start of a frame that has not arrived whole. */
void wipe_inbox(struct inbox *inbox);

/* Sends one frame without blocking. False means that the connection is unusable, because part of the frame may be
 * sent. */
bool send_frame(int fd, uint16_t type, const uint8_t *payload, size_t size);

#endif
