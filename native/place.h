/* Finds a directory for unpacked files, which only its owner can change: the first candidate that is usable. */
#ifndef BOXKEEP_PLACE_H
#define BOXKEEP_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct place {
    char parent[PATH_MAX];
    char name[64];
    /* Whether the place is for all accounts, and a missing parent may be created. */
    bool is_shared;
};

/* Chooses the candidate with this number, best first. False after the last. */
bool choose_place(struct place *place, unsigned number);
/* Opens the directory of a place, and creates it if necessary. Returns NULL, or the reason why the place is
 * unusable. */
const char *open_place(const struct place *place, int *directory);
/* Opens a directory of our own inside another directory, and creates it if necessary. -1 with errno. */
int open_own(int parent, const char *name);
/* Opens a directory that only root can change; for a caller that may not read the directory, with O_PATH. -1 if the
 * directory is missing, or if another account could change it. */
int open_of_root(int parent, const char *name);
/* Whether programs may run from the file system of an open directory. */
bool allows_programs(int directory);

#endif
