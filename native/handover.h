/* Passes the state of one init to the next, which executes another program in the same process. */
#ifndef BOXKEEP_HANDOVER_H
#define BOXKEEP_HANDOVER_H

#include <stdbool.h>

#include "init.h"

/* The version of the state's layout. A program reads its own version and the earlier ones. */
#define HANDOVER_VERSION 1u
#define HANDOVER_VERSION_TEXT "1"

/* The sub-commands that run a new program as the daemon and as init. */
#define SUCCEED_WORD "succeed"
#define RESUME_WORD "resume"

/* Executes the program of the upgrade in this process. Returns only on failure, with the reason. */
const char *hand_over(struct init *init);
/* Reads the state from the descriptor and closes it. False when the state is not understood. */
bool take_over(struct init *init, int descriptor);

#endif
