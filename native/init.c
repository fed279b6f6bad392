/* init: starts the daemon, makes keepers, reaps orphans, ends everything in order. */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ending.h"
#include "io.h"
#include "keeper.h"
#include "keepers.h"
#include "protocol.h"
#include "title.h"

#define OOM_SCORE_FILE "/proc/self/oom_score_adj"
#define LOWERED_OOM_SCORE (-900)
/* After the kill rounds begin: a process stuck inside the kernel must not keep us for ever. */
#define KILL_LIMIT_MS 1000u
/* How long the socket is left alone when a connection cannot be taken. */
#define ACCEPT_PAUSE_MS 50u

enum init_phase { PHASE_RUNNING, PHASE_DAEMON_ENDS, PHASE_KEEPERS_END, PHASE_KILLING };

struct init {
    enum init_phase phase;
    struct daemon *daemon;
    struct runtime runtime;
    struct keepers keepers;
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

/* ---- preparation ---- */

/* Lowered for init, the daemon and the keepers: without them nothing else makes sense. Without privilege
 * it is refused; then the commands' own scores have to make the difference. Gives back what commands get. */
static int lower_oom_score(void) {
    char text[32];
    if (!read_text_file(OOM_SCORE_FILE, text, sizeof text)) return OOM_SCORE_LEAVE;
    int before = atoi(text), length = snprintf(text, sizeof text, "%d", LOWERED_OOM_SCORE);
    if (before <= LOWERED_OOM_SCORE) return OOM_SCORE_LEAVE;
    int fd = open(OOM_SCORE_FILE, O_WRONLY | O_CLOEXEC);
    bool is_lowered = fd >= 0 && write(fd, text, (size_t)length) == length;
    close_descriptor(&fd);
    return is_lowered ? before : OOM_SCORE_LEAVE;
}

/* Whoever has closed a standard stream gets /dev/null, so that no other descriptor takes its number. */
static void fill_standard_streams(void) {
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO) continue;
    close_descriptor(&fd);
}

static const int heeded_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH};

static int open_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    size_t count = sizeof heeded_signals / sizeof heeded_signals[0];
    for (size_t index = 0; index < count; index++) sigaddset(&set, heeded_signals[index]);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Not dumpable: else every process of the same account could read the keys out of our memory. */
static bool prepare(struct init *init) {
    fill_standard_streams();
    block_all_signals();
    set_title("sandboxd: init", "sandboxd-init");
    init->default_oom_score = lower_oom_score();
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    init->signals = open_signals();
    return init->signals >= 0;
}

/* ---- keepers ---- */

/* A keeper keeps nothing of init's: not the lock, not the socket, not the standard streams, whose other
 * ends may wait for us all to close them. */
static int keep_only(int connection) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; fd++) dup2(null, fd);
    int kept = dup2(connection, 3);
    fcntl(kept, F_SETFD, FD_CLOEXEC);
    close_descriptors_from(kept + 1);
    return kept;
}

/* Without keys it may be dumpable again: else it could not set its child's oom score without privilege. */
static _Noreturn void become_keeper(struct init *init, int connection) {
    setsid();
    forget_daemon(init->daemon);
    set_title("sandboxd: keeper", "sandboxd-keeper");
    int kept = keep_only(connection);
    prctl(PR_SET_DUMPABLE, 1);
    run_keeper(kept, init->default_oom_score);
}

/* Whoever is refused, or meets a full system, sees the connection end before SPAWNED. */
static void make_keeper(struct init *init, int connection) {
    pid_t pid = is_trusted_peer(connection) && reserve_keeper(&init->keepers) ? fork() : -1;
    if (pid == 0) become_keeper(init, connection);
    if (pid > 0) add_keeper(&init->keepers, pid);
    if (pid > 0) init->has_children = true;
    close(connection);
}

static void accept_connections(struct init *init) {
    int connection, flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    while ((connection = accept4(init->runtime.listener, NULL, NULL, flags)) >= 0 || errno == EINTR)
        if (connection >= 0) make_keeper(init, connection);
    if (errno != EAGAIN) init->accept_at = monotonic_ms() + ACCEPT_PAUSE_MS;
}

/* ---- the end ---- */

static void begin_kill_phase(struct init *init) {
    init->phase = PHASE_KILLING;
    init->phase_ends_at = monotonic_ms() + KILL_LIMIT_MS;
    stop_listening(&init->runtime);
    begin_killing(&init->ending);
}

static void begin_keeper_phase(struct init *init) {
    init->phase = PHASE_KEEPERS_END;
    init->phase_ends_at = init->all_ends_at;
    stop_listening(&init->runtime);
    signal_keepers(&init->keepers, SIGTERM);
}

static void begin_shutdown(struct init *init, int exit_code) {
    uint64_t now = monotonic_ms();
    init->exit_code = exit_code;
    init->phase = PHASE_DAEMON_ENDS;
    init->phase_ends_at = now + SHUTDOWN_DAEMON_MS;
    init->all_ends_at = now + SHUTDOWN_TOTAL_MS;
    if (init->daemon->pid > 0) kill(init->daemon->pid, SIGTERM);
}

/* Asked twice: somebody is in a hurry. */
static void hurry_shutdown(struct init *init) {
    init->exit_code = 1;
    begin_kill_phase(init);
}

static void end_daemon_phase(struct init *init) {
    if (init->daemon->pid > 0) kill(init->daemon->pid, SIGKILL);
    begin_keeper_phase(init);
}

/* Goes on to the next phase when this one has what it waits for, or no more time. */
static void advance_shutdown(struct init *init) {
    bool is_late = monotonic_ms() >= init->phase_ends_at;
    if (init->phase == PHASE_DAEMON_ENDS && (init->daemon->pid == 0 || is_late)) end_daemon_phase(init);
    is_late = monotonic_ms() >= init->phase_ends_at;
    if (init->phase == PHASE_KEEPERS_END && (init->keepers.count == 0 || is_late)) begin_kill_phase(init);
    if (init->phase == PHASE_KILLING) continue_ending(&init->ending);
}

static bool is_over(const struct init *init) {
    if (init->phase == PHASE_KEEPERS_END) return !init->has_children;
    return init->phase == PHASE_KILLING && (!init->has_children || monotonic_ms() >= init->phase_ends_at);
}

/* ---- the daemon ---- */

static int exit_code_of(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static void plan_restart(struct init *init) {
    if (is_crash_loop(init->daemon)) {
        complain("the daemon died %u times in a row within a second of its start: giving up", CRASH_LOOP_DEATHS);
        begin_shutdown(init, CRASH_LOOP_EXIT_CODE);
        return;
    }
    init->restart_at = monotonic_ms() + restart_pause_ms(init->daemon);
}

static void end_of_daemon(struct init *init, int exit_code) {
    note_daemon_end(init->daemon);
    if (init->phase != PHASE_RUNNING) return;
    if (init->daemon->is_ready) plan_restart(init);
    else begin_shutdown(init, exit_code);
}

static void start_when_due(struct init *init) {
    if (init->phase != PHASE_RUNNING || init->daemon->pid > 0 || monotonic_ms() < init->restart_at) return;
    int exit_code = start_daemon(init->daemon);
    if (exit_code == 0) init->has_children = true;
    else end_of_daemon(init, exit_code);
}

/* ---- signals ---- */

static void reap(struct init *init) {
    int wait_status;
    pid_t pid;
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        remove_keeper(&init->keepers, pid);
        if (pid == init->daemon->pid) end_of_daemon(init, exit_code_of(wait_status));
    }
    init->has_children = pid == 0;
}

static void take_signal(struct init *init, int number) {
    bool asks_for_end = number == SIGTERM || number == SIGINT || number == SIGHUP;
    if (number == SIGCHLD) return;
    if (asks_for_end && init->phase == PHASE_RUNNING) begin_shutdown(init, 0);
    else if (asks_for_end) hurry_shutdown(init);
    else if (init->daemon->pid > 0) kill(init->daemon->pid, number);
}

static void read_signals(struct init *init) {
    struct signalfd_siginfo signal;
    while (read_some(init->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        take_signal(init, (int)signal.ssi_signo);
}

/* ---- the loop ---- */

static uint64_t earlier(uint64_t first, uint64_t second) {
    return first < second ? first : second;
}

static int wait_ms(const struct init *init) {
    uint64_t now = monotonic_ms(), next = next_ending_step(&init->ending);
    if (init->phase != PHASE_RUNNING) next = earlier(next, init->phase_ends_at);
    else if (init->daemon->pid == 0) next = earlier(next, init->restart_at);
    if (init->accept_at > now) next = earlier(next, init->accept_at);
    if (next == NEVER) return -1;
    return next > now ? (int)(next - now) : 0;
}

/* poll skips what has no descriptor. */
static void wait_and_attend(struct init *init) {
    short channel_events = (short)(POLLIN | (init->daemon->outgoing_bytes > 0 ? POLLOUT : 0));
    int listener = monotonic_ms() >= init->accept_at ? init->runtime.listener : -1;
    struct pollfd polled[] = {
        {init->signals, POLLIN, 0},
        {init->daemon->channel, channel_events, 0},
        {listener, POLLIN, 0},
    };
    if (poll(polled, sizeof polled / sizeof polled[0], wait_ms(init)) < 0) return;
    if (polled[0].revents) read_signals(init);
    if (polled[1].revents & POLLOUT) send_to_daemon(init->daemon);
    if (polled[1].revents & ~POLLOUT) hear_daemon(init->daemon, &init->runtime);
    if (polled[2].revents && init->runtime.listener >= 0) accept_connections(init);
}

int run_init(struct daemon *daemon) {
    struct init init = {.daemon = daemon, .runtime = {.directory = -1, .lock = -1, .listener = -1}};
    daemon->channel = -1;
    if (!prepare(&init)) {
        complain("cannot watch signals: %s", strerror(errno));
        return 1;
    }
    for (;;) {
        start_when_due(&init);
        advance_shutdown(&init);
        if (is_over(&init)) return init.exit_code;
        wait_and_attend(&init);
        reap(&init);
    }
}
