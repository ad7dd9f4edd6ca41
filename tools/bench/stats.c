#include "bench.h"

#include <stdlib.h>

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
