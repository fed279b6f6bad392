/* An upgrade: the daemon of a new program takes over from the serving daemon, or nothing changes. */
#ifndef BOXKEEP_UPGRADE_H
#define BOXKEEP_UPGRADE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon.h"
#include "frame.h"
#include "keepers.h"
#include "program.h"
#include "runtime.h"

enum upgrade_stage {
    UPGRADE_NONE,
    /* The new daemon starts while the old daemon serves. */
    UPGRADE_STARTING,
    /* The old daemon releases what it holds. */
    UPGRADE_HANDING,
    /* The new daemon takes over. */
    UPGRADE_TAKING,
    /* The new daemon was sent SIGKILL. The old daemon continues after the new one has ended. */
    UPGRADE_FAILING,
    /* The new daemon serves. init still runs the old program. */
    UPGRADE_TAKEN,
};

struct upgrade {
    enum upgrade_stage stage;
    /* The requesting client. -1 when there is none or it has disconnected. */
    int client;
    struct inbox inbox;
    struct program program;
    struct daemon successor;
    /* Succeeded daemons that still serve their last clients. */
    struct keepers leaving;
    bool is_handover_reported;
    char reason[512];
    char version_before[VERSION_BYTES];
    uint64_t asked_at;
    uint64_t handed_at;
    uint64_t stage_ends_at;
    uint32_t total_ms;
    uint32_t held_ms;
};

/* False during an upgrade. The next request waits. */
bool takes_upgrades(const struct upgrade *upgrade);
void accept_upgrade(struct upgrade *upgrade, const struct runtime *runtime);
/* Reads the request and begins the upgrade. */
void hear_upgrade(struct upgrade *upgrade, const struct daemon *daemon);
/* Moves to the next stage when the current stage is complete. Calls the upgrade off when the stage has timed out. */
void advance_upgrade(struct upgrade *upgrade, struct daemon *daemon);
/* Ends UPGRADE_TAKEN and reports the result. `fault` is NULL, or says what failed. */
void finish_upgrade(struct upgrade *upgrade, const struct daemon *daemon, const char *fault);
/* Records the end of a reaped process. */
void note_upgrade_end(struct upgrade *upgrade, pid_t pid, int exit_code);
/* The deadline of the current stage, or NEVER. */
uint64_t next_upgrade_step(const struct upgrade *upgrade);

/* Ends a current upgrade and sends the signal to all its daemons. */
void end_upgrade(struct upgrade *upgrade, int signal_number);
bool has_upgrade_processes(const struct upgrade *upgrade);

#endif
