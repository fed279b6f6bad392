/* How often the kernel has killed for want of memory, as far as this can be known here. */
#include "oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool read_count(const char *path, uint64_t *count) {
    char text[TEXT_BYTES];
    return read_text_file(path, text, sizeof text) && find_count(text, count);
}

/* Inside a container the path in /proc/self/cgroup may be the host's, and the mount shows only our part. */
static bool read_group_count(const char *mount, const char *group, const char *file, uint64_t *count) {
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    if (length > 0 && (size_t)length < sizeof path && read_count(path, count)) return true;
    snprintf(path, sizeof path, "%s/%s", mount, file);
    return read_count(path, count);
}

/* The path of a line "id:controllers:path" of /proc/self/cgroup whose controllers are the given ones. */
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

static bool read_own_count(uint64_t *count) {
    char text[TEXT_BYTES], group[PATH_BYTES];
    if (!read_text_file("/proc/self/cgroup", text, sizeof text)) return false;
    if (find_group(text, "memory", group, sizeof group))
        return read_group_count("/sys/fs/cgroup/memory", group, "memory.oom_control", count);
    if (!find_group(text, "", group, sizeof group)) return false;
    return read_group_count("/sys/fs/cgroup", group, "memory.events", count);
}

bool read_oom_kills(uint64_t *count) {
    return read_own_count(count) || read_count("/proc/vmstat", count);
}
