/* A growing list of strings, NULL-terminated as exec takes it; for the start of the program only. */
#ifndef SANDBOXD_LIST_H
#define SANDBOXD_LIST_H

#include <stddef.h>

struct string_list {
    char **items;
    size_t count;
};

/* Adds a copy. Without memory at this point there is nothing to go on with: ends the program. */
void add_string(struct string_list *list, const char *string);
/* Of a list that ends with NULL; an empty one may be NULL itself. */
void add_strings(struct string_list *list, char *const *strings);
/* Adds the two as one string. */
void add_option(struct string_list *list, const char *option, const char *value);
/* Overwrites and frees every string. */
void wipe_strings(struct string_list *list);
/* Frees the list and its strings. */
void free_strings(struct string_list *list);

#endif
