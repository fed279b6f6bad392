/* The runtime directory: its lock, and the sockets on which init accepts connections. */
#ifndef BOXKEEP_RUNTIME_H
#define BOXKEEP_RUNTIME_H

#include <stdbool.h>
#include <sys/types.h>

struct runtime {
    int directory;
    int lock;
    /* -1 before the directory is open, and again after init has stopped making keepers. */
    int listener;
    /* The socket for upgrade requests. -1 under the same conditions as the listener. */
    int upgrades;
    dev_t device;
    ino_t inode;
};

/* Locks the directory for this init. Returns 0, or an errno and the stage at which it occurred. */
int open_runtime(struct runtime *runtime, const char *path, int *stage);
/* Closes both sockets, so that no more keepers are made. */
void stop_listening(struct runtime *runtime);

#endif
