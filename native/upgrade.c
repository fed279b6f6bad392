/* An upgrade: the daemon of a new program takes over from the serving daemon, or nothing changes. */
#include "upgrade.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ending.h"
#include "io.h"
#include "handover.h"
#include "protocol.h"

static void enter(struct upgrade *upgrade, enum upgrade_stage stage, uint64_t limit_ms) {
    upgrade->stage = stage;
    upgrade->stage_ends_at = limit_ms == NEVER ? NEVER : monotonic_ms() + limit_ms;
}

static void forget_client(struct upgrade *upgrade) {
    close_descriptor(&upgrade->client);
    empty_inbox(&upgrade->inbox);
}

/* Resets the upgrade to its initial state. Only the list of leaving daemons stays. */
static void forget_upgrade(struct upgrade *upgrade) {
    forget_client(upgrade);
    close_program(&upgrade->program);
    free_strings(&upgrade->successor.command);
    upgrade->is_handover_reported = false;
    enter(upgrade, UPGRADE_NONE, NEVER);
}

/* ---- the client ---- */

static void refuse(struct upgrade *upgrade, const char *reason) {
    const uint8_t *text = (const uint8_t *)reason;
    if (upgrade->client >= 0) send_frame(upgrade->client, FRAME_REFUSED, text, strlen(reason));
}

bool takes_upgrades(const struct upgrade *upgrade) {
    return upgrade->stage == UPGRADE_NONE;
}

/* A client that has connected and not sent a request yet is dropped for the new one. */
void accept_upgrade(struct upgrade *upgrade, const struct runtime *runtime) {
    int client = accept4(runtime->upgrades, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    if (!is_trusted_peer(client)) {
        close(client);
        return;
    }
    forget_client(upgrade);
    upgrade->client = client;
}

/* ---- the start of the new daemon ---- */

/* The request is a path, followed by the values of the --daemon= options. */
static bool read_request(struct upgrade *upgrade, const struct frame *frame) {
    struct field_reader fields = read_fields(frame->payload, frame->size);
    const char *path = read_string(&fields);
    snprintf(upgrade->reason, sizeof upgrade->reason, "the request is not understood");
    if (fields.has_failed) return false;
    if (!open_program(&upgrade->program, path, upgrade->reason, sizeof upgrade->reason)) return false;
    while (fields.left > 0 && !fields.has_failed) add_string(&upgrade->program.daemon, read_string(&fields));
    return !fields.has_failed;
}

/* The new program starts its own daemon, because only that program knows where its daemon is. */
static bool start_successor(struct upgrade *upgrade, const struct daemon *daemon) {
    char program[64];
    struct daemon *successor = &upgrade->successor;
    *successor = (struct daemon){.channel = -1, .surroundings = daemon->surroundings, .is_successor = true};
    successor->starts = daemon->starts;
    name_program(&upgrade->program, program, sizeof program);
    add_string(&successor->command, program);
    add_daemon_options(&upgrade->program, &successor->command);
    add_string(&successor->command, SUCCEED_WORD);
    add_string(&successor->command, HANDOVER_VERSION_TEXT);
    if (start_daemon(successor) == 0) return true;
    snprintf(upgrade->reason, sizeof upgrade->reason, "%s cannot be run", upgrade->program.path);
    return false;
}

static bool begin(struct upgrade *upgrade, const struct daemon *daemon, const struct frame *frame) {
    upgrade->asked_at = monotonic_ms();
    if (!read_request(upgrade, frame)) return false;
    if (upgrade->program.daemon.count == 0) add_strings(&upgrade->program.daemon, daemon->command.items);
    snprintf(upgrade->reason, sizeof upgrade->reason, "the daemon does not serve at this moment; try again");
    if (daemon->pid == 0 || !daemon->is_ready || !start_successor(upgrade, daemon)) return false;
    memcpy(upgrade->version_before, daemon->version, sizeof upgrade->version_before);
    enter(upgrade, UPGRADE_STARTING, STANDBY_LIMIT_MS);
    return true;
}

/* Does what SIGTERM does. The connection stays open, so that its end tells the client that this process has ended. */
static void stop(struct upgrade *upgrade, const struct daemon *daemon) {
    uint8_t payload[4 + VERSION_BYTES];
    struct field_writer writer = write_fields(payload, sizeof payload);
    write_u32(&writer, (uint32_t)getpid());
    write_bytes(&writer, daemon->version, strlen(daemon->version) + 1);
    send_frame(upgrade->client, FRAME_STOPPING, payload, writer.used);
    upgrade->client = -1;
    forget_upgrade(upgrade);
    kill(getpid(), SIGTERM);
}

/* The upgrade continues even if the client disconnects after it has begun. */
void hear_upgrade(struct upgrade *upgrade, const struct daemon *daemon) {
    struct frame frame;
    enum fill_outcome filled = fill_inbox(&upgrade->inbox, upgrade->client);
    if (filled == FILL_EMPTY) return;
    enum next_outcome next = filled == FILL_MORE ? next_frame(&upgrade->inbox, &frame) : NEXT_INVALID;
    if (next == NEXT_INCOMPLETE) return;
    bool is_request = next == NEXT_FRAME && upgrade->stage == UPGRADE_NONE;
    if (is_request && frame.type == FRAME_STOP) {
        stop(upgrade, daemon);
        return;
    }
    if (!is_request || frame.type != FRAME_UPGRADE) {
        forget_client(upgrade);
        return;
    }
    if (begin(upgrade, daemon, &frame)) return;
    refuse(upgrade, upgrade->reason);
    forget_upgrade(upgrade);
}

/* ---- the stages ---- */

static void fail(struct upgrade *upgrade, const char *reason) {
    snprintf(upgrade->reason, sizeof upgrade->reason, "%s", reason);
    if (upgrade->successor.pid > 0) kill(upgrade->successor.pid, SIGKILL);
    enter(upgrade, UPGRADE_FAILING, NEVER);
}

static void tell_handover(struct upgrade *upgrade, struct daemon *daemon) {
    upgrade->is_handover_reported = true;
    ask_for_handover(daemon);
    enter(upgrade, UPGRADE_HANDING, HANDED_LIMIT_MS);
}

static void tell_take(struct upgrade *upgrade) {
    upgrade->handed_at = monotonic_ms();
    tell_daemon(&upgrade->successor, FRAME_TAKE);
    enter(upgrade, UPGRADE_TAKING, TAKE_LIMIT_MS);
}

/* The old daemon serves its remaining clients, and the upgrade does not wait for it. When too many daemons are
 * leaving, the oldest gets SIGTERM. */
static void let_leave(struct upgrade *upgrade, struct daemon *daemon) {
    struct keepers *leaving = &upgrade->leaving;
    tell_daemon(daemon, FRAME_SUCCEEDED);
    if (daemon->pid > 0 && !reserve_keeper(leaving)) kill(daemon->pid, SIGTERM);
    else if (daemon->pid > 0) add_keeper(leaving, daemon->pid);
    if (leaving->count > LEAVING_LIMIT) kill(leaving->pids[leaving->count - 1 - LEAVING_LIMIT], SIGTERM);
    disconnect_daemon(daemon);
}

/* The command and the surroundings are not replaced, because they belong to init. */
static void put_in_place(struct upgrade *upgrade, struct daemon *daemon) {
    struct daemon *successor = &upgrade->successor;
    daemon->pid = successor->pid;
    daemon->channel = successor->channel;
    daemon->inbox = successor->inbox;
    daemon->outgoing = successor->outgoing;
    daemon->outgoing_bytes = successor->outgoing_bytes;
    daemon->started_at = successor->started_at;
    daemon->starts = successor->starts;
    daemon->short_lives = 0;
    daemon->is_ready = true;
    memcpy(daemon->version, successor->version, sizeof daemon->version);
    free_strings(&successor->command);
    *successor = (struct daemon){.channel = -1};
}

static void succeed(struct upgrade *upgrade, struct daemon *daemon) {
    uint64_t now = monotonic_ms();
    upgrade->total_ms = (uint32_t)(now - upgrade->asked_at);
    upgrade->held_ms = daemon->held_ms + (uint32_t)(now - upgrade->handed_at);
    let_leave(upgrade, daemon);
    put_in_place(upgrade, daemon);
    enter(upgrade, UPGRADE_TAKEN, NEVER);
}

/* Lets the old daemon continue. Only called after the successor has ended, so that nothing else holds the keepers and
 * the port. */
static void go_on(struct upgrade *upgrade, struct daemon *daemon) {
    if (upgrade->is_handover_reported) tell_daemon(daemon, FRAME_GO_ON);
    complain("the upgrade was called off: %s", upgrade->reason);
    refuse(upgrade, upgrade->reason);
    forget_upgrade(upgrade);
}

/* If the old daemon dies in between, it has nothing left to hand over, and its successor takes over the remaining
 * state. */
void advance_upgrade(struct upgrade *upgrade, struct daemon *daemon) {
    const struct daemon *successor = &upgrade->successor;
    if (upgrade->stage == UPGRADE_STARTING && successor->is_standing_by) {
        if (daemon->pid > 0) tell_handover(upgrade, daemon);
        else tell_take(upgrade);
    }
    if (upgrade->stage == UPGRADE_HANDING && (daemon->has_handed || daemon->pid == 0)) tell_take(upgrade);
    if (upgrade->stage == UPGRADE_TAKING && successor->is_ready) succeed(upgrade, daemon);
    if (upgrade->stage == UPGRADE_FAILING && successor->pid == 0) go_on(upgrade, daemon);
    if (upgrade->stage_ends_at == NEVER || monotonic_ms() < upgrade->stage_ends_at) return;
    fail(upgrade, upgrade->stage == UPGRADE_HANDING ? "the daemon that serves did not hand over in time"
                                                    : "the new daemon was not ready in time");
}

void finish_upgrade(struct upgrade *upgrade, const struct daemon *daemon, const char *fault) {
    uint8_t payload[8 + 2 * VERSION_BYTES + sizeof upgrade->reason];
    const char *note = fault != NULL ? fault : "";
    struct field_writer writer = write_fields(payload, sizeof payload);
    write_u32(&writer, upgrade->total_ms);
    write_u32(&writer, upgrade->held_ms);
    write_bytes(&writer, upgrade->version_before, strlen(upgrade->version_before) + 1);
    write_bytes(&writer, daemon->version, strlen(daemon->version) + 1);
    write_bytes(&writer, note, strlen(note) + 1);
    if (fault != NULL) complain("upgraded, but %s", fault);
    if (upgrade->client >= 0) send_frame(upgrade->client, FRAME_UPGRADED, payload, writer.used);
    forget_upgrade(upgrade);
}

void note_upgrade_end(struct upgrade *upgrade, pid_t pid, int exit_code) {
    char reason[128];
    remove_keeper(&upgrade->leaving, pid);
    if (pid != upgrade->successor.pid) return;
    upgrade->successor.pid = 0;
    disconnect_daemon(&upgrade->successor);
    if (upgrade->stage == UPGRADE_NONE || upgrade->stage == UPGRADE_FAILING) return;
    snprintf(reason, sizeof reason, "the new daemon ended with %d before it served; boxkeep's log has its last line",
             exit_code);
    fail(upgrade, reason);
}

uint64_t next_upgrade_step(const struct upgrade *upgrade) {
    return upgrade->stage_ends_at;
}

/* ---- shutdown ---- */

void end_upgrade(struct upgrade *upgrade, int signal_number) {
    if (upgrade->stage != UPGRADE_NONE) refuse(upgrade, "boxkeep was asked to end");
    forget_upgrade(upgrade);
    if (upgrade->successor.pid > 0) kill(upgrade->successor.pid, signal_number);
    signal_keepers(&upgrade->leaving, signal_number);
}

bool has_upgrade_processes(const struct upgrade *upgrade) {
    return upgrade->successor.pid > 0 || upgrade->leaving.count > 0;
}
