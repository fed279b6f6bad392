/* A child that runs in our memory until it becomes another program. */
#include "child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (128u * 1024u)
#define STACK_ALIGNMENT 16u

/* Not vfork: on some machines musl's is an ordinary fork, from which no failure would come back. The stack is
 * the child's own, so that it cannot spoil ours. */
pid_t start_child(int (*become)(void *plan), void *plan) {
    char *stack = aligned_alloc(STACK_ALIGNMENT, STACK_BYTES);
    if (stack == NULL) return -1;
    pid_t pid = clone(become, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
    int reason = errno;
    free(stack);
    errno = reason;
    return pid;
}

/* Not by a function that the compiler knows to be the end: a sanitizer would then clear what it thinks is the
 * stack, and this is another one. */
void end_child(int exit_code) {
    syscall(SYS_exit_group, (long)exit_code);
}
