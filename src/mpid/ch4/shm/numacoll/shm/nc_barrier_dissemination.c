/* The dissemination barrier: in round k each rank signals the rank 2^k places further on, and waits
 * for the rank 2^k places before it. Numbers are those of PROTOCOLS.md, 8.4. Source: Hensgen,
 * Finkel, Manber 1988. */

#include "nc_barrier.h"

/* 1, 2. After the round of distance d this rank knows that the 2d - 1 ranks before it have arrived,
 * most of them by signals of other ranks. */
static void disseminate(const struct nc_barrier *b, uint64_t n)
{
    for (int round = 0; 1 << round < b->ranks; round++) {
        int from = b->rank - (1 << round);

        nc_barrier_signal(b, round, n);
        nc_barrier_await(b, from >= 0 ? from : from + b->ranks, round, n);
    }
}

/* 3, 4. Every rank knows that all have arrived, but must not leave before rank 0 has done
 * `between`. */
static int wait_for_root(const struct nc_barrier *b, uint64_t n)
{
    int error;

    if (b->rank != 0) {
        nc_barrier_pass(b, 0, n);
        return 0;
    }
    error = nc_barrier_between(b);
    nc_barrier_open(b, 0, n);
    return error;
}

int nc_barrier_dissemination(struct nc_barrier *b, uint64_t n)
{
    disseminate(b, n);
    return b->between ? wait_for_root(b, n) : 0;
}
