/* What the library's files say on stderr; see said.h. */

#include "said.h"

#include <stdio.h>
#include <string.h>

#include "fuzz.h"

static char text[1 << 20];
static FILE *before;

void said_begin(void)
{
    memset(text, 0, strlen(text));
    before = stderr;
    stderr = fmemopen(text, sizeof text, "w");
    assert(stderr);
}

const char *said_end(void)
{
    char line[4096];
    size_t n;

    fclose(stderr);
    stderr = before;
    for (const char *c = text; *c; c += n + 1) {
        n = strcspn(c, "\n");
        snprintf(line, sizeof line, "%.*s", (int) n, c);
        assert(!strncmp(line, "numacoll: ", 10) && fuzz_is_line(line) && c[n] == '\n');
    }
    return text;
}
