/* Finds the descendants of a process in one scan of /proc, and signals exactly those. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"

/* The numbers are the same on every architecture; older C library headers lack the names. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum kinship { KINSHIP_UNKNOWN = 0, KINSHIP_ASKED, KINSHIP_DESCENDANT, KINSHIP_STRANGER };

/* ---- one process ---- */

/* Fields of /proc/<pid>/stat, counted from the state, which follows the name in brackets. */
enum stat_field { STAT_PARENT = 1, STAT_GROUP = 2, STAT_SESSION = 3, STAT_THREADS = 17, STAT_START_TIME = 19 };

/* A name may contain any characters, including brackets and spaces. The last bracket ends it. */
static bool parse_process(struct process *process, const char *text) {
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ' || at[2] == '\0') return false;
    char state = at[2];
    unsigned long long fields[STAT_START_TIME + 1] = {0};
    at += 3;
    for (int field = 1; field <= STAT_START_TIME; field++) {
        char *end;
        fields[field] = strtoull(at, &end, 10);
        if (end == at) return false;
        at = end;
    }
    process->pid = (pid_t)strtol(text, NULL, 10);
    process->parent = (pid_t)fields[STAT_PARENT];
    process->group = (pid_t)fields[STAT_GROUP];
    process->session = (pid_t)fields[STAT_SESSION];
    process->start_time = fields[STAT_START_TIME];
    /* When the first thread has ended and others continue, the state shows a zombie, but the process lives. */
    process->is_alive = state != 'X' && (state != 'Z' || fields[STAT_THREADS] > 1);
    process->kinship = KINSHIP_UNKNOWN;
    return true;
}

static bool read_process(struct process *process, int proc, const char *pid) {
    char path[32], text[1024];
    int length = snprintf(path, sizeof path, "%s/stat", pid);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    return read_text_file_at(proc, path, text, sizeof text) && parse_process(process, text);
}

static bool is_still(const struct process *process, struct process *now) {
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process->pid);
    if (!read_text_file(path, text, sizeof text) || !parse_process(now, text)) return false;
    return now->start_time == process->start_time;
}

/* Without process handles (kernels before 5.3, some sandboxes), the identity check alone has to suffice. */
static bool signal_by_handle(const struct process *process, int handle, int signal_number) {
    if (handle >= 0 && syscall(SYS_pidfd_send_signal, handle, signal_number, NULL, 0) == 0) return true;
    return errno != ESRCH && kill(process->pid, signal_number) == 0;
}

/* Takes the handle first and checks the identity second, so that the handle cannot belong to another process. A
 * second signal of 0 means none. */
static bool signal_process(const struct process *process, int first, int second) {
    int handle = (int)syscall(SYS_pidfd_open, process->pid, 0);
    int reason = errno;
    if (handle < 0 && reason == ESRCH) return false;
    struct process now;
    bool is_same = is_still(process, &now);
    errno = reason;
    bool is_reached = is_same && signal_by_handle(process, handle, first);
    if (is_reached && second != 0) signal_by_handle(process, handle, second);
    close_descriptor(&handle);
    return is_reached;
}

/* ---- all processes ---- */

static bool add_process(struct tree *tree, size_t *capacity, const struct process *process) {
    if (tree->count == *capacity) {
        size_t larger = *capacity == 0 ? 64 : *capacity * 2;
        struct process *processes = realloc(tree->processes, larger * sizeof *processes);
        if (processes == NULL) return false;
        tree->processes = processes;
        *capacity = larger;
    }
    tree->processes[tree->count++] = *process;
    return true;
}

static void add_all_processes(struct tree *tree, DIR *proc) {
    size_t capacity = 0;
    struct dirent *entry;
    struct process process;
    while ((entry = readdir(proc)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        if (read_process(&process, dirfd(proc), entry->d_name) && !add_process(tree, &capacity, &process)) return;
    }
}

static int compare_pids(const void *left, const void *right) {
    pid_t first = ((const struct process *)left)->pid, second = ((const struct process *)right)->pid;
    return (first > second) - (first < second);
}

static struct process *find_process(const struct tree *tree, pid_t pid) {
    struct process wanted = {.pid = pid};
    return tree->count == 0 ? NULL : bsearch(&wanted, tree->processes, tree->count, sizeof wanted, compare_pids);
}

/* Follows the parents up to a process of known kinship. Meeting a process that was already visited on the same path
 * means that pids were reused during the scan. The process then counts as a stranger until the next scan. */
static enum kinship ask_parents(const struct tree *tree, struct process *process, const struct tree *ancestors) {
    while (process != NULL && process->kinship == KINSHIP_UNKNOWN) {
        process->kinship = KINSHIP_ASKED;
        if (find_process(ancestors, process->parent) != NULL) return KINSHIP_DESCENDANT;
        process = find_process(tree, process->parent);
    }
    return process != NULL && process->kinship == KINSHIP_DESCENDANT ? KINSHIP_DESCENDANT : KINSHIP_STRANGER;
}

static void tell_asked(const struct tree *tree, struct process *process, enum kinship kinship) {
    while (process != NULL && process->kinship == KINSHIP_ASKED) {
        process->kinship = (uint8_t)kinship;
        process = find_process(tree, process->parent);
    }
}

/* Visits each process once, so that scanning many thousands of processes stays cheap. */
static void resolve_kinship(const struct tree *tree, const struct tree *ancestors) {
    for (size_t index = 0; index < ancestors->count; index++) {
        struct process *self = find_process(tree, ancestors->processes[index].pid);
        if (self != NULL) self->kinship = KINSHIP_STRANGER;
    }
    for (size_t index = 0; index < tree->count; index++) {
        struct process *process = &tree->processes[index];
        if (process->kinship == KINSHIP_UNKNOWN) tell_asked(tree, process, ask_parents(tree, process, ancestors));
    }
}

static void keep_living(struct tree *tree, enum kinship kinship) {
    size_t kept = 0;
    for (size_t index = 0; index < tree->count; index++) {
        const struct process *process = &tree->processes[index];
        if (process->is_alive && process->kinship == kinship) tree->processes[kept++] = *process;
    }
    tree->count = kept;
}

static struct tree find_related(const struct tree *ancestors, enum kinship kinship) {
    struct tree tree = {NULL, 0};
    DIR *proc = opendir("/proc");
    if (proc == NULL) return tree;
    add_all_processes(&tree, proc);
    closedir(proc);
    if (tree.count > 0) qsort(tree.processes, tree.count, sizeof tree.processes[0], compare_pids);
    resolve_kinship(&tree, ancestors);
    keep_living(&tree, kinship);
    return tree;
}

struct tree find_descendants(pid_t ancestor) {
    struct process self = {.pid = ancestor};
    return find_descendants_of(&(struct tree){&self, 1});
}

struct tree find_descendants_of(const struct tree *ancestors) {
    return find_related(ancestors, KINSHIP_DESCENDANT);
}

struct tree find_strangers(pid_t ancestor) {
    struct process self = {.pid = ancestor};
    return find_related(&(struct tree){&self, 1}, KINSHIP_STRANGER);
}

void free_tree(struct tree *tree) {
    free(tree->processes);
    *tree = (struct tree){NULL, 0};
}

void keep_group(struct tree *tree, pid_t group) {
    size_t kept = 0;
    for (size_t index = 0; index < tree->count; index++)
        if (tree->processes[index].group == group) tree->processes[kept++] = tree->processes[index];
    tree->count = kept;
}

void keep_session(struct tree *tree, pid_t session, bool is_inside) {
    size_t kept = 0;
    for (size_t index = 0; index < tree->count; index++)
        if ((tree->processes[index].session == session) == is_inside) tree->processes[kept++] = tree->processes[index];
    tree->count = kept;
}

void drop_ended(struct tree *tree) {
    size_t kept = 0;
    for (size_t index = 0; index < tree->count; index++) {
        struct process now;
        if (is_still(&tree->processes[index], &now) && now.is_alive) tree->processes[kept++] = tree->processes[index];
    }
    tree->count = kept;
}

size_t signal_tree_twice(const struct tree *tree, int first, int second) {
    size_t reached = 0;
    for (size_t index = 0; index < tree->count; index++)
        if (signal_process(&tree->processes[index], first, second)) reached++;
    return reached;
}

size_t signal_tree(const struct tree *tree, int signal_number) {
    return signal_tree_twice(tree, signal_number, 0);
}
