/* The requests that the daemon sends to a keeper while its command runs. */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "keeper.h"
#include "protocol.h"
#include "tree.h"

#define LARGEST_SIGNAL 64u

static bool is_leader_alive(const struct keeper *keeper) {
    return !(keeper->status.flags & STATUS_EXITED);
}

/* Keeps the first cause, which is the one to report. */
static void note_cause(struct keeper *keeper, uint32_t cause) {
    if (keeper->status.cause == CAUSE_NONE && is_leader_alive(keeper)) keeper->status.cause = (uint16_t)cause;
}

void terminate_command(struct keeper *keeper, uint32_t grace_ms, uint32_t cause) {
    note_cause(keeper, cause);
    begin_ending(&keeper->ending, grace_ms);
}

/* ---- stdin ---- */

static void take_stdin(struct keeper *keeper, struct field_reader *fields) {
    uint64_t offset = read_u64(fields);
    accept_input(&keeper->input, offset, fields->at, fields->left);
    flush_input(&keeper->input);
    answer_stdin(keeper);
}

static void take_end(struct keeper *keeper, struct field_reader *fields) {
    end_input(&keeper->input, read_u64(fields));
    if (flush_input(&keeper->input)) tell_stdin(keeper);
}

/* ---- signals ---- */

/* Until the leader is reaped, no other process can get its pid or the number of its group. */
static size_t signal_leader(struct keeper *keeper, int number) {
    if (is_leader_alive(keeper)) return kill(keeper->status.pid, number) == 0;
    errno = ESRCH;
    return 0;
}

static size_t signal_descendants(struct keeper *keeper, int number, bool is_group_only) {
    struct tree tree = find_descendants(getpid());
    if (is_group_only) keep_group(&tree, keeper->group);
    size_t reached = signal_tree(&tree, number);
    free_tree(&tree);
    errno = ESRCH;
    return reached;
}

/* After the leader has ended, its number may belong to another process group. Only our own descendants are signalled
 * then. */
static size_t signal_group(struct keeper *keeper, int number) {
    if (!is_leader_alive(keeper)) return signal_descendants(keeper, number, true);
    struct tree tree = find_descendants(getpid());
    keep_group(&tree, keeper->group);
    size_t members = tree.count > 0 ? tree.count : 1;
    free_tree(&tree);
    return kill(-keeper->group, number) == 0 ? members : 0;
}

static size_t signal_scope(struct keeper *keeper, int number, uint32_t scope) {
    if (scope == SCOPE_LEADER) return signal_leader(keeper, number);
    if (scope == SCOPE_GROUP) return signal_group(keeper, number);
    return signal_descendants(keeper, number, false);
}

/* These signals request the end. Any other signal from the daemon counts as the cause only if the leader dies of it. */
static bool asks_for_end(uint32_t number) {
    return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

static void note_signal(struct keeper *keeper, uint32_t number) {
    if (number == 0 || !is_leader_alive(keeper)) return;
    keeper->sent_signals |= 1ull << (number - 1);
    if (asks_for_end(number)) note_cause(keeper, CAUSE_SIGNAL);
    if (number == SIGKILL) keeper->has_killed = true;
}

static void tell_signalled(struct keeper *keeper, size_t processes, int reason) {
    uint8_t payload[8];
    struct field_writer writer = write_fields(payload, sizeof payload);
    write_u32(&writer, (uint32_t)processes);
    write_u32(&writer, processes > 0 ? 0 : (uint32_t)reason);
    tell_client(keeper, FRAME_SIGNALLED, payload, sizeof payload);
}

static void take_signal(struct keeper *keeper, struct field_reader *fields) {
    uint32_t number = read_u32(fields), scope = read_u32(fields);
    if (number > LARGEST_SIGNAL || scope > SCOPE_TREE) {
        tell_signalled(keeper, 0, EINVAL);
        return;
    }
    note_signal(keeper, number);
    size_t processes = signal_scope(keeper, (int)number, scope);
    tell_signalled(keeper, processes, errno);
}

static void take_terminate(struct keeper *keeper, struct field_reader *fields) {
    uint32_t grace_ms = read_u32(fields), cause = read_u32(fields);
    terminate_command(keeper, grace_ms, cause == CAUSE_NONE || cause > UINT16_MAX ? CAUSE_SIGNAL : cause);
}

/* ---- output ---- */

static void take_resize(struct keeper *keeper, struct field_reader *fields) {
    struct winsize size = {0};
    size.ws_row = read_u16(fields);
    size.ws_col = read_u16(fields);
    /* A terminal without users is closed and has no size to change. */
    if (keeper->streams.is_terminal && keeper->streams.fd[0] >= 0) ioctl(keeper->streams.fd[0], TIOCSWINSZ, &size);
}

static void take_pause(struct keeper *keeper, struct field_reader *fields) {
    (void)fields;
    pause_streams(&keeper->streams);
}

static void take_resume(struct keeper *keeper, struct field_reader *fields) {
    (void)fields;
    resume_streams(&keeper->streams);
}

static void take_watch(struct keeper *keeper, struct field_reader *fields) {
    struct client *client = &keeper->client;
    client->is_watching = true;
    client->is_following = false;
    for (int stream = 0; stream < 2; stream++)
        client->watched[stream] = keeper->streams.consumed[stream] = read_u64(fields);
    wake_blocked_streams(&keeper->streams);
}

#if KEEPER_VERSION >= 3
static void take_follow(struct keeper *keeper, struct field_reader *fields) {
    take_watch(keeper, fields);
    keeper->client.is_following = true;
    keeper->client.most_bytes = read_u32(fields);
    keeper->client.times = read_u32(fields);
}
#endif

static void take_release(struct keeper *keeper, struct field_reader *fields) {
    (void)fields;
    release_streams(&keeper->streams);
}

#if KEEPER_VERSION >= 2
static void take_cap(struct keeper *keeper, struct field_reader *fields) {
    cap_streams(&keeper->streams, read_u64(fields));
}
#endif

/* ---- tree ---- */

static void take_tree(struct keeper *keeper, struct field_reader *fields) {
    static uint8_t payload[4 + 4 * TREE_PIDS_LIMIT];
    (void)fields;
    struct tree tree = find_descendants(getpid());
    size_t count = tree.count < TREE_PIDS_LIMIT ? tree.count : TREE_PIDS_LIMIT;
    struct field_writer writer = write_fields(payload, sizeof payload);
    write_u32(&writer, (uint32_t)count);
    for (size_t index = 0; index < count; index++) write_u32(&writer, (uint32_t)tree.processes[index].pid);
    free_tree(&tree);
    tell_client(keeper, FRAME_TREE_STATE, payload, writer.used);
}

/* ---- dispatch ---- */

static const struct command {
    uint16_t type;
    size_t smallest;
    size_t largest;
    void (*take)(struct keeper *, struct field_reader *);
} commands[] = {
    {FRAME_STDIN, 8, FRAME_LIMIT_BYTES, take_stdin},
    {FRAME_EOF, 8, 8, take_end},
    {FRAME_SIGNAL, 8, 8, take_signal},
    {FRAME_TERMINATE, 8, 8, take_terminate},
    {FRAME_RESIZE, 4, 4, take_resize},
    {FRAME_PAUSE, 0, 0, take_pause},
    {FRAME_RESUME, 0, 0, take_resume},
    {FRAME_WATCH, 16, 16, take_watch},
    {FRAME_TREE, 0, 0, take_tree},
    {FRAME_RELEASE, 0, 0, take_release},
#if KEEPER_VERSION >= 2
    {FRAME_CAP, 8, 8, take_cap},
#endif
#if KEEPER_VERSION >= 3
    {FRAME_FOLLOW, 24, 24, take_follow},
#endif
};

bool obey_frame(struct keeper *keeper, const struct frame *frame) {
    for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++) {
        const struct command *command = &commands[index];
        if (command->type != frame->type) continue;
        if (frame->size < command->smallest || frame->size > command->largest) return false;
        struct field_reader fields = read_fields(frame->payload, frame->size);
        command->take(keeper, &fields);
        return true;
    }
    return false;
}
