/* The ranks of a test, as threads of this process or as processes that it forks. */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>

enum ranks_kind { THREADS, PROCESSES, RANKS_KINDS };

/* Runs main(run, rank), which returns how many errors it found, for each rank, and waits. A process
 * that takes longer than `seconds` ends. Returns the number of errors, or of processes that found
 * some. */
int run_ranks(enum ranks_kind kind, int ranks, int (*main)(const void *run, int rank),
              const void *run, unsigned seconds);

/* Takes the arguments of a test's main: [SCALE [TEST | !TEST [threads | processes]]]. scale: the
 * tests make so many times fewer operations. TEST: only this test, or all but it. False: another
 * word for the kind of ranks. */
bool ranks_arguments(int argc, char **argv, int *scale);

/* Whether the ranks of a kind run. */
bool ranks_run(enum ranks_kind kind);

#endif
