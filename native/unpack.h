/* Unpacks a release's payload into an open directory. */
#ifndef BOXKEEP_UNPACK_H
#define BOXKEEP_UNPACK_H

#include "payload.h"

/* The mode of each unpacked file. */
#define UNPACKED_MODE 0555

/* With UNPACK_FAILED, errno holds the reason. */
enum unpack_outcome { UNPACKED, UNPACK_FAILED, UNPACK_DAMAGED };

/* Either all files appear under their names when all are complete, or none does. */
enum unpack_outcome unpack_files(const struct payload *payload, int directory);

#endif
