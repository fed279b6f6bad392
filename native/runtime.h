/* The runtime directory: its lock, and the socket on which init takes requests for keepers. */
#ifndef SANDBOXD_RUNTIME_H
#define SANDBOXD_RUNTIME_H

#include <stdbool.h>
#include <sys/types.h>

struct runtime {
    int directory;
    int lock;
    /* -1 until there is a directory, and again once no more keepers are made. */
    int listener;
    /* Where an upgrade is asked for; -1 as the listener. */
    int upgrades;
    dev_t device;
    ino_t inode;
};

/* Takes the directory for this init. 0, or an errno and the stage at which it came. */
int open_runtime(struct runtime *runtime, const char *path, int *stage);
/* No more keepers. */
void stop_listening(struct runtime *runtime);

#endif
