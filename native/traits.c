/* Reads what a command inherits from its keeper: limits, priorities, processors, oom score, cgroups, keyring. */
#include "traits.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"

/* From <linux/ioprio.h> and <linux/keyctl.h>, which not every C library has. */
#define IO_PRIORITY_OF_PROCESS 1
#define GET_KEYRING_ID 0
#define SESSION_KEYRING (-3)

/* What the kernel does not offer reads as the same error each time. */
void read_traits(struct traits *traits) {
    memset(traits, 0, sizeof *traits);
    for (int resource = 0; resource < TRAIT_LIMITS; resource++) getrlimit(resource, &traits->limits[resource]);
    syscall(SYS_sched_getaffinity, 0L, sizeof traits->cpus, traits->cpus);
    traits->policy = syscall(SYS_sched_getscheduler, 0L);
    traits->nice = syscall(SYS_getpriority, (long)PRIO_PROCESS, 0L);
    traits->io_priority = syscall(SYS_ioprio_get, (long)IO_PRIORITY_OF_PROCESS, 0L);
    traits->timer_slack = prctl(PR_GET_TIMERSLACK);
    traits->keyring = syscall(SYS_keyctl, (long)GET_KEYRING_ID, (long)SESSION_KEYRING, 0L);
    read_text_file("/proc/self/oom_score_adj", traits->oom_score, sizeof traits->oom_score);
    read_text_file("/proc/self/cgroup", traits->groups, sizeof traits->groups);
}

bool are_same_traits(const struct traits *first, const struct traits *second) {
    return memcmp(first, second, sizeof *first) == 0;
}
