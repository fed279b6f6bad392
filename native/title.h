/* What `ps` shows of this process. */
#ifndef SANDBOXD_TITLE_H
#define SANDBOXD_TITLE_H

/* Remembers where the kernel finds the arguments and the environment that it shows. */
void find_title_area(char **arguments, char **environment);
/* Overwrites all of that memory, keys included, with a title. `name` is the short one, of at most 15 bytes. */
void set_title(const char *title, const char *name);

#endif
