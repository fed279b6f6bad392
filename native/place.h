/* Finds a private directory for unpacked files: the first candidate that is usable. */
#ifndef BOXKEEP_PLACE_H
#define BOXKEEP_PLACE_H

#include <limits.h>
#include <stdbool.h>

struct place {
    char parent[PATH_MAX];
    char name[64];
    /* Whether a missing parent may be created. */
    bool makes_parent;
};

/* Chooses the candidate with this number, best first. False after the last. */
bool choose_place(struct place *place, unsigned number);
/* Opens the directory of a place, and creates it if necessary. Returns NULL, or the reason why the place is
 * unusable. */
const char *open_place(const struct place *place, int *directory);
/* Opens a private directory inside another directory, and creates it if necessary. -1 with errno. */
int open_private(int parent, const char *name);

#endif
