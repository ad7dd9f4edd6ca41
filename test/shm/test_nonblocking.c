/* Tests the nonblocking operations (PROTOCOLS.md, section 3.10): shm/nc_nonblocking.c without MPI,
 * called by ranks that are threads, then by forked processes; more ranks than processors, random
 * delays. Each rank begins operations, of which up to run->most are open at a time, and looks at
 * its open ones in random order; every rank checks every byte it receives. A rank never waits:
 * where it can do nothing it yields, or, with run->sleeps, sleeps until it is rung.
 *
 *   bin/nonblocking [SCALE [FILTER [threads|processes]]]    also bin/nonblocking-tsan
 *
 * SCALE divides the number of operations; FILTER is a pattern of test names. alarm() ends a run
 * that hangs. test/run runs both; test/shm/mutants checks that they notice a broken protocol. */
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
#include "shm/nc_nonblocking.h"

enum { MOST = 100 };

static const uint64_t RUNG_NS = 5000000000, UNRUNG_NS = 50000;

#ifdef __SANITIZE_THREAD__
#define SANITIZED 1 /* threads only */
#else
#define SANITIZED 0
#endif

static int scale = 1; /* ThreadSanitizer and the mutants make fewer operations */

struct run {
    struct nc_geometry geometry;
    int operations, most;
    bool only_roots; /* one rank posts in each operation, in turn */
    bool late; /* rank 0 leaves one in 1000 operations open as long as it goes on with others */
    bool sleeps;
    int delays; /* one in so many steps is delayed */
    char *segment;
    struct nc_bell *bell; /* [ranks] */
};

/* An open operation. */
struct operation {
    struct nc_open open;
    size_t bytes; /* of each message */
};

/* A rank. Private to it. */
struct rank {
    const struct run *run;
    int rank;
    struct nc_nonblocking n;
    struct nc_waiter waiter;
    struct nc_bell **bell;
    struct operation open[MOST];
    int opened;
    uint64_t dice, pace; /* random states: the same on all ranks; its own */
    int wrong;
};

static uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void delay(struct rank *r)
{
    if (random_next(&r->pace) % (unsigned) r->run->delays == 0) {
        if (random_next(&r->pace) % 2)
            usleep((useconds_t) (random_next(&r->pace) % 200));
        else
            sched_yield();
    }
}

/* Byte i of a rank's message in an operation. */
static char byte_at(uint64_t number, int rank, size_t i)
{
    return (char) (i * 31 + number * 7 + (unsigned) rank * 101);
}

/* ---- an operation ---- */

static void begin(struct rank *r)
{
    struct operation *o = &r->open[r->opened++];
    unsigned kinds = r->run->geometry.ranks + (r->run->only_roots ? 0 : 2), kind;

    kind = (unsigned) (random_next(&r->dice) % kinds);
    o->bytes = random_next(&r->dice) % (NC_INLINE_BYTES + 1);
    nc_nonblocking_begin(&r->n, &o->open, (uint16_t) kind,
                         kind < r->run->geometry.ranks ? (int) kind : -1);
}

static void post(struct rank *r, struct operation *o)
{
    char message[NC_INLINE_BYTES];
    struct nc_stream stream = {.bytes = message, .length = o->bytes};
    int copied;

    for (size_t i = 0; i < o->bytes; i++)
        message[i] = byte_at(o->open.number, r->rank, i);
    nc_nonblocking_post(&r->n, &o->open, &stream, &copied);
    r->wrong += copied != 0;
}

/* Whether what a rank has posted is not as it should be. */
static bool is_wrong(struct rank *r, const struct operation *o, int rank)
{
    const struct nc_control *part = nc_nonblocking_part(&r->n, &o->open, rank);
    const char *bytes = nc_nonblocking_bytes(part);

    if (part->header.total != o->bytes || part->header.call != o->open.call)
        return true;
    for (size_t i = 0; i < o->bytes; i++) {
        if (bytes[i] != byte_at(o->open.number, rank, i))
            return true;
    }
    return false;
}

static void check_parts(struct rank *r, const struct operation *o)
{
    for (int i = 0; i < (int) r->run->geometry.ranks; i++) {
        if (o->open.root < 0 || o->open.root == i)
            r->wrong += is_wrong(r, o, i);
        delay(r);
    }
}

/* Whether rank 0 still leaves the operation open: until so many others have come that none of them
 * can end any more. */
static bool is_left(const struct rank *r, const struct operation *o)
{
    return r->run->late && r->rank == 0 && o->open.number % 1000 == 0 && r->opened > 1 &&
           r->opened < 10;
}

/* What can be done of the operation open[at]. Whether it was its end. */
static bool step(struct rank *r, int at)
{
    struct operation *o = &r->open[at];

    if (!o->open.posted)
        post(r, o);
    if (!o->open.posted || is_left(r, o) || !nc_nonblocking_is_met(&r->n, &o->open))
        return false;
    check_parts(r, o);
    nc_nonblocking_end(&r->n, &o->open);
    /* the others stay in their order */
    memmove(o, o + 1, (size_t) (--r->opened - at) * sizeof *o);
    return true;
}

/* Looks at all open operations, as MPICH's progress engine does. Whether one of them has ended. */
static bool look_at_all(struct rank *r)
{
    bool any = false;

    for (int at = 0; at < r->opened;) {
        if (step(r, at))
            any = true;
        else
            at++;
    }
    return any;
}

static bool has_unposted(const struct rank *r)
{
    for (int i = 0; i < r->opened; i++) {
        if (!r->open[i].open.posted)
            return true;
    }
    return false;
}

/* Sleeps until a ring, or for a moment if none is due. A ring that is lost is an error. */
static void rest(struct rank *r)
{
    uint32_t heard;
    /* ThreadSanitizer knows no fences, so rings may be lost there */
    bool rung = r->opened > 0 && !SANITIZED;

    if (!r->run->sleeps) {
        sched_yield();
        return;
    }
    heard = nc_bell_listen(r->bell[r->rank]);
    if (look_at_all(r))
        return;
    rung = rung && !has_unposted(r);
    delay(r);
    r->wrong += nc_bell_sleep(r->bell[r->rank], heard, rung ? RUNG_NS : UNRUNG_NS) && rung &&
                look_at_all(r);
}

/* ---- a rank ---- */

/* Called in a wait, and there must be none. */
static int waits(void *context)
{
    struct rank *r = context;

    r->wrong++;
    return 0;
}

static int rank_main(const void *argument, int rank)
{
    const struct run *run = argument;
    size_t ranks = run->geometry.ranks;
    char *region[ranks];
    struct nc_bell *bell[ranks];
    struct rank *r = calloc(1, sizeof *r);
    void *private_memory = malloc(nc_queue_private_bytes(&run->geometry));
    int begun = 0, wrong;

    for (size_t i = 0; i < ranks; i++) {
        region[i] = run->segment + nc_layout_front_bytes(&run->geometry) +
                    i * nc_layout_make(&run->geometry).region;
        bell[i] = &run->bell[i];
    }
    *r = (struct rank){
        .run = run, .rank = rank, .bell = bell, .dice = 42, .pace = (uint64_t) rank * 77 + 1};
    r->waiter = (struct nc_waiter){.progress = waits, .context = r, .spins = 1};
    nc_nonblocking_init(&r->n, region, &run->geometry, rank, private_memory, &r->waiter,
                        run->sleeps ? bell : NULL);
    while (begun < run->operations || r->opened > 0) {
        delay(r);
        if (begun < run->operations && r->opened < run->most && random_next(&r->pace) % 2) {
            begin(r);
            begun++;
            step(r, r->opened - 1);
        } else if (r->opened > 0 && random_next(&r->pace) % 4) {
            step(r, (int) (random_next(&r->pace) % (unsigned) r->opened));
        } else if (!look_at_all(r) && (begun == run->operations || r->opened == run->most)) {
            rest(r);
        }
    }
    wrong = r->wrong + (r->n.ended != (uint64_t) run->operations);
    free(private_memory);
    free(r);
    return wrong;
}

/* One run by threads, one by processes, but for what is left out. */
static void check(struct run run)
{
    size_t segment = nc_layout_bytes(&run.geometry),
           bytes = segment + run.geometry.ranks * sizeof *run.bell;

    run.operations = 1 + run.operations / scale;
    for (int kind = 0; kind < RANKS_KINDS; kind++) {
        if (!ranks_run(kind) || (SANITIZED && kind == PROCESSES))
            continue;
        run.segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(run.segment, MAP_FAILED);
        run.bell = (struct nc_bell *) (run.segment + segment);
        assert_int_equal(run_ranks(kind, (int) run.geometry.ranks, rank_main, &run, 300), 0);
        munmap(run.segment, bytes);
    }
}

/* ---- the tests ---- */

static struct nc_geometry geometry(uint32_t ranks, uint32_t controls)
{
    struct nc_geometry g = nc_geometry_nonblocking(ranks, 4096);

    g.send_controls = controls;
    return g;
}

static void one_open(void **state)
{
    (void) state;
    for (uint32_t ranks = 1; ranks <= 8; ranks++)
        check((struct run){
            .geometry = geometry(ranks, 16), .operations = 2000, .most = 1, .delays = 50});
}

static void fewer_than_slots(void **state)
{
    (void) state;
    check((struct run){.geometry = geometry(4, 16), .operations = 6000, .most = 10, .delays = 100});
}

/* More are open than there are control slots. */
static void more_than_slots(void **state)
{
    (void) state;
    for (uint32_t controls = 1; controls <= 16; controls *= 4)
        check((struct run){
            .geometry = geometry(5, controls), .operations = 4000, .most = MOST, .delays = 100});
}

/* A rank posts once in a while, so that it may be far ahead of others. */
static void roots_in_turn(void **state)
{
    (void) state;
    for (uint32_t controls = 2; controls <= 16; controls *= 2)
        check((struct run){.geometry = geometry(3, controls),
                           .operations = 4000,
                           .most = MOST,
                           .only_roots = true,
                           .delays = 50});
}

static void one_is_left_open(void **state)
{
    (void) state;
    check((struct run){
        .geometry = geometry(3, 16), .operations = 8000, .most = 40, .late = true, .delays = 100});
}

static void asleep(void **state)
{
    (void) state;
    check((struct run){
        .geometry = geometry(4, 16), .operations = 3000, .most = 1, .sleeps = true, .delays = 20});
    check((struct run){
        .geometry = geometry(8, 16), .operations = 1500, .most = 30, .sleeps = true, .delays = 50});
}

/* Longer than clocks may go without being renewed. */
static void long_lived(void **state)
{
    (void) state;
    check((struct run){
        .geometry = geometry(2, 4), .operations = 140000, .most = 20, .delays = 10000});
}

/* A rank that has posted nothing for longer than clocks can be compared: what is in its control
 * slot must not pass for a post of today. */
static void never_posted(void **state)
{
    enum { OPERATIONS = (1 << 23) + 200000, LATER = 40 };
    struct nc_geometry g = geometry(2, 16);
    char *segment = calloc(1, nc_layout_bytes(&g)), *region[2], byte = 1;
    struct nc_waiter waiter[2] = {{.spins = 1}, {.spins = 1}};
    struct nc_nonblocking n[2];
    void *memory[2];

    (void) state;
    for (int r = 0; r < 2; r++)
        region[r] = segment + nc_layout_front_bytes(&g) + (size_t) r * nc_layout_make(&g).region;
    for (int r = 0; r < 2; r++) {
        memory[r] = malloc(nc_queue_private_bytes(&g));
        nc_nonblocking_init(&n[r], region, &g, r, memory[r], &waiter[r], NULL);
    }
    for (int i = 0; i < OPERATIONS + LATER; i++) {
        int root = i < OPERATIONS ? 0 : -1, copied;
        struct nc_open open[2];
        for (int r = 0; r < 2; r++)
            nc_nonblocking_begin(&n[r], &open[r], 1, root);
        for (int r = 0; r < (root < 0 ? 2 : 1); r++) {
            struct nc_stream stream = {.bytes = &byte, .length = 1};
            assert_false(nc_nonblocking_is_met(&n[0], &open[0]));
            assert_true(nc_nonblocking_post(&n[r], &open[r], &stream, &copied));
        }
        for (int r = 0; r < 2; r++) {
            assert_true(nc_nonblocking_is_met(&n[r], &open[r]));
            nc_nonblocking_end(&n[r], &open[r]);
        }
    }
    free(memory[0]);
    free(memory[1]);
    free(segment);
}

/* ---- two ranks post at the same time, while the third one sleeps ---- */

enum { POSTERS = 2, SLEEPER = POSTERS, AT_ONCE };

struct at_once {
    struct nc_geometry geometry;
    int operations;
    char *segment;
    struct nc_bell *bell; /* [AT_ONCE] */
    /* release: by one rank; acquire: by the others. Operations of which the sleeper will hear, that
     * a poster is about to post, that a rank has ended */
    struct nc_atomic listens, ready[POSTERS], ended[AT_ONCE];
};

static void await(const struct nc_atomic *a, uint64_t number)
{
    for (int looks = 1; nc_atomic_acquire(a) < number; looks++) {
        if (looks % 1000 == 0)
            sched_yield();
    }
}

/* Each poster on a processor of its own, where there are as many. */
static void pin(int rank)
{
    cpu_set_t all, one;
    int before = 0;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < POSTERS)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && before++ == rank)
            CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
}

/* Has posted, and sleeps until the operation is met. Returns whether no ring came. */
static bool sleep_through(struct at_once *run, struct nc_nonblocking *n, struct nc_open *open,
                          uint64_t number)
{
    bool lost = false;

    while (!lost) {
        uint32_t heard = nc_bell_listen(&run->bell[SLEEPER]);
        if (nc_nonblocking_is_met(n, open))
            break;
        nc_atomic_release(&run->listens, number);
        lost = nc_bell_sleep(&run->bell[SLEEPER], heard, RUNG_NS) && nc_nonblocking_is_met(n, open);
    }
    return lost;
}

static int at_once_main(const void *argument, int rank)
{
    struct at_once *run = (struct at_once *) argument;
    char *region[AT_ONCE], byte = 1;
    struct nc_bell *bell[AT_ONCE];
    void *memory = malloc(nc_queue_private_bytes(&run->geometry));
    struct nc_waiter waiter = {.spins = 1};
    struct nc_nonblocking n;
    int lost = 0, copied;

    for (int i = 0; i < AT_ONCE; i++) {
        region[i] = run->segment + nc_layout_front_bytes(&run->geometry) +
                    (size_t) i * nc_layout_make(&run->geometry).region;
        bell[i] = &run->bell[i];
    }
    nc_nonblocking_init(&n, region, &run->geometry, rank, memory, &waiter, bell);
    if (rank != SLEEPER)
        pin(rank);
    for (uint64_t k = 1; k <= (uint64_t) run->operations; k++) {
        struct nc_stream stream = {.bytes = &byte, .length = 1};
        struct nc_open open;
        nc_nonblocking_begin(&n, &open, 1, -1);
        if (rank != SLEEPER) {
            await(&run->listens, k);
            nc_atomic_release(&run->ready[rank], k);
            await(&run->ready[1 - rank], k);
            for (volatile int i = 0; i < (int) (k * (rank ? 7 : 3) % 40); i++)
                ;
        }
        while (!nc_nonblocking_post(&n, &open, &stream, &copied))
            sched_yield();
        if (rank == SLEEPER && !lost)
            lost = sleep_through(run, &n, &open, k);
        else if (rank == SLEEPER)
            nc_atomic_release(&run->listens, k);
        while (!nc_nonblocking_is_met(&n, &open))
            sched_yield();
        nc_nonblocking_end(&n, &open);
        nc_atomic_release(&run->ended[rank], k);
        for (int i = 0; i < AT_ONCE; i++)
            await(&run->ended[i], k);
    }
    free(memory);
    return lost;
}

static void posts_at_once(void **state)
{
    struct at_once run = {.geometry = geometry(AT_ONCE, 16), .operations = 1 + 20000 / scale};
    size_t bytes = nc_layout_bytes(&run.geometry);

    (void) state;
    if (SANITIZED || !ranks_run(THREADS)) /* ThreadSanitizer knows no fences */
        return;
    run.segment = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(run.segment, 0, bytes);
    run.bell = calloc(AT_ONCE, sizeof *run.bell);
    assert_int_equal(run_ranks(THREADS, AT_ONCE, at_once_main, &run, 300), 0);
    free(run.bell);
    free(run.segment);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_open),         cmocka_unit_test(fewer_than_slots),
        cmocka_unit_test(more_than_slots),  cmocka_unit_test(roots_in_turn),
        cmocka_unit_test(one_is_left_open), cmocka_unit_test(asleep),
        cmocka_unit_test(long_lived),       cmocka_unit_test(never_posted),
        cmocka_unit_test(posts_at_once),
    };

    if (!ranks_arguments(argc, argv, &scale))
        return 2;
    alarm(600);
    return cmocka_run_group_tests_name("nonblocking", tests, NULL, NULL);
}
