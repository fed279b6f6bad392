/* The event loop of a keeper: serves its command, its client and signals, and exits when all have ended. */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "oom.h"
#include "protocol.h"
#include "sources.h"

#define KEEPER_UMASK 077
#define EVENTS_AT_ONCE 8
#define CLOSE_WAIT_MS 1000u

static uint16_t current_flags(const struct keeper *keeper) {
    unsigned flags = keeper->status.flags & (STATUS_SPAWNED | STATUS_EXITED | STATUS_FREE);
    if (are_streams_closed(&keeper->streams)) flags |= STATUS_CLOSED;
    if (keeper->input.fd >= 0) flags |= STATUS_STDIN_OPEN;
    if (keeper->streams.is_paused) flags |= STATUS_PAUSED;
    return (uint16_t)flags;
}

const struct status *current_status(struct keeper *keeper) {
    struct status *status = &keeper->status;
    status->flags = current_flags(keeper);
    for (int stream = 0; stream < 2; stream++) {
        status->end[stream] = keeper->streams.log[stream].end;
        status->head[stream] = keeper->streams.log[stream].head;
        status->lost[stream] = keeper->streams.log[stream].lost;
    }
    status->stdin_accepted = keeper->input.accepted;
    status->stdin_written = keeper->input.written;
    return status;
}

/* ---- the end of the leader ---- */

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

static uint16_t judge_oom(const struct keeper *keeper) {
    uint64_t kills = 0;
    if (keeper->status.signal != SIGKILL || keeper->has_killed) return OOM_NO;
    if (!keeper->can_count_oom_kills || !read_oom_kills(keeper->oom_counter, &kills)) return OOM_UNKNOWN;
    return kills > keeper->oom_kills_before ? OOM_YES : OOM_NO;
}

static bool is_signal_ours(const struct keeper *keeper) {
    uint32_t number = keeper->status.signal;
    return number > 0 && number <= 64 && (keeper->sent_signals >> (number - 1) & 1);
}

static void note_exit(struct keeper *keeper, int wait_status, const struct rusage *usage) {
    struct status *status = &keeper->status;
    status->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    status->signal = WIFSIGNALED(wait_status) ? (uint32_t)WTERMSIG(wait_status) : 0;
    status->user_us = microseconds(usage->ru_utime);
    status->system_us = microseconds(usage->ru_stime);
    status->max_rss_kb = (uint64_t)usage->ru_maxrss;
    status->exited_ns = realtime_ns();
    status->oom = judge_oom(keeper);
    status->flags |= STATUS_EXITED;
    if (status->cause == CAUSE_NONE && is_signal_ours(keeper)) status->cause = CAUSE_SIGNAL;
}

static void end_leader(struct keeper *keeper, int wait_status, const struct rusage *usage) {
    drain_streams(&keeper->streams);
    if (keeper->input.is_terminal) break_input(&keeper->input);
    note_exit(keeper, wait_status, usage);
    keeper->hard_deadline = NEVER;
}

/* Reaps the leader and every orphan that was reparented to us. */
static void reap(struct keeper *keeper) {
    struct rusage usage;
    int wait_status;
    pid_t pid;
    if (!(keeper->status.flags & STATUS_SPAWNED)) return;
    while ((pid = wait4(-1, &wait_status, WNOHANG, &usage)) > 0) {
        bool is_leader = pid == keeper->status.pid && !(keeper->status.flags & STATUS_EXITED);
        if (is_leader) end_leader(keeper, wait_status, &usage);
    }
    keeper->has_descendants = pid == 0;
    if (!keeper->has_descendants) finish_ending(&keeper->ending);
}

/* ---- reporting the end, and exiting ---- */

/* The journal is written before the client learns of the end. */
static void record_end(struct keeper *keeper, bool is_exit_new, bool is_close_new) {
    const struct status *status = current_status(keeper);
    if (is_exit_new && is_close_new) write_journal_end(&keeper->journal, status);
    else if (is_exit_new) write_journal_event(&keeper->journal, "exited", status);
    else if (is_close_new) write_journal_event(&keeper->journal, "closed", status);
}

/* `control` is removed before the client learns that the keeper is free, because the client may then give the
 * directory to another command. */
static void note_freedom(struct keeper *keeper) {
    hide_control(&keeper->control, keeper->directory);
    keeper->status.flags |= STATUS_FREE;
}

static void tell_end(struct keeper *keeper) {
    bool is_closed = are_streams_closed(&keeper->streams);
    if (!(keeper->status.flags & STATUS_EXITED)) return;
    bool is_exit_new = !keeper->is_exit_reported, is_close_new = is_closed && !keeper->is_close_reported;
    record_end(keeper, is_exit_new, is_close_new);
    keeper->is_exit_reported = true;
    keeper->spawned_due = NEVER;
    keeper->is_close_reported = is_closed;
    bool is_free = is_reusable(keeper);
    if (is_free) note_freedom(keeper);
    if (is_exit_new) tell_status(keeper, FRAME_EXITED);
    else if (is_close_new) tell_status(keeper, FRAME_CLOSED);
    else if (is_free) tell_status(keeper, FRAME_STATUS);
    if (is_free) clean_keeper(keeper);
}

/* During shutdown, a process outside the tree that holds the command's output open cannot keep the keeper running. */
static bool is_over(const struct keeper *keeper) {
    if (keeper->is_leaving) return true;
    if (!(keeper->status.flags & STATUS_SPAWNED)) return keeper->client.fd < 0;
    bool is_closed = keeper->is_close_reported || (keeper->is_shutting_down && keeper->is_exit_reported);
    return is_closed && !keeper->has_descendants;
}

/* ---- time ---- */

static void check_hard_deadline(struct keeper *keeper) {
    if (monotonic_ms() < keeper->hard_deadline) return;
    keeper->hard_deadline = NEVER;
    terminate_command(keeper, keeper->hard_grace_ms, CAUSE_HARD_TIMEOUT);
}

static void tell_deferred_start(struct keeper *keeper) {
    if (monotonic_ms() < keeper->spawned_due) return;
    keeper->spawned_due = NEVER;
    tell_status(keeper, FRAME_SPAWNED);
}

static void tell_deferred_stdin(struct keeper *keeper) {
    if (monotonic_ms() >= keeper->stdin_due) tell_stdin(keeper);
}

static void do_what_is_due(struct keeper *keeper) {
    check_hard_deadline(keeper);
    tell_deferred_start(keeper);
    tell_deferred_stdin(keeper);
    if (continue_ending(&keeper->ending)) keeper->has_killed = true;
}

static int wait_ms(const struct keeper *keeper) {
    uint64_t step = next_ending_step(&keeper->ending), now = monotonic_ms();
    uint64_t next = step < keeper->hard_deadline ? step : keeper->hard_deadline;
    if (keeper->spawned_due < next) next = keeper->spawned_due;
    if (keeper->stdin_due < next) next = keeper->stdin_due;
    if (next == NEVER) return -1;
    if (next <= now) return 0;
    return next - now < INT32_MAX ? (int)(next - now) : INT32_MAX;
}

/* ---- the loop ---- */

/* Only SIGTERM has an effect here. SIGCHLD just wakes the loop, which always reaps. */
static void read_signals(struct keeper *keeper) {
    struct signalfd_siginfo signal;
    while (read_some(keeper->signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
        if (signal.ssi_signo != SIGTERM) continue;
        keeper->is_shutting_down = true;
        if (keeper->status.flags & STATUS_SPAWNED) terminate_command(keeper, SHUTDOWN_GRACE_MS, CAUSE_SHUTDOWN);
        else keeper->is_leaving = true;
    }
}

/* A pipe without a reader reports an error even if nothing is to be written. */
static void write_stdin(struct keeper *keeper, uint32_t events) {
    bool has_queue = keeper->input.used > 0, is_unread = (events & EPOLLERR) && !keeper->input.is_terminal;
    if (keeper->input.fd < 0) return;
    if (is_unread) break_input(&keeper->input);
    if (flush_input(&keeper->input) || (is_unread && has_queue)) tell_stdin(keeper);
}

static void attend(struct keeper *keeper, enum source source, uint32_t events) {
    switch (source) {
        case SOURCE_OUT: pump_stream(&keeper->streams, 0); break;
        case SOURCE_ERR: pump_stream(&keeper->streams, 1); break;
        case SOURCE_STDIN: write_stdin(keeper, events); break;
        case SOURCE_SIGNALS: read_signals(keeper); break;
        case SOURCE_CONTROL: accept_client(keeper); break;
        case SOURCE_CLIENT: read_client(keeper); break;
    }
}

static void live(struct keeper *keeper) {
    struct epoll_event events[EVENTS_AT_ONCE];
    while (!is_over(keeper)) {
        int count = epoll_wait(keeper->sources, events, EVENTS_AT_ONCE, wait_ms(keeper));
        for (int index = 0; index < count && !keeper->is_leaving; index++)
            attend(keeper, (enum source)events[index].data.u32, events[index].events);
        reap(keeper);
        do_what_is_due(keeper);
        tell_output(keeper);
        tell_end(keeper);
    }
}

/* Sends no more, and waits until the client has read everything and closes too. Closing the socket while the client
 * still sends would reset the connection, and the client might miss the last frames. */
static void close_in_order(int fd) {
    char unread[4096];
    uint64_t deadline = monotonic_ms() + CLOSE_WAIT_MS;
    struct pollfd polled = {fd, POLLIN, 0};
    shutdown(fd, SHUT_WR);
    for (uint64_t now = monotonic_ms(); now < deadline; now = monotonic_ms()) {
        if (poll(&polled, 1, (int)(deadline - now)) <= 0) continue;
        ssize_t count = read_some(fd, unread, sizeof unread);
        if (count == 0 || (count < 0 && errno != EAGAIN)) return;
    }
}

static _Noreturn void leave(struct keeper *keeper) {
    hide_control(&keeper->control, keeper->directory);
    leave_control(&keeper->control);
    if (keeper->client.fd >= 0) close_in_order(keeper->client.fd);
    _exit(0);
}

static bool watch_signals(struct keeper *keeper) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    keeper->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return keeper->signals >= 0 && add_source(keeper->sources, SOURCE_SIGNALS, keeper->signals, EPOLLIN);
}

static bool prepare(struct keeper *keeper, int connection) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    umask(KEEPER_UMASK);
    keeper->sources = epoll_create1(EPOLL_CLOEXEC);
    if (keeper->sources < 0 || !watch_signals(keeper)) return false;
    keeper->oom_counter = open_oom_counter();
    read_traits(&keeper->traits);
    reset_keeper(keeper);
    connect_client(keeper, connection);
    return true;
}

void run_keeper(int connection, int default_oom_score) {
    static struct keeper keeper = {.client = {.fd = -1}, .control = {.fd = -1, .home = -1}};
    keeper.status.keeper = getpid();
    keeper.default_oom_score = default_oom_score;
    if (!prepare(&keeper, connection)) _exit(1);
    live(&keeper);
    leave(&keeper);
}
