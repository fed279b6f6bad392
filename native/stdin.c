/* The command's input: bytes at absolute offsets, a bounded queue, and an end at an offset. */
#include "stdin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "io.h"
#include "protocol.h"

#define DEFAULT_END_CHARACTER 4

/* Only the end of a pipe is final. */
static uint64_t acceptance_limit(const struct input *input) {
    return input->end != END_OPEN && !input->is_terminal ? input->end_at : UINT64_MAX;
}

static bool has_queue(struct input *input) {
    if (input->bytes == NULL) input->bytes = malloc(STDIN_WINDOW_BYTES);
    return input->bytes != NULL;
}

static void compact_queue(struct input *input) {
    memmove(input->bytes, input->bytes + input->start, input->used);
    input->start = 0;
}

static void queue_bytes(struct input *input, const uint8_t *bytes, size_t size) {
    size_t room = STDIN_WINDOW_BYTES - input->used;
    if (size > room) size = room;
    if (size == 0 || !has_queue(input)) return;
    if (STDIN_WINDOW_BYTES - input->start - input->used < size) compact_queue(input);
    memcpy(input->bytes + input->start + input->used, bytes, size);
    input->used += size;
    if (input->start + input->used > input->filled) input->filled = input->start + input->used;
    input->accepted += size;
}

static void drop_bytes(struct input *input, size_t size) {
    input->accepted += size;
    input->written = input->accepted;
}

void accept_input(struct input *input, uint64_t offset, const uint8_t *bytes, size_t size) {
    if (offset > input->accepted || input->accepted - offset >= size) return;
    size_t known = (size_t)(input->accepted - offset);
    uint64_t limit = acceptance_limit(input);
    size -= known;
    if (limit <= input->accepted) return;
    if (size > limit - input->accepted) size = (size_t)(limit - input->accepted);
    if (input->fd >= 0) queue_bytes(input, bytes + known, size);
    else drop_bytes(input, size);
}

/* An empty queue is always freed, because a keeper lives long and is mostly idle. The keeper may hold another command
 * later, so the bytes are overwritten. */
static void free_queue(struct input *input) {
    if (input->bytes != NULL) explicit_bzero(input->bytes, input->filled);
    free(input->bytes);
    input->bytes = NULL;
    input->filled = 0;
    input->start = 0;
    input->used = 0;
}

void break_input(struct input *input) {
    input->written = input->accepted;
    free_queue(input);
    close_descriptor(&input->fd);
}

/* A terminal can receive its end character repeatedly. A pipe ends once. */
void end_input(struct input *input, uint64_t offset) {
    if (input->end != END_OPEN && (!input->is_terminal || offset <= input->end_at)) return;
    input->end = END_ASKED;
    input->end_at = offset;
}

/* Counts bytes only up to the requested end: on a terminal, later bytes have to follow the end character. */
static size_t writable_bytes(const struct input *input) {
    if (input->end != END_ASKED) return input->used;
    uint64_t to_end = input->end_at > input->written ? input->end_at - input->written : 0;
    return input->used < to_end ? input->used : (size_t)to_end;
}

/* False when the command accepts no more bytes for now. */
static bool write_queued(struct input *input) {
    ssize_t count = write(input->fd, input->bytes + input->start, writable_bytes(input));
    if (count < 0 && errno == EINTR) return true;
    if (count < 0 && errno == EAGAIN) return false;
    if (count < 0) {
        break_input(input);
        return false;
    }
    input->start += (size_t)count;
    input->used -= (size_t)count;
    input->written += (uint64_t)count;
    return true;
}

static char end_character(int terminal) {
    struct termios settings;
    if (tcgetattr(terminal, &settings) != 0 || settings.c_cc[VEOF] == _POSIX_VDISABLE) return DEFAULT_END_CHARACTER;
    return (char)settings.c_cc[VEOF];
}

/* A terminal that accepts no byte now gets the end character at the next attempt. */
static void give_end(struct input *input) {
    char character = input->is_terminal ? end_character(input->fd) : 0;
    if (!input->is_terminal) break_input(input);
    else if (write(input->fd, &character, 1) != 1) return;
    input->end = END_GIVEN;
}

static bool is_end_due(const struct input *input) {
    return input->end == END_ASKED && input->written >= input->end_at;
}

static void write_what_fits(struct input *input) {
    while (input->fd >= 0 && writable_bytes(input) > 0 && write_queued(input)) continue;
}

bool flush_input(struct input *input) {
    size_t before = input->used, half = STDIN_WINDOW_BYTES / 2;
    write_what_fits(input);
    if (input->fd >= 0 && is_end_due(input)) give_end(input);
    write_what_fits(input);
    if (input->used == 0) free_queue(input);
    return (before > 0 && input->used == 0) || (before > half && input->used <= half);
}
