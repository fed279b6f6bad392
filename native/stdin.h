/* The command's input: bytes by absolute position, a bounded queue, and the end at a position. */
#ifndef SANDBOXD_STDIN_H
#define SANDBOXD_STDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum input_end { END_OPEN, END_ASKED, END_GIVEN };

struct input {
    /* -1: never was one, ended, or nobody reads it. */
    int fd;
    bool is_terminal;
    uint8_t *bytes;
    size_t start;
    size_t used;
    /* Everything taken from the daemon, and how much of it the command was given. */
    uint64_t accepted;
    uint64_t written;
    enum input_end end;
    uint64_t end_at;
};

/* Takes what is new in these bytes and fits into the window. */
void accept_input(struct input *input, uint64_t offset, const uint8_t *bytes, size_t size);
/* Ends the input after this many bytes; what was ended there before is not ended again. */
void end_input(struct input *input, uint64_t offset);
/* Writes what the command takes now. True when the window has opened so far that the daemon should know. */
bool flush_input(struct input *input);
/* Nobody reads any more: what is queued and what comes counts as written. */
void break_input(struct input *input);

#endif
