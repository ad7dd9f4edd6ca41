/* Random collectives in a row, on random communicators, with nothing in between but traffic that is not theirs: every rank
 * throws the same dice, so that each knows without asking what has to arrive. Guard words stand around every buffer and in
 * the gaps of every layout.
 *   all_random [CALLS [SEED]] */

#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "nctest.h"

enum { MOST_RANKS = 64, GUARD = 32, UNTOUCHED = 0xa5 };

/* ---- dice ---- */

static uint64_t common, own;    /* the same on all ranks; this rank's */

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (*state >> 33);
}

static int below(int n)
{
    return (int) (next(&common) % (uint32_t) n);
}

/* ---- layouts ---- */

/* A row of ints at a distance of `stride` ints: a vector type. stride 1: MPI_INT itself. */
struct layout {
    int stride;
    MPI_Datatype type;
};

static struct layout layouts[3] = { {1, MPI_INT}, {2, MPI_DATATYPE_NULL}, {3, MPI_DATATYPE_NULL} };

static void make_layouts(void)
{
    for (int i = 1; i < 3; i++) {
        MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint) sizeof(int) * layouts[i].stride, &layouts[i].type);
        MPI_Type_commit(&layouts[i].type);
    }
}

static void free_layouts(void)
{
    for (int i = 1; i < 3; i++)
        MPI_Type_free(&layouts[i].type);
}

/* ---- buffers: blocks of elements, each a number ---- */

struct buffer {
    unsigned char *memory;
    size_t bytes;               /* with guards */
    struct layout layout;
    int blocks;
    int counts[MOST_RANKS], displs[MOST_RANKS];
};

static int *element(const struct buffer *b, int block, int i)
{
    return (int *) (b->memory + GUARD) + (b->displs[block] + i) * b->layout.stride;
}

static int value_of(int call, int from, int to, int i)
{
    return call * 1000003 + from * 10007 + to * 101 + i;
}

/* Blocks one behind the other in a random order with random gaps (v forms), or in order without. */
static struct buffer make(int blocks, const int *counts, int scattered, uint64_t *dice)
{
    struct buffer b = {.blocks = blocks,.layout = layouts[next(dice) % 3] };
    int order[MOST_RANKS], at = scattered ? (int) (next(dice) % 5) : 0;

    for (int i = 0; i < blocks; i++)
        order[i] = i;
    for (int i = blocks - 1; scattered && i > 0; i--) {
        int k = (int) (next(dice) % (uint32_t) (i + 1)), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (int i = 0; i < blocks; i++) {
        b.counts[order[i]] = counts[order[i]];
        b.displs[order[i]] = at;
        at += counts[order[i]] + (scattered ? (int) (next(dice) % 4) : 0);
    }
    b.bytes = (size_t) at * (size_t) b.layout.stride * sizeof(int) + 2 * GUARD;
    b.memory = malloc(b.bytes);
    memset(b.memory, UNTOUCHED, b.bytes);
    return b;
}

static void *start(const struct buffer *b)
{
    return b->memory + GUARD;
}

static void fill(const struct buffer *b, int block, int call, int from, int to)
{
    for (int i = 0; i < b->counts[block]; i++)
        *element(b, block, i) = value_of(call, from, to, i);
}

/* Takes what is right out of the buffer again; what is left must be untouched. */
static void expect(const struct buffer *b, int block, int call, int from, int to)
{
    for (int i = 0; i < b->counts[block]; i++) {
        if (*element(b, block, i) != value_of(call, from, to, i)) {
            nc_fail("wrong value: call, element", call, i);
            break;
        }
    }
    for (int i = 0; i < b->counts[block]; i++)
        memset(element(b, block, i), UNTOUCHED, sizeof(int));
}

static void release(struct buffer *b, int call)
{
    for (size_t i = 0; i < b->bytes; i++) {
        if (b->memory[i] != UNTOUCHED) {
            nc_fail("a byte outside the blocks: call, byte", call, (long) i);
            break;
        }
    }
    free(b->memory);
}

/* A buffer that was only read. */
static void drop(struct buffer *b, int call, int from, int to, int block)
{
    expect(b, block, call, from, to);
}

/* ---- the calls: comm, rank and size are those of the communicator ---- */

static int rank, size;
static MPI_Comm comm;

static int random_count(void)
{
    switch (below(8)) {
        case 0:
            return 0;
        case 1:
        case 2:
        case 3:
            return below(4);
        case 4:
        case 5:
            return below(100);
        case 6:
            return below(3000);
        default:
            return below(20000);
    }
}

static void do_barrier(int call)
{
    (void) call;
    nc_barrier(comm);
}

static void do_bcast(int call)
{
    int count = random_count(), root = below(size);
    struct buffer b = make(1, &count, 0, &own);

    if (rank == root)
        fill(&b, 0, call, root, 0);
    nc_bcast(start(&b), count, b.layout.type, root, comm);
    expect(&b, 0, call, root, 0);
    release(&b, call);
}

/* Counts of all ranks: equal, or of a v form. */
static void random_counts(int v, int *counts)
{
    int all = random_count();

    for (int i = 0; i < size; i++)
        counts[i] = v ? random_count() / 2 : all;
}

/* Where all ranks can see that there is nothing to do, MPICH does not get as far as an algorithm. */
static void count_call(int collective, const int *counts)
{
    int v = collective == NC_SCATTERV || collective == NC_GATHERV || collective == NC_ALLGATHERV;

    if (v || counts[0] > 0)
        nc_count(collective, comm);
}

static void do_scatter(int call, int v)
{
    int root = below(size), in_place = below(4) == 0, counts[MOST_RANKS];
    random_counts(v, counts);
    struct buffer all = make(rank == root ? size : 0, counts, v, &own), mine = make(1, &counts[rank], 0, &own);
    void *to = rank == root && in_place ? MPI_IN_PLACE : start(&mine);

    for (int i = 0; rank == root && i < size; i++)
        fill(&all, i, call, root, i);
    count_call(v ? NC_SCATTERV : NC_SCATTER, counts);
    if (v)
        MPI_Scatterv(start(&all), all.counts, all.displs, all.layout.type, to, counts[rank], mine.layout.type, root, comm);
    else
        MPI_Scatter(start(&all), counts[0], all.layout.type, to, counts[rank], mine.layout.type, root, comm);
    for (int i = 0; rank == root && i < size; i++)
        drop(&all, call, root, i, i);
    if (to != MPI_IN_PLACE)
        expect(&mine, 0, call, root, rank);
    release(&all, call);
    release(&mine, call);
}

static void do_gather(int call, int v)
{
    int root = below(size), in_place = below(4) == 0, counts[MOST_RANKS];
    random_counts(v, counts);
    struct buffer all = make(rank == root ? size : 0, counts, v, &own), mine = make(1, &counts[rank], 0, &own);
    const void *from = rank == root && in_place ? MPI_IN_PLACE : start(&mine);

    fill(&mine, 0, call, rank, root);
    if (from == MPI_IN_PLACE)
        fill(&all, rank, call, rank, root);
    count_call(v ? NC_GATHERV : NC_GATHER, counts);
    if (v)
        MPI_Gatherv(from, counts[rank], mine.layout.type, start(&all), all.counts, all.displs, all.layout.type, root, comm);
    else
        MPI_Gather(from, counts[rank], mine.layout.type, start(&all), counts[0], all.layout.type, root, comm);
    for (int i = 0; rank == root && i < size; i++)
        expect(&all, i, call, i, root);
    drop(&mine, call, rank, root, 0);
    release(&all, call);
    release(&mine, call);
}

static void do_allgather(int call, int v)
{
    int in_place = below(4) == 0, counts[MOST_RANKS];
    random_counts(v, counts);
    /* MPICH 4.0.2 forgets displs[0] where there is one rank */
    struct buffer all = make(size, counts, v && size > 1, &own), mine = make(1, &counts[rank], 0, &own);
    const void *from = in_place ? MPI_IN_PLACE : start(&mine);

    fill(&mine, 0, call, rank, 0);
    if (in_place)
        fill(&all, rank, call, rank, 0);
    count_call(v ? NC_ALLGATHERV : NC_ALLGATHER, counts);
    if (v)
        MPI_Allgatherv(from, counts[rank], mine.layout.type, start(&all), all.counts, all.displs, all.layout.type, comm);
    else
        MPI_Allgather(from, counts[rank], mine.layout.type, start(&all), counts[0], all.layout.type, comm);
    for (int i = 0; i < size; i++)
        expect(&all, i, call, i, 0);
    drop(&mine, call, rank, 0, 0);
    release(&all, call);
    release(&mine, call);
}

static void do_one(int call)
{
    switch (below(8)) {
        case 0:
            do_barrier(call);
            break;
        case 1:
            do_bcast(call);
            break;
        case 2:
        case 3:
            do_scatter(call, below(2));
            break;
        case 4:
        case 5:
            do_gather(call, below(2));
            break;
        default:
            do_allgather(call, below(2));
    }
}

/* ---- what else is going on ---- */

static void delay(void)
{
    uint32_t d = next(&own);

    if (d % 16 == 0)
        usleep((useconds_t) (d / 16 % 200));
    else if (d % 16 == 1)
        sched_yield();
}

/* A message to the next rank of the world that is under way for some calls. */
struct traffic {
    MPI_Request request[2];
    int *data, *received, n, call;
    int open;
};

static void finish_traffic(struct traffic *t)
{
    int before = (nc_rank + nc_size - 1) % nc_size;

    if (!t->open)
        return;
    MPI_Waitall(2, t->request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < t->n; i++) {
        if (t->received[i] != value_of(t->call, before, nc_rank, i)) {
            nc_fail("wrong message: call, element", t->call, i);
            break;
        }
    }
    free(t->data);
    free(t->received);
    t->open = 0;
}

static void start_traffic(struct traffic *t, int call)
{
    int after = (nc_rank + 1) % nc_size, before = (nc_rank + nc_size - 1) % nc_size;

    t->n = random_count() * 2;
    t->call = call;
    t->data = malloc((size_t) t->n * sizeof(int) + 1);
    t->received = malloc((size_t) t->n * sizeof(int) + 1);
    for (int i = 0; i < t->n; i++)
        t->data[i] = value_of(call, nc_rank, after, i);
    MPI_Irecv(t->received, t->n, MPI_INT, before, 1, MPI_COMM_WORLD, &t->request[0]);
    MPI_Isend(t->data, t->n, MPI_INT, after, 1, MPI_COMM_WORLD, &t->request[1]);
    t->open = 1;
}

/* ---- all of it ---- */

enum { COMMUNICATORS = 4, CALLS = 1000 };

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMUNICATORS] = { MPI_COMM_WORLD };
    struct traffic traffic = { 0 };
    int calls = argc > 1 ? atoi(argv[1]) : CALLS, seed = argc > 2 ? atoi(argv[2]) : (int) (time(NULL) % 1000000);
    uint64_t world;

    nc_init(&argc, &argv);
    MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (nc_rank == 0)
        printf("seed %d\n", seed);
    nc_calls[NC_BCAST] += nc_size > 1;
    make_layouts();
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, nc_rank, &comms[3]);
    /* a split begins with an allgather */
    nc_calls[NC_ALLGATHER] += nc_size > 1 ? 2 : 0;
    world = (uint64_t) seed;
    own = (uint64_t) seed * 31 + (uint64_t) nc_rank;
    for (int call = 0; call < calls; call++) {
        /* each call has dice of its own, so that halves of the world may need different numbers of throws */
        common = world;
        int which = below(COMMUNICATORS), plan = below(16);
        world = common;
        comm = comms[which];
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (plan == 0 && !traffic.open)
            start_traffic(&traffic, call);
        if (plan == 1)
            finish_traffic(&traffic);
        common = world * 2862933555777941757u + (uint64_t) call;
        delay();
        do_one(call);
    }
    finish_traffic(&traffic);
    for (int i = 1; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comms[i]);
    free_layouts();
    return nc_finish();
}
