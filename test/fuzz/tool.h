/* What the targets of the tools' command lines share. A tool ends its process after a wrong option
 * and leaves its memory to the kernel; in a target it comes back to tool_run, and tool_end takes
 * back the memory. tool_renamed.h, which the tools' files are compiled with, leads their calls
 * here. */

#ifndef TOOL_H_INCLUDED
#define TOOL_H_INCLUDED

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls run(argc, argv) with the words of an input: what stands between its control characters. A
 * tool that refuses must do so with one line. Returns whether it has refused. */
bool tool_run(void (*run)(int argc, char **argv), char *text);

/* For a target whose tool shows something: calls tool_run and tool_end for an input, and asserts
 * that a tool that refuses shows nothing, and that what begins as JSON can be read again. */
void tool_show(void (*run)(int argc, char **argv), const uint8_t *data, size_t size);

/* Frees what has been allocated since tool_run and is not free. */
void tool_end(void);

/* errx, err, argp_failure and argp_parse as the tools call them. */
void tool_errx(int status, const char *format, ...) __attribute__((noreturn));
void tool_err(int status, const char *format, ...) __attribute__((noreturn));
void tool_failure(const struct argp_state *state, int status, int error, const char *format, ...)
    __attribute__((noreturn));
error_t tool_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
                        void *input);

#endif
