/* init: starts the daemon, makes keepers, reaps orphans, ends everything in order. */
#ifndef SANDBOXD_INIT_H
#define SANDBOXD_INIT_H

#include "daemon.h"

/* Runs until the end of everything and gives the exit code. */
int run_init(struct daemon *daemon);

#endif
