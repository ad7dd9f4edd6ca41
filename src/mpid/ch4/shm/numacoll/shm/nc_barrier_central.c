/* The central barrier: all ranks are counted at the counter of rank 0, and wait at the gate of rank
 * 0. Numbers are those of PROTOCOLS.md, 8.2. */

#include "nc_barrier.h"

int nc_barrier_central(struct nc_barrier *b, uint64_t n)
{
    uint64_t before = nc_barrier_count(b, 0); /* 1 */
    uint64_t all = before - before % (uint64_t) b->ranks + (uint64_t) b->ranks;
    int error;

    if (b->between ? b->rank != 0 : before + 1 != all) {
        nc_barrier_pass(b, 0, n); /* 4 */
        return 0;
    }
    /* acquire of R6: `between` is rank 0's, which need not be the last rank to be counted */
    if (b->between)
        nc_wait_clock(nc_barrier_counter(b, 0), all, b->waiter); /* 2 */
    error = nc_barrier_between(b);
    nc_barrier_open(b, 0, n); /* 3 */
    return error;
}
