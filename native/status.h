/* The state of a command, as sent to the daemon and written to the journal. */
#ifndef BOXKEEP_STATUS_H
#define BOXKEEP_STATUS_H

#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

struct status {
    uint16_t flags;
    pid_t keeper;
    pid_t pid;
    int32_t exit_code;
    uint32_t signal;
    uint16_t cause;
    uint16_t oom;
    uint64_t end[2];
    uint64_t head[2];
    uint64_t lost[2];
    uint64_t stdin_accepted;
    uint64_t stdin_written;
    uint64_t user_us;
    uint64_t system_us;
    uint64_t max_rss_kb;
    uint64_t started_ns;
    uint64_t exited_ns;
};

void encode_status(const struct status *status, uint8_t record[STATUS_BYTES]);

#endif
