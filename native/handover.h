/* What one init leaves to the next, which runs another program in the same process. */
#ifndef SANDBOXD_HANDOVER_H
#define SANDBOXD_HANDOVER_H

#include <stdbool.h>

#include "init.h"

/* The layout of what is left. A program reads its own version and the ones before it. */
#define HANDOVER_VERSION 1u
#define HANDOVER_VERSION_TEXT "1"

/* The sub-commands of a new program: become the daemon, and become init. */
#define SUCCEED_WORD "succeed"
#define RESUME_WORD "resume"

/* Runs the program of the upgrade in our place. Comes back, with the reason, only when that cannot be. */
const char *hand_over(struct init *init);
/* Takes what was left in the descriptor, and closes it. False when it cannot be understood. */
bool take_over(struct init *init, int descriptor);

#endif
