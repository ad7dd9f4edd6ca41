/* Counts how often each barrier crosses NUMA nodes on a simulated machine: 2 packages of 2 NUMA
 * nodes of 32 cores, 128 ranks, three mappings. Nothing is timed: the code of shm/, built with
 * NC_ATOMIC_OBSERVED, calls nc_observe_load and nc_observe_store, which count. Run as
 * bin/crossings, without arguments; TAP on standard output; PROTOCOLS.md, section 8.6, has the
 * table it prints.
 *
 * A crossing is a load that is the first of its rank to see what a rank of another NUMA node has
 * written. (A store may have to fetch its line too; that is not counted, as no rank waits for it.)
 * The longest chain of a barrier is the largest number of crossings of which each waits for the one
 * before: each store carries the depth of the chain behind its writer.
 *
 * The ranks are coroutines of one thread, so that a store and its record are one step. A rank that
 * waits switches to a random rank that has not finished the barrier. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "shm/nc_barrier.h"
#include "shm/nc_copy.h"
#include "../tap.h"

enum {
    RANKS = 128,
    CORES = 32,
    LEVELS = 2,
    BARRIERS = 5,
    FLAG = NC_BARRIER_KINDS,
    VARIANTS,
    HIERARCHICAL = NC_BARRIER_HIERARCHICAL,
    STACK = 64 * 1024
};

enum mapping { BY_CORE, BY_NUMA, BY_PACKAGE, MAPPINGS };

static const char *const mapping_name[MAPPINGS] = {"core", "numa", "package"};

/* The core a rank is bound to. */
static int core_of(enum mapping mapping, int rank)
{
    switch (mapping) {
        case BY_CORE:
            return rank;
        case BY_NUMA:
            return rank % 4 * CORES + rank / 4;
        default:
            return rank % 2 * 2 * CORES + rank / 2;
    }
}

/* ---- the record ---- */

/* The record of a line of NC_LINE bytes. */
struct line {
    int writer, depth; /* the rank that wrote it last; crossings in the longest chain before that */
    uint32_t times;    /* how often it has been written */
};

enum { ROW = RANKS * (RANKS + 2), LINES = ROW + RANKS };

static char areas[LINES * NC_LINE] __attribute__((aligned(NC_LINE)));
static struct line line[LINES];
static uint32_t seen[RANKS][LINES];     /* `times` of a line when the rank read it last */
static int depth[RANKS], crossings, me; /* chain of each rank; all crossings; the running rank */
static int numa_of[RANKS];

static size_t line_of(const struct nc_atomic *a)
{
    return (size_t) ((const char *) a - areas) / NC_LINE;
}

void nc_observe_load(const struct nc_atomic *a)
{
    size_t i = line_of(a);
    int far = numa_of[line[i].writer] != numa_of[me];

    if (seen[me][i] == line[i].times)
        return;
    seen[me][i] = line[i].times;
    crossings += far;
    if (depth[me] < line[i].depth + far)
        depth[me] = line[i].depth + far;
}

void nc_observe_store(const struct nc_atomic *a)
{
    struct line *l = &line[line_of(a)];

    l->writer = me;
    l->depth = depth[me];
    l->times++;
    seen[me][line_of(a)] = l->times;
}

void nc_observe_demote(const void *line)
{
    (void) line;
}

/* No barrier copies anything. */
bool nc_observe_copy(void *to, const void *from, size_t bytes)
{
    (void) to;
    (void) from;
    (void) bytes;
    abort();
}

/* ---- ranks ---- */

static char *area[RANKS];
static struct nc_barrier barrier[RANKS];
static void *private_memory[RANKS];
static struct nc_waiter waiter[RANKS];
static nc_barrier_function function;
static uint64_t n;
static int failed;

static ucontext_t scheduler, context[RANKS];
static char stack[RANKS][STACK];
static int waiting[RANKS], left; /* the ranks that have not finished: waiting[0 .. left - 1] */

/* The wait loop calls it: switches to another rank. */
static int give_way(void *unused)
{
    (void) unused;
    swapcontext(&context[me], &scheduler);
    return 0;
}

static void rank_main(void)
{
    failed += function(&barrier[me], n) != 0;
    for (int i = 0; i < left; i++) {
        if (waiting[i] == me) {
            waiting[i] = waiting[--left];
            break;
        }
    }
}

/* One barrier. A rank enters it when it is chosen for the first time. */
static void run_barrier(void)
{
    n++;
    crossings = 0;
    memset(depth, 0, sizeof depth);
    for (int i = 0; i < LINES; i++)
        line[i].depth = 0;
    for (int r = 0; r < RANKS; r++) {
        getcontext(&context[r]);
        context[r].uc_stack.ss_sp = stack[r];
        context[r].uc_stack.ss_size = STACK;
        context[r].uc_link = &scheduler;
        makecontext(&context[r], rank_main, 0);
        waiting[r] = r;
    }
    for (left = RANKS; left > 0;) {
        me = waiting[rand() % left];
        swapcontext(&scheduler, &context[me]);
    }
}

/* ---- the machine ---- */

struct machine {
    struct nc_groups groups;
    void *topo_memory, *memory;
};

static void make_machine(struct machine *m, enum mapping mapping)
{
    static int unit[RANKS][NC_LEVEL_NODE + 1];
    struct nc_locations locations = {.ranks = RANKS, .columns = NC_LEVEL_NODE + 1, .unit = unit[0]};
    struct nc_topo topo;

    for (int r = 0; r < RANKS; r++) {
        numa_of[r] = core_of(mapping, r) / CORES;
        unit[r][NC_LEVEL_NUMA] = numa_of[r];
        unit[r][NC_LEVEL_PACKAGE] = numa_of[r] / 2;
    }
    m->topo_memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&topo, m->topo_memory, &locations,
                 nc_route_signals_by(NC_LEVELS_ALL) & ~(1u << NC_LEVEL_NODE));
    m->memory = malloc(nc_groups_bytes(&topo));
    nc_groups_make(&m->groups, m->memory, &topo);
}

static const struct nc_tree_spec inside[LEVELS] = {{NC_TREE_KARY, 2}, {NC_TREE_FLAT, 2}};

static void make_barriers(int variant, const struct machine *m)
{
    const struct nc_barrier_algorithm *a =
        &nc_barrier_algorithms[variant == FLAG ? HIERARCHICAL : variant];
    struct nc_barrier_levels levels = {
        .groups = &m->groups, .inside = inside, .flag = variant == FLAG};

    function = a->function;
    for (int r = 0; r < RANKS; r++) {
        area[r] = areas + (size_t) r * nc_flags_bytes(RANKS);
        waiter[r] = (struct nc_waiter){.progress = give_way, .yield = true};
        barrier[r] = (struct nc_barrier){.region = area,
                                         .row = areas + ROW * NC_LINE,
                                         .rank = r,
                                         .ranks = RANKS,
                                         .waiter = &waiter[r]};
        private_memory[r] = malloc(nc_barrier_private_bytes(RANKS));
        nc_barrier_shape(&barrier[r], private_memory[r], a, &levels);
    }
}

/* ---- the table ---- */

struct cost {
    int total, chain;
};

static struct cost cost[MAPPINGS][VARIANTS];

/* The largest counts of BARRIERS barriers of a variant. A barrier before them is not counted: in it
 * lines are read that were never written. */
static struct cost measure(int variant, const struct machine *m)
{
    struct cost worst = {0, 0};

    make_barriers(variant, m);
    run_barrier();
    for (int i = 0; i < BARRIERS; i++) {
        run_barrier();
        if (worst.total < crossings)
            worst.total = crossings;
        for (int r = 0; r < RANKS; r++) {
            if (worst.chain < depth[r])
                worst.chain = depth[r];
        }
    }
    for (int r = 0; r < RANKS; r++)
        free(private_memory[r]);
    return worst;
}

static void measure_all(void)
{
    for (int mapping = 0; mapping < MAPPINGS; mapping++) {
        struct machine m;

        make_machine(&m, (enum mapping) mapping);
        for (int v = 0; v < VARIANTS; v++)
            cost[mapping][v] = measure(v, &m);
        free(m.topo_memory);
        free(m.memory);
    }
}

static void print_table(void)
{
    printf("# crossings in a barrier of %d ranks: all / in the longest chain\n", RANKS);
    printf("# %-20s", "mapping by");
    for (int m = 0; m < MAPPINGS; m++)
        printf(" %11s", mapping_name[m]);
    for (int v = 0; v < VARIANTS; v++) {
        printf("\n# %-20s", v == FLAG ? "hierarchical, flag" : nc_barrier_algorithms[v].name);
        for (int m = 0; m < MAPPINGS; m++)
            printf("   %4d / %2d", cost[m][v].total, cost[m][v].chain);
    }
    printf("\n");
}

/* ---- what is asserted ---- */

/* Whether no barrier crosses less than `hierarchical`. */
static int is_fewest(enum mapping mapping)
{
    for (int v = 0; v < NC_BARRIER_KINDS; v++) {
        if (cost[mapping][v].total < cost[mapping][HIERARCHICAL].total)
            return 0;
    }
    return 1;
}

int main(void)
{
    srand(1);
    measure_all();
    print_table();
    tap_check(failed == 0, "no barrier failed");
    for (int m = 0; m < MAPPINGS; m++) {
        tap_check(is_fewest((enum mapping) m), "mapping by %s: none crosses less than hierarchical",
                  mapping_name[m]);
        tap_check(cost[m][HIERARCHICAL].chain == 2,
                  "mapping by %s: its longest chain has two crossings", mapping_name[m]);
    }
    tap_check(cost[0][HIERARCHICAL].total == cost[1][HIERARCHICAL].total &&
                  cost[0][HIERARCHICAL].total == cost[2][HIERARCHICAL].total,
              "it crosses as often in each mapping");
    return tap_end();
}
