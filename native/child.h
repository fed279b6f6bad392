/* A child that runs in our memory until it becomes another program. */
#ifndef SANDBOXD_CHILD_H
#define SANDBOXD_CHILD_H

#include <sys/types.h>

/* Calls `become` in a new process and returns, with its pid or -1, once that has run a program or ended. Until
 * then we stand still, so that what it writes into `plan` is ours to read. It may use system calls only, for
 * locks and buffers are ours, and must not return. */
pid_t start_child(int (*become)(void *plan), void *plan);
/* For the child alone: ends it. */
void end_child(int exit_code);

#endif
