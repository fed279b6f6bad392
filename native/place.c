/* Finds a directory for unpacked files, which only its owner can change: the first candidate that is usable. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io.h"

/* Other accounts may open files whose names they know. They cannot list or lock the directory, which takes a descriptor
 * that can read. */
#define OWN_MODE 0711

static const char *temporary_directory(void) {
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] == '/' ? named : "/tmp";
}

bool choose_place(struct place *place, unsigned number) {
    const char *parents[] = {"/var/lib/boxkeep", "/run/boxkeep", temporary_directory(), "/dev/shm"};
    if (number >= sizeof parents / sizeof parents[0]) return false;
    place->is_shared = number < 2;
    snprintf(place->parent, sizeof place->parent, "%s", parents[number]);
    if (place->is_shared) snprintf(place->name, sizeof place->name, "bin");
    else snprintf(place->name, sizeof place->name, "boxkeep-bin-%lu", (unsigned long)geteuid());
    return true;
}

/* ---- safety of a directory ---- */

/* Earlier releases made their directories with mode 0700. */
static bool is_own(int directory) {
    struct stat status;
    if (fstat(directory, &status) != 0) return false;
    mode_t mode = status.st_mode & 07777;
    if (status.st_uid == geteuid() && mode == OWN_MODE) return true;
    if (status.st_uid == geteuid() && mode == 0700) return fchmod(directory, OWN_MODE) == 0;
    errno = EPERM;
    return false;
}

/* Only root and our own account may rename entries in the directory. */
static bool is_safe_parent(int directory) {
    struct stat status;
    if (fstat(directory, &status) != 0) return false;
    bool is_ours = status.st_uid == 0 || status.st_uid == geteuid();
    return is_ours && (!(status.st_mode & 022) || (status.st_mode & S_ISVTX));
}

/* If the file system cannot be queried, the directory is tried. */
static unsigned long mount_flags(int directory) {
    struct statvfs status;
    return fstatvfs(directory, &status) == 0 ? status.f_flag : 0;
}

bool allows_programs(int directory) {
    return !(mount_flags(directory) & ST_NOEXEC);
}

static const char *refusal_of_mount(int directory) {
    if (mount_flags(directory) & ST_RDONLY) return "mounted read-only";
    return allows_programs(directory) ? NULL : "mounted noexec";
}

/* ---- opening ---- */

/* The mode is set separately, because the umask may clear bits of it. */
static int open_or_make(int parent, const char *name) {
    bool is_new = mkdirat(parent, name, OWN_MODE) == 0;
    int reason = errno;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0 && is_new) fchmod(directory, OWN_MODE);
    if (directory < 0 && errno == ENOENT) errno = reason;
    return directory;
}

int open_own(int parent, const char *name) {
    int directory = open_or_make(parent, name);
    if (directory < 0 || is_own(directory)) return directory;
    int reason = errno;
    close(directory);
    errno = reason;
    return -1;
}

static bool is_of_root(int directory) {
    struct stat status;
    return fstat(directory, &status) == 0 && status.st_uid == 0 && !(status.st_mode & 022);
}

int open_of_root(int parent, const char *name) {
    int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int directory = openat(parent, name, O_RDONLY | flags);
    if (directory < 0 && errno == EACCES) directory = openat(parent, name, O_PATH | flags);
    if (directory >= 0 && !is_of_root(directory)) close_descriptor(&directory);
    return directory;
}

/* Creates all missing parents, because an image may have no /var and no /run. Returns 0 or an errno. */
static int make_parents(const char *path) {
    char part[PATH_MAX];
    const char *end = path;
    while (*end != '\0') {
        end += 1 + strcspn(end + 1, "/");
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (mkdir(part, 0755) != 0 && errno != EEXIST) return errno;
    }
    return 0;
}

static int open_parent(const struct place *place) {
    int parent = open(place->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent >= 0 || errno != ENOENT || !place->is_shared) return parent;
    int reason = make_parents(place->parent);
    if (reason == 0) return open(place->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    errno = reason;
    return -1;
}

/* Checked before anything is created, so that nothing is left behind in an unusable place. */
static const char *refusal_of_parent(int parent) {
    if (!is_safe_parent(parent)) return "others can change its parent";
    return refusal_of_mount(parent);
}

const char *open_place(const struct place *place, int *directory) {
    int parent = open_parent(place);
    if (parent < 0) return strerror(errno);
    const char *refusal = refusal_of_parent(parent);
    *directory = refusal == NULL ? open_own(parent, place->name) : -1;
    if (refusal == NULL && *directory < 0) refusal = errno == EPERM ? "not ours alone" : strerror(errno);
    close(parent);
    if (refusal == NULL) refusal = refusal_of_mount(*directory);
    if (refusal != NULL) close_descriptor(directory);
    return refusal;
}
