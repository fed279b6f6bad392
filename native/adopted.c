/* Finds and kills keepers in the runtime directory that an earlier, killed init left behind. */
#include "adopted.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "title.h"

/* The process must run under our account: another account must not be able to pass for a keeper. */
static bool is_named_keeper(const struct process *process) {
    char path[32], name[32];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)process->pid);
    if (stat(path, &status) != 0 || status.st_uid != geteuid()) return false;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)process->pid);
    return read_text_file(path, name, sizeof name) && strcmp(name, KEEPER_NAME "\n") == 0;
}

/* The link of a removed directory ends in " (deleted)", so only the beginning is compared. */
static bool leads_below(int descriptors, const char *name, const char *directory) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(descriptors, name, target, sizeof target - 1);
    if (length < 0) return false;
    target[length] = '\0';
    return strncmp(target, directory, strlen(directory)) == 0;
}

static bool holds_below(const struct process *process, const char *directory) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)process->pid);
    DIR *descriptors = opendir(path);
    struct dirent *entry;
    bool is_found = false;
    if (descriptors == NULL) return false;
    while (!is_found && (entry = readdir(descriptors)) != NULL)
        is_found = leads_below(dirfd(descriptors), entry->d_name, directory);
    closedir(descriptors);
    return is_found;
}

static bool name_commands(int runtime_directory, char *path, size_t size) {
    char link[32], runtime[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", runtime_directory);
    ssize_t length = readlink(link, runtime, sizeof runtime - 1);
    if (length <= 0) return false;
    runtime[length] = '\0';
    return (size_t)snprintf(path, size, "%s/commands/", runtime) < size;
}

struct tree find_adopted_keepers(int runtime_directory) {
    char commands[PATH_MAX];
    struct tree tree = {NULL, 0};
    if (runtime_directory < 0 || !name_commands(runtime_directory, commands, sizeof commands)) return tree;
    tree = find_strangers(getpid());
    size_t kept = 0;
    for (size_t index = 0; index < tree.count; index++) {
        const struct process *process = &tree.processes[index];
        if (is_named_keeper(process) && holds_below(process, commands)) tree.processes[kept++] = *process;
    }
    tree.count = kept;
    return tree;
}

static size_t signal_held(const struct tree *keepers, int first, int second) {
    struct tree held = find_descendants_of(keepers);
    size_t reached = signal_tree_twice(&held, first, second);
    free_tree(&held);
    return reached;
}

/* SIGSTOP comes first, so that no process is born between the scan and the kill. The keepers die last: a keeper that
 * died earlier would leave its processes to a parent that does not know them. */
void kill_adopted_keepers(const struct tree *keepers) {
    if (keepers->count == 0) return;
    if (signal_held(keepers, SIGSTOP, 0) > 0) signal_held(keepers, SIGSTOP, SIGKILL);
    else signal_tree(keepers, SIGKILL);
}
