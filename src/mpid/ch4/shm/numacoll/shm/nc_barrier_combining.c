/* A binary combining tree: who comes to a node as the second climbs on. PROTOCOLS.md, 8.3.
 * Source: Yew, Tzeng, Lawrie 1987.
 *
 * Node m, 0 < m < ranks, joins the `half` ranks below m to those from m on, half being the lowest
 * set bit of m. It is in the area of rank m, so on the NUMA node of ranks it joins where ranks of a
 * NUMA node follow each other. The top node has the highest set bit of ranks - 1. */

#include "nc_barrier.h"

/* The node where ranks of my 2 * half meet; none if not less than ranks: then my half has nobody to
 * meet. */
static int node_at(const struct nc_barrier *b, int half)
{
    return (b->rank & ~(2 * half - 1)) + half;
}

/* 1. Counts me in at my nodes from the lowest up, as long as I come second. The half of the node
 * where I came first, or the first power of two that is not less than ranks if I climbed all. */
static int climb(const struct nc_barrier *b)
{
    int half = 1;

    while (half < b->ranks &&
           (node_at(b, half) >= b->ranks || nc_barrier_count(b, node_at(b, half)) % 2 == 1))
        half *= 2;
    return half;
}

/* 4. Opens the nodes below `half` that I climbed over. */
static void descend(const struct nc_barrier *b, int half, uint64_t n)
{
    for (half /= 2; half > 0; half /= 2) {
        if (node_at(b, half) < b->ranks)
            nc_barrier_open(b, node_at(b, half), n);
    }
}

static int combine(const struct nc_barrier *b, uint64_t n)
{
    int half = climb(b), error = 0;

    if (half < b->ranks)
        error = nc_barrier_pass(b, node_at(b, half), n); /* 5 */
    if (!error)
        descend(b, half, n);
    return error;
}

/* With something between, the gate of node 0, which is no node, tells rank 0 that all have arrived;
 * rank 0 then opens the top node, where also the rank that climbed all waits. */
static int combine_for_root(const struct nc_barrier *b, int half, uint64_t n)
{
    int error = half < b->ranks ? nc_barrier_pass(b, 0, n) : 0, top = 1;

    if (error)
        return error;
    error = nc_barrier_between(b); /* 3 */
    while (2 * top < b->ranks)
        top *= 2;
    if (b->ranks > 1)
        nc_barrier_open(b, top, n);
    descend(b, half < b->ranks ? half : top, n);
    return error;
}

static int combine_under_root(const struct nc_barrier *b, int half, uint64_t n)
{
    int error;

    if (half >= b->ranks) {
        nc_barrier_open(b, 0, n); /* 2 */
        half /= 2;
    }
    error = nc_barrier_pass(b, node_at(b, half), n); /* 5 */
    if (!error)
        descend(b, half, n);
    return error;
}

int nc_barrier_combining(struct nc_barrier *b, uint64_t n)
{
    if (!b->between)
        return combine(b, n);
    return b->rank == 0 ? combine_for_root(b, climb(b), n) : combine_under_root(b, climb(b), n);
}
