/* What `ps` shows of this process. */
#include "title.h"

#include <string.h>
#include <sys/prctl.h>

static struct {
    char *start;
    size_t size;
} area;

/* The strings lie one after another; one that does not has been put elsewhere since the start. */
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

/* A title may run on from the arguments into the environment: without a zero byte at the end of the
 * arguments the kernel shows all up to the next one. */
void set_title(const char *title, const char *name) {
    size_t length = strlen(title);
    explicit_bzero(area.start, area.size);
    if (area.size > 0) memcpy(area.start, title, length < area.size ? length : area.size - 1);
    prctl(PR_SET_NAME, name);
}
