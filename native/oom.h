/* How often the kernel has killed for want of memory, as far as this can be known here. */
#ifndef SANDBOXD_OOM_H
#define SANDBOXD_OOM_H

#include <stdbool.h>
#include <stdint.h>

/* The count of our own cgroup, else of the system. False when neither can be read. */
bool read_oom_kills(uint64_t *count);

#endif
