/* Starts one command: its pipes or terminal, and the child that becomes it. */
#ifndef SANDBOXD_LAUNCH_H
#define SANDBOXD_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "request.h"

/* The two ends of a command's standard streams. -1: there is none. */
struct channels {
    int child[3];
    int input;
    int output[2];
};

/* Where a start failed: a spawn_stage and an errno; stage 0 means that it did not. */
struct failure {
    int stage;
    int reason;
};

/* Opens pipes, or a terminal, as the request says; gives them to its account. */
struct failure open_channels(struct channels *channels, const struct request *request);
void close_child_ends(struct channels *channels);
void close_keeper_ends(struct channels *channels);

/* Starts the child and waits until it runs the program or has failed.
 * `oom_score_adj` is what the child gets: the request's, or the one that sandboxd was started with. */
struct failure launch(const struct request *request, const struct channels *channels, int oom_score_adj, pid_t *pid);

#endif
