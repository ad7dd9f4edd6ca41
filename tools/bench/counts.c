/* The lengths of the blocks of an irregular collective. See counts.h. */

#include "counts.h"

#include <string.h>

const char *const counts_names[3] = {
    [COUNTS_EVEN] = "even", [COUNTS_LINEAR] = "linear", [COUNTS_ONE] = "one"};

bool counts_parse(const char *text, enum counts *counts)
{
    for (*counts = COUNTS_EVEN; *counts <= COUNTS_ONE; (*counts)++) {
        if (!strcmp(text, counts_names[*counts]))
            return true;
    }
    return false;
}

size_t counts_length(enum counts counts, size_t m, size_t unit, int i, int n)
{
    switch (counts) {
        case COUNTS_LINEAR:
            return 2 * m * (size_t) i / (size_t) (n - 1) / unit * unit;
        case COUNTS_ONE:
            return i == n - 1 ? m * (size_t) n : 0;
        default:
            return m;
    }
}

size_t counts_offset(enum counts counts, size_t m, size_t unit, int i, int n)
{
    size_t offset = 0;

    if (counts == COUNTS_EVEN)
        return m * (size_t) i;
    for (int k = 0; k < i; k++)
        offset += counts_length(counts, m, unit, k, n);
    return offset;
}

size_t counts_longest(enum counts counts, size_t m, int n)
{
    return counts == COUNTS_LINEAR ? 2 * m : counts == COUNTS_ONE ? m * (size_t) n : m;
}
