/* core/nc_topo.c: the active levels of real and odd machines, by hand; of random tables, compared
 * with the rules of nc_topo.h applied rank by rank; lists of levels; and the cost of the hash
 * table. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/nc_topo.h"

#define L2      NC_LEVEL_L2
#define L3      NC_LEVEL_L3
#define NUMA    NC_LEVEL_NUMA
#define PACKAGE NC_LEVEL_PACKAGE
#define NODE    NC_LEVEL_NODE
#define SWITCH1 NC_LEVEL_SWITCH1
#define SWITCH2 (NC_LEVEL_SWITCH1 + 1)
#define TOP     NC_LEVEL_TOP

struct made {
    struct nc_topo topo;
    void *memory; /* of the exact size: AddressSanitizer sees what goes beyond */
};

static struct made make(const int *unit, int ranks, int columns, unsigned levels)
{
    struct nc_locations locations = {.ranks = ranks, .columns = columns, .unit = unit};
    struct made made;

    made.memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&made.topo, made.memory, &locations, levels);
    return made;
}

/* Are these the active levels, low to high? -1 ends the list. */
static void assert_levels(const struct nc_topo *t, const int *expected)
{
    for (int i = 0; i < t->levels; i++) {
        assert_int_equal(t->name[i], expected[i]);
        assert_int_equal(t->active[expected[i]], i);
    }
    assert_int_equal(expected[t->levels], -1);
    assert_int_equal(t->units[t->levels - 1], 1);
    assert_int_equal(t->active[TOP], t->levels - 1);
}

#define ROWS(table) (int) (sizeof(table) / sizeof *(table))

static void check_among(const int *unit, int ranks, int columns, unsigned levels,
                        const int *expected)
{
    struct made m = make(unit, ranks, columns, levels);

    assert_levels(&m.topo, expected);
    free(m.memory);
}

#define CHECK_AMONG(table, levels, ...) \
    check_among((table)[0], ROWS(table), ROWS(*(table)), levels, (int[]){__VA_ARGS__, -1})
#define CHECK(table, ...) CHECK_AMONG(table, NC_LEVELS_ALL, __VA_ARGS__)

static void machines(void **state)
{
    /* l2, l3, numa, package, node */
    const int no_l3[][5] = {
        {0, -1, 0, 0, 0}, {1, -1, 0, 0, 0}, {2, -1, 1, 0, 0}, {3, -1, 1, 0, 0}, {4, -1, 2, 1, 0},
    };
    const int l3_is_numa[][5] = {
        {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 1, 1, 0, 0}, {3, 1, 1, 0, 0}, {4, 2, 2, 1, 0},
    };
    const int two_l3_in_numa[][5] = {
        {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 1, 0, 0, 0}, {3, 2, 1, 1, 0}, {4, 2, 1, 1, 0},
    };
    const int numa_is_package[][5] = {
        {0, -1, 0, 0, 0},
        {1, -1, 0, 0, 0},
        {2, -1, 1, 1, 0},
    };
    const int caches_only[][5] = {
        {0, 0, -1, -1, 0},
        {0, 0, -1, -1, 0},
        {1, 1, -1, -1, 0},
    };
    const int one_core[][5] = {
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0},
    };
    const int shared_cores[][5] = {
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0},
        {1, 0, 0, 0, 0},
        {1, 0, 0, 0, 0},
    };
    const int spread[][5] = {
        {0, 0, 0, 0, 0},
        {8, 4, 2, 1, 0},
    };

    (void) state;
    CHECK(no_l3, NUMA, PACKAGE, NODE);
    CHECK(l3_is_numa, NUMA, PACKAGE, NODE);
    CHECK(two_l3_in_numa, L3, NUMA, NODE);
    CHECK(numa_is_package, NUMA, NODE);
    CHECK(caches_only, L2, NODE);
    CHECK(one_core, NUMA);
    CHECK(shared_cores, L2, NUMA);
    CHECK(spread, NODE);
}

/* Levels that group alike are one level; what a level with no use stands for is nothing. */
static void stands_for(void **state)
{
    const int unit[][5] = {
        {0, 0, 0, 0, 0},
        {1, 0, 0, 0, 0},
        {2, 1, 1, 1, 0},
        {3, 1, 1, 1, 0},
    };
    struct made m = make(unit[0], 4, 5, NC_LEVELS_ALL);

    (void) state;
    assert_levels(&m.topo, (int[]){NUMA, NODE, -1});
    assert_int_equal(m.topo.active[L2], -1);
    assert_int_equal(m.topo.active[L3], 0);
    assert_int_equal(m.topo.active[NUMA], 0);
    assert_int_equal(m.topo.active[PACKAGE], 0);
    assert_int_equal(m.topo.active[NODE], 1);
    assert_int_equal(m.topo.active[SWITCH1], -1);
    assert_int_equal(m.topo.units[0], 2);
    assert_memory_equal(m.topo.leader[0], ((int[]){0, 0, 2, 2}), 4 * sizeof(int));
    assert_memory_equal(m.topo.leader[1], ((int[]){0, 0, 0, 0}), 4 * sizeof(int));
    free(m.memory);
    CHECK_AMONG(unit, 1 << L3, L3, TOP);
    CHECK_AMONG(unit, 1 << PACKAGE | 1 << NODE, PACKAGE, NODE);
    CHECK_AMONG(unit, 1 << L2 | 1 << SWITCH1, TOP);
    CHECK_AMONG(unit, 1 << NUMA, NUMA, TOP);
}

static void one_rank(void **state)
{
    const int bound[][5] = {
        {0, 0, 0, 0, 0},
    };
    const int unbound[][5] = {
        {-1, -1, -1, -1, 0},
    };

    (void) state;
    CHECK(bound, TOP);
    CHECK(unbound, TOP);
}

static void unbound(void **state)
{
    const int none[][5] = {
        {-1, -1, -1, -1, 0},
        {-1, -1, -1, -1, 0},
    };
    const int nodes[][5] = {
        {-1, -1, -1, -1, 0},
        {-1, -1, -1, -1, 0},
        {-1, -1, -1, -1, 4},
    };
    /* rank 1 may run on a whole package, rank 3 anywhere on its node */
    const int package[][5] = {
        {0, 0, 0, 0, 0},
        {-1, -1, -1, 0, 0},
        {0, 0, 0, 0, 0},
        {4, 2, 2, 1, 0},
    };
    const int anywhere[][5] = {
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 1},
        {-1, -1, -1, -1, 1},
    };
    const int no_node[][6] = {
        {0, 0, 0, 0, -1, 0},
        {0, 0, 0, 0, -1, 0},
        {0, 0, 0, 0, 0, 1},
    };

    (void) state;
    CHECK(none, NODE);
    CHECK(nodes, NODE, TOP);
    CHECK(package, PACKAGE, NODE);
    CHECK(anywhere, NODE, TOP);
    CHECK(no_node, SWITCH1, TOP);
}

static void crossing(void **state)
{
    /* an L3 that serves two NUMA nodes, one NUMA node for two packages, a leaf under two spines */
    const int l3[][5] = {
        {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 0, 1, 0, 0}, {3, 0, 1, 0, 0}, {4, 1, 2, 1, 0},
    };
    const int numa[][5] = {
        {0, 0, 0, 0, 0},
        {1, 0, 0, 0, 0},
        {2, 1, 0, 1, 0},
        {3, 1, 0, 1, 0},
    };
    const int leaf[][7] = {
        {-1, -1, -1, -1, 0, 0, 0},
        {-1, -1, -1, -1, 1, 0, 1},
        {-1, -1, -1, -1, 2, 1, 1},
    };
    /* l3 crosses numa, numa crosses package, but l3 lies inside package and numa is gone */
    const int twice[][5] = {
        {0, 0, 0, 0, 0},
        {1, 0, 1, 0, 0},
        {2, 1, 0, 0, 0},
        {3, 2, 1, 1, 0},
    };

    (void) state;
    CHECK(l3, NUMA, PACKAGE, NODE);
    CHECK_AMONG(l3, 1 << L3 | 1 << NODE, L3, NODE);
    CHECK(numa, PACKAGE, NODE);
    CHECK(leaf, SWITCH2, TOP);
    CHECK_AMONG(leaf, 1 << SWITCH1, SWITCH1, TOP);
    CHECK(twice, L3, PACKAGE, NODE);
}

/* Package 0 of one node is not package 0 of another, even if the nodes themselves do not group. */
static void numbers_count_within_the_node(void **state)
{
    const int unit[][5] = {
        {0, -1, 0, 0, 7},
        {1, -1, 0, 0, 7},
        {0, -1, 0, 0, 3},
        {1, -1, 1, 1, 3},
    };
    struct made m = make(unit[0], 4, 5, 1 << NUMA);

    (void) state;
    assert_levels(&m.topo, (int[]){NUMA, TOP, -1});
    assert_memory_equal(m.topo.leader[0], ((int[]){0, 0, 2, 3}), 4 * sizeof(int));
    free(m.memory);
}

static void texts(void **state)
{
    static const char *const wrong[] = {"nuam", "numa,",   ",numa",   "numa,,node", "numa, node",
                                        "NUMA", "switch0", "switch9", "switch",     "top",
                                        ",",    "num",     "numaa"};
    char error[256];
    unsigned levels;

    (void) state;
    assert_true(nc_levels_parse("", &levels, error, sizeof error));
    assert_int_equal(levels, NC_LEVELS_ALL);
    assert_true(nc_levels_parse("node,numa,switch1,package,numa", &levels, error, sizeof error));
    assert_int_equal(levels, 1 << NUMA | 1 << PACKAGE | 1 << NODE | 1 << SWITCH1);
    for (int i = 0; i < NC_LEVELS; i++) {
        assert_true(nc_levels_parse(nc_level_name(i), &levels, error, sizeof error));
        assert_int_equal(levels, 1u << i);
    }
    for (int i = 0; i < ROWS(wrong); i++)
        assert_false(nc_levels_parse(wrong[i], &levels, error, sizeof error));
    assert_int_equal(nc_level_find("top", 3), TOP);
    assert_int_equal(nc_level_find("numa:flat", 4), NUMA);

    assert_false(nc_levels_parse("numa,scoket,node", &levels, error, sizeof error));
    assert_string_equal(error,
                        "unknown level 'scoket'; known are l2, l3, numa, package, node, "
                        "switch1, switch2, switch3, switch4, switch5, switch6, switch7, switch8");
    for (size_t size = 1; size < sizeof error; size++) {
        memset(error, '#', sizeof error);
        assert_false(nc_levels_parse("scoket", &levels, error, size));
        assert_true(strlen(error) < size);
        for (size_t i = size; i < sizeof error; i++)
            assert_int_equal(error[i], '#');
    }
}

/* The rules once more, rank by rank. */
static bool same(const int *a, const int *b, int level)
{
    return a[level] == b[level] && (level >= NODE || a[NODE] == b[NODE]);
}

/* Whether each two ranks that share `level` share `other` too; with -1, whether no two share it. */
static bool implies(const int *unit, int ranks, int columns, int level, int other)
{
    for (int i = 0; i < ranks; i++) {
        for (int j = 0; j < i; j++) {
            const int *a = unit + i * columns, *b = unit + j * columns;
            if (same(a, b, level) && (other < 0 || !same(a, b, other)))
                return false;
        }
    }
    return true;
}

static bool all_known(const int *unit, int ranks, int columns, int level)
{
    for (int i = 0; i < ranks; i++) {
        if (unit[i * columns + level] < 0 || (level < NODE && unit[i * columns + NODE] < 0))
            return false;
    }
    return true;
}

/* The names of the active levels, -1 after the last. */
static void expect_levels(const int *unit, int ranks, int columns, unsigned levels, int *expected)
{
    int kept[NC_LEVELS], n = 0, above = -1, used = 0;
    bool joined = false;

    for (int i = columns - 1; i >= 0; i--) {
        kept[i] = levels >> i & 1 && all_known(unit, ranks, columns, i) &&
                  !implies(unit, ranks, columns, i, -1) &&
                  (above < 0 || implies(unit, ranks, columns, i, above));
        if (kept[i])
            above = i;
    }
    for (int i = 0; i < columns; i++) {
        if (!kept[i])
            continue;
        if (n == 0 || !implies(unit, ranks, columns, i, used))
            expected[n++] = i;
        else if (expected[n - 1] <= L3 && i > L3)
            expected[n - 1] = i;
        used = i;
    }
    if (n > 0) {
        joined = true;
        for (int i = 0; i < ranks; i++)
            joined = joined && same(unit, unit + i * columns, used);
    }
    if (!joined)
        expected[n++] = TOP;
    expected[n] = -1;
}

static uint64_t seed = 1;

static int draw(int below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int) ((seed >> 33) % (uint64_t) below);
}

/* Nested for the most part, with some noise and some ranks that are not bound. */
static void fill(int *unit, int ranks, int columns)
{
    int noise = draw(3) ? 1000 : 8, breadth = 1 + draw(3), spread = 1 + draw(24);

    for (int i = 0; i < ranks; i++) {
        int n = draw(spread);
        for (int c = 0; c < columns; c++) {
            unit[i * columns + c] = !draw(noise) ? draw(4) - 1 : n;
            n /= draw(40) ? breadth : 1;
        }
        if (unit[i * columns + NODE] < 0 && draw(50))
            unit[i * columns + NODE] = 0;
    }
}

static void check_leaders(const struct nc_topo *t, const int *unit, int columns)
{
    for (int l = 0; l < t->levels; l++) {
        int units = 0;
        for (int i = 0; i < t->ranks; i++) {
            int lowest = 0;
            while (t->name[l] != TOP &&
                   !same(unit + i * columns, unit + lowest * columns, t->name[l]))
                lowest++;
            assert_int_equal(t->leader[l][i], lowest);
            units += lowest == i;
        }
        assert_int_equal(t->units[l], units);
        assert_true(l == 0 || units < t->units[l - 1]);
    }
}

static void random_tables(void **state)
{
    enum { TABLES = 4000, RANKS = 24 };
    int seen[NC_LEVELS] = {0};

    (void) state;
    for (int n = 0; n < TABLES; n++) {
        int unit[RANKS * NC_LEVELS], expected[NC_LEVELS + 2];
        int ranks = 1 + draw(RANKS), columns = NODE + 1 + draw(NC_SWITCHES + 1);
        unsigned levels = draw(3) ? NC_LEVELS_ALL : (unsigned) draw(NC_LEVELS_ALL);
        struct made m;

        fill(unit, ranks, columns);
        m = make(unit, ranks, columns, levels);
        expect_levels(unit, ranks, columns, levels, expected);
        assert_levels(&m.topo, expected);
        check_leaders(&m.topo, unit, columns);
        seen[m.topo.levels - 1]++;
        free(m.memory);
    }
    for (int i = 0; i < 4; i++)
        assert_true(seen[i] > TABLES / 50); /* the tables are no empty ones */
}

enum { RANKS = 4096, COLUMNS = 7 };

/* Numbers that could make the hash table crowd: counted, strided, scattered. */
static int number_of(int pattern, int rank, int level)
{
    int n = rank >> (2 * level);

    switch (pattern) {
        case 0:
            return n;
        case 1:
            return n << 12;
        case 2:
            return (int) (n * 1000003u & 0x7fffffff);
        default:
            return (RANKS - 1 - rank) >> (2 * level);
    }
}

static void cost(void **state)
{
    int *unit = malloc(sizeof(int) * RANKS * COLUMNS);

    (void) state;
    for (int pattern = 0; pattern < 4; pattern++) {
        struct made m;
        clock_t start;

        for (int i = 0; i < RANKS * COLUMNS; i++) {
            int level = i % COLUMNS;
            unit[i] = level == NODE ? i / COLUMNS / 256 : number_of(pattern, i / COLUMNS, level);
            if (level > NODE)
                unit[i] = i / COLUMNS / (level == SWITCH1 ? 512 : 2048);
        }
        start = clock();
        m = make(unit, RANKS, COLUMNS, NC_LEVELS_ALL);
        assert_true(clock() - start < CLOCKS_PER_SEC / 10);
        assert_true(m.topo.looks >= RANKS * (COLUMNS - 1));
        assert_true(m.topo.looks <= 2 * RANKS * COLUMNS);
        free(m.memory);
    }
    free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines), cmocka_unit_test(stands_for),
        cmocka_unit_test(one_rank), cmocka_unit_test(unbound),
        cmocka_unit_test(crossing), cmocka_unit_test(numbers_count_within_the_node),
        cmocka_unit_test(texts),    cmocka_unit_test(random_tables),
        cmocka_unit_test(cost),
    };
    return cmocka_run_group_tests_name("topo", tests, NULL, NULL);
}
