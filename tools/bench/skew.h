/* Arrival patterns: how long after the start of a call a rank arrives at it. Without MPI:
 * test/unit/test_skew.c tests them. */

#ifndef SKEW_H_INCLUDED
#define SKEW_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum skew_kind {
    SKEW_NONE,
    SKEW_LINEAR, /* rank by rank, the last one `us` after the first */
    SKEW_RANDOM, /* each rank at any time within `us`, drawn for each call */
    SKEW_LATE    /* one rank by `us`, each in turn */
};

struct skew {
    enum skew_kind kind;
    double us; /* microseconds */
};

/* Parses "none", "linear:US", "random:US" or "late:US", 0 < US <= 1000000. False: it is none of
 * them. */
bool skew_parse(const char *text, struct skew *skew);

/* Writes what skew_parse() reads to text[n]. */
void skew_text(const struct skew *skew, char *text, size_t n);

/* Microseconds from the start until this rank arrives, in call number `call`; and until the last
 * rank does. */
double skew_delay(const struct skew *skew, uint64_t call, int rank, int ranks);
double skew_last(const struct skew *skew, uint64_t call, int ranks);

#endif
