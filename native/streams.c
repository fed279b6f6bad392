/* Reads the command's output from its pipes or terminal into the logs. */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io.h"
#include "protocol.h"
#include "sources.h"

#define READ_BYTES (64u * 1024u)
#define SHARE_BYTES (1024u * 1024u)
/* More than a terminal ever buffers. */
#define TERMINAL_DRAIN_BYTES (1024 * 1024)

static const char *const log_names[2] = {"out", "err"};

/* Static instead of on the stack or allocated per keeper: pages that are never touched use no memory. */
static uint8_t buffer[READ_BYTES];
/* The largest piece that the buffer has held. */
static size_t buffered;

void init_streams(struct streams *streams, int sources) {
    *streams = (struct streams){.sources = sources, .directory = -1, .fd = {-1, -1}};
    streams->order = (struct order){.fd = -1, .current = -1};
    streams->log[0].fd = streams->log[1].fd = -1;
}

void keep_logs(struct streams *streams, int directory) {
    streams->directory = directory;
    for (int stream = 0; stream < 2 && !streams->is_discarding; stream++)
        keep_log(&streams->log[stream], directory, log_names[stream]);
}

bool watch_output(struct streams *streams) {
    return add_source(streams->sources, SOURCE_OUT, streams->fd[0], EPOLLIN) &&
           add_source(streams->sources, SOURCE_ERR, streams->fd[1], EPOLLIN);
}

static void store_output(struct streams *streams, int stream, const uint8_t *bytes, size_t size) {
    if (!streams->is_discarding) note_run(&streams->order, streams->directory, stream, streams->log[!stream].end);
    append_to_log(&streams->log[stream], bytes, size);
}

static bool may_hold_up(const struct streams *streams) {
    return streams->is_blocking && streams->has_client;
}

/* How much may be read next. 0 when the command has to wait for the client. */
static size_t make_room(struct streams *streams, int stream) {
    struct log *log = &streams->log[stream];
    if (log_room(log) == 0) evict_from_log(log, may_hold_up(streams) ? streams->consumed[stream] : UINT64_MAX);
    size_t room = log_room(log);
    return room < READ_BYTES ? room : READ_BYTES;
}

/* The kernel moves the output of a terminal to our end in the background, and a read waits for a move in progress. A
 * move that stopped for lack of room begins again meanwhile, so that one read may report the end, or an empty terminal,
 * too early. The next read waits for that move. */
static ssize_t read_stream(const struct streams *streams, int stream, size_t room) {
    ssize_t count = read_some(streams->fd[stream], buffer, room);
    return count < 0 && streams->is_terminal ? read_some(streams->fd[stream], buffer, room) : count;
}

/* Reads once. Returns 0 when nothing is available, and closes the stream at its end. */
static size_t read_output(struct streams *streams, int stream, size_t room) {
    ssize_t count = read_stream(streams, stream, room);
    if (count > 0 && (size_t)count > buffered) buffered = (size_t)count;
    if (count > 0) store_output(streams, stream, buffer, (size_t)count);
    if (count > 0) return (size_t)count;
    /* A terminal reports its end, after its last user has closed it, as EIO. */
    if (count == 0 || errno != EAGAIN) close_descriptor(&streams->fd[stream]);
    return 0;
}

void pump_stream(struct streams *streams, int stream) {
    size_t total = 0;
    while (streams->fd[stream] >= 0 && !streams->is_paused && total < SHARE_BYTES) {
        size_t room = make_room(streams, stream);
        size_t count = room > 0 ? read_output(streams, stream, room) : 0;
        if (count == 0) return;
        total += count;
    }
    if (!streams->is_paused) rearm_source(streams->sources, (enum source)stream, streams->fd[stream], EPOLLIN);
}

/* A pipe can report how much it holds. A terminal cannot, but a read reports when it is empty. After the session
 * leader has ended, no process can write to the terminal any more. */
static size_t count_waiting(const struct streams *streams, int stream) {
    int waiting = 0;
    if (streams->is_terminal) return TERMINAL_DRAIN_BYTES;
    return ioctl(streams->fd[stream], FIONREAD, &waiting) == 0 && waiting > 0 ? (size_t)waiting : 0;
}

/* Tries to read one byte more than is available, so that the end of the stream is seen too. May exceed the cap: the
 * amount is small, and a client that made the command wait for it must not lose it. */
static void drain_stream(struct streams *streams, int stream) {
    size_t wanted = streams->fd[stream] >= 0 ? count_waiting(streams, stream) + 1 : 0;
    size_t total = 0;
    while (total < wanted && streams->fd[stream] >= 0) {
        size_t room = make_room(streams, stream);
        size_t count = read_output(streams, stream, room > 0 ? room : READ_BYTES);
        if (count == 0) return;
        total += count;
    }
}

/* When its session leader ends, a terminal is hung up: a process that still has it open can no longer write to it. */
void drain_streams(struct streams *streams) {
    for (int stream = 0; stream < 2; stream++) drain_stream(streams, stream);
    if (streams->is_terminal) close_descriptor(&streams->fd[0]);
}

bool are_streams_closed(const struct streams *streams) {
    return streams->fd[0] < 0 && streams->fd[1] < 0;
}

void pause_streams(struct streams *streams) {
    streams->is_paused = true;
}

static void rearm_streams(const struct streams *streams) {
    rearm_source(streams->sources, SOURCE_OUT, streams->fd[0], EPOLLIN);
    rearm_source(streams->sources, SOURCE_ERR, streams->fd[1], EPOLLIN);
}

void wake_blocked_streams(struct streams *streams) {
    if (streams->is_blocking) rearm_streams(streams);
}

void resume_streams(struct streams *streams) {
    streams->is_paused = false;
    rearm_streams(streams);
}

void cap_streams(struct streams *streams, uint64_t cap_bytes) {
    for (int stream = 0; stream < 2; stream++) {
        struct log *log = &streams->log[stream];
        log->cap_bytes = cap_bytes;
        /* A blocking command evicts nothing that its client has not read, so its log is not trimmed here. */
        if (!streams->is_blocking && log_room(log) == 0) evict_from_log(log, UINT64_MAX);
    }
}

void release_streams(struct streams *streams) {
    streams->is_discarding = true;
    streams->is_blocking = false;
    release_order(&streams->order, streams->directory);
    for (int stream = 0; stream < 2; stream++) release_log(&streams->log[stream]);
    resume_streams(streams);
}

void close_streams(struct streams *streams) {
    for (int stream = 0; stream < 2; stream++) {
        close_descriptor(&streams->fd[stream]);
        close_descriptor(&streams->log[stream].fd);
    }
    close_descriptor(&streams->order.fd);
    explicit_bzero(buffer, buffered);
    buffered = 0;
}
