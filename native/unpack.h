/* Unpacks what a release carries into an open directory. */
#ifndef SANDBOXD_UNPACK_H
#define SANDBOXD_UNPACK_H

#include "payload.h"

/* With UNPACK_FAILED errno tells why. */
enum unpack_outcome { UNPACKED, UNPACK_FAILED, UNPACK_DAMAGED };

/* The files appear under their names when all of them are whole, or not at all. */
enum unpack_outcome unpack_files(const struct payload *payload, int directory);

#endif
