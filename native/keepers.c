/* The list of the living keepers that init has forked. */
#include "keepers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool reserve_keeper(struct keepers *keepers) {
    if (keepers->count < keepers->capacity) return true;
    size_t capacity = keepers->capacity == 0 ? 64 : keepers->capacity * 2;
    pid_t *pids = realloc(keepers->pids, capacity * sizeof *pids);
    if (pids == NULL) return false;
    keepers->pids = pids;
    keepers->capacity = capacity;
    return true;
}

void add_keeper(struct keepers *keepers, pid_t pid) {
    keepers->pids[keepers->count++] = pid;
}

void remove_keeper(struct keepers *keepers, pid_t pid) {
    for (size_t index = 0; index < keepers->count; index++) {
        if (keepers->pids[index] != pid) continue;
        keepers->count--;
        memmove(keepers->pids + index, keepers->pids + index + 1, (keepers->count - index) * sizeof pid);
        return;
    }
}

void signal_keepers(const struct keepers *keepers, int signal_number) {
    for (size_t index = 0; index < keepers->count; index++) kill(keepers->pids[index], signal_number);
}
