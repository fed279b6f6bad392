/* Reads the command's output from its pipes or terminal into the logs. */
#ifndef BOXKEEP_STREAMS_H
#define BOXKEEP_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "order.h"

struct streams {
    int sources;
    int directory;
    /* -1 after the end of the stream, or if there never was one. */
    int fd[2];
    struct log log[2];
    struct order order;
    bool is_terminal;
    bool is_paused;
    bool is_discarding;
    /* While a client is connected, the command waits at the cap instead of evicting output. */
    bool is_blocking;
    bool has_client;
    /* The offsets that the client has read, from its last WATCH. */
    uint64_t consumed[2];
};

void init_streams(struct streams *streams, int sources);
/* Keeps the output in files of a claimed directory. */
void keep_logs(struct streams *streams, int directory);
/* Watches the output from now on. */
bool watch_output(struct streams *streams);

/* Reads what is available, up to a share that leaves time for other work. */
void pump_stream(struct streams *streams, int stream);
/* Reads what both streams hold now, even if they are paused or full. The leader has ended, so all its output is
 * there. */
void drain_streams(struct streams *streams);
bool are_streams_closed(const struct streams *streams);

void pause_streams(struct streams *streams);
/* Resumes reading after a pause or a full log. */
void resume_streams(struct streams *streams);
void wake_blocked_streams(struct streams *streams);
/* Sets the cap of each log. Content beyond the cap is evicted at once. */
void cap_streams(struct streams *streams, uint64_t cap_bytes);
/* Reads and drops all output from now on. */
void release_streams(struct streams *streams);
/* Closes the logs of an ended command and overwrites its output in memory. */
void close_streams(struct streams *streams);

#endif
