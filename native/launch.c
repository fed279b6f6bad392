/* Starts one command: opens its pipes or terminal, and starts the child that executes the command. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "child.h"
#include "io.h"
#include "protocol.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441
#endif

#define COMMAND_UMASK 022
#define PROGRAM_PATH_BYTES 4096
#define DEFAULT_SEARCH_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* On 32-bit machines the plain calls take 16-bit ids. */
#ifdef SYS_setgroups32
#define SET_GROUPS SYS_setgroups32
#define SET_GID SYS_setresgid32
#define SET_UID SYS_setresuid32
#else
#define SET_GROUPS SYS_setgroups
#define SET_GID SYS_setresgid
#define SET_UID SYS_setresuid
#endif

static const struct failure no_failure = {0, 0};

static struct failure failed(int stage) {
    return (struct failure){stage, errno};
}

/* ---- pipes and terminals ---- */

static bool set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* Only pipes that this keeper made change their owner, so that a command can reopen /dev/stdout. */
static bool give_to_account(int fd, const struct request *request) {
    return !(request->flags & SPAWN_ACCOUNT) || fchown(fd, request->uid, request->gid) == 0;
}

/* Opens the other end of a terminal. Kernels before 4.13 and some sandboxes support only opening it by name. */
static int open_terminal_peer(int terminal) {
    int peer = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    unsigned number = 0;
    if (peer >= 0 || ioctl(terminal, TIOCGPTN, &number) != 0) return peer;
    char path[32];
    snprintf(path, sizeof path, "/dev/pts/%u", number);
    return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* The terminal's group stays the one that the system assigned, commonly `tty`. */
static bool give_terminal_to_account(int fd, const struct request *request) {
    return !(request->flags & SPAWN_ACCOUNT) || fchown(fd, request->uid, (gid_t)-1) == 0;
}

static bool open_terminal(struct channels *channels, const struct request *request) {
    struct winsize size = {.ws_row = request->rows, .ws_col = request->columns};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal < 0) return false;
    channels->output[0] = terminal;
    if (grantpt(terminal) != 0 || unlockpt(terminal) != 0 || ioctl(terminal, TIOCSWINSZ, &size) != 0) return false;
    int peer = open_terminal_peer(terminal);
    for (int index = 0; index < 3; index++) channels->child[index] = peer;
    if (peer < 0 || !give_terminal_to_account(peer, request)) return false;
    channels->input = fcntl(terminal, F_DUPFD_CLOEXEC, 3);
    return channels->input >= 0;
}

static bool open_input(struct channels *channels, const struct request *request) {
    if (!(request->flags & SPAWN_STDIN)) {
        channels->child[0] = open_null(O_CLOEXEC);
        return channels->child[0] >= 0;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    channels->child[0] = ends[0];
    channels->input = ends[1];
    return set_nonblocking(ends[1]) && give_to_account(ends[0], request);
}

static bool open_output(struct channels *channels, const struct request *request, int stream) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    channels->output[stream] = ends[0];
    channels->child[stream + 1] = ends[1];
    return set_nonblocking(ends[0]) && give_to_account(ends[1], request);
}

static bool open_pipes(struct channels *channels, const struct request *request) {
    if (!open_input(channels, request) || !open_output(channels, request, 0)) return false;
    if (!(request->flags & SPAWN_MERGE)) return open_output(channels, request, 1);
    channels->child[2] = channels->child[1];
    return true;
}

struct failure open_channels(struct channels *channels, const struct request *request) {
    *channels = (struct channels){.child = {-1, -1, -1}, .input = -1, .output = {-1, -1}};
    if (request->flags & SPAWN_TERMINAL) return open_terminal(channels, request) ? no_failure : failed(STAGE_TTY);
    return open_pipes(channels, request) ? no_failure : failed(STAGE_PIPE);
}

/* With a terminal all three descriptors are the same one. With merged output stdout and stderr are. */
void close_child_ends(struct channels *channels) {
    for (int index = 2; index >= 0; index--) {
        bool is_shared = index > 0 && channels->child[index] == channels->child[index - 1];
        if (is_shared) channels->child[index] = -1;
        else close_descriptor(&channels->child[index]);
    }
}

void close_keeper_ends(struct channels *channels) {
    close_descriptor(&channels->input);
    close_descriptor(&channels->output[0]);
    close_descriptor(&channels->output[1]);
}

/* ---- the child ----
 * The child runs in our memory while we wait, so it reports a failure in a plain variable. It changes the account by
 * bare system calls, because the C libraries' functions try to notify other threads. */

struct launch_plan {
    const struct request *request;
    const struct channels *channels;
    int oom_score_adj;
    pid_t keeper;
    pid_t session_of_keeper;
    volatile struct failure failure;
};

static void give_up(struct launch_plan *plan, int stage) {
    plan->failure.reason = errno;
    plan->failure.stage = stage;
    end_child(127);
}

static void enter_session(struct launch_plan *plan) {
    bool is_member = getsid(0) != plan->session_of_keeper;
    if (!is_member && setsid() < 0) give_up(plan, STAGE_SESSION);
    bool has_terminal = plan->request->flags & SPAWN_TERMINAL;
    if (has_terminal && ioctl(plan->channels->child[0], TIOCSCTTY, 0) != 0) give_up(plan, STAGE_TTY);
    umask(COMMAND_UMASK);
}

static void place_descriptors(struct launch_plan *plan) {
    for (int index = 0; index < 3; index++)
        if (dup2(plan->channels->child[index], index) < 0) give_up(plan, STAGE_DESCRIPTORS);
}

static bool write_oom_score(int score) {
    char text[16];
    int length = snprintf(text, sizeof text, "%d", score);
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool is_written = write(fd, text, (size_t)length) == length;
    int reason = errno;
    close(fd);
    errno = reason;
    return is_written;
}

static void set_oom_score(struct launch_plan *plan) {
    if (plan->oom_score_adj != OOM_SCORE_LEAVE && !write_oom_score(plan->oom_score_adj)) give_up(plan, STAGE_OOM);
}

static void set_limits(struct launch_plan *plan) {
    const struct request *request = plan->request;
    for (uint16_t index = 0; index < request->limit_count; index++)
        if (setrlimit(request->limits[index].resource, &request->limits[index].limit) != 0) give_up(plan, STAGE_RLIMIT);
}

static void switch_account(struct launch_plan *plan) {
    const struct request *request = plan->request;
    if (!(request->flags & SPAWN_ACCOUNT)) return;
    if (syscall(SET_GROUPS, (long)request->group_count, request->groups) != 0) give_up(plan, STAGE_GROUPS);
    if (syscall(SET_GID, request->gid, request->gid, request->gid) != 0) give_up(plan, STAGE_GID);
    if (syscall(SET_UID, request->uid, request->uid, request->uid) != 0) give_up(plan, STAGE_UID);
}

/* Must follow the switch of account, which clears the parent-death signal. If the keeper died before prctl, no signal
 * will arrive, so the child checks its parent. */
static void tie_to_keeper(struct launch_plan *plan) {
    if (!(plan->request->flags & SPAWN_TIED)) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->keeper) end_child(127);
}

static const char *search_path(char **environment) {
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, "PATH=", 5) == 0) return *environment + 5;
    return DEFAULT_SEARCH_PATH;
}

/* Joins one entry of PATH with the program's name. An empty entry means the working directory. */
static bool join_program_path(char *path, const char *entry, size_t entry_length, const char *name) {
    size_t name_length = strlen(name);
    if (entry_length + name_length + 2 > PROGRAM_PATH_BYTES) return false;
    memcpy(path, entry, entry_length);
    if (entry_length > 0) path[entry_length++] = '/';
    memcpy(path + entry_length, name, name_length + 1);
    return true;
}

static bool is_search_continued(int reason) {
    return reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == ENAMETOOLONG || reason == ELOOP;
}

/* Returns only when nothing could be executed. A program without execute permission outweighs a missing program, but a
 * directory that the account cannot search holds no program that it knows of. */
static void search_and_exec(const char *name, char **arguments, char **environment) {
    char path[PROGRAM_PATH_BYTES];
    int reason = ENOENT;
    for (const char *entry = search_path(environment);; entry++) {
        size_t length = strcspn(entry, ":");
        if (join_program_path(path, entry, length, name)) {
            execve(path, arguments, environment);
            if (!is_search_continued(errno)) return;
            if (errno == EACCES && access(path, F_OK) == 0) reason = EACCES;
        }
        entry += length;
        if (*entry == '\0') break;
    }
    errno = reason;
}

static void run_program(struct launch_plan *plan) {
    const struct request *request = plan->request;
    const char *name = request->arguments[0];
    if (strchr(name, '/') != NULL) execve(name, request->arguments, request->environment);
    else if (*name != '\0') search_and_exec(name, request->arguments, request->environment);
    else errno = ENOENT;
    give_up(plan, STAGE_EXEC);
}

static int become_command(void *launch_plan) {
    struct launch_plan *plan = launch_plan;
    enter_session(plan);
    place_descriptors(plan);
    set_oom_score(plan);
    set_limits(plan);
    switch_account(plan);
    tie_to_keeper(plan);
    if (*plan->request->cwd != '\0' && chdir(plan->request->cwd) != 0) give_up(plan, STAGE_CWD);
    unblock_all_signals();
    run_program(plan);
    return 127;
}

/* The leader of a session at a terminal is the one that may control it. */
static struct launched start_planned(struct launch_plan *plan) {
    struct launched child;
    size_t bytes = sizeof plan->failure;
    if (plan->request->flags & SPAWN_MEMBER && !(plan->request->flags & SPAWN_TERMINAL))
        child.pid = start_member(become_command, plan, &plan->failure, bytes, &child.group);
    else
        child.pid = child.group = start_child(become_command, plan, &plan->failure, bytes);
    return child;
}

struct failure launch(const struct request *request, const struct channels *channels, int oom_score_adj,
                      struct launched *launched) {
    struct launch_plan plan = {request, channels, oom_score_adj, getpid(), getsid(0), {0, 0}};
    struct launched child = start_planned(&plan);
    if (child.pid < 0) return failed(STAGE_FORK);
    if (plan.failure.stage == 0) {
        *launched = child;
        return no_failure;
    }
    while (waitpid(child.pid, NULL, 0) < 0 && errno == EINTR) continue;
    return plan.failure;
}
