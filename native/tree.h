/* Finds the descendants of a process in one scan of /proc, and signals exactly those. */
#ifndef BOXKEEP_TREE_H
#define BOXKEEP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process is identified by its pid and its start time, because a pid may have been reused. */
struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;
    pid_t session;
    uint64_t start_time;
    bool is_alive;
    uint8_t kinship;
};

struct tree {
    struct process *processes;
    size_t count;
};

/* All living descendants of a process. Processes that cannot be read or held in memory are left out. */
struct tree find_descendants(pid_t ancestor);
/* The same for several processes, which are sorted by pid. */
struct tree find_descendants_of(const struct tree *ancestors);
/* All living processes that do not descend from a process, including that process. */
struct tree find_strangers(pid_t ancestor);
void free_tree(struct tree *tree);
/* Keeps only the processes of a process group. */
void keep_group(struct tree *tree, pid_t group);
/* Keeps only the processes of a session, or only the others. */
void keep_session(struct tree *tree, pid_t session, bool is_inside);
/* Drops the processes that have ended. */
void drop_ended(struct tree *tree);
/* Returns how many processes were reached. */
size_t signal_tree(const struct tree *tree, int signal_number);
/* Sends two signals to each process, one right after the other. */
size_t signal_tree_twice(const struct tree *tree, int first, int second);

#endif
