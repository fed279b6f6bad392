/* A growing list of strings, NULL-terminated for exec. Only used while the program starts. */
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"

void add_string(struct string_list *list, const char *string) {
    char **items = realloc(list->items, (list->count + 2) * sizeof *items);
    char *copy = strdup(string);
    if (items == NULL || copy == NULL) {
        complain("out of memory");
        exit(1);
    }
    items[list->count] = copy;
    items[list->count + 1] = NULL;
    list->items = items;
    list->count++;
}

void add_strings(struct string_list *list, char *const *strings) {
    for (; strings != NULL && *strings != NULL; strings++) add_string(list, *strings);
}

void add_option(struct string_list *list, const char *option, const char *value) {
    size_t size = strlen(option) + strlen(value) + 1;
    char *string = malloc(size);
    if (string != NULL) snprintf(string, size, "%s%s", option, value);
    add_string(list, string != NULL ? string : option);
    free(string);
}

void free_strings(struct string_list *list) {
    for (size_t index = 0; index < list->count; index++) free(list->items[index]);
    free(list->items);
    *list = (struct string_list){NULL, 0};
}

void wipe_strings(struct string_list *list) {
    for (size_t index = 0; index < list->count; index++) explicit_bzero(list->items[index], strlen(list->items[index]));
    free_strings(list);
}
