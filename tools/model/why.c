/* The command why: what the library chooses by itself, and by which rule. Every choice comes from
 * the function that the library asks (core/nc_select.h, core/nc_frag.h). See model.h. */

#include <stdio.h>
#include <string.h>

#include "model.h"
#include "shm/nc_barrier.h"
#include "shm/nc_queue.h"

struct why {
    const struct job *job;
    struct table *table;
    uint64_t bytes;
    uint64_t chunk; /* bytes that are in a node at a time: the message, or a chunk between nodes */
};

/* A row: where, the setting that is `auto`, what is chosen for it, and why. */
static void add(const struct why *w, const char *where, const char *setting, const char *choice,
                const char *rule)
{
    table_text(w->table, where);
    table_text(w->table, setting);
    table_text(w->table, choice);
    table_text(w->table, rule);
}

/* ---- inside a node ---- */

static void add_fragments(const struct why *w, uint64_t bytes)
{
    uint64_t f = job_fragment(w->job, bytes);
    char choice[80], rule[80];

    if (bytes <= NC_INLINE_BYTES) {
        snprintf(rule, sizeof rule, "at most %zu bytes: sent with the notification",
                 (size_t) NC_INLINE_BYTES);
        add(w, "node", "FRAGMENT_RULE", "in the control slot", rule);
        return;
    }
    snprintf(choice, sizeof choice, "%llu fragments of %llu bytes",
             (unsigned long long) nc_frag_count(bytes, f), (unsigned long long) f);
    add(w, "node", "FRAGMENT_RULE", choice,
        job_scatters(w->job)
            ? "half of the message, so that readers copy while the root goes on; at least 4 KiB, "
              "at "
              "most a slot"
            : "a quarter of the message, so that readers copy while the writer does; at least 4 "
              "KiB, at most a slot");
}

static void add_chain_fragments(const struct why *w, uint64_t bytes)
{
    char choice[80];

    snprintf(choice, sizeof choice, "fragments of %llu bytes",
             (unsigned long long) job_chain_fragment(w->job, bytes));
    add(w, "node", "FRAGMENT_RULE", choice,
        "the segment of a chain with the least modelled time, at most a quarter of the message");
}

/* Bytes that a send ring holds. */
static uint64_t ring_bytes(const struct why *w)
{
    return (uint64_t) w->job->geometry.slots * w->job->geometry.slot_bytes;
}

static void add_bcast(const struct why *w, uint64_t bytes)
{
    const struct nc_situation *s = &w->job->situation;
    const char *why;
    enum nc_tree_kind kind = nc_select_notice(s, &why);

    add(w, "node", "BCAST_GROUP", "flat",
        "always: all members of a group copy what its leader has");
    add(w, "node", "BCAST_TREE", job_trees[kind], why);
    add_fragments(w, bytes);
}

static void add_reduce(const struct why *w, uint64_t bytes)
{
    static const char *const ways[] = {[NC_REDUCE_FLAT] = "flat",
                                       [NC_REDUCE_BINOMIAL] = "knomial/2",
                                       [NC_REDUCE_BINARY] = "kary/2",
                                       [NC_REDUCE_CHAIN_ALL] = "chain_all"};
    const struct nc_situation *s = &w->job->situation;
    const char *why;
    enum nc_reduce_way way = nc_select_reduce(s, bytes, bytes <= NC_INLINE_BYTES, &why);

    add(w, "node", "REDUCE_GROUP", ways[way], why);
    if (way == NC_REDUCE_CHAIN_ALL)
        add_chain_fragments(w, bytes);
}

static void add_barrier(const struct why *w)
{
    const char *why;
    enum nc_barrier_kind kind = nc_select_barrier(&w->job->situation, &why);

    add(w, "node", "BARRIER", nc_barrier_algorithms[kind].name, why);
    if (w->job->nodes.count > 1)
        add(w, "nodes", "-", "dissemination", "always: among the leaders of the nodes");
}

static const char *const version_names[NC_ALLREDUCE_VERSIONS] = {
    [NC_ALLREDUCE_SYMMETRIC] = "symmetric",
    [NC_ALLREDUCE_SLICED] = "sliced",
    [NC_ALLREDUCE_RB] = "rb",
    [NC_ALLREDUCE_RAB] = "rab"};

static void add_allreduce(const struct why *w)
{
    const struct nc_situation *s = &w->job->situation;
    const char *why;
    enum nc_allreduce_version rule = nc_select_allreduce(s, w->bytes, w->bytes <= NC_INLINE_BYTES,
                                                         true, &why),
                              made = nc_select_possible(rule, job_rows(w->job) > 0, true);

    if (w->job->nodes.count > 1) {
        add(w, "nodes", "ALLREDUCE_VERSION", "rab",
            "several nodes: the leaders of the highest level all combine");
        add_reduce(w, w->chunk);
        add_bcast(w, w->chunk);
        return;
    }
    add(w, "node", "ALLREDUCE_VERSION", version_names[made],
        made == rule ? why
                     : "sliced is not possible, the NUMA nodes have different numbers of ranks");
    if (made == NC_ALLREDUCE_RB) {
        add_reduce(w, w->bytes);
        add_bcast(w, w->bytes < ring_bytes(w) ? w->bytes : ring_bytes(w));
    }
}

/* ---- above the node ---- */

static const char *const algorithm_names[] = {
    [NC_FLAT] = "flat",   [NC_KARY] = "kary", [NC_KNOMIAL] = "knomial",
    [NC_CHAIN] = "chain", [NC_RSG] = "rsg",   [NC_SAG] = "sag",
    [NC_RD] = "rd",       [NC_RSAG] = "rsag", [NC_RING] = "ring"};

static void add_level(const struct why *w, int level, int members, const char *setting,
                      struct nc_group_algorithm by)
{
    struct nc_model_link link = job_link(w->job, level);
    bool degree = by.algorithm == NC_KARY || by.algorithm == NC_KNOMIAL;
    char choice[40], rule[160];

    snprintf(choice, sizeof choice, degree ? "%s/%d" : "%s", algorithm_names[by.algorithm], by.k);
    snprintf(rule, sizeof rule,
             "the least modelled time among %d, with %g us per message and %g ns per byte", members,
             1e6 * link.alpha, 1e9 * link.beta);
    add(w, nc_level_name(w->job->nodes.name[level]), setting, choice, rule);
}

/* The chunk of a message of so many bytes that passes these levels. */
static void add_window(struct why *w, const struct nc_select_level *level, uint64_t bytes)
{
    size_t chunk = nc_select_chunk(level, w->job->nodes.groups.levels, bytes, 1);
    char choice[40];

    w->chunk = bytes < chunk ? bytes : chunk;
    snprintf(choice, sizeof choice, "%zu bytes", chunk);
    add(w, "nodes", "WINDOW", choice, "the least of the best chunks of these levels");
}

/* The chunk where nothing goes down or up a tree between nodes. */
static void add_whole_window(struct why *w, uint64_t bytes)
{
    char choice[40];

    w->chunk = bytes < NC_CHUNK ? bytes : NC_CHUNK;
    snprintf(choice, sizeof choice, "%d bytes", NC_CHUNK);
    add(w, "nodes", "WINDOW", choice, "always: the most that a chunk may have");
}

/* The trees of all levels in one direction, or, `exchanges`, an allreduce on the highest; and the
 * chunk, which goes by the trees. */
static void add_above(struct why *w, const char *setting, bool exchanges)
{
    const struct nc_nodes *nodes = &w->job->nodes;
    struct nc_select_level level[NC_LEVELS + 1];
    int levels = nodes->groups.levels;

    if (nodes->count < 2)
        return;
    for (int l = levels - 1; l >= 0; l--) {
        struct nc_model_link link = job_link(w->job, l);
        int members = nodes->largest[l];

        level[l] = (struct nc_select_level){
            .link = link, .members = members, .by = nc_select_tree(link, members, w->bytes, 1)};
        if (exchanges && l == levels - 1)
            add_level(w, l, members, "ALLREDUCE_GROUP",
                      nc_select_exchange(link, members, w->bytes));
        else
            add_level(w, l, members, setting, level[l].by);
    }
    add_window(w, level, w->bytes);
}

/* ---- all ---- */

static void add_one_way(const struct why *w)
{
    add(w, "node", "-", "one way", "there is nothing to choose");
    add_fragments(w, w->bytes);
}

/* In alltoallv and alltoallw the bytes are those of an average block. */
static void add_alltoall(const struct why *w, bool equal)
{
    int rows = job_rows(w->job), mates = job_mates(w->job);
    const char *why = "blocks with lengths of their own, of which a rank knows its own ones only";
    bool by_rows = equal && nc_select_alltoall_rows(rows, mates, w->bytes, &why);

    if (w->job->nodes.count > 1)
        add(w, "nodes", "-", "a message for each pair of ranks",
            "always: blocks go from rank to rank");
    add(w, "node", "-", by_rows ? "by rows" : "each block by itself", why);
    add_fragments(w, by_rows ? (uint64_t) mates * w->bytes : w->bytes);
}

/* Between nodes the vector goes to parts, one for each node. */
static void add_parts(struct why *w, uint64_t vector)
{
    const struct nc_nodes *nodes = &w->job->nodes;
    int top = nodes->groups.levels - 1;
    enum nc_algorithm by = nc_select_parts(job_link(w->job, top), nodes->count,
                                           vector < NC_CHUNK ? vector : NC_CHUNK);

    add_level(w, top, nodes->count, "ALLREDUCE_GROUP", (struct nc_group_algorithm){by, 0});
    add_whole_window(w, vector);
}

static void add_reduce_scatter(struct why *w)
{
    uint64_t vector = w->bytes * (uint64_t) w->job->cluster.locations.ranks;
    const char *why;
    bool by_rows = nc_select_reduce_scatter_rows(job_rows(w->job), job_mates(w->job), &why);

    if (vector == 0) {
        add(w, "-", "-", "nothing", "no elements: nobody waits for anybody");
    } else if (w->job->nodes.count == 1) {
        add(w, "node", "-", by_rows ? "by rows" : "each rank its own block", why);
        add_fragments(w, vector < ring_bytes(w) ? vector : ring_bytes(w));
    } else if (!job_has_room_for_blocks(w->job)) {
        add(w, "nodes", "-", "reduced to rank 0, which scatters it",
            "so many ranks that a chunk has no room for a number of each block");
    } else {
        add_parts(w, vector);
        add_reduce(w, w->chunk);
        add(w, "node", "-", "scatter", "always: the leader gives each rank its piece of a chunk");
    }
}

static void add_scan_inside(const struct why *w, uint64_t bytes, bool exclusive)
{
    const struct nc_situation *s = &w->job->situation;
    const char *why;
    enum nc_scan_way way = nc_select_scan(s, bytes, bytes <= NC_INLINE_BYTES, &why);
    char choice[80];

    if (s->ranks == 1) {
        add(w, "node", "-", "nothing", "one rank");
    } else if (way == NC_SCAN_CHAIN) {
        add(w, "node", "-", "chain", why);
        add_chain_fragments(w, bytes);
    } else {
        struct nc_scan_plan plan = job_scan(w->job, exclusive, 0);
        snprintf(choice, sizeof choice, "steps: %d up, %d across, %d down", plan.up, plan.across,
                 plan.down);
        add(w, "node", "-", choice, why);
        snprintf(choice, sizeof choice, "radix %d", nc_select_scan_radix(s, &why));
        add(w, "node", "-", choice, why);
    }
}

static void add_scan(struct why *w, bool exclusive)
{
    const struct nc_nodes *nodes = &w->job->nodes;
    uint64_t chunks = nc_frag_count(w->bytes, NC_CHUNK);

    if (nodes->count > 1 && !nodes->consecutive) {
        add(w, "nodes", "-", "doubling, of all ranks",
            "the ranks of a node do not follow each other, and all are combined in their order");
        return;
    }
    if (nodes->count > 1) {
        const char *why;
        bool chain = nc_select_scan_nodes(nodes->count, chunks, &why) == NC_SCAN_CHAIN;
        add(w, "nodes", "-", chain ? "chain" : "doubling", why);
        add_whole_window(w, w->bytes);
    }
    add_scan_inside(w, w->chunk, exclusive);
}

static void add_choices(struct why *w, enum collective collective)
{
    switch (collective) {
        case BCAST:
            add_above(w, "BCAST_GROUP", false);
            add_bcast(w, w->chunk);
            break;
        case REDUCE:
            add_above(w, "REDUCE_GROUP", false);
            add_reduce(w, w->chunk);
            break;
        case ALLREDUCE:
            add_above(w, "REDUCE_GROUP, BCAST_GROUP", true);
            add_allreduce(w);
            break;
        case ALLTOALL:
        case ALLTOALLV:
        case ALLTOALLW:
            add_alltoall(w, collective == ALLTOALL);
            break;
        case REDUCE_SCATTER:
        case REDUCE_SCATTER_BLOCK:
            add_reduce_scatter(w);
            break;
        case SCAN:
        case EXSCAN:
            add_scan(w, collective == EXSCAN);
            break;
        case BARRIERS:
            add_barrier(w);
            break;
        default:
            add_one_way(w);
    }
}

void why_fill(const struct options *o, struct table *t)
{
    struct job job;
    struct why w = {.job = &job, .table = t, .bytes = o->message, .chunk = o->message};

    job_make(&job, o);
    table_fact(t, "collective", "%s", collective_names[o->collective]);
    if (o->collective != BARRIERS)
        table_fact_number(t, "bytes", (double) o->message);
    job_describe(&job, t);
    table_column(t, "where", false);
    table_column(t, "setting", false);
    table_column(t, "choice", false);
    table_column(t, "rule", false);
    add_choices(&w, o->collective);
}
