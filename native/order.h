/* The index of arrival order across stdout and stderr. */
#ifndef SANDBOXD_ORDER_H
#define SANDBOXD_ORDER_H

#include <stdint.h>

struct order {
    int fd;
    /* The stream whose run is going on; -1 before the first byte. */
    int current;
    uint64_t written;
    uint64_t punched;
};

/* To be told before the bytes of a stream are stored; `end_of_other` is where the other stream ends. As an
 * entry then tells of every finished run, only the run that is going on has bytes past the entries. */
void note_run(struct order *order, int directory, int stream, uint64_t end_of_other);
void release_order(struct order *order, int directory);

#endif
