/* Wraps small system calls: retries after interruption, clocks in fixed units, one-line complaints. */
#include "io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The number is the same on every architecture; older C library headers lack the name. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define KERNEL_SIGNALS 64
#define KERNEL_SIGNAL_SET_BYTES 8

ssize_t read_some(int fd, void *buffer, size_t size) {
    ssize_t count;
    do {
        count = read(fd, buffer, size);
    } while (count < 0 && errno == EINTR);
    return count;
}

bool write_all(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = write(fd, at, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static bool read_text(int fd, char *text, size_t size) {
    size_t used = 0;
    ssize_t count = 0;
    while (used + 1 < size && (count = read_some(fd, text + used, size - 1 - used)) > 0) used += (size_t)count;
    text[used] = '\0';
    return count >= 0 && used > 0;
}

bool read_text_file_at(int directory, const char *path, char *text, size_t size) {
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool is_read = read_text(fd, text, size);
    close(fd);
    return is_read;
}

bool read_text_file(const char *path, char *text, size_t size) {
    return read_text_file_at(AT_FDCWD, path, text, size);
}

int open_null(int flags) {
    int ends[2], fd = open("/dev/null", O_RDWR | flags);
    if (fd >= 0 || pipe2(ends, flags) != 0) return fd;
    close(ends[1]);
    return ends[0];
}

void close_descriptor(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_listed_descriptors(DIR *list, int first) {
    struct dirent *entry;
    while ((entry = readdir(list)) != NULL) {
        long fd = strtol(entry->d_name, NULL, 10);
        if (fd >= first && fd != dirfd(list)) close((int)fd);
    }
}

static void close_counted_descriptors(int first) {
    struct rlimit limit;
    rlim_t count = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
    for (rlim_t fd = (rlim_t)first; fd < count; fd++) close((int)fd);
}

void close_descriptors_from(int first) {
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return;
    DIR *list = opendir("/proc/self/fd");
    if (list == NULL) {
        close_counted_descriptors(first);
        return;
    }
    close_listed_descriptors(list, first);
    closedir(list);
}

uint64_t monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

uint64_t realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The C libraries reserve a few real-time signals and refuse to reset them, so this asks the kernel directly. An
 * action of all zeroes is the default action on every architecture. */
static void reset_signal_actions(void) {
    static const char default_action[64];
    for (int number = 1; number <= KERNEL_SIGNALS; number++)
        syscall(SYS_rt_sigaction, number, default_action, NULL, (long)KERNEL_SIGNAL_SET_BYTES);
}

static void set_signal_mask(uint64_t mask) {
    syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, &mask, NULL, (long)KERNEL_SIGNAL_SET_BYTES);
}

/* Signals are blocked first, so that a pending signal does not meet its default action in between. */
void block_all_signals(void) {
    set_signal_mask(~(uint64_t)0);
    reset_signal_actions();
}

void unblock_all_signals(void) {
    set_signal_mask(0);
}

void complain(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= 0) dprintf(STDERR_FILENO, "boxkeep: %s\n", line);
}

bool is_trusted_peer(int socket_fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == 0 || peer.uid == geteuid();
}

/* The path goes through our own descriptor, because a socket path is limited to 108 bytes and a directory's path may
 * be longer. */
int listen_in_directory(int directory, const char *name, int backlog) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    mode_t before = umask(0177);
    int refused = bind(fd, (const struct sockaddr *)&address, sizeof address);
    umask(before);
    if (refused == 0 && listen(fd, backlog) == 0) return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}
