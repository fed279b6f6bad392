/* The daemon that a release carries behind this program: found, and unpacked once into a private place. */
#include "payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "frame.h"
#include "io.h"

#define TRAILER_BYTES 64u
#define MAGIC "SVCPAYL1"
#define MAGIC_BYTES 8u
#define NAME_DIGITS 16u
#define COPY_BYTES (64u * 1024u)
#define DAEMON_NAME "daemon"

/* ---- the trailer ---- */

static bool read_at(int file, void *bytes, size_t size, uint64_t offset) {
    char *at = bytes;
    while (size > 0) {
        ssize_t count = pread(file, at, size, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count;
        offset += (uint64_t)count;
        size -= (size_t)count;
    }
    return true;
}

static bool parse_trailer(struct payload *payload, const uint8_t *trailer, uint64_t file_size) {
    struct field_reader fields = read_fields(trailer + MAGIC_BYTES, TRAILER_BYTES - MAGIC_BYTES);
    payload->offset = read_u64(&fields);
    payload->length = read_u64(&fields);
    memcpy(payload->digest, fields.at, SHA256_BYTES);
    uint64_t before_trailer = file_size - TRAILER_BYTES;
    if (payload->length == 0 || payload->offset > before_trailer) return false;
    return payload->length == before_trailer - payload->offset;
}

static enum payload_search read_trailer(struct payload *payload) {
    uint8_t trailer[TRAILER_BYTES];
    struct stat status;
    if (fstat(payload->file, &status) != 0 || status.st_size < (off_t)TRAILER_BYTES) return PAYLOAD_ABSENT;
    uint64_t size = (uint64_t)status.st_size;
    if (!read_at(payload->file, trailer, sizeof trailer, size - TRAILER_BYTES)) return PAYLOAD_ABSENT;
    if (memcmp(trailer, MAGIC, MAGIC_BYTES) != 0) return PAYLOAD_ABSENT;
    if (parse_trailer(payload, trailer, size)) return PAYLOAD_FOUND;
    complain("this file is damaged: its last bytes do not describe the daemon inside; install it again");
    return PAYLOAD_UNKNOWN;
}

enum payload_search find_payload(struct payload *payload) {
    *payload = (struct payload){.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
    if (payload->file < 0) {
        complain("cannot open /proc/self/exe (%s): mount /proc first", strerror(errno));
        return PAYLOAD_UNKNOWN;
    }
    enum payload_search search = read_trailer(payload);
    if (search != PAYLOAD_FOUND) close_descriptor(&payload->file);
    return search;
}

/* ---- a place ----
 * A directory that is ours alone, below one that nobody else can rearrange. */

static bool is_private(int directory) {
    struct stat status;
    return fstat(directory, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 07777) == 0700;
}

/* Nobody but root and ourselves may rename what lies in it. */
static bool is_safe_parent(int directory) {
    struct stat status;
    if (fstat(directory, &status) != 0) return false;
    bool is_ours = status.st_uid == 0 || status.st_uid == geteuid();
    return is_ours && (!(status.st_mode & 022) || (status.st_mode & S_ISVTX));
}

static int open_directory(int parent, const char *name) {
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens a directory, makes it where it is not. The mode is set on its own: the umask may take from it. */
static int make_directory(int parent, const char *name, mode_t mode) {
    bool is_new = mkdirat(parent, name, 0700) == 0;
    int directory = open_directory(parent, name);
    if (directory >= 0 && is_new) fchmod(directory, mode);
    return directory;
}

/* Takes `parent` and gives the private directory in it, or -1. */
static int enter_private(int parent, const char *name) {
    if (parent < 0) return -1;
    int directory = is_safe_parent(parent) ? make_directory(parent, name, 0700) : -1;
    close(parent);
    if (directory >= 0 && !is_private(directory)) close_descriptor(&directory);
    return directory;
}

static bool can_execute(int directory) {
    struct statvfs status;
    return fstatvfs(directory, &status) == 0 && !(status.f_flag & (ST_NOEXEC | ST_RDONLY));
}

/* ---- unpacking ---- */

static bool copy_block(int target, const struct payload *payload, uint64_t done, struct sha256 *sha) {
    static uint8_t buffer[COPY_BYTES];
    uint64_t left = payload->length - done;
    size_t size = left < sizeof buffer ? (size_t)left : sizeof buffer;
    if (!read_at(payload->file, buffer, size, payload->offset + done)) return false;
    add_sha256(sha, buffer, size);
    return write_all(target, buffer, size);
}

enum copy_outcome { COPY_WHOLE, COPY_FAILED, COPY_DAMAGED };

static enum copy_outcome copy_payload(int target, const struct payload *payload) {
    struct sha256 sha;
    uint8_t digest[SHA256_BYTES];
    begin_sha256(&sha);
    for (uint64_t done = 0; done < payload->length; done += COPY_BYTES)
        if (!copy_block(target, payload, done, &sha)) return COPY_FAILED;
    end_sha256(&sha, digest);
    if (memcmp(digest, payload->digest, sizeof digest) != 0) return COPY_DAMAGED;
    return fchmod(target, 0500) == 0 ? COPY_WHOLE : COPY_FAILED;
}

/* Under a name of our own first: several first starts at once each rename a whole file into place. */
static enum copy_outcome write_daemon(int directory, const struct payload *payload) {
    char name[64];
    snprintf(name, sizeof name, DAEMON_NAME ".%ld.%llx", (long)getpid(), (unsigned long long)realtime_ns());
    int target = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (target < 0) return COPY_FAILED;
    enum copy_outcome outcome = copy_payload(target, payload);
    if (close(target) != 0 && outcome == COPY_WHOLE) outcome = COPY_FAILED;
    if (outcome == COPY_WHOLE && renameat(directory, name, directory, DAEMON_NAME) != 0) outcome = COPY_FAILED;
    if (outcome != COPY_WHOLE) unlinkat(directory, name, 0);
    return outcome;
}

static bool has_daemon(int directory, const struct payload *payload) {
    struct stat status;
    if (fstatat(directory, DAEMON_NAME, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 07777) != 0500) return false;
    return (uint64_t)status.st_size == payload->length;
}

/* ---- the places, in order ---- */

struct place {
    char parent[PATH_MAX];
    char name[64];
    /* The parent may be made where it is not. */
    bool makes_parent;
};

static int open_parent(const struct place *place) {
    if (place->makes_parent) mkdir(place->parent, 0755);
    return open(place->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_content_directory(const struct place *place, const struct payload *payload, char *name, size_t size) {
    size_t used = (size_t)snprintf(name, size, "sandboxd-");
    for (unsigned index = 0; index < NAME_DIGITS / 2; index++)
        used += (size_t)snprintf(name + used, size - used, "%02x", payload->digest[index]);
    int directory = enter_private(open_parent(place), place->name);
    if (directory >= 0 && !can_execute(directory)) close_descriptor(&directory);
    return enter_private(directory, name);
}

static enum copy_outcome unpack_at(const struct place *place, const struct payload *payload, char path[PATH_MAX]) {
    char name[64];
    int directory = open_content_directory(place, payload, name, sizeof name);
    if (directory < 0) return COPY_FAILED;
    enum copy_outcome outcome = has_daemon(directory, payload) ? COPY_WHOLE : write_daemon(directory, payload);
    close(directory);
    int length = snprintf(path, PATH_MAX, "%s/%s/%s/" DAEMON_NAME, place->parent, place->name, name);
    return length < PATH_MAX ? outcome : COPY_FAILED;
}

static const char *temporary_directory(void) {
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] == '/' ? named : "/tmp";
}

/* The place of this number; false after the last. */
static bool choose_place(struct place *place, unsigned number) {
    const char *parents[] = {"/var/lib/sandboxd", "/run/sandboxd", temporary_directory(), "/dev/shm"};
    if (number >= sizeof parents / sizeof parents[0]) return false;
    place->makes_parent = number < 2;
    snprintf(place->parent, sizeof place->parent, "%s", parents[number]);
    if (place->makes_parent) snprintf(place->name, sizeof place->name, "bin");
    else snprintf(place->name, sizeof place->name, "sandboxd-bin-%lu", (unsigned long)geteuid());
    return true;
}

bool unpack_payload(const struct payload *payload, char path[PATH_MAX]) {
    struct place place;
    for (unsigned number = 0; choose_place(&place, number); number++) {
        enum copy_outcome outcome = unpack_at(&place, payload, path);
        if (outcome == COPY_WHOLE) return true;
        if (outcome != COPY_DAMAGED) continue;
        complain("this file is damaged: the daemon inside does not match its digest; install it again");
        return false;
    }
    complain("nowhere to unpack the daemon: /var/lib, /run, %s and /dev/shm are read-only, full or noexec; "
             "set TMPDIR to a directory that is not", temporary_directory());
    return false;
}
