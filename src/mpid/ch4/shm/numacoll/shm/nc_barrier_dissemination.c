/* The dissemination barrier: in round k each rank signals the rank 2^k places further on, and waits
 * for the rank 2^k places before it. Numbers are those of PROTOCOLS.md, 8.4. Source: Hensgen,
 * Finkel, Manber 1988. */

#include "nc_barrier.h"

/* 1, 2. After the round of distance d this rank knows that the 2d - 1 ranks before it have arrived,
 * most of them by signals of other ranks. 0, or the error of a wait. */
static int disseminate(const struct nc_barrier *b, uint64_t n)
{
    int error = 0;

    for (int distance = 1; distance < b->ranks && !error; distance *= 2) {
        int to = b->rank + distance, from = b->rank - distance;

        nc_barrier_signal(b, to < b->ranks ? to : to - b->ranks, n);
        error = nc_barrier_await(b, from >= 0 ? from : from + b->ranks, n);
    }
    return error;
}

/* 3, 4. Every rank knows that all have arrived, but must not leave before rank 0 has done
 * `between`. */
static int wait_for_root(const struct nc_barrier *b, uint64_t n)
{
    int error;

    if (b->rank != 0)
        return nc_barrier_pass(b, 0, n);
    error = nc_barrier_between(b);
    nc_barrier_open(b, 0, n);
    return error;
}

int nc_barrier_dissemination(struct nc_barrier *b, uint64_t n)
{
    int error = disseminate(b, n);

    return error || !b->between ? error : wait_for_root(b, n);
}
