/* TAP lines of the test programs that simulate: each compares what it has counted for many
 * settings, not functions one by one. */

#ifndef TAP_H_INCLUDED
#define TAP_H_INCLUDED

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_tests, tap_failures;

/* Prints whether the next test holds; its name is a format as of printf. */
static inline void tap_check(bool holds, const char *name, ...)
{
    va_list arguments;

    tap_failures += !holds;
    printf("%s %d - ", holds ? "ok" : "not ok", ++tap_tests);
    va_start(arguments, name);
    vprintf(name, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

/* Prints how many tests there were. Returns the exit status. */
static inline int tap_end(void)
{
    printf("1..%d\n", tap_tests);
    return tap_failures > 0;
}

#endif
