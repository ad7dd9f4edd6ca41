/* What `maint/measure instructions` counts: calls COLLECTIVE CALLS makes CALLS calls of one
 * collective with 4 bytes, after a hundred that are not counted. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNCOUNTED = 100 };

static void call_bcast(void)
{
    static float data;

    MPI_Bcast(&data, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void call_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static float block, blocks[2]; /* of two ranks */

static void call_scatter(void)
{
    MPI_Scatter(blocks, 1, MPI_FLOAT, &block, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void call_gather(void)
{
    MPI_Gather(&block, 1, MPI_FLOAT, blocks, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static const int counts[2] = {1, 1}, displs[2] = {0, 1};

static void call_scatterv(void)
{
    MPI_Scatterv(blocks, counts, displs, MPI_FLOAT, &block, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void call_gatherv(void)
{
    MPI_Gatherv(&block, 1, MPI_FLOAT, blocks, counts, displs, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void call_allgather(void)
{
    MPI_Allgather(&block, 1, MPI_FLOAT, blocks, 1, MPI_FLOAT, MPI_COMM_WORLD);
}

static void call_reduce(void)
{
    static float mine = 1, sum;

    MPI_Reduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void call_allreduce(void)
{
    static float mine = 1, sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_alltoallv(void)
{
    static float received[2];

    MPI_Alltoallv(blocks, counts, displs, MPI_FLOAT, received, counts, displs, MPI_FLOAT,
                  MPI_COMM_WORLD);
}

static void call_reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(blocks, &block, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(void);
} collectives[] = {{"bcast", call_bcast},
                   {"barrier", call_barrier},
                   {"scatter", call_scatter},
                   {"scatterv", call_scatterv},
                   {"gather", call_gather},
                   {"gatherv", call_gatherv},
                   {"allgather", call_allgather},
                   {"reduce", call_reduce},
                   {"allreduce", call_allreduce},
                   {"alltoallv", call_alltoallv},
                   {"reduce_scatter_block", call_reduce_scatter_block}};

/* callgrind starts and stops at this name, so it is not inlined. */
__attribute__((noinline)) void measured_calls(void (*call)(void), int calls)
{
    for (int i = 0; i < calls; i++)
        call();
}

int main(int argc, char **argv)
{
    int calls = argc == 3 ? atoi(argv[2]) : 0;
    void (*call)(void) = NULL;

    for (size_t i = 0; argc == 3 && i < sizeof collectives / sizeof collectives[0]; i++)
        if (!strcmp(argv[1], collectives[i].name))
            call = collectives[i].call;
    if (!call || calls < 1) {
        fprintf(stderr, "usage: calls COLLECTIVE CALLS\n");
        return 1;
    }
    MPI_Init(&argc, &argv);
    for (int i = 0; i < UNCOUNTED; i++)
        call();
    MPI_Barrier(MPI_COMM_WORLD);
    measured_calls(call, calls);
    MPI_Finalize();
    return 0;
}
