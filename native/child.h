/* Starts a child that shares our memory until it executes another program. */
#ifndef BOXKEEP_CHILD_H
#define BOXKEEP_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Calls `become` in a new process. Returns the pid, or -1, after the child has executed a program or ended. The
 * caller is suspended until then, so it can read what the child wrote into `outcome`, a part of `plan`. `become` may
 * only make system calls, because locks and buffers belong to the caller, and it must not return. */
pid_t start_child(int (*become)(void *plan), void *plan, volatile void *outcome, size_t outcome_bytes);
/* Ends the child. Only the child may call this. */
void end_child(int exit_code);

#endif
