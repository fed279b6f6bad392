/* The socket through which another daemon reaches the keeper of a command: `control` in the command's directory. */
#ifndef BOXKEEP_CONTROL_H
#define BOXKEEP_CONTROL_H

#include <stdbool.h>

struct control {
    /* Listens while it is not -1. */
    int fd;
    /* The directory with the keeper's own name for the socket; -1 if the socket is for one command only. */
    int home;
    /* `control` exists in the directory of the command. */
    bool is_shown;
    /* Among the event sources of the keeper. */
    bool is_watched;
};

/* Listens as `control` in the directory of a command. `is_kept`: the next commands may use the same socket. It then
 * has a name of its own in `keepers`, two levels above, and `control` is another name of it. The next command costs no
 * new socket, which is slow on file systems with a journal. Where `keepers` or links do not exist, the socket is for
 * one command. False with errno. */
bool open_control(struct control *control, int directory, bool is_kept);
/* Removes `control`: from now on, no client finds the keeper through it. */
void hide_control(struct control *control, int directory);
/* Ends the connections that wait: they were meant for the ended command. Closes a socket for one command. */
void rest_control(struct control *control);
/* Removes the keeper's own name before the keeper exits. */
void leave_control(const struct control *control);

#endif
