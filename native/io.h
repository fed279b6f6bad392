/* Wraps small system calls: retries after interruption, clocks in fixed units, one-line complaints. */
#ifndef BOXKEEP_IO_H
#define BOXKEEP_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* read(2), repeated on EINTR. */
ssize_t read_some(int fd, void *buffer, size_t size);
/* Writes all bytes. False with errno. */
bool write_all(int fd, const void *bytes, size_t size);
/* Reads a small file, such as those in /proc, as text. False when it cannot be read. */
bool read_text_file(const char *path, char *text, size_t size);
/* Like read_text_file, for a path below an open directory. */
bool read_text_file_at(int directory, const char *path, char *text, size_t size);

/* A descriptor that reads as empty: /dev/null, or a pipe without a writer in an image without /dev/null. It stays
 * open across exec unless `flags` is O_CLOEXEC. -1 with errno. */
int open_null(int flags);

/* Closes fd if it is open and sets it to -1. */
void close_descriptor(int *fd);
/* Closes every descriptor from `first` on. */
void close_descriptors_from(int first);

uint64_t monotonic_ms(void);
uint64_t realtime_ns(void);

/* Blocks every signal that can be blocked, and resets every action to the default. */
void block_all_signals(void);
/* Unblocks every signal. A child that shares our memory may call it. */
void unblock_all_signals(void);

/* Writes one line to stderr: "boxkeep: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the other end of a unix socket is root or runs under our own uid. */
bool is_trusted_peer(int socket_fd);
/* A listening, non-blocking unix socket called `name` inside an open directory, or -1 with errno. */
int listen_in_directory(int directory, const char *name, int backlog);

#endif
