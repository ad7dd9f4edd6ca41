/* Tests the barriers (PROTOCOLS.md, section 8): shm/nc_barrier*.c without MPI, called by ranks that
 * are threads, then by forked processes; more ranks than processors, random delays. Before a
 * barrier each rank writes the barrier's number n, after it the rank must find n of all ranks.
 * These words are plain memory, so ThreadSanitizer reports what a barrier does not order. Two rows
 * of words alternate: when a rank writes a row again, all ranks have entered another barrier since
 * they read it.
 *
 *   bin/barrier [SCALE [FILTER [threads|processes]]]    also bin/barrier-tsan, by ThreadSanitizer
 *
 * SCALE divides the number of phases; FILTER is a pattern of test names. alarm() ends a run that
 * hangs. test/run runs both; test/shm/mutants checks that they notice a broken barrier. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ranks.h"
#include "shm/nc_barrier.h"

enum {
    FLAG = NC_BARRIER_KINDS, /* `hierarchical` again, with release by the flag */
    VARIANTS,
    MIX = VARIANTS, /* a random variant in each phase */
    LARGEST = 130,
    LEVELS = 3,
    BETWEEN_FAILED = 7
};

/* In which phases a barrier has a `between` function. */
enum between { NEVER, ALWAYS, SOMETIMES };

struct run {
    int ranks, variant, phases;
    enum between between;
    int nodes;   /* NUMA nodes: rank r is on number r % nodes; two are a package */
    int delays;  /* one in so many steps is delayed */
    bool sleeps; /* each rank sleeps or yields, as it likes at the moment */
    struct shared *shared;
    char *segment; /* header page, parking, areas */
};

struct shared {
    uint64_t entered[2][LARGEST]; /* [phase % 2][rank] n; each rank writes its own, all read */
    uint64_t left[LARGEST]; /* [rank] n of the last barrier it left; rank 0 reads, in between */
    uint64_t between;       /* n of the last `between`; rank 0 writes, all read */
    struct nc_bell bell[LARGEST];
};

/* With ThreadSanitizer: threads only, as it does not see other processes, and at most 16 ranks, as
 * a barrier of 130 threads takes seconds. */
#ifdef __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static int scale = 1; /* ThreadSanitizer and the mutants make fewer phases */

/* A random number. Ranks with equal states draw equal numbers, without shared memory. */
static uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void delay(const struct run *run, uint64_t *state)
{
    if (random_next(state) % (unsigned) run->delays == 0) {
        if (random_next(state) % 2)
            usleep((useconds_t) (random_next(state) % 200));
        else
            sched_yield();
    }
}

/* A rank. */
struct rank {
    const struct run *run;
    int rank;
    char *area[LARGEST];
    struct nc_waiter waiter;
    struct nc_parking parking;
    struct nc_bell *bell[LARGEST];
    struct nc_barrier barrier[VARIANTS];
    void *topo_memory, *group_memory, *private_memory[VARIANTS];
    uint64_t dice, pace; /* random states: the same on all ranks; its own, for delays */
    uint64_t n, last;    /* numbers of its current barrier, and of the one before */
    int phase, wrong;
};

/* The wait loop calls it: delays the rank now and then, also between marking itself as a sleeper
 * and sleeping. */
static int progress(void *context)
{
    struct rank *r = context;

    delay(r->run, &r->pace);
    if (r->waiter.missed)
        _exit(1); /* a ring was lost; each of the next ones would cost as much time */
    r->waiter.sleep = r->run->sleeps && random_next(&r->pace) % 2;
    return 0;
}

/* ---- making a rank ---- */

static void make_groups(struct rank *r, struct nc_groups *groups)
{
    int unit[LARGEST][NC_LEVEL_NODE + 1] = {0};
    struct nc_locations locations = {
        .ranks = r->run->ranks, .columns = NC_LEVEL_NODE + 1, .unit = unit[0]};
    struct nc_topo topo;

    for (int i = 0; i < locations.ranks; i++) {
        unit[i][NC_LEVEL_NUMA] = i % r->run->nodes;
        unit[i][NC_LEVEL_PACKAGE] = unit[i][NC_LEVEL_NUMA] / 2;
    }
    r->topo_memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&topo, r->topo_memory, &locations, 1u << NC_LEVEL_NUMA | 1u << NC_LEVEL_PACKAGE);
    r->group_memory = malloc(nc_groups_bytes(&topo));
    nc_groups_make(groups, r->group_memory, &topo);
}

static const struct nc_barrier_algorithm *algorithm_of(int variant)
{
    return &nc_barrier_algorithms[variant == FLAG ? NC_BARRIER_HIERARCHICAL : variant];
}

static void make_barriers(struct rank *r)
{
    static const struct nc_tree_spec inside[LEVELS] = {
        {NC_TREE_KARY, 4}, {NC_TREE_KARY, 2}, {NC_TREE_FLAT, 2}};
    struct nc_groups groups;
    struct nc_barrier_levels levels = {.groups = &groups, .inside = inside};

    make_groups(r, &groups);
    for (int v = 0; v < VARIANTS; v++) {
        const struct nc_barrier_algorithm *a = algorithm_of(v);
        levels.flag = v == FLAG;
        r->private_memory[v] = malloc(nc_barrier_private_bytes(r->run->ranks));
        r->barrier[v] = (struct nc_barrier){.region = r->area,
                                            .row = r->run->segment +
                                                   nc_layout_row((uint32_t) r->run->ranks),
                                            .rank = r->rank,
                                            .ranks = r->run->ranks,
                                            .waiter = &r->waiter,
                                            .context = r};
        nc_barrier_shape(&r->barrier[v], r->private_memory[v], a, &levels);
    }
}

static size_t front_bytes(const struct run *run)
{
    struct nc_geometry g = nc_geometry_make((uint32_t) run->ranks, 1, 1, 1, 0, 4096);

    return nc_layout_front_bytes(&g);
}

static void make(struct rank *r, const struct run *run, int rank)
{
    *r = (struct rank){.run = run, .rank = rank, .dice = 42, .pace = (uint64_t) rank * 77 + 1};
    r->waiter = (struct nc_waiter){.progress = progress, .context = r, .yield = true};
    for (int i = 0; i < run->ranks; i++) {
        r->area[i] = run->segment + front_bytes(run) +
                     (size_t) i * nc_flags_bytes((uint32_t) run->ranks);
        r->bell[i] = &run->shared->bell[i];
    }
    if (run->sleeps) {
        nc_parking_init(&r->parking, run->segment, r->bell, rank, run->ranks);
        r->waiter.bell = r->bell[rank];
        r->waiter.parking = &r->parking;
    }
    make_barriers(r);
}

static void destroy(struct rank *r)
{
    free(r->topo_memory);
    free(r->group_memory);
    for (int v = 0; v < VARIANTS; v++)
        free(r->private_memory[v]);
}

/* ---- a phase ---- */

/* Ranks that have not entered this barrier. */
static int count_missing(const struct rank *r)
{
    int missing = 0;

    for (int i = 0; i < r->run->ranks; i++)
        missing += r->run->shared->entered[r->phase % 2][i] != r->n;
    return missing;
}

/* Rank 0 calls it when all ranks have arrived and none has left, and checks that. Its error, in
 * each third n, must be what the barrier returns. */
static int between(void *context)
{
    struct rank *r = context;

    r->wrong += r->rank != 0 || count_missing(r);
    for (int i = 0; i < r->run->ranks; i++)
        r->wrong += r->run->shared->left[i] != r->last;
    delay(r->run, &r->pace);
    r->run->shared->between = r->n;
    return r->n % 3 == 0 ? BETWEEN_FAILED : 0;
}

/* One barrier, with its checks. */
static void enter(struct rank *r, struct nc_barrier *b, nc_barrier_function function)
{
    struct shared *s = r->run->shared;
    bool with = r->run->between == ALWAYS ||
                (r->run->between == SOMETIMES && random_next(&r->dice) % 2);
    int expected = with && r->rank == 0 && r->n % 3 == 0 ? BETWEEN_FAILED : 0;

    b->between = with ? between : NULL;
    s->entered[r->phase % 2][r->rank] = r->n;
    r->wrong += function(b, r->n) != expected;
    r->wrong += count_missing(r);
    r->wrong += with && s->between != r->n;
    s->left[r->rank] = r->n;
}

/* All phases of a rank. Returns the number of errors it found. */
static int rank_main(const void *argument, int rank)
{
    const struct run *run = argument;
    struct rank *r = malloc(sizeof *r);
    int wrong;

    make(r, run, rank);
    for (; r->phase < run->phases; r->phase++) {
        int v = run->variant == MIX ? (int) (random_next(&r->dice) % VARIANTS) : run->variant;
        r->last = r->n;
        r->n += 1 + random_next(&r->dice) % 3;
        delay(run, &r->pace);
        enter(r, &r->barrier[v], algorithm_of(v)->function);
    }
    wrong = r->wrong + (r->waiter.missed != 0);
    destroy(r);
    free(r);
    return wrong;
}

/* ---- a run ---- */

/* One run by threads, one by processes, but for what is left out. */
static void check(struct run run)
{
    size_t segment = front_bytes(&run) + (size_t) run.ranks * nc_flags_bytes((uint32_t) run.ranks),
           bytes = segment + sizeof *run.shared;

    run.phases = 1 + run.phases / scale;
    for (int kind = 0; kind < RANKS_KINDS; kind++) {
        if (!ranks_run(kind) || (SANITIZED && kind == PROCESSES))
            continue;
        run.segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(run.segment, MAP_FAILED);
        run.shared = (struct shared *) (run.segment + segment);
        assert_int_equal(run_ranks(kind, run.ranks, rank_main, &run, 300), 0);
        munmap(run.segment, bytes);
    }
}

static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 33, 64, LARGEST};

static void check_sizes(int variant, int phases, bool sleeps)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && (!SANITIZED || sizes[i] <= 16); i++) {
        for (int with = NEVER; with <= (variant == MIX ? SOMETIMES : ALWAYS); with++)
            check((struct run){.ranks = sizes[i],
                               .variant = variant,
                               .phases = phases / sizes[i],
                               .between = (enum between) with,
                               .nodes = 1 + (int) i % 5,
                               .delays = 20 * sizes[i],
                               .sleeps = sleeps});
    }
}

/* The test of one variant; *state points to its number. */
static void one_algorithm(void **state)
{
    check_sizes(*(int *) *state, 3000, false);
}

static void any_after_any(void **state)
{
    (void) state;
    check_sizes(MIX, 9000, false);
}

static void asleep(void **state)
{
    (void) state;
    check_sizes(MIX, 3000, true);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[VARIANTS + 2] = {0};
    int variant[VARIANTS];

    for (int v = 0; v < VARIANTS; v++) {
        variant[v] = v;
        tests[v].name = v == FLAG ? "hierarchical, flag" : nc_barrier_algorithms[v].name;
        tests[v].test_func = one_algorithm;
        tests[v].initial_state = &variant[v];
    }
    tests[VARIANTS] = (struct CMUnitTest) cmocka_unit_test(any_after_any);
    tests[VARIANTS + 1] = (struct CMUnitTest) cmocka_unit_test(asleep);
    if (!ranks_arguments(argc, argv, &scale))
        return 2;
    alarm(600);
    return cmocka_run_group_tests_name("barrier", tests, NULL, NULL);
}
