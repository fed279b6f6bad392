/* A keeper: the process that holds one command. */
#ifndef SANDBOXD_KEEPER_H
#define SANDBOXD_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "ending.h"
#include "frame.h"
#include "journal.h"
#include "status.h"
#include "stdin.h"
#include "streams.h"

/* The one daemon connection. */
struct client {
    int fd;
    struct inbox inbox;
    bool is_watching;
    uint64_t watched[2];
    /* Whether it is told with OUTPUT, and how many bytes that may carry. */
    bool is_following;
    uint32_t most_bytes;
    /* How often it is told more before it has to ask again. */
    uint32_t times;
};

struct keeper {
    int sources;
    int signals;
    int directory;
    int control;
    struct client client;
    struct journal journal;
    struct streams streams;
    struct input input;
    struct ending ending;
    struct status status;
    /* What a command gets that asks for no oom score of its own. */
    int default_oom_score;
    int oom_counter;
    uint64_t oom_kills_before;
    bool can_count_oom_kills;
    /* Signals that the daemon sent to the leader, one bit each. */
    uint64_t sent_signals;
    bool has_killed;
    bool has_descendants;
    bool is_exit_told;
    bool is_close_told;
    bool is_leaving;
    bool is_shutting_down;
    uint64_t hard_deadline;
    /* When SPAWNED is to be told that the client does not wait for. */
    uint64_t spawned_due;
    /* When the answer to STDIN is to be told that waits for OUTPUT. */
    uint64_t stdin_due;
    uint32_t hard_grace_ms;
};

/* Holds one command on this connection and leaves when all is over. */
_Noreturn void run_keeper(int connection, int default_oom_score);

/* commands.c: what the client asks for, once there is a command. */

/* False when the frame is not one that may come here: the connection ends. */
bool obey_frame(struct keeper *keeper, const struct frame *frame);
/* Asks for the end, unless something else did before. */
void terminate_command(struct keeper *keeper, uint32_t grace_ms, uint32_t cause);

/* start.c: the command's start. */

/* Starts what the frame asks for, or tells why not and leaves. */
void start_command(struct keeper *keeper, const struct frame *frame);

/* client.c: the connection. */

void connect_client(struct keeper *keeper, int fd);
void disconnect_client(struct keeper *keeper);
void tell_client(struct keeper *keeper, uint16_t type, const uint8_t *payload, size_t size);
void tell_status(struct keeper *keeper, uint16_t type);
void tell_stdin(struct keeper *keeper);
/* The same, unless OUTPUT will tell it in a moment. */
void answer_stdin(struct keeper *keeper);
/* One DATA for one WATCH, one OUTPUT for one FOLLOW. */
void tell_output(struct keeper *keeper);
/* Reads and obeys what came. */
void read_client(struct keeper *keeper);
void accept_client(struct keeper *keeper);

/* The status as of now. */
const struct status *current_status(struct keeper *keeper);

#endif
