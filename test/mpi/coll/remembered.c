/* Makes calls that the selection files of test/mpi/selection answer differently, in a random order
 * and again and again: which have few bytes or many, few elements or many in as many bytes, an
 * operation that commutes or not, blocks that are all as long or not, in place or not. Each is
 * checked. At the end rank 0 prints how many of each collective numacoll is to serve, "chosen NAME
 * CALLS", with how many of these have an operation of the program, "chosen own CALLS", and the
 * performance variables that counted something, "pvar NAME VALUE". Last it writes Bcast's
 * INTRA_ALGORITHM, as a tool may: numacoll is not chosen any more.
 *
 *   remembered                 with 2 to 64 ranks
 *
 * With an argument, communicators of the same ranks of some nodes, with and without those of one
 * more node; a file has to choose numacoll for Bcasts of those with all ranks alone, and for all
 * barriers. The second goes on with the segments of the first, but not with what was answered.
 *
 *   remembered nodes           on several nodes */
#include "nctest.h"

#include <stdbool.h>

enum { CALLS = 600, MOST = 2000, RANKS = 64 };

/* Random numbers, the same on all ranks. */
static int drawn(int below)
{
    static unsigned seed = 1;

    return rand_r(&seed) % below;
}

/* The first of both operands, which does not commute. */
static void first(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void) type;
    memcpy(inout, in, (size_t) *n * sizeof(int));
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *n; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

static void expect(const char *what, long found, long wanted)
{
    if (found != wanted)
        nc_fail(what, found, wanted);
}

static long sum_of_ranks(void)
{
    return (long) nc_size * (nc_size - 1) / 2;
}

static int sent[MOST], received[MOST];
static int own_operations; /* chosen calls with an operation of the program */

/* Each function makes one call and returns whether numacoll is chosen for it. */

/* 900 or 1000 bytes, of as many elements of one byte, or of 100 elements. */
static int bcast(void)
{
    int wide = drawn(2), bytes = wide ? 1000 : 900, elements = drawn(2) ? 100 : bytes;
    MPI_Datatype type;

    MPI_Type_contiguous(bytes / elements, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(received, nc_rank == 0 ? 7 : 0, (size_t) bytes);
    MPI_Bcast(received, elements, type, 0, MPI_COMM_WORLD);
    expect("bcast", received[bytes / 4 - 1], 0x07070707);
    MPI_Type_free(&type);
    return !wide;
}

/* 16 bytes, of as many operations that begin to exist for the call; some have the same handle. */
static int allreduce(void)
{
    int commutes = drawn(2), own = drawn(2);
    MPI_Op op = MPI_SUM;

    if (own || !commutes)
        MPI_Op_create(commutes ? sum : first, commutes, &op);
    for (int i = 0; i < 4; i++)
        sent[i] = nc_rank;
    MPI_Allreduce(sent, received, 4, MPI_INT, op, MPI_COMM_WORLD);
    expect("allreduce", received[3], commutes ? sum_of_ranks() : 0);
    own_operations += commutes && own;
    if (op != MPI_SUM)
        MPI_Op_free(&op);
    return commutes;
}

/* 16 bytes, of 4 or of 2 elements. */
static int reduce(void)
{
    int wide = drawn(2);
    double in[2] = {nc_rank, nc_rank}, out[2];

    for (int i = 0; i < 4; i++)
        sent[i] = nc_rank;
    if (wide)
        MPI_Reduce(in, out, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(sent, received, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (nc_rank == 0)
        expect("reduce", wide ? (long) out[1] : received[3], sum_of_ranks());
    return wide;
}

/* As many elements, in blocks of 2 or of 1 to 3. */
static int reduce_scatter(void)
{
    int counts[RANKS], regular = drawn(2);

    for (int i = 0; i < nc_size; i++)
        counts[i] = 2;
    if (!regular) {
        counts[0] = 1;
        counts[1] = 3;
    }
    for (int i = 0; i < 2 * nc_size; i++)
        sent[i] = nc_rank;
    MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("reduce_scatter", received[counts[nc_rank] - 1], sum_of_ranks());
    return regular;
}

static int alltoall(void)
{
    int in_place = drawn(2);

    for (int i = 0; i < nc_size; i++)
        sent[i] = received[i] = nc_rank;
    MPI_Alltoall(in_place ? MPI_IN_PLACE : sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    expect("alltoall", received[nc_size - 1], nc_size - 1);
    return !in_place;
}

/* Block 0 makes the difference between all lengths. */
static int allgatherv(void)
{
    int counts[RANKS], displs[RANKS], longer = drawn(2);

    for (int i = 0; i < nc_size; i++) {
        counts[i] = i == 0 && longer ? 200 : 1;
        displs[i] = i == 0 ? 0 : 200 + i;
    }
    sent[0] = nc_rank;
    MPI_Allgatherv(sent, counts[nc_rank], MPI_INT, received, counts, displs, MPI_INT,
                   MPI_COMM_WORLD);
    expect("allgatherv", received[displs[nc_size - 1]], nc_size - 1);
    return !longer;
}

/* Makes MPICH's first own algorithm Bcast's: variables of this kind have the values auto, numacoll,
 * then MPICH's. */
static void take_bcast_away(void)
{
    MPI_T_cvar_handle handle;
    int index, count, value = 2;

    if (MPI_T_cvar_get_index("MPIR_CVAR_BCAST_INTRA_ALGORITHM", &index) ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) || MPI_T_cvar_write(handle, &value))
        nc_fail("the variable cannot be written", 0, 0);
    MPI_T_cvar_handle_free(&handle);
}

/* The place in `comm` of the first rank of this rank's node. */
static int node_of(MPI_Comm comm)
{
    MPI_Comm node;
    int rank, first;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    return first;
}

/* Uses a communicator that is new, and frees it. chosen: whether numacoll is, for its Bcasts. */
static void use(MPI_Comm comm, bool chosen)
{
    enum { TIMES = 20 };
    unsigned long long before;
    static struct nc_pvar served;

    if (!served.handle)
        nc_pvar_open(&served, "numacoll_bcast_calls");
    MPI_Barrier(comm);
    before = nc_pvar_read(&served);
    for (int i = 0; i < TIMES; i++)
        MPI_Bcast(received, 10, MPI_INT, 0, comm);
    expect("bcasts served", (long) (nc_pvar_read(&served) - before), chosen ? TIMES : 0);
    MPI_Comm_free(&comm);
}

static void with_and_without_a_node(void)
{
    int node = node_of(MPI_COMM_WORLD), last;
    static struct nc_pvar reused;

    nc_pvar_open(&reused, "numacoll_segments_reused");
    MPI_Allreduce(&node, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 == 1 && node == last ? MPI_UNDEFINED : 0, 0, &comm);
        if (comm != MPI_COMM_NULL)
            use(comm, i % 2 == 0);
    }
    if (node != last && nc_pvar_read(&reused) < 3)
        nc_fail("segments reused", (long) nc_pvar_read(&reused), 3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*call)(void);
    } all[] = {{"bcast", bcast},       {"allreduce", allreduce},
               {"reduce", reduce},     {"reduce_scatter", reduce_scatter},
               {"alltoall", alltoall}, {"allgatherv", allgatherv}};
    enum { ALL = sizeof all / sizeof *all };
    static struct nc_pvar pvars[256];
    int chosen[ALL] = {0}, open;

    nc_init(&argc, &argv);
    if (argc > 1) {
        with_and_without_a_node();
        return nc_finish();
    }
    open = nc_pvars_open(pvars, 256);
    for (int i = 0; i < CALLS; i++) {
        int which = drawn(ALL);
        chosen[which] += all[which].call();
    }
    take_bcast_away();
    for (int i = 0; i < 10; i++)
        bcast();
    nc_pvars_print(pvars, open);
    for (int i = 0; nc_rank == 0 && i < ALL; i++)
        printf("chosen %s %d\n", all[i].name, chosen[i]);
    if (nc_rank == 0)
        printf("chosen own %d\n", own_operations);
    return nc_finish();
}
