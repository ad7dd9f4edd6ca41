/* The algorithms that the simulated machine runs. See algorithms.h. Bcast, Reduce and barriers are
 * one function of shm/ each; the others are put together as their files in coll/ do it. */
#define _GNU_SOURCE
#include "algorithms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/nc_level_spec.h"
#include "core/nc_select.h"
#include "shm/nc_barrier.h"
#include "shm/nc_bcast.h"
#include "shm/nc_exchange.h"
#include "shm/nc_gather.h"
#include "shm/nc_reduce.h"
#include "shm/nc_scatter.h"

const char *const sim_collective_names[] = {"bcast",     "reduce",   "allreduce",
                                            "allgather", "alltoall", "reduce_scatter",
                                            "scan",      "exscan",   "barrier"};

enum {
    NODE = 0,
    NUMA = 1 << NC_LEVEL_NUMA,
    PACKAGE = NUMA | 1 << NC_LEVEL_PACKAGE,
    ROUNDS = 3,
    OTHER = NC_REDUCE_CHAIN_ALL + 1, /* ways of Reduce that no rule chooses */
    RSG,
    SAG = 1,      /* a way of Bcast that the library does not have inside a node */
    GATHERED = 1, /* a way of Allgather that it does not have */
    PAIRS = 0,    /* ways of Alltoall and Reduce_scatter */
    ROWS = 1,
    RADIX = 16,  /* ways of a scan that no rule chooses: the radix is so much less */
    L2 = 1 << 20 /* bytes: of a core */
};

#define SCANS(collective) \
    {collective, "steps", NUMA, NULL, NULL, NC_SCAN_STEPS, false}, \
        {collective, "chain", NUMA, NULL, NULL, NC_SCAN_CHAIN, false}, \
        {collective, "steps of 2", NUMA, NULL, NULL, RADIX + 2, false}, \
        {collective, "steps of 3", NUMA, NULL, NULL, RADIX + 3, false}, \
        {collective, "steps of 8", NUMA, NULL, NULL, RADIX + 8, false}, \
        {collective, "steps of 16", NUMA, NULL, NULL, RADIX + 16, false}, \
        {collective, "steps of 2, node", NODE, NULL, NULL, RADIX + 2, false}, \
    { \
        collective, "steps of 4, node", NODE, NULL, NULL, RADIX + 4, false \
    }

const struct sim_algorithm sim_algorithms[] = {
    {SIM_BCAST, "flat, notice knomial/8", NUMA, "flat", "knomial/8", 0, false},
    {SIM_BCAST, "flat, notice flat", NUMA, "flat", "flat", 0, false},
    {SIM_BCAST, "flat, notice kary/2", NUMA, "flat", "kary/2", 0, false},
    {SIM_BCAST, "flat, notice chain", NUMA, "flat", "chain", 0, false},
    {SIM_BCAST, "flat, node", NODE, "flat", "knomial/8", 0, false},
    {SIM_BCAST, "flat, package", PACKAGE, "flat", "knomial/8", 0, false},
    {SIM_BCAST, "kary/2", NUMA, "kary/2", NULL, 0, false},
    {SIM_BCAST, "chain", NUMA, "chain", NULL, 0, false},
    {SIM_BCAST, "knomial/2", NUMA, "knomial/2", NULL, 0, false},
    {SIM_BCAST, "scatter, allgather", NUMA, "flat", NULL, SAG, false},
    {SIM_REDUCE, "flat", NUMA, "flat", NULL, NC_REDUCE_FLAT, false},
    {SIM_REDUCE, "kary/2", NUMA, "kary/2", NULL, NC_REDUCE_BINARY, false},
    {SIM_REDUCE, "chain_all", NUMA, "chain", NULL, NC_REDUCE_CHAIN_ALL, false},
    {SIM_REDUCE, "flat, node", NODE, "flat", NULL, OTHER, false},
    {SIM_REDUCE, "flat, package", PACKAGE, "flat", NULL, OTHER, false},
    {SIM_REDUCE, "chain", NUMA, "chain", NULL, OTHER, false},
    {SIM_REDUCE, "knomial/2", NUMA, "knomial/2", NULL, NC_REDUCE_BINOMIAL, false},
    {SIM_REDUCE, "rsg", NUMA, "flat", NULL, RSG, false},
    {SIM_ALLREDUCE, "symmetric", NUMA, "flat", NULL, NC_ALLREDUCE_SYMMETRIC, false},
    {SIM_ALLREDUCE, "sliced", NUMA, "flat", NULL, NC_ALLREDUCE_SLICED, false},
    {SIM_ALLREDUCE, "rb", NUMA, NULL, "knomial/8", NC_ALLREDUCE_RB, false},
    {SIM_ALLGATHER, "each from each", NUMA, "flat", "knomial/8", 0, false},
    {SIM_ALLGATHER, "gather, bcast", NUMA, "flat", "knomial/8", GATHERED, false},
    {SIM_ALLTOALL, "pairs", NUMA, NULL, NULL, PAIRS, false},
    {SIM_ALLTOALL, "rows", NUMA, NULL, NULL, ROWS, false},
    {SIM_REDUCE_SCATTER, "each from each", NUMA, NULL, NULL, PAIRS, false},
    {SIM_REDUCE_SCATTER, "rows", NUMA, NULL, NULL, ROWS, false},
    SCANS(SIM_SCAN),
    SCANS(SIM_EXSCAN),
    {SIM_BARRIER, "central", NUMA, NULL, NULL, NC_BARRIER_CENTRAL, false},
    {SIM_BARRIER, "flat", NUMA, NULL, NULL, NC_BARRIER_FLAT, false},
    {SIM_BARRIER, "flat_gr", NUMA, NULL, NULL, NC_BARRIER_FLAT_GR, false},
    {SIM_BARRIER, "combining", NUMA, NULL, NULL, NC_BARRIER_COMBINING, false},
    {SIM_BARRIER, "mcs", NUMA, NULL, NULL, NC_BARRIER_MCS, false},
    {SIM_BARRIER, "tournament", NUMA, NULL, NULL, NC_BARRIER_TOURNAMENT, false},
    {SIM_BARRIER, "dissemination", NUMA, NULL, NULL, NC_BARRIER_DISSEMINATION, false},
    {SIM_BARRIER, "hierarchical", NUMA, "kary/2,flat", NULL, NC_BARRIER_HIERARCHICAL, false},
    {SIM_BARRIER, "hierarchical, package", PACKAGE, "kary/2,flat", NULL, NC_BARRIER_HIERARCHICAL,
     false},
    {SIM_BARRIER, "hierarchical, flag", NUMA, "kary/2,flat", NULL, NC_BARRIER_HIERARCHICAL, true},
    {0, NULL, 0, NULL, NULL, 0, false}};

/* What all ranks have in common. */
struct job {
    const struct sim_setting *setting;
    const struct sim_algorithm *algorithm;
    struct nc_geometry geometry;
    struct sim_memory memory;
    char **region, *row;
    struct nc_groups groups, one_group;
    struct nc_tree_spec inside[NC_ROUTE_LEVELS], up[NC_ROUTE_LEVELS]; /* up: of reduces */
    struct rank *rank;
};

struct rank {
    struct job *job;
    int me;
    struct nc_queue queue;
    struct nc_waiter waiter;
    struct nc_transfer transfer;
    struct nc_route bcast;
    struct nc_route reduce;
    struct nc_traffic traffic;
    struct nc_barrier barrier;
    uint64_t barriers;
    struct nc_team row, column;
    struct nc_scan_plan scan;
    struct nc_stream *stream;
    size_t *sent;
    double *mine, *result, *total; /* total: of scans */
};

/* ---- set-up ---- */

static void *memory_of(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void make_groups(struct job *job)
{
    enum { COLUMNS = NC_LEVEL_NODE + 1 };
    const struct sim_setting *s = job->setting;
    struct nc_locations locations = {.ranks = s->ranks, .columns = COLUMNS};
    int *unit = malloc((size_t) s->ranks * COLUMNS * sizeof *unit);
    struct nc_topo topo;

    for (int r = 0; r < s->ranks; r++) {
        int numa = sim_numa(&s->machine, s->by_node, r);
        for (int l = 0; l < COLUMNS; l++)
            unit[r * COLUMNS + l] = l == NC_LEVEL_NODE ? 0 : -1;
        unit[r * COLUMNS + NC_LEVEL_NUMA] = numa;
        unit[r * COLUMNS + NC_LEVEL_PACKAGE] = numa / s->machine.numa_nodes;
    }
    locations.unit = unit;
    nc_topo_make(&topo, malloc(nc_topo_bytes(&locations)), &locations, job->algorithm->levels);
    nc_groups_make(&job->groups, malloc(nc_groups_bytes(&topo)), &topo);
    nc_groups_make_one(&job->one_group, malloc(nc_groups_most_bytes(s->ranks, 1)), &job->groups);
}

static struct nc_tree_spec tree_of(const char *word)
{
    static const enum nc_tree_kind kind[] = {NC_TREE_FLAT, NC_TREE_KARY, NC_TREE_KNOMIAL,
                                             NC_TREE_CHAIN};
    struct nc_level_spec spec;
    char text[80];

    snprintf(text, sizeof text, "*:%s", word ? word : "flat");
    if (!nc_level_spec_parse(&spec, text, "flat kary/ knomial/ chain"))
        abort();
    return (struct nc_tree_spec){kind[spec.algorithm[NC_LEVEL_NUMA]], spec.degree[NC_LEVEL_NUMA]};
}

/* Reads the trees of an algorithm: words with commas between, the last one for all levels above. */
static void read_trees(struct job *job)
{
    char list[80], *left = list, *word = NULL;

    snprintf(list, sizeof list, "%s", job->algorithm->trees ? job->algorithm->trees : "flat");
    for (int l = 0; l < NC_ROUTE_LEVELS; l++) {
        char *next = strsep(&left, ",");
        word = next ? next : word;
        job->inside[l] = job->up[l] = tree_of(word);
        if (job->algorithm->collective == SIM_ALLREDUCE)
            job->up[l] = tree_of(job->setting->bytes > NC_INLINE_BYTES ? "kary/2" : "knomial/2");
    }
}

static void make_teams(struct rank *r)
{
    struct nc_group near = nc_group_at(&r->job->groups, 0, r->me, 0);
    int *column = malloc((size_t) r->job->setting->ranks * sizeof *column);

    r->row = (struct nc_team){.rank = near.member, .size = near.size, .index = near.index};
    r->column = (struct nc_team){.rank = column,
                                 .size = nc_groups_column(&r->job->groups, r->me, column),
                                 .index = near.number};
}

static struct nc_transfer transfer_of(struct rank *r)
{
    size_t ranks = (size_t) r->job->setting->ranks;

    return (struct nc_transfer){.queue = &r->queue,
                                .rule = NC_FRAG_QUARTER,
                                .largest_fragment = r->job->geometry.slot_bytes,
                                .streams_above = SIZE_MAX,
                                .paces_above = SIZE_MAX,
                                .pace = calloc(ranks, sizeof(struct nc_pace)),
                                .numa = calloc(ranks, sizeof(int)),
                                .traffic = &r->traffic,
                                .flow = calloc(ranks, sizeof(struct nc_flow)),
                                .joint = NULL,
                                .awaited = calloc(2 * ranks, sizeof(struct nc_awaited))};
}

static bool along_all(const struct job *job)
{
    return job->algorithm->collective == SIM_REDUCE &&
           job->algorithm->version == NC_REDUCE_CHAIN_ALL;
}

static void make_scan(struct rank *r)
{
    const struct job *job = r->job;
    struct nc_situation situation = {.ranks = job->setting->ranks};
    int radix = job->algorithm->version > RADIX ? job->algorithm->version - RADIX
                                                : nc_select_scan_radix(&situation, NULL);

    nc_scan_make(&r->scan, malloc(nc_scan_bytes(situation.ranks, radix)), job->groups.of[0],
                 situation.ranks, radix, job->algorithm->collective == SIM_EXSCAN, r->me);
}

static void make_rank(struct rank *r)
{
    struct job *job = r->job;
    int ranks = job->setting->ranks;
    size_t bytes = nc_route_bytes(ranks, job->groups.levels);
    const struct nc_tree_spec notice = tree_of(job->algorithm->notice);
    const struct nc_barrier_algorithm *a = &nc_barrier_algorithms[job->algorithm->version];
    struct nc_barrier_levels levels = {
        .groups = &job->groups, .inside = job->inside, .flag = job->algorithm->flag};

    r->waiter = (struct nc_waiter){.progress = sim_wait, .yield = true, .spins = 1};
    nc_queue_init(&r->queue, job->region, &job->geometry, r->me,
                  malloc(nc_queue_private_bytes(&job->geometry)), &r->waiter);
    r->transfer = transfer_of(r);
    nc_route_make(&r->bcast, malloc(bytes), &job->groups, job->inside, &notice, r->me);
    nc_route_make(&r->reduce, malloc(bytes), along_all(job) ? &job->one_group : &job->groups,
                  job->up, NULL, r->me);
    make_teams(r);
    make_scan(r);
    r->stream = calloc((size_t) ranks, sizeof *r->stream);
    r->sent = calloc((size_t) ranks, sizeof *r->sent);
    r->mine = (double *) (void *) (job->memory.user + (size_t) r->me * job->memory.user_bytes);
    r->result = r->mine + job->memory.user_bytes / 3 / sizeof(double);
    r->total = r->result + job->memory.user_bytes / 3 / sizeof(double);
    r->barrier = (struct nc_barrier){.region = job->region,
                                     .offset = nc_layout_make(&job->geometry).flags,
                                     .row = job->row,
                                     .rank = r->me,
                                     .ranks = ranks,
                                     .waiter = &r->waiter};
    if (job->algorithm->collective == SIM_BARRIER)
        nc_barrier_shape(&r->barrier, malloc(nc_barrier_private_bytes(ranks)), a, &levels);
}

static void make_job(struct job *job)
{
    const struct sim_setting *s = job->setting;
    size_t ranks = (size_t) s->ranks, page = 4096;
    enum sim_collective c = job->algorithm->collective;
    size_t blocks = c >= SIM_ALLGATHER && c <= SIM_REDUCE_SCATTER ? ranks : 1;

    job->geometry = nc_geometry_make((uint32_t) s->ranks, 0, -1, 4, L2, (uint32_t) page);
    job->memory.shared_bytes = nc_layout_make(&job->geometry).region;
    job->memory.shared = memory_of(ranks * job->memory.shared_bytes);
    job->memory.user_bytes = 3 * ((blocks * s->bytes + 4 * page) / page * page);
    job->memory.user = memory_of(ranks * job->memory.user_bytes);
    job->region = malloc(ranks * sizeof *job->region);
    for (size_t r = 0; r < ranks; r++)
        job->region[r] = job->memory.shared + r * job->memory.shared_bytes;
    job->row = memory_of(ranks * NC_LINE);
    make_groups(job);
    read_trees(job);
    job->rank = calloc(ranks, sizeof *job->rank);
    for (int r = 0; r < s->ranks; r++) {
        job->rank[r].job = job;
        job->rank[r].me = r;
        make_rank(&job->rank[r]);
    }
}

/* ---- the collectives ---- */

static struct nc_op_kernel kernel_of(const double *mine, double *result)
{
    return (struct nc_op_kernel){.element = sizeof(double),
                                 .numbers = sim_combine,
                                 .mine = (const char *) mine,
                                 .result = (char *) result};
}

static struct nc_stream stream_of(const double *first, size_t n)
{
    return (struct nc_stream){.bytes = (char *) first, .length = n * sizeof(double)};
}

static size_t elements_of(const struct rank *r)
{
    return r->job->setting->bytes / sizeof(double);
}

static void bcast_from(struct rank *r, int root, double *data, size_t n)
{
    struct nc_stream stream = stream_of(data, n);
    size_t sent;

    nc_bcast_node(&r->transfer, &r->bcast, root, &stream, &sent);
}

static void bcast(struct rank *r, double *data, size_t n)
{
    bcast_from(r, 0, data, n);
}

/* As reduce_up and reduce_along_all of coll/reduce.c. */
static void reduce(struct rank *r, size_t first, size_t n)
{
    struct nc_op_kernel kernel = kernel_of(r->mine + first, r->me == 0 ? r->result + first : NULL);
    struct nc_stream mine = stream_of(r->mine + first, n);
    struct nc_transfer transfer = r->transfer;
    bool unequal;

    if (along_all(r->job)) {
        uint64_t f = nc_select_chain_fragment(r->job->setting->ranks, mine.length);
        if (f < transfer.largest_fragment)
            transfer.largest_fragment = (uint32_t) f;
    }
    nc_reduce_tree_node(&transfer, &r->reduce, 0, &kernel, &mine, &unequal);
}

static size_t chunk_elements(const struct rank *r)
{
    return (size_t) r->queue.geometry.slots * r->queue.geometry.slot_bytes / sizeof(double);
}

/* As `combine` of coll/allreduce.c. */
static void combine(struct rank *r, const struct nc_team *team, double *of,
                    const struct nc_range *whole, const struct nc_range *part)
{
    struct nc_range from_there = {.first = part->first - whole->first, .count = part->count};
    struct nc_op_kernel kernel = kernel_of(of + whole->first, r->result + whole->first);
    struct nc_stream mine = stream_of(of + whole->first, whole->count);
    bool unequal;

    nc_reduce_ordered_node(&r->transfer, team, -1, &kernel, &mine, &from_there, &unequal);
}

static void gather_slices(struct rank *r, const struct nc_team *team, const struct nc_range *whole)
{
    struct nc_range mine = nc_range_slice(whole, team, team->index);
    struct nc_stream own = stream_of(r->result + mine.first, mine.count);

    for (int i = 0; i < team->size; i++) {
        struct nc_range slice = nc_range_slice(whole, team, i);
        r->stream[team->rank[i]] = stream_of(r->result + slice.first, slice.count);
    }
    r->stream[r->me].length = 0;
    nc_allgather_team(&r->transfer, team, &own, r->stream, r->sent);
}

/* Each rank combines a part of a chunk: of the slice of its row. */
static void reduce_scatter(struct rank *r, const struct nc_range *chunk,
                           const struct nc_range *slice, const struct nc_range *mine)
{
    if (r->row.size > 1)
        combine(r, &r->row, r->mine, chunk, slice);
    if (r->column.size > 1)
        combine(r, &r->column, r->row.size > 1 ? r->result : r->mine, slice, mine);
}

/* As `slice_chunk` of coll/allreduce.c. */
static void slice_chunk(struct rank *r, const struct nc_range *chunk)
{
    const struct nc_team *row = &r->row, *column = &r->column;
    struct nc_range slice = nc_range_slice(chunk, row, row->index);
    struct nc_range mine = nc_range_slice(&slice, column, column->index);

    reduce_scatter(r, chunk, &slice, &mine);
    if (column->size > 1)
        gather_slices(r, column, &slice);
    if (row->size > 1)
        gather_slices(r, row, chunk);
}

static void allreduce(struct rank *r)
{
    size_t count = r->job->setting->bytes / sizeof(double), most = chunk_elements(r), before = 0;
    struct nc_team everybody = nc_queue_everybody(&r->queue);

    if (r->job->algorithm->version == NC_ALLREDUCE_SYMMETRIC) {
        struct nc_range all = {0, count};
        combine(r, &everybody, r->mine, &all, &all);
        return;
    }
    for (size_t first = 0; first < count; first += most) {
        struct nc_range chunk = {first, count - first < most ? count - first : most};
        if (r->job->algorithm->version == NC_ALLREDUCE_SLICED) {
            slice_chunk(r, &chunk);
            continue;
        }
        reduce(r, first, chunk.count);
        if (first > 0)
            bcast(r, r->result + before, most);
        before = first;
    }
    if (r->job->algorithm->version != NC_ALLREDUCE_SLICED)
        bcast(r, r->result + before, count - before);
}

/* The elements of a chunk that a rank combines. */
static struct nc_range part_of(const struct rank *r, const struct nc_range *chunk, int rank)
{
    struct nc_group near = nc_group_at(&r->job->groups, 0, rank, 0);
    struct nc_range slice = nc_range_slice(chunk, &r->row, near.index);

    return nc_range_slice(&slice, &r->column, near.number);
}

/* What the library does not have: a reduce-scatter by the slices of Allreduce, after which the root
 * gathers the slices. */
static void rsg(struct rank *r, size_t first, size_t n)
{
    size_t most = chunk_elements(r);

    for (size_t end = first + n; first < end; first += most) {
        struct nc_range chunk = {first, end - first < most ? end - first : most},
                        slice = nc_range_slice(&chunk, &r->row, r->row.index),
                        mine = part_of(r, &chunk, r->me);
        struct nc_stream own = stream_of(r->result + mine.first, mine.count);

        reduce_scatter(r, &chunk, &slice, &mine);
        for (int i = 0; i < r->job->setting->ranks; i++) {
            struct nc_range part = part_of(r, &chunk, i);
            r->stream[i] = stream_of(r->result + part.first, part.count);
        }
        nc_gather_node(&r->transfer, 0, r->me ? &own : NULL, r->stream, r->sent);
    }
}

/* What the library does not have inside a node: a scatter of slices, and an allgather of them. */
static void scatter_allgather(struct rank *r)
{
    struct nc_team everybody = nc_queue_everybody(&r->queue);
    struct nc_range all = {.first = 0, .count = elements_of(r)},
                    mine = nc_range_slice(&all, &everybody, r->me);
    struct nc_stream own = stream_of(r->result + mine.first, mine.count);

    for (int i = 0; i < everybody.size; i++) {
        struct nc_range slice = nc_range_slice(&all, &everybody, i);
        r->stream[i] = stream_of(r->mine + slice.first, slice.count);
    }
    nc_scatter_node(&r->transfer, 0, r->stream, r->me ? &own : NULL, r->sent);
    gather_slices(r, &everybody, &all);
}

/* ---- Alltoall: as coll/alltoall.c and coll/alltoall_rows.c ---- */

/* Messages of `n` elements between the ranks of a team: in `number` order in both buffers. */
struct messages {
    double *from, *to;
    const int *number; /* [ranks] the message for a rank, and from it */
    size_t n;
};

static void sent_to(void *context, int rank, struct nc_stream *stream)
{
    const struct messages *m = context;

    *stream = stream_of(m->from + (size_t) m->number[rank] * m->n, m->n);
}

static void received_from(void *context, int rank, struct nc_stream *stream)
{
    const struct messages *m = context;

    *stream = stream_of(m->to + (size_t) m->number[rank] * m->n, m->n);
}

static void exchange(struct rank *r, const struct nc_team *team, struct messages m)
{
    const struct nc_exchange_blocks blocks = {sent_to, received_from, &m};
    size_t own = (size_t) m.number[r->me] * m.n;
    struct nc_exchange x;

    nc_exchange_begin(&x, &r->transfer, team, &blocks);
    nc_copy_bytes(m.to + own, m.from + own, m.n * sizeof(double), 0);
    nc_exchange_end(&x);
}

static void alltoall(struct rank *r)
{
    const struct nc_groups *g = &r->job->groups;
    struct nc_team everybody = nc_queue_everybody(&r->queue);
    size_t n = elements_of(r), rows = (size_t) r->column.size, mates = (size_t) r->row.size;

    if (r->job->algorithm->version != ROWS || rows == 1 || mates == 1) {
        exchange(r, &everybody, (struct messages){r->mine, r->result, everybody.rank, n});
        return;
    }
    exchange(r, &r->row, (struct messages){r->mine, r->total, g->place[0], rows * n});
    for (size_t b = 0; b < rows * mates; b++) /* T2 */
        nc_copy_bytes(r->mine + b * n, r->total + b * n, n * sizeof(double), 0);
    exchange(r, &r->column, (struct messages){r->mine, r->result, g->of[0], mates * n});
}

/* ---- Reduce_scatter: as coll/reduce_scatter.c ---- */

/* The elements `range` of what a team sends, `n` of each rank. kept: n is without this rank's own.
 */
static void combine_range(struct rank *r, const struct nc_team *team, double *from, size_t n,
                          struct nc_range range, double *to, bool kept)
{
    struct nc_op_kernel kernel = kernel_of(kept ? from : NULL, to - range.first);
    struct nc_stream message = stream_of(from, n);
    bool unequal;

    nc_reduce_scatter_node(&r->transfer, team, &kernel, &message, &range, kept, &unequal);
}

static void reduce_piece(struct rank *r, size_t first, size_t n)
{
    struct nc_team everybody = nc_queue_everybody(&r->queue);
    const struct nc_team *row = &r->row, *column = &r->column;
    size_t me = (size_t) r->me, ranks = (size_t) everybody.size;
    size_t columns = (size_t) column->size, index = (size_t) row->index;
    bool keeps = nc_reduce_keeps(ranks * n * sizeof(double));

    if (r->job->algorithm->version != ROWS || columns == 1 || row->size == 1) {
        combine_range(r, &everybody, r->mine, (ranks - keeps) * n, (struct nc_range){me * n, n},
                      r->result + first, keeps);
        return;
    }
    combine_range(r, row, r->mine, ranks * n, (struct nc_range){index * columns * n, columns * n},
                  r->total, false);
    combine_range(r, column, r->total, columns * n,
                  (struct nc_range){(size_t) column->index * n, n}, r->result + first, false);
}

/* Of two ranks, n elements for each. */
static void reduce_in_pair(struct rank *r, size_t n)
{
    struct nc_team pair = nc_queue_everybody(&r->queue);
    struct nc_op_kernel kernel = kernel_of(r->mine, r->result);
    struct nc_stream theirs = stream_of(r->mine, n), own = stream_of(r->mine, n);
    bool unequal;

    nc_reduce_pair_node(&r->transfer, &pair, &kernel, &theirs, &own, &(struct nc_range){0, n},
                        &unequal);
}

static void reduce_scatter_blocks(struct rank *r)
{
    size_t n = elements_of(r), most = chunk_elements(r) / (size_t) r->job->setting->ranks;

    if (r->job->setting->ranks == 2 &&
        nc_reduce_fits_pair(n * sizeof(double), n * sizeof(double))) {
        reduce_in_pair(r, n);
        return;
    }
    for (size_t first = 0; first < n; first += most)
        reduce_piece(r, first, n - first < most ? n - first : most);
}

/* Each block of a NUMA node's ranks that is not inline goes to the other NUMA nodes as part of a
 * row that the leader broadcasts: as share_group of coll/allgather.c. */
static void share_group(struct rank *r, int group)
{
    const struct nc_groups *g = &r->job->groups;
    const int *member = g->member + g->first[group];
    int size = g->first[group + 1] - g->first[group], me = r->me;
    bool takes = g->of[0][me] != group || member[0] == me;

    bcast_from(r, member[0], r->result, takes ? (size_t) size * elements_of(r) : 0);
}

static void allgather(struct rank *r)
{
    int ranks = r->job->setting->ranks;
    size_t m = elements_of(r);
    struct nc_stream own = stream_of(r->mine, m);

    for (int i = 0; i < ranks; i++)
        r->stream[i] = stream_of(r->result + (size_t) i * m, m);
    if (r->job->algorithm->version == GATHERED) {
        nc_gather_node(&r->transfer, 0, r->me ? &own : NULL, r->stream, r->sent);
        bcast(r, r->result, (size_t) ranks * m);
        return;
    }
    nc_allgather_node(&r->transfer, &r->job->groups, &own, r->stream, r->sent);
    for (int group = 0; group < r->job->groups.level[1] && r->job->groups.levels > 1; group++) {
        if (nc_allgather_stays(r->job->setting->bytes))
            share_group(r, group);
    }
}

/* ---- scans: as coll/scan.c ---- */

static void scan_step(struct rank *r, const struct nc_scan_step *step, double *sent, double *own,
                      double *to)
{
    struct nc_op_kernel kernel = kernel_of(own, to);
    struct nc_stream stream = stream_of(sent, elements_of(r));
    bool unequal;

    nc_scan_step_node(&r->transfer, step, &kernel, &stream, &unequal);
}

static void scan_by_steps(struct rank *r, bool exclusive)
{
    const struct nc_scan_plan *plan = &r->scan;
    const struct nc_scan_step *next = plan->step;
    bool has_total = plan->down && plan->is_last;
    size_t bytes = r->job->setting->bytes;

    if (has_total && exclusive)
        nc_copy_bytes(r->total, r->mine, bytes, 0);
    for (int i = 0; i < plan->up; i++) {
        double *from = i == 0 ? r->mine : r->result;
        scan_step(r, next++, from, from, r->result);
    }
    if (has_total && !exclusive)
        nc_copy_bytes(r->total, r->result, bytes, 0);
    else if (has_total && plan->joins)
        sim_combine(r->total, r->result, r->total, elements_of(r));
    for (int i = 0; i < plan->across; i++)
        scan_step(r, next++, r->total, r->total, r->total);
    if (plan->down)
        scan_step(r, next, plan->is_last ? r->total : r->result, r->result, r->result);
}

static void scan(struct rank *r, bool exclusive)
{
    struct nc_op_kernel kernel = kernel_of(r->mine, r->result);
    struct nc_stream mine = stream_of(r->mine, elements_of(r));
    struct nc_transfer transfer = r->transfer;
    uint64_t f = nc_select_chain_fragment(r->job->setting->ranks, mine.length);
    bool unequal;

    if (r->job->algorithm->version != NC_SCAN_CHAIN) {
        scan_by_steps(r, exclusive);
        return;
    }
    if (f < transfer.largest_fragment)
        transfer.largest_fragment = (uint32_t) f;
    nc_scan_chain_node(&transfer, exclusive, &kernel, &mine, &unequal);
}

static void run_rank(void *context, int rank)
{
    struct job *job = context;
    struct rank *r = &job->rank[rank];
    size_t n = job->setting->bytes / sizeof(double);

    switch (job->algorithm->collective) {
        case SIM_BCAST:
            if (job->algorithm->version == SAG)
                scatter_allgather(r);
            else
                bcast(r, r->mine, n);
            break;
        case SIM_REDUCE:
            (job->algorithm->version == RSG ? rsg : reduce)(r, 0, n);
            break;
        case SIM_ALLREDUCE:
            allreduce(r);
            break;
        case SIM_ALLGATHER:
            allgather(r);
            break;
        case SIM_ALLTOALL:
            alltoall(r);
            break;
        case SIM_REDUCE_SCATTER:
            reduce_scatter_blocks(r);
            break;
        case SIM_SCAN:
        case SIM_EXSCAN:
            scan(r, job->algorithm->collective == SIM_EXSCAN);
            break;
        default:
            nc_barrier_algorithms[job->algorithm->version].function(&r->barrier, ++r->barriers);
    }
}

bool sim_algorithm_run(const struct sim_setting *setting, const struct sim_algorithm *algorithm,
                       struct sim_cost *cost)
{
    struct job job = {.setting = setting, .algorithm = algorithm};
    int ends[2];
    bool came;

    fflush(NULL);
    if (pipe(ends))
        return false;
    if (fork() == 0) { /* SimGrid simulates once in a process */
        make_job(&job);
        if (!sim_run(&setting->machine, setting->ranks, setting->by_node, ROUNDS, &job.memory,
                     run_rank, &job, cost))
            _exit(1);
        _exit(write(ends[1], cost, sizeof *cost) != sizeof *cost);
    }
    close(ends[1]);
    came = read(ends[0], cost, sizeof *cost) == sizeof *cost;
    close(ends[0]);
    wait(NULL);
    return came;
}
