/* Order statistics: quantiles, and the confidence interval of a median, which suppose nothing about
 * how the values are distributed. Without MPI: test/unit/test_orderstat.c tests them. */

#ifndef ORDERSTAT_H_INCLUDED
#define ORDERSTAT_H_INCLUDED

#include <stdbool.h>

/* A median with its 95 % confidence interval. */
struct interval {
    double median, low, high;
};

enum change { CHANGE_NONE, CHANGE_SLOWER, CHANGE_FASTER };

/* Quantile q, 0 to 1, of values[n], n > 0. Sorts the values. */
double order_quantile(double *values, int n, double q);

/* The interval of the median of n values goes from the value of this rank, counted from 1 in
 * ascending order, to the one of the same rank counted from the end. 0: there is no such interval,
 * as n is less than 6. */
int order_interval_rank(int n);

/* The median of values[n], n > 0, and its interval; where there is none, the lowest and the highest
 * value. Sorts the values. */
struct interval order_interval(double *values, int n);

/* How far the interval reaches from the median, as a fraction of the median. */
double order_error(const struct interval *of);

/* How many of n calls are late. */
int order_late(const unsigned char *late, int n);

/* Whether the late calls of a block of n do not count. If more than half are late all count:
 * the few that are on time would be a biased sample. */
bool order_leaves_out(const unsigned char *late, int n);

/* Copies the times of a block of n > 0 that count, to times, which may be `of`. Returns how many
 * these are, at least one. */
int order_counted(const double *of, const unsigned char *late, int n, double *times);

/* How times have changed: only if the intervals do not overlap, and if the larger median is by more
 * than this fraction above the other. */
enum change order_change(const struct interval *before, const struct interval *after,
                         double fraction);

#endif
