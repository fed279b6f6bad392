/* The list of the living keepers that init has forked. */
#ifndef BOXKEEP_KEEPERS_H
#define BOXKEEP_KEEPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct keepers {
    pid_t *pids;
    size_t count;
    size_t capacity;
};

/* Makes room for one more keeper. A keeper must not be forked without it, because init could not end that keeper. */
bool reserve_keeper(struct keepers *keepers);
void add_keeper(struct keepers *keepers, pid_t pid);
/* Forgets a reaped process if it was a keeper. The others stay in their order. */
void remove_keeper(struct keepers *keepers, pid_t pid);
/* Safe without further checks: a pid is not reused until its process is reaped. */
void signal_keepers(const struct keepers *keepers, int signal_number);

#endif
