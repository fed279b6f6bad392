/* The command's output: from its pipes or terminal into the logs. */
#ifndef SANDBOXD_STREAMS_H
#define SANDBOXD_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "order.h"

struct streams {
    int sources;
    int directory;
    /* -1 at the end of the stream, or if there never was one. */
    int fd[2];
    struct log log[2];
    struct order order;
    bool is_terminal;
    bool is_paused;
    bool is_discarding;
    /* Stop at the cap, rather than evict, for as long as a client reads. */
    bool is_blocking;
    bool has_client;
    /* What the client has read, as its last WATCH told. */
    uint64_t consumed[2];
};

void init_streams(struct streams *streams, int sources);
/* Keeps the output in files of a claimed directory. */
void keep_logs(struct streams *streams, int directory);
/* Waits for output from now on. */
bool watch_output(struct streams *streams);

/* Reads what is there, up to a share that leaves room for other work. */
void pump_stream(struct streams *streams, int stream);
/* Reads what is in both streams now, paused or full as they may be: the leader has ended, and all that it
 * wrote is there. */
void drain_streams(struct streams *streams);
bool are_streams_closed(const struct streams *streams);

void pause_streams(struct streams *streams);
/* Goes on reading where a pause or a full log held it up. */
void resume_streams(struct streams *streams);
void wake_blocked_streams(struct streams *streams);
/* What each log may hold from now on; what it holds beyond that goes at once. */
void cap_streams(struct streams *streams, uint64_t cap_bytes);
/* From now on output is read and dropped. */
void release_streams(struct streams *streams);

#endif
