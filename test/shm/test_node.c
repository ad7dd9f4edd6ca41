/* Tests the slot protocol (PROTOCOLS.md, sections 1 to 4): the functions of shm/ without MPI,
 * called by ranks that are threads, then by forked processes; more ranks than processors, random
 * delays. Each test is a geometry with random operations (operations.h); every rank checks every
 * byte it receives. alarm() ends a run that hangs.
 *
 *   bin/node [SCALE [FILTER [threads|processes]]]    also bin/node-tsan, built with ThreadSanitizer
 *
 * SCALE divides the number of operations; FILTER is a pattern of test names, or ! and a pattern of
 * those to leave out; `processes`: no thread is made. test/run runs both; test/shm/mutants checks
 * that they notice a broken protocol. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/nc_level_spec.h"
#include "operations.h"
#include "shm/nc_joint.h"
#include "ranks.h"

static int scale = 1; /* ThreadSanitizer and the mutants make fewer operations */

/* The context of `progress`, which the wait loop calls: it delays the rank now and then, also
 * between marking itself as a sleeper and sleeping. */
struct pacing {
    const struct run *run;
    uint64_t state;
    struct nc_waiter *waiter;
    const struct nc_queue *queue;
    uint64_t operation; /* that the rank is in, from 1 on */
    int gone;           /* so many times it has looked for a window that may be freed */
};

/* Waits until rank 1 has ended some operations after this one; but it may not be able to. */
static void lag(const struct nc_queue *q)
{
    nc_clock ahead = nc_clock_at(q->operation + 2 + q->geometry.send_controls, 0);

    for (int i = 0; i < 10 && !nc_clock_reached(nc_atomic_acquire(nc_queue_ack(q, 1)), ahead); i++)
        usleep(20);
}

static int progress(void *context)
{
    struct pacing *p = context;

    delay(p->run, &p->state);
    if (p->run->lags && p->queue->rank == 0)
        lag(p->queue);
    if (p->waiter->missed)
        _exit(1); /* a ring was lost; each of the next ones would cost as much time */
    if (p->run->waits == EITHER)
        p->waiter->sleep = random_next(&p->state) % 2;
    return 0;
}

static _Thread_local struct pacing *copying; /* of the rank that this thread or process is */

void __real_nc_copy_bytes(void *to, const void *from, size_t n, int how);
void __wrap_nc_copy_bytes(void *to, const void *from, size_t n, int how);

/* In the place of nc_copy_bytes, where others than nc_copy.c call it (the linker's --wrap): it
 * delays the rank now and then in the middle of a copy. */
void __wrap_nc_copy_bytes(void *to, const void *from, size_t n, int how)
{
    size_t half = n / 2;

    __real_nc_copy_bytes(to, from, half, how);
    delay(copying->run, &copying->state);
    __real_nc_copy_bytes((char *) to + half, (const char *) from + half, n - half, how);
}

void __real_nc_parking_enter(struct nc_parking *p, const struct nc_awaited *awaited, int n);
void __wrap_nc_parking_enter(struct nc_parking *p, const struct nc_awaited *awaited, int n);

/* In the place of nc_parking_enter: now and then words are reached between the last look at them
 * and the sleeper's mark. */
void __wrap_nc_parking_enter(struct nc_parking *p, const struct nc_awaited *awaited, int n)
{
    if (copying) /* not in tests without ranks */
        delay(copying->run, &copying->state);
    __real_nc_parking_enter(p, awaited, n);
}

/* Lets the ranks of a run wait as it says. bell[] and *parking must outlive the waiter. */
static void prepare_to_sleep(const struct run *run, int rank, struct nc_waiter *waiter,
                             struct nc_bell **bell, struct nc_parking *parking)
{
    int ranks = (int) run->geometry.ranks;

    if (run->waits == YIELDING)
        return;
    for (int i = 0; i < ranks; i++)
        bell[i] = &run->bell[i];
    nc_parking_init(parking, run->segment, bell, rank, ranks);
    waiter->sleep = true;
    waiter->bell = bell[rank];
    waiter->parking = parking;
}

/* ---- a rank ---- */

static void make_groups(struct place *p, const struct run *run)
{
    enum { COLUMNS = NC_LEVEL_NODE + 1 };
    int ranks = (int) run->geometry.ranks, nodes = run->nodes ? run->nodes : 1;
    int packages = run->packages ? run->packages : 1, caches = run->caches;
    struct nc_locations locations = {.ranks = ranks, .columns = COLUMNS};

    locations.unit = p->unit = calloc((size_t) ranks * COLUMNS, sizeof *p->unit);
    for (int r = 0; r < ranks; r++) {
        int *unit = p->unit + r * COLUMNS, numa = r % nodes;
        unit[NC_LEVEL_L2] = -1;
        unit[NC_LEVEL_L3] = caches ? numa * caches + r / nodes % caches : -1;
        unit[NC_LEVEL_NUMA] = numa;
        unit[NC_LEVEL_PACKAGE] = numa % packages;
    }
    p->topo_memory = malloc(nc_topo_bytes(&locations));
    nc_topo_make(&p->topo, p->topo_memory, &locations, NC_LEVELS_ALL);
    p->group_memory = malloc(nc_groups_bytes(&p->topo));
    nc_groups_make(&p->groups, p->group_memory, &p->topo);
}

static void make_routes(struct place *p, const struct run *run, const char *group)
{
    static const enum nc_tree_kind word[] = {NC_TREE_FLAT, NC_TREE_KARY, NC_TREE_BALANCED,
                                             NC_TREE_KNOMIAL, NC_TREE_CHAIN};
    const struct nc_tree_spec notice = {run->tree, run->k};
    struct nc_tree_spec inside[NC_ROUTE_LEVELS];
    int ranks = (int) run->geometry.ranks;
    size_t bytes = nc_route_bytes(ranks, p->groups.levels);
    struct nc_level_spec plan;

    assert_true(
        nc_level_spec_parse(&plan, group ? group : "", "flat kary/ balanced/ knomial/ chain"));
    for (int l = 0; l < p->groups.levels; l++) {
        enum nc_level name = p->topo.name[l];
        inside[l] = (struct nc_tree_spec){word[plan.algorithm[name]], plan.degree[name]};
    }
    for (int r = 0; r < ranks; r++)
        nc_route_make(&p->route[r], p->route_memory + (size_t) r * bytes, &p->groups, inside,
                      &notice, r);
}

static void make_place(struct place *p, const struct run *run)
{
    size_t ranks = run->geometry.ranks;

    make_groups(p, run);
    p->route_memory = malloc(ranks * nc_route_bytes((int) ranks, p->groups.levels));
    p->route = malloc(ranks * sizeof *p->route);
    make_routes(p, run, run->group);
}

/* Gives the ranks other routes, as a change of settings between calls does: a collective, so a
 * barrier comes first. Returns 0 or the error of the barrier. */
static int remake(struct rank *r, struct place *p, uint64_t choice)
{
    static const char *const groups[] = {"*:chain",
                                         "*:flat",
                                         "*:knomial/2",
                                         "numa:chain,*:flat",
                                         "numa:kary/2,*:chain",
                                         "numa:balanced/2,*:balanced/3"};

    int error = nc_barrier_central(r->barrier, r->queue->operation + 1);

    make_routes(p, r->run, groups[choice % 6]);
    r->route = p->route[r->queue->rank];
    return error;
}

static void free_place(struct place *p)
{
    free(p->route);
    free(p->route_memory);
    free(p->unit);
    free(p->topo_memory);
    free(p->group_memory);
}

/* See `mate` in struct rank. */
static int *make_mates(int ranks, int rank)
{
    int *mate = calloc((size_t) (ranks * (ranks + 1)), sizeof *mate);

    for (int teams = 1; teams <= ranks; teams++) {
        for (int i = 0; rank % teams + i * teams < ranks; i++)
            mate[teams * ranks + i] = rank % teams + i * teams;
    }
    return mate;
}

/* Makes the operations of a run. Returns how many were wrong. */
static int operate_all(struct rank *r, struct place *place, struct pacing *pacing)
{
    const struct run *run = r->run;
    uint64_t dice = 42, changes = 43;
    int wrong = 0;

    for (r->operation = 0; r->operation < run->operations; r->operation++) {
        delay(run, &pacing->state);
        if (run->remade && random_next(&changes) % 4 == 0)
            wrong += remake(r, place, random_next(&changes));
        pacing->operation = (uint64_t) r->operation + 1;
        nc_atomic_release(&run->live[r->queue->rank], pacing->operation);
        wrong += operate(r, &dice);
        nc_atomic_release(&run->live[r->queue->rank], 0);
    }
    return wrong + pacing->gone;
}

static void free_rank(struct rank *r)
{
    free(r->typed);
    free(r->stream);
    free(r->length);
    free(r->mate);
    free(r->memory);
}

/* Ranks that are threads reach all memory; also in parts, so that a rank may leave too early. */
static int fetch(void *context, void *to, const struct nc_origin *from, size_t n)
{
    delay(context, &(uint64_t){(uint64_t) (uintptr_t) to + n});
    memcpy(to, from->bytes, n / 2);
    delay(context, &(uint64_t){(uint64_t) (uintptr_t) to + n + 1});
    memcpy((char *) to + n / 2, from->bytes + n / 2, n - n / 2);
    return 0;
}

/* Bytes of the buffers of a rank that are shared; nobody's message is at the first byte. */
static size_t shared_of(const struct run *run)
{
    return streams_of(run) * user_bytes_of(run) + NC_LINE;
}

/* In the place of mpich/windows.c: the buffers of all ranks are one window, but a rank may free its
 * own as soon as it has left the operation. */
static uint64_t window_place(const void *ranks, const char *bytes, size_t n)
{
    const struct run *run = ranks;
    uint64_t offset = (uint64_t) ((uintptr_t) bytes - (uintptr_t) run->shared[0]);

    return offset + n <= run->geometry.ranks * shared_of(run) ? NC_IN_WINDOW | offset : 0;
}

static char *window_bytes(uint64_t place)
{
    const struct run *run = copying->run;
    uint64_t offset = place & ~NC_IN_WINDOW;

    copying->gone += nc_atomic_acquire(&run->live[offset / shared_of(run)]) != copying->operation;
    return run->shared[0] + offset;
}

static struct nc_transfer make_transfer(const struct run *run, struct nc_queue *queue,
                                        struct nc_traffic *traffic)
{
    size_t ranks = run->geometry.ranks;
    struct nc_direct *direct = NULL;

    if (run->direct != BY_QUEUE) {
        direct = malloc(sizeof *direct);
        *direct = (struct nc_direct){.above = 1000,
                                     .shared = run->direct == FETCHED ? NULL : run->shared,
                                     .shared_bytes = run->shared_bytes,
                                     .window_place = run->windows ? window_place : NULL,
                                     .window_bytes = window_bytes,
                                     .ranks = run,
                                     .fetch = run->direct == SHARED ? NULL : fetch,
                                     .context = (void *) run};
    }
    return (struct nc_transfer){.queue = queue,
                                .direct = direct,
                                .rule = run->rule,
                                .largest_fragment = run->geometry.slot_bytes,
                                .streams_above = 100000,
                                .paces_above = 3000,
                                .demotes_most = nc_copy_can_demote() ? 3000 : 0,
                                .pace = calloc(ranks, sizeof(struct nc_pace)),
                                .numa = calloc(ranks, sizeof(int)),
                                .traffic = traffic,
                                .flow = calloc(ranks, sizeof(struct nc_flow)),
                                .joint = calloc(ranks, sizeof(struct nc_joint)),
                                .awaited = calloc(2 * ranks, sizeof(struct nc_awaited))};
}

static void free_transfer(struct nc_transfer *transfer)
{
    free((void *) transfer->direct);
    free(transfer->pace);
    free((int *) transfer->numa);
    free(transfer->flow);
    free(transfer->joint);
    free(transfer->awaited);
}

/* Whether this rank's buffers are in memory that the others reach. */
static bool is_shared(const struct run *run, int rank)
{
    return run->direct == SHARED || (run->direct == SHARED_OR_FETCHED && rank % 2 == 0);
}

/* Messages went the ways that the run is about, and no others. */
static int wrong_way(const struct run *run, const struct nc_traffic *traffic)
{
    return (traffic->shared > 0) != (run->direct >= SHARED) ||
           (traffic->fetched > 0) != (run->direct == FETCHED || run->direct == SHARED_OR_FETCHED);
}

/* With `paced`: this rank has measured both kinds of stores into its own ring. */
static int not_paced(const struct run *run, const struct nc_pace *own)
{
    return run->paced && NC_COPY_STREAMS && !(own->cost[0] && own->cost[1]);
}

static int rank_main(const void *argument, int rank)
{
    const struct run *run = argument;
    size_t ranks = run->geometry.ranks;
    struct pacing pacing = {.run = run, .state = (uint64_t) rank * 77 + 1};
    struct nc_waiter waiter = {.progress = progress, .context = &pacing, .yield = true};
    struct nc_bell *bell[ranks];
    struct nc_parking parking;
    struct nc_queue queue;
    struct nc_traffic traffic = {.local = 0};
    struct place place;
    struct nc_transfer transfer = make_transfer(run, &queue, &traffic);
    struct nc_barrier barrier = {.region = run->region,
                                 .offset = nc_layout_make(&run->geometry).flags,
                                 .rank = rank,
                                 .ranks = (int) ranks,
                                 .waiter = &waiter};
    struct rank r = {.run = run,
                     .kinds = operations_named(run->kinds),
                     .queue = &queue,
                     .transfer = &transfer,
                     .barrier = &barrier,
                     .place = &place,
                     .user_bytes = user_bytes_of(run),
                     .typed = calloc(streams_of(run), sizeof *r.typed),
                     .stream = calloc(streams_of(run), sizeof *r.stream),
                     .length = calloc(3 * ranks, sizeof *r.length),
                     .mate = make_mates((int) ranks, rank)};
    void *private_memory = malloc(nc_queue_private_bytes(&run->geometry));
    int wrong;

    r.other = r.length + ranks;
    r.sent = r.other + ranks;
    r.memory = is_shared(run, rank) ? (unsigned char *) run->shared[rank] + NC_LINE
                                    : malloc(streams_of(run) * r.user_bytes);
    make_place(&place, run);
    r.route = place.route[rank];
    pacing.waiter = &waiter;
    pacing.queue = &queue;
    copying = &pacing;
    prepare_to_sleep(run, rank, &waiter, bell, &parking);
    nc_queue_init(&queue, run->region, &run->geometry, rank, private_memory, &waiter);
    wrong = operate_all(&r, &place, &pacing);
    wrong += waiter.missed != 0;
    wrong += wrong_way(run, &traffic);
    wrong += not_paced(run, &transfer.pace[rank]);
    wrong += run->waits == SLEEPING && waiter.ended_yielding != 0;
    free_place(&place);
    free_transfer(&transfer);
    free(private_memory);
    if (is_shared(run, rank))
        r.memory = NULL;
    free_rank(&r);
    return wrong;
}

/* ---- a run ---- */

static void find_regions(const struct nc_geometry *g, char *segment, char **region)
{
    for (uint32_t r = 0; r < g->ranks; r++)
        region[r] = segment + nc_layout_front_bytes(g) + r * nc_layout_make(g).region;
}

/* One run by threads, one by processes, but for what is left out. */
static void check(struct run run)
{
    uint32_t ranks = run.geometry.ranks;
    char *region[ranks], *shared[ranks];
    size_t segment = nc_layout_bytes(&run.geometry), bells = ranks * sizeof *run.bell,
           own = run.direct >= SHARED ? shared_of(&run) : 0, live = segment + bells + ranks * own,
           bytes = live + ranks * sizeof *run.live, shared_bytes[ranks];

    run.region = region;
    run.shared = shared;
    run.shared_bytes = shared_bytes;
    run.operations /= scale;
    for (int kind = 0; kind < RANKS_KINDS; kind++) {
        bool fetches = run.direct == FETCHED || run.direct == SHARED_OR_FETCHED;
        if (!ranks_run(kind) || (kind == PROCESSES && fetches))
            continue;
        run.segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(run.segment, MAP_FAILED);
        run.bell = (struct nc_bell *) (run.segment + segment);
        run.live = (struct nc_atomic *) (run.segment + live);
        find_regions(&run.geometry, run.segment, region);
        for (uint32_t r = 0; r < ranks; r++) {
            shared[r] = run.segment + segment + bells + r * own;
            shared_bytes[r] = run.windows ? 0 : own;
        }
        assert_int_equal(run_ranks(kind, (int) run.geometry.ranks, rank_main, &run, 500), 0);
        munmap(run.segment, bytes);
    }
}

/* ---- the tests ---- */

/* ranks, slots of a send ring, bytes of a slot, sets */
#define GEOMETRY(p, s, f, q) nc_geometry_make(p, s, f, q, 0, 4096)

static void one_slot(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(3, 1, 512, 1),
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .operations = 2000,
                       .largest = 6000,
                       .delays = 50});
}

static void two_slots_one_set(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(4, 2, 4096, 1),
                       .tree = NC_TREE_CHAIN,
                       .k = 2,
                       .operations = 1500,
                       .largest = 40000,
                       .delays = 50});
}

static void eight_slots_two_sets(void **state)
{
    struct nc_geometry geometry = GEOMETRY(2, 8, 8192, 2);

    (void) state;
    nc_geometry_lengthen(&geometry);
    check((struct run){.geometry = geometry,
                       .tree = NC_TREE_KNOMIAL,
                       .k = 8,
                       .paced = true,
                       .operations = 3000,
                       .largest = 200000,
                       .delays = 100});
}

/* How a segment begins that may grow: few control slots of either kind. */
static void small_segment(void **state)
{
    struct nc_geometry full = GEOMETRY(6, 8, 8192, 2);

    (void) state;
    check((struct run){.geometry = nc_geometry_small(&full),
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .operations = 2000,
                       .largest = 6000,
                       .delays = 50});
}

static void odd_fragments_sparse_types(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(5, 7, 1001, 3),
                       .tree = NC_TREE_KARY,
                       .k = 2,
                       .typed = true,
                       .operations = 600,
                       .largest = 30000,
                       .delays = 100});
}

static void model_fragments(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(3, 4, 8192, 4),
                       .kinds = "all",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .rule = NC_FRAG_FIXED,
                       .operations = 300,
                       .largest = 100000,
                       .delays = 100});
    check((struct run){.geometry = GEOMETRY(3, 4, 8192, 4),
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .rule = NC_FRAG_SQRT,
                       .operations = 600,
                       .largest = 100000,
                       .delays = 100});
}

/* Each rank changes its buffers in the operation after the one in which others read them. */
static void read_directly(enum direct direct, bool windows)
{
    struct run run = {.geometry = GEOMETRY(4, 2, 512, 2),
                      .kinds = "bcast scatter gather allgather barrier reduce",
                      .tree = NC_TREE_KNOMIAL,
                      .k = 2,
                      .direct = direct,
                      .windows = windows,
                      .operations = 3000,
                      .largest = 20000,
                      .delays = 50};

    check(run);
    run.tree = NC_TREE_FLAT;
    run.mismatch = true;
    run.waits = SLEEPING;
    check(run);
    run.nodes = 2;
    run.geometry = GEOMETRY(5, 2, 512, 2);
    run.group = "numa:chain,*:knomial/2";
    run.waits = EITHER;
    check(run);
    run.kinds = "bcast scatter gather allgather";
    run.typed = true;
    check(run);
    /* a rank that is late holds up the root alone */
    run.kinds = "scatter gather";
    run.late = true;
    run.mismatch = false; /* a root knows what it has to be ready for */
    check(run);
}

static void out_of_the_buffers(void **state)
{
    (void) state;
    read_directly(FETCHED, false);
}

static void out_of_shared_buffers(void **state)
{
    (void) state;
    read_directly(SHARED, false);
    read_directly(SHARED_OR_FETCHED, false);
}

static void out_of_windows(void **state)
{
    (void) state;
    read_directly(SHARED, true);
    read_directly(SHARED_OR_FETCHED, true);
}

/* Messages of several pieces, which the rank that has them copies, too: of each kind some, or
 * wrong_way says so, for there is nothing else that one side or the other copies. With fewer than
 * MANY operations a rank may have had no such message. */
static void copied_together(void **state)
{
    enum { MANY = 100 };
    static const char *const kinds[] = {"bcast", "scatter", "gather"};
    struct run run = {.geometry = GEOMETRY(2, 2, 512, 2),
                      .tree = NC_TREE_KNOMIAL,
                      .k = 2,
                      .direct = SHARED,
                      .fixed_root = true,
                      .operations = scale * MANY > 500 ? scale * MANY : 500,
                      .largest = 300000,
                      .delays = 10};
    struct nc_geometry few_controls = GEOMETRY(4, 4, 512, 2);

    (void) state;
    few_controls.send_controls = 2;
    for (int i = 0; i < 3; i++) {
        run.kinds = kinds[i];
        run.tree = NC_TREE_KNOMIAL;
        run.waits = YIELDING;
        check(run);
        run.tree = NC_TREE_FLAT;
        run.waits = SLEEPING;
        run.windows = true;
        check(run);
    }
    run.kinds = "scatter gather bcast";
    run.fixed_root = false;
    run.geometry = GEOMETRY(4, 2, 512, 2);
    run.direct = SHARED_OR_FETCHED;
    run.mismatch = true;
    run.waits = EITHER;
    check(run);
    run.kinds = "scatter gather";
    run.mismatch = false;
    run.late = true;
    check(run);
    run.windows = false;
    check(run);
    /* a reader whose buffer is not shared goes on to operations in which it announces, too */
    check((struct run){.geometry = few_controls,
                       .kinds = "scatter gather",
                       .tree = NC_TREE_FLAT,
                       .direct = SHARED_OR_FETCHED,
                       .lags = true,
                       .operations = 2000,
                       .largest = 5000});
}

/* Ranks go on to other operations that write their buffers. With broken kernels, and where some
 * buffers are not shared. */
static void reduces_out_of_shared_buffers(void **state)
{
    struct run run = {.geometry = GEOMETRY(6, 2, 512, 2),
                      .kinds = "allreduce_shared reduce_shared bcast reduce",
                      .tree = NC_TREE_KNOMIAL,
                      .k = 2,
                      .direct = SHARED,
                      .operations = 3000,
                      .largest = 20000,
                      .delays = 50};

    (void) state;
    check(run);
    run.mismatch = run.breaks = true;
    run.waits = SLEEPING;
    check(run);
    run.direct = SHARED_OR_FETCHED;
    run.geometry = GEOMETRY(5, 2, 512, 2);
    run.windows = true;
    check(run);
    /* several blocks of a slice, and streaming stores: of results where two ranks combine */
    run = (struct run){.geometry = GEOMETRY(4, 2, 512, 2),
                       .kinds = "allreduce_shared reduce_shared",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .direct = SHARED,
                       .operations = 300,
                       .largest = 400000,
                       .delays = 50};
    check(run);
    run.geometry = GEOMETRY(2, 2, 512, 2);
    run.windows = true;
    has_streamed_results();
    check(run);
    assert_true(has_streamed_results());
}

/* A message has a place only if the shared buffers have it whole: a byte more, and it has none. */
static void places(void **state)
{
    enum { ME = 1, BYTES = 1000, BEGIN = 100 };
    static char memory[2 * BYTES]; /* of rank ME, and behind that of the other rank */
    char *const shared[] = {memory + BYTES, memory};
    const size_t shared_bytes[] = {BYTES, BYTES};
    struct nc_direct direct = {.shared = shared, .shared_bytes = shared_bytes};
    struct nc_queue queue = {.rank = ME};
    struct nc_transfer t = {.queue = &queue, .direct = &direct};

    (void) state;
    assert_int_equal(nc_transfer_place(&t, memory + BEGIN, BYTES - BEGIN), BEGIN);
    assert_ptr_equal(nc_transfer_at(&t, ME, BEGIN), memory + BEGIN);
    assert_int_equal(nc_transfer_place(&t, memory + BEGIN, BYTES - BEGIN + 1), 0);
    assert_int_equal(nc_transfer_place(&t, memory + BYTES - 1, 1), BYTES - 1);
    assert_int_equal(nc_transfer_place(&t, memory + BYTES - 1, 2), 0);
    assert_int_equal(nc_transfer_place(&t, memory + BYTES - 1, SIZE_MAX), 0);
    assert_int_equal(nc_transfer_place(&t, memory + BYTES, 1), 0);
}

static void lengths_that_differ(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(4, 2, 512, 2),
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .mismatch = true,
                       .operations = 1500,
                       .largest = 5000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(3, 3, 100, 1),
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .mismatch = true,
                       .typed = true,
                       .operations = 800,
                       .largest = 3000,
                       .delays = 50});
}

static void many_more_ranks_than_processors(void **state)
{
    (void) state;
    for (int tree = NC_TREE_FLAT; tree <= NC_TREE_CHAIN; tree++)
        check((struct run){.geometry = GEOMETRY(32, 4, 1024, 2),
                           .tree = (enum nc_tree_kind) tree,
                           .k = 3,
                           .operations = 200,
                           .largest = 20000,
                           .delays = 200});
}

/* Relays: fragments go through the ring of a leader in each NUMA node except the root's. More
 * fragments than slots, any root, NUMA nodes of unequal size and of one rank, lengths that differ.
 */
static void several_numa_nodes(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(4, 2, 512, 1),
                       .nodes = 2,
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .operations = 1500,
                       .largest = 8000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(7, 1, 1000, 1),
                       .nodes = 3,
                       .tree = NC_TREE_CHAIN,
                       .k = 2,
                       .operations = 700,
                       .largest = 8000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(5, 3, 700, 2),
                       .nodes = 4,
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .typed = true,
                       .mismatch = true,
                       .operations = 700,
                       .largest = 8000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(16, 4, 1024, 2),
                       .nodes = 4,
                       .tree = NC_TREE_KARY,
                       .k = 2,
                       .operations = 300,
                       .largest = 20000,
                       .delays = 200});
}

/* Each algorithm on each of three levels: 13 ranks, 4 NUMA nodes, 2 packages. */
static void every_way_on_each_level(void **state)
{
    static const char *const word[] = {"flat", "kary/2", "knomial/2", "chain"};
    char group[80];

    (void) state;
    for (uint32_t i = 0; i < 64; i++) {
        snprintf(group, sizeof group, "numa:%s,package:%s,node:%s", word[i % 4], word[i / 4 % 4],
                 word[i / 16]);
        check((struct run){.geometry = GEOMETRY(13, 1 + i % 3, 512, 1 + i % 2),
                           .nodes = 4,
                           .packages = 2,
                           .kinds = "bcast reduce",
                           .group = group,
                           .tree = (enum nc_tree_kind)(i / 2 % 4),
                           .k = 2,
                           .operations = 80,
                           .largest = 5000,
                           .delays = 100});
    }
}

/* Relays of relays: chains and trees with more ranks in a row than a ring has slots, and up to four
 * levels. */
static void handed_on(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(9, 2, 512, 1),
                       .group = "*:chain",
                       .operations = 800,
                       .largest = 9000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(12, 1, 700, 1),
                       .nodes = 2,
                       .group = "numa:chain",
                       .tree = NC_TREE_CHAIN,
                       .k = 2,
                       .typed = true,
                       .mismatch = true,
                       .operations = 400,
                       .largest = 9000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(24, 3, 1000, 1),
                       .nodes = 4,
                       .packages = 2,
                       .caches = 2,
                       .group = "l3:knomial/2,package:kary/2,node:chain",
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .operations = 200,
                       .largest = 12000,
                       .delays = 200});
    check((struct run){.geometry = GEOMETRY(10, 2, 512, 2),
                       .nodes = 4,
                       .packages = 2,
                       .kinds = "all",
                       .group = "numa:knomial/2,*:chain",
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .operations = 1000,
                       .largest = 5000,
                       .delays = 50});
}

/* Inline messages only, from one root, which runs ahead until all receive control slots of a reader
 * are in use (kary), or all its own send control slots (flat). Then relays run ahead too. */
static void control_slots_run_ahead(void **state)
{
    static const struct {
        unsigned ranks;
        int nodes;
        enum nc_tree_kind tree;
    } tried[] = {{3, 1, NC_TREE_KARY}, {3, 1, NC_TREE_FLAT}, {5, 2, NC_TREE_FLAT}};

    (void) state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        check((struct run){.geometry = GEOMETRY(tried[i].ranks, 1, 64, 1),
                           .nodes = tried[i].nodes,
                           .tree = tried[i].tree,
                           .k = 2,
                           .fixed_root = true,
                           .operations = 30000,
                           .largest = 300,
                           .delays = 400});
}

static void scatters(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "scatter",
                       .operations = 2000,
                       .largest = 150000,
                       .delays = 100});
    check((struct run){.geometry = GEOMETRY(5, 2, 512, 2),
                       .kinds = "scatter",
                       .operations = 1500,
                       .largest = 6000,
                       .delays = 50});
    /* several fragments have room in a slot, at another distance in each turn of the ring */
    check((struct run){.geometry = GEOMETRY(3, 3, 32768, 1),
                       .kinds = "scatter",
                       .operations = 1500,
                       .largest = 40000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 5, 1001, 1),
                       .kinds = "scatter",
                       .typed = true,
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
}

static void gathers(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "gather",
                       .operations = 2000,
                       .largest = 150000,
                       .delays = 100});
    check((struct run){.geometry = GEOMETRY(5, 2, 512, 2),
                       .kinds = "gather",
                       .operations = 1500,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 5, 1001, 1),
                       .kinds = "gather",
                       .typed = true,
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(3, 4, 512, 4),
                       .kinds = "gather_left",
                       .operations = 2000,
                       .largest = 5000,
                       .delays = 50});
}

static void late_ranks(void **state)
{
    static const char *const kinds[] = {"scatter", "gather"};

    (void) state;
    for (int k = 0; k < 4; k++)
        check((struct run){.geometry = GEOMETRY(5, 4, 512, 2),
                           .kinds = kinds[k % 2],
                           .late = true,
                           .operations = k < 2 ? 400 : 8000,
                           .largest = k < 2 ? 20000 : 5000,
                           .delays = 200,
                           .waits = k < 2 ? YIELDING : SLEEPING});
}

static void allgathers(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "allgather",
                       .operations = 2000,
                       .largest = 150000,
                       .delays = 100});
    check((struct run){.geometry = GEOMETRY(5, 2, 512, 2),
                       .kinds = "allgather",
                       .operations = 1000,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(9, 2, 512, 1),
                       .kinds = "allgather",
                       .operations = 500,
                       .largest = 3000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 5, 1001, 1),
                       .kinds = "allgather",
                       .typed = true,
                       .mismatch = true,
                       .operations = 700,
                       .largest = 9000,
                       .delays = 50});
}

/* Blocks longer than the ring; rings of one to five slots; an odd number of ranks, in whose rounds
 * one of them is alone; ranks that come late, and that sleep. */
static void exchanges(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "exchange",
                       .operations = 2000,
                       .largest = 150000,
                       .delays = 100});
    for (uint32_t slots = 1; slots <= 3; slots++)
        check((struct run){.geometry = GEOMETRY(3 + slots, slots, 512, 1 + slots / 3),
                           .kinds = "exchange",
                           .operations = 700,
                           .largest = 3000,
                           .delays = 50,
                           .waits = slots == 2 ? EITHER : YIELDING});
    check((struct run){.geometry = GEOMETRY(3, 5, 1001, 1),
                       .kinds = "exchange barrier",
                       .typed = true,
                       .mismatch = true,
                       .operations = 700,
                       .largest = 9000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 4, 512, 2),
                       .kinds = "exchange",
                       .typed = true,
                       .operations = 700,
                       .largest = 9000,
                       .delays = 50,
                       .waits = SLEEPING});
    /* send control slots in use */
    check((struct run){.geometry = GEOMETRY(9, 2, 64, 1),
                       .kinds = "exchange gather",
                       .nodes = 2,
                       .operations = 2000,
                       .largest = 300,
                       .delays = 50});
}

static void reduces(void **state)
{
    (void) state;
    has_streamed_results();
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "reduce",
                       .operations = 1000,
                       .largest = 150000,
                       .delays = 100});
    assert_true(has_streamed_results());
    for (int tree = NC_TREE_FLAT; tree <= NC_TREE_CHAIN; tree++)
        check((struct run){.geometry = GEOMETRY(9, 1, 512, 1),
                           .nodes = 1 + tree,
                           .kinds = "reduce",
                           .tree = (enum nc_tree_kind) tree,
                           .k = 2,
                           .operations = 700,
                           .largest = 6000,
                           .delays = 50});
    check((struct run){.geometry = GEOMETRY(6, 5, 1001, 1),
                       .nodes = 2,
                       .kinds = "reduce",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .typed = true,
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
    /* inline messages to one root: the senders run ahead until their send control slots are in use
     */
    check((struct run){.geometry = GEOMETRY(4, 1, 64, 1),
                       .kinds = "reduce",
                       .tree = NC_TREE_CHAIN,
                       .k = 2,
                       .fixed_root = true,
                       .operations = 10000,
                       .largest = 300,
                       .delays = 400});
}

static void reduces_in_order(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "reduce_ordered",
                       .operations = 800,
                       .largest = 150000,
                       .delays = 100});
    check((struct run){.geometry = GEOMETRY(5, 2, 512, 2),
                       .kinds = "reduce_ordered",
                       .operations = 1000,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(9, 2, 512, 1),
                       .kinds = "reduce_ordered",
                       .operations = 700,
                       .largest = 4000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(3, 1, 777, 1),
                       .kinds = "reduce_ordered",
                       .rule = NC_FRAG_SQRT,
                       .operations = 1000,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 5, 1001, 1),
                       .kinds = "reduce_ordered",
                       .typed = true,
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
}

static void reduces_to_parts(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "reduce_scatter",
                       .operations = 800,
                       .largest = 150000,
                       .delays = 100});
    check((struct run){.geometry = GEOMETRY(5, 2, 512, 2),
                       .kinds = "reduce_scatter",
                       .operations = 1000,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(3, 1, 777, 1),
                       .kinds = "reduce_scatter reduce_ordered",
                       .operations = 1500,
                       .largest = 2000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 5, 1001, 1),
                       .kinds = "reduce_scatter",
                       .typed = true,
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
}

/* Two ranks with short parts. With two send control slots a rank that runs ahead as the root of a
 * broadcast comes to the one that the other still reads. */
static void reduces_in_pairs(void **state)
{
    struct run run = {.geometry = GEOMETRY(2, 2, 512, 1),
                      .kinds = "reduce_scatter",
                      .operations = 3000,
                      .largest = 800,
                      .delays = 50};

    (void) state;
    check(run);
    run.mismatch = run.breaks = true;
    check(run);
    run.typed = true;
    check(run);
    run.geometry = GEOMETRY(4, 2, 512, 1);
    check(run);
    run.typed = run.mismatch = run.breaks = false;
    run.geometry = GEOMETRY(2, 2, 512, 1);
    run.geometry.send_controls = 2;
    run.kinds = "reduce_scatter bcast";
    run.tree = NC_TREE_FLAT;
    check(run);
}

static void scans(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "scan_step scan_chain",
                       .operations = 400,
                       .largest = 150000,
                       .delays = 100});
    has_streamed_results();
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "scan_chain",
                       .operations = 2000,
                       .largest = 150000,
                       .delays = 100});
    assert_true(has_streamed_results());
    check((struct run){.geometry = GEOMETRY(6, 2, 512, 2),
                       .kinds = "scan_step scan_chain",
                       .operations = 1000,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(9, 1, 777, 1),
                       .kinds = "scan_step scan_chain",
                       .rule = NC_FRAG_SQRT,
                       .operations = 700,
                       .largest = 4000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(4, 3, 512, 1),
                       .kinds = "scan_chain",
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(5, 5, 1001, 1),
                       .kinds = "scan_step",
                       .typed = true,
                       .mismatch = true,
                       .operations = 1000,
                       .largest = 9000,
                       .delays = 50});
    /* inline messages: the senders run ahead until their send control slots are in use */
    check((struct run){.geometry = GEOMETRY(4, 1, 64, 1),
                       .kinds = "scan_step",
                       .operations = 10000,
                       .largest = 300,
                       .delays = 400});
}

/* A rank whose op kernel fails returns the error, and still makes its part of the operation for the
 * other ranks. */
static void reduces_that_break(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(5, 2, 512, 1),
                       .nodes = 2,
                       .kinds = "reduce reduce_ordered reduce_scatter bcast scan_step scan_chain",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 2,
                       .breaks = true,
                       .operations = 1200,
                       .largest = 5000,
                       .delays = 50});
}

/* Random operations with random roots; nothing between them synchronises the ranks except a barrier
 * that is drawn as an operation. */
static void mixed(void **state)
{
    (void) state;
    for (uint32_t ranks = 1; ranks <= 10; ranks += 3)
        check((struct run){.geometry = GEOMETRY(ranks, 2, 512, 2),
                           .nodes = 2,
                           .kinds = "all",
                           .tree = NC_TREE_KNOMIAL,
                           .k = 2,
                           .operations = 1200,
                           .largest = 5000,
                           .delays = 50});
    check((struct run){.geometry = GEOMETRY(3, 1, 1000, 1),
                       .kinds = "all",
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .operations = 3000,
                       .largest = 6000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(6, 3, 777, 2),
                       .nodes = 3,
                       .kinds = "all",
                       .tree = NC_TREE_CHAIN,
                       .k = 2,
                       .typed = true,
                       .mismatch = true,
                       .operations = 700,
                       .largest = 5000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(2, 8, 8192, 2),
                       .kinds = "all",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 8,
                       .operations = 2000,
                       .largest = 200000,
                       .delays = 100});
}

/* As `mixed`, without barriers and allgathers, so that ranks can be several operations apart. */
static void mixed_apart(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(4, 2, 512, 1),
                       .nodes = 2,
                       .kinds = "bcast scatter gather reduce",
                       .tree = NC_TREE_FLAT,
                       .k = 2,
                       .operations = 3000,
                       .largest = 3000,
                       .delays = 50});
    check((struct run){.geometry = GEOMETRY(3, 2, 512, 1),
                       .kinds = "scatter gather",
                       .operations = 20000,
                       .largest = 300,
                       .delays = 400});
    /* the senders run ahead of the root until their send control slots are in use */
    check((struct run){.geometry = GEOMETRY(3, 1, 64, 1),
                       .kinds = "gather",
                       .fixed_root = true,
                       .operations = 20000,
                       .largest = 300,
                       .delays = 400});
}

/* The routes change between operations, while slots still have readers of the old routes, whose
 * acks must be awaited. */
static void mixed_and_remade(void **state)
{
    (void) state;
    for (int packages = 1; packages <= 2; packages++)
        check((struct run){.geometry = GEOMETRY(7, 4, 512, 2),
                           .nodes = 4,
                           .packages = packages,
                           .remade = true,
                           .kinds = "bcast gather reduce",
                           .tree = NC_TREE_KNOMIAL,
                           .k = 2,
                           .operations = 3000,
                           .largest = 3000,
                           .delays = 50});
}

static void mixed_on_many_ranks(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(32, 4, 1024, 2),
                       .nodes = 4,
                       .kinds = "all",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 3,
                       .operations = 150,
                       .largest = 6000,
                       .delays = 200});
}

/* A clock counts operations modulo 2^24, and clocks that are 2^23 operations apart compare wrongly.
 * A slot, or a control slot, that is not used for so long must not stop the queue. */
static void long_lived(void **state)
{
    struct nc_geometry g = GEOMETRY(2, 4, 1024, 1);
    char *segment = calloc(1, nc_layout_bytes(&g)), *region[2];
    struct nc_waiter w[2] = {{.yield = true}, {.yield = true}};
    struct nc_queue q[2];
    void *memory[2];
    const int other = 1;
    const struct nc_readers readers = {.rank = {&other, NULL}, .count = {1, 0}};
    unsigned left; /* seconds for all tests */

    (void) state;
    find_regions(&g, segment, region);
    for (int r = 0; r < 2; r++) {
        memory[r] = malloc(nc_queue_private_bytes(&g));
        nc_queue_init(&q[r], region, &g, r, memory[r], &w[r]);
    }
    left = alarm(60);
    nc_queue_take_slot(&q[0], nc_clock_at(0, 1), &readers);
    nc_queue_take_send_control(&q[0], &readers);
    for (uint64_t i = 0; i < (1u << 23) + 100000; i++) {
        nc_queue_end(&q[0]);
        nc_queue_end(&q[1]);
    }
    for (int i = 0; i < 9; i++) {
        if (i >= 4)
            nc_queue_acknowledge(&q[1], (uint64_t) i - 3);
        assert_ptr_equal(nc_queue_take_recv_control(&q[0], 1), nc_queue_recv_control(&q[0], 1));
        assert_ptr_equal(
            nc_queue_take_slot(&q[0], nc_clock_at(q[0].operation, (uint64_t) i + 1), &readers),
            nc_queue_slot(&q[0], 0, (uint64_t) i + 1));
    }
    /* these control slots have not been written for 2^23 operations, or never: their old clocks
     * must not look like an announcement */
    for (int i = 0; i < 2 * NC_RECV_CONTROLS; i++) {
        assert_false(nc_clock_reached(nc_atomic_acquire(&nc_queue_recv_control(&q[0], 0)->clock),
                                      nc_clock_at(q[0].operation, 1)));
        assert_false(nc_clock_reached(nc_atomic_acquire(&nc_queue_send_control(&q[1], 0)->clock),
                                      nc_clock_at(q[1].operation, 1)));
        assert_ptr_equal(nc_queue_take_send_control(&q[0], &readers),
                         nc_queue_send_control(&q[0], 0));
        nc_queue_end(&q[0]);
        nc_queue_end(&q[1]);
    }
    alarm(left);
    for (int r = 0; r < 2; r++)
        free(memory[r]);
    free(segment);
}

/* ---- a writer that runs ahead of its reader while clocks are renewed ---- */

struct ahead {
    struct nc_geometry geometry;
    char *segment;
    int operations;
};

static int ahead_main(const void *argument, int rank)
{
    const struct ahead *run = argument;
    void *memory = malloc(nc_queue_private_bytes(&run->geometry));
    struct nc_waiter waiter = {.yield = true};
    struct nc_readers reader;
    struct nc_queue q;
    char *region[2];
    int wrong = 0;

    find_regions(&run->geometry, run->segment, region);
    nc_queue_init(&q, region, &run->geometry, rank, memory, &waiter);
    reader = nc_queue_one(&q, 1);
    for (int i = 0; i < run->operations; i++) {
        struct nc_control *control;
        int got;
        if (rank == 0) {
            control = nc_queue_take_send_control(&q, &reader);
            control->header = (struct nc_control_header){.total = sizeof i};
            memcpy(control->payload, &i, sizeof i);
            nc_queue_announce(&q, control, 1);
        } else {
            control = nc_queue_send_control(&q, 0);
            nc_queue_await(&q, control, 1);
            memcpy(&got, control->payload, sizeof got);
            wrong += got != i;
        }
        nc_queue_end(&q);
    }
    free(memory);
    return wrong;
}

/* refresh_control must not write over the announcement of an operation that the reader has not come
 * to. Long enough, whatever the scale, for the clocks to be renewed. */
static void ahead_of_its_reader(void **state)
{
    struct ahead run = {.geometry = GEOMETRY(2, 4, 512, 2), .operations = 140000};
    size_t bytes = nc_layout_bytes(&run.geometry);

    (void) state;
    if (!ranks_run(THREADS))
        return;
    run.segment = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(run.segment, 0, bytes);
    assert_int_equal(run_ranks(THREADS, 2, ahead_main, &run, 300), 0);
    free(run.segment);
}

/* ---- sleeping ranks (PROTOCOLS.md, 5.2) ---- */

static void asleep_in_every_operation(void **state)
{
    (void) state;
    for (int waits = SLEEPING; waits <= EITHER; waits++)
        check((struct run){.geometry = GEOMETRY(4, 2, 512, 2),
                           .kinds = "all",
                           .tree = NC_TREE_KNOMIAL,
                           .k = 2,
                           .nodes = 2,
                           .operations = 1200,
                           .largest = 5000,
                           .delays = 30,
                           .waits = (enum waits) waits});
}

static void asleep_two_ranks_one_slot(void **state)
{
    (void) state;
    for (int waits = SLEEPING; waits <= EITHER; waits++)
        check((struct run){.geometry = GEOMETRY(2, 1, 256, 1),
                           .kinds = "all",
                           .tree = NC_TREE_FLAT,
                           .k = 2,
                           .operations = 3000,
                           .largest = 2000,
                           .waits = (enum waits) waits});
}

static void asleep_many_more_ranks_than_processors(void **state)
{
    (void) state;
    check((struct run){.geometry = GEOMETRY(24, 4, 1024, 2),
                       .kinds = "all",
                       .tree = NC_TREE_KNOMIAL,
                       .k = 4,
                       .nodes = 4,
                       .operations = 150,
                       .largest = 6000,
                       .delays = 100,
                       .waits = EITHER});
}

/* Of a rank that marks itself and then looks at the clock, and one that moves the clock and then
 * looks for marks, one must see the other (PROTOCOLS.md, 5.2: Q3 and Q4, W1 and W2). Both do so at
 * the same time, again and again, without sleeping. */
struct meeting {
    struct run run;
    struct nc_place round[2]; /* what each of the two has done; a line each */
    struct nc_place *message; /* MESSAGES lines */
    struct nc_atomic *clock;
    int lost;
};

/* The message of an operation, which is stored before its clock: a line that no cache holds, so
 * that the clock is stored late even where both processors share a cache. */
enum { MESSAGES = 1 << 20 };

static struct nc_atomic *message_of(struct meeting *m, int operation)
{
    return &m->message[(uint32_t) operation * 2654435769u >> 12].word;
}

static void meet(struct meeting *m, int rank, uint64_t round)
{
    nc_atomic_release(&m->round[rank].word, round);
    for (int i = 0; nc_atomic_acquire(&m->round[1 - rank].word) < round; i++) {
        if (i % 1000 == 999)
            sched_yield();
    }
}

static void *move_the_clock(void *argument)
{
    struct meeting *m = argument;
    struct nc_bell *bell[2];
    struct nc_parking parking;
    struct nc_waiter waiter = {0};

    prepare_to_sleep(&m->run, 1, &waiter, bell, &parking);
    for (int i = 1; i <= m->run.operations; i++) {
        meet(m, 1, 2 * (uint64_t) i);
        for (int k = 0; k < i % 16; k++)
            nc_atomic_pause();
        nc_atomic_release(message_of(m, i), (uint64_t) i);
        nc_release(m->clock, (nc_clock) i, &waiter);
        meet(m, 1, 2 * (uint64_t) i + 1);
    }
    return NULL;
}

static void *go_to_sleep(void *argument)
{
    struct meeting *m = argument;
    struct nc_bell *bell[2];
    struct nc_parking parking;
    struct nc_waiter waiter = {0};

    prepare_to_sleep(&m->run, 0, &waiter, bell, &parking);
    for (int i = 1; i <= m->run.operations; i++) {
        bool seen;
        meet(m, 0, 2 * (uint64_t) i);
        for (int k = 0; k < i / 16 % 32; k++)
            nc_atomic_pause();
        nc_bell_listen(bell[0]);
        nc_parking_enter(&parking, &(struct nc_awaited){m->clock, (nc_clock) i}, 1);
        seen = nc_clock_reached(nc_atomic_load_ordered(m->clock), (nc_clock) i);
        meet(m, 0, 2 * (uint64_t) i + 1);
        m->lost += !seen && nc_bell_is_awaited(bell[0]);
        m->lost += nc_atomic_acquire(message_of(m, i)) != (uint64_t) i;
        nc_parking_leave(&parking, &(struct nc_awaited){m->clock, (nc_clock) i}, 1);
    }
    return NULL;
}

/* Skips a test that is of threads alone. */
static void need_threads(void)
{
    if (!ranks_run(THREADS))
        return;
}

static void mark_and_look(void **state)
{
    struct meeting m = {.run = {.geometry = GEOMETRY(2, 1, 256, 1),
                                .operations = 300000 / scale,
                                .waits = SLEEPING}};
    size_t segment = nc_layout_bytes(&m.run.geometry);
    pthread_t other;

    (void) state;
    need_threads();
    m.run.segment = aligned_alloc(NC_LINE, segment + sizeof *m.run.bell * 2);
    memset(m.run.segment, 0, segment + sizeof *m.run.bell * 2);
    m.run.bell = (struct nc_bell *) (m.run.segment + segment);
    m.clock = (struct nc_atomic *) (m.run.segment + nc_layout_front_bytes(&m.run.geometry));
    m.message = aligned_alloc(NC_LINE, MESSAGES * sizeof *m.message);
    memset(m.message, 0, MESSAGES * sizeof *m.message);
    pthread_create(&other, NULL, move_the_clock, &m);
    go_to_sleep(&m);
    pthread_join(other, NULL);
    assert_int_equal(m.lost, 0);
    free(m.message);
    free(m.run.segment);
}

/* Who moves a clock looks at all ranks that are parked in its bucket, so the same word of many
 * regions must be in many buckets: of 64 words in 64 buckets about 40 are used by chance. */
static void buckets_are_spread(void **state)
{
    static const uint32_t pages[] = {4096, 16 << 10, 64 << 10};
    static const size_t lines[] = {0, NC_LINE, 5 * NC_LINE};

    (void) state;
    for (int i = 0; i < 9; i++) {
        struct nc_geometry g = nc_geometry_make(64, 8, 8192, 2, 0, pages[i / 3]);
        char *segment = calloc(1, nc_layout_bytes(&g)), *region[64];
        struct nc_parking parking;
        int used = 0;
        find_regions(&g, segment, region);
        nc_parking_init(&parking, segment, NULL, 0, 64);
        for (int r = 0; r < 64; r++)
            nc_parking_enter(
                &parking, &(struct nc_awaited){(struct nc_atomic *) (region[r] + lines[i % 3]), 1},
                1);
        for (int b = 0; b < NC_BUCKETS; b++)
            used += nc_atomic_acquire(&parking.mask[b * NC_BUCKET_WORDS]) != 0;
        assert_in_range(used, 32, 64);
        free(segment);
    }
}

/* How often a long wait calls progress where the ranks do not outnumber the processors, and how
 * often it steps aside for MPICH's other threads. */
struct lookout {
    uint64_t polls, aside;
    bool is_aside, wrong;
};

static int poll_once(void *context)
{
    struct lookout *l = context;

    l->polls++;
    l->wrong |= l->is_aside;
    return 0;
}

static void go_aside(void *context, bool aside)
{
    struct lookout *l = context;

    l->aside += aside;
    l->wrong |= l->is_aside == aside;
    l->is_aside = aside;
}

static void *come_late(void *word)
{
    usleep(100000);
    nc_atomic_release(word, 1);
    return NULL;
}

static uint64_t own_time_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* A wait of 100 ms. Returns the nanoseconds of this thread for each time that it called progress.
 */
static uint64_t wait_and_poll(void)
{
    struct lookout l = {0};
    struct nc_waiter waiter = {.progress = poll_once,
                               .step_aside = go_aside,
                               .context = &l,
                               .spins = nc_wait_spins_of(3000)};
    struct nc_atomic word = {0};
    pthread_t other;
    uint64_t before, took;

    pthread_create(&other, NULL, come_late, &word);
    before = own_time_ns();
    nc_wait_clock(&word, 1, &waiter);
    took = own_time_ns() - before;
    pthread_join(other, NULL);
    assert_false(l.wrong || l.is_aside);
#ifdef __SANITIZE_THREAD__
    took /= 100; /* it makes each load many times as slow */
#endif
    assert_int_equal(waiter.ended_yielding, 1);
    assert_int_equal(l.aside, waiter.yields);
    assert_true(l.polls >= waiter.yields);
    return took / l.polls;
}

/* Each yield, before which the wait steps aside, is followed by a call of progress. The time
 * between calls is the 3 us of spinning and what a yield takes; a busy machine makes that longer,
 * so the shortest of some counts. */
static void polls_often(void **state)
{
    enum { WAITS = 5, MOST_NS = 15000 };
    uint64_t poll = UINT64_MAX;

    (void) state;
    need_threads();
    for (int i = 0; i < WAITS && poll > MOST_NS; i++) {
        uint64_t ns = wait_and_poll();
        poll = ns < poll ? ns : poll;
    }
    assert_in_range(poll, 0, MOST_NS);
}

/* An error of progress does not end a wait, on which other ranks rely; it is kept for the caller.
 */
static int fail_once(void *context)
{
    ++*(int *) context;
    return 7;
}

static void keeps_an_error(void **state)
{
    int calls = 0;
    struct nc_waiter waiter = {.progress = fail_once, .context = &calls};
    struct nc_atomic word = {0};
    pthread_t other;

    (void) state;
    need_threads();
    pthread_create(&other, NULL, come_late, &word);
    nc_wait_clock(&word, 1, &waiter);
    assert_int_equal(nc_atomic_acquire(&word), 1);
    pthread_join(other, NULL);
    assert_int_equal(waiter.error, 7);
    assert_int_equal(calls, 1);
}

/* A wait ends although there is always more for progress to do. */
static int always_busy(void *waiter)
{
    ((struct nc_waiter *) waiter)->busy = true;
    return 0;
}

static void ends_though_busy(void **state)
{
    (void) state;
    need_threads();
    for (int sleep = 0; sleep < 2; sleep++) {
        struct nc_waiter waiter = {.progress = always_busy, .context = &waiter, .sleep = sleep};
        struct nc_atomic word = {0};
        pthread_t other;
        pthread_create(&other, NULL, come_late, &word);
        nc_wait_clock(&word, 1, &waiter);
        assert_int_equal(nc_atomic_acquire(&word), 1);
        pthread_join(other, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(asleep_in_every_operation),
                                       cmocka_unit_test(asleep_two_ranks_one_slot),
                                       cmocka_unit_test(asleep_many_more_ranks_than_processors),
                                       cmocka_unit_test(mark_and_look),
                                       cmocka_unit_test(buckets_are_spread),
                                       cmocka_unit_test(polls_often),
                                       cmocka_unit_test(keeps_an_error),
                                       cmocka_unit_test(ends_though_busy),
                                       cmocka_unit_test(one_slot),
                                       cmocka_unit_test(two_slots_one_set),
                                       cmocka_unit_test(small_segment),
                                       cmocka_unit_test(eight_slots_two_sets),
                                       cmocka_unit_test(odd_fragments_sparse_types),
                                       cmocka_unit_test(model_fragments),
                                       cmocka_unit_test(out_of_the_buffers),
                                       cmocka_unit_test(out_of_shared_buffers),
                                       cmocka_unit_test(out_of_windows),
                                       cmocka_unit_test(copied_together),
                                       cmocka_unit_test(reduces_out_of_shared_buffers),
                                       cmocka_unit_test(places),
                                       cmocka_unit_test(lengths_that_differ),
                                       cmocka_unit_test(many_more_ranks_than_processors),
                                       cmocka_unit_test(several_numa_nodes),
                                       cmocka_unit_test(every_way_on_each_level),
                                       cmocka_unit_test(handed_on),
                                       cmocka_unit_test(control_slots_run_ahead),
                                       cmocka_unit_test(long_lived),
                                       cmocka_unit_test(ahead_of_its_reader),
                                       cmocka_unit_test(scatters),
                                       cmocka_unit_test(gathers),
                                       cmocka_unit_test(late_ranks),
                                       cmocka_unit_test(allgathers),
                                       cmocka_unit_test(exchanges),
                                       cmocka_unit_test(reduces),
                                       cmocka_unit_test(reduces_in_order),
                                       cmocka_unit_test(reduces_to_parts),
                                       cmocka_unit_test(reduces_in_pairs),
                                       cmocka_unit_test(scans),
                                       cmocka_unit_test(reduces_that_break),
                                       cmocka_unit_test(mixed),
                                       cmocka_unit_test(mixed_apart),
                                       cmocka_unit_test(mixed_and_remade),
                                       cmocka_unit_test(mixed_on_many_ranks)};

    if (!ranks_arguments(argc, argv, &scale))
        return 2;
    alarm(600);
    return cmocka_run_group_tests_name("shm", tests, NULL, NULL);
}
