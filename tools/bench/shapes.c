/* Writes results with the columns of other benchmarks, for programs that read theirs: one list for
 * each algorithm, with the mean time of a call on the ranks: on all of them on average, on the
 * fastest and on the slowest. */

#include "bench.h"

#include <stdio.h>

/* size, average, lowest, highest, calls: the OSU micro-benchmarks' with --full */
static void osu_row(const char *size, const struct result *r)
{
    printf("%s%.2f %20.2f %20.2f %12d\n", size, r->mean.avg, r->mean.min, r->mean.max, r->calls);
}

/* size, calls, lowest, highest, average: the Intel MPI Benchmarks' */
static void imb_row(const char *size, const struct result *r)
{
    printf("%s%d %12.2f %12.2f %12.2f\n", size, r->calls, r->mean.min, r->mean.max, r->mean.avg);
}

void output_shaped(const struct options *o, const struct measurement *m)
{
    bool osu = o->format == FORMAT_OSU, sized = collective_has_size(m->collective);
    char what[256];

    measurement_text(o, m, what, sizeof what);
    for (int a = 0; a < o->algorithm_count; a++) {
        printf("\n# %s, %s: microseconds\n# %s%s\n", what, o->algorithms[a].label,
               sized ? "bytes " : "",
               osu ? "average fastest-rank slowest-rank calls"
                   : "calls fastest-rank slowest-rank average");
        for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
            char size[32] = "";
            if (sized)
                snprintf(size, sizeof size, "%-12zu ", o->sizes[s]);
            (osu ? osu_row : imb_row)(size, &m->cell[s][a]);
        }
    }
    fflush(stdout);
}
