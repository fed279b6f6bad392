/* The event sources of the keeper: one edge-triggered epoll set with a name for each source. */
#include "sources.h"

#include <sys/epoll.h>

static int change_source(int sources, int operation, enum source source, int fd, uint32_t events) {
    struct epoll_event event = {.events = events | EPOLLET, .data.u32 = source};
    return epoll_ctl(sources, operation, fd, &event);
}

bool add_source(int sources, enum source source, int fd, uint32_t events) {
    return fd < 0 || change_source(sources, EPOLL_CTL_ADD, source, fd, events) == 0;
}

void rearm_source(int sources, enum source source, int fd, uint32_t events) {
    if (fd >= 0) change_source(sources, EPOLL_CTL_MOD, source, fd, events);
}
