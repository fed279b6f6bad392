/* The journal of one command: the claim on its directory, the header of its logs, what happened to it. */
#ifndef SANDBOXD_JOURNAL_H
#define SANDBOXD_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "status.h"

struct journal {
    int fd;
    uint64_t sequence;
    uint64_t next_offset;
    const struct log *logs[2];
};

/* Creates the journal, which must not exist, with room for all it will ever hold. False with errno. */
bool claim_directory(struct journal *journal, int directory);
/* Rewrites heads and gaps in one write. */
void write_journal_header(struct journal *journal);
/* Adds one line about the command as it stands now. */
void write_journal_event(struct journal *journal, const char *event, const struct status *status);
void write_journal_failure(struct journal *journal, int stage, int reason);

#endif
