/* Starts a child that shares our memory until it executes another program. */
#ifndef BOXKEEP_CHILD_H
#define BOXKEEP_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* Calls `become` in a new process. Returns the pid, or -1, after the child has executed a program or ended. The
 * caller is suspended until then, so it can read what the child wrote into `outcome`, a part of `plan`. `become` may
 * only make system calls, because locks and buffers belong to the caller, and it must not return. */
pid_t start_child(int (*become)(void *plan), void *plan, volatile void *outcome, size_t outcome_bytes);
/* As start_child, for a child whose new session and process group are led by another process, which has ended. Where
 * that is not possible, the child leads them. `group` receives the number of both. */
pid_t start_member(int (*become)(void *plan), void *plan, volatile void *outcome, size_t outcome_bytes, pid_t *group);
/* Ends the child. Only the child may call this. */
void end_child(int exit_code);

#endif
