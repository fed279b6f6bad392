/* Finds or unpacks the daemon, and builds the command that runs it. */
#ifndef BOXKEEP_UNPACKED_H
#define BOXKEEP_UNPACKED_H

#include "list.h"
#include "payload.h"

/* Makes sure that the daemon is unpacked, and adds the command that runs it. Complains on failure. */
bool add_unpacked_daemon(struct payload *payload, struct string_list *command);

#endif
