/* Finds a private directory for unpacked files: the first candidate that is usable. */
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

static const char *temporary_directory(void) {
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] == '/' ? named : "/tmp";
}

bool choose_place(struct place *place, unsigned number) {
    const char *parents[] = {"/var/lib/boxkeep", "/run/boxkeep", temporary_directory(), "/dev/shm"};
    if (number >= sizeof parents / sizeof parents[0]) return false;
    place->makes_parent = number < 2;
    snprintf(place->parent, sizeof place->parent, "%s", parents[number]);
    if (place->makes_parent) snprintf(place->name, sizeof place->name, "bin");
    else snprintf(place->name, sizeof place->name, "boxkeep-bin-%lu", (unsigned long)geteuid());
    return true;
}

/* ---- safety of a directory ---- */

static bool is_private(int directory) {
    struct stat status;
    return fstat(directory, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 07777) == 0700;
}

/* Only root and our own account may rename entries in the directory. */
static bool is_safe_parent(int directory) {
    struct stat status;
    if (fstat(directory, &status) != 0) return false;
    bool is_ours = status.st_uid == 0 || status.st_uid == geteuid();
    return is_ours && (!(status.st_mode & 022) || (status.st_mode & S_ISVTX));
}

/* If the file system cannot be queried, the directory is tried. */
static const char *refusal_of_mount(int directory) {
    struct statvfs status;
    if (fstatvfs(directory, &status) != 0) return NULL;
    if (status.f_flag & ST_RDONLY) return "mounted read-only";
    return status.f_flag & ST_NOEXEC ? "mounted noexec" : NULL;
}

/* ---- opening ---- */

/* The mode is set separately, because the umask may clear bits of it. */
static int open_or_make(int parent, const char *name) {
    bool is_new = mkdirat(parent, name, 0700) == 0;
    int reason = errno;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0 && is_new) fchmod(directory, 0700);
    if (directory < 0 && errno == ENOENT) errno = reason;
    return directory;
}

int open_private(int parent, const char *name) {
    int directory = open_or_make(parent, name);
    if (directory < 0 || is_private(directory)) return directory;
    close(directory);
    errno = EPERM;
    return -1;
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
    if (parent >= 0 || errno != ENOENT || !place->makes_parent) return parent;
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
    *directory = refusal == NULL ? open_private(parent, place->name) : -1;
    if (refusal == NULL && *directory < 0) refusal = errno == EPERM ? "not ours alone" : strerror(errno);
    close(parent);
    if (refusal == NULL) refusal = refusal_of_mount(*directory);
    if (refusal != NULL) close_descriptor(directory);
    return refusal;
}
