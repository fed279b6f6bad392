/* Writes the journal of one command: the claim on its directory, the header of its logs, its events. */
#ifndef BOXKEEP_JOURNAL_H
#define BOXKEEP_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "status.h"

struct journal {
    int fd;
    uint64_t sequence;
    /* Zero until the first event, which is written together with the header. */
    uint64_t next_offset;
    bool has_failed;
    const struct log *logs[2];
};

/* Creates the journal, which must not exist yet, and reserves space for all its content. False with errno. */
bool claim_directory(struct journal *journal, int directory);
/* Rewrites heads and gaps with one write. */
void write_journal_header(struct journal *journal);
/* Appends one line with the current state of the command. */
void write_journal_event(struct journal *journal, const char *event, const struct status *status);
/* Appends the lines `exited` and `closed` with one write. */
void write_journal_end(struct journal *journal, const struct status *status);
void write_journal_failure(struct journal *journal, int stage, int reason);

#endif
