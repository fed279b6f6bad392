/* The daemon as init sees it: started, talked with over one socket pair, started again. */
#ifndef SANDBOXD_DAEMON_H
#define SANDBOXD_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"
#include "payload.h"
#include "protocol.h"
#include "runtime.h"
#include "scrub.h"

struct daemon {
    /* 0: it does not run. */
    pid_t pid;
    int channel;
    struct inbox inbox;
    /* What could not be sent yet. */
    uint8_t *outgoing;
    size_t outgoing_bytes;
    /* The program and its first arguments; with a payload they are found at each start. */
    struct string_list command;
    struct payload *payload;
    struct surroundings *surroundings;
    /* What it says of itself with STANDBY or READY. */
    char version[VERSION_BYTES];
    /* It waits for another one to hand over. */
    bool is_successor;
    bool is_standing_by;
    bool has_handed;
    /* How long it has held requests when it says so. */
    uint32_t held_ms;
    bool is_ready;
    uint64_t started_at;
    unsigned starts;
    unsigned short_lives;
};

/* 0, or the exit code of a program that cannot be run, with a complaint on stderr. */
int start_daemon(struct daemon *daemon);
/* The daemon was reaped. */
void note_daemon_end(struct daemon *daemon);
/* Whether it has died so often right after its start that there is no point in going on. */
bool is_crash_loop(const struct daemon *daemon);
/* How long to wait before the next start. */
uint64_t restart_pause_ms(const struct daemon *daemon);

/* Reads and obeys what it says. */
void hear_daemon(struct daemon *daemon, struct runtime *runtime);
void send_to_daemon(struct daemon *daemon);
/* Sends a frame without a payload. */
void tell_daemon(struct daemon *daemon, uint16_t type);
/* Gives up the connection alone. */
void disconnect_daemon(struct daemon *daemon);
/* Gives up the connection and overwrites every key; for a process that is to be a keeper. */
void forget_daemon(struct daemon *daemon);

#endif
