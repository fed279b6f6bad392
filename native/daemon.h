/* The daemon as init sees it: start, communication over one socket pair, restart. */
#ifndef BOXKEEP_DAEMON_H
#define BOXKEEP_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"
#include "payload.h"
#include "protocol.h"
#include "runtime.h"
#include "scrub.h"

/* Adds variables that keep the daemon's runtime from starting threads later. */
void add_runtime_options(struct string_list *environment);

struct daemon {
    /* 0 while the daemon does not run. */
    pid_t pid;
    int channel;
    struct inbox inbox;
    /* Bytes that the socket has not accepted yet. */
    uint8_t *outgoing;
    size_t outgoing_bytes;
    /* The program and its first arguments. With a payload they are determined at each start. */
    struct string_list command;
    struct payload *payload;
    struct surroundings *surroundings;
    /* The version that the daemon sent with STANDBY or READY. */
    char version[VERSION_BYTES];
    /* This daemon waits for another daemon to hand over. */
    bool is_successor;
    bool is_standing_by;
    /* The number of the last HANDOVER, which HANDED repeats. */
    uint32_t handover;
    bool has_handed;
    /* How long the daemon has held requests, as reported in HANDED. */
    uint32_t held_ms;
    bool is_ready;
    uint64_t started_at;
    unsigned starts;
    unsigned short_lives;
};

/* Returns 0, or an exit code after a complaint on stderr when the program cannot be run. */
int start_daemon(struct daemon *daemon);
/* Records the end of the daemon, after it was reaped. */
void note_daemon_end(struct daemon *daemon);
/* Whether the daemon has died so often right after its start that init should give up. */
bool is_crash_loop(const struct daemon *daemon);
/* How long to wait before the next start. */
uint64_t restart_pause_ms(const struct daemon *daemon);

/* Reads and handles the daemon's frames. */
void hear_daemon(struct daemon *daemon, struct runtime *runtime);
void send_to_daemon(struct daemon *daemon);
/* Sends a frame without a payload. */
void tell_daemon(struct daemon *daemon, uint16_t type);
/* Sends HANDOVER. `has_handed` is set when the daemon has answered this request. */
void ask_for_handover(struct daemon *daemon);
/* Closes the connection without changing anything else. */
void disconnect_daemon(struct daemon *daemon);
/* Closes the connection and overwrites every key. A process calls this before it becomes a keeper. */
void forget_daemon(struct daemon *daemon);

#endif
