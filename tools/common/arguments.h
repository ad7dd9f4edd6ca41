/* Arguments of the command lines of tools. A wrong argument ends the process with one line and
 * argp's status of errors (argp_err_exit_status), which a tool sets. */

#ifndef ARGUMENTS_H_INCLUDED
#define ARGUMENTS_H_INCLUDED

#include <stddef.h>

/* malloc, but ends the process if there is no memory. */
void *allocate(size_t bytes);

/* The number that `text`, the value of an option, stands for; low to high are allowed. option: with
 * its equals sign, "--root=". */
int argument_number(const char *option, const char *text, int low, int high);

#endif
