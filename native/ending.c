/* Ends a command and all its descendants: SIGHUP for a terminal, SIGTERM, a grace period, and finally SIGKILL. */
#include "ending.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io.h"
#include "tree.h"

#define FIRST_PAUSE_MS 2u
/* Only a process that is stuck inside the kernel outlives several rounds. */
#define LONGEST_PAUSE_MS 50u
/* How long the programs of a terminal have to clean up after SIGHUP. At most half of the grace period. */
#define HANG_UP_MS 500u

static void signal_descendants(int first, int second) {
    struct tree tree = find_descendants(getpid());
    signal_tree_twice(&tree, first, second);
    free_tree(&tree);
}

/* Signals the processes in the terminal's session, or all others. SIGCONT follows, because a stopped process would
 * not handle the first signal until it is continued. */
static void signal_session(const struct ending *ending, bool is_inside, int number) {
    struct tree tree = find_descendants(getpid());
    keep_session(&tree, ending->session, is_inside);
    signal_tree_twice(&tree, number, SIGCONT);
    free_tree(&tree);
}

/* SIGHUP is what a terminal sends when its window closes, and an interactive shell ignores SIGTERM. A process that
 * has left the session may give SIGHUP another meaning, so it gets SIGTERM. */
static void hang_up(struct ending *ending, uint64_t grace_ms) {
    uint64_t terminate_at = monotonic_ms() + (grace_ms / 2 < HANG_UP_MS ? grace_ms / 2 : HANG_UP_MS);
    if (ending->phase == ENDING_NOT_ASKED || terminate_at < ending->terminate_at) ending->terminate_at = terminate_at;
    ending->phase = ENDING_HANGING_UP;
    signal_session(ending, true, SIGHUP);
    signal_session(ending, false, SIGTERM);
}

/* For processes that ignore the end of the terminal (nohup) and processes that survived SIGHUP. */
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
    /* SIGCONT follows SIGTERM for the reason given at signal_session. */
    signal_descendants(SIGTERM, SIGCONT);
}

/* SIGSTOP comes first, so that no process is born between the scan and the kill. The second scan finds the processes
 * that were born during the first. A process that still escapes is killed in the next round. */
static void kill_round(struct ending *ending) {
    signal_descendants(SIGSTOP, 0);
    signal_descendants(SIGSTOP, SIGKILL);
    ending->round_at = monotonic_ms() + ending->round_pause_ms;
    if (ending->round_pause_ms < LONGEST_PAUSE_MS) ending->round_pause_ms *= 2;
}

/* Raises our priority above the processes to be killed: many processes that keep every processor busy could fork
 * faster than we kill. We start no more children that could inherit the priority. Without privilege the call fails, and
 * killing takes longer. */
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
