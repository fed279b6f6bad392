/* The file that an upgrade names: looked at once, and run through its descriptor ever after. */
#ifndef SANDBOXD_PROGRAM_H
#define SANDBOXD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "list.h"

struct program {
    /* -1: none. */
    int file;
    char *path;
    /* What its --daemon= options name; empty for one that carries its daemon. */
    struct string_list daemon;
};

/* Opens the file. False with a sentence in `reason` when others could have written it, or it is no program. */
bool open_program(struct program *program, const char *path, char *reason, size_t size);
/* The path that runs exactly the file that was looked at, whatever its name has come to mean since. */
void name_program(const struct program *program, char *path, size_t size);
/* Adds its --daemon= options. */
void add_daemon_options(const struct program *program, struct string_list *arguments);
void close_program(struct program *program);

#endif
