/* The file of --raw: a line for each timed call. Rank 0 calls these functions. The lines are in a
 * temporary file until the end, so that a run that is given up leaves an older file as it was. */

#include "bench.h"

#include <stdio.h>

static FILE *file;

bool raw_open(const struct options *o)
{
    if (!o->raw)
        return true;
    file = tmpfile();
    if (!file) {
        perror("--raw: a temporary file");
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

/* Copies the temporary file to the one of --raw. */
static bool keep(const struct options *o)
{
    FILE *to = fopen(o->raw, "w");
    char text[65536];
    size_t n;

    if (!to) {
        perror(o->raw);
        return false;
    }
    rewind(file);
    while ((n = fread(text, 1, sizeof text, file)) > 0)
        fwrite(text, 1, n, to);
    return csv_close(to, o->raw);
}

bool raw_close(const struct options *o, bool wanted)
{
    bool good = !file || !wanted || keep(o);

    if (file)
        good = csv_close(file, "--raw: a temporary file") && good;
    file = NULL;
    return good;
}
