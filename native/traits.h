/* The attributes of a keeper that its commands inherit, and that another process can change from outside. */
#ifndef BOXKEEP_TRAITS_H
#define BOXKEEP_TRAITS_H

#include <stdbool.h>
#include <sys/resource.h>

#define TRAIT_LIMITS 16
#define TRAIT_CPU_WORDS 128
#define TRAIT_GROUP_BYTES 1024

struct traits {
    struct rlimit limits[TRAIT_LIMITS];
    unsigned long cpus[TRAIT_CPU_WORDS];
    long policy;
    long nice;
    long io_priority;
    long timer_slack;
    long keyring;
    char oom_score[16];
    char groups[TRAIT_GROUP_BYTES];
};

void read_traits(struct traits *traits);
bool are_same_traits(const struct traits *first, const struct traits *second);

#endif
