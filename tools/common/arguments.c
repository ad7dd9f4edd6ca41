/* Reads arguments of command lines. See arguments.h. */

#include "arguments.h"

#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory)
        errx(EXIT_FAILURE, "no memory");
    return memory;
}

static void look_at_output(void)
{
    if (fflush(stdout) || ferror(stdout)) {
        warn("standard output");
        _exit(EXIT_FAILURE); /* exit must not be called in a handler of exit */
    }
}

void end_if_output_is_lost(void)
{
    if (atexit(look_at_output))
        errx(EXIT_FAILURE, "no memory");
}

int argument_number(const char *option, const char *text, int low, int high)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < low || n > high)
        errx(argp_err_exit_status, "%s%s: must be %d to %d", option, text, low, high);
    return (int) n;
}

bool argument_bytes(const char *text, char **end, uint64_t most, uint64_t *bytes)
{
    static const char units[] = "KkMmGg";
    unsigned long long n;
    const char *unit;
    int shift = 0;

    errno = 0;
    n = strtoull(text, end, 10);
    if (*text < '0' || *text > '9' || errno) /* strtoull takes a sign */
        return false;
    unit = **end ? strchr(units, **end) : NULL;
    if (unit)
        shift = 10 * (1 + (int) (unit - units) / 2);
    *end += unit != NULL;
    *bytes = (uint64_t) n << shift;
    return n <= most >> shift;
}
