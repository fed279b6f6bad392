/* The end of a command and of all that it started: TERM, of a terminal HUP before it, a grace, then KILL until nobody
 * is left. */
#ifndef SANDBOXD_ENDING_H
#define SANDBOXD_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NEVER UINT64_MAX

enum ending_phase { ENDING_NOT_ASKED, ENDING_HANGING_UP, ENDING_TERMINATING, ENDING_KILLING };

/* Times are monotonic milliseconds. */
struct ending {
    enum ending_phase phase;
    /* Of the terminal, by its leader; 0 where there is none. */
    pid_t session;
    uint64_t terminate_at;
    uint64_t kill_at;
    uint64_t round_at;
    uint64_t round_pause_ms;
};

/* Asks our descendants to end, or without a grace kills them. Asked again, the earlier end of the grace holds. */
void begin_ending(struct ending *ending, uint64_t grace_ms);
/* No grace: kills from the next step on. */
void begin_killing(struct ending *ending);
/* Does what is due. True when it sent SIGKILL. */
bool continue_ending(struct ending *ending);
/* Nobody is left. */
void finish_ending(struct ending *ending);
/* When there is next something to do, or NEVER. */
uint64_t next_ending_step(const struct ending *ending);

#endif
