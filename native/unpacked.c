/* Finds or unpacks the daemon, and builds the command that runs it. */
#include "unpacked.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "place.h"
#include "unpack.h"

#define DIRECTORY_PREFIX "boxkeep-"
#define DIGEST_DIGITS 16u
#define DIRECTORY_NAME_BYTES (sizeof DIRECTORY_PREFIX + DIGEST_DIGITS)
/* The C library's loader. `ps` lists the daemon under this name. */
#define LOADER_NAME "boxkeep-daemon"
#define DAEMON_NAME "daemon"
/* How long to wait for another process that unpacks. A stopped process must not stop us. */
#define LOCK_WAIT_MS 10000u
#define LOCK_LOOK_US 5000u
#define REFUSALS_BYTES 800u

/* ---- completeness ---- */

/* A crash of the machine may leave a name without its bytes, so sizes are compared. */
static bool is_whole_file(int directory, const struct payload_file *file, uid_t owner) {
    struct stat status;
    if (fstatat(directory, file->name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISREG(status.st_mode) || status.st_uid != owner || (status.st_mode & 07777) != UNPACKED_MODE) return false;
    return (uint64_t)status.st_size == file->size;
}

static bool is_whole(int directory, const struct payload *payload, uid_t owner) {
    for (unsigned index = 0; index < payload->count; index++)
        if (!is_whole_file(directory, &payload->files[index], owner)) return false;
    return true;
}

/* ---- locks ----
 * A process that uses a version holds a shared lock on the version's directory. A process that unpacks or removes files
 * holds the lock of the place. The second lock saves duplicate work and distinguishes leftovers from files that are
 * being written. Unpacking stays correct without locks, because files are renamed into place whole. */

static bool lock_place(int place) {
    uint64_t end = monotonic_ms() + LOCK_WAIT_MS;
    while (flock(place, LOCK_EX | LOCK_NB) != 0) {
        bool is_taken = errno == EWOULDBLOCK || errno == EINTR;
        if (!is_taken || monotonic_ms() >= end) return false;
        usleep(LOCK_LOOK_US);
    }
    return true;
}

/* False when another process is about to remove the version. */
static bool lock_version(int version) {
    return flock(version, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* ---- removing ---- */

static bool is_carried(const char *name, const struct payload *payload) {
    for (unsigned index = 0; index < payload->count; index++)
        if (strcmp(name, payload->files[index].name) == 0) return true;
    return false;
}

static DIR *list_directory(int directory) {
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (list == NULL) close_descriptor(&fd);
    return list;
}

/* Removes all files if `kept` is NULL. */
static void remove_files(int directory, const struct payload *kept) {
    struct dirent *entry;
    DIR *list = list_directory(directory);
    while (list != NULL && (entry = readdir(list)) != NULL)
        if (kept == NULL || !is_carried(entry->d_name, kept)) unlinkat(directory, entry->d_name, 0);
    if (list != NULL) closedir(list);
}

static void remove_unused_version(int place, const char *name) {
    int version = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (version < 0) return;
    if (flock(version, LOCK_EX | LOCK_NB) == 0) {
        remove_files(version, NULL);
        unlinkat(place, name, AT_REMOVEDIR);
    }
    close(version);
}

static void remove_other_versions(int place, const char *own_name) {
    struct dirent *entry;
    DIR *list = list_directory(place);
    while (list != NULL && (entry = readdir(list)) != NULL) {
        bool is_version = strncmp(entry->d_name, DIRECTORY_PREFIX, sizeof DIRECTORY_PREFIX - 1) == 0;
        if (is_version && strcmp(entry->d_name, own_name) != 0) remove_unused_version(place, entry->d_name);
    }
    if (list != NULL) closedir(list);
}

/* ---- one place ---- */

/* The result at one place. `refusal` says why the place is unusable, or is NULL. */
struct attempt {
    enum unpack_outcome outcome;
    const char *refusal;
};

static int open_version(int place, const char *name) {
    int version = open_own(place, name);
    if (version >= 0 && lock_version(version)) return version;
    close_descriptor(&version);
    return -1;
}

static bool has_version(int place, const char *name, struct payload *payload) {
    payload->directory = open_version(place, name);
    if (payload->directory < 0) return false;
    if (is_whole(payload->directory, payload, geteuid())) return true;
    close_descriptor(&payload->directory);
    return false;
}

static enum unpack_outcome unpack_version(int place, const char *name, struct payload *payload, bool is_locked) {
    payload->directory = open_version(place, name);
    if (payload->directory < 0) return UNPACK_FAILED;
    if (is_locked) remove_files(payload->directory, payload);
    enum unpack_outcome outcome = unpack_files(payload, payload->directory);
    if (is_locked && outcome == UNPACKED) remove_other_versions(place, name);
    if (outcome == UNPACKED) return UNPACKED;
    int reason = errno;
    close_descriptor(&payload->directory);
    if (is_locked) remove_unused_version(place, name);
    errno = reason;
    return outcome;
}

static struct attempt unpack_at(const struct place *place, const char *name, struct payload *payload) {
    int directory = -1;
    const char *refusal = open_place(place, &directory);
    if (refusal != NULL) return (struct attempt){UNPACK_FAILED, refusal};
    enum unpack_outcome outcome = UNPACKED;
    if (!has_version(directory, name, payload)) {
        bool is_locked = lock_place(directory);
        if (!has_version(directory, name, payload)) outcome = unpack_version(directory, name, payload, is_locked);
    }
    refusal = outcome == UNPACK_FAILED ? strerror(errno) : NULL;
    close(directory);
    return (struct attempt){outcome, refusal};
}

/* ---- the version of root ----
 * Every account runs the files that root has unpacked, so that the machine unpacks and stores them once. Their file
 * system may be read-only. */

static int open_version_of_root(const struct place *place, const char *name) {
    int parent = open_of_root(AT_FDCWD, place->parent);
    int directory = parent < 0 ? -1 : open_of_root(parent, place->name);
    int version = directory < 0 ? -1 : open_of_root(directory, name);
    close_descriptor(&parent);
    close_descriptor(&directory);
    return version;
}

/* Accounts that cannot read the directory use the files without a lock. */
static bool has_version_of_root(const struct place *place, const char *name, struct payload *payload) {
    int version = open_version_of_root(place, name);
    if (version < 0) return false;
    if (allows_programs(version) && lock_version(version) && is_whole(version, payload, 0)) {
        payload->directory = version;
        return true;
    }
    close(version);
    return false;
}

/* ---- all places ---- */

static void write_version_name(const struct payload *payload, char name[DIRECTORY_NAME_BYTES]) {
    char *at = name + snprintf(name, DIRECTORY_NAME_BYTES, DIRECTORY_PREFIX);
    for (unsigned index = 0; index < DIGEST_DIGITS / 2; index++, at += 2) snprintf(at, 3, "%02x", payload->digest[index]);
}

static void note_refusal(char refusals[REFUSALS_BYTES], const struct place *place, const char *refusal) {
    size_t used = strlen(refusals);
    const char *separator = used > 0 ? ", " : "";
    int added = snprintf(refusals + used, REFUSALS_BYTES - used, "%s%s/%s (%s)", separator, place->parent, place->name,
                         refusal);
    if (added < 0) refusals[used] = '\0';
}

static bool join_path(char path[PATH_MAX], const struct place *place, const char *name) {
    int length = snprintf(path, PATH_MAX, "%s/%s/%s", place->parent, place->name, name);
    return length > 0 && length < PATH_MAX;
}

static bool find_version_of_root(struct payload *payload, const char *name, char path[PATH_MAX]) {
    struct place place;
    for (unsigned number = 0; choose_place(&place, number); number++)
        if (place.is_shared && has_version_of_root(&place, name, payload)) return join_path(path, &place, name);
    return false;
}

/* Unpacks into the first usable place and writes the directory of the files to `path`. */
static bool unpack_anywhere(struct payload *payload, const char *name, char path[PATH_MAX]) {
    struct place place;
    char refusals[REFUSALS_BYTES] = "";
    for (unsigned number = 0; choose_place(&place, number); number++) {
        struct attempt attempt = unpack_at(&place, name, payload);
        if (attempt.outcome == UNPACKED && join_path(path, &place, name)) return true;
        if (attempt.outcome == UNPACK_DAMAGED) {
            complain_of_damage("what it carries does not match its digest");
            return false;
        }
        note_refusal(refusals, &place, attempt.refusal != NULL ? attempt.refusal : strerror(ENAMETOOLONG));
    }
    complain("nowhere to unpack the daemon: %s; set TMPDIR to a directory with room for it", refusals);
    return false;
}

/* ---- the command ---- */

static void add_path(struct string_list *command, const char *directory, const char *name) {
    char path[PATH_MAX + sizeof LOADER_NAME + 1];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    add_string(command, path);
}

/* The daemon runs with its bundled C library in every image. The image's own libraries and their cache are not
 * consulted first. */
bool add_unpacked_daemon(struct payload *payload, struct string_list *command) {
    char directory[PATH_MAX], name[DIRECTORY_NAME_BYTES];
    write_version_name(payload, name);
    close_descriptor(&payload->directory);
    if (!find_version_of_root(payload, name, directory) && !unpack_anywhere(payload, name, directory)) return false;
    add_path(command, directory, LOADER_NAME);
    add_string(command, "--inhibit-cache");
    add_string(command, "--library-path");
    add_string(command, directory);
    add_string(command, "--argv0");
    add_string(command, "boxkeep");
    add_path(command, directory, DAEMON_NAME);
    return true;
}
