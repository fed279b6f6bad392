/* One output log: a file with absolute offsets, old content that can be evicted, and recorded gaps. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "journal.h"

#define PAGE_BYTES 4096u

static void drop_gap(struct log *log, unsigned index) {
    log->gap_count--;
    memmove(&log->gaps[index], &log->gaps[index + 1], (log->gap_count - index) * sizeof log->gaps[0]);
}

/* Gaps below the head are not recorded: everything below the head is gone. */
static void drop_passed_gaps(struct log *log) {
    while (log->gap_count > 0 && log->gaps[0].to <= log->head) drop_gap(log, 0);
}

/* The header is always written before bytes are freed. Readers therefore read the bytes first and check the header
 * second. */
static void move_head(struct log *log, uint64_t head) {
    log->head = head;
    drop_passed_gaps(log);
    write_journal_header(log->journal);
}

/* For file systems without holes: truncates the file. Later writes make it sparse, so that offsets stay absolute. */
static void start_over(struct log *log) {
    move_head(log, log->end);
    if (ftruncate(log->fd, 0) != 0) return; /* the bytes stay on the disk, but no reader looks at them */
}

static void punch(struct log *log, uint64_t from, uint64_t to) {
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (to > from && fallocate(log->fd, mode, (off_t)from, (off_t)(to - from)) != 0) start_over(log);
}

static void give_up_below(struct log *log, uint64_t head) {
    uint64_t before = log->head;
    if (head <= before) return;
    move_head(log, head);
    punch(log, before, head);
}

/* Rounds down to a whole page where the cap allows it: a partial page would be zeroed, not freed. */
static uint64_t round_head(const struct log *log, uint64_t head) {
    uint64_t rounded = head - head % PAGE_BYTES;
    return rounded > log->head && log->end - rounded < log->cap_bytes ? rounded : head;
}

size_t log_room(const struct log *log) {
    uint64_t held = log->end - log->head;
    if (log->cap_bytes == 0) return SIZE_MAX;
    return held < log->cap_bytes ? (size_t)(log->cap_bytes - held) : 0;
}

void evict_from_log(struct log *log, uint64_t keep_from) {
    uint64_t quarter = log->cap_bytes < 4 ? 1 : log->cap_bytes / 4;
    uint64_t kept = log->cap_bytes - quarter;
    if (log->cap_bytes == 0 || log->end - log->head <= kept) return;
    uint64_t head = log->end - kept;
    give_up_below(log, round_head(log, head < keep_from ? head : keep_from));
}

/* Joins gap `index` with the next gap. The bytes between them are lost. */
static void join_gaps(struct log *log, unsigned index) {
    struct gap between = {log->gaps[index].to, log->gaps[index + 1].from};
    log->lost += between.to - between.from;
    log->gaps[index].to = log->gaps[index + 1].to;
    drop_gap(log, index + 1);
    write_journal_header(log->journal);
    punch(log, between.from, between.to);
}

static unsigned nearest_gaps(const struct log *log) {
    unsigned nearest = 0;
    uint64_t shortest = UINT64_MAX;
    for (unsigned index = 0; index + 1 < log->gap_count; index++) {
        uint64_t distance = log->gaps[index + 1].from - log->gaps[index].to;
        if (distance < shortest) nearest = index;
        if (distance < shortest) shortest = distance;
    }
    return nearest;
}

static void lose(struct log *log, size_t size) {
    struct gap *last = log->gap_count > 0 ? &log->gaps[log->gap_count - 1] : NULL;
    uint64_t from = log->end;
    log->end += size;
    log->lost += size;
    if (last != NULL && last->to == from) last->to = log->end;
    else log->gaps[log->gap_count++] = (struct gap){from, log->end};
    if (log->gap_count > GAPS_LIMIT) join_gaps(log, nearest_gaps(log));
    else write_journal_header(log->journal);
}

static size_t store(struct log *log, const uint8_t *bytes, size_t size) {
    size_t stored = 0;
    while (stored < size) {
        ssize_t count = pwrite(log->fd, bytes + stored, size - stored, (off_t)log->end);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        stored += (size_t)count;
        log->end += (uint64_t)count;
    }
    return stored;
}

void keep_log(struct log *log, int directory, const char *name) {
    log->directory = directory;
    log->name = name;
}

static void discard(struct log *log, size_t size) {
    log->end += size;
    log->head = log->end;
}

static bool open_log(struct log *log) {
    int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    if (log->fd < 0) log->fd = openat(log->directory, log->name, flags, 0600);
    return log->fd >= 0;
}

/* A full disk never blocks the command: half of the log is evicted, and bytes that still do not fit become a gap. */
static void keep(struct log *log, const uint8_t *bytes, size_t size) {
    size_t stored = store(log, bytes, size);
    if (stored == size) return;
    give_up_below(log, log->head + (log->end - log->head) / 2);
    stored += store(log, bytes + stored, size - stored);
    if (stored < size) lose(log, size - stored);
}

void append_to_log(struct log *log, const uint8_t *bytes, size_t size) {
    if (log->name == NULL) discard(log, size);
    else if (open_log(log)) keep(log, bytes, size);
    else lose(log, size);
}

static bool is_kept_from(const struct log *log, uint64_t from) {
    return log->fd >= 0 && from >= log->head && (log->gap_count == 0 || log->gaps[log->gap_count - 1].to <= from);
}

size_t read_log_tail(const struct log *log, uint64_t from, uint8_t *bytes, size_t size) {
    if (from >= log->end || log->end - from > size || !is_kept_from(log, from)) return 0;
    size_t wanted = (size_t)(log->end - from);
    ssize_t count;
    do {
        count = pread(log->fd, bytes, wanted, (off_t)from);
    } while (count < 0 && errno == EINTR);
    return count == (ssize_t)wanted ? wanted : 0;
}

void release_log(struct log *log) {
    log->name = NULL;
    if (log->fd < 0) return;
    start_over(log);
    close_descriptor(&log->fd);
}
