/* The rules for `auto`, as tables. See nc_select.h. */

#include "nc_select.h"

#include <limits.h>

#include "nc_model.h"

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

/* Bytes for each rank of the node that a message needs to fill a chain: each fragment passes all
 * ranks, one after the other. */
#define CHAIN_BYTES 4096

enum nc_reduce_way nc_select_reduce(const struct nc_situation *s, size_t bytes, size_t inline_bytes)
{
    /* a rank that waits for one that waits for another costs turns of the scheduler */
    if (s->ranks <= 2 || s->oversubscribed)
        return NC_REDUCE_FLAT;
    /* the fewest steps; what a rank reads is a line from each child */
    if (bytes <= inline_bytes)
        return NC_REDUCE_BINOMIAL;
    /* a leader reads all that its children have, in a chain what one rank has */
    return bytes / CHAIN_BYTES < (size_t) s->ranks ? NC_REDUCE_BINARY : NC_REDUCE_CHAIN_ALL;
}

uint64_t nc_select_chain_fragment(int ranks, uint64_t bytes)
{
    /* a step: two lines, one of which says that a slot is free; a byte: one core's copy. Assumed */
    const struct nc_model_link step = {.alpha = 0.2e-6, .beta = 0.1e-9};
    double segment = nc_model_segment(step, NC_MODEL_CHAIN, ranks, bytes);

    /* whole lines, so that operands stay aligned */
    return segment < NC_FRAG_UNIT ? NC_FRAG_UNIT : (uint64_t) segment / 64 * 64;
}

/* Here, too, the first row that fits decides, and the last row always fits. */
static const struct {
    int ranks; /* at most */
    enum answer inlined, oversubscribed, numa_nodes;
    enum nc_allreduce_version version;
} allreduce[] = {
    /* every rank reduces all, in one phase */
    {2, YES, ANY, ANY, NC_ALLREDUCE_SYMMETRIC},
    {2, NO, ANY, NO, NC_ALLREDUCE_SYMMETRIC},
    {16, YES, YES, ANY, NC_ALLREDUCE_SYMMETRIC},
    {4, YES, NO, NO, NC_ALLREDUCE_SYMMETRIC},
    /* up a binomial tree and down; with NUMA nodes a message crosses once going up and once going
     * down, not between all pairs */
    {INT_MAX, YES, ANY, ANY, NC_ALLREDUCE_RB},
    /* fewer phases than by slices, each of which costs turns of the scheduler */
    {INT_MAX, NO, YES, YES, NC_ALLREDUCE_RB},
    /* every rank reduces one slice; between NUMA nodes crosses as much as with rb */
    {INT_MAX, NO, ANY, ANY, NC_ALLREDUCE_SLICED},
};

enum nc_allreduce_version nc_select_allreduce(const struct nc_situation *s, size_t bytes,
                                              size_t inline_bytes)
{
    size_t i = 0, last = sizeof allreduce / sizeof *allreduce - 1;

    while (i < last &&
           !(s->ranks <= allreduce[i].ranks && fits(allreduce[i].inlined, bytes <= inline_bytes) &&
             fits(allreduce[i].oversubscribed, s->oversubscribed) &&
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
