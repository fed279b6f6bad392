/* Sets the process title that `ps` shows. */
#ifndef BOXKEEP_TITLE_H
#define BOXKEEP_TITLE_H

/* The name in /proc of a keeper that has a command. */
#define KEEPER_NAME "boxkeep-keeper"

/* Remembers the memory in which the kernel finds the arguments and the environment that it shows. */
void find_title_area(char **arguments, char **environment);
/* Overwrites all of that memory, including keys, with a title. `name` is the short name, at most 15 bytes. */
void set_title(const char *title, const char *name);

#endif
