/* The first process of an image: keeps the keys from every program of the container but the daemon. */
#ifndef BOXKEEP_HOLD_H
#define BOXKEEP_HOLD_H

#include "daemon.h"

/* Runs a program without the keys. The program writes to descriptor 3 the environment of the daemon, which then runs
 * under an init with the keys. Returns the exit code of the program when both have ended. */
int hold_keys(struct daemon *daemon, char *const *program);

#endif
