/* Runs init: starts the daemon, forks keepers, reaps orphans and shuts everything down in order. */
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

#include "adopted.h"
#include "handover.h"
#include "io.h"
#include "keeper.h"
#include "protocol.h"
#include "title.h"

#define OOM_SCORE_FILE "/proc/self/oom_score_adj"
#define LOWERED_OOM_SCORE (-900)
/* Counted from the first kill round. A process that is stuck inside the kernel must not keep init running forever. */
#define KILL_LIMIT_MS 1000u
/* How long init stops accepting after accept4 has failed. */
#define ACCEPT_PAUSE_MS 50u
/* Polling interval: there is no event for the end of a process that is not a child. */
#define ADOPTED_LOOK_MS 10u

/* ---- preparation ---- */

/* Lowers the score of init, the daemon and the keepers, because everything else depends on them. Without privilege
 * the write fails, and only the commands' own scores differ. Returns the score that commands get. */
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

/* Opens an empty stream for each closed standard stream, so that no other descriptor gets its number. */
static void fill_standard_streams(void) {
    int fd;
    while ((fd = open_null(0)) >= 0 && fd <= STDERR_FILENO) continue;
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

/* Not dumpable: otherwise every process of the same account could read the keys from our memory. */
static bool prepare(struct init *init) {
    fill_standard_streams();
    block_all_signals();
    set_title("boxkeep: init", "boxkeep-init");
    init->default_oom_score = lower_oom_score();
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    init->signals = open_signals();
    return init->signals >= 0;
}

/* ---- keepers ---- */

/* A keeper inherits no descriptors from init: not the lock, not the socket, and not the standard streams. A reader of
 * those streams may wait until every process has closed them. */
static int keep_only(int connection) {
    int null = open_null(O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; fd++) dup2(null, fd);
    int kept = dup2(connection, 3);
    fcntl(kept, F_SETFD, FD_CLOEXEC);
    close_descriptors_from(kept + 1);
    return kept;
}

/* A keeper holds no keys and becomes dumpable again. Otherwise it could not set its child's oom score without
 * privilege. */
static _Noreturn void become_keeper(struct init *init, int connection) {
    setsid();
    forget_daemon(init->daemon);
    disconnect_daemon(&init->upgrade.successor);
    set_title("boxkeep: spare keeper", "boxkeep-spare");
    int kept = keep_only(connection);
    prctl(PR_SET_DUMPABLE, 1);
    run_keeper(kept, init->default_oom_score);
}

/* A refused client sees the connection close before SPAWNED, and so does a client when no keeper can be forked. */
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

/* ---- shutdown ---- */

static void look_for_adopted(struct init *init) {
    free_tree(&init->adopted);
    init->adopted = find_adopted_keepers(init->runtime.directory);
}

static void begin_kill_phase(struct init *init) {
    look_for_adopted(init);
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
    look_for_adopted(init);
    signal_tree(&init->adopted, SIGTERM);
}

static void begin_shutdown(struct init *init, int exit_code) {
    uint64_t now = monotonic_ms();
    init->exit_code = exit_code;
    init->phase = PHASE_DAEMON_ENDS;
    init->phase_ends_at = now + SHUTDOWN_DAEMON_MS;
    init->all_ends_at = now + SHUTDOWN_TOTAL_MS;
    if (init->daemon->pid > 0) kill(init->daemon->pid, SIGTERM);
    end_upgrade(&init->upgrade, SIGTERM);
}

static void end_daemon_phase(struct init *init) {
    if (init->daemon->pid > 0) kill(init->daemon->pid, SIGKILL);
    end_upgrade(&init->upgrade, SIGKILL);
    begin_keeper_phase(init);
}

/* Moves to the next phase when the current phase is complete or has timed out. */
static void advance_shutdown(struct init *init) {
    bool is_late = monotonic_ms() >= init->phase_ends_at;
    bool has_daemon = init->daemon->pid > 0 || has_upgrade_processes(&init->upgrade);
    if (init->phase == PHASE_DAEMON_ENDS && (!has_daemon || is_late)) end_daemon_phase(init);
    is_late = monotonic_ms() >= init->phase_ends_at;
    drop_ended(&init->adopted);
    bool has_keepers = init->keepers.count > 0 || init->adopted.count > 0;
    if (init->phase == PHASE_KEEPERS_END && (!has_keepers || is_late)) begin_kill_phase(init);
    if (init->phase != PHASE_KILLING) return;
    continue_ending(&init->ending);
    kill_adopted_keepers(&init->adopted);
}

static bool is_over(const struct init *init) {
    bool has_processes = init->has_children || init->adopted.count > 0;
    if (init->phase == PHASE_KEEPERS_END) return !has_processes;
    return init->phase == PHASE_KILLING && (!has_processes || monotonic_ms() >= init->phase_ends_at);
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

/* Reads the frames that the daemon sent before it ended, above all READY. */
static void end_of_daemon(struct init *init, int exit_code) {
    hear_daemon(init->daemon, &init->runtime);
    note_daemon_end(init->daemon);
    if (init->phase != PHASE_RUNNING) return;
    if (init->daemon->is_ready) plan_restart(init);
    else begin_shutdown(init, exit_code);
}

/* While a successor stands by, it takes the daemon's place, and no restart is needed. */
static bool needs_start(const struct init *init) {
    return init->phase == PHASE_RUNNING && init->daemon->pid <= 0 && init->upgrade.stage == UPGRADE_NONE;
}

static void start_when_due(struct init *init) {
    if (!needs_start(init) || monotonic_ms() < init->restart_at) return;
    int exit_code = start_daemon(init->daemon);
    if (exit_code == 0) init->has_children = true;
    else end_of_daemon(init, exit_code);
}

/* ---- upgrades ---- */

/* True when no frame is partly sent or partly received. The rest of such a frame would be lost with our memory. */
static bool is_quiet(const struct daemon *daemon) {
    return daemon->outgoing_bytes == 0 && daemon->inbox.start == daemon->inbox.end;
}

/* The new daemon serves before init becomes the new program, so a failure up to this point has changed nothing. */
static void upgrade_when_due(struct init *init) {
    if (init->phase != PHASE_RUNNING) return;
    advance_upgrade(&init->upgrade, init->daemon);
    if (init->upgrade.stage != UPGRADE_TAKEN || !is_quiet(init->daemon)) return;
    finish_upgrade(&init->upgrade, init->daemon, hand_over(init));
}

/* ---- signals ---- */

static void reap(struct init *init) {
    int wait_status;
    pid_t pid;
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        remove_keeper(&init->keepers, pid);
        note_upgrade_end(&init->upgrade, pid, exit_code_of(wait_status));
        if (pid == init->daemon->pid) end_of_daemon(init, exit_code_of(wait_status));
    }
    init->has_children = pid == 0;
}

/* Each daemon reads its key file again. A new daemon of an upgrade may have read the file before the change. */
static void pass_hangup(const struct init *init) {
    if (init->daemon->pid > 0) kill(init->daemon->pid, SIGHUP);
    if (init->upgrade.successor.pid > 0) kill(init->upgrade.successor.pid, SIGHUP);
}

static void take_signal(struct init *init, int number) {
    bool asks_for_end = number == SIGTERM || number == SIGINT || number == SIGHUP;
    if (number == SIGCHLD) return;
    if (number == SIGHUP && names_key_file(init->daemon->surroundings)) {
        pass_hangup(init);
        return;
    }
    if (asks_for_end && init->phase == PHASE_RUNNING) {
        begin_shutdown(init, 0);
    } else if (asks_for_end) { /* A second request to shut down: end at once. */
        init->exit_code = 1;
        begin_kill_phase(init);
    } else if (init->daemon->pid > 0) {
        kill(init->daemon->pid, number);
    }
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
    else next = earlier(next, next_upgrade_step(&init->upgrade));
    if (needs_start(init)) next = earlier(next, init->restart_at);
    if (init->adopted.count > 0) next = earlier(next, now + ADOPTED_LOOK_MS);
    if (init->accept_at > now) next = earlier(next, init->accept_at);
    if (next == NEVER) return -1;
    return next > now ? (int)(next - now) : 0;
}

static short daemon_events(const struct daemon *daemon) {
    return (short)(POLLIN | (daemon->outgoing_bytes > 0 ? POLLOUT : 0));
}

static void attend_daemon(struct init *init, struct daemon *daemon, short events) {
    if (events & POLLOUT) send_to_daemon(daemon);
    if (events & ~POLLOUT) hear_daemon(daemon, &init->runtime);
}

/* poll ignores entries with a negative descriptor. */
static void wait_and_attend(struct init *init) {
    struct upgrade *upgrade = &init->upgrade;
    int listener = monotonic_ms() >= init->accept_at ? init->runtime.listener : -1;
    struct pollfd polled[] = {
        {init->signals, POLLIN, 0},
        {init->daemon->channel, daemon_events(init->daemon), 0},
        {listener, POLLIN, 0},
        {takes_upgrades(upgrade) ? init->runtime.upgrades : -1, POLLIN, 0},
        {upgrade->client, POLLIN, 0},
        {upgrade->successor.channel, daemon_events(&upgrade->successor), 0},
    };
    if (poll(polled, sizeof polled / sizeof polled[0], wait_ms(init)) < 0) return;
    if (polled[0].revents) read_signals(init);
    attend_daemon(init, init->daemon, polled[1].revents);
    if (polled[2].revents && init->runtime.listener >= 0) accept_connections(init);
    attend_daemon(init, &upgrade->successor, polled[5].revents);
    if (polled[4].revents && upgrade->client >= 0) hear_upgrade(upgrade, init->daemon);
    if (polled[3].revents && takes_upgrades(upgrade)) accept_upgrade(upgrade, &init->runtime);
}

static int run(struct init *init) {
    for (;;) {
        start_when_due(init);
        upgrade_when_due(init);
        advance_shutdown(init);
        if (is_over(init)) return init->exit_code;
        wait_and_attend(init);
        reap(init);
    }
}

static struct init new_init(struct daemon *daemon) {
    struct init init = {.daemon = daemon};
    daemon->channel = -1;
    init.runtime = (struct runtime){.directory = -1, .lock = -1, .listener = -1, .upgrades = -1};
    init.upgrade = (struct upgrade){.client = -1, .stage_ends_at = NEVER};
    init.upgrade.program.file = init.upgrade.successor.channel = -1;
    return init;
}

static int refuse_to_run(void) {
    complain("cannot watch signals: %s", strerror(errno));
    return 1;
}

int run_init(struct daemon *daemon) {
    struct init init = new_init(daemon);
    return prepare(&init) ? run(&init) : refuse_to_run();
}

int resume_init(struct daemon *daemon, int descriptor) {
    struct init init = new_init(daemon);
    if (!prepare(&init)) return refuse_to_run();
    if (!take_over(&init, descriptor)) {
        complain("resume is internal to an upgrade; run boxkeep start instead");
        return 1;
    }
    finish_upgrade(&init.upgrade, daemon, NULL);
    /* A pending SIGCHLD is discarded when its action is set, so children that ended before have to be looked for. */
    reap(&init);
    return run(&init);
}
