/* An upgrade: the daemon of a new program takes over from the one that serves, or everything stays as it was. */
#ifndef SANDBOXD_UPGRADE_H
#define SANDBOXD_UPGRADE_H

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
    /* The new daemon starts, the old one serves. */
    UPGRADE_STARTING,
    /* The old one puts down what it holds. */
    UPGRADE_HANDING,
    /* The new one takes it up. */
    UPGRADE_TAKING,
    /* The new one was killed, and is waited for before the old one goes on. */
    UPGRADE_FAILING,
    /* The new daemon serves; init itself is still the old one. */
    UPGRADE_TAKEN,
};

struct upgrade {
    enum upgrade_stage stage;
    /* Who has asked; -1 when nobody has, or has gone since. */
    int client;
    struct inbox inbox;
    struct program program;
    struct daemon successor;
    /* Daemons that were succeeded and see their last clients off. */
    struct keepers leaving;
    bool is_handover_told;
    char reason[512];
    char version_before[VERSION_BYTES];
    uint64_t asked_at;
    uint64_t handed_at;
    uint64_t stage_ends_at;
    uint32_t total_ms;
    uint32_t held_ms;
};

/* False in the middle of one: the next request waits. */
bool takes_upgrades(const struct upgrade *upgrade);
void accept_upgrade(struct upgrade *upgrade, const struct runtime *runtime);
/* Reads what is asked for, and begins. */
void hear_upgrade(struct upgrade *upgrade, const struct daemon *daemon);
/* Goes on to the next stage when this one has what it waits for, and calls it off when it has no more time. */
void advance_upgrade(struct upgrade *upgrade, struct daemon *daemon);
/* Ends UPGRADE_TAKEN: tells what has become of it; `fault` is NULL, or what could not be done. */
void finish_upgrade(struct upgrade *upgrade, const struct daemon *daemon, const char *fault);
/* A process was reaped. */
void note_upgrade_end(struct upgrade *upgrade, pid_t pid, int exit_code);
/* When there is next something to do, or NEVER. */
uint64_t next_upgrade_step(const struct upgrade *upgrade);

/* Everything ends: no upgrade any more, and every daemon of it is sent the signal. */
void end_upgrade(struct upgrade *upgrade, int signal_number);
bool has_upgrade_processes(const struct upgrade *upgrade);

#endif
