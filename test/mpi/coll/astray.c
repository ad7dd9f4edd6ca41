/* For test/mpi/faults: ranks in different calls of a communicator. Each rank prints `ended RANK` or
 * `error RANK`, for the call that is wrong.
 *   astray collectives   rank 0 is in an allreduce, the others in an allgather
 *   astray roots         a gather to rank 0, but the last rank thinks that rank 1 is the root
 *   astray lengths       an allreduce of 4 MB; of rank 0 of 3 MB, in buffers of MPI_Alloc_mem
 *   astray short_root    a reduce of 4 MB; of its root, of 4 KB, in buffers of MPI_Alloc_mem
 *   astray late          a barrier, to which rank 1 comes after 2.5 seconds
 *   astray empty         an alltoall in which rank 0 sends blocks without bytes
 * Counts of rank 0 that make it take other steps than the others; errors end the job:
 *   astray alltoall      blocks of 16 bytes, of rank 0 of 16 KB
 *   astray chunks        an allreduce of 4 KB, of rank 0 of 40 MB
 *   astray pieces        a reduce_scatter of blocks of 4 KB, of rank 0 of 4 MB
 *   astray nothing       the same, of rank 0 of nothing
 *   astray scan          a scan of 16 bytes, of rank 0 of 4 MB */

#include "nctest.h"

#include <unistd.h>

/* An allreduce of so many elements, or a reduce to `root` if that is not -1. */
static int go_apart(int count, int root)
{
    int *mine, *result, error;

    MPI_Alloc_mem(4000000, MPI_INFO_NULL, &mine);
    MPI_Alloc_mem(4000000, MPI_INFO_NULL, &result);
    memset(mine, 0, 4000000);
    error = root < 0 ? MPI_Allreduce(mine, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                     : MPI_Reduce(mine, result, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Free_mem(mine);
    MPI_Free_mem(result);
    return error;
}

static int alltoall_of_nothing(void)
{
    MPI_Datatype nothing;
    int sent[64] = {0}, received[64], error;

    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    error = MPI_Alltoall(sent, 1, nc_rank == 0 ? nothing : MPI_INT, received, 1, MPI_INT,
                         MPI_COMM_WORLD);
    MPI_Type_free(&nothing);
    return error;
}

/* Rank 0 has other counts. */
static int miscount(const char *how)
{
    enum { INTS = 10000000 };
    int *sent = calloc(INTS, sizeof *sent), *received = calloc(INTS, sizeof *received), counts[64],
        wrong = nc_rank == 0, error;

    for (int i = 0; i < nc_size; i++)
        counts[i] = !wrong ? 1000 : strcmp(how, "nothing") ? 1000000 : 0;
    if (!strcmp(how, "alltoall"))
        error = MPI_Alltoall(sent, wrong ? 4000 : 4, MPI_INT, received, wrong ? 4000 : 4, MPI_INT,
                             MPI_COMM_WORLD);
    else if (!strcmp(how, "chunks"))
        error = MPI_Allreduce(sent, received, wrong ? INTS : 1000, MPI_INT, MPI_SUM,
                              MPI_COMM_WORLD);
    else if (!strcmp(how, "scan"))
        error = MPI_Scan(sent, received, wrong ? 1000000 : 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        error = MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    free(sent);
    free(received);
    return error;
}

static int go_astray(const char *how)
{
    int one = 1, all[64];

    if (!strcmp(how, "collectives"))
        return nc_rank == 0 ? MPI_Allreduce(&one, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                            : MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (!strcmp(how, "lengths"))
        return go_apart(nc_rank == 0 ? 750000 : 1000000, -1);
    if (!strcmp(how, "short_root"))
        return go_apart(nc_rank == 1 ? 1000 : 1000000, 1);
    if (!strcmp(how, "roots"))
        return MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, nc_rank == nc_size - 1,
                          MPI_COMM_WORLD);
    if (!strcmp(how, "empty"))
        return alltoall_of_nothing();
    if (strcmp(how, "late"))
        return miscount(how);
    if (nc_rank == 1)
        usleep(2500000);
    return MPI_Barrier(MPI_COMM_WORLD);
}

/* Whether it is a way to go astray whose errors the program gets, and does not end by. */
static int goes_on(const char *how)
{
    static const char *const ways[] = {"collectives", "roots", "lengths",
                                       "short_root",  "late",  "empty"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!strcmp(how, ways[i]))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "late";
    if (goes_on(how))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    printf("%s %d\n", go_astray(how) ? "error" : "ended", nc_rank);
    return MPI_Finalize();
}
