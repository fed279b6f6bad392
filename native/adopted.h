/* Finds and kills keepers in the runtime directory that an earlier, killed init left behind. */
#ifndef BOXKEEP_ADOPTED_H
#define BOXKEEP_ADOPTED_H

#include "tree.h"

/* Finds the adopted keepers. Each keeper holds the directory of its command open. */
struct tree find_adopted_keepers(int runtime_directory);
/* Kills the processes that the keepers hold. Once nothing is left to kill, a later call kills the keepers. */
void kill_adopted_keepers(const struct tree *keepers);

#endif
