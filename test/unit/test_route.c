/* core/nc_route.c: in a call with any root, routes reach every rank once and enter each unit once;
 * the ranks that read a leader's data; and the levels by which data is moved. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_route.h"

enum { LARGEST = 40, COLUMNS = NC_LEVEL_NODE + 1, LEVELS = 4 };

/* Where the ranks are: NUMA nodes of which several may be in a package, and caches in them. */
struct machine {
    int ranks;
    int unit[LARGEST][COLUMNS];
};

/* Every rank's way there. */
struct ways {
    struct nc_groups groups;
    struct nc_topo topo;
    void *topo_memory, *memory[LARGEST];
    struct nc_route route[LARGEST];
};

/* Memory is of the exact sizes: AddressSanitizer sees what goes beyond. */
static void make_ways(struct ways *w, const struct machine *m, const struct nc_tree_spec *inside,
                      const struct nc_tree_spec *notice)
{
    struct nc_locations l = {.ranks = m->ranks, .columns = COLUMNS, .unit = m->unit[0]};
    size_t bytes;

    w->topo_memory = malloc(nc_topo_bytes(&l));
    nc_topo_make(&w->topo, w->topo_memory, &l, NC_LEVELS_ALL);
    nc_groups_make(&w->groups, malloc(nc_groups_bytes(&w->topo)), &w->topo);
    bytes = nc_route_bytes(m->ranks, w->groups.levels);
    for (int rank = 0; rank < m->ranks; rank++) {
        w->memory[rank] = malloc(bytes);
        nc_route_make(&w->route[rank], w->memory[rank], &w->groups, inside, notice, rank);
    }
}

static void free_ways(struct ways *w)
{
    for (int rank = 0; rank < w->groups.ranks; rank++)
        free(w->memory[rank]);
    free(w->groups.of[0]);
    free(w->topo_memory);
}

/* As a call finds it, whose root is now that of the call before and now another one. */
static int parent_of(struct ways *w, int rank, int root)
{
    return nc_route_position(&w->route[rank], root)->parent;
}

static int leader_of(const struct ways *w, int level, int rank)
{
    return w->topo.leader[level][rank];
}

/* The lowest level on which two ranks are in one unit. */
static int level_between(const struct ways *w, int a, int b)
{
    int level = 0;

    while (leader_of(w, level, a) != leader_of(w, level, b))
        level++;
    return level;
}

/* Whether a way leads from the rank to the root in fewer steps than there are ranks. */
static bool leads_to_root(struct ways *w, int rank, int root)
{
    for (int steps = 0; steps < w->groups.ranks && rank != root; steps++)
        rank = parent_of(w, rank, root);
    return rank == root;
}

/* Each child once, it names the rank as its parent, and none is nearer than one after it. */
static void check_children(struct ways *w, int rank, int root, int *met)
{
    struct nc_position p;
    int level = w->groups.levels;

    nc_position_find(&p, &w->route[rank], root);
    for (int i = 0; i < p.children; i++) {
        int child = nc_position_child(&p, i), next;
        assert_in_range(child, 0, w->groups.ranks - 1);
        assert_int_equal(met[child]++, 0);
        assert_int_equal(parent_of(w, child, root), rank);
        next = level_between(w, rank, child);
        assert_true(next <= level);
        level = next;
    }
}

/* Where I lead, I give data to all others of a group that is flat, of any other to my children. */
static void check_led(const struct ways *w, int rank)
{
    const struct nc_route *route = &w->route[rank];
    int met[LARGEST] = {0};

    for (int i = 0; i < route->levels; i++) {
        const struct nc_route_level *l = &route->level[i];
        int end = i + 1 < route->levels ? l[1].below : route->all;

        assert_int_equal(l->tree.size, nc_group_at(&w->groups, l->level, rank, 0).size);
        assert_int_equal(end - l->below, l->flat ? l->tree.size - 1 : l->tree.first[1]);
        for (int k = l->below; k < end; k++) {
            assert_int_equal(met[route->led[k]]++, 0);
            assert_int_equal(level_between(w, rank, route->led[k]), l->level);
            assert_true(l->flat || route->led[k] == l->child[k - l->below]);
        }
    }
}

static void check_root(struct ways *w, int root)
{
    int met[LARGEST] = {0}, entries[LEVELS + 1][LARGEST] = {{0}};

    for (int rank = 0; rank < w->groups.ranks; rank++) {
        int parent = parent_of(w, rank, root);
        assert_int_equal(parent < 0, rank == root);
        check_children(w, rank, root, met);
        assert_true(leads_to_root(w, rank, root));
        for (int l = 0; l < w->topo.levels && parent >= 0; l++)
            entries[l][leader_of(w, l, rank)] += leader_of(w, l, rank) != leader_of(w, l, parent);
    }
    for (int rank = 0; rank < w->groups.ranks; rank++) {
        assert_int_equal(met[rank], rank != root);
        /* a unit is entered once, the root's never */
        for (int l = 0; l < w->topo.levels; l++)
            assert_int_equal(entries[l][leader_of(w, l, rank)],
                             leader_of(w, l, rank) != leader_of(w, l, root));
    }
}

static int most_levels;

/* Another tree on each level; where they are flat, one more that only tells. */
static void check(const struct machine *m, const struct nc_tree_spec *trees, int n)
{
    static const struct nc_tree_spec told = {NC_TREE_KNOMIAL, 3};

    for (int first = 0; first < n; first++) {
        struct nc_tree_spec inside[LEVELS + 1];
        struct ways w;

        for (int l = 0; l <= LEVELS; l++)
            inside[l] = trees[(first + l) % n];
        make_ways(&w, m, inside, first % 2 ? &told : NULL);
        most_levels = w.groups.levels > most_levels ? w.groups.levels : most_levels;
        for (int rank = 0; rank < m->ranks; rank++)
            check_led(&w, rank);
        for (int root = 0; root < m->ranks; root++)
            check_root(&w, root);
        free_ways(&w);
    }
}

/* A rank in a NUMA node, of which so many make a package, with so many caches each; 0: unknown. */
static void put(struct machine *m, int rank, int numa, int packages, int caches, int turn)
{
    int *unit = m->unit[rank];

    unit[NC_LEVEL_L2] = -1;
    unit[NC_LEVEL_L3] = caches ? numa * caches + turn % caches : -1;
    unit[NC_LEVEL_NUMA] = numa;
    unit[NC_LEVEL_PACKAGE] = packages ? numa % packages : -1;
    unit[NC_LEVEL_NODE] = 0;
}

enum { IN_TURN, BLOCKS, GROWING, RANDOM, MAPPINGS };

static int numa_of(int mapping, int rank, int ranks, int nodes, uint64_t *dice)
{
    *dice = *dice * 6364136223846793005u + 1442695040888963407u;
    switch (mapping) {
        case IN_TURN:
            return rank % nodes;
        case BLOCKS:
            return rank * nodes / ranks;
        case GROWING:
            return rank * rank * nodes / ranks / ranks;
        default:
            return (int) ((*dice >> 33) % (uint64_t) nodes);
    }
}

static void every_rank_once(void **state)
{
    static const struct nc_tree_spec trees[] = {
        {NC_TREE_FLAT, 2}, {NC_TREE_KARY, 2},  {NC_TREE_KNOMIAL, 2}, {NC_TREE_FLAT, 2},
        {NC_TREE_KARY, 3}, {NC_TREE_CHAIN, 2}, {NC_TREE_KNOMIAL, 5}, {NC_TREE_BALANCED, 2}};
    struct machine m;

    (void) state;
    for (m.ranks = 1; m.ranks <= LARGEST; m.ranks += m.ranks < 9 ? 1 : 5) {
        uint64_t dice = (uint64_t) m.ranks;
        for (int nodes = 1; nodes <= m.ranks; nodes += nodes < 5 ? 1 : 8) {
            for (int kind = 0; kind < 3 * 3 * MAPPINGS; kind++) {
                for (int rank = 0; rank < m.ranks; rank++)
                    put(&m, rank, numa_of(kind % MAPPINGS, rank, m.ranks, nodes, &dice),
                        kind / MAPPINGS % 3, kind / MAPPINGS / 3, rank / nodes);
                check(&m, trees, sizeof trees / sizeof *trees);
            }
        }
    }
    assert_int_equal(most_levels, LEVELS);
}

/* Lists that were handed out hold ranks of the group also after other trees are made there. */
static void lists_stay(void **state)
{
    static const struct nc_tree_spec chain[] = {{NC_TREE_CHAIN, 2}, {NC_TREE_CHAIN, 2}};
    static const struct nc_tree_spec kary[] = {{NC_TREE_KARY, 2}, {NC_TREE_KARY, 3}};
    struct machine m = {.ranks = 12};
    struct ways w;
    struct nc_route again;

    (void) state;
    for (int rank = 0; rank < m.ranks; rank++)
        put(&m, rank, rank % 3, 0, 0, 0);
    make_ways(&w, &m, chain, NULL);
    nc_route_make(&again, w.memory[0], &w.groups, kary, NULL, 0);
    assert_ptr_equal(again.led, w.route[0].led);
    for (int l = 0; l < again.levels; l++)
        assert_ptr_equal(again.level[l].child, w.route[0].level[l].child);
    free_ways(&w);
}

/* Caches only where they are named. */
static void levels_of_data(void **state)
{
    const unsigned usual = 1u << NC_LEVEL_NUMA | 1u << NC_LEVEL_PACKAGE | 1u << NC_LEVEL_NODE;
    unsigned levels;
    char error[200];

    (void) state;
    assert_int_equal(nc_route_by(NC_LEVELS_ALL), usual);
    assert_true(nc_levels_parse("l3,numa,switch1", &levels, error, sizeof error));
    assert_int_equal(nc_route_by(levels), 1u << NC_LEVEL_L3 | 1u << NC_LEVEL_NUMA);
    assert_int_equal(nc_route_by(0), 0);
}

/* The package only where it is named. */
static void levels_of_barriers(void **state)
{
    const unsigned usual = NC_LEVELS_INSIDE & ~(1u << NC_LEVEL_PACKAGE);
    unsigned levels;
    char error[200];

    (void) state;
    assert_int_equal(nc_route_signals_by(NC_LEVELS_ALL), usual);
    assert_true(nc_levels_parse("numa,package,switch1", &levels, error, sizeof error));
    assert_int_equal(nc_route_signals_by(levels), 1u << NC_LEVEL_PACKAGE | 1u << NC_LEVEL_NUMA);
    assert_int_equal(nc_route_signals_by(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_once), cmocka_unit_test(lists_stay),
        cmocka_unit_test(levels_of_barriers), cmocka_unit_test(levels_of_data)};
    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
