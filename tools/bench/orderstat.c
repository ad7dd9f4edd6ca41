/* Order statistics. See orderstat.h. */

#include "orderstat.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

double order_quantile(double *values, int n, double q)
{
    double at = q * (n - 1);
    int i = (int) at;

    qsort(values, (size_t) n, sizeof *values, compare);
    return i + 1 < n ? values[i] + (at - i) * (values[i + 1] - values[i]) : values[i];
}

/* The probability that k of n values are below the median of what they are drawn from: each is,
 * with probability 1/2. */
static double probability(int n, int k)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2));
}

/* The median is below the value of rank r if fewer than r values are below the median: on either
 * side this may happen with probability 0.025. */
int order_interval_rank(int n)
{
    double below = probability(n, 0);
    int rank = 0;

    while (below <= 0.025)
        below += probability(n, ++rank);
    return rank;
}

struct interval order_interval(double *values, int n)
{
    double median = order_quantile(values, n, 0.5);
    int rank = order_interval_rank(n), low = rank > 0 ? rank - 1 : 0;

    return (struct interval){median, values[low], values[n - 1 - low]};
}

double order_error(const struct interval *of)
{
    return fmax(of->high - of->median, of->median - of->low) / of->median;
}

int order_late(const unsigned char *late, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += late[i];
    return count;
}

bool order_leaves_out(const unsigned char *late, int n)
{
    return 2 * order_late(late, n) <= n;
}

int order_counted(const double *of, const unsigned char *late, int n, double *times)
{
    bool leaves_out = order_leaves_out(late, n);
    int count = 0;

    for (int i = 0; i < n; i++) {
        if (!late[i] || !leaves_out)
            times[count++] = of[i];
    }
    return count;
}

enum change order_change(const struct interval *before, const struct interval *after,
                         double fraction)
{
    if (after->low > before->high && after->median > before->median * (1 + fraction))
        return CHANGE_SLOWER;
    if (after->high < before->low && after->median * (1 + fraction) < before->median)
        return CHANGE_FASTER;
    return CHANGE_NONE;
}
