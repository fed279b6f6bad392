/* The program `sandboxd`: becomes init at `start`, and hands every other sub-command to the daemon. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "init.h"
#include "io.h"
#include "list.h"
#include "payload.h"
#include "scrub.h"
#include "title.h"

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

static bool add_daemon(struct daemon *daemon, struct string_list *command) {
    char path[PATH_MAX];
    if (daemon->payload == NULL) return true;
    if (!unpack_payload(daemon->payload, path)) return false;
    add_string(command, path);
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

int main(int argc, char **argv) {
    static struct surroundings surroundings;
    static struct daemon daemon = {.channel = -1, .surroundings = &surroundings};
    if (argc < 1) return EXIT_USAGE;
    char **arguments = take_daemon_options(argv + 1, &daemon.command);
    scrub_environment(&surroundings, environ);
    find_title_area(argv, environ);
    environ = surroundings.environment.items;
    if (!find_daemon(&daemon)) return EXIT_USAGE;
    bool is_start = arguments[0] != NULL && strcmp(arguments[0], "start") == 0;
    return is_start ? run_start(&daemon, arguments) : run_subcommand(&daemon, arguments);
}
