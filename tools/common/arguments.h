/* Arguments of the command lines of tools. A wrong argument ends the process with one line and
 * argp's status of errors (argp_err_exit_status), which a tool sets. */

#ifndef ARGUMENTS_H_INCLUDED
#define ARGUMENTS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* malloc, but ends the process if there is no memory. */
void *allocate(size_t bytes);

/* From now on the end of the process looks whether all that was written to standard output, --help
 * too, is out; if not, it ends with one line and EXIT_FAILURE. */
void end_if_output_is_lost(void);

/* The number that `text`, the value of an option, stands for; low to high are allowed. option: with
 * its equals sign, "--root=". */
int argument_number(const char *option, const char *text, int low, int high);

/* Reads bytes, at most so many, from the beginning of a text: 64, 64K (KiB), 1M, 1G. *end: behind
 * them. False: the text begins otherwise, or it is more. */
bool argument_bytes(const char *text, char **end, uint64_t most, uint64_t *bytes);

#endif
