/* Runs a tool inside a fuzz target; see tool.h. */

#define _GNU_SOURCE
#include "tool.h"

#include <errno.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mpich/machine.h"

/* ---- memory ---- */

/* Of AddressSanitizer's library; not every compiler has its header. */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                              void (*)(const volatile void *));

/* What has been allocated since `begin`, by a tool or by a library for it, and is not free: a hash
 * table with linear probing. hwloc allocates a hundred thousand pieces for a large machine. */
#define PLACE_BITS 19
#define PLACES     (1u << PLACE_BITS)

static const volatile void *live[PLACES];
static unsigned lives;
static bool counts;

static unsigned place_of(const volatile void *memory)
{
    return (unsigned) ((uint64_t) (uintptr_t) memory * 0x9e3779b97f4a7c15u >> (64 - PLACE_BITS));
}

static void allocated(const volatile void *memory, size_t bytes)
{
    unsigned i = place_of(memory);

    (void) bytes;
    if (!counts || !memory)
        return;
    while (live[i])
        i = (i + 1) % PLACES;
    live[i] = memory;
    lives++;
    counts = lives < PLACES / 2; /* an assertion that fails allocates */
    assert(counts);
}

/* Takes out what is in place `gap`. What lies behind it is moved up if it could not be found over
 * an empty place. */
static void take_out(unsigned gap)
{
    for (unsigned i = (gap + 1) % PLACES; live[i]; i = (i + 1) % PLACES) {
        if ((i - place_of(live[i])) % PLACES >= (i - gap) % PLACES) {
            live[gap] = live[i];
            gap = i;
        }
    }
    live[gap] = NULL;
    lives--;
}

static void freed(const volatile void *memory)
{
    unsigned i = place_of(memory);

    while (live[i] && live[i] != memory)
        i = (i + 1) % PLACES;
    if (counts && live[i])
        take_out(i);
}

static void begin(void)
{
    static bool installed;

    if (!installed)
        assert(__sanitizer_install_malloc_and_free_hooks(allocated, freed));
    installed = true;
    counts = true;
}

void tool_end(void)
{
    counts = false;
    for (unsigned i = 0; lives > 0; i++) {
        if (!live[i])
            continue;
        free((void *) live[i]);
        live[i] = NULL;
        lives--;
    }
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

/* The status with which a tool refuses its arguments is the one it has argp use. */
void tool_errx(int status, const char *format, ...)
{
    assert(status == argp_err_exit_status);
    SAY(format);
    refuse();
}

void tool_err(int status, const char *format, ...)
{
    assert(status == argp_err_exit_status && errno > 0);
    SAY(format);
    refuse();
}

void tool_failure(const struct argp_state *state, int status, int error, const char *format, ...)
{
    (void) state;
    assert(status == argp_err_exit_status && error == 0);
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

    for (char *c = text; *c; c++) {
        if (separates(*c))
            *c = '\0';
        else if ((c == text || c[-1] == '\0') && argc < WORDS)
            argv[argc++] = c;
    }
    begin();
    if (setjmp(back))
        return true;
    run(argc, argv);
    return false;
}

/* hwloc keeps tables from its first topology to its last one, so one stays. */
static void keep_hwloc(void)
{
    static struct nc_machine *machine;
    char error[256];

    if (!machine)
        machine = nc_machine_load("synthetic:pu:1", error, sizeof error);
    assert(machine);
}

void tool_show(void (*run)(int argc, char **argv), const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *shown = NULL;
    FILE *before = stdout;
    size_t bytes;
    bool refused;

    keep_hwloc();
    stdout = open_memstream(&shown, &bytes);
    assert(stdout);
    refused = tool_run(run, text);
    fclose(stdout);
    stdout = before;
    assert(!refused || bytes == 0);
    if (*shown == '{') {
        struct json_object *json = json_tokener_parse(shown);
        assert(json);
        json_object_put(json);
    }
    free(shown);
    tool_end();
    free(text);
}
