/* Reads and writes frames on a stream socket, with bounds checks on every field. */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io.h"
#include "protocol.h"

#define FILL_BYTES (64u * 1024u)

struct field_reader read_fields(const uint8_t *bytes, size_t size) {
    return (struct field_reader){.at = bytes, .left = size, .has_failed = false};
}

static uint64_t read_integer(struct field_reader *reader, size_t size) {
    if (reader->has_failed || reader->left < size) {
        reader->has_failed = true;
        return 0;
    }
    uint64_t value = 0;
    for (size_t index = 0; index < size; index++) value |= (uint64_t)reader->at[index] << (8 * index);
    reader->at += size;
    reader->left -= size;
    return value;
}

uint16_t read_u16(struct field_reader *reader) {
    return (uint16_t)read_integer(reader, 2);
}

uint32_t read_u32(struct field_reader *reader) {
    return (uint32_t)read_integer(reader, 4);
}

uint64_t read_u64(struct field_reader *reader) {
    return read_integer(reader, 8);
}

const char *read_string(struct field_reader *reader) {
    const uint8_t *end = reader->has_failed || reader->left == 0 ? NULL : memchr(reader->at, 0, reader->left);
    if (end == NULL) {
        reader->has_failed = true;
        return "";
    }
    const char *string = (const char *)reader->at;
    reader->left -= (size_t)(end + 1 - reader->at);
    reader->at = end + 1;
    return string;
}

bool is_read_exactly(const struct field_reader *reader) {
    return !reader->has_failed && reader->left == 0;
}

struct field_writer write_fields(uint8_t *bytes, size_t size) {
    return (struct field_writer){.bytes = bytes, .size = size, .used = 0, .has_failed = false};
}

void write_bytes(struct field_writer *writer, const void *bytes, size_t size) {
    if (writer->has_failed || writer->size - writer->used < size) {
        writer->has_failed = true;
        return;
    }
    if (size > 0) memcpy(writer->bytes + writer->used, bytes, size);
    writer->used += size;
}

static void write_integer(struct field_writer *writer, uint64_t value, size_t size) {
    uint8_t bytes[8];
    for (size_t index = 0; index < size; index++) bytes[index] = (uint8_t)(value >> (8 * index));
    write_bytes(writer, bytes, size);
}

void write_u16(struct field_writer *writer, uint16_t value) {
    write_integer(writer, value, 2);
}

void write_u32(struct field_writer *writer, uint32_t value) {
    write_integer(writer, value, 4);
}

void write_u64(struct field_writer *writer, uint64_t value) {
    write_integer(writer, value, 8);
}

void write_frame_header(struct field_writer *writer, uint16_t type, size_t payload_bytes) {
    write_u32(writer, (uint32_t)payload_bytes);
    write_u16(writer, type);
    write_u16(writer, 0);
}

/* Frames carry environments and input, so freed memory is overwritten. */
static void free_bytes(struct inbox *inbox) {
    if (inbox->bytes != NULL) explicit_bzero(inbox->bytes, inbox->filled);
    free(inbox->bytes);
}

/* A large SPAWN must not stay in the memory of a keeper that lives for days. */
static void shrink_when_empty(struct inbox *inbox) {
    if (inbox->start == inbox->end && inbox->capacity > FILL_BYTES) empty_inbox(inbox);
}

/* Grows by the bytes that have arrived, never by the size that a header announces. */
static bool make_room(struct inbox *inbox) {
    shrink_when_empty(inbox);
    if (inbox->start > 0) {
        memmove(inbox->bytes, inbox->bytes + inbox->start, inbox->end - inbox->start);
        inbox->end -= inbox->start;
        inbox->start = 0;
    }
    if (inbox->capacity - inbox->end >= FILL_BYTES / 2) return true;
    size_t capacity = inbox->capacity == 0 ? FILL_BYTES : inbox->capacity * 2;
    uint8_t *bytes = malloc(capacity);
    if (bytes == NULL) return false;
    if (inbox->end > 0) memcpy(bytes, inbox->bytes, inbox->end);
    free_bytes(inbox);
    inbox->bytes = bytes;
    inbox->capacity = capacity;
    inbox->filled = inbox->end;
    return true;
}

enum fill_outcome fill_inbox(struct inbox *inbox, int fd) {
    if (!make_room(inbox)) return FILL_ENDED;
    ssize_t count = read_some(fd, inbox->bytes + inbox->end, inbox->capacity - inbox->end);
    if (count < 0 && errno == EAGAIN) return FILL_EMPTY;
    if (count <= 0) return FILL_ENDED;
    inbox->end += (size_t)count;
    if (inbox->end > inbox->filled) inbox->filled = inbox->end;
    return FILL_MORE;
}

static size_t frame_limit(uint16_t type) {
    return type == FRAME_SPAWN ? SPAWN_LIMIT_BYTES : FRAME_LIMIT_BYTES;
}

enum next_outcome next_frame(struct inbox *inbox, struct frame *frame) {
    if (inbox->end - inbox->start < FRAME_HEADER_BYTES) return NEXT_INCOMPLETE;
    struct field_reader header = read_fields(inbox->bytes + inbox->start, FRAME_HEADER_BYTES);
    frame->size = read_u32(&header);
    frame->type = read_u16(&header);
    if (read_u16(&header) != 0 || frame->size > frame_limit(frame->type)) return NEXT_INVALID;
    if (inbox->end - inbox->start - FRAME_HEADER_BYTES < frame->size) return NEXT_INCOMPLETE;
    frame->payload = inbox->bytes + inbox->start + FRAME_HEADER_BYTES;
    inbox->start += FRAME_HEADER_BYTES + frame->size;
    return NEXT_FRAME;
}

void empty_inbox(struct inbox *inbox) {
    free_bytes(inbox);
    *inbox = (struct inbox){0};
}

void wipe_inbox(struct inbox *inbox) {
    size_t unread = inbox->end - inbox->start;
    if (inbox->bytes == NULL) return;
    memmove(inbox->bytes, inbox->bytes + inbox->start, unread);
    explicit_bzero(inbox->bytes + unread, inbox->filled - unread);
    inbox->start = 0;
    inbox->end = inbox->filled = unread;
}

bool send_frame(int fd, uint16_t type, const uint8_t *payload, size_t size) {
    uint8_t header[FRAME_HEADER_BYTES];
    struct field_writer writer = write_fields(header, sizeof header);
    write_frame_header(&writer, type, size);
    struct iovec parts[2] = {{header, sizeof header}, {(void *)(uintptr_t)payload, size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent;
    do {
        sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(sizeof header + size);
}
