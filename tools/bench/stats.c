/* The result of a size and algorithm, made of the times that measure.c has. */

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *copied(const double *values, int n)
{
    double *copy = malloc(sizeof *copy * (size_t) n);

    if (copy)
        memcpy(copy, values, sizeof *copy * (size_t) n);
    return copy;
}

static double variation(const double *values, int n)
{
    double mean = 0, squares = 0;

    for (int i = 0; i < n; i++)
        mean += values[i] / n;
    for (int i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean) / n;
    return sqrt(squares) / mean;
}

void stats_of_medians(struct result *r, const double *medians, const double *baseline, int n)
{
    double values[MAX_UNITS];

    memcpy(values, medians, sizeof *values * (size_t) n);
    r->time = order_interval(values, n);
    for (int k = 0; k < n; k++)
        values[k] = medians[k] / baseline[k];
    r->ratio = order_interval(values, n);
    r->medians = copied(medians, n);
    r->median_count = r->medians ? n : 0;
}

void stats_summarise(struct result *r, struct series *s, const struct series *baseline)
{
    stats_of_medians(r, s->medians, baseline->medians, s->rounds);
    r->launches = 1;
    r->rounds = s->rounds;
    r->calls = 0;
    r->late = order_late(s->late, s->rounds * s->n);
    for (int k = 0; k < s->rounds; k++) /* moved to the front */
        r->calls += order_counted(s->times + k * s->n, s->late + k * s->n, s->n,
                                  s->times + r->calls);
    r->cv = variation(s->times, r->calls);
    r->p90 = order_quantile(s->times, r->calls, 0.9);
    r->p99 = order_quantile(s->times, r->calls, 0.99);
    r->min = s->times[0];
}

void measurements_free(struct measurement *all, int n)
{
    for (int i = 0; i < n && all; i++) {
        for (int s = 0; s < MAX_SIZES; s++) {
            for (int a = 0; a < MAX_ALGORITHMS; a++)
                free(all[i].cell[s][a].medians);
        }
    }
    free(all);
}
