/* mpich/machine.c: the units and mappings of odd machines, and the groups that follow. Each machine
 * is a synthetic topology of hwloc, or a file in machines/ if no such topology describes it. Also
 * topologies and mappings that are refused. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/nc_group.h"
#include "mpich/machine.h"

static char error[256];

static struct nc_machine *load(const char *topology)
{
    struct nc_machine *m = nc_machine_load(topology, error, sizeof error);

    if (!m)
        fail_msg("%s", error);
    return m;
}

/* ---- mappings ---- */

/* Also with fewer ranks, in memory of the exact size: AddressSanitizer sees what goes beyond. */
static void check_map(const struct nc_machine *m, const char *mapping, const int *expected, int n)
{
    for (int ranks = 1; ranks <= n; ranks++) {
        int *processor = malloc(sizeof(int) * (size_t) ranks);

        if (!nc_machine_map(m, mapping, ranks, processor, error, sizeof error))
            fail_msg("%s", error);
        for (int i = 0; i < ranks; i++)
            assert_int_equal(processor[i], expected[i]);
        free(processor);
    }
}

#define MAP(m, mapping, ...) \
    check_map(m, mapping, (int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int))

static void assert_one_line(size_t size)
{
    assert_true(strlen(error) < size);
    assert_null(strchr(error, '\n'));
}

static void refuse_map(const struct nc_machine *m, const char *mapping, int ranks, const char *line)
{
    int *processor = malloc(sizeof(int) * (size_t) ranks);

    assert_false(nc_machine_map(m, mapping, ranks, processor, error, sizeof error));
    assert_string_equal(error, line);
    for (size_t size = 1; size <= sizeof error; size++) {
        memset(error, '#', sizeof error);
        assert_false(nc_machine_map(m, mapping, ranks, processor, error, size));
        assert_one_line(size);
        for (size_t i = size; i < sizeof error; i++)
            assert_int_equal(error[i], '#');
    }
    free(processor);
}

/* ---- units ---- */

#define UNITS(m, processor, l2, l3, numa, package) \
    do { \
        int unit[NC_MACHINE_LEVELS]; \
        nc_machine_units(m, processor, unit); \
        assert_memory_equal(unit, ((int[]){l2, l3, numa, package}), sizeof unit); \
    } while (0)

static struct nc_cpus mask_of(const int *cpu)
{
    struct nc_cpus mask = {{0}};

    for (; *cpu >= 0; cpu++)
        mask.word[*cpu / 64] |= (uint64_t) 1 << *cpu % 64;
    return mask;
}

/* Of a mask of these processors, by the numbers of the operating system; -1 for none. */
#define MASK(m, l2, l3, numa, package, ...) \
    do { \
        int unit[NC_MACHINE_LEVELS]; \
        struct nc_cpus mask = mask_of((int[]){__VA_ARGS__, -1}); \
        nc_machine_units_of_mask(m, mask.word, NC_CPUS_WORDS, unit); \
        assert_memory_equal(unit, ((int[]){l2, l3, numa, package}), sizeof unit); \
    } while (0)

static bool tells(const struct nc_machine *m, const int *cpu)
{
    struct nc_cpus mask = mask_of(cpu);
    int unit[NC_MACHINE_LEVELS];

    nc_machine_units_of_mask(m, mask.word, NC_CPUS_WORDS, unit);
    return nc_machine_tells(m, unit);
}

#define TELLS(m, ...) tells(m, (int[]){__VA_ARGS__, -1})

/* ---- levels and groups ---- */

struct grouped {
    struct nc_topo topo;
    struct nc_groups groups;
    void *memory[2];
};

static struct grouped group(const struct nc_machine *m, const char *mapping, int ranks)
{
    enum { COLUMNS = NC_LEVEL_NODE + 1 };
    int *processor = malloc(sizeof(int) * (size_t) ranks);
    int *unit = malloc(sizeof(int) * COLUMNS * (size_t) ranks);
    struct nc_locations locations = {.ranks = ranks, .columns = COLUMNS, .unit = unit};
    struct grouped g;

    assert_true(nc_machine_map(m, mapping, ranks, processor, error, sizeof error));
    for (int i = 0; i < ranks; i++) {
        nc_machine_units(m, processor[i], unit + i * COLUMNS);
        unit[i * COLUMNS + NC_LEVEL_NODE] = 0;
    }
    g.memory[0] = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&g.topo, g.memory[0], &locations, NC_LEVELS_ALL);
    g.memory[1] = malloc(nc_groups_bytes(&g.topo));
    nc_groups_make(&g.groups, g.memory[1], &g.topo);
    free(unit);
    free(processor);
    return g;
}

static void ungroup(struct grouped *g)
{
    free(g->memory[0]);
    free(g->memory[1]);
}

/* Levels and groups as "numa (0 1) (2 3) node (0 2)". */
static void check_groups(const struct nc_machine *m, const char *mapping, int ranks,
                         const char *expected)
{
    struct grouped made = group(m, mapping, ranks);
    const struct nc_groups *g = &made.groups;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    for (int l = 0; l < g->levels; l++) {
        fprintf(f, "%s%s", l ? " " : "", nc_level_name(made.topo.name[l]));
        for (int i = g->level[l]; i < g->level[l + 1]; i++) {
            for (int k = g->first[i]; k < g->first[i + 1]; k++)
                fprintf(f, "%s%d", k > g->first[i] ? " " : " (", g->member[k]);
            fprintf(f, ")");
        }
    }
    fclose(f);
    assert_string_equal(text, expected);
    free(text);
    ungroup(&made);
}

/* ---- caches ---- */

static void no_l3(void **state)
{
    struct nc_machine *m = load("synthetic:package:2 [numa] l2:2 core:2 pu:1");

    (void) state;
    assert_int_equal(nc_machine_processors(m), 8);
    assert_int_equal(nc_machine_cache_bytes(m, NC_CACHE_LAST), 4 << 20);
    assert_int_equal(nc_machine_cache_bytes(m, NC_CACHE_L2), 4 << 20);
    assert_int_equal(nc_machine_cache_processors(m), 2);
    MAP(m, "core", 0, 1, 2, 3, 4, 5, 6, 7, 0, 1);
    MAP(m, "numa", 0, 4, 1, 5, 2, 6, 3, 7, 0, 4);
    MAP(m, "package", 0, 4, 1, 5, 2, 6, 3, 7, 0, 4);
    MAP(m, "list:7,0,7", 7, 0, 7);
    UNITS(m, 0, 0, -1, 0, 0);
    UNITS(m, 5, 2, -1, 1, 1);
    MASK(m, 2, -1, 1, 1, 4, 5);
    MASK(m, -1, -1, 0, 0, 1, 2);
    MASK(m, -1, -1, -1, -1, 3, 4);
    check_groups(m, "core", 8, "l2 (0 1) (2 3) (4 5) (6 7) numa (0 2) (4 6) node (0 4)");
    check_groups(m, "core", 4, "l2 (0 1) (2 3) numa (0 2)");
    check_groups(m, "numa", 4, "numa (0 2) (1 3) node (0 1)");
    nc_machine_free(m);
}

static void several_l3_in_numa(void **state)
{
    struct nc_machine *m = load("synthetic:package:2 [numa] l3:3 core:2 pu:1");

    (void) state;
    assert_int_equal(nc_machine_cache_bytes(m, NC_CACHE_LAST), 16 << 20);
    MAP(m, "core", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0);
    MAP(m, "numa", 0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 0);
    UNITS(m, 7, -1, 3, 1, 1);
    MASK(m, -1, 0, 0, 0, 0, 1);
    MASK(m, -1, -1, 0, 0, 1, 2);
    check_groups(m, "core", 12,
                 "l3 (0 1) (2 3) (4 5) (6 7) (8 9) (10 11) numa (0 2 4) (6 8 10) "
                 "node (0 6)");
    check_groups(m, "package", 6, "l3 (0 2) (1 3) (4) (5) numa (0 4) (1 5) node (0 1)");
    nc_machine_free(m);
}

static void l3_spans_numa(void **state)
{
    struct nc_machine *m = load("synthetic:l3:2 group:2 [numa] core:2 pu:1");

    (void) state;
    MAP(m, "numa", 0, 2, 4, 6, 1, 3, 5, 7, 0);
    UNITS(m, 3, -1, 0, 1, -1);
    MASK(m, -1, 0, -1, -1, 1, 2);
    check_groups(m, "core", 8, "numa (0 1) (2 3) (4 5) (6 7) node (0 2 4 6)");
    check_groups(m, "numa", 4, "l3 (0 1) (2 3) node (0 2)");
    refuse_map(m, "package", 2, "package: this machine has no level of that name");
    nc_machine_free(m);
}

/* ---- memory ---- */

/* hwloc makes such a node local to all processors of the object it hangs from. */
static void numa_without_processors(void **state)
{
    struct nc_machine *m = load("xml:" MACHINES "/memory_only.xml");

    (void) state;
    MAP(m, "numa", 0, 2, 1, 3, 0, 2);
    MAP(m, "package", 0, 2, 1, 3, 0, 2);
    UNITS(m, 1, -1, -1, 0, 0);
    UNITS(m, 2, -1, -1, 1, 1);
    MASK(m, -1, -1, 1, 1, 2, 3);
    MASK(m, -1, -1, -1, -1, 0, 2);
    check_groups(m, "core", 4, "numa (0 1) (2 3) node (0 2)");
    check_groups(m, "numa", 3, "numa (0 2) (1) node (0 1)");
    nc_machine_free(m);
}

static void package_without_memory(void **state)
{
    struct nc_machine *m = load("xml:" MACHINES "/no_memory.xml");

    (void) state;
    MAP(m, "core", 0, 1, 2, 3, 0);
    MAP(m, "numa", 0, 1, 0, 1, 0);
    MAP(m, "package", 0, 2, 1, 3, 0);
    UNITS(m, 1, -1, -1, 0, 0);
    UNITS(m, 2, -1, -1, -1, 1);
    MASK(m, -1, -1, -1, 1, 2);
    MASK(m, -1, -1, -1, -1, 0, 2);
    check_groups(m, "core", 4, "package (0 1) (2 3) node (0 2)");
    check_groups(m, "numa", 4, "numa (0 1 2 3)");
    nc_machine_free(m);
}

/* Knights Landing in SNC mode: each cluster has two NUMA nodes of its own, DDR and MCDRAM. */
static void two_numa_for_the_same_processors(void **state)
{
    struct nc_machine *m = load("synthetic:group:2 [numa] [numa] l2:2 core:2 pu:1");

    (void) state;
    MAP(m, "core", 0, 1, 2, 3, 4, 5, 6, 7, 0);
    MAP(m, "numa", 0, 4, 1, 5, 2, 6, 3, 7, 0);
    UNITS(m, 0, 0, -1, 0, -1);
    UNITS(m, 3, 1, -1, 0, -1);
    UNITS(m, 4, 2, -1, 2, -1);
    MASK(m, 3, -1, 2, -1, 6, 7);
    MASK(m, -1, -1, -1, -1, 3, 4);
    check_groups(m, "core", 8, "l2 (0 1) (2 3) (4 5) (6 7) numa (0 2) (4 6) node (0 4)");
    check_groups(m, "numa", 4, "numa (0 2) (1 3) node (0 1)");
    nc_machine_free(m);
}

/* A memory that all of a package reaches alike, beside those of its halves. */
static void numa_around_numa(void **state)
{
    struct nc_machine *m = load("synthetic:package:2 [numa] group:2 [numa] core:2 pu:1");

    (void) state;
    MAP(m, "numa", 0, 2, 4, 6, 1, 3, 5, 7, 0);
    UNITS(m, 0, -1, -1, 0, 0);
    UNITS(m, 3, -1, -1, 1, 0);
    UNITS(m, 4, -1, -1, 3, 1);
    UNITS(m, 7, -1, -1, 4, 1);
    MASK(m, -1, -1, 1, 0, 2, 3);
    MASK(m, -1, -1, -1, 0, 1, 2);
    MASK(m, -1, -1, -1, 1, 4, 5, 6, 7);
    check_groups(m, "core", 8, "numa (0 1) (2 3) (4 5) (6 7) package (0 2) (4 6) node (0 4)");
    nc_machine_free(m);
}

/* As emulated NUMA nodes may lie: a unit that holds no whole core. */
static void numa_inside_a_core(void **state)
{
    struct nc_machine *m = load("synthetic:core:2 numa:2 pu:1");

    (void) state;
    MAP(m, "core", 0, 2, 1, 3, 0);
    MAP(m, "numa", 0, 1, 2, 3, 0);
    UNITS(m, 2, -1, -1, 2, -1);
    MASK(m, -1, -1, -1, -1, 0, 1);
    check_groups(m, "core", 6, "numa (0 4) (1 5) (2) (3) node (0 1 2 3)");
    nc_machine_free(m);
}

/* ---- processors ---- */

static void one_processor(void **state)
{
    struct nc_machine *m = load("synthetic:package:1 core:1 pu:1");

    (void) state;
    assert_int_equal(nc_machine_processors(m), 1);
    assert_int_equal(nc_machine_cache_bytes(m, NC_CACHE_LAST), 0);
    assert_int_equal(nc_machine_cache_processors(m), 0);
    MAP(m, "core", 0, 0, 0);
    MAP(m, "numa", 0, 0, 0);
    MAP(m, "package", 0, 0, 0);
    UNITS(m, 0, -1, -1, 0, 0);
    check_groups(m, "core", 1, "top (0)");
    check_groups(m, "core", 3, "numa (0 1 2)");
    nc_machine_free(m);
}

/* The operating system numbers the second processors of all cores after the first ones. */
static void two_processors_in_a_core(void **state)
{
    struct nc_machine *m = load("synthetic:numa:2 l2:2 core:1 pu:2(indexes=0,4,1,5,2,6,3,7)");

    (void) state;
    MAP(m, "core", 0, 2, 4, 6, 1, 3, 5, 7, 0, 2);
    MAP(m, "numa", 0, 4, 2, 6, 1, 5, 3, 7, 0, 4);
    UNITS(m, 3, 1, -1, 0, -1);
    UNITS(m, 4, 2, -1, 1, -1);
    MASK(m, 0, -1, 0, -1, 0, 4);
    MASK(m, 1, -1, 0, -1, 5);
    MASK(m, -1, -1, 1, -1, 2, 3, 6, 7);
    MASK(m, -1, -1, -1, -1, 1, 2);
    check_groups(m, "core", 8, "l2 (0 4) (1 5) (2 6) (3 7) numa (0 1) (2 3) node (0 2)");
    nc_machine_free(m);
}

static void unlike_packages(void **state)
{
    struct nc_machine *m = load("xml:" MACHINES "/asymmetric.xml");

    (void) state;
    MAP(m, "core", 0, 1, 2, 3, 0);
    MAP(m, "numa", 0, 1, 0, 2, 0, 3, 0, 1);
    MAP(m, "package", 0, 1, 0, 2, 0, 3, 0, 1);
    UNITS(m, 0, -1, -1, 0, 0);
    UNITS(m, 1, -1, -1, 1, 1);
    check_groups(m, "core", 4, "numa (0) (1 2 3) node (0 1)");
    check_groups(m, "package", 5, "numa (0 2 4) (1 3) node (0 1)");
    nc_machine_free(m);
}

/* Of processors 0 1 2 and 3 4 5 a control group allows 0, 3 and 4; hwloc's are 0, 1 and 2. */
static void not_all_allowed(void **state)
{
    struct nc_machine *m = load("xml:" MACHINES "/allowed.xml");

    (void) state;
    assert_int_equal(nc_machine_processors(m), 3);
    MAP(m, "core", 0, 1, 2, 0);
    MAP(m, "numa", 0, 1, 0, 2, 0, 1);
    MAP(m, "package", 0, 1, 0, 2, 0, 1);
    MAP(m, "list:2,0", 2, 0);
    refuse_map(m, "list:3", 1, "list: rank 0: \"3\": must be a processor, 0 to 2");
    UNITS(m, 0, -1, -1, 0, 0);
    UNITS(m, 2, -1, -1, 1, 1);
    MASK(m, -1, -1, 0, 0, 0, 1, 2);
    MASK(m, -1, -1, 1, 1, 4, 5);
    MASK(m, -1, -1, -1, -1, 0, 3);
    MASK(m, -1, -1, -1, -1, 1, 5);
    check_groups(m, "core", 3, "numa (0) (1 2) node (0 1)");
    nc_machine_free(m);
}

/* hwloc keeps the package and its memory. */
static void none_of_a_package_allowed(void **state)
{
    struct nc_machine *m = load("xml:" MACHINES "/allowed_package.xml");

    (void) state;
    MAP(m, "core", 0, 1, 0);
    MAP(m, "numa", 0, 1, 0);
    MAP(m, "package", 0, 1, 0);
    UNITS(m, 1, -1, -1, 0, 0);
    MASK(m, -1, -1, 0, 0, 2, 3);
    MASK(m, -1, -1, -1, -1, 3, 4, 5);
    check_groups(m, "core", 2, "numa (0 1)");
    nc_machine_free(m);
}

static void masks_of_nothing(void **state)
{
    struct nc_machine *m = load("synthetic:package:2 [numa] core:2 pu:1");

    (void) state;
    MASK(m, -1, -1, -1, -1, -1);
    MASK(m, -1, -1, -1, -1, 4, 1023);
    MASK(m, -1, -1, 1, 1, 3, 1023);
    nc_machine_free(m);
}

static void hundreds_of_processors(void **state)
{
    enum { CORES = 512, PROCESSORS = 2 * CORES };
    struct nc_machine *m = load("synthetic:package:4 numa:4 l3:4 l2:8 core:1 pu:2");
    int processor[PROCESSORS + 1];
    struct grouped g = group(m, "numa", PROCESSORS);

    (void) state;
    assert_int_equal(nc_machine_processors(m), PROCESSORS);
    assert_true(nc_machine_map(m, "core", PROCESSORS + 1, processor, error, sizeof error));
    for (int i = 0; i <= PROCESSORS; i++)
        assert_int_equal(processor[i], i % CORES * 2 + i / CORES % 2);
    assert_true(nc_machine_map(m, "numa", PROCESSORS + 1, processor, error, sizeof error));
    for (int i = 0; i <= PROCESSORS; i++)
        assert_int_equal(processor[i], i % 16 * 64 + i / 16 % 32 * 2 + i / CORES % 2);
    for (int i = 0; i < PROCESSORS; i++)
        UNITS(m, i, i / 2, i / 16, i / 64, i / 256);
    MASK(m, 511, 63, 15, 3, 1022, 1023);
    MASK(m, -1, -1, -1, 3, 959, 960);

    assert_int_equal(g.topo.levels, 5);
    assert_memory_equal(g.topo.units, ((int[]){512, 64, 16, 4, 1}), 5 * sizeof(int));
    ungroup(&g);
    nc_machine_free(m);
}

static void this_machine(void **state)
{
    struct nc_machine *m = load("");
    int ranks = 2 * nc_machine_processors(m) + 1, unit[NC_MACHINE_LEVELS];
    int *processor = malloc(sizeof(int) * (size_t) ranks);

    (void) state;
    assert_true(nc_machine_map(m, "core", ranks, processor, error, sizeof error));
    for (int i = 0; i < ranks; i++) {
        assert_in_range(processor[i], 0, nc_machine_processors(m) - 1);
        nc_machine_units(m, processor[i], unit);
        for (int l = 0; l < NC_MACHINE_LEVELS; l++)
            assert_in_range(unit[l] + 1, 0, nc_machine_processors(m));
    }
    free(processor);
    nc_machine_free(m);
}

/* ---- what is refused ---- */

static void refused_mappings(void **state)
{
    struct nc_machine *m = load("synthetic:core:4 pu:1");

    (void) state;
    MAP(m, "list:3,2,1,0", 3, 2, 1);
    refuse_map(m, "list:", 1, "list: rank 0: \"\": must be a processor, 0 to 3");
    refuse_map(m, "list:0", 2, "list: 1 processors: must be one for each of 2 ranks");
    refuse_map(m, "list:0,1,", 2, "list: rank 2: \"\": must be a processor, 0 to 3");
    refuse_map(m, "list:0,1,", 3, "list: rank 2: \"\": must be a processor, 0 to 3");
    refuse_map(m, "list:0,1,x", 2, "list: rank 2: \"x\": must be a processor, 0 to 3");
    refuse_map(m, "list:0,,1", 2, "list: rank 1: \"\": must be a processor, 0 to 3");
    refuse_map(m, "list:0;1", 2, "list: rank 0: \"0;1\": must be a processor, 0 to 3");
    refuse_map(m, "list:0,-1", 2, "list: rank 1: \"-1\": must be a processor, 0 to 3");
    refuse_map(m, "list:4", 1, "list: rank 0: \"4\": must be a processor, 0 to 3");
    refuse_map(m, "list:4294967296", 1,
               "list: rank 0: \"4294967296\": must be a processor, 0 to 3");
    refuse_map(m, "list:99999999999999999999", 1,
               "list: rank 0: \"99999999999999999999\": must be a processor, 0 to 3");
    refuse_map(m, "cores", 1, "cores: must be core, numa, package or list:PROCESSOR,PROCESSOR,..");
    refuse_map(m, "", 1, ": must be core, numa, package or list:PROCESSOR,PROCESSOR,..");
    nc_machine_free(m);
}

/* One line of ours, and none that hwloc writes itself. */
static void refuse(const char *topology, const char *line)
{
    FILE *caught = tmpfile();
    int standard_error = dup(STDERR_FILENO);
    struct nc_machine *m;

    memset(error, 0, sizeof error);
    dup2(fileno(caught), STDERR_FILENO);
    __lsan_disable(); /* hwloc 2.9 loses the object that a file ends in */
    m = nc_machine_load(topology, error, sizeof error);
    __lsan_enable();
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    assert_null(m);
    assert_string_equal(error, line);
    assert_int_equal(lseek(fileno(caught), 0, SEEK_END), 0);
    fclose(caught);
}

static void refuse_text(const char *file, const char *text, size_t n, const char *problem)
{
    char topology[64], line[128];
    FILE *f = fopen(file, "w");

    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
    snprintf(topology, sizeof topology, "xml:%s", file);
    snprintf(line, sizeof line, "%s: must %s", topology, problem);
    refuse(topology, line);
}

/* What one processor, a half and all of a machine say of a place in it. */
static void units_that_tell(void **state)
{
    struct nc_machine *m = load("synthetic:package:2 l3:1 core:2 pu:1"),
                      *one = load("synthetic:l3:1 core:4 pu:1");

    (void) state;
    assert_true(TELLS(m, 0));
    assert_true(TELLS(m, 0, 1));
    assert_false(TELLS(m, 0, 2));
    assert_false(TELLS(m, 0, 1, 2, 3));
    assert_false(TELLS(one, 0));
    assert_false(TELLS(one, 0, 1, 2, 3));
    nc_machine_free(m);
    nc_machine_free(one);
}

static void refused_strings(void **state)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "package:x",
                                        "package:0 core:1",
                                        "core:2 pu:",
                                        "pu:1 core:1",
                                        "package:2 package:2 core:-1 pu:1"};
    char topology[64], line[160];

    (void) state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(topology, sizeof topology, "synthetic:%s", wrong[i]);
        snprintf(line, sizeof line,
                 "%s: must be a synthetic topology of hwloc, such as "
                 "synthetic:package:2 numa:2 core:32 pu:1",
                 topology);
        refuse(topology, line);
    }
    refuse("core:2", "core:2: must be synthetic:STRING or xml:FILE");
    refuse("xml:", "xml:: must be an XML file of hwloc: No such file or directory");
    refuse("xml:/nowhere", "xml:/nowhere: must be an XML file of hwloc: No such file or directory");
    refuse("xml:/", "xml:/: must be a topology hwloc can load");
}

static void refused_files(void **state)
{
    static const char *const wrong[] = {"",
                                        "\n",
                                        "text",
                                        "<topology>",
                                        "<a/>\n",
                                        "<a><b/></a>",
                                        "<topology version=\"2.0\"></topology>",
                                        "<topology version=\"9.0\">",
                                        "<?xml version=\"1.0\"?>",
                                        "<?xml version=\"1.0\"?>\n<html><body/></html>\n"};
    static const char problem[] = "be a topology hwloc can load";
    static const char processors[] =
        "have the processors of its cores, NUMA nodes and packages, each of them in one core";
    char file[] = "/tmp/test_machine.XXXXXX", text[8192], *core, *processor;
    FILE *whole = fopen(MACHINES "/memory_only.xml", "r");
    size_t n = fread(text, 1, sizeof text - 1, whole);

    (void) state;
    fclose(whole);
    text[n] = 0;
    close(mkstemp(file));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse_text(file, wrong[i], strlen(wrong[i]), problem);
    for (size_t cut = 0; cut < (size_t) (strstr(text, "</topology>") - text); cut += 7)
        refuse_text(file, text, cut, problem);
    core = strstr(text, "<object type=\"Core\" os_index=\"1\" cpuset=\"0x00000002\"");
    core = strchr(core, '2');
    *core = '1';
    refuse_text(file, text, n, processors);
    *core = '2';
    processor = strstr(text, "<object type=\"PU\"");
    memset(processor, ' ', strcspn(processor, "\n"));
    refuse_text(file, text, n, processors);
    unlink(file);
}

/* ---- names ---- */

/* A machine with this model in a file of hwloc; NULL: without. */
static void check_name(const char *model, const char *name)
{
    char file[] = "/tmp/test_machine.XXXXXX", topology[64], found[256];
    FILE *f = fdopen(mkstemp(file), "w");

    assert_non_null(f);
    fprintf(f, "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n"
               "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
               "allowed_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
               "allowed_nodeset=\"0x1\">\n"
               "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
               "nodeset=\"0x1\" complete_nodeset=\"0x1\" local_memory=\"1048576\"/>\n"
               "<object type=\"Package\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
               "nodeset=\"0x1\" complete_nodeset=\"0x1\">\n");
    if (model)
        fprintf(f, "<info name=\"CPUModel\" value=\"%s\"/>\n", model);
    for (int i = 0; i < 2; i++)
        fprintf(f,
                "<object type=\"PU\" os_index=\"%d\" cpuset=\"0x%d\" complete_cpuset=\"0x%d\" "
                "nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n",
                i, 1 << i, 1 << i);
    fprintf(f, "</object>\n</object>\n</topology>\n");
    fclose(f);
    snprintf(topology, sizeof topology, "xml:%s", file);
    struct nc_machine *m = load(topology);
    nc_machine_name(m, found, sizeof found);
    assert_string_equal(found, name);
    for (size_t size = 1; size < sizeof found; size++) {
        memset(found, '#', sizeof found);
        nc_machine_name(m, found, size);
        assert_true(strlen(found) < size);
    }
    nc_machine_free(m);
    remove(file);
}

static void names(void **state)
{
    char longest[300], expected[300];

    (void) state;
    check_name("Some(R) Thing(TM) 8480+ CPU @ 2.50GHz  ",
               "Some-R-Thing-TM-8480+-CPU-2.50GHz_numa-1_processors-2");
    check_name("../a/b", "a-b_numa-1_processors-2");
    check_name(" \xe2\x88\x9e ", "unknown_numa-1_processors-2");
    check_name(NULL, "unknown_numa-1_processors-2");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    snprintf(expected, sizeof expected, "%.126s_numa-1_processors-2", longest);
    check_name(longest, expected);
    struct nc_machine *m = load("synthetic:package:2 numa:2 core:3 pu:2");
    nc_machine_name(m, longest, sizeof longest);
    assert_string_equal(longest, "unknown_numa-4_processors-24");
    nc_machine_free(m);
}

int main(void)
{
    /* hwloc's plugins, where they are installed, have other texts of errors */
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_l3),
        cmocka_unit_test(several_l3_in_numa),
        cmocka_unit_test(l3_spans_numa),
        cmocka_unit_test(numa_without_processors),
        cmocka_unit_test(package_without_memory),
        cmocka_unit_test(two_numa_for_the_same_processors),
        cmocka_unit_test(numa_around_numa),
        cmocka_unit_test(numa_inside_a_core),
        cmocka_unit_test(one_processor),
        cmocka_unit_test(two_processors_in_a_core),
        cmocka_unit_test(unlike_packages),
        cmocka_unit_test(not_all_allowed),
        cmocka_unit_test(none_of_a_package_allowed),
        cmocka_unit_test(masks_of_nothing),
        cmocka_unit_test(hundreds_of_processors),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(refused_mappings),
        cmocka_unit_test(units_that_tell),
        cmocka_unit_test(refused_strings),
        cmocka_unit_test(refused_files),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
