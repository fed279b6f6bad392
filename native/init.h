/* init: starts the daemon, makes keepers, reaps orphans, ends everything in order. */
#ifndef SANDBOXD_INIT_H
#define SANDBOXD_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon.h"
#include "ending.h"
#include "keepers.h"
#include "runtime.h"
#include "upgrade.h"

enum init_phase { PHASE_RUNNING, PHASE_DAEMON_ENDS, PHASE_KEEPERS_END, PHASE_KILLING };

struct init {
    enum init_phase phase;
    struct daemon *daemon;
    struct runtime runtime;
    struct keepers keepers;
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

/* Runs until the end of everything and gives the exit code. */
int run_init(struct daemon *daemon);
/* The same for what another program has begun in this process, and left in a descriptor. */
int resume_init(struct daemon *daemon, int descriptor);

#endif
