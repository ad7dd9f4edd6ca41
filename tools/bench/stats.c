/* Statistics of the times that measure.c has: quantiles, and the result of a size and algorithm. */

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

double stats_quantile(double *values, int n, double q)
{
    double at = q * (n - 1);
    int i = (int) at;

    qsort(values, (size_t) n, sizeof *values, compare);
    return i + 1 < n ? values[i] + (at - i) * (values[i + 1] - values[i]) : values[i];
}

double stats_median(const double *values, int n)
{
    double *copy = malloc(sizeof *copy * (size_t) n), median;

    if (!copy)
        return NAN;
    memcpy(copy, values, sizeof *copy * (size_t) n);
    median = stats_quantile(copy, n, 0.5);
    free(copy);
    return median;
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

void stats_summarise(struct result *r, struct series *s, const struct series *baseline)
{
    double ratios[MAX_ROUNDS];

    for (int k = 0; k < s->rounds; k++)
        ratios[k] = s->medians[k] / baseline->medians[k];
    r->rounds = s->rounds;
    r->calls = s->rounds * s->n;
    r->median = stats_median(s->medians, s->rounds);
    r->ratio = stats_quantile(ratios, s->rounds, 0.5);
    r->ratio_low = ratios[0];
    r->ratio_high = ratios[s->rounds - 1];
    r->cv = variation(s->times, r->calls);
    r->p90 = stats_quantile(s->times, r->calls, 0.9);
    r->p99 = stats_quantile(s->times, r->calls, 0.99);
    r->min = s->times[0];
}
