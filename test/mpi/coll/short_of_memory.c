/* Tests calls in which a rank may have no memory: on every rank the result is right, or the call
 * returns an error. Prints how many ranks got one, if some did. test/mpi/faults runs it.
 *   short_of_memory scan | reduce_scatter | allreduce | by_rank_0 | alltoall */

#include "nctest.h"

/* Whether a call ended in an error; without one its result must be right. */
static int ends_in_error(int error, long result, long expected)
{
    if (error == MPI_SUCCESS && result != expected)
        nc_fail("wrong sum", result, expected);
    return error != MPI_SUCCESS;
}

static int scan(int call)
{
    long mine = nc_rank + call, sum = 0,
         before = (long) nc_rank * call + (long) nc_rank * (nc_rank - 1) / 2;
    int error = MPI_Scan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int failed = ends_in_error(error, sum, before + mine);

    sum = 0; /* rank 0 has no result */
    error = MPI_Exscan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return failed | ends_in_error(error, sum, before);
}

static int reduce_scatter(int call)
{
    long mine[64], sum = 0, ranks = (long) nc_size * (nc_size - 1) / 2;
    int error;

    for (int i = 0; i < nc_size; i++)
        mine[i] = nc_rank + call + i;
    error = MPI_Reduce_scatter_block(mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return ends_in_error(error, sum, ranks + (long) nc_size * (call + nc_rank));
}

/* Elements with a gap, which a rank unpacks before it combines them. */
static int allreduce(int call)
{
    enum { N = 20000 };
    static struct {
        double value;
        int rank;
    } mine[N], most[N];
    long wrong = 0;
    int error;

    for (int i = 0; i < N; i++) {
        mine[i].value = (nc_rank + i + call) % nc_size;
        mine[i].rank = nc_rank;
        most[i].value = -1;
    }
    error = MPI_Allreduce(mine, most, N, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        wrong += most[i].value != nc_size - 1 || (most[i].rank + i + call) % nc_size != nc_size - 1;
    return ends_in_error(error, wrong, 0);
}

/* Not commutative, so rank 0 reduces on several nodes: the rank of the last operand counts. */
static void last(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void) in, (void) inout, (void) n, (void) type;
}

static int by_rank_0(int call)
{
    long mine[64], got = -1;
    MPI_Op op;
    int error;

    for (int i = 0; i < nc_size; i++)
        mine[i] = nc_rank + call + i;
    MPI_Op_create(last, 0, &op);
    error = MPI_Reduce_scatter_block(mine, &got, 1, MPI_LONG, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    return ends_in_error(error, got, nc_size - 1 + call + nc_rank);
}

static int alltoall(int call)
{
    long blocks[64], wrong = 0;
    int error;

    for (int i = 0; i < nc_size; i++)
        blocks[i] = nc_rank * 100 + i + call;
    error = MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 1, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < nc_size; i++)
        wrong += blocks[i] != i * 100 + nc_rank + call;
    return ends_in_error(error, wrong, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int call);
    } kinds[] = {{"scan", scan},
                 {"reduce_scatter", reduce_scatter},
                 {"allreduce", allreduce},
                 {"by_rank_0", by_rank_0},
                 {"alltoall", alltoall}};
    int (*calls)(int call) = NULL;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc > 1 && !strcmp(argv[1], kinds[i].name))
            calls = kinds[i].run;
    }
    nc_init(&argc, &argv);
    if (!calls)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int call = 0; call < 8; call++) {
        int failed = (int) nc_sum((unsigned long long) calls(call));
        if (nc_rank == 0 && failed)
            printf("errors on %d\n", failed);
    }
    return nc_finish();
}
