/* The command's input: bytes at absolute offsets, a bounded queue, and an end at an offset. */
#ifndef BOXKEEP_STDIN_H
#define BOXKEEP_STDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum input_end { END_OPEN, END_ASKED, END_GIVEN };

struct input {
    /* -1 when the command has no input, the input has ended, or no process reads it. */
    int fd;
    bool is_terminal;
    uint8_t *bytes;
    size_t start;
    size_t used;
    /* Bytes at the beginning of the memory that have ever been written. */
    size_t filled;
    /* Bytes accepted from the daemon, and how many of them the command was given. */
    uint64_t accepted;
    uint64_t written;
    enum input_end end;
    uint64_t end_at;
};

/* Accepts the new bytes that fit into the window. */
void accept_input(struct input *input, uint64_t offset, const uint8_t *bytes, size_t size);
/* Ends the input after this many bytes. An end that was already requested there is not repeated. */
void end_input(struct input *input, uint64_t offset);
/* Writes what the command accepts now. True when the window has opened so far that the daemon should know. */
bool flush_input(struct input *input);
/* The input has no reader any more. Queued and future bytes count as written. */
void break_input(struct input *input);

#endif
