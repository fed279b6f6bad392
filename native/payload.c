/* Finds the payload that a release carries behind this program, and reads its trailer and table. */
#include "payload.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"
#include "io.h"

#define TRAILER_BYTES 64u
#define MAGIC "SVCPAYL2"
#define MAGIC_BYTES 8u
#define COUNT_BYTES 8u
#define ROW_BYTES (8u + PAYLOAD_NAME_BYTES)

void complain_of_damage(const char *what) {
    complain("this file is damaged: %s; install it again", what);
}

static bool read_at(int file, void *bytes, size_t size, uint64_t offset) {
    char *at = bytes;
    while (size > 0) {
        ssize_t count = pread(file, at, size, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = EIO;
        if (count <= 0) return false;
        at += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return true;
}

bool read_payload(const struct payload *payload, void *bytes, size_t size, uint64_t at) {
    return at <= payload->length && size <= payload->length - at &&
           read_at(payload->file, bytes, size, payload->offset + at);
}

/* ---- the table ----
 * The table is not compressed: a start with files already unpacked needs nothing else. */

/* A plain name has no slash and no leading dot: all files lie in one directory, and none is hidden. */
static bool is_plain_name(const char *name) {
    size_t length = strnlen(name, PAYLOAD_NAME_BYTES);
    return length > 0 && length < PAYLOAD_NAME_BYTES && name[0] != '.' && strchr(name, '/') == NULL;
}

static bool read_row(struct payload *payload, unsigned index, uint64_t *left) {
    uint8_t row[ROW_BYTES];
    struct payload_file *file = &payload->files[index];
    if (!read_payload(payload, row, sizeof row, COUNT_BYTES + (uint64_t)index * ROW_BYTES)) return false;
    struct field_reader fields = read_fields(row, sizeof row);
    file->size = read_u64(&fields);
    memcpy(file->name, fields.at, PAYLOAD_NAME_BYTES);
    if (!is_plain_name(file->name) || file->size == 0 || file->size > *left) return false;
    *left -= file->size;
    return true;
}

/* The sizes of all files must add up to the size in the trailer. */
static bool read_table(struct payload *payload, uint64_t unpacked_bytes) {
    uint8_t head[COUNT_BYTES];
    if (!read_payload(payload, head, sizeof head, 0)) return false;
    struct field_reader fields = read_fields(head, sizeof head);
    uint64_t count = read_u64(&fields);
    if (count == 0 || count > PAYLOAD_FILES) return false;
    payload->count = (unsigned)count;
    payload->table_bytes = COUNT_BYTES + count * ROW_BYTES;
    for (unsigned index = 0; index < payload->count; index++)
        if (!read_row(payload, index, &unpacked_bytes)) return false;
    return unpacked_bytes == 0;
}

/* ---- the trailer ---- */

static bool parse_trailer(struct payload *payload, const uint8_t *trailer, uint64_t file_size) {
    struct field_reader fields = read_fields(trailer + MAGIC_BYTES, TRAILER_BYTES - MAGIC_BYTES);
    payload->offset = read_u64(&fields);
    payload->length = read_u64(&fields);
    uint64_t unpacked_bytes = read_u64(&fields);
    memcpy(payload->digest, fields.at, SHA256_BYTES);
    uint64_t before_trailer = file_size - TRAILER_BYTES;
    if (payload->offset > before_trailer || payload->length != before_trailer - payload->offset) return false;
    return read_table(payload, unpacked_bytes);
}

/* The section headers are the last part of a program. A longer file has carried a payload. */
static bool has_more_than_program(int file, uint64_t file_size) {
    ElfW(Ehdr) header;
    if (!read_at(file, &header, sizeof header, 0)) return false;
    return file_size > header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
}

static enum payload_search read_trailer(struct payload *payload) {
    uint8_t trailer[TRAILER_BYTES];
    struct stat status;
    if (fstat(payload->file, &status) != 0 || status.st_size < (off_t)TRAILER_BYTES) return PAYLOAD_ABSENT;
    uint64_t size = (uint64_t)status.st_size;
    bool is_read = read_at(payload->file, trailer, sizeof trailer, size - TRAILER_BYTES);
    bool is_release = is_read && memcmp(trailer, MAGIC, MAGIC_BYTES) == 0;
    if (!is_release && !has_more_than_program(payload->file, size)) return PAYLOAD_ABSENT;
    if (is_release && parse_trailer(payload, trailer, size)) return PAYLOAD_FOUND;
    complain_of_damage("its last bytes do not describe the daemon inside");
    return PAYLOAD_UNKNOWN;
}

enum payload_search find_payload(struct payload *payload) {
    *payload = (struct payload){.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .directory = -1};
    if (payload->file < 0) {
        complain("cannot open /proc/self/exe (%s): mount /proc first", strerror(errno));
        return PAYLOAD_UNKNOWN;
    }
    enum payload_search search = read_trailer(payload);
    if (search != PAYLOAD_FOUND) close_descriptor(&payload->file);
    return search;
}
