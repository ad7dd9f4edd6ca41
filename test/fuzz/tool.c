/* Runs a tool inside a fuzz target; see tool.h. */

#define _GNU_SOURCE
#include "tool.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* ---- memory ---- */

/* Of AddressSanitizer's library; not every compiler has its header. */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                              void (*)(const volatile void *));

/* What has been allocated since `begin`, by a tool or by a library for it, and is not free. */
static const volatile void *live[1 << 16];
static size_t lives;
static bool counts;

static void allocated(const volatile void *memory, size_t bytes)
{
    (void) bytes;
    if (!counts || !memory)
        return;
    assert(lives < sizeof live / sizeof *live);
    live[lives++] = memory;
}

static void freed(const volatile void *memory)
{
    for (size_t i = lives; counts && i > 0; i--) {
        if (live[i - 1] == memory) {
            live[i - 1] = live[--lives];
            return;
        }
    }
}

static void begin(void)
{
    static bool installed;

    if (!installed)
        assert(__sanitizer_install_malloc_and_free_hooks(allocated, freed));
    installed = true;
    lives = 0;
    counts = true;
}

void tool_end(void)
{
    counts = false;
    while (lives > 0)
        free((void *) live[--lives]);
}

/* ---- ends of the process ---- */

static jmp_buf back;
static char said[64 << 10];

static _Noreturn void refuse(void)
{
    assert(fuzz_is_line(said));
    longjmp(back, 1);
}

/* Writes what a tool says to `said`; for a function with a format and arguments. */
#define SAY(format) \
    do { \
        va_list arguments; \
        va_start(arguments, format); \
        vsnprintf(said, sizeof said, format, arguments); \
        va_end(arguments); \
    } while (0)

void tool_errx(int status, const char *format, ...)
{
    assert(status == EXIT_FAILURE);
    SAY(format);
    refuse();
}

void tool_err(int status, const char *format, ...)
{
    assert(status == EXIT_FAILURE && errno > 0);
    SAY(format);
    refuse();
}

void tool_failure(const struct argp_state *state, int status, int error, const char *format, ...)
{
    (void) state;
    assert(status == EXIT_FAILURE && error == 0);
    SAY(format);
    refuse();
}

/* What argp itself refuses, as an unknown option, is an error here and nothing is written. */
error_t tool_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
                        void *input)
{
    if (argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, index,
                   input))
        longjmp(back, 1);
    return 0;
}

/* ---- the run ---- */

static bool separates(char c)
{
    return (c > 0 && c < ' ') || c == 127;
}

bool tool_run(void (*run)(int argc, char **argv), char *text)
{
    enum { WORDS = 64 };
    char *argv[WORDS + 1] = {(char *) "tool"};
    int argc = 1;

    for (char *c = text; *c && argc < WORDS; c++) {
        if (separates(*c))
            *c = '\0';
        else if (c == text || c[-1] == '\0')
            argv[argc++] = c;
    }
    begin();
    if (setjmp(back))
        return true;
    run(argc, argv);
    return false;
}
