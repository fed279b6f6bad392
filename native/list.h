/* A growing list of strings, NULL-terminated for exec. Only used while the program starts. */
#ifndef BOXKEEP_LIST_H
#define BOXKEEP_LIST_H

#include <stddef.h>

struct string_list {
    char **items;
    size_t count;
};

/* Adds a copy. Ends the program when memory is exhausted, because the start cannot continue. */
void add_string(struct string_list *list, const char *string);
/* Adds copies from a list that ends with NULL. `strings` may be NULL for an empty list. */
void add_strings(struct string_list *list, char *const *strings);
/* Adds option and value as one string. */
void add_option(struct string_list *list, const char *option, const char *value);
/* Overwrites and frees every string. */
void wipe_strings(struct string_list *list);
/* Frees the list and its strings. */
void free_strings(struct string_list *list);

#endif
