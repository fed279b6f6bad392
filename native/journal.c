/* Writes the journal of one command: the claim on its directory, the header of its logs, its events. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"
#include "protocol.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

struct text {
    char *at;
    size_t left;
};

static void add_text(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_text(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    size_t used = (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += used;
    text->left -= used;
}

static void add_gaps(struct text *text, const struct log *log) {
    unsigned count = log->gap_count < GAPS_LIMIT ? log->gap_count : GAPS_LIMIT;
    add_text(text, "[");
    for (unsigned index = 0; index < count; index++) {
        const struct gap *gap = &log->gaps[index];
        add_text(text, "%s[%" PRIu64 ",%" PRIu64 "]", index > 0 ? "," : "", gap->from, gap->to);
    }
    add_text(text, "]");
}

/* Even with every gap in use and every number at its longest, the text is shorter than the header. */
static void compose_header(struct journal *journal, char *header) {
    struct text text = {header, JOURNAL_HEADER_BYTES};
    const struct log *out = journal->logs[0], *err = journal->logs[1];
    memset(header, ' ', JOURNAL_HEADER_BYTES);
    journal->sequence++;
    add_text(&text, "{\"v\":1,\"seq\":%" PRIu64, journal->sequence);
    add_text(&text, ",\"head\":[%" PRIu64 ",%" PRIu64 "],\"gaps\":[", out->head, err->head);
    add_gaps(&text, out);
    add_text(&text, ",");
    add_gaps(&text, err);
    add_text(&text, "],\"seq2\":%" PRIu64 "}", journal->sequence);
    *text.at = ' ';
    header[JOURNAL_HEADER_BYTES - 1] = '\n';
}

/* A failed write is repaired by the next header, whose space is reserved. */
void write_journal_header(struct journal *journal) {
    char header[JOURNAL_HEADER_BYTES];
    compose_header(journal, header);
    if (pwrite(journal->fd, header, sizeof header, 0) != (ssize_t)sizeof header) journal->has_failed = true;
}

/* For file systems that cannot reserve space: fills the space with empty lines, which readers skip. */
static bool fill_reserve(int fd) {
    char lines[JOURNAL_RESERVED_BYTES];
    memset(lines, '\n', sizeof lines);
    if (pwrite(fd, lines, sizeof lines, 0) == (ssize_t)sizeof lines) return true;
    errno = ENOSPC;
    return false;
}

static bool reserve(int fd) {
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, JOURNAL_RESERVED_BYTES) == 0) return true;
    return (errno == EOPNOTSUPP || errno == ENOSYS) && fill_reserve(fd);
}

/* Replaces the content with empty lines. The file keeps its size: ext4 writes a file to the disk at once when it is
 * filled again after a truncation. */
static bool blank(int fd) {
    char lines[JOURNAL_RESERVED_BYTES];
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size > (off_t)sizeof lines) return false;
    memset(lines, '\n', (size_t)status.st_size);
    return pwrite(fd, lines, (size_t)status.st_size, 0) == status.st_size;
}

static bool claim_old_journal(int directory, int fd) {
    return blank(fd) && syscall(SYS_renameat2, directory, "old-journal", directory, "journal", RENAME_NOREPLACE) == 0;
}

/* Reuses the journal of a forgotten command. As with a new journal, only one keeper can succeed. It is blank before it
 * has its name: no reader finds the end of another command in it. */
static int take_old_journal(int directory) {
    int fd = openat(directory, "old-journal", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && !claim_old_journal(directory, fd)) close_descriptor(&fd);
    return fd;
}

static int create_journal(int directory) {
    return openat(directory, "journal", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* A journal without reserved space is removed again: nothing has started, so the next keeper may claim the
 * directory. */
bool claim_directory(struct journal *journal, int directory) {
    journal->fd = take_old_journal(directory);
    if (journal->fd < 0) journal->fd = create_journal(directory);
    if (journal->fd < 0) return false;
    journal->next_offset = 0;
    if (!reserve(journal->fd)) {
        int reason = errno;
        unlinkat(directory, "journal", 0);
        close_descriptor(&journal->fd);
        errno = reason;
        return false;
    }
    return true;
}

/* Lines that are written with one call: a reader finds all of them or none. The first ones follow the header. */
struct lines {
    char bytes[JOURNAL_HEADER_BYTES + 2048];
    struct text text;
};

static void begin_lines(struct journal *journal, struct lines *lines) {
    size_t header = journal->next_offset == 0 ? JOURNAL_HEADER_BYTES : 0;
    if (header > 0) compose_header(journal, lines->bytes);
    lines->text = (struct text){lines->bytes + header, sizeof lines->bytes - header};
}

static void write_lines(struct journal *journal, const struct lines *lines) {
    size_t size = sizeof lines->bytes - lines->text.left;
    ssize_t count = pwrite(journal->fd, lines->bytes, size, (off_t)journal->next_offset);
    if (count > 0) journal->next_offset += (uint64_t)count;
    if (count != (ssize_t)size) journal->has_failed = true;
}

static void add_pair(struct text *text, const char *name, const uint64_t pair[2]) {
    add_text(text, ",\"%s\":[%" PRIu64 ",%" PRIu64 "]", name, pair[0], pair[1]);
}

static void add_number(struct text *text, const char *name, uint64_t value) {
    add_text(text, ",\"%s\":%" PRIu64, name, value);
}

static void add_status(struct text *text, const struct status *status) {
    add_text(text, ",\"keeper\":%d,\"pid\":%d", (int)status->keeper, (int)status->pid);
    add_text(text, ",\"exit_code\":%d", (int)status->exit_code);
    add_number(text, "signal", status->signal);
    add_number(text, "cause", status->cause);
    add_number(text, "oom", status->oom);
    add_pair(text, "end", status->end);
    add_pair(text, "head", status->head);
    add_pair(text, "lost", status->lost);
    add_number(text, "stdin", status->stdin_accepted);
    add_number(text, "user_us", status->user_us);
    add_number(text, "system_us", status->system_us);
    add_number(text, "max_rss_kb", status->max_rss_kb);
    add_number(text, "started_ns", status->started_ns);
    add_number(text, "exited_ns", status->exited_ns);
}

static void add_event(struct text *text, const char *event, const struct status *status) {
    add_text(text, "{\"event\":\"%s\",\"at_ns\":%" PRIu64, event, realtime_ns());
    add_status(text, status);
    add_text(text, "}\n");
}

void write_journal_event(struct journal *journal, const char *event, const struct status *status) {
    struct lines lines;
    begin_lines(journal, &lines);
    add_event(&lines.text, event, status);
    write_lines(journal, &lines);
}

void write_journal_end(struct journal *journal, const struct status *status) {
    struct lines lines;
    begin_lines(journal, &lines);
    add_event(&lines.text, "exited", status);
    add_event(&lines.text, "closed", status);
    write_lines(journal, &lines);
}

void write_journal_failure(struct journal *journal, int stage, int reason) {
    struct lines lines;
    begin_lines(journal, &lines);
    add_text(&lines.text, "{\"event\":\"failed\",\"at_ns\":%" PRIu64 ",\"keeper\":%d", realtime_ns(), (int)getpid());
    add_text(&lines.text, ",\"stage\":%d,\"errno\":%d}\n", stage, reason);
    write_lines(journal, &lines);
}
