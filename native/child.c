/* Starts a child that shares our memory until it executes another program. */
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

/* clone instead of vfork: on some machines musl's vfork is an ordinary fork, and the child could not report a
 * failure. The child has a stack of its own, so that it cannot overwrite ours. */
pid_t start_child(int (*become)(void *plan), void *plan) {
    char *stack = aligned_alloc(STACK_ALIGNMENT, STACK_BYTES);
    if (stack == NULL) return -1;
    pid_t pid = clone(become, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
    int reason = errno;
    free(stack);
    errno = reason;
    return pid;
}

/* A bare system call instead of _exit: for a function that the compiler knows not to return, a sanitizer clears what
 * it takes for the stack, and the child runs on a different stack. */
void end_child(int exit_code) {
    syscall(SYS_exit_group, (long)exit_code);
}
