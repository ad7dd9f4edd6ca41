/* Tests the tables of a communicator's nodes (core/nc_nodes.h) on made-up machines, one of 100 000
 * ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/nc_nodes.h"
#include "core/nc_schedule.h"

/* A communicator of `ranks` ranks whose nodes are dealt out: by blocks of `block` ranks each, round
 * over `count` nodes. */
struct machine {
    int ranks, count, block;
    const int *node_of; /* [ranks] instead of dealing; NULL: deal */
};

static int node_of(const void *communicator, int rank)
{
    const struct machine *m = communicator;

    return m->node_of ? m->node_of[rank] : rank / m->block % m->count;
}

struct made {
    struct nc_nodes nodes;
    void *memory, *scratch;
};

/* Levels of switches that the first node knows. */
static int known(const int *row)
{
    int n = 0;

    while (row && n < NC_SWITCHES && row[n] >= 0)
        n++;
    return n;
}

/* row[count][NC_SWITCHES]; NULL: no switches are known. Memory is of the exact size:
 * AddressSanitizer sees what goes beyond. */
static struct made make(const struct machine *m, const int *row, int rank)
{
    struct made made;
    size_t entries = (size_t) m->count * NC_SWITCHES;
    int *unknown = malloc(entries * sizeof *unknown);

    memset(unknown, -1, entries * sizeof *unknown);
    made.memory = malloc(nc_nodes_bytes(m->ranks, m->count, known(row)));
    made.scratch = malloc(nc_nodes_scratch_bytes(m->count));
    nc_nodes_make(&made.nodes, made.memory, made.scratch, m->ranks, m->count, node_of, m,
                  row ? row : unknown, NC_LEVELS_ALL, rank);
    free(unknown);
    free(made.scratch);
    return made;
}

/* Every rank is in the list of its node, once, and the lists ascend. */
static void check_lists(const struct nc_nodes *n, const struct machine *m)
{
    int listed = 0;

    for (int node = 0; node < n->count; node++) {
        const int *rank = nc_nodes_ranks(n, node);
        for (int i = 0; i < nc_nodes_size(n, node); i++) {
            assert_int_equal(n->number[node_of(m, rank[i])], node);
            assert_true(i == 0 || rank[i] > rank[i - 1]);
            listed++;
        }
    }
    assert_int_equal(listed, m->ranks);
}

/* Nodes whose ranks follow each other are listed by their last ranks; the node of the rank that
 * asks has its place. */
static void check_order(const struct nc_nodes *n, const struct machine *m)
{
    int changes = 0;

    for (int rank = 0; rank + 1 < m->ranks; rank++)
        changes += node_of(m, rank) != node_of(m, rank + 1);
    assert_int_equal(n->consecutive, changes + 1 == n->count);
    for (int place = 0; place < n->count && n->consecutive; place++) {
        int last = n->last[place];
        assert_int_equal(place == n->place, n->number[node_of(m, last)] == n->mine);
        assert_true(place == 0 ? last >= 0 : last > n->last[place - 1]);
        assert_true(place + 1 == n->count ? last == m->ranks - 1
                                          : node_of(m, last) != node_of(m, last + 1));
    }
}

/* Nodes with consecutive ranks, in the order of switches another one; with their ranks dealt out
 * they are not in order. */
static void order_of_ranks(void **state)
{
    static const int switches[4] = {7, 4, 7, 4};
    struct machine m = {.ranks = 11, .count = 4, .block = 3};
    int row[4][NC_SWITCHES];

    (void) state;
    memset(row, -1, sizeof row);
    for (int i = 0; i < 4; i++)
        row[i][0] = switches[i];
    for (m.block = 3; m.block > 0; m.block--) {
        for (int rank = 0; rank < m.ranks; rank++) {
            struct made made = make(&m, row[0], rank);
            check_order(&made.nodes, &m);
            assert_int_equal(made.nodes.consecutive, m.block == 3);
            free(made.memory);
        }
    }
}

/* Three nodes, the ranks dealt out one by one; the first and the last node are under one switch. */
static void numbers_by_switch(void **state)
{
    static const int switches[3] = {7, 4, 7};
    struct machine m = {.ranks = 8, .count = 3, .block = 1};
    static const int members[8] = {1, 4, 7, 2, 5, 0, 3, 6};
    int row[3][NC_SWITCHES];
    struct made made;
    struct nc_group group;

    (void) state;
    memset(row, -1, sizeof row);
    for (int i = 0; i < 3; i++)
        row[i][0] = switches[i];
    made = make(&m, row[0], 4);
    assert_int_equal(made.nodes.number[0], 0);
    assert_int_equal(made.nodes.number[2], 1);
    assert_int_equal(made.nodes.number[1], 2);
    assert_int_equal(made.nodes.mine, 2);
    assert_memory_equal(made.nodes.member, members, sizeof members);
    assert_int_equal(nc_nodes_leader(&made.nodes, 1), 2);
    assert_int_equal(nc_nodes_back(&made.nodes, 2), 0);
    check_lists(&made.nodes, &m);
    assert_int_equal(made.nodes.groups.levels, 2);
    assert_int_equal(made.nodes.name[0], NC_LEVEL_SWITCH1);
    assert_int_equal(made.nodes.name[1], NC_LEVEL_TOP);
    assert_int_equal(made.nodes.largest[0], 2);
    assert_int_equal(made.nodes.largest[1], 2);
    /* with its root on node 1, that node leads its switch, and meets node 2 above it */
    group = nc_group_at(&made.nodes.groups, 1, 2, 1);
    assert_int_equal(group.index, 1);
    assert_int_equal(nc_group_member(&group, 0), 1);
    assert_int_equal(nc_group_at(&made.nodes.groups, 1, 0, 1).index, -1);
    free(made.memory);
}

static void one_node(void **state)
{
    struct machine m = {.ranks = 5, .count = 1, .block = 1};
    struct made made = make(&m, NULL, 3);

    (void) state;
    assert_int_equal(made.nodes.groups.levels, 0);
    assert_int_equal(made.nodes.mine, 0);
    check_lists(&made.nodes, &m);
    free(made.memory);
}

static int by_chance(uint64_t *x, int below)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (int) ((*x >> 33) % (uint64_t) below);
}

/* Nodes of any sizes, switches that lie inside each other: the numbers of the nodes under a switch
 * are neighbours, on each level, and node 0 is that of rank 0. */
static void random_machines(void **state)
{
    (void) state;
    for (int run = 0; run < 2000; run++) {
        uint64_t x = (uint64_t) run;
        struct machine m = {.count = 1 + by_chance(&x, 12)};
        int node[200], row[12][NC_SWITCHES], place[12];
        struct made made;

        /* the communicator's numbers are in the order of the nodes' lowest ranks */
        m.ranks = m.count + by_chance(&x, 150);
        m.node_of = node;
        for (int rank = 0, seen = 0; rank < m.ranks; rank++) {
            bool fresh = seen < m.count &&
                         (m.ranks - rank == m.count - seen || seen == 0 || by_chance(&x, 3) == 0);
            node[rank] = fresh ? seen++ : by_chance(&x, seen);
        }
        memset(row, -1, sizeof row);
        for (int i = 0; i < m.count; i++) {
            row[i][0] = by_chance(&x, 5);
            row[i][1] = row[i][0] % 2;
        }
        made = make(&m, row[0], by_chance(&x, m.ranks));
        check_lists(&made.nodes, &m);
        assert_int_equal(made.nodes.number[0], 0);
        for (int i = 0; i < m.count; i++)
            place[made.nodes.number[i]] = i;
        for (int level = 0; level < 2; level++) {
            int changes = 0, units = 0, seen[5] = {0};
            for (int i = 0; i < m.count; i++) {
                int unit = row[place[i]][level];
                units += !seen[unit];
                seen[unit] = 1;
                changes += i > 0 && unit != row[place[i - 1]][level];
            }
            assert_int_equal(changes, units - 1);
        }
        free(made.memory);
    }
}

/* What a process keeps and needs for 100 000 ranks on nodes of 128, under three levels of switches:
 * the figures of doc/limits.md. */
static void hundred_thousand_ranks(void **state)
{
    enum { RANKS = 100000, BLOCK = 128, NODES = (RANKS + BLOCK - 1) / BLOCK };
    struct machine m = {.ranks = RANKS, .count = NODES, .block = BLOCK};
    int *row = malloc(sizeof *row * NODES * NC_SWITCHES);
    size_t tables = nc_nodes_bytes(RANKS, NODES, 3), scratch = nc_nodes_scratch_bytes(NODES),
           messages = sizeof(struct nc_step) * (size_t) nc_schedule_most(NODES),
           requests = sizeof(void *) * 6 * (size_t) nc_schedule_most_sends(NODES);
    clock_t start;
    struct made made;

    (void) state;
    memset(row, -1, sizeof *row * NODES * NC_SWITCHES);
    for (int i = 0; i < NODES; i++) {
        for (int level = 0; level < 3; level++)
            row[i * NC_SWITCHES + level] = i >> (2 * level + 3);
    }
    start = clock();
    made = make(&m, row, 77777);
    assert_true(clock() - start < CLOCKS_PER_SEC / 10);
    check_lists(&made.nodes, &m);
    assert_int_equal(made.nodes.groups.levels, 4);
    print_message("# %d ranks on %d nodes: tables %zu bytes, messages %zu, requests %zu, while "
                  "made %zu more\n",
                  RANKS, NODES, tables, messages, requests, scratch);
    assert_true(tables + messages + requests <= 640000);
    assert_true(scratch <= 150000);
    free(made.memory);
    free(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_by_switch),
        cmocka_unit_test(order_of_ranks),
        cmocka_unit_test(one_node),
        cmocka_unit_test(random_machines),
        cmocka_unit_test(hundred_thousand_ranks),
    };
    return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
