/* The runtime directory: its lock, and the sockets on which init accepts connections. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "protocol.h"

#define SOCKET_NAME "init.sock"
#define BACKLOG 512
#define UPGRADE_SOCKET_NAME "upgrade.sock"
#define UPGRADE_BACKLOG 8

static bool is_open(const struct runtime *runtime) {
    return runtime->lock >= 0;
}

/* A restarted daemon asks again for the directory that it already has. */
static int check_same(const struct runtime *runtime, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    return status.st_dev == runtime->device && status.st_ino == runtime->inode ? 0 : EBUSY;
}

/* Other accounts must not be able to replace the entries of the directory. */
static int open_directory(struct runtime *runtime, const char *path) {
    struct stat status;
    runtime->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (runtime->directory < 0 || fstat(runtime->directory, &status) != 0) return errno;
    runtime->device = status.st_dev;
    runtime->inode = status.st_ino;
    return status.st_uid == geteuid() && !(status.st_mode & 022) ? 0 : EPERM;
}

static int take_lock(struct runtime *runtime) {
    runtime->lock = openat(runtime->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (runtime->lock < 0) return errno;
    return flock(runtime->lock, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

/* We hold the lock, so an existing socket has no owner any more. */
static int open_socket(const struct runtime *runtime, const char *name, int backlog) {
    unlinkat(runtime->directory, name, 0);
    return listen_in_directory(runtime->directory, name, backlog);
}

/* The upgrade socket is created first, so that a client that finds the other socket can rely on both. */
static int open_sockets(struct runtime *runtime) {
    runtime->upgrades = open_socket(runtime, UPGRADE_SOCKET_NAME, UPGRADE_BACKLOG);
    if (runtime->upgrades < 0) return errno;
    runtime->listener = open_socket(runtime, SOCKET_NAME, BACKLOG);
    return runtime->listener >= 0 ? 0 : errno;
}

static int open_all(struct runtime *runtime, const char *path, int *stage) {
    *stage = LISTEN_DIRECTORY;
    int reason = open_directory(runtime, path);
    if (reason != 0) return reason;
    *stage = LISTEN_LOCK;
    reason = take_lock(runtime);
    if (reason != 0) return reason;
    *stage = LISTEN_SOCKET;
    return open_sockets(runtime);
}

int open_runtime(struct runtime *runtime, const char *path, int *stage) {
    *stage = LISTEN_DIRECTORY;
    int reason = is_open(runtime) ? check_same(runtime, path) : open_all(runtime, path, stage);
    if (reason == 0) *stage = 0;
    if (reason != 0 && runtime->listener < 0) {
        close_descriptor(&runtime->upgrades);
        close_descriptor(&runtime->lock);
        close_descriptor(&runtime->directory);
    }
    return reason;
}

void stop_listening(struct runtime *runtime) {
    if (runtime->listener >= 0) unlinkat(runtime->directory, SOCKET_NAME, 0);
    close_descriptor(&runtime->listener);
    if (runtime->upgrades >= 0) unlinkat(runtime->directory, UPGRADE_SOCKET_NAME, 0);
    close_descriptor(&runtime->upgrades);
}
