/* The state of a command, as sent to the daemon and written to the journal. */
#include "status.h"

#include <string.h>

#include "frame.h"

static void write_pair(struct field_writer *writer, const uint64_t pair[2]) {
    write_u64(writer, pair[0]);
    write_u64(writer, pair[1]);
}

void encode_status(const struct status *status, uint8_t record[STATUS_BYTES]) {
    struct field_writer writer = write_fields(record, STATUS_BYTES);
    memset(record, 0, STATUS_BYTES);
    write_u16(&writer, KEEPER_VERSION);
    write_u16(&writer, status->flags);
    write_u32(&writer, (uint32_t)status->keeper);
    write_u32(&writer, (uint32_t)status->pid);
    write_u32(&writer, (uint32_t)status->exit_code);
    write_u32(&writer, status->signal);
    write_u16(&writer, status->cause);
    write_u16(&writer, status->oom);
    write_pair(&writer, status->end);
    write_pair(&writer, status->head);
    write_pair(&writer, status->lost);
    write_u64(&writer, status->stdin_accepted);
    write_u64(&writer, status->stdin_written);
    write_u64(&writer, status->user_us);
    write_u64(&writer, status->system_us);
    write_u64(&writer, status->max_rss_kb);
    write_u64(&writer, status->started_ns);
    write_u64(&writer, status->exited_ns);
}
