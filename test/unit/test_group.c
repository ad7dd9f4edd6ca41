/* core/nc_group.c: the groups of the papers' machines and of odd ones, by hand; groups of random
 * tables, compared with a naive implementation of the definitions; columns, the order of ranks, and
 * the time it takes to make groups. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/nc_group.h"

#define NUMA    NC_LEVEL_NUMA
#define PACKAGE NC_LEVEL_PACKAGE
#define NODE    NC_LEVEL_NODE
#define TOP     NC_LEVEL_TOP

#define ROWS(table) (int) (sizeof(table) / sizeof *(table))

/* Memory is of the exact sizes: AddressSanitizer sees what goes beyond. */
struct made {
    struct nc_topo topo;
    struct nc_groups groups;
    void *topo_memory, *memory;
};

static struct made make(const int *unit, int ranks, int columns, unsigned levels)
{
    struct nc_locations locations = {.ranks = ranks, .columns = columns, .unit = unit};
    struct made m;

    m.topo_memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&m.topo, m.topo_memory, &locations, levels);
    m.memory = malloc(nc_groups_bytes(&m.topo));
    nc_groups_make(&m.groups, m.memory, &m.topo);
    return m;
}

static void release(struct made *m)
{
    free(m->memory);
    free(m->topo_memory);
}

/* The group a rank is a member of on a level, from the leader on; n = 0: the rank is no member. */
static void assert_members(const struct made *m, int level, int rank, int root, int n,
                           const int *expected)
{
    struct nc_group group = nc_group_at(&m->groups, level, rank, root);

    assert_int_equal(group.index >= 0, n > 0);
    if (n == 0)
        return;
    assert_int_equal(group.size, n);
    assert_int_equal(group.leader, expected[0]);
    for (int k = 0; k < n; k++)
        assert_int_equal(nc_group_member(&group, k), expected[k]);
    assert_int_equal(nc_group_member(&group, group.index), rank);
}

#define IS(m, level, rank, root, ...) \
    assert_members(m, level, rank, root, ROWS(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__})
#define IS_NONE(m, level, rank, root) assert_members(m, level, rank, root, 0, NULL)

/* The members are a range of ranks. */
static void assert_range(const struct made *m, int level, int rank, int first, int last)
{
    int expected[128];

    for (int i = first; i <= last; i++)
        expected[i - first] = i;
    assert_members(m, level, rank, 0, last - first + 1, expected);
}

/* A core of nodes that have `packages` of `numas` NUMA nodes of `cores` each. */
static void locate(int *unit, int core, int cores, int numas, int packages)
{
    unit[NC_LEVEL_L2] = core;
    unit[NC_LEVEL_L3] = -1;
    unit[NUMA] = core / cores % (numas * packages);
    unit[PACKAGE] = unit[NUMA] / numas;
    unit[NODE] = core / (cores * numas * packages);
}

static void papers_cluster(void **state)
{
    static const int nodes[] = {1, 2, 48};
    int unit[108][7];
    struct made m;

    (void) state;
    for (int i = 0; i < 108; i++) {
        locate(unit[i], i, 18, 1, 2);
        unit[i][NODE] = nodes[i / 36];
        unit[i][NODE + 1] = (nodes[i / 36] - 1) / 16;
        unit[i][NODE + 2] = 0;
    }
    m = make(unit[0], 108, 7, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 4);
    assert_range(&m, 0, 0, 0, 17);
    IS(&m, 1, 0, 0, 0, 18);
    IS(&m, 2, 0, 0, 0, 36);
    IS(&m, 3, 0, 0, 0, 72);
    assert_range(&m, 0, 1, 0, 17);
    for (int l = 1; l < 4; l++)
        IS_NONE(&m, l, 1, 0);
    assert_range(&m, 0, 36, 36, 53);
    IS(&m, 1, 36, 0, 36, 54);
    IS(&m, 2, 36, 0, 0, 36);
    IS_NONE(&m, 3, 36, 0);
    assert_range(&m, 0, 72, 72, 89);
    IS(&m, 1, 72, 0, 72, 90);
    IS(&m, 2, 72, 0, 72); /* alone on its leaf: there, but with nothing to do */
    IS(&m, 3, 72, 0, 0, 72);
    release(&m);
}

static void papers_node(void **state)
{
    int unit[128][5];
    struct made m;

    (void) state;
    for (int i = 0; i < 128; i++)
        locate(unit[i], i, 32, 2, 2);
    m = make(unit[0], 128, 5, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 3);
    assert_range(&m, 0, 0, 0, 31);
    IS(&m, 1, 0, 0, 0, 32);
    IS(&m, 2, 0, 0, 0, 64);
    assert_range(&m, 0, 1, 0, 31);
    IS_NONE(&m, 1, 1, 0);
    assert_range(&m, 0, 32, 32, 63);
    IS(&m, 1, 32, 0, 0, 32);
    IS_NONE(&m, 2, 32, 0);
    release(&m);
}

static void papers_round_robin(void **state)
{
    int unit[14][5];
    struct made m;

    (void) state;
    for (int i = 0; i < 14; i++)
        locate(unit[i], i % 4 * 32 + i / 4, 32, 2, 2);
    m = make(unit[0], 14, 5, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 3);
    IS(&m, 0, 0, 0, 0, 4, 8, 12);
    IS(&m, 0, 5, 0, 1, 5, 9, 13);
    IS(&m, 0, 10, 0, 2, 6, 10);
    IS(&m, 0, 3, 0, 3, 7, 11);
    IS(&m, 1, 0, 0, 0, 1);
    IS(&m, 1, 3, 0, 2, 3);
    IS(&m, 2, 2, 0, 0, 2);

    /* rank 7 leads 3, then stands where 3 and 2 stood */
    IS(&m, 0, 3, 7, 7, 11, 3);
    IS(&m, 1, 7, 7, 7, 2);
    IS(&m, 2, 0, 7, 7, 0);
    IS(&m, 0, 5, 7, 1, 5, 9, 13);
    IS_NONE(&m, 1, 3, 7);
    IS_NONE(&m, 2, 2, 7);
    release(&m);
}

static void levels_off(void **state)
{
    /* 8 nodes of 2 packages of 2 NUMA nodes of 2 ranks, 4 nodes on a leaf switch */
    int unit[64][6];
    unsigned levels;
    char error[200];
    struct made m;

    (void) state;
    for (int i = 0; i < 64; i++) {
        locate(unit[i], i, 2, 2, 2);
        unit[i][NODE + 1] = i / 32;
    }
    assert_true(nc_levels_parse("numa,package,node,switch1", &levels, error, sizeof error));
    m = make(unit[0], 64, 6, levels);
    assert_int_equal(m.groups.levels, 5);
    IS(&m, 0, 0, 0, 0, 1);
    IS(&m, 1, 0, 0, 0, 2);
    IS(&m, 2, 0, 0, 0, 4);
    IS(&m, 3, 0, 0, 0, 8, 16, 24);
    IS(&m, 4, 0, 0, 0, 32);
    release(&m);

    assert_true(nc_levels_parse("switch1,numa,node", &levels, error, sizeof error));
    m = make(unit[0], 64, 6, levels);
    assert_int_equal(m.groups.levels, 4);
    IS(&m, 0, 0, 0, 0, 1);
    IS(&m, 1, 0, 0, 0, 2, 4, 6);
    IS(&m, 2, 0, 0, 0, 8, 16, 24);
    IS(&m, 3, 0, 0, 0, 32);
    release(&m);

    m = make(unit[0], 64, 6, 1 << PACKAGE);
    assert_int_equal(m.groups.levels, 2);
    IS(&m, 0, 6, 0, 4, 5, 6, 7);
    assert_int_equal(nc_group_at(&m.groups, 1, 9, 0).size, 16);
    release(&m);
}

static void uneven(void **state)
{
    /* NUMA nodes of 1, 3 and 2 ranks, not in the order of ranks; the last alone in its package */
    const int unit[][5] = {
        {0, -1, 1, 0, 0}, {1, -1, 2, 1, 0}, {2, -1, 1, 0, 0},
        {3, -1, 0, 0, 0}, {4, -1, 1, 0, 0}, {5, -1, 2, 1, 0},
    };
    struct made m = make(unit[0], 6, 5, NC_LEVELS_ALL);

    (void) state;
    assert_int_equal(m.groups.levels, 3);
    IS(&m, 0, 4, 0, 0, 2, 4);
    IS(&m, 0, 5, 0, 1, 5);
    IS(&m, 0, 3, 0, 3);
    IS(&m, 1, 3, 0, 0, 3);
    IS(&m, 1, 1, 0, 1);
    IS(&m, 2, 1, 0, 0, 1);
    IS(&m, 1, 3, 3, 3, 0);
    IS(&m, 2, 3, 3, 3, 1);
    IS_NONE(&m, 2, 0, 3);
    release(&m);
}

static void without_levels(void **state)
{
    const int one[][5] = {
        {0, 0, 0, 0, 0},
    };
    const int core[][5] = {
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0},
    };
    const int unbound[][5] = {
        {-1, -1, -1, -1, 1},
        {-1, -1, -1, -1, 2},
        {-1, -1, -1, -1, 1},
    };
    const int partly[][5] = {
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0},
        {-1, -1, -1, -1, 0},
    };
    struct made m = make(one[0], 1, 5, NC_LEVELS_ALL);

    (void) state;
    assert_int_equal(m.groups.levels, 1);
    IS(&m, 0, 0, 0, 0);
    release(&m);
    m = make(core[0], 3, 5, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 1);
    IS(&m, 0, 1, 1, 1, 2, 0);
    release(&m);
    m = make(unbound[0], 3, 5, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 2);
    IS(&m, 0, 2, 0, 0, 2);
    IS(&m, 0, 1, 0, 1);
    IS(&m, 1, 2, 2, 2, 1);
    release(&m);
    m = make(partly[0], 3, 5, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 1);
    IS(&m, 0, 2, 0, 0, 1, 2);
    release(&m);
}

static void assert_column(const struct made *m, int rank, int n, const int *expected)
{
    int column[64];

    assert_int_equal(nc_groups_column(&m->groups, rank, column), n);
    for (int i = 0; i < n; i++)
        assert_int_equal(column[i], expected[i]);
}

static void columns(void **state)
{
    const int shuffled[][5] = {
        {-1, -1, 7, -1, 0}, {-1, -1, 3, -1, 0}, {-1, -1, 3, -1, 0},
        {-1, -1, 7, -1, 0}, {-1, -1, 5, -1, 0}, {-1, -1, 5, -1, 0},
    };
    struct made m = make(shuffled[0], 6, 5, 1u << NUMA);

    (void) state;
    assert_column(&m, 1, 3, (int[]){0, 1, 4});
    assert_column(&m, 3, 3, (int[]){3, 2, 5});
    release(&m);
    m = make(shuffled[0], 6, 5, 0);
    assert_column(&m, 4, 1, (int[]){4});
    release(&m);
    m = make(shuffled[0], 5, 5, 1u << NUMA);
    assert_column(&m, 4, 0, NULL);
    release(&m);
}

/* The definitions once more, from the table of locations and with loops over all ranks. */
struct naive {
    const int *unit;
    int ranks, columns;
    const struct nc_topo *topo;
    int root;
};

static bool share(const struct naive *n, int level, int i, int j)
{
    const int *a = n->unit + i * n->columns, *b = n->unit + j * n->columns;
    int name = level < 0 ? -1 : (int) n->topo->name[level];

    if (name < 0 || name == TOP)
        return name == TOP || i == j;
    return a[name] == b[name] && (name >= NODE || a[NODE] == b[NODE]);
}

static int naive_leader(const struct naive *n, int level, int rank)
{
    int i = 0;

    if (share(n, level, rank, n->root))
        return n->root;
    while (!share(n, level, rank, i))
        i++;
    return i;
}

/* The members of the group that holds a rank, the leader first. Returns their number. */
static int naive_members(const struct naive *n, int level, int rank, int *member)
{
    struct naive rootless = *n;
    int size = 0, turn = 0, order[64];

    rootless.root = 0;
    for (int i = 0; i < n->ranks; i++) {
        if (!share(n, level, i, rank) || naive_leader(&rootless, level - 1, i) != i)
            continue;
        order[size] = naive_leader(n, level - 1, i);
        if (order[size] == naive_leader(n, level, rank))
            turn = size;
        size++;
    }
    for (int k = 0; k < size; k++)
        member[k] = order[(turn + k) % size];
    return size;
}

static void check_rank(const struct made *m, const struct naive *n, int level, int rank)
{
    struct nc_group group = nc_group_at(&m->groups, level, rank, n->root);
    bool member = naive_leader(n, level - 1, rank) == rank;
    int expected[64], size = naive_members(n, level, rank, expected);

    assert_int_equal(group.leader, naive_leader(n, level, rank));
    assert_int_equal(group.size, size);
    assert_int_equal(group.index >= 0, member);
    for (int k = 0; k < size; k++)
        assert_int_equal(nc_group_member(&group, k), expected[k]);
    if (member)
        assert_int_equal(expected[group.index], rank);
    assert_int_equal(nc_group_member(&group, 0), group.leader);
    assert_true(group.number >= m->groups.level[level]);
    assert_true(group.number < m->groups.level[level + 1]);
}

/* Members of each level's groups: once each, and each reaches the root through leaders. */
static void check_closed(const struct made *m, int root)
{
    const struct nc_groups *g = &m->groups;

    for (int l = 0; l < g->levels; l++) {
        int members = 0, leaders = 0;
        for (int rank = 0; rank < g->ranks; rank++) {
            struct nc_group group = nc_group_at(g, l, rank, root);
            bool above = l + 1 < g->levels && nc_group_at(g, l + 1, rank, root).index >= 0;
            members += group.index >= 0;
            leaders += group.index == 0;
            if (l + 1 < g->levels)
                assert_int_equal(above, group.index == 0);
        }
        assert_int_equal(leaders, m->topo.units[l]);
        assert_int_equal(members, l ? m->topo.units[l - 1] : g->ranks);
    }
    for (int rank = 0; rank < g->ranks; rank++) {
        int at = rank;
        for (int l = 0; l < g->levels; l++) {
            assert_true(nc_group_at(g, l, at, root).index >= 0);
            at = nc_group_at(g, l, at, root).leader;
        }
        assert_int_equal(at, root);
    }
}

static uint64_t seed = 1;

static int draw(int below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int) ((seed >> 33) % (uint64_t) below);
}

static void fill(int *unit, int ranks, int columns)
{
    int noise = draw(3) ? 1000 : 20, breadth = 2 + draw(2), spread = 1 + draw(30);

    for (int i = 0; i < ranks; i++) {
        int n = draw(spread);
        for (int c = 0; c < columns; c++) {
            unit[i * columns + c] = draw(noise) ? n : draw(3);
            n /= breadth;
        }
    }
}

static void random_tables(void **state)
{
    enum { TABLES = 2000, RANKS = 20 };
    int seen[NC_LEVELS + 1] = {0};

    (void) state;
    for (int t = 0; t < TABLES; t++) {
        int unit[RANKS * NC_LEVELS], ranks = 1 + draw(RANKS), columns = NODE + 1 + draw(4);
        struct naive naive = {.unit = unit, .ranks = ranks, .columns = columns};
        struct made m;

        fill(unit, ranks, columns);
        m = make(unit, ranks, columns, draw(3) ? NC_LEVELS_ALL : (unsigned) draw(NC_LEVELS_ALL));
        naive.topo = &m.topo;
        for (int n = 0; n < 3; n++) {
            naive.root = n ? draw(ranks) : 0;
            for (int l = 0; l < m.groups.levels; l++) {
                for (int rank = 0; rank < ranks; rank++)
                    check_rank(&m, &naive, l, rank);
            }
            check_closed(&m, naive.root);
        }
        seen[m.groups.levels]++;
        release(&m);
    }
    for (int i = 1; i <= 4; i++)
        assert_true(seen[i] > TABLES / 50); /* levels enough to tell */
}

/* Whoever is root: on the papers' cluster, where groups are uneven upwards. */
static void every_root(void **state)
{
    int unit[27][6];
    struct made m;

    (void) state;
    for (int i = 0; i < 27; i++) {
        locate(unit[i], i % 9 + i / 9 * 12, 3, 2, 2);
        unit[i][NODE + 1] = i / 18;
    }
    m = make(unit[0], 27, 6, NC_LEVELS_ALL);
    assert_int_equal(m.groups.levels, 5);
    for (int root = 0; root < 27; root++) {
        struct naive naive = {.unit = unit[0], .ranks = 27, .columns = 6, .topo = &m.topo};

        naive.root = root;
        check_closed(&m, root);
        for (int l = 0; l < m.groups.levels; l++) {
            for (int rank = 0; rank < 27; rank++)
                check_rank(&m, &naive, l, rank);
        }
    }
    release(&m);
}

/* 10 ms are the aim; ten times that leave room for the sanitizers and a busy machine. */
static void cost(void **state)
{
    enum { RANKS = 4096, COLUMNS = 7 };
    int *unit = malloc(sizeof(int) * RANKS * COLUMNS);
    struct made m;
    clock_t start;

    (void) state;
    for (int i = 0; i < RANKS; i++) {
        int *row = unit + i * COLUMNS;
        row[0] = i / 2;
        row[1] = i / 4;
        row[2] = i / 16;
        row[3] = i / 64;
        row[NODE] = i / 128;
        row[5] = i / 512;
        row[6] = i / 2048;
    }
    start = clock();
    m = make(unit, RANKS, COLUMNS, NC_LEVELS_ALL);
    assert_true(clock() - start < CLOCKS_PER_SEC / 10);
    assert_int_equal(m.groups.levels, 8);
    assert_true(nc_groups_bytes(&m.topo) <= sizeof(int) * RANKS * (2 * 8 + 4));
    check_closed(&m, 4000);
    release(&m);
    free(unit);
}

/* Those of a group are side by side on every level, and nobody is forgotten. */
static void in_order(void **state)
{
    enum { RANKS = 12, COLUMNS = NODE + 2 };
    static const int switches[3] = {1, 0, 1};
    static const int expected[RANKS] = {0, 3, 6, 9, 2, 5, 8, 11, 1, 4, 7, 10};
    int unit[RANKS][COLUMNS], rank[RANKS];
    struct made m;

    (void) state;
    /* dealt out over three nodes, whose first and last are under one switch; NUMA nodes cross the
     * ranks again */
    for (int i = 0; i < RANKS; i++) {
        for (int level = 0; level < NODE; level++)
            unit[i][level] = -1;
        unit[i][NUMA] = i / 3 / 2;
        unit[i][NODE] = i % 3;
        unit[i][NC_LEVEL_SWITCH1] = switches[i % 3];
    }
    m = make(unit[0], RANKS, COLUMNS, NC_LEVELS_ALL);
    nc_groups_in_order(&m.groups, rank);
    assert_memory_equal(rank, expected, sizeof expected);
    release(&m);
}

/* One group in that order, whatever the root. */
static void in_one_group(void **state)
{
    enum { RANKS = 6, COLUMNS = NODE + 2 };
    static const int expected[RANKS] = {0, 2, 4, 1, 3, 5}, from_4[RANKS] = {4, 1, 3, 5, 0, 2};
    int unit[RANKS][COLUMNS], memory[100];
    struct nc_groups one;
    struct made m;

    (void) state;
    for (int i = 0; i < RANKS; i++) {
        for (int level = 0; level < COLUMNS; level++)
            unit[i][level] = level == NODE ? 0 : -1;
        unit[i][NUMA] = i % 2;
    }
    m = make(unit[0], RANKS, COLUMNS, NC_LEVELS_ALL);
    assert_true(nc_groups_most_bytes(RANKS, 1) <= sizeof memory);
    nc_groups_make_one(&one, memory, &m.groups);
    assert_int_equal(one.levels, 1);
    for (int rank = 0; rank < RANKS; rank++) {
        struct nc_group first = nc_group_at(&one, 0, rank, 0),
                        other = nc_group_at(&one, 0, rank, 4);
        assert_int_equal(first.size, RANKS);
        assert_int_equal(expected[first.index], rank);
        assert_int_equal(nc_group_member(&first, first.index), rank);
        assert_int_equal(from_4[other.index], rank);
        assert_int_equal(nc_group_member(&other, other.index), rank);
    }
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(papers_cluster),
        cmocka_unit_test(papers_node),
        cmocka_unit_test(papers_round_robin),
        cmocka_unit_test(levels_off),
        cmocka_unit_test(uneven),
        cmocka_unit_test(without_levels),
        cmocka_unit_test(every_root),
        cmocka_unit_test(columns),
        cmocka_unit_test(random_tables),
        cmocka_unit_test(in_order),
        cmocka_unit_test(in_one_group),
        cmocka_unit_test(cost),
    };
    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
