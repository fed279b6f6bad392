/* The daemon as init sees it: start, communication over one socket pair, restart. */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "io.h"
#include "oom.h"
#include "protocol.h"
#include "unpacked.h"

/* A daemon that causes this many unread bytes does not read, and init drops the connection. */
#define OUTGOING_LIMIT_BYTES (1024u * 1024u)
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_UNPACKED 1

/* ---- sending ---- */

void disconnect_daemon(struct daemon *daemon) {
    close_descriptor(&daemon->channel);
    empty_inbox(&daemon->inbox);
    if (daemon->outgoing != NULL) explicit_bzero(daemon->outgoing, daemon->outgoing_bytes);
    free(daemon->outgoing);
    daemon->outgoing = NULL;
    daemon->outgoing_bytes = 0;
}

/* Overwrites the sent bytes, which may contain keys. */
static void drop_sent(struct daemon *daemon, size_t sent) {
    memmove(daemon->outgoing, daemon->outgoing + sent, daemon->outgoing_bytes - sent);
    explicit_bzero(daemon->outgoing + daemon->outgoing_bytes - sent, sent);
    daemon->outgoing_bytes -= sent;
    if (daemon->outgoing_bytes > 0) return;
    free(daemon->outgoing);
    daemon->outgoing = NULL;
}

void send_to_daemon(struct daemon *daemon) {
    while (daemon->channel >= 0 && daemon->outgoing_bytes > 0) {
        ssize_t sent = send(daemon->channel, daemon->outgoing, daemon->outgoing_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) return;
        if (sent < 0) disconnect_daemon(daemon);
        else drop_sent(daemon, (size_t)sent);
    }
}

/* malloc and memcpy instead of realloc, which would leave a copy of the old bytes in memory. */
static uint8_t *extend_outgoing(struct daemon *daemon, size_t size) {
    if (daemon->outgoing_bytes + size > OUTGOING_LIMIT_BYTES) return NULL;
    uint8_t *longer = malloc(daemon->outgoing_bytes + size);
    if (longer == NULL) return NULL;
    if (daemon->outgoing_bytes > 0) {
        memcpy(longer, daemon->outgoing, daemon->outgoing_bytes);
        explicit_bzero(daemon->outgoing, daemon->outgoing_bytes);
        free(daemon->outgoing);
    }
    daemon->outgoing = longer;
    return longer + daemon->outgoing_bytes;
}

static struct field_writer begin_frame(struct daemon *daemon, uint16_t type, size_t payload_bytes) {
    size_t size = FRAME_HEADER_BYTES + payload_bytes;
    uint8_t *bytes = extend_outgoing(daemon, size);
    struct field_writer writer = write_fields(bytes, bytes != NULL ? size : 0);
    write_frame_header(&writer, type, payload_bytes);
    return writer;
}

static void end_frame(struct daemon *daemon, const struct field_writer *writer) {
    if (writer->has_failed) {
        disconnect_daemon(daemon);
        return;
    }
    daemon->outgoing_bytes += writer->used;
    send_to_daemon(daemon);
}

void tell_daemon(struct daemon *daemon, uint16_t type) {
    if (daemon->channel < 0) return;
    struct field_writer writer = begin_frame(daemon, type, 0);
    end_frame(daemon, &writer);
}

void ask_for_handover(struct daemon *daemon) {
    daemon->handover++;
    daemon->has_handed = false;
    daemon->held_ms = 0;
    if (daemon->channel < 0) return;
    struct field_writer writer = begin_frame(daemon, FRAME_HANDOVER, 4);
    write_u32(&writer, daemon->handover);
    end_frame(daemon, &writer);
}

/* ---- BOOT ---- */

/* Returns how many of the strings fit into the frame, and adds their size to `size`. */
static uint32_t count_fitting(const struct string_list *list, size_t *size) {
    uint32_t count = 0;
    for (; count < list->count; count++) {
        size_t longer = *size + strlen(list->items[count]) + 1;
        if (longer > FRAME_LIMIT_BYTES) break;
        *size = longer;
    }
    return count;
}

static void write_strings(struct field_writer *writer, const struct string_list *list, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        const char *string = list->items[index];
        write_bytes(writer, string, strlen(string) + 1);
    }
}

/* Keys come first: when an environment is larger than a frame, loader variables are left out. */
static void tell_boot(struct daemon *daemon) {
    const struct surroundings *surroundings = daemon->surroundings;
    size_t size = 16;
    uint32_t secrets = count_fitting(&surroundings->secrets, &size);
    uint32_t scrubbed = count_fitting(&surroundings->scrubbed, &size);
    unsigned restarts = daemon->starts < UINT16_MAX ? daemon->starts : UINT16_MAX;
    struct field_writer writer = begin_frame(daemon, FRAME_BOOT, size);
    write_u16(&writer, INIT_VERSION);
    write_u16(&writer, (uint16_t)restarts);
    write_u32(&writer, secrets);
    write_u32(&writer, scrubbed);
    write_u32(&writer, (daemon->is_successor ? BOOT_SUCCESSOR : 0) | KEEPER_VERSION << BOOT_KEEPERS_SHIFT);
    write_strings(&writer, &surroundings->secrets, secrets);
    write_strings(&writer, &surroundings->scrubbed, scrubbed);
    end_frame(daemon, &writer);
}

/* ---- listening ---- */

static void tell_listening(struct daemon *daemon, int stage, int reason) {
    struct field_writer writer = begin_frame(daemon, FRAME_LISTENING, 8);
    write_u32(&writer, (uint32_t)stage);
    write_u32(&writer, (uint32_t)reason);
    end_frame(daemon, &writer);
}

static bool copy_path(char path[PATH_MAX], const struct frame *frame) {
    if (frame->size == 0 || frame->size >= PATH_MAX || frame->payload[0] != '/') return false;
    if (memchr(frame->payload, 0, frame->size) != NULL) return false;
    memcpy(path, frame->payload, frame->size);
    path[frame->size] = '\0';
    return true;
}

static bool take_listen(struct daemon *daemon, struct runtime *runtime, const struct frame *frame) {
    char path[PATH_MAX];
    int stage = 0;
    if (!copy_path(path, frame)) return false;
    int reason = open_runtime(runtime, path, &stage);
    tell_listening(daemon, stage, reason);
    return true;
}

/* ---- frames from the daemon ---- */

static void take_version(struct daemon *daemon, const struct frame *frame) {
    size_t size = frame->size < VERSION_BYTES ? frame->size : VERSION_BYTES - 1;
    if (size > 0) memcpy(daemon->version, frame->payload, size);
    daemon->version[size] = '\0';
}

/* An answer to an earlier request is late: that upgrade was called off. An older daemon repeats no number. */
static void take_handed(struct daemon *daemon, const struct frame *frame) {
    struct field_reader fields = read_fields(frame->payload, frame->size);
    uint32_t held_ms = read_u32(&fields);
    if (fields.left > 0 && read_u32(&fields) != daemon->handover) return;
    daemon->held_ms = held_ms;
    daemon->has_handed = true;
}

static bool take_frame(struct daemon *daemon, struct runtime *runtime, const struct frame *frame) {
    switch (frame->type) {
        case FRAME_LISTEN: return take_listen(daemon, runtime, frame);
        case FRAME_STANDBY: daemon->is_standing_by = true; break;
        case FRAME_READY: daemon->is_ready = true; break;
        case FRAME_HANDED: take_handed(daemon, frame); return true;
        default: return false;
    }
    take_version(daemon, frame);
    return true;
}

void hear_daemon(struct daemon *daemon, struct runtime *runtime) {
    struct frame frame;
    enum next_outcome next = NEXT_INCOMPLETE;
    if (daemon->channel < 0) return;
    enum fill_outcome filled = fill_inbox(&daemon->inbox, daemon->channel);
    bool is_sound = filled != FILL_ENDED;
    while (is_sound && daemon->channel >= 0 && (next = next_frame(&daemon->inbox, &frame)) == NEXT_FRAME)
        is_sound = take_frame(daemon, runtime, &frame);
    if (!is_sound || next == NEXT_INVALID) disconnect_daemon(daemon);
}

/* ---- starting ----
 * The child runs in our memory while we wait, so it reports a failure in a plain variable. */

struct daemon_plan {
    char *const *arguments;
    char *const *environment;
    int channel;
    pid_t init;
    volatile int failure;
};

static void fail(struct daemon_plan *plan) {
    plan->failure = errno;
    end_child(EXIT_NOT_FOUND);
}

/* dup2 to the same number would leave the close-on-exec flag set. */
static bool place_channel(int channel) {
    if (channel == DAEMON_CHANNEL) return fcntl(channel, F_SETFD, 0) == 0;
    return dup2(channel, DAEMON_CHANNEL) == DAEMON_CHANNEL;
}

/* The daemon's memory holds the keys, so it must not dump core. The limit is one byte instead of zero: with a limit
 * of 0 the kernel still pipes the dump to a core_pattern program, with a limit of 1 it writes neither to a program nor
 * to a file. The hard limit stays. Commands are children of keepers, which never have this limit. */
static bool prevent_core_dumps(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return false;
    limit.rlim_cur = limit.rlim_max > 0 ? 1 : 0;
    return setrlimit(RLIMIT_CORE, &limit) == 0;
}

/* The daemon gets its own session, so that ^C at a terminal reaches only init, which then shuts down in order. */
static int become_daemon(void *daemon_plan) {
    struct daemon_plan *plan = daemon_plan;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->init) end_child(EXIT_NOT_FOUND);
    if (!place_channel(plan->channel) || !prevent_core_dumps()) fail(plan);
    signal(SIGHUP, SIG_IGN); /* Until the daemon has a handler, which it sets before it reads its key file. */
    unblock_all_signals();
    execve(plan->arguments[0], plan->arguments, plan->environment);
    fail(plan);
    return EXIT_NOT_FOUND;
}

static int refuse(const char *program, int reason) {
    complain("cannot run the daemon %s: %s", program, strerror(reason));
    return reason == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* The runtime lets garbage grow with the memory of the machine, and knows no control group. The daemon shares the
 * memory of its group with what it runs, so that its share is a half. */
static void add_heap_limit(struct string_list *environment) {
    char option[64];
    uint64_t limit = group_memory_limit();
    if (limit == 0) return;
    snprintf(option, sizeof option, "BUN_JSC_forceRAMSize=%llu", (unsigned long long)(limit / 2));
    add_string(environment, option);
}

/* The runtime ends idle threads of its compiler and of its garbage collector after ten seconds and aborts when it cannot
 * start them again, which happens while a fork bomb holds every process that a container may have. Without these
 * threads it compiles and collects on the main thread. */
void add_runtime_options(struct string_list *environment) {
    add_string(environment, "BUN_JSC_useConcurrentJIT=0");
    add_string(environment, "BUN_JSC_numberOfGCMarkers=1");
    add_string(environment, "BUN_JSC_useConcurrentGC=0");
    add_heap_limit(environment);
}

/* A child that could not execute the daemon is reaped together with all others. */
static int run_daemon(struct daemon *daemon, const struct string_list *arguments, int channel) {
    struct string_list environment = {NULL, 0};
    add_strings(&environment, daemon->surroundings->environment.items);
    add_runtime_options(&environment);
    struct daemon_plan plan = {arguments->items, environment.items, channel, getpid(), 0};
    pid_t pid = start_child(become_daemon, &plan, &plan.failure, sizeof plan.failure);
    free_strings(&environment);
    if (pid < 0) return refuse(arguments->items[0], errno);
    if (plan.failure != 0) return refuse(arguments->items[0], plan.failure);
    daemon->pid = pid;
    return 0;
}

/* Unpacks the daemon again if the files have been removed since the last start. */
static bool find_command(struct daemon *daemon, struct string_list *arguments) {
    if (daemon->payload != NULL) return add_unpacked_daemon(daemon->payload, arguments);
    add_strings(arguments, daemon->command.items);
    return true;
}

static int start_with_channel(struct daemon *daemon, const struct string_list *arguments) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return refuse(arguments->items[0], errno);
    daemon->channel = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int code = run_daemon(daemon, arguments, ends[1]);
    close(ends[1]);
    if (code == 0) tell_boot(daemon);
    else disconnect_daemon(daemon);
    return code;
}

int start_daemon(struct daemon *daemon) {
    struct string_list arguments = {NULL, 0};
    int code = EXIT_NOT_UNPACKED;
    daemon->started_at = monotonic_ms();
    if (find_command(daemon, &arguments)) {
        add_strings(&arguments, daemon->surroundings->arguments.items);
        code = start_with_channel(daemon, &arguments);
    }
    free_strings(&arguments);
    daemon->starts++;
    return code;
}

/* ---- restarting ---- */

void note_daemon_end(struct daemon *daemon) {
    bool was_short = monotonic_ms() - daemon->started_at < CRASH_LOOP_LIFE_MS;
    daemon->short_lives = was_short ? daemon->short_lives + 1 : 0;
    daemon->pid = 0;
    disconnect_daemon(daemon);
}

bool is_crash_loop(const struct daemon *daemon) {
    return daemon->short_lives >= CRASH_LOOP_DEATHS;
}

/* The first restart after an early death is immediate. Later pauses start at 10 ms and double each time. */
uint64_t restart_pause_ms(const struct daemon *daemon) {
    uint64_t pause = BACKOFF_FIRST_MS;
    if (daemon->short_lives < 2) return 0;
    for (unsigned lives = 2; lives < daemon->short_lives && pause < BACKOFF_LIMIT_MS; lives++) pause *= 2;
    return pause < BACKOFF_LIMIT_MS ? pause : BACKOFF_LIMIT_MS;
}

void forget_daemon(struct daemon *daemon) {
    disconnect_daemon(daemon);
    wipe_strings(&daemon->surroundings->secrets);
}
