/* Starts a child that shares our memory until it executes another program. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"

#define STACK_BYTES (128u * 1024u)
#define STACK_ALIGNMENT 16u

/* Above the numbers that a child gives to its descriptors. */
#define REPORT_DESCRIPTOR 100

/* Of the child that is being started where memory is not shared; -1 elsewhere. */
static int report = -1;
static volatile void *reported;
static size_t reported_bytes;

static char *allocate_stack(void) {
    return aligned_alloc(STACK_ALIGNMENT, STACK_BYTES);
}

static pid_t clone_child(int (*become)(void *plan), void *plan) {
    char *stack = allocate_stack();
    if (stack == NULL) return -1;
    pid_t pid = clone(become, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, plan);
    int reason = errno;
    free(stack);
    errno = reason;
    return pid;
}

static int answer_probe(void *answer) {
    *(volatile bool *)answer = true;
    end_child(0);
    return 0;
}

/* An emulator such as qemu makes an ordinary fork of the clone: the child gets a copy of the memory and runs beside us.
 * Keepers inherit the answer of init, so that one child is spent on the question. */
static bool shares_memory(void) {
    static enum { UNKNOWN, SHARED, COPIED } memory = UNKNOWN;
    if (memory != UNKNOWN) return memory == SHARED;
    volatile bool is_shared = false;
    pid_t pid = clone_child(answer_probe, (void *)&is_shared);
    if (pid < 0) return true; /* The start that follows fails in the same way. */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    memory = is_shared ? SHARED : COPIED;
    return is_shared;
}

/* A pipe that closes when the child executes its program. Both ends are above the descriptors of a child. */
static bool open_report(int ends[2]) {
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0) return false;
    for (int index = 0; index < 2; index++) {
        ends[index] = fcntl(low[index], F_DUPFD_CLOEXEC, REPORT_DESCRIPTOR);
        close(low[index]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

/* The child writes its copy of the outcome into a pipe, and we wait for that or for the end of the pipe. */
static pid_t start_copied_child(int (*become)(void *plan), void *plan, volatile void *outcome, size_t outcome_bytes) {
    int ends[2];
    if (!open_report(ends)) return -1;
    report = ends[1];
    reported = outcome;
    reported_bytes = outcome_bytes;
    pid_t pid = clone_child(become, plan);
    int reason = errno;
    report = -1;
    close(ends[1]);
    if (pid >= 0) read_some(ends[0], (void *)outcome, outcome_bytes);
    close(ends[0]);
    errno = reason;
    return pid;
}

/* clone instead of vfork: on some machines musl's vfork is an ordinary fork, and the child could not report a
 * failure. The child has a stack of its own, so that it cannot overwrite ours. */
pid_t start_child(int (*become)(void *plan), void *plan, volatile void *outcome, size_t outcome_bytes) {
    if (!shares_memory()) return start_copied_child(become, plan, outcome, outcome_bytes);
    return clone_child(become, plan);
}

/* ---- members of a group that they do not lead ---- */

struct member {
    int (*become)(void *plan);
    void *plan;
    char *stack;
    volatile pid_t pid;
};

/* The kernel keeps the number of a session and of a group for as long as they have members, so the leader can end. */
static int lead(void *argument) {
    struct member *member = argument;
    int flags = CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD;
    if (setsid() >= 0) member->pid = clone(member->become, member->stack + STACK_BYTES, flags, member->plan);
    if (member->pid > 0) end_child(0);
    return member->become(member->plan);
}

pid_t start_member(int (*become)(void *plan), void *plan, volatile void *outcome, size_t outcome_bytes, pid_t *group) {
    struct member member = {become, plan, shares_memory() ? allocate_stack() : NULL, -1};
    if (member.stack == NULL) return *group = start_child(become, plan, outcome, outcome_bytes);
    *group = clone_child(lead, &member);
    int reason = errno;
    free(member.stack);
    while (member.pid > 0 && waitpid(*group, NULL, 0) < 0 && errno == EINTR) continue;
    errno = reason;
    return member.pid > 0 ? member.pid : *group;
}

/* A bare system call instead of _exit: for a function that the compiler knows not to return, a sanitizer clears what
 * it takes for the stack, and the child runs on a different stack. */
void end_child(int exit_code) {
    if (report >= 0) syscall(SYS_write, (long)report, reported, reported_bytes);
    syscall(SYS_exit_group, (long)exit_code);
}
