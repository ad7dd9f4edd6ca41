/* What the files share that parse the command line, options.c and algorithms.c. Their functions end
 * the process if something is wrong. */

#ifndef OPTIONS_H_INCLUDED
#define OPTIONS_H_INCLUDED

#include <argp.h>

#include "bench.h"

/* Writes one line, what is wrong and what is allowed, and ends the process. */
_Noreturn void refuse(struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void algorithms_parse(struct argp_state *state, struct options *options, const char *text);

void sweep_parse(struct argp_state *state, struct options *options, const char *text);

/* Replaces each algorithm of numacoll by one for each value of the sweep. */
void sweep_apply(struct argp_state *state, struct options *options, const struct sweep *sweep);

/* Adds what is measured in the place of an algorithm, behind all algorithms, for this option. */
void copies_add(struct argp_state *state, struct options *options, const char *option,
                enum kind kind);

/* Finds the algorithm that ratios are to. */
void baseline_find(struct argp_state *state, struct options *options);

#endif
