/* Starts one command: opens its pipes or terminal, and starts the child that executes the command. */
#ifndef BOXKEEP_LAUNCH_H
#define BOXKEEP_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "request.h"

/* The two ends of a command's standard streams. -1 means that there is none. */
struct channels {
    int child[3];
    int input;
    int output[2];
};

/* Where a start failed: a spawn_stage and an errno. Stage 0 means success. */
struct failure {
    int stage;
    int reason;
};

/* Opens pipes or a terminal as the request says, and gives them to its account. */
struct failure open_channels(struct channels *channels, const struct request *request);
void close_child_ends(struct channels *channels);
void close_keeper_ends(struct channels *channels);

/* The process group differs from the pid where the request asks for a child that does not lead its group. */
struct launched {
    pid_t pid;
    pid_t group;
};

/* Starts the child and waits until it executes the program or has failed. `oom_score_adj` is the child's score: the
 * request's own, or the one that boxkeep was started with. */
struct failure launch(const struct request *request, const struct channels *channels, int oom_score_adj,
                      struct launched *launched);

#endif
