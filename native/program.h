/* The file that an upgrade names: checked once, and then run through its descriptor. */
#ifndef BOXKEEP_PROGRAM_H
#define BOXKEEP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "list.h"

struct program {
    /* -1 means none. */
    int file;
    char *path;
    /* The values of its --daemon= options. Empty for a program that carries its daemon. */
    struct string_list daemon;
};

/* Opens the file. False, with a sentence in `reason`, when others could have written the file or it is not a
 * program. */
bool open_program(struct program *program, const char *path, char *reason, size_t size);
/* The path that runs exactly the checked file, even if its name has been replaced since. */
void name_program(const struct program *program, char *path, size_t size);
/* Appends its --daemon= options to the arguments. */
void add_daemon_options(const struct program *program, struct string_list *arguments);
void close_program(struct program *program);

#endif
