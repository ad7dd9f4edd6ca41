/* Tests collectives whose buffers are in windows (MPI_Win_allocate, MPI_Win_allocate_shared): of
 * all ranks, or of half of them; beside buffers of MPI_Alloc_mem and of memory that is private; in
 * a window's own communicator and in others; a neighbour's part of a window; with RMA in between;
 * in windows that are freed and made again between calls, or have private memory in their place;
 * and of messages that begin in a window and end behind it. Without a node that has all ranks, or
 * where sharing is refused, the data must be right as well.
 *
 *   window_buffers [ROUNDS [LONG]]    messages of more than LONG bytes must go straight out of a
 *                                     window that all ranks of a call have, and out of no other */

#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nctest.h"

/* Bytes: of a message, at most; of a rank's part of a window, where it sends and receives. */
enum { LONGEST = 3 << 20, PART = 2 * (LONGEST + 4096) };

enum { WORLD, DUPLICATE, REVERSED, HALF, COMMS };
enum { OF_ALL, OF_HALF, WINDOWS, PRIVATE = WINDOWS, ALLOC_MEM, KINDS };

static MPI_Comm comms[COMMS];
static MPI_Win windows[WINDOWS];
static char *memory[KINDS]; /* PART bytes of this rank of each kind */
static struct nc_pvar copied_shared;
static long least = -1; /* the argument LONG */

static unsigned long drawn = 1; /* alike on all ranks */

static int draw(int below)
{
    drawn = drawn * 6364136223846793005ul + 1442695040888963407ul;
    return (int) ((drawn >> 33) % (unsigned) below);
}

/* ---- windows ---- */

/* A window of all ranks or of half of them: made by MPI_Win_allocate_shared (shared), or by
 * MPI_Win_allocate; each rank's part begins with a page (apart), or right behind the one before.
 * This rank's memory in it is its own part; or, if shared, that of the rank `shift` ranks on. */
static void make_window_so(int kind, bool shared, bool apart, int shift)
{
    MPI_Comm comm = kind == OF_ALL ? MPI_COMM_WORLD : comms[HALF];
    struct nc_pvar inside[NC_COLLECTIVE_COUNT];
    int rank, size, unit;
    MPI_Aint bytes;
    MPI_Info info;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
    nc_inside_begins(inside);
    if (shared) {
        MPI_Win_allocate_shared(PART, 1, info, comm, &memory[kind], &windows[kind]);
        MPI_Win_shared_query(windows[kind], (rank + shift) % size, &bytes, &unit, &memory[kind]);
    } else {
        MPI_Win_allocate(PART, 1, info, comm, &memory[kind], &windows[kind]);
    }
    nc_inside_ends(inside);
    MPI_Info_free(&info);
}

static void make_window(int kind)
{
    bool shared = draw(2) && !nc_several_nodes();
    int shift = draw(nc_size);

    make_window_so(kind, shared, draw(2), shift);
}

static void free_window(MPI_Win *window)
{
    struct nc_pvar inside[NC_COLLECTIVE_COUNT];

    nc_inside_begins(inside);
    MPI_Win_free(window);
    nc_inside_ends(inside);
}

/* Memory of this process alone, at an address if that is free. */
static char *private_at(char *address)
{
    void *at = mmap(address, PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        nc_fail("no memory", PART, 0);
    return at;
}

/* Each rank puts a message into the next one's part of the window of all ranks. */
static void put(int round)
{
    enum { N = 10000 };
    struct nc_pvar inside[NC_COLLECTIVE_COUNT];
    int next = (nc_rank + 1) % nc_size, before = (nc_rank + nc_size - 1) % nc_size;
    static int message[N];
    int *part, found;
    void *base;

    for (int i = 0; i < N; i++)
        message[i] = round * 31 + nc_rank + i;
    MPI_Win_get_attr(windows[OF_ALL], MPI_WIN_BASE, &base, &found);
    part = base;
    nc_inside_begins(inside);
    MPI_Win_fence(0, windows[OF_ALL]);
    MPI_Put(message, N, MPI_INT, next, 0, N, MPI_INT, windows[OF_ALL]);
    MPI_Win_fence(0, windows[OF_ALL]);
    for (int i = 0; i < N; i++) {
        if (part[i] != round * 31 + before + i) {
            nc_fail("put", i, round);
            break;
        }
    }
    MPI_Win_fence(0, windows[OF_ALL]); /* all have looked */
    nc_inside_ends(inside);
}

/* ---- calls ---- */

struct call {
    MPI_Comm comm;
    int rank, size, root, count, seed;
    unsigned *in, *out;
};

/* Element i of the message of a rank. */
static unsigned value(const struct call *c, int rank, int i)
{
    return (unsigned) c->seed * 7919u + (unsigned) rank * 104729u + (unsigned) i;
}

/* Writes the messages of `ranks` ranks, from `first` on. */
static void fill(const struct call *c, int first, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < c->count; i++)
            c->in[r * c->count + i] = value(c, first + r, i);
    }
}

/* The messages of `ranks` ranks, from `first` on, are in `at`. */
static void expect(const struct call *c, const unsigned *at, int first, int ranks, const char *what)
{
    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < c->count; i++) {
            if (at[r * c->count + i] != value(c, first + r, i)) {
                nc_fail(what, i, c->seed);
                return;
            }
        }
    }
}

static void expect_sum(const struct call *c, const char *what)
{
    for (int i = 0; i < c->count; i++) {
        unsigned sum = 0;
        for (int r = 0; r < c->size; r++)
            sum += value(c, r, i);
        if (c->out[i] != sum) {
            nc_fail(what, i, c->seed);
            return;
        }
    }
}

static void bcast(struct call *c)
{
    fill(c, c->root, c->rank == c->root);
    nc_bcast(c->in, c->count, MPI_UNSIGNED, c->root, c->comm);
    expect(c, c->in, c->root, 1, "bcast");
}

static void scatter(struct call *c)
{
    fill(c, 0, c->rank == c->root ? c->size : 0);
    nc_count(NC_SCATTER, c->comm);
    MPI_Scatter(c->in, c->count, MPI_UNSIGNED, c->out, c->count, MPI_UNSIGNED, c->root, c->comm);
    expect(c, c->out, c->rank, 1, "scatter");
}

static void gather(struct call *c)
{
    fill(c, c->rank, 1);
    nc_count(NC_GATHER, c->comm);
    MPI_Gather(c->in, c->count, MPI_UNSIGNED, c->out, c->count, MPI_UNSIGNED, c->root, c->comm);
    expect(c, c->out, 0, c->rank == c->root ? c->size : 0, "gather");
}

static void allgather(struct call *c)
{
    fill(c, c->rank, 1);
    nc_count(NC_ALLGATHER, c->comm);
    MPI_Allgather(c->in, c->count, MPI_UNSIGNED, c->out, c->count, MPI_UNSIGNED, c->comm);
    expect(c, c->out, 0, c->size, "allgather");
}

static void reduce(struct call *c)
{
    fill(c, c->rank, 1);
    nc_count(NC_REDUCE, c->comm);
    MPI_Reduce(c->in, c->out, c->count, MPI_UNSIGNED, MPI_SUM, c->root, c->comm);
    if (c->rank == c->root)
        expect_sum(c, "reduce");
}

static void allreduce(struct call *c)
{
    fill(c, c->rank, 1);
    nc_count(NC_ALLREDUCE, c->comm);
    MPI_Allreduce(c->in, c->out, c->count, MPI_UNSIGNED, MPI_SUM, c->comm);
    expect_sum(c, "allreduce");
}

static const struct {
    const char *name;
    void (*function)(struct call *call);
    bool blocks; /* the buffer of some rank has a message of each rank */
} calls[] = {{"bcast", bcast, false},   {"scatter", scatter, true},
             {"gather", gather, true},  {"allgather", allgather, true},
             {"reduce", reduce, false}, {"allreduce", allreduce, false}};

enum { CALLS = sizeof calls / sizeof *calls };

/* A message that all ranks have in a window of theirs went straight out of it, and one that is
 * private, or in a window which not all of them have, did not. */
static void expect_way(const char *name, bool in_theirs, bool elsewhere, unsigned long long shared)
{
    unsigned long long all = nc_sum(shared);

    if (nc_rank > 0)
        return;
    if (in_theirs && all == 0) {
        fprintf(stderr, "%s:", name);
        nc_fail("a long message in a window was not read there", 0, 0);
    }
    if (elsewhere && all > 0) {
        fprintf(stderr, "%s:", name);
        nc_fail("bytes were read in a window that not all ranks have any more", (long) all, 0);
    }
}

/* A call on a communicator. The buffers of each rank are of one kind, or, with KINDS, of one that
 * is drawn for it. */
static void call(int kind, int which, int what, int seed)
{
    struct call c = {.comm = comms[which], .seed = seed};
    unsigned long long before = nc_pvar_read(&copied_shared);
    int bytes = draw(3) ? LONGEST / 2 + draw(LONGEST / 2) : draw(LONGEST), mine = kind;
    int gap = 4 * draw(16);
    bool is_long, among_some;

    MPI_Comm_rank(c.comm, &c.rank);
    MPI_Comm_size(c.comm, &c.size);
    c.root = draw(nc_size) % c.size;
    for (int r = 0; r < nc_size; r++) {
        int k = kind == KINDS ? draw(KINDS) : kind;
        mine = r == nc_rank ? k : mine;
    }
    c.in = (unsigned *) (memory[mine] + gap);
    c.out = (unsigned *) (memory[mine] + PART / 2);
    c.count = bytes / (int) sizeof *c.in / (calls[what].blocks ? nc_size : 1);
    calls[what].function(&c);
    memset(c.in, 0x55, (size_t) c.count * sizeof *c.in);
    is_long = least >= 0 && (long) c.count * (long) sizeof *c.in > least;
    among_some = which != HALF || nc_size > 2;
    expect_way(calls[what].name,
               is_long && among_some && (kind == OF_ALL || (kind == OF_HALF && which == HALF)),
               least >= 0 && (kind == PRIVATE || (kind == OF_HALF && which != HALF)),
               nc_pvar_read(&copied_shared) - before);
}

/* Calls with each kind of memory, each on a communicator that is drawn, the windows freed right
 * after them. */
static void round_of_calls(int round)
{
    int first = draw(WINDOWS), seed = round * 100;

    for (int again = 0; again < 2; again++) {
        make_window(first);
        make_window(1 - first);
        for (int kind = 0; kind <= KINDS; kind++)
            call(kind, draw(COMMS), (round + kind + again) % CALLS, seed++);
        put(round);
        call(OF_ALL, draw(COMMS), draw(CALLS), seed++);
        /* and one of the same size for it, the other one stays */
        free_window(&windows[first]);
        make_window(first);
        call(first, first == OF_HALF ? HALF : draw(COMMS), draw(CALLS), seed++);
        call(1 - first, draw(COMMS), draw(CALLS), seed++);
        free_window(&windows[1 - first]);
        call(first, draw(COMMS), draw(CALLS), seed++);
        free_window(&windows[first]);
        munmap(memory[PRIVATE], PART);
        memory[PRIVATE] = private_at(memory[draw(WINDOWS)]);
        call(PRIVATE, draw(COMMS), draw(CALLS), seed++);
    }
}

/* ---- messages that leave a window ---- */

enum { WITHIN = 65536 }; /* so many bytes of such a message are in the window */

/* A window of all ranks, made after others, which are free then. Where a system maps from the top
 * down, these fill the gaps and then lie one right below the other; so there is room behind the
 * last one, and where addresses are drawn at random, there mostly is. */
static void make_window_below_others(void)
{
    enum { OTHERS = 7 };
    MPI_Win others[OTHERS];

    for (int i = 0; i < OTHERS; i++) {
        make_window_so(OF_ALL, false, true, 0);
        others[i] = windows[OF_ALL];
    }
    make_window_so(OF_ALL, false, true, 0);
    for (int i = 0; i < OTHERS; i++)
        free_window(&others[i]);
}

/* A window of all ranks, with private memory right behind it in the last rank, whose part is the
 * last one there. *leaving: where a message begins that leaves it; NULL on the other ranks. False,
 * and no window: there was room behind none. */
static bool make_window_to_leave(char **leaving)
{
    enum { TRIES = 5 };
    size_t page = (size_t) sysconf(_SC_PAGESIZE), part = (PART + page - 1) / page * page;
    int found = 0, last = nc_size - 1;

    *leaving = NULL;
    for (int i = 0; i < TRIES && !found; i++) {
        make_window_below_others();
        if (nc_rank == last) {
            char *end = memory[OF_ALL] + part, *behind = private_at(end);
            found = behind == end;
            if (found)
                *leaving = end - WITHIN;
            else
                munmap(behind, PART);
        }
        nc_bcast(&found, 1, MPI_INT, last, MPI_COMM_WORLD);
        if (!found)
            free_window(&windows[OF_ALL]);
    }
    return found;
}

/* Calls in which a buffer of the last rank leaves the window, and all others are in it: what is
 * sent and what is received, at the root and elsewhere. Where others have mapped the window, they
 * have other memory behind it, or none. */
static void leave_window(void)
{
    char *leaving;

    if (!make_window_to_leave(&leaving)) {
        if (least >= 0)
            nc_fail("no window has room behind it", 0, 0);
        return;
    }
    for (int i = 0; i < 4 * CALLS; i++) {
        struct call c = {.comm = MPI_COMM_WORLD,
                         .rank = nc_rank,
                         .size = nc_size,
                         .root = i & 1 ? nc_size - 1 : 0,
                         .seed = i,
                         .in = (unsigned *) memory[OF_ALL],
                         .out = (unsigned *) (memory[OF_ALL] + PART / 2)};
        if (leaving)
            *(i & 2 ? &c.out : &c.in) = (unsigned *) leaving;
        /* none reaches to where another one begins */
        c.count = (LONGEST - WITHIN - draw(LONGEST / 8)) / (int) sizeof *c.in;
        c.count /= calls[i / 4].blocks ? nc_size : 1;
        calls[i / 4].function(&c);
    }
    if (leaving)
        munmap(leaving + WITHIN, PART);
    free_window(&windows[OF_ALL]);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 12;

    nc_init(&argc, &argv);
    if (argc > 2 && nc_size > 1)
        least = atol(argv[2]);
    nc_pvar_open(&copied_shared, "numacoll_copied_shared_bytes");
    comms[WORLD] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[DUPLICATE]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comms[REVERSED]);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, nc_rank, &comms[HALF]);
    /* MPI_Comm_split begins with an allgather, and numacoll serves it */
    nc_calls[NC_ALLGATHER] += nc_size > 1 ? 2 : 0;
    memory[PRIVATE] = private_at(NULL);
    MPI_Alloc_mem(PART, MPI_INFO_NULL, &memory[ALLOC_MEM]);
    for (int i = 0; i < rounds; i++)
        round_of_calls(i);
    if (nc_size > 1)
        leave_window();
    MPI_Free_mem(memory[ALLOC_MEM]);
    munmap(memory[PRIVATE], PART);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    return nc_finish();
}
