/* Removes keys and loader variables from the daemon's environment and arguments, which other processes can read. */
#ifndef BOXKEEP_SCRUB_H
#define BOXKEEP_SCRUB_H

#include <stdbool.h>

#include "list.h"

/* All strings are copies: none points into the memory that the kernel shows as this process's arguments and
 * environment. */
struct surroundings {
    struct string_list arguments;
    struct string_list environment;
    /* Keys, as NAME=value or --option=value. */
    struct string_list secrets;
    /* Variables that would change how a program loads or runs. They are removed from the environment. */
    struct string_list scrubbed;
};

/* Both functions take lists that end with NULL and add copies. */
void scrub_environment(struct surroundings *surroundings, char *const *environment);
/* Gives a client of a daemon the variables that name files of certificates. */
void keep_certificates(struct surroundings *surroundings);
/* Moves keys to the secrets and keeps everything else. */
void scrub_arguments(struct surroundings *surroundings, char *const *arguments);
/* Whether the daemon reads its key from a file, which it reads again on SIGHUP. */
bool names_key_file(const struct surroundings *surroundings);
/* Adds NAME=key, and leaves no other copy of the key in memory. */
void add_key(struct string_list *secrets, const char *name, const char *key);

#endif
