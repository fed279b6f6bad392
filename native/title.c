/* Sets the process title that `ps` shows. */
#include "title.h"

#include <string.h>
#include <sys/prctl.h>

static struct {
    char *start;
    size_t size;
} area;

/* Only strings that lie one after another belong to the area. A string elsewhere was moved since the start. */
static void extend_area(char **strings) {
    for (; *strings != NULL; strings++)
        if (*strings == area.start + area.size) area.size += strlen(*strings) + 1;
}

void find_title_area(char **arguments, char **environment) {
    area.start = arguments[0];
    area.size = 0;
    if (area.start == NULL) return;
    extend_area(arguments);
    extend_area(environment);
}

/* A title may extend from the arguments into the environment: if the arguments do not end with a zero byte, the
 * kernel shows everything up to the next one. */
void set_title(const char *title, const char *name) {
    size_t length = strlen(title);
    explicit_bzero(area.start, area.size);
    if (area.size > 0) memcpy(area.start, title, length < area.size ? length : area.size - 1);
    prctl(PR_SET_NAME, name);
}
