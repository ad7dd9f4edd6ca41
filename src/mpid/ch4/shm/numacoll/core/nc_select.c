/* The rules for `auto`, as tables. See nc_select.h. */

#include "nc_select.h"

#include <limits.h>

/* What a rule asks. */
struct question {
    const struct nc_situation *situation;
    bool inlined; /* the message is sent inline */
    bool split;   /* the message is so long that its ranks split the work: by a chain, by slices */
};

enum answer { NO, YES, ANY };

struct rule {
    int ranks; /* at most */
    enum answer inlined, oversubscribed, numa_nodes, split;
    int choice;
    const char *text;
};

static bool fits(enum answer wanted, bool is)
{
    return wanted == ANY || (wanted == YES) == is;
}

/* The first row that fits decides; the last row of a table always fits. */
static int choose(const struct rule *rule, const struct question *q, const char **why)
{
    const struct nc_situation *s = q->situation;

    while (!(s->ranks <= rule->ranks && fits(rule->inlined, q->inlined) &&
             fits(rule->oversubscribed, s->oversubscribed) &&
             fits(rule->numa_nodes, s->numa_nodes) && fits(rule->split, q->split)))
        rule++;
    if (why)
        *why = rule->text;
    return rule->choice;
}

/* ---- barriers: doc/measurements.md has the times ---- */

static const struct rule barriers[] = {
    {2, ANY, ANY, ANY, ANY, NC_BARRIER_DISSEMINATION,
     "up to 2 ranks: the two signal each other at the same time"},
    {INT_MAX, ANY, YES, ANY, ANY, NC_BARRIER_CENTRAL,
     "more ranks than processors: each step in which a rank waits costs a turn of the scheduler, "
     "and one counter has the fewest"},
    {INT_MAX, ANY, NO, YES, ANY, NC_BARRIER_HIERARCHICAL,
     "several NUMA nodes: lines cross between them once going up and once going down, the fewest "
     "crossings whatever the mapping of ranks"},
    {16, ANY, NO, NO, ANY, NC_BARRIER_DISSEMINATION, "up to 16 ranks of one NUMA node"},
    {INT_MAX, ANY, ANY, ANY, ANY, NC_BARRIER_COMBINING,
     "more ranks of one NUMA node: the fastest of those that Kurnosov, Tokmasheva 2022 compare on "
     "64 cores"},
};

enum nc_barrier_kind nc_select_barrier(const struct nc_situation *s, const char **why)
{
    return (enum nc_barrier_kind) choose(barriers, &(struct question){.situation = s}, why);
}

/* ---- the notification tree of bcast ---- */

static const struct rule notices[] = {
    {INT_MAX, ANY, YES, ANY, ANY, NC_TREE_FLAT,
     "more ranks than processors: each rank that has to notify others costs a turn of the "
     "scheduler"},
    {INT_MAX, ANY, ANY, ANY, ANY, NC_TREE_KNOMIAL, "a processor for each rank"},
};

enum nc_tree_kind nc_select_notice(const struct nc_situation *s, const char **why)
{
    return (enum nc_tree_kind) choose(notices, &(struct question){.situation = s}, why);
}

/* ---- reduce ---- */

/* Bytes for each rank of the node that a message needs to fill a chain: each fragment passes all
 * ranks, one after the other. */
#define CHAIN_BYTES 4096

static const struct rule reduces[] = {
    {2, ANY, ANY, ANY, ANY, NC_REDUCE_FLAT, "up to 2 ranks"},
    {INT_MAX, ANY, YES, ANY, ANY, NC_REDUCE_FLAT,
     "more ranks than processors: a rank that waits for one that waits for another costs turns of "
     "the scheduler"},
    {INT_MAX, YES, ANY, ANY, ANY, NC_REDUCE_BINOMIAL,
     "inline messages: the fewest steps, and what a rank reads is a line from each child"},
    {INT_MAX, ANY, ANY, ANY, NO, NC_REDUCE_BINARY,
     "less than 4 KiB for each rank, too short to fill a chain"},
    {INT_MAX, ANY, ANY, ANY, ANY, NC_REDUCE_CHAIN_ALL,
     "4 KiB and more for each rank: a leader reads all that its children have, a rank in a chain "
     "what one rank has"},
};

enum nc_reduce_way nc_select_reduce(const struct nc_situation *s, size_t bytes, bool inlined,
                                    const char **why)
{
    struct question q = {
        .situation = s, .inlined = inlined, .split = bytes / CHAIN_BYTES >= (size_t) s->ranks};

    return (enum nc_reduce_way) choose(reduces, &q, why);
}

uint64_t nc_select_chain_fragment(int ranks, uint64_t bytes)
{
    /* a step: two lines, one of which says that a slot is free; a byte: one core's copy. Assumed */
    const struct nc_model_link step = {.alpha = 0.2e-6, .beta = 0.1e-9};
    double segment = nc_model_segment(step, NC_MODEL_CHAIN, ranks, bytes);

    /* whole lines, so that operands stay aligned */
    return segment < NC_FRAG_UNIT ? NC_FRAG_UNIT : (uint64_t) segment / 64 * 64;
}

/* ---- allreduce ---- */

static const struct rule allreduces[] = {
    {2, YES, ANY, ANY, ANY, NC_ALLREDUCE_SYMMETRIC,
     "up to 2 ranks, inline messages: every rank reduces all, in one phase"},
    {2, NO, ANY, NO, ANY, NC_ALLREDUCE_SYMMETRIC,
     "up to 2 ranks of one NUMA node: every rank reduces all, in one phase"},
    {16, YES, YES, ANY, ANY, NC_ALLREDUCE_SYMMETRIC,
     "up to 16 ranks, more than processors, inline messages: every rank reduces all, in one phase"},
    {4, YES, NO, NO, ANY, NC_ALLREDUCE_SYMMETRIC,
     "up to 4 ranks of one NUMA node, inline messages: every rank reduces all, in one phase"},
    {INT_MAX, YES, ANY, ANY, ANY, NC_ALLREDUCE_RB,
     "inline messages: up a binomial tree and down; with NUMA nodes a message crosses once going "
     "up and once going down, not between all pairs"},
    {4, NO, YES, NO, NO, NC_ALLREDUCE_SYMMETRIC,
     "up to 4 ranks of one NUMA node, more than processors, up to 16 KiB: every rank reduces all, "
     "in one phase; each phase costs turns of the scheduler"},
    {INT_MAX, NO, YES, NO, NO, NC_ALLREDUCE_RB,
     "more ranks than processors, up to 64 KiB: fewer ranks wait twice than by slices, and each "
     "wait costs turns of the scheduler"},
    {INT_MAX, NO, YES, YES, ANY, NC_ALLREDUCE_RB,
     "more ranks than processors, several NUMA nodes: fewer phases than by slices, each of which "
     "costs turns of the scheduler"},
    {INT_MAX, ANY, ANY, ANY, ANY, NC_ALLREDUCE_SLICED,
     "messages that are not inline: every rank reduces one slice; between NUMA nodes crosses as "
     "much as with rb"},
};

/* Whether the ranks of one NUMA node that outnumber processors split the work: measured
 * (doc/design-notes.md, Rules of `auto`). If rb is not possible, too many would all do all of it.
 */
static bool is_split(const struct nc_situation *s, size_t bytes, bool in_any_order)
{
    return s->ranks <= 4 ? bytes > 16384 : bytes > 65536 || !in_any_order;
}

enum nc_allreduce_version nc_select_allreduce(const struct nc_situation *s, size_t bytes,
                                              bool inlined, bool in_any_order, const char **why)
{
    struct question q = {
        .situation = s, .inlined = inlined, .split = is_split(s, bytes, in_any_order)};

    return (enum nc_allreduce_version) choose(allreduces, &q, why);
}

enum nc_allreduce_version nc_select_possible(enum nc_allreduce_version version, bool can_be_sliced,
                                             bool in_any_order)
{
    if (version == NC_ALLREDUCE_SLICED && !can_be_sliced)
        version = NC_ALLREDUCE_RB;
    if ((version == NC_ALLREDUCE_RB || version == NC_ALLREDUCE_RAB) && !in_any_order)
        version = NC_ALLREDUCE_SYMMETRIC;
    return version;
}

/* ---- alltoall, reduce_scatter ---- */

/* Why the ranks are no table of several rows of several ranks; NULL: they are one. */
static const char *no_table(int rows, int mates)
{
    if (rows < 1)
        return "the NUMA nodes have different numbers of ranks, and are no rows of a table";
    if (rows < 2)
        return "the ranks are on one NUMA node";
    return mates < 2 ? "each rank is on a NUMA node of its own" : NULL;
}

/* bytes of a message between two rows, at most: longer ones are not faster wherever the rows are */
#define NC_ALLTOALL_MESSAGE 4096

/* Why blocks do not go by rows; NULL: they do. */
static const char *no_rows(int rows, int mates, size_t bytes)
{
    const char *text = no_table(rows, mates);

    if (text)
        return text;
    if (bytes > NC_ALLTOALL_MESSAGE / (size_t) mates)
        return "the blocks of a NUMA node have more than 4 KiB together: longer messages between "
               "NUMA nodes are not faster";
    return bytes > NC_ALLTOALL_ROWS_BYTES / (size_t) rows / (size_t) mates
               ? "the blocks of a rank have more than 16 KiB together, too many to sort"
               : NULL;
}

bool nc_select_alltoall_rows(int rows, int mates, size_t bytes, const char **why)
{
    const char *against = no_rows(rows, mates, bytes);

    if (why)
        *why = against ? against
                       : "several NUMA nodes, short blocks: as many exchanges as a row and a "
                         "column have ranks, and few messages cross between NUMA nodes";
    return !against;
}

bool nc_select_reduce_scatter_rows(int rows, int mates, const char **why)
{
    const char *against = no_table(rows, mates);

    if (why)
        *why = against ? against
                       : "several NUMA nodes with equal numbers of ranks: what a NUMA node has "
                         "combined crosses once";
    return !against;
}

/* ---- above the node ---- */

enum { NC_LEAST_CHUNK = 1024 }; /* bytes: the model never chooses less */

struct nc_group_algorithm nc_select_tree(struct nc_model_link link, int p, size_t bytes,
                                         size_t element)
{
    static const struct nc_group_algorithm trees[NC_MODEL_TREES] = {
        [NC_MODEL_BINOMIAL] = {NC_KNOMIAL, 2},
        [NC_MODEL_CHAIN] = {NC_CHAIN, 2},
        [NC_MODEL_PIPELINED_BINARY] = {NC_KARY, 2}};
    struct nc_model_limits limits = {.element = element,
                                     .lowest = NC_LEAST_CHUNK,
                                     .highest = NC_CHUNK,
                                     .trees = 1u << NC_MODEL_CHAIN |
                                              1u << NC_MODEL_PIPELINED_BINARY};

    return trees[nc_model_choose(link, p, bytes, &limits).tree];
}

struct nc_group_algorithm nc_select_exchange(struct nc_model_link link, int p, size_t bytes)
{
    size_t chunk = bytes < NC_CHUNK ? bytes : NC_CHUNK;
    bool whole = nc_model_doubling(link, p, chunk) <= nc_model_rabenseifner(link, p, chunk);

    return (struct nc_group_algorithm){whole ? NC_RD : NC_RSAG, 2};
}

enum nc_algorithm nc_select_parts(struct nc_model_link link, int p, size_t bytes)
{
    return nc_model_ring(link, p, bytes) < nc_model_halves(link, p, bytes) ? NC_RING : NC_RSAG;
}

/* The best size of a chunk on a level, in bytes. Only chain and the k-ary trees gain from small
 * chunks; for the other algorithms it is the largest size. */
static uint64_t segment_of(const struct nc_select_level *level, size_t bytes)
{
    switch (level->by.algorithm) {
        case NC_CHAIN:
            return (uint64_t) nc_model_segment(level->link, NC_MODEL_CHAIN, level->members, bytes);
        case NC_KARY:
        case NC_BALANCED:
            return (uint64_t) nc_model_segment(level->link, NC_MODEL_PIPELINED_BINARY,
                                               level->members, bytes);
        default:
            return NC_CHUNK;
    }
}

size_t nc_select_chunk(const struct nc_select_level *level, int levels, size_t bytes,
                       size_t element)
{
    uint64_t chunk = NC_CHUNK;

    for (int l = 0; l < levels; l++) {
        uint64_t segment = segment_of(&level[l], bytes);
        chunk = segment < chunk ? segment : chunk;
    }
    return nc_schedule_whole(chunk < NC_LEAST_CHUNK ? NC_LEAST_CHUNK : (size_t) chunk, element);
}

/* ---- scan ---- */

/* In a step a rank reads what some ranks have, along a chain what one has; but a chain has to be
 * filled. */
static const struct rule scans[] = {
    {INT_MAX, YES, ANY, ANY, ANY, NC_SCAN_STEPS,
     "inline messages: there are fewer steps than ranks in a chain"},
    {2, ANY, ANY, ANY, ANY, NC_SCAN_CHAIN, "up to 2 ranks, which are a chain"},
    {INT_MAX, ANY, YES, ANY, NO, NC_SCAN_STEPS,
     "more ranks than processors, at most 4 KiB for each rank: each rank of a chain costs a turn "
     "of the scheduler"},
    {INT_MAX, ANY, ANY, YES, NO, NC_SCAN_STEPS,
     "several NUMA nodes, at most 16 KiB: too short to fill a chain, which crosses at each of "
     "them"},
    {INT_MAX, ANY, ANY, ANY, NO, NC_SCAN_STEPS, "at most 8 KiB, too short to fill a chain"},
    {INT_MAX, ANY, ANY, ANY, ANY, NC_SCAN_CHAIN,
     "long enough to fill a chain, in which a rank reads what one rank has"},
};

enum nc_scan_way nc_select_scan(const struct nc_situation *s, size_t bytes, bool inlined,
                                const char **why)
{
    size_t unfilled = s->oversubscribed ? CHAIN_BYTES * (size_t) s->ranks
                      : s->numa_nodes   ? 4 * NC_FRAG_UNIT
                                        : 2 * NC_FRAG_UNIT;
    struct question q = {.situation = s, .inlined = inlined, .split = bytes > unfilled};

    return (enum nc_scan_way) choose(scans, &q, why);
}

static const struct rule radixes[] = {
    {INT_MAX, ANY, YES, ANY, ANY, 16,
     "more ranks than processors: a rank that waits for one that waits for another costs turns of "
     "the scheduler"},
    {INT_MAX, ANY, ANY, ANY, ANY, 4,
     "a processor for each rank: a step costs an operation, and a line that is read side by side "
     "with another one less"},
};

int nc_select_scan_radix(const struct nc_situation *s, const char **why)
{
    return choose(radixes, &(struct question){.situation = s}, why);
}

enum nc_scan_way nc_select_scan_nodes(int nodes, uint64_t chunks, const char **why)
{
    bool chain = chunks >= (uint64_t) nodes;

    if (why)
        *why = chain ? "at least as many chunks as nodes: along a chain a leader sends each chunk "
                       "once, and not in each round"
                     : "fewer chunks than nodes, too few to fill a chain of the nodes";
    return chain ? NC_SCAN_CHAIN : NC_SCAN_STEPS;
}

/* ---- caches ---- */

size_t nc_select_cache_share(size_t cache_bytes, int processors, int ranks)
{
    size_t believed = (size_t) processors * (4 << 20);

    if (processors > 0 && cache_bytes > believed)
        cache_bytes = believed;
    return cache_bytes / (size_t) (ranks > 0 ? ranks : 1);
}

size_t nc_select_demotes_most(const struct nc_situation *s, int l2_ranks)
{
    /* who reads it next may run on the processor that has written it, or beside it under the same
     * cache */
    return s->oversubscribed || l2_ranks > 1 ? 0 : NC_DEMOTES_MOST;
}
