/* How often the kernel has killed for want of memory, as far as this can be known here. */
#ifndef SANDBOXD_OOM_H
#define SANDBOXD_OOM_H

#include <stdbool.h>
#include <stdint.h>

/* Opens what counts for our own cgroup, else for the system; -1 when neither can be read. */
int open_oom_counter(void);
bool read_oom_kills(int counter, uint64_t *count);

#endif
