/* Dissemination: in round k everybody tells the rank 2^k further on. PROTOCOLS.md, 8.4.
 * Source: Hensgen, Finkel, Manber 1988. */

#include "nc_barrier.h"

/* 1, 2. After the round of distance d I have heard of the 2d - 1 ranks before me, of most of them
 * through others. */
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

/* 3, 4. All know that all have arrived, but rank 0 has something to do first. */
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
