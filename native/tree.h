/* The descendants of a process, from one look at /proc, and signals that reach them and nobody else. */
#ifndef SANDBOXD_TREE_H
#define SANDBOXD_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process is its pid together with the moment of its start: a pid alone may belong to another by now. */
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

/* All living descendants of a process. What cannot be seen or held in memory is left out. */
struct tree find_descendants(pid_t ancestor);
void free_tree(struct tree *tree);
/* Only those of a process group. */
void keep_group(struct tree *tree, pid_t group);
/* Only those of a session, or only those of any other one. */
void keep_session(struct tree *tree, pid_t session, bool is_inside);
/* How many were reached. */
size_t signal_tree(const struct tree *tree, int signal_number);
/* Two signals to each, one right after the other. */
size_t signal_tree_twice(const struct tree *tree, int first, int second);

#endif
