/* The first process of an image: keeps the keys from every program of the container but the daemon. */
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"
#include "io.h"
#include "title.h"

/* Where the program writes the environment of the daemon, each variable with a NUL at its end. */
#define ENVIRONMENT_DESCRIPTOR 3
#define ENVIRONMENT_LIMIT_BYTES (1024u * 1024u)
#define HAS_KEY_VARIABLE "BOXKEEP_HAS_KEY"
#define PAUSE_STEP_MS 1000u
#define PAUSE_LIMIT_MS 10000u
#define EXIT_NOT_RUNNABLE 126

#define API_KEY "SVC_API_KEY"
/* The name that 1.x gave it. */
#define KEY_ALIAS "SANDBOX_API_KEY"

extern char **environ;

struct holder {
    struct daemon *daemon;
    pid_t program;
    /* 0 while no init runs. */
    pid_t init;
    int signals;
    /* -1 once the order is complete. */
    int order;
    char *ordered;
    size_t ordered_bytes;
    uint64_t started_at;
    uint64_t restart_at;
    uint64_t pause_ms;
    int exit_code;
    bool is_ending;
};

/* ---- the key ---- */

/* The value of a secret that is the key, or NULL. */
static const char *value_of_key(const char *secret, const char *name) {
    size_t length = strlen(name);
    return strncmp(secret, name, length) == 0 && secret[length] == '=' ? secret + length + 1 : NULL;
}

/* Leaves one key, under its first name, or none. */
static bool choose_key(struct string_list *secrets) {
    struct string_list kept = {NULL, 0};
    const char *keys[] = {NULL, NULL};
    for (size_t index = 0; index < secrets->count; index++) {
        const char *key = value_of_key(secrets->items[index], API_KEY);
        const char *alias = value_of_key(secrets->items[index], KEY_ALIAS);
        if (key == NULL && alias == NULL) add_string(&kept, secrets->items[index]);
        if (key != NULL && *key != '\0') keys[0] = key;
        if (alias != NULL && *alias != '\0') keys[1] = alias;
    }
    const char *chosen = keys[0] != NULL ? keys[0] : keys[1];
    bool has_key = chosen != NULL;
    if (has_key) add_key(&kept, API_KEY, chosen);
    wipe_strings(secrets);
    *secrets = kept;
    return has_key;
}

/* ---- the program ---- */

static bool place_order(int writer) {
    if (writer == ENVIRONMENT_DESCRIPTOR) return fcntl(writer, F_SETFD, 0) == 0;
    return dup2(writer, ENVIRONMENT_DESCRIPTOR) == ENVIRONMENT_DESCRIPTOR;
}

static _Noreturn void become_program(char *const *program, char *const *environment, int writer) {
    if (place_order(writer)) {
        close_descriptors_from(ENVIRONMENT_DESCRIPTOR + 1);
        unblock_all_signals();
        execve(program[0], program, environment);
    }
    complain("cannot run %s: %s", program[0], strerror(errno));
    _exit(EXIT_NOT_RUNNABLE);
}

/* The program keeps the loader variables, which only the daemon runs without. */
static bool start_program(struct holder *holder, char *const *program) {
    struct surroundings *surroundings = holder->daemon->surroundings;
    struct string_list environment = {NULL, 0};
    int ends[2];
    add_strings(&environment, surroundings->environment.items);
    add_strings(&environment, surroundings->scrubbed.items);
    bool has_key = choose_key(&surroundings->secrets) || names_key_file(surroundings);
    add_string(&environment, has_key ? HAS_KEY_VARIABLE "=yes" : HAS_KEY_VARIABLE "=no");
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    holder->program = fork();
    if (holder->program == 0) become_program(program, environment.items, ends[1]);
    holder->order = ends[0];
    close(ends[1]);
    free_strings(&environment);
    return holder->program > 0;
}

/* ---- the daemon's init ---- */

static void report(const char *message) {
    char at[32];
    time_t now = time(NULL);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    dprintf(STDOUT_FILENO, "{\"at\":\"%s\",\"level\":\"warn\",\"message\":\"%s\"}\n", at, message);
}

/* init is a copy of this process and no new program, because a new program could be read until it protects itself. */
static void start_init(struct holder *holder) {
    pid_t holder_pid = getpid();
    holder->started_at = monotonic_ms();
    holder->restart_at = NEVER;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        close_descriptor(&holder->signals);
        if (getppid() != holder_pid) _exit(EXIT_NOT_RUNNABLE);
        exit(run_init(holder->daemon));
    }
    if (pid > 0) holder->init = pid;
    else holder->restart_at = monotonic_ms() + PAUSE_STEP_MS;
}

/* Ends of init that follow each other closely are answered more slowly each time. */
static void plan_restart(struct holder *holder) {
    uint64_t now = monotonic_ms();
    bool was_short = now - holder->started_at < PAUSE_LIMIT_MS;
    uint64_t longer = holder->pause_ms + PAUSE_STEP_MS;
    holder->restart_at = now + (was_short ? holder->pause_ms : 0);
    holder->pause_ms = was_short ? (longer < PAUSE_LIMIT_MS ? longer : PAUSE_LIMIT_MS) : 0;
    report("daemon has ended; it is started again");
}

static void take_order(struct holder *holder) {
    struct surroundings *surroundings = holder->daemon->surroundings;
    struct string_list variables = {NULL, 0};
    struct surroundings ordered = {.arguments = surroundings->arguments, .secrets = surroundings->secrets};
    for (size_t start = 0; start < holder->ordered_bytes; start += strlen(holder->ordered + start) + 1)
        add_string(&variables, holder->ordered + start);
    free_strings(&surroundings->environment);
    free_strings(&surroundings->scrubbed);
    if (variables.count > 0) scrub_environment(&ordered, variables.items);
    *surroundings = ordered;
    environ = surroundings->environment.items;
    free_strings(&variables);
    start_init(holder);
}

/* A program that ends without an order has no daemon. */
static void end_order(struct holder *holder) {
    close_descriptor(&holder->order);
    if (holder->ordered_bytes > 0) take_order(holder);
    free(holder->ordered);
    holder->ordered = NULL;
}

static void read_order(struct holder *holder) {
    char piece[4096];
    ssize_t size = read_some(holder->order, piece, sizeof piece);
    size_t total = holder->ordered_bytes + (size > 0 ? (size_t)size : 0);
    char *longer = size > 0 && total <= ENVIRONMENT_LIMIT_BYTES ? realloc(holder->ordered, total + 1) : NULL;
    if (longer == NULL) {
        end_order(holder);
        return;
    }
    memcpy(longer + holder->ordered_bytes, piece, (size_t)size);
    longer[total] = '\0';
    holder->ordered = longer;
    holder->ordered_bytes = total;
}

/* ---- the loop ---- */

static void reap(struct holder *holder) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == holder->program) {
            holder->program = 0;
            holder->is_ending = true;
            holder->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            close_descriptor(&holder->order);
            if (holder->init > 0) kill(holder->init, SIGTERM);
        } else if (pid == holder->init) {
            holder->init = 0;
            if (!holder->is_ending) plan_restart(holder);
        }
    }
}

static void pass_on(struct holder *holder, int number) {
    if (number != SIGTERM && number != SIGINT && number != SIGHUP) return;
    if (number == SIGHUP && names_key_file(holder->daemon->surroundings)) {
        if (holder->init > 0) kill(holder->init, SIGHUP);
        return;
    }
    holder->is_ending = true;
    if (holder->program > 0) kill(holder->program, SIGTERM);
    if (holder->init > 0) kill(holder->init, SIGTERM);
}

static void read_signals(struct holder *holder) {
    struct signalfd_siginfo signal;
    while (read_some(holder->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        pass_on(holder, (int)signal.ssi_signo);
    reap(holder);
}

static int wait_ms(const struct holder *holder) {
    uint64_t now = monotonic_ms();
    if (holder->restart_at == NEVER) return -1;
    return holder->restart_at > now ? (int)(holder->restart_at - now) : 0;
}

static void wait_and_attend(struct holder *holder) {
    struct pollfd polled[] = {{holder->signals, POLLIN, 0}, {holder->order, POLLIN, 0}};
    if (poll(polled, sizeof polled / sizeof polled[0], wait_ms(holder)) < 0) return;
    if (polled[0].revents) read_signals(holder);
    if (polled[1].revents && holder->order >= 0) read_order(holder);
    if (!holder->is_ending && holder->init == 0 && monotonic_ms() >= holder->restart_at) start_init(holder);
}

static int open_signals(void) {
    sigset_t set;
    sigfillset(&set);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int hold_keys(struct daemon *daemon, char *const *program) {
    struct holder holder = {.daemon = daemon, .order = -1, .restart_at = NEVER};
    block_all_signals();
    set_title("boxkeep: key holder", "boxkeep-holder");
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    holder.signals = open_signals();
    if (holder.signals < 0 || !start_program(&holder, program)) {
        complain("cannot run %s: %s", program[0], strerror(errno));
        return 1;
    }
    while (holder.program > 0 || holder.init > 0) wait_and_attend(&holder);
    return holder.exit_code;
}
