/* The index of the arrival order across stdout and stderr. */
#ifndef BOXKEEP_ORDER_H
#define BOXKEEP_ORDER_H

#include <stdint.h>

struct order {
    int fd;
    /* The stream of the current run. -1 before the first byte. */
    int current;
    uint64_t written;
    uint64_t punched;
};

/* Must be called before the bytes of a stream are stored. `end_of_other` is the end offset of the other stream. Every
 * finished run then has an entry, and only the current run has bytes past the entries. */
void note_run(struct order *order, int directory, int stream, uint64_t end_of_other);
void release_order(struct order *order, int directory);

#endif
