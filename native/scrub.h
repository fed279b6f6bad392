/* Keeps keys and loader variables away from the daemon's environment and from everybody's eyes. */
#ifndef SANDBOXD_SCRUB_H
#define SANDBOXD_SCRUB_H

#include "list.h"

/* Copies; nothing points into the memory that the kernel shows of this process. */
struct surroundings {
    struct string_list arguments;
    struct string_list environment;
    /* Keys, as NAME=value or --option=value. */
    struct string_list secrets;
    /* Variables that would change how a program loads or runs, taken out of the environment. */
    struct string_list scrubbed;
};

/* Both take lists that end with NULL and add copies. */
void scrub_environment(struct surroundings *surroundings, char *const *environment);
/* Keys become secrets; everything else stays. */
void scrub_arguments(struct surroundings *surroundings, char *const *arguments);

#endif
