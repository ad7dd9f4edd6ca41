/* Barriers on trees: arrivals are reported up one tree to rank 0, which releases all down a second
 * tree or by its gate. flat, flat_gr, mcs, tournament and hierarchical are this function on
 * different trees, which nc_barrier_shape has made. Numbers are those of PROTOCOLS.md, 8.1.
 * Sources: mcs: Mellor-Crummey, Scott 1991; tournament: Hensgen, Finkel, Manber 1988; hierarchical:
 * Kurnosov, Tokmasheva 2022. */

#include "nc_barrier.h"

/* 1. Waits until all ranks below this one have arrived, for children with small subtrees first,
 * which arrive first. */
static void await_children(const struct nc_barrier *b, uint64_t n)
{
    for (size_t i = (size_t) b->arrival.children; i > 0; i--)
        nc_barrier_await(b, b->arrival.child[i - 1], 0, n);
}

/* 4. Releases the children in the second tree, each by its own gate. */
static void tell_children(const struct nc_barrier *b, uint64_t n)
{
    for (int i = 0; i < b->release.children; i++)
        nc_barrier_open(b, b->release.child[i], n);
}

/* Rank 0. */
static int lead(const struct nc_barrier *b, uint64_t n)
{
    int error = nc_barrier_between(b); /* 3 */

    if (b->gate)
        nc_barrier_open(b, 0, n); /* 4 */
    else
        tell_children(b, n);
    return error;
}

/* Any other rank. */
static void follow(const struct nc_barrier *b, uint64_t n)
{
    nc_barrier_signal(b, 0, n);                   /* 2 */
    nc_barrier_pass(b, b->gate ? 0 : b->rank, n); /* 5 */
    if (!b->gate)
        tell_children(b, n);
}

int nc_barrier_tree(struct nc_barrier *b, uint64_t n)
{
    await_children(b, n);
    if (b->rank == 0)
        return lead(b, n);
    follow(b, n);
    return 0;
}
