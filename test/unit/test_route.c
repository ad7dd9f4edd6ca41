#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_route.h"

enum { LARGEST = 40, COLUMNS = NC_LEVEL_NODE + 1 };

struct trees {
    enum nc_tree_kind kind;
    int k;
    struct nc_tree of[LARGEST + 1];     /* by size */
};

/* Memory is of the exact sizes: AddressSanitizer sees what goes beyond. */
static void make_trees(struct trees *t)
{
    for (int size = 1; size <= LARGEST; size++)
        nc_tree_make(&t->of[size], malloc(nc_tree_bytes(size)), t->kind, t->k, size);
}

static void free_trees(struct trees *t)
{
    for (int size = 1; size <= LARGEST; size++)
        free(t->of[size].parent);
}

static void make_groups(struct nc_groups *groups, const int *numa, int ranks)
{
    int unit[LARGEST][COLUMNS];
    struct nc_locations locations = {.ranks = ranks,.columns = COLUMNS,.unit = unit[0] };
    struct nc_topo topo;
    void *memory;

    memset(unit, 0, sizeof unit);
    for (int r = 0; r < ranks; r++)
        unit[r][NC_LEVEL_NUMA] = numa[r];
    memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&topo, memory, &locations, 1u << NC_LEVEL_NUMA);
    nc_groups_make(groups, malloc(nc_groups_bytes(&topo)), &topo);
    free(memory);
}

static struct nc_part part_of(const struct nc_groups *groups, const struct trees *t, int rank, int root)
{
    int inner = nc_group_at(groups, 0, rank, 0).size, outer = 1;

    if (groups->levels > 1)
        outer = nc_group_at(groups, 1, rank, 0).size;
    struct nc_route route = {.groups = groups,.inner = &t->of[inner],.outer = &t->of[outer] };
    return nc_part_of(&route, rank, root);
}

/* Whether a way leads from the rank to the root in fewer steps than there are ranks. */
static bool leads_to_root(const struct nc_groups *groups, const struct trees *t, int rank, int root)
{
    for (int steps = 0; steps < groups->ranks && rank != root; steps++)
        rank = part_of(groups, t, rank, root).parent;
    return rank == root;
}

/* Each child once, it names the rank as its parent, and none of my NUMA node comes before one of another. */
static void check_children(const struct nc_groups *groups, const struct trees *t, const int *numa, int rank, int root, int *met)
{
    struct nc_part p = part_of(groups, t, rank, root);
    bool near = false;

    assert_true(p.outer_children <= p.children);
    for (int i = 0; i < p.children; i++) {
        int child = nc_part_child(&p, i);
        assert_in_range(child, 0, groups->ranks - 1);
        assert_int_equal(met[child]++, 0);
        assert_int_equal(part_of(groups, t, child, root).parent, rank);
        near |= numa[child] == numa[rank];
        assert_int_equal(near, numa[child] == numa[rank]);
    }
}

static void check_root(const struct nc_groups *groups, const struct trees *t, const int *numa, int root)
{
    int met[LARGEST] = { 0 }, entries[LARGEST] = { 0 };

    for (int rank = 0; rank < groups->ranks; rank++) {
        int parent = part_of(groups, t, rank, root).parent;
        assert_int_equal(parent < 0, rank == root);
        check_children(groups, t, numa, rank, root, met);
        assert_true(leads_to_root(groups, t, rank, root));
        if (rank != root && numa[parent] != numa[rank])
            entries[numa[rank]]++;
    }
    for (int rank = 0; rank < groups->ranks; rank++) {
        assert_int_equal(met[rank], rank != root);
        /* a NUMA node is entered once, the root's never */
        assert_int_equal(entries[numa[rank]], numa[rank] != numa[root]);
    }
}

static void check(const struct trees *t, const int *numa, int ranks)
{
    struct nc_groups groups;

    make_groups(&groups, numa, ranks);
    for (int root = 0; root < ranks; root++)
        check_root(&groups, t, numa, root);
    free(groups.of[0]);
}

/* NUMA nodes dealt out in turn, in blocks, in blocks that grow, and at random. */
static void check_structures(const struct trees *t, int ranks)
{
    int numa[LARGEST];
    uint64_t dice = (uint64_t) ranks;

    for (int nodes = 1; nodes <= ranks; nodes += nodes < 4 ? 1 : 9) {
        for (int r = 0; r < ranks; r++)
            numa[r] = r % nodes;
        check(t, numa, ranks);
        for (int r = 0; r < ranks; r++)
            numa[r] = r * nodes / ranks;
        check(t, numa, ranks);
        for (int r = 0; r < ranks; r++)
            numa[r] = r * r * nodes / ranks / ranks;
        check(t, numa, ranks);
        for (int r = 0; r < ranks; r++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            numa[r] = (int) ((dice >> 33) % (uint64_t) nodes);
        }
        check(t, numa, ranks);
    }
}

static void every_rank_once(void **state)
{
    struct trees trees[] = {
        {.kind = NC_TREE_FLAT,.k = 2}, {.kind = NC_TREE_KARY,.k = 2}, {.kind = NC_TREE_KARY,.k = 3},
        {.kind = NC_TREE_KNOMIAL,.k = 2}, {.kind = NC_TREE_KNOMIAL,.k = 5}, {.kind = NC_TREE_CHAIN,.k = 2}
    };

    (void) state;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        make_trees(&trees[i]);
        for (int ranks = 1; ranks <= LARGEST; ranks++)
            check_structures(&trees[i], ranks);
        free_trees(&trees[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_rank_once) };
    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
