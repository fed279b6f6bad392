/* What the keeper waits for: one epoll set, edge triggered, with a name for each source. */
#ifndef SANDBOXD_SOURCES_H
#define SANDBOXD_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

enum source { SOURCE_OUT = 0, SOURCE_ERR = 1, SOURCE_STDIN, SOURCE_SIGNALS, SOURCE_CONTROL, SOURCE_CLIENT };

/* Edge triggered, so that sources are told in the order in which they became ready, and so that one that is
 * left alone for a while (a paused stream whose writers are gone) does not wake the keeper again and again. */
/* Nothing is waited for where there is no descriptor; else false means errno. */
bool add_source(int sources, enum source source, int fd, uint32_t events);
/* Asks to be told again even if nothing changes. */
void rearm_source(int sources, enum source source, int fd, uint32_t events);

#endif
