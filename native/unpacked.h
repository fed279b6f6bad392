/* The unpacked daemon: found whole, or unpacked, and how it is run. */
#ifndef SANDBOXD_UNPACKED_H
#define SANDBOXD_UNPACKED_H

#include "list.h"
#include "payload.h"

/* Makes sure that the daemon is unpacked, and adds the command that runs it. Complains when it cannot be. */
bool add_unpacked_daemon(struct payload *payload, struct string_list *command);

#endif
