/* The keepers that init has made and that still live. */
#ifndef SANDBOXD_KEEPERS_H
#define SANDBOXD_KEEPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct keepers {
    pid_t *pids;
    size_t count;
    size_t capacity;
};

/* Makes room for one more; without it none may be forked, for it could not be ended. */
bool reserve_keeper(struct keepers *keepers);
void add_keeper(struct keepers *keepers, pid_t pid);
/* Forgets a process that was reaped, if it was a keeper; the others stay in their order. */
void remove_keeper(struct keepers *keepers, pid_t pid);
/* Until they are reaped their pids cannot be anybody else's. */
void signal_keepers(const struct keepers *keepers, int signal_number);

#endif
