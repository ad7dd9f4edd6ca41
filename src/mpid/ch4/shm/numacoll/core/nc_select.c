/* The rules for `auto`, as tables. See nc_select.h. */

#include "nc_select.h"

#include <limits.h>

enum answer { NO, YES, ANY };

/* The first row that fits decides; the last row always fits. doc/measurements.md has the times of
 * the barriers. */
static const struct {
    int ranks; /* at most */
    enum answer oversubscribed, numa_nodes;
    enum nc_barrier_kind kind;
} barrier[] = {
    /* the two ranks signal each other at the same time */
    {2, ANY, ANY, NC_BARRIER_DISSEMINATION},
    /* each step in which a rank waits costs a turn of the scheduler: one counter has the fewest */
    {INT_MAX, YES, ANY, NC_BARRIER_CENTRAL},
    /* lines cross between NUMA nodes once going up and once going down: the fewest crossings,
     * whatever the mapping of ranks */
    {INT_MAX, NO, YES, NC_BARRIER_HIERARCHICAL},
    {16, NO, NO, NC_BARRIER_DISSEMINATION},
    /* Kurnosov, Tokmasheva 2022: the fastest of those compared on 64 cores of one NUMA node */
    {INT_MAX, NO, NO, NC_BARRIER_COMBINING},
};

static bool fits(enum answer wanted, bool is)
{
    return wanted == ANY || (wanted == YES) == is;
}

enum nc_barrier_kind nc_select_barrier(const struct nc_situation *s)
{
    size_t i = 0, last = sizeof barrier / sizeof *barrier - 1;

    while (i < last &&
           !(s->ranks <= barrier[i].ranks && fits(barrier[i].oversubscribed, s->oversubscribed) &&
             fits(barrier[i].numa_nodes, s->numa_nodes)))
        i++;
    return barrier[i].kind;
}

enum nc_tree_kind nc_select_notice(const struct nc_situation *s)
{
    /* each rank that has to notify others costs a turn of the scheduler */
    return s->oversubscribed ? NC_TREE_FLAT : NC_TREE_KNOMIAL;
}

/* Here, too, the first row that fits decides, and the last row always fits. */
static const struct {
    int ranks; /* at most */
    enum answer inlined, numa_nodes;
    enum nc_allreduce_version version;
} allreduce[] = {
    /* every rank reduces all, in one phase */
    {2, ANY, NO, NC_ALLREDUCE_SYMMETRIC},
    {16, YES, ANY, NC_ALLREDUCE_SYMMETRIC},
    {INT_MAX, YES, ANY, NC_ALLREDUCE_RB},
    /* the message crosses between NUMA nodes once going up and once going down */
    {INT_MAX, NO, YES, NC_ALLREDUCE_RB},
    {INT_MAX, NO, NO, NC_ALLREDUCE_SLICED},
};

enum nc_allreduce_version nc_select_allreduce(const struct nc_situation *s, size_t bytes,
                                              size_t inline_bytes)
{
    size_t i = 0, last = sizeof allreduce / sizeof *allreduce - 1;

    while (i < last &&
           !(s->ranks <= allreduce[i].ranks && fits(allreduce[i].inlined, bytes <= inline_bytes) &&
             fits(allreduce[i].numa_nodes, s->numa_nodes)))
        i++;
    return allreduce[i].version;
}

size_t nc_select_cache_share(size_t cache_bytes, int processors, int ranks)
{
    size_t believed = (size_t) processors * (4 << 20);

    if (processors > 0 && cache_bytes > believed)
        cache_bytes = believed;
    return cache_bytes / (size_t) (ranks > 0 ? ranks : 1);
}
