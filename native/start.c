/* Starts a command: claims its directory, opens logs and control socket, launches the program. */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "io.h"
#include "keeper.h"
#include "launch.h"
#include "oom.h"
#include "protocol.h"
#include "request.h"
#include "sources.h"
#include "title.h"

static const struct failure no_failure = {0, 0};

static struct failure failed(int stage) {
    return (struct failure){stage, errno};
}

static void tell_failure(struct keeper *keeper, struct failure failure) {
    uint8_t payload[8];
    struct field_writer writer = write_fields(payload, sizeof payload);
    write_u32(&writer, (uint32_t)failure.stage);
    write_u32(&writer, (uint32_t)failure.reason);
    tell_client(keeper, FRAME_FAILED, payload, sizeof payload);
}

static struct failure claim(struct keeper *keeper, const struct request *request) {
    keeper->directory = open(request->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (keeper->directory < 0) return failed(STAGE_DIRECTORY);
    return claim_directory(&keeper->journal, keeper->directory) ? no_failure : failed(STAGE_CLAIM);
}

static void configure_streams(struct streams *streams, const struct request *request) {
    streams->is_terminal = request->flags & SPAWN_TERMINAL;
    streams->is_blocking = request->flags & SPAWN_BLOCK;
    streams->is_discarding = request->flags & SPAWN_DISCARD;
    streams->log[0].cap_bytes = streams->log[1].cap_bytes = request->cap_bytes;
}

static bool watch_control(struct keeper *keeper) {
    struct control *control = &keeper->control;
    if (!control->is_watched) control->is_watched = add_source(keeper->sources, SOURCE_CONTROL, control->fd, EPOLLIN);
    return control->is_watched;
}

static struct failure open_files(struct keeper *keeper, const struct request *request) {
    configure_streams(&keeper->streams, request);
    keep_logs(&keeper->streams, keeper->directory);
    return open_control(&keeper->control, keeper->directory, request->flags & SPAWN_REUSE) && watch_control(keeper)
               ? no_failure
               : failed(STAGE_DIRECTORY);
}

static struct failure take_channels(struct keeper *keeper, const struct channels *channels) {
    keeper->input.fd = channels->input;
    keeper->input.is_terminal = keeper->streams.is_terminal;
    keeper->streams.fd[0] = channels->output[0];
    keeper->streams.fd[1] = channels->output[1];
    bool is_watched = watch_output(&keeper->streams);
    if (is_watched) is_watched = add_source(keeper->sources, SOURCE_STDIN, channels->input, EPOLLOUT);
    return is_watched ? no_failure : failed(STAGE_PIPE);
}

static int child_oom_score(const struct keeper *keeper, const struct request *request) {
    return request->oom_score_adj == OOM_SCORE_LEAVE ? keeper->default_oom_score : request->oom_score_adj;
}

static struct failure launch_in_channels(struct keeper *keeper, const struct request *request) {
    struct channels channels;
    struct failure failure = open_channels(&channels, request);
    if (failure.stage == 0) failure = take_channels(keeper, &channels);
    if (failure.stage == 0) {
        keeper->status.started_ns = realtime_ns();
        struct launched launched = {0, 0};
        failure = launch(request, &channels, child_oom_score(keeper, request), &launched);
        keeper->status.pid = launched.pid;
        keeper->group = launched.group;
    }
    close_child_ends(&channels);
    return failure;
}

static void set_deadline(struct keeper *keeper, const struct request *request) {
    keeper->hard_grace_ms = request->grace_ms;
    keeper->hard_deadline = request->hard_timeout_ms > 0 ? monotonic_ms() + request->hard_timeout_ms : NEVER;
}

static struct failure start(struct keeper *keeper, const struct request *request) {
    struct failure failure = open_files(keeper, request);
    keeper->can_count_oom_kills = read_oom_kills(keeper->oom_counter, &keeper->oom_kills_before);
    if (failure.stage == 0) failure = launch_in_channels(keeper, request);
    if (failure.stage == 0 && keeper->streams.is_terminal) keeper->ending.session = keeper->status.pid;
    if (failure.stage == 0) set_deadline(keeper, request);
    else write_journal_failure(&keeper->journal, failure.stage, failure.reason);
    return failure;
}

/* A client that waits only for the end is not woken for the start of a command that ends at once. */
static void tell_spawned(struct keeper *keeper, bool is_deferred) {
    if (is_deferred) keeper->spawned_due = monotonic_ms() + SPAWNED_DEFER_MS;
    else tell_status(keeper, FRAME_SPAWNED);
}

static void tell_start(struct keeper *keeper, struct failure failure, bool is_deferred) {
    keeper->is_leaving = failure.stage != 0;
    if (keeper->is_leaving) {
        tell_failure(keeper, failure);
        return;
    }
    keeper->has_descendants = true;
    keeper->status.flags |= STATUS_SPAWNED;
    write_journal_event(&keeper->journal, "spawned", current_status(keeper));
    tell_spawned(keeper, is_deferred);
}

void start_command(struct keeper *keeper, const struct frame *frame) {
    struct request request;
    set_title("boxkeep: keeper", KEEPER_NAME);
    keeper->uses++;
    bool is_sound = decode_request(&request, frame->payload, frame->size);
    struct failure failure = is_sound ? no_failure : failed(STAGE_PROTOCOL);
    if (failure.stage == 0) failure = claim(keeper, &request);
    if (failure.stage == 0) failure = start(keeper, &request);
    keeper->may_be_reused = is_sound && (request.flags & SPAWN_REUSE) && !(request.flags & SPAWN_TERMINAL);
    tell_start(keeper, failure, is_sound && (request.flags & SPAWN_DEFER));
    free_request(&request);
}
