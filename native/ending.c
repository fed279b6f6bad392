/* The end of a command and of all that it started: TERM, of a terminal HUP before it, a grace, then KILL until nobody
 * is left. */
#include "ending.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io.h"
#include "tree.h"

#define FIRST_PAUSE_MS 2u
/* Only a process stuck inside the kernel outlives several rounds. */
#define LONGEST_PAUSE_MS 50u
/* What a terminal's programs have to put their things in order; of a shorter grace the half. */
#define HANG_UP_MS 500u

static void signal_descendants(int first, int second) {
    struct tree tree = find_descendants(getpid());
    signal_tree_twice(&tree, first, second);
    free_tree(&tree);
}

/* Of those in the session of the terminal, or of all others. SIGCONT second: a stopped process would meet the first
 * signal only when somebody wakes it. */
static void signal_session(const struct ending *ending, bool is_inside, int number) {
    struct tree tree = find_descendants(getpid());
    keep_session(&tree, ending->session, is_inside);
    signal_tree_twice(&tree, number, SIGCONT);
    free_tree(&tree);
}

/* As when the window of a terminal is closed: an interactive shell is deaf to SIGTERM. Who has left its session would
 * take SIGHUP for something else, and is asked as any other process is. */
static void hang_up(struct ending *ending, uint64_t grace_ms) {
    uint64_t terminate_at = monotonic_ms() + (grace_ms / 2 < HANG_UP_MS ? grace_ms / 2 : HANG_UP_MS);
    if (ending->phase == ENDING_NOT_ASKED || terminate_at < ending->terminate_at) ending->terminate_at = terminate_at;
    ending->phase = ENDING_HANGING_UP;
    signal_session(ending, true, SIGHUP);
    signal_session(ending, false, SIGTERM);
}

/* Who was not to notice the end of the terminal (nohup), and who has not ended over it. */
static void terminate_session(struct ending *ending) {
    ending->phase = ENDING_TERMINATING;
    signal_session(ending, true, SIGTERM);
}

void begin_ending(struct ending *ending, uint64_t grace_ms) {
    uint64_t kill_at = monotonic_ms() + grace_ms;
    if (ending->phase == ENDING_KILLING) return;
    if (grace_ms == 0) {
        begin_killing(ending);
        return;
    }
    if (ending->phase == ENDING_NOT_ASKED || kill_at < ending->kill_at) ending->kill_at = kill_at;
    if (ending->session != 0 && ending->phase != ENDING_TERMINATING) {
        hang_up(ending, grace_ms);
        return;
    }
    ending->phase = ENDING_TERMINATING;
    /* SIGCONT after SIGTERM, for the same reason as above. */
    signal_descendants(SIGTERM, SIGCONT);
}

/* Stopped first, so that nobody is born between the look and the kill; a second look finds those who were
 * born during the first. What still escapes meets the next round. */
static void kill_round(struct ending *ending) {
    signal_descendants(SIGSTOP, 0);
    signal_descendants(SIGSTOP, SIGKILL);
    ending->round_at = monotonic_ms() + ending->round_pause_ms;
    if (ending->round_pause_ms < LONGEST_PAUSE_MS) ending->round_pause_ms *= 2;
}

/* Ahead of those who are to be ended: a crowd that keeps every processor busy could outrun us. Nothing is
 * started by us any more that could inherit it; without privilege it is refused, and takes longer. */
static void hurry(void) {
    if (setpriority(PRIO_PROCESS, 0, -20) != 0) return;
}

void begin_killing(struct ending *ending) {
    hurry();
    ending->phase = ENDING_KILLING;
    ending->round_at = 0;
    ending->round_pause_ms = FIRST_PAUSE_MS;
}

bool continue_ending(struct ending *ending) {
    uint64_t now = monotonic_ms();
    if (ending->phase == ENDING_HANGING_UP && now >= ending->terminate_at) terminate_session(ending);
    if (ending->phase == ENDING_TERMINATING && now >= ending->kill_at) begin_killing(ending);
    if (ending->phase != ENDING_KILLING || now < ending->round_at) return false;
    kill_round(ending);
    return true;
}

void finish_ending(struct ending *ending) {
    ending->phase = ENDING_NOT_ASKED;
}

uint64_t next_ending_step(const struct ending *ending) {
    if (ending->phase == ENDING_HANGING_UP) return ending->terminate_at;
    if (ending->phase == ENDING_TERMINATING) return ending->kill_at;
    return ending->phase == ENDING_KILLING ? ending->round_at : NEVER;
}
