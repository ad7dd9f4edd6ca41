/* The combining barrier: a binary tree of counters. Two ranks arrive at each node; the second to
 * arrive climbs on to the next node, the first waits. Numbers are those of PROTOCOLS.md, 8.3.
 * Source: Yew, Tzeng, Lawrie 1987.
 *
 * Node m, 0 < m < ranks, joins the `half` ranks below m to the `half` ranks from m on (as far as
 * there are any), where `half` is the lowest set bit of m. The node is the counter and the gate of
 * rank m's area, so it is on the NUMA node of ranks that it joins if the ranks of a NUMA node are
 * consecutive. The top node is the highest set bit of ranks - 1. */

#include "nc_barrier.h"

/* The node that joins the two halves of the 2 * half ranks this rank is among. If it is not less
 * than ranks, the other half is empty and there is no such node. */
static int node_at(const struct nc_barrier *b, int half)
{
    return (b->rank & ~(2 * half - 1)) + half;
}

/* 1. Climbs: counts this rank at its nodes from the lowest one up, as long as it arrives second.
 * Returns the `half` of the node where it arrived first, or, if it climbed all, the first power of
 * two that is not less than ranks. */
static int climb(const struct nc_barrier *b)
{
    int half = 1;

    while (half < b->ranks &&
           (node_at(b, half) >= b->ranks || nc_barrier_count(b, node_at(b, half)) % 2 == 1))
        half *= 2;
    return half;
}

/* 4. Opens the gates of the nodes that this rank climbed over below the one of `half`, the highest
 * first. */
static void descend(const struct nc_barrier *b, int half, uint64_t n)
{
    for (half /= 2; half > 0; half /= 2) {
        if (node_at(b, half) < b->ranks)
            nc_barrier_open(b, node_at(b, half), n);
    }
}

/* The barrier without `between`. */
static void combine(const struct nc_barrier *b, int half, uint64_t n)
{
    if (half < b->ranks)
        nc_barrier_pass(b, node_at(b, half), n); /* 5 */
    descend(b, half, n);
}

/* Rank 0 in a barrier with `between`. The rank that climbed all opens the gate of rank 0, which is
 * not the gate of any node, to tell rank 0 that all have arrived; rank 0 then opens the top node,
 * where that rank waits. */
static int combine_for_root(const struct nc_barrier *b, int half, uint64_t n)
{
    int error, top = 1;

    if (half < b->ranks)
        nc_barrier_pass(b, 0, n);
    error = nc_barrier_between(b); /* 3 */
    while (2 * top < b->ranks)
        top *= 2;
    if (b->ranks > 1)
        nc_barrier_open(b, top, n);
    descend(b, half < b->ranks ? half : top, n);
    return error;
}

/* Any other rank in a barrier with `between`. */
static void combine_under_root(const struct nc_barrier *b, int half, uint64_t n)
{
    if (half >= b->ranks) {
        nc_barrier_open(b, 0, n); /* 2 */
        half /= 2;
    }
    nc_barrier_pass(b, node_at(b, half), n); /* 5 */
    descend(b, half, n);
}

int nc_barrier_combining(struct nc_barrier *b, uint64_t n)
{
    int half = climb(b);

    if (b->between && b->rank == 0)
        return combine_for_root(b, half, n);
    if (b->between)
        combine_under_root(b, half, n);
    else
        combine(b, half, n);
    return 0;
}
