/* The event sources of the keeper: one edge-triggered epoll set with a name for each source. */
#ifndef BOXKEEP_SOURCES_H
#define BOXKEEP_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

enum source { SOURCE_OUT = 0, SOURCE_ERR = 1, SOURCE_STDIN, SOURCE_SIGNALS, SOURCE_CONTROL, SOURCE_CLIENT };

/* Edge triggered for two reasons. Sources are reported in the order in which they became ready. A source that is
 * ignored for a while, such as a paused stream without writers, does not wake the keeper again and again. */
/* Adds nothing if fd is negative. False with errno. */
bool add_source(int sources, enum source source, int fd, uint32_t events);
/* Requests another event even if nothing changes. */
void rearm_source(int sources, enum source source, int fd, uint32_t events);

#endif
