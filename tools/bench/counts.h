/* The lengths of the blocks of an irregular collective. The blocks of all ranks together have as
 * many bytes as equal ones, at most. Without MPI: test/unit/test_counts.c tests them. */

#ifndef COUNTS_H_INCLUDED
#define COUNTS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum counts {
    COUNTS_EVEN,   /* equal blocks */
    COUNTS_LINEAR, /* block after block longer, the first one is empty */
    COUNTS_ONE     /* the last block has all bytes */
};

extern const char *const counts_names[3];

/* Parses a name. False: there is no such. */
bool counts_parse(const char *text, enum counts *counts);

/* Bytes of block i of n blocks of m bytes on average, a multiple of unit, which divides m; of the
 * blocks before it; and of the longest one. */
size_t counts_length(enum counts counts, size_t m, size_t unit, int i, int n);
size_t counts_offset(enum counts counts, size_t m, size_t unit, int i, int n);
size_t counts_longest(enum counts counts, size_t m, int n);

#endif
