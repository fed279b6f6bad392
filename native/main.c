/* The program `sandboxd`: becomes init at `start`, and hands every other sub-command to the daemon. */
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "handover.h"
#include "init.h"
#include "io.h"
#include "list.h"
#include "payload.h"
#include "scrub.h"
#include "title.h"
#include "unpacked.h"

#define DAEMON_OPTION "--daemon="
#define EXIT_USAGE 2
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUNNABLE 126

extern char **environ;

static struct payload payload;

/* Takes the leading --daemon= options and tells where the daemon's own arguments begin. */
static char **take_daemon_options(char **arguments, struct string_list *command) {
    for (; *arguments != NULL && strncmp(*arguments, DAEMON_OPTION, strlen(DAEMON_OPTION)) == 0; arguments++)
        add_string(command, *arguments + strlen(DAEMON_OPTION));
    return arguments;
}

/* A release has its daemon inside and lets nobody put another one in its place. */
static bool find_daemon(struct daemon *daemon) {
    bool is_named = daemon->command.count > 0;
    switch (find_payload(&payload)) {
        case PAYLOAD_UNKNOWN: exit(1);
        case PAYLOAD_ABSENT:
            if (!is_named) complain("no daemon: this program carries none, and no --daemon=PROGRAM names one");
            return is_named;
        case PAYLOAD_FOUND: break;
    }
    if (is_named) complain("--daemon= is not for a program that carries its daemon");
    daemon->payload = &payload;
    return !is_named;
}

/* The lock on the unpacked files goes with the process: until it has them all open, nobody may remove them. */
static bool add_daemon(struct daemon *daemon, struct string_list *command) {
    if (daemon->payload == NULL) return true;
    if (!add_unpacked_daemon(daemon->payload, command)) return false;
    fcntl(daemon->payload->directory, F_SETFD, 0);
    return true;
}

/* The other sub-commands talk to a daemon as clients and read its key from the environment themselves. */
static int run_subcommand(struct daemon *daemon, char **arguments) {
    struct string_list command = daemon->command;
    if (!add_daemon(daemon, &command)) return 1;
    add_strings(&command, arguments);
    add_strings(&daemon->surroundings->environment, daemon->surroundings->secrets.items);
    execve(command.items[0], command.items, daemon->surroundings->environment.items);
    complain("cannot run the daemon %s: %s", command.items[0], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* From here on this process lives long: nothing of its starter's may stay open. */
static int run_start(struct daemon *daemon, char **arguments) {
    close_descriptors_from(STDERR_FILENO + 1);
    if (daemon->payload != NULL && find_payload(&payload) != PAYLOAD_FOUND) return 1;
    scrub_arguments(daemon->surroundings, arguments);
    return run_init(daemon);
}

/* A program that could not read what init will leave to it must not get as far as that. */
static int run_successor(struct daemon *daemon, char **arguments) {
    if (arguments[1] != NULL && strcmp(arguments[1], HANDOVER_VERSION_TEXT) == 0)
        return run_subcommand(daemon, arguments + 2);
    complain("this program cannot take over from the sandboxd that runs; restart it");
    return EXIT_USAGE;
}

/* The client has to name the program that it came with: this one. */
static int run_upgrade(struct daemon *daemon, char **arguments) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    struct string_list words = {NULL, 0};
    if (length < 0) {
        complain("cannot read /proc/self/exe: %s", strerror(errno));
        return 1;
    }
    path[length] = '\0';
    add_string(&words, arguments[0]);
    add_option(&words, "--file=", path);
    for (size_t index = 0; index < daemon->command.count; index++)
        add_option(&words, DAEMON_OPTION, daemon->command.items[index]);
    add_strings(&words, arguments + 1);
    return run_subcommand(daemon, words.items);
}

static bool is_word(const char *argument, const char *word) {
    return argument != NULL && strcmp(argument, word) == 0;
}

int main(int argc, char **argv) {
    static struct surroundings surroundings;
    static struct daemon daemon = {.channel = -1, .surroundings = &surroundings};
    if (argc < 1) return EXIT_USAGE;
    char **arguments = take_daemon_options(argv + 1, &daemon.command);
    scrub_environment(&surroundings, environ);
    find_title_area(argv, environ);
    environ = surroundings.environment.items;
    if (!find_daemon(&daemon)) return EXIT_USAGE;
    if (is_word(arguments[0], "start")) return run_start(&daemon, arguments);
    if (is_word(arguments[0], "upgrade")) return run_upgrade(&daemon, arguments);
    if (is_word(arguments[0], SUCCEED_WORD)) return run_successor(&daemon, arguments);
    if (is_word(arguments[0], RESUME_WORD) && arguments[1] != NULL) return resume_init(&daemon, atoi(arguments[1]));
    return run_subcommand(&daemon, arguments);
}
