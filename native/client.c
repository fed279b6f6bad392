/* A keeper's connection with the daemon: one connection at a time, and the keeper never blocks on it. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io.h"
#include "keeper.h"
#include "protocol.h"
#include "sources.h"

/* The payload of OUTPUT. Static instead of on the stack: pages that are never touched use no memory. */
static uint8_t output[OUTPUT_HEADER_BYTES + OUTPUT_LIMIT_BYTES];
static size_t output_bytes;

void forget_requests(struct client *client) {
    explicit_bzero(output, output_bytes);
    output_bytes = 0;
    client->is_watching = client->is_following = false;
}

void disconnect_client(struct keeper *keeper) {
    close_descriptor(&keeper->client.fd);
    empty_inbox(&keeper->client.inbox);
    forget_requests(&keeper->client);
    keeper->may_be_reused = false;
    keeper->stdin_due = NEVER;
    keeper->streams.has_client = false;
    wake_blocked_streams(&keeper->streams);
}

void connect_client(struct keeper *keeper, int fd) {
    disconnect_client(keeper);
    keeper->client.fd = fd;
    keeper->streams.has_client = true;
    keeper->streams.consumed[0] = keeper->streams.consumed[1] = 0;
    if (!add_source(keeper->sources, SOURCE_CLIENT, fd, EPOLLIN)) disconnect_client(keeper);
}

/* Events are few and small, so an event that does not fit into the socket buffer means that the daemon has stopped
 * reading. The keeper then disconnects. After reconnecting, the daemon learns the missed state from STATUS. */
void tell_client(struct keeper *keeper, uint16_t type, const uint8_t *payload, size_t size) {
    if (keeper->client.fd >= 0 && !send_frame(keeper->client.fd, type, payload, size)) disconnect_client(keeper);
}

void tell_status(struct keeper *keeper, uint16_t type) {
    uint8_t record[STATUS_BYTES];
    encode_status(current_status(keeper), record);
    tell_client(keeper, type, record, sizeof record);
}

static void tell_pair(struct keeper *keeper, uint16_t type, uint64_t first, uint64_t second) {
    uint8_t payload[16];
    struct field_writer writer = write_fields(payload, sizeof payload);
    write_u64(&writer, first);
    write_u64(&writer, second);
    tell_client(keeper, type, payload, sizeof payload);
}

void tell_stdin(struct keeper *keeper) {
    keeper->stdin_due = NEVER;
    tell_pair(keeper, FRAME_STDIN_STATE, keeper->input.accepted, keeper->input.written);
}

/* A terminal echoes what is typed, so the answer waits for the echo and the client wakes up once for both. */
void answer_stdin(struct keeper *keeper) {
    const struct client *client = &keeper->client;
    bool is_echo_near = client->is_watching && client->is_following && keeper->input.is_terminal;
    if (!is_echo_near || keeper->input.used > 0) tell_stdin(keeper);
    else if (keeper->stdin_due == NEVER) keeper->stdin_due = monotonic_ms() + STDIN_DEFER_MS;
}

/* The echo of typed text arrives in small pieces. During a flood the keeper stops pushing, and the client asks again
 * when it wants more. */
static void follow_on(struct keeper *keeper, size_t size) {
    struct client *client = &keeper->client;
    bool is_little = size > 0 && size <= OUTPUT_LITTLE_BYTES;
    if (client->times > 0) client->times--;
    client->is_watching = is_little && client->times > 0;
    for (int stream = 0; stream < 2; stream++) client->watched[stream] = keeper->streams.log[stream].end;
}

static void tell_followed(struct keeper *keeper) {
    const struct log *out = &keeper->streams.log[0];
    const struct client *client = &keeper->client;
    struct field_writer writer = write_fields(output, sizeof output);
    write_u64(&writer, out->end);
    write_u64(&writer, keeper->streams.log[1].end);
    write_u64(&writer, keeper->input.accepted);
    write_u64(&writer, keeper->input.written);
    size_t most = client->most_bytes < OUTPUT_LIMIT_BYTES ? client->most_bytes : OUTPUT_LIMIT_BYTES;
    size_t size = read_log_tail(out, client->watched[0], output + writer.used, most);
    if (writer.used + size > output_bytes) output_bytes = writer.used + size;
    keeper->stdin_due = NEVER;
    follow_on(keeper, size);
    tell_client(keeper, FRAME_OUTPUT, output, writer.used + size);
}

void tell_output(struct keeper *keeper) {
    const struct log *out = &keeper->streams.log[0], *err = &keeper->streams.log[1];
    struct client *client = &keeper->client;
    if (!client->is_watching || (out->end <= client->watched[0] && err->end <= client->watched[1])) return;
    client->is_watching = false;
    if (client->is_following) tell_followed(keeper);
    else tell_pair(keeper, FRAME_DATA, out->end, err->end);
}

/* Only SPAWN is valid before the start, and SPAWN is invalid after it. Between two commands, other frames are late
 * requests for the ended command and have no effect. */
static bool take_frame(struct keeper *keeper, const struct frame *frame) {
    bool has_started = keeper->status.flags & STATUS_SPAWNED;
    if (frame->type != FRAME_SPAWN) return has_started ? obey_frame(keeper, frame) : keeper->uses > 0;
    if (has_started) return false;
    start_command(keeper, frame);
    return true;
}

static void take_frames(struct keeper *keeper) {
    struct frame frame;
    enum next_outcome next = NEXT_INCOMPLETE;
    struct client *client = &keeper->client;
    while (client->fd >= 0 && !keeper->is_leaving && (next = next_frame(&client->inbox, &frame)) == NEXT_FRAME) {
        if (take_frame(keeper, &frame)) continue;
        disconnect_client(keeper);
        return;
    }
    if (next == NEXT_INVALID) disconnect_client(keeper);
}

/* Reads once per wake-up and then rearms the source, so that a flood of frames cannot hold up the output. */
void read_client(struct keeper *keeper) {
    if (keeper->client.fd < 0) return;
    enum fill_outcome filled = fill_inbox(&keeper->client.inbox, keeper->client.fd);
    if (filled == FILL_EMPTY) return;
    if (filled == FILL_ENDED) disconnect_client(keeper);
    else take_frames(keeper);
    rearm_source(keeper->sources, SOURCE_CLIENT, keeper->client.fd, EPOLLIN);
}

void accept_client(struct keeper *keeper) {
    int fd;
    bool has_command = keeper->status.flags & STATUS_SPAWNED;
    while ((fd = accept4(keeper->control.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0 || errno == EINTR) {
        if (fd < 0) continue;
        if (!has_command || !is_trusted_peer(fd)) {
            close(fd);
            continue;
        }
        connect_client(keeper, fd);
        tell_status(keeper, FRAME_STATUS);
    }
}
