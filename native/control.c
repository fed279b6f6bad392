/* The socket through which another daemon reaches the keeper of a command: `control` in the command's directory. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io.h"

#define BACKLOG 8
#define NAME "control"
#define HOME "../../keepers"

struct own_name {
    char text[16];
};

/* Living keepers of one runtime directory have different pids. */
static struct own_name own_name(void) {
    struct own_name name;
    snprintf(name.text, sizeof name.text, "%d", (int)getpid());
    return name;
}

static void close_socket(struct control *control) {
    close_descriptor(&control->fd);
    control->is_watched = false;
}

static void forget_home(struct control *control) {
    unlinkat(control->home, own_name().text, 0);
    close_descriptor(&control->home);
    close_socket(control);
}

/* A keeper that was killed has left its name behind. */
static bool listen_at_home(struct control *control, int directory) {
    struct own_name name = own_name();
    control->home = openat(directory, HOME, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (control->home < 0) return false;
    unlinkat(control->home, name.text, 0);
    control->fd = listen_in_directory(control->home, name.text, BACKLOG);
    if (control->fd < 0) close_descriptor(&control->home);
    return control->fd >= 0;
}

static bool link_control(struct control *control, int directory) {
    if (linkat(control->home, own_name().text, directory, NAME, 0) == 0) return true;
    forget_home(control);
    return false;
}

bool open_control(struct control *control, int directory, bool is_kept) {
    bool has_kept = control->fd >= 0 || (is_kept && listen_at_home(control, directory));
    control->is_shown = has_kept && link_control(control, directory);
    if (control->is_shown) return true;
    control->fd = listen_in_directory(directory, NAME, BACKLOG);
    control->is_shown = control->fd >= 0;
    return control->is_shown;
}

void hide_control(struct control *control, int directory) {
    if (control->is_shown) unlinkat(directory, NAME, 0);
    control->is_shown = false;
}

void rest_control(struct control *control) {
    int fd;
    if (control->home < 0) close_socket(control);
    while (control->fd >= 0 && ((fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == EINTR))
        close_descriptor(&fd);
}

void leave_control(const struct control *control) {
    if (control->home >= 0) unlinkat(control->home, own_name().text, 0);
}
