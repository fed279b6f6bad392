/* Where unpacked files may lie: a directory that is ours alone, in the first place that will do. */
#ifndef SANDBOXD_PLACE_H
#define SANDBOXD_PLACE_H

#include <limits.h>
#include <stdbool.h>

struct place {
    char parent[PATH_MAX];
    char name[64];
    /* The parent may be made where it is not. */
    bool makes_parent;
};

/* The place of this number, best first; false after the last. */
bool choose_place(struct place *place, unsigned number);
/* Opens the directory of a place, made where it is not. Answers NULL, or what stands against it. */
const char *open_place(const struct place *place, int *directory);
/* Opens a directory in another one that is ours alone, made where it is not; -1 with errno. */
int open_private(int parent, const char *name);

#endif
