/* Ends a command and all its descendants: SIGHUP for a terminal, SIGTERM, a grace period, and finally SIGKILL. */
#ifndef BOXKEEP_ENDING_H
#define BOXKEEP_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NEVER UINT64_MAX

enum ending_phase { ENDING_NOT_ASKED, ENDING_HANGING_UP, ENDING_TERMINATING, ENDING_KILLING };

/* All times are monotonic milliseconds. */
struct ending {
    enum ending_phase phase;
    /* The terminal's session, which is the pid of its leader. 0 without a terminal. */
    pid_t session;
    uint64_t terminate_at;
    uint64_t kill_at;
    uint64_t round_at;
    uint64_t round_pause_ms;
};

/* Asks our descendants to end, or kills them if the grace period is 0. After repeated calls the earliest deadline
 * counts. */
void begin_ending(struct ending *ending, uint64_t grace_ms);
/* Kills without a grace period, from the next step on. */
void begin_killing(struct ending *ending);
/* Does what is due. True when it sent SIGKILL. */
bool continue_ending(struct ending *ending);
/* No descendants are left. */
void finish_ending(struct ending *ending);
/* The time of the next step, or NEVER. */
uint64_t next_ending_step(const struct ending *ending);

#endif
