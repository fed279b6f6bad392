/* Reads how often the kernel has killed processes for lack of memory, as far as it is visible here. */
#ifndef BOXKEEP_OOM_H
#define BOXKEEP_OOM_H

#include <stdbool.h>
#include <stdint.h>

/* Opens the counter of our own cgroup, or else of the system. -1 when neither can be read. */
int open_oom_counter(void);
/* The memory that this process and the others in its control group may use; 0 for no limit. */
uint64_t group_memory_limit(void);
bool read_oom_kills(int counter, uint64_t *count);

#endif
