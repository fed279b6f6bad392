/* Reads how often the kernel has killed processes for lack of memory, and the limit, as far as they are visible. */
#include "oom.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

#define TEXT_BYTES 8192
#define PATH_BYTES 1024

static bool find_count(const char *text, uint64_t *count) {
    static const char name[] = "oom_kill ";
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, sizeof name - 1) != 0) continue;
        *count = strtoull(line + sizeof name - 1, NULL, 10);
        return true;
    }
    return false;
}

/* The kernel generates the content anew for each read at offset 0. */
bool read_oom_kills(int counter, uint64_t *count) {
    char text[TEXT_BYTES];
    ssize_t size = counter < 0 ? -1 : pread(counter, text, sizeof text - 1, 0);
    if (size <= 0) return false;
    text[size] = '\0';
    return find_count(text, count);
}

/* A file with this name but without the counter is treated as missing. */
static int open_counter(const char *path) {
    uint64_t count;
    int counter = open(path, O_RDONLY | O_CLOEXEC);
    if (counter >= 0 && !read_oom_kills(counter, &count)) close_descriptor(&counter);
    return counter;
}

/* Inside a container, the path in /proc/self/cgroup may be the host's, while the mount shows only our part. */
static int open_group_counter(const char *mount, const char *group, const char *file) {
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    int counter = length > 0 && (size_t)length < sizeof path ? open_counter(path) : -1;
    if (counter >= 0) return counter;
    snprintf(path, sizeof path, "%s/%s", mount, file);
    return open_counter(path);
}

/* Finds the path of the line "id:controllers:path" in /proc/self/cgroup with the given controllers. */
static bool find_group(const char *text, const char *controllers, char *group, size_t size) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, ":%s:", controllers);
    const char *at = strstr(text, wanted);
    if (at == NULL) return false;
    at += strlen(wanted);
    size_t length = strcspn(at, "\n");
    if (length >= size) return false;
    memcpy(group, at, length);
    group[length] = '\0';
    if (strcmp(group, "/") == 0) group[0] = '\0';
    return true;
}

static int open_own_counter(void) {
    char text[TEXT_BYTES], group[PATH_BYTES];
    if (!read_text_file("/proc/self/cgroup", text, sizeof text)) return -1;
    if (find_group(text, "memory", group, sizeof group))
        return open_group_counter("/sys/fs/cgroup/memory", group, "memory.oom_control");
    if (!find_group(text, "", group, sizeof group)) return -1;
    return open_group_counter("/sys/fs/cgroup", group, "memory.events");
}

int open_oom_counter(void) {
    int counter = open_own_counter();
    return counter >= 0 ? counter : open_counter("/proc/vmstat");
}

/* ---- the limit ---- */

/* Returns 0 for no limit, which version 2 calls `max` and version 1 gives as more than the machine has. */
static uint64_t read_limit(const char *path) {
    char text[64];
    if (!read_text_file(path, text, sizeof text)) return 0;
    uint64_t limit = strtoull(text, NULL, 10);
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit < machine ? limit : 0;
}

/* The least limit of the group and of the groups around it. Overwrites `group`. */
static uint64_t least_limit(const char *mount, char *group, const char *file) {
    uint64_t least = 0;
    for (;;) {
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
        uint64_t limit = read_limit(path);
        if (limit > 0 && (least == 0 || limit < least)) least = limit;
        char *last = strrchr(group, '/');
        if (last == NULL) return least;
        *last = '\0';
    }
}

uint64_t group_memory_limit(void) {
    char text[TEXT_BYTES], group[PATH_BYTES];
    if (!read_text_file("/proc/self/cgroup", text, sizeof text)) return 0;
    if (find_group(text, "memory", group, sizeof group))
        return least_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    return find_group(text, "", group, sizeof group) ? least_limit("/sys/fs/cgroup", group, "memory.max") : 0;
}
