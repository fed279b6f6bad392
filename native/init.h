/* Runs init: starts the daemon, forks keepers, reaps orphans and shuts everything down in order. */
#ifndef BOXKEEP_INIT_H
#define BOXKEEP_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon.h"
#include "ending.h"
#include "keepers.h"
#include "runtime.h"
#include "tree.h"
#include "upgrade.h"

enum init_phase { PHASE_RUNNING, PHASE_DAEMON_ENDS, PHASE_KEEPERS_END, PHASE_KILLING };

struct init {
    enum init_phase phase;
    struct daemon *daemon;
    struct runtime runtime;
    struct keepers keepers;
    /* Filled when the keepers are asked to end. */
    struct tree adopted;
    struct upgrade upgrade;
    struct ending ending;
    int signals;
    int exit_code;
    int default_oom_score;
    bool has_children;
    uint64_t restart_at;
    uint64_t phase_ends_at;
    uint64_t all_ends_at;
    uint64_t accept_at;
};

/* Runs until everything has ended, and returns the exit code. */
int run_init(struct daemon *daemon);
/* Continues as run_init with the state that the previous program of this process left in a descriptor. */
int resume_init(struct daemon *daemon, int descriptor);

#endif
