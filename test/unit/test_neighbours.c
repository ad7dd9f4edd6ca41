/* The neighbours of ranks, by trees (core/nc_tree.h) and by routes (core/nc_route.c), as barriers
 * use them: they join all ranks, large subtrees are first on the way down, and few edges join NUMA
 * nodes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_route.h"

enum { LARGEST = 130, CORES = 32 };

static const struct nc_tree_spec kinds[] = {
    {NC_TREE_FLAT, 2},    {NC_TREE_KARY, 2},    {NC_TREE_KARY, 4}, {NC_TREE_BALANCED, 3},
    {NC_TREE_KNOMIAL, 2}, {NC_TREE_KNOMIAL, 4}, {NC_TREE_CHAIN, 2}};

#define KINDS (int) (sizeof kinds / sizeof *kinds)

/* In which order a rank deals with its children: their list from its end, or from its begin. */
enum order { UP, DOWN };

/* All ranks' neighbours. Memory is of the exact sizes: AddressSanitizer sees what goes beyond. */
struct places {
    int ranks;
    enum order order;
    struct nc_neighbours of[LARGEST];
    void *tree[LARGEST], *list[LARGEST];
};

static int child_of(const struct places *p, int rank, int i)
{
    const struct nc_neighbours *n = &p->of[rank];

    return n->child[p->order == UP ? n->children - 1 - i : i];
}

static struct places by_tree(struct nc_tree_spec tree, int ranks, enum order order)
{
    struct places p = {.ranks = ranks, .order = order};

    for (int r = 0; r < ranks; r++) {
        struct nc_tree made;

        p.tree[r] = malloc(nc_tree_bytes(ranks));
        nc_tree_make(&made, p.tree[r], tree.kind, tree.k, ranks);
        p.of[r] = nc_tree_neighbours(&made, r);
    }
    return p;
}

static struct places by_groups(const struct nc_groups *groups, const struct nc_tree_spec *level,
                               enum order order)
{
    struct places p = {.ranks = groups->ranks, .order = order};

    for (int r = 0; r < p.ranks; r++) {
        struct nc_route route;

        p.tree[r] = malloc(nc_route_bytes(p.ranks, groups->levels));
        p.list[r] = malloc(sizeof(int) * (size_t) p.ranks);
        nc_route_make(&route, p.tree[r], groups, level, NULL, r);
        p.of[r] = nc_route_neighbours(&route, p.list[r]);
    }
    return p;
}

static void release(struct places *p)
{
    for (int r = 0; r < p->ranks; r++) {
        free(p->tree[r]);
        free(p->list[r]);
    }
}

/* Ranks below and including this one; each is met once, and parent and child name each other. */
static int walk(const struct places *p, int rank, int *subtree)
{
    subtree[rank] = 1;
    for (int i = 0; i < p->of[rank].children; i++) {
        int child = child_of(p, rank, i);

        assert_in_range(child, rank + 1, p->ranks - 1);
        assert_int_equal(p->of[child].parent, rank);
        assert_int_equal(subtree[child], 0);
        subtree[rank] += walk(p, child, subtree);
    }
    return subtree[rank];
}

static void assert_spans(const struct places *p, int *subtree)
{
    memset(subtree, 0, sizeof(int) * LARGEST);
    assert_int_equal(p->of[0].parent, -1);
    assert_int_equal(walk(p, 0, subtree), p->ranks);
}

/* Going up the small subtrees come first, going down the large ones; the children are the same. */
static void assert_ordered(const struct places *p, const int *subtree)
{
    for (int r = 0; r < p->ranks; r++) {
        for (int i = 1; i < p->of[r].children; i++) {
            int before = subtree[child_of(p, r, i - 1)], after = subtree[child_of(p, r, i)];
            assert_true(p->order == UP ? before <= after : before >= after);
        }
    }
}

static void trees_span(void **state)
{
    int subtree[LARGEST];

    (void) state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int ranks = 1; ranks <= LARGEST; ranks++) {
            for (int order = UP; order <= DOWN; order++) {
                struct places p = by_tree(kinds[kind], ranks, (enum order) order);
                assert_spans(&p, subtree);
                assert_ordered(&p, subtree);
                release(&p);
            }
        }
    }
}

static void assert_place(const struct places *p, int rank, int parent, int n, const int *expected)
{
    assert_int_equal(p->of[rank].parent, parent);
    assert_int_equal(p->of[rank].children, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(child_of(p, rank, i), expected[i]);
}

#define PLACE(p, rank, parent, ...) \
    assert_place(p, rank, parent, (int) (sizeof((int[]){__VA_ARGS__}) / sizeof(int)), \
                 (int[]){__VA_ARGS__})

static void order_of_trees(void **state)
{
    struct places p;

    (void) state;
    p = by_tree((struct nc_tree_spec){NC_TREE_FLAT, 2}, 4, UP);
    PLACE(&p, 0, -1, 1, 2, 3);
    release(&p);
    p = by_tree((struct nc_tree_spec){NC_TREE_FLAT, 2}, 4, DOWN);
    PLACE(&p, 0, -1, 3, 2, 1);
    release(&p);
    p = by_tree((struct nc_tree_spec){NC_TREE_KNOMIAL, 2}, 8, UP);
    PLACE(&p, 0, -1, 1, 2, 4);
    PLACE(&p, 4, 0, 5, 6);
    release(&p);
    /* 4 is alone, 2 is not */
    p = by_tree((struct nc_tree_spec){NC_TREE_KNOMIAL, 2}, 5, DOWN);
    PLACE(&p, 0, -1, 2, 4, 1);
    release(&p);
    p = by_tree((struct nc_tree_spec){NC_TREE_KARY, 4}, 7, UP);
    PLACE(&p, 0, -1, 2, 3, 4, 1);
    PLACE(&p, 1, 0, 5, 6);
    release(&p);
}

/* ---- groups ---- */

struct machine {
    struct nc_groups groups;
    void *topo_memory, *memory;
};

static struct machine make(const int *unit, int ranks)
{
    struct nc_locations locations = {.ranks = ranks, .columns = NC_LEVEL_NODE + 1, .unit = unit};
    struct nc_topo topo;
    struct machine m;

    m.topo_memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&topo, m.topo_memory, &locations, NC_LEVELS_ALL);
    m.memory = malloc(nc_groups_bytes(&topo));
    nc_groups_make(&m.groups, m.memory, &topo);
    return m;
}

static void end(struct machine *m)
{
    free(m->memory);
    free(m->topo_memory);
}

/* The core of a rank on 2 packages of 2 NUMA nodes of 32 cores. */
static int core_of(int mapping, int rank)
{
    switch (mapping) {
        case 0: /* core after core */
            return rank;
        case 1: /* NUMA nodes in turn */
            return rank % 4 * CORES + rank / 4;
        default: /* packages in turn */
            return rank % 2 * 2 * CORES + rank / 2;
    }
}

static struct machine papers_machine(int mapping)
{
    int unit[128][NC_LEVEL_NODE + 1];

    for (int r = 0; r < 128; r++) {
        int core = core_of(mapping, r);
        unit[r][NC_LEVEL_L2] = core;
        unit[r][NC_LEVEL_L3] = -1;
        unit[r][NC_LEVEL_NUMA] = core / CORES;
        unit[r][NC_LEVEL_PACKAGE] = core / (2 * CORES);
        unit[r][NC_LEVEL_NODE] = 0;
    }
    return make(unit[0], 128);
}

/* Edges of the tree that join ranks of different NUMA nodes. */
static int count_far(const struct places *p, int mapping)
{
    int far = 0;

    for (int r = 1; r < p->ranks; r++)
        far += core_of(mapping, r) / CORES != core_of(mapping, p->of[r].parent) / CORES;
    return far;
}

static void papers_mappings(void **state)
{
    int subtree[LARGEST];

    (void) state;
    for (int mapping = 0; mapping < 3; mapping++) {
        struct machine m = papers_machine(mapping);

        assert_int_equal(m.groups.levels, 3);
        for (int kind = 0; kind < KINDS; kind++) {
            struct nc_tree_spec level[3] = {kinds[kind], kinds[(kind + 1) % KINDS], kinds[0]};
            for (int order = UP; order <= DOWN; order++) {
                struct places p = by_groups(&m.groups, level, (enum order) order);
                assert_spans(&p, subtree);
                assert_int_equal(count_far(&p, mapping), 3);
                release(&p);
            }
        }
        end(&m);
    }
}

static void order_of_levels(void **state)
{
    struct machine m = papers_machine(1);
    struct nc_tree_spec level[3] = {{NC_TREE_KARY, 4}, {NC_TREE_FLAT, 2}, {NC_TREE_FLAT, 2}};
    struct places up = by_groups(&m.groups, level, UP);
    struct places down = by_groups(&m.groups, level, DOWN);

    (void) state;
    PLACE(&up, 0, -1, 8, 12, 16, 4, 1, 2);
    PLACE(&down, 0, -1, 2, 1, 4, 16, 12, 8);
    PLACE(&up, 2, 0, 10, 14, 18, 6, 3);
    PLACE(&up, 5, 1, 33, 29, 21, 25);
    release(&up);
    release(&down);
    end(&m);
}

static void uneven_groups(void **state)
{
    /* NUMA nodes of 1, 3 and 2 ranks, not in the order of ranks; the last alone in its package */
    const int unit[][NC_LEVEL_NODE + 1] = {{0, -1, 1, 0, 0}, {1, -1, 2, 1, 0}, {2, -1, 1, 0, 0},
                                           {3, -1, 0, 0, 0}, {4, -1, 1, 0, 0}, {5, -1, 2, 1, 0}};
    struct machine m = make(unit[0], 6);
    int subtree[LARGEST];

    (void) state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nc_tree_spec level[3] = {kinds[kind], kinds[kind], kinds[kind]};
        struct places p = by_groups(&m.groups, level, UP);
        assert_spans(&p, subtree);
        if (kinds[kind].kind == NC_TREE_FLAT) {
            PLACE(&p, 0, -1, 2, 4, 3, 1);
            PLACE(&p, 1, 0, 5);
        }
        release(&p);
    }
    end(&m);
}

static void one_rank(void **state)
{
    const int unit[] = {0, 0, 0, 0, 0};
    struct machine m = make(unit, 1);
    struct places p = by_groups(&m.groups, kinds, UP);

    (void) state;
    assert_place(&p, 0, -1, 0, NULL);
    release(&p);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_span),      cmocka_unit_test(order_of_trees),
        cmocka_unit_test(papers_mappings), cmocka_unit_test(order_of_levels),
        cmocka_unit_test(uneven_groups),   cmocka_unit_test(one_rank)};
    return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
