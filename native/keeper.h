/* A keeper: the process that holds one command. */
#ifndef BOXKEEP_KEEPER_H
#define BOXKEEP_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"
#include "ending.h"
#include "frame.h"
#include "journal.h"
#include "status.h"
#include "stdin.h"
#include "streams.h"
#include "traits.h"

/* The only connection with a daemon. */
struct client {
    int fd;
    struct inbox inbox;
    bool is_watching;
    uint64_t watched[2];
    /* Whether output is reported with OUTPUT, and how many bytes OUTPUT may carry. */
    bool is_following;
    uint32_t most_bytes;
    /* How many updates the keeper may still push before the client has to ask again. */
    uint32_t times;
};

struct keeper {
    int sources;
    int signals;
    int directory;
    struct control control;
    struct client client;
    struct journal journal;
    struct streams streams;
    struct input input;
    struct ending ending;
    struct status status;
    /* Of the command. Its leader may be a process that has ended. */
    pid_t group;
    /* The score of a command that requests no oom score of its own. */
    int default_oom_score;
    int oom_counter;
    uint64_t oom_kills_before;
    bool can_count_oom_kills;
    /* Signals that the daemon sent to the leader, one bit each. */
    uint64_t sent_signals;
    bool has_killed;
    bool has_descendants;
    bool is_exit_reported;
    bool is_close_reported;
    bool is_leaving;
    bool is_shutting_down;
    uint64_t hard_deadline;
    /* When a deferred SPAWNED has to be sent. */
    uint64_t spawned_due;
    /* When an answer to STDIN has to be sent that waits for OUTPUT. */
    uint64_t stdin_due;
    uint32_t hard_grace_ms;
    /* How many commands this keeper has started. */
    uint32_t uses;
    /* The client that sent SPAWN is still connected, and may send another SPAWN after the end. */
    bool may_be_reused;
    /* What a command inherits from the keeper, as it was before the first command. */
    struct traits traits;
};

/* Holds one command on this connection and exits when all has ended. */
_Noreturn void run_keeper(int connection, int default_oom_score);

/* commands.c: the client's requests after the start of the command. */

/* False when the frame is not valid here. The caller then closes the connection. */
bool obey_frame(struct keeper *keeper, const struct frame *frame);
/* Requests the end of the command. The first cause is kept. */
void terminate_command(struct keeper *keeper, uint32_t grace_ms, uint32_t cause);

/* start.c: the start of the command. */

/* Starts the command of the frame. On failure the keeper reports the reason and exits. */
void start_command(struct keeper *keeper, const struct frame *frame);

/* reuse.c: one command after another. */

/* Sets every field of one command to its first value. */
void reset_keeper(struct keeper *keeper);
/* Whether the keeper can hold another command. */
bool is_reusable(const struct keeper *keeper);
/* Removes everything of the ended command. A keeper that a command has changed exits. */
void clean_keeper(struct keeper *keeper);

/* client.c: the connection with the daemon. */

void connect_client(struct keeper *keeper, int fd);
void disconnect_client(struct keeper *keeper);
/* Forgets the requests of the client, which remains connected. */
void forget_requests(struct client *client);
void tell_client(struct keeper *keeper, uint16_t type, const uint8_t *payload, size_t size);
void tell_status(struct keeper *keeper, uint16_t type);
void tell_stdin(struct keeper *keeper);
/* Like tell_stdin, unless OUTPUT will carry the same state in a moment. */
void answer_stdin(struct keeper *keeper);
/* Sends one DATA for one WATCH, one OUTPUT for one FOLLOW. */
void tell_output(struct keeper *keeper);
/* Reads and handles the frames that have arrived. */
void read_client(struct keeper *keeper);
void accept_client(struct keeper *keeper);

/* The current status. */
const struct status *current_status(struct keeper *keeper);

#endif
