/* The program `boxkeep`: becomes init for `start`, and runs the daemon for every other sub-command. */
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "handover.h"
#include "hold.h"
#include "init.h"
#include "io.h"
#include "list.h"
#include "payload.h"
#include "scrub.h"
#include "title.h"
#include "unpacked.h"

#define DAEMON_OPTION "--daemon="
#define WORKER_WORD "computer-use"
#define HOLD_WORD "hold-key"
#define EXIT_USAGE 2
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUNNABLE 126

extern char **environ;

static struct payload payload;

/* Takes the leading --daemon= options and returns the position of the daemon's own arguments. */
static char **take_daemon_options(char **arguments, struct string_list *command) {
    for (; *arguments != NULL && strncmp(*arguments, DAEMON_OPTION, strlen(DAEMON_OPTION)) == 0; arguments++)
        add_string(command, *arguments + strlen(DAEMON_OPTION));
    return arguments;
}

/* A release contains its daemon and does not allow another daemon in its place. */
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

/* The lock on the unpacked files stays with the process: nothing may remove the files until the daemon has opened all
 * of them. */
static bool add_daemon(struct daemon *daemon, struct string_list *command) {
    if (daemon->payload == NULL) return true;
    if (!add_unpacked_daemon(daemon->payload, command)) return false;
    fcntl(daemon->payload->directory, F_SETFD, 0);
    return true;
}

/* Replaces this process by the daemon's program, with these arguments and the environment without keys. */
static int run_program(struct daemon *daemon, char **arguments) {
    struct string_list command = daemon->command;
    environ = daemon->surroundings->environment.items; /* The list has moved when variables were added to it. */
    if (!add_daemon(daemon, &command)) return 1;
    add_strings(&command, arguments);
    execve(command.items[0], command.items, daemon->surroundings->environment.items);
    complain("cannot run the daemon %s: %s", command.items[0], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* The other sub-commands are clients of a daemon. They read their key from the environment themselves, and trust the
 * certificates that the environment names. */
static int run_subcommand(struct daemon *daemon, char **arguments) {
    add_strings(&daemon->surroundings->environment, daemon->surroundings->secrets.items);
    keep_certificates(daemon->surroundings);
    return run_program(daemon, arguments);
}

/* The desktop worker lives as long as the desktop, where other programs could read its environment and its arguments,
 * and needs no key. */
static int run_worker(struct daemon *daemon, char **arguments) {
    close_descriptors_from(STDERR_FILENO + 1);
    if (daemon->payload != NULL && find_payload(&payload) != PAYLOAD_FOUND) return 1;
    scrub_arguments(daemon->surroundings, arguments);
    return run_program(daemon, daemon->surroundings->arguments.items);
}

/* This process is long-lived, so it closes all descriptors that its parent left open. */
static int run_start(struct daemon *daemon, char **arguments) {
    close_descriptors_from(STDERR_FILENO + 1);
    if (daemon->payload != NULL && find_payload(&payload) != PAYLOAD_FOUND) return 1;
    scrub_arguments(daemon->surroundings, arguments);
    return run_init(daemon);
}

/* The arguments lie in the memory that the title replaces, so that the program gets copies. */
static int run_holder(struct daemon *daemon, char **arguments) {
    struct string_list program = {NULL, 0};
    if (arguments[1] == NULL) {
        complain("hold-key needs the program to run");
        return EXIT_USAGE;
    }
    close_descriptors_from(STDERR_FILENO + 1);
    if (daemon->payload != NULL && find_payload(&payload) != PAYLOAD_FOUND) return 1;
    add_strings(&program, arguments + 1);
    add_string(&daemon->surroundings->arguments, "start");
    return hold_keys(daemon, program.items);
}

/* Refuses a program that could not read the state of the current init, before the upgrade gets that far. */
static int run_successor(struct daemon *daemon, char **arguments) {
    if (arguments[1] != NULL && strcmp(arguments[1], HANDOVER_VERSION_TEXT) == 0) {
        add_runtime_options(&daemon->surroundings->environment);
        return run_subcommand(daemon, arguments + 2);
    }
    complain("this program cannot take over from the boxkeep that runs; restart it");
    return EXIT_USAGE;
}

/* The client has to name the program that it belongs to, which is this one. */
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
    if (is_word(arguments[0], HOLD_WORD)) return run_holder(&daemon, arguments);
    if (is_word(arguments[0], WORKER_WORD)) return run_worker(&daemon, arguments);
    if (is_word(arguments[0], "upgrade")) return run_upgrade(&daemon, arguments);
    if (is_word(arguments[0], SUCCEED_WORD)) return run_successor(&daemon, arguments);
    if (is_word(arguments[0], RESUME_WORD) && arguments[1] != NULL) return resume_init(&daemon, atoi(arguments[1]));
    return run_subcommand(&daemon, arguments);
}
