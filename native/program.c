/* The file that an upgrade names: checked once, and then run through its descriptor. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

#define DAEMON_OPTION "--daemon="

/* The program will run with our rights and our keys. Only accounts that already have both may be able to write it. */
static const char *find_fault(int file) {
    struct stat status;
    if (fstat(file, &status) != 0) return strerror(errno);
    if (!S_ISREG(status.st_mode) || !(status.st_mode & 0111)) return "it is not a program";
    if (status.st_uid != 0 && status.st_uid != geteuid()) return "it belongs to another account";
    if (status.st_mode & 022) return "others can write it (chmod go-w it)";
    return NULL;
}

bool open_program(struct program *program, const char *path, char *reason, size_t size) {
    *program = (struct program){.file = -1};
    if (path[0] == '/') program->file = open(path, O_RDONLY | O_CLOEXEC);
    const char *fault = program->file < 0 ? strerror(errno) : find_fault(program->file);
    if (path[0] != '/') fault = "its path is not absolute";
    if (fault == NULL) program->path = strdup(path);
    if (program->path != NULL) return true;
    snprintf(reason, size, "%s cannot be run: %s", path, fault != NULL ? fault : "out of memory");
    close_program(program);
    return false;
}

void name_program(const struct program *program, char *path, size_t size) {
    snprintf(path, size, "/proc/self/fd/%d", program->file);
}

void add_daemon_options(const struct program *program, struct string_list *arguments) {
    for (size_t index = 0; index < program->daemon.count; index++)
        add_option(arguments, DAEMON_OPTION, program->daemon.items[index]);
}

void close_program(struct program *program) {
    close_descriptor(&program->file);
    free(program->path);
    free_strings(&program->daemon);
    *program = (struct program){.file = -1};
}
