/* The file of --raw: a line for each timed call. Rank 0 calls these functions. */

#include "bench.h"

#include <stdio.h>

static FILE *file;

bool raw_open(const struct options *o)
{
    if (!o->raw)
        return true;
    file = fopen(o->raw, "w");
    if (!file) {
        perror(o->raw);
        return false;
    }
    fprintf(file, "collective,ranks,bytes,algorithm,round,repetition,us,left_out\n");
    return true;
}

void raw_write(const char *collective, int ranks, size_t bytes, const char *algorithm,
               const struct series *s)
{
    for (int k = 0; k < s->rounds && file; k++) {
        const double *times = s->times + k * s->n;
        const unsigned char *late = s->late + k * s->n;
        bool leaves_out = order_leaves_out(late, s->n);
        for (int i = 0; i < s->n; i++) {
            fprintf(file, "%s,%d,%zu,", collective, ranks, bytes);
            csv_text(file, algorithm);
            fprintf(file, ",%d,%d,%.3f,%d\n", k, i, times[i], late[i] && leaves_out);
        }
    }
}

bool raw_close(const struct options *o)
{
    bool good = !file || csv_close(file, o->raw);

    file = NULL;
    return good;
}
