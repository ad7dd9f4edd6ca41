/* Reads arguments of command lines. See arguments.h. */

#include "arguments.h"

#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>

void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory)
        errx(EXIT_FAILURE, "no memory");
    return memory;
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
