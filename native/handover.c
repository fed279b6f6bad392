/* Passes the state of one init to the next, which executes another program in the same process. */
#include "handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

/* Room for numbers and versions. Lists are counted separately. */
#define FIXED_BYTES 1024u

/* ---- writing ---- */

static size_t size_of_strings(const struct string_list *list) {
    size_t size = 4;
    for (size_t index = 0; index < list->count; index++) size += strlen(list->items[index]) + 1;
    return size;
}

static size_t size_of(const struct init *init) {
    const struct surroundings *surroundings = init->daemon->surroundings;
    size_t pids = init->keepers.count + init->upgrade.leaving.count;
    return FIXED_BYTES + pids * 4 + size_of_strings(&surroundings->arguments) +
           size_of_strings(&surroundings->secrets) + size_of_strings(&surroundings->scrubbed);
}

static void write_strings(struct field_writer *writer, const struct string_list *list) {
    write_u32(writer, (uint32_t)list->count);
    for (size_t index = 0; index < list->count; index++)
        write_bytes(writer, list->items[index], strlen(list->items[index]) + 1);
}

static void write_pids(struct field_writer *writer, const struct keepers *keepers) {
    write_u32(writer, (uint32_t)keepers->count);
    for (size_t index = 0; index < keepers->count; index++) write_u32(writer, (uint32_t)keepers->pids[index]);
}

static void write_runtime(struct field_writer *writer, const struct runtime *runtime) {
    write_u32(writer, (uint32_t)runtime->directory);
    write_u32(writer, (uint32_t)runtime->lock);
    write_u32(writer, (uint32_t)runtime->listener);
    write_u32(writer, (uint32_t)runtime->upgrades);
    write_u64(writer, (uint64_t)runtime->device);
    write_u64(writer, (uint64_t)runtime->inode);
}

static void write_daemon(struct field_writer *writer, const struct daemon *daemon) {
    write_u32(writer, (uint32_t)daemon->pid);
    write_u32(writer, (uint32_t)daemon->channel);
    write_u32(writer, daemon->starts);
    write_u64(writer, daemon->started_at);
    write_bytes(writer, daemon->version, strlen(daemon->version) + 1);
    write_strings(writer, &daemon->surroundings->arguments);
    write_strings(writer, &daemon->surroundings->secrets);
    write_strings(writer, &daemon->surroundings->scrubbed);
}

static void write_upgrade(struct field_writer *writer, const struct upgrade *upgrade) {
    write_u32(writer, (uint32_t)upgrade->client);
    write_u32(writer, upgrade->total_ms);
    write_u32(writer, upgrade->held_ms);
    write_bytes(writer, upgrade->version_before, strlen(upgrade->version_before) + 1);
    write_pids(writer, &upgrade->leaving);
}

static bool write_all_of(struct field_writer *writer, const struct init *init) {
    write_u32(writer, HANDOVER_VERSION);
    write_u32(writer, (uint32_t)init->default_oom_score);
    write_runtime(writer, &init->runtime);
    write_daemon(writer, init->daemon);
    write_upgrade(writer, &init->upgrade);
    write_pids(writer, &init->keepers);
    return !writer->has_failed;
}

/* Written to a memfd, which has no name in any file system, because the state contains keys. */
static int write_estate(const struct init *init) {
    size_t size = size_of(init);
    uint8_t *bytes = malloc(size);
    struct field_writer writer = write_fields(bytes, bytes != NULL ? size : 0);
    int fd = write_all_of(&writer, init) ? memfd_create("boxkeep-handover", 0) : -1;
    if (fd >= 0 && !write_all(fd, bytes, writer.used)) close_descriptor(&fd);
    if (bytes != NULL) explicit_bzero(bytes, size);
    free(bytes);
    return fd;
}

/* ---- inherited descriptors ---- */

static void pass_on(const struct init *init, bool is_passed) {
    const struct runtime *runtime = &init->runtime;
    const int passed[] = {
        runtime->directory, runtime->lock,         runtime->listener,
        runtime->upgrades,  init->daemon->channel, init->upgrade.client,
    };
    for (size_t index = 0; index < sizeof passed / sizeof passed[0]; index++)
        if (passed[index] >= 0) fcntl(passed[index], F_SETFD, is_passed ? 0 : FD_CLOEXEC);
}

static void run_program(const struct init *init, int estate) {
    char path[64], descriptor[16];
    struct string_list arguments = {NULL, 0};
    const struct program *program = &init->upgrade.program;
    name_program(program, path, sizeof path);
    snprintf(descriptor, sizeof descriptor, "%d", estate);
    add_string(&arguments, program->path);
    add_daemon_options(program, &arguments);
    add_string(&arguments, RESUME_WORD);
    add_string(&arguments, descriptor);
    execve(path, arguments.items, init->daemon->surroundings->environment.items);
    free_strings(&arguments);
}

const char *hand_over(struct init *init) {
    static char fault[256];
    int estate = write_estate(init);
    if (estate >= 0) {
        pass_on(init, true);
        run_program(init, estate);
        pass_on(init, false);
    }
    snprintf(fault, sizeof fault, "init itself stays as it was: %s", strerror(errno));
    close_descriptor(&estate);
    return fault;
}

/* ---- reading ---- */

static void read_strings(struct field_reader *reader, struct string_list *list) {
    uint32_t count = read_u32(reader);
    for (uint32_t index = 0; index < count && !reader->has_failed; index++) add_string(list, read_string(reader));
}

static void read_pids(struct field_reader *reader, struct keepers *keepers) {
    uint32_t count = read_u32(reader);
    for (uint32_t index = 0; index < count && !reader->has_failed; index++) {
        pid_t pid = (pid_t)read_u32(reader);
        if (reserve_keeper(keepers)) add_keeper(keepers, pid);
    }
}

static void read_version(struct field_reader *reader, char version[VERSION_BYTES]) {
    snprintf(version, VERSION_BYTES, "%s", read_string(reader));
}

static void read_runtime(struct field_reader *reader, struct runtime *runtime) {
    runtime->directory = (int)read_u32(reader);
    runtime->lock = (int)read_u32(reader);
    runtime->listener = (int)read_u32(reader);
    runtime->upgrades = (int)read_u32(reader);
    runtime->device = (dev_t)read_u64(reader);
    runtime->inode = (ino_t)read_u64(reader);
}

static void read_daemon(struct field_reader *reader, struct daemon *daemon) {
    daemon->pid = (pid_t)read_u32(reader);
    daemon->channel = (int)read_u32(reader);
    daemon->starts = read_u32(reader);
    daemon->started_at = read_u64(reader);
    daemon->is_ready = true;
    read_version(reader, daemon->version);
    read_strings(reader, &daemon->surroundings->arguments);
    read_strings(reader, &daemon->surroundings->secrets);
    read_strings(reader, &daemon->surroundings->scrubbed);
}

static void read_upgrade(struct field_reader *reader, struct upgrade *upgrade) {
    upgrade->client = (int)read_u32(reader);
    upgrade->total_ms = read_u32(reader);
    upgrade->held_ms = read_u32(reader);
    read_version(reader, upgrade->version_before);
    read_pids(reader, &upgrade->leaving);
    upgrade->stage = UPGRADE_TAKEN;
}

static bool read_estate(struct init *init, const uint8_t *bytes, size_t size) {
    struct field_reader reader = read_fields(bytes, size);
    if (read_u32(&reader) != HANDOVER_VERSION) return false;
    init->default_oom_score = (int)read_u32(&reader);
    read_runtime(&reader, &init->runtime);
    read_daemon(&reader, init->daemon);
    read_upgrade(&reader, &init->upgrade);
    read_pids(&reader, &init->keepers);
    return is_read_exactly(&reader);
}

bool take_over(struct init *init, int descriptor) {
    struct stat status;
    if (descriptor <= STDERR_FILENO || fstat(descriptor, &status) != 0 || status.st_size <= 0) return false;
    size_t size = (size_t)status.st_size;
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (bytes == MAP_FAILED) return false;
    bool is_read = read_estate(init, bytes, size);
    explicit_bzero(bytes, size);
    munmap(bytes, size);
    close(descriptor);
    pass_on(init, false);
    return is_read;
}
