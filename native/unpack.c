/* Unpacks a release's payload into an open directory. */
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io.h"

#define BLOCK_BYTES (128u * 1024u)
/* Limits the memory that a damaged file can request. Releases are compressed with a smaller window. */
#define WINDOW_LOG_LIMIT 23
#define DRAFT_BYTES 64u

struct unpacking {
    const struct payload *payload;
    int directory;
    /* Distinguishes our drafts from those of another process. */
    uint64_t stamp;
    ZSTD_DStream *stream;
    struct sha256 sha;
    /* The index of the current file, and how many bytes of it are written. */
    unsigned index;
    uint64_t written;
    int target;
    /* Whether the last block ended the compressed stream. */
    bool is_ended;
};

/* ---- drafts ----
 * Files are written under temporary names: several processes may unpack at once, and each renames whole files into
 * place. */

static const char *draft_name(const struct unpacking *unpacking, unsigned index, char name[DRAFT_BYTES]) {
    snprintf(name, DRAFT_BYTES, ".%u.%ld.%llx", index, (long)getpid(), (unsigned long long)unpacking->stamp);
    return name;
}

static bool open_draft(struct unpacking *unpacking) {
    char name[DRAFT_BYTES];
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    unpacking->written = 0;
    unpacking->target = openat(unpacking->directory, draft_name(unpacking, unpacking->index, name), flags, 0600);
    return unpacking->target >= 0;
}

static bool close_draft(struct unpacking *unpacking) {
    bool is_whole = fchmod(unpacking->target, UNPACKED_MODE) == 0;
    if (close(unpacking->target) != 0) is_whole = false;
    unpacking->target = -1;
    unpacking->index++;
    return is_whole;
}

static void remove_drafts(struct unpacking *unpacking) {
    char name[DRAFT_BYTES];
    int reason = errno;
    close_descriptor(&unpacking->target);
    for (unsigned index = 0; index < unpacking->payload->count; index++)
        unlinkat(unpacking->directory, draft_name(unpacking, index, name), 0);
    errno = reason;
}

static bool rename_drafts(struct unpacking *unpacking) {
    char name[DRAFT_BYTES];
    for (unsigned index = 0; index < unpacking->payload->count; index++) {
        const char *draft = draft_name(unpacking, index, name), *wanted = unpacking->payload->files[index].name;
        if (renameat(unpacking->directory, draft, unpacking->directory, wanted) != 0) return false;
    }
    return true;
}

/* ---- content ---- */

static bool is_past_table(const struct unpacking *unpacking) {
    return unpacking->index >= unpacking->payload->count;
}

/* Writes the bytes that belong to the current file. Opens the next file when the current one is complete. */
static bool write_part(struct unpacking *unpacking, const uint8_t **bytes, size_t *size) {
    uint64_t left = unpacking->payload->files[unpacking->index].size - unpacking->written;
    size_t part = *size < left ? *size : (size_t)left;
    if (!write_all(unpacking->target, *bytes, part)) return false;
    *bytes += part;
    *size -= part;
    unpacking->written += part;
    if (part < left) return true;
    return close_draft(unpacking) && (is_past_table(unpacking) || open_draft(unpacking));
}

static enum unpack_outcome write_content(struct unpacking *unpacking, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        if (is_past_table(unpacking)) return UNPACK_DAMAGED;
        if (!write_part(unpacking, &bytes, &size)) return UNPACK_FAILED;
    }
    return UNPACKED;
}

static enum unpack_outcome judge(size_t code) {
    if (ZSTD_getErrorCode(code) != ZSTD_error_memory_allocation) return UNPACK_DAMAGED;
    errno = ENOMEM;
    return UNPACK_FAILED;
}

static enum unpack_outcome expand_block(struct unpacking *unpacking, const uint8_t *block, size_t size) {
    static uint8_t content[BLOCK_BYTES];
    ZSTD_inBuffer in = {block, size, 0};
    ZSTD_outBuffer out = {content, sizeof content, sizeof content};
    /* After a full buffer, the decompressor may have more output. */
    while (in.pos < in.size || out.pos == out.size) {
        if (unpacking->is_ended) return in.pos == in.size ? UNPACKED : UNPACK_DAMAGED;
        out.pos = 0;
        size_t code = ZSTD_decompressStream(unpacking->stream, &out, &in);
        if (ZSTD_isError(code)) return judge(code);
        unpacking->is_ended = code == 0;
        enum unpack_outcome outcome = write_content(unpacking, content, out.pos);
        if (outcome != UNPACKED) return outcome;
    }
    return UNPACKED;
}

/* The digest covers the table too. */
static enum unpack_outcome read_block(struct unpacking *unpacking, uint8_t *block, size_t size, uint64_t at) {
    if (!read_payload(unpacking->payload, block, size, at)) return UNPACK_FAILED;
    add_sha256(&unpacking->sha, block, size);
    return UNPACKED;
}

static enum unpack_outcome expand_all(struct unpacking *unpacking) {
    static uint8_t block[BLOCK_BYTES];
    const struct payload *payload = unpacking->payload;
    uint64_t at = payload->table_bytes;
    enum unpack_outcome outcome = read_block(unpacking, block, (size_t)at, 0);
    while (outcome == UNPACKED && at < payload->length) {
        size_t size = payload->length - at < sizeof block ? (size_t)(payload->length - at) : sizeof block;
        outcome = read_block(unpacking, block, size, at);
        if (outcome == UNPACKED) outcome = expand_block(unpacking, block, size);
        at += size;
    }
    return outcome;
}

static bool is_whole(struct unpacking *unpacking) {
    uint8_t digest[SHA256_BYTES];
    end_sha256(&unpacking->sha, digest);
    if (memcmp(digest, unpacking->payload->digest, sizeof digest) != 0) return false;
    return unpacking->is_ended && is_past_table(unpacking);
}

static enum unpack_outcome write_drafts(struct unpacking *unpacking) {
    if (unpacking->stream == NULL) {
        errno = ENOMEM;
        return UNPACK_FAILED;
    }
    ZSTD_DCtx_setParameter(unpacking->stream, ZSTD_d_windowLogMax, WINDOW_LOG_LIMIT);
    begin_sha256(&unpacking->sha);
    enum unpack_outcome outcome = open_draft(unpacking) ? expand_all(unpacking) : UNPACK_FAILED;
    if (outcome == UNPACKED && !is_whole(unpacking)) outcome = UNPACK_DAMAGED;
    return outcome;
}

enum unpack_outcome unpack_files(const struct payload *payload, int directory) {
    struct unpacking unpacking = {.payload = payload, .directory = directory, .stamp = realtime_ns(), .target = -1};
    unpacking.stream = ZSTD_createDStream();
    enum unpack_outcome outcome = write_drafts(&unpacking);
    if (outcome == UNPACKED && !rename_drafts(&unpacking)) outcome = UNPACK_FAILED;
    if (outcome != UNPACKED) remove_drafts(&unpacking);
    ZSTD_freeDStream(unpacking.stream);
    return outcome;
}
