/* Tests collectives on a communicator with processes of two MPI_COMM_WORLDs: every rank takes part
 * in a spawn of two more processes, and all are merged. MPICH serves the calls there; a process may
 * not know what another world's variables select. faults runs it, and counts no calls: rank 0
 * prints how many calls on the merged communicator numacoll has served, and how many fell back:
 * served NUMBER fell_back NUMBER. */

#include "nctest.h"

enum { CHILDREN = 2, ROUNDS = 20, INTS = 3000 };

static int data[INTS];

/* Bcast, Allreduce and Barrier with every root. */
static void use(MPI_Comm comm)
{
    int rank, size, sum;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < ROUNDS; round++) {
        int root = round % size, count = round % 2 ? INTS : 1;
        for (int i = 0; i < count; i++)
            data[i] = rank == root ? round + i : -1;
        MPI_Bcast(data, count, MPI_INT, root, comm);
        for (int i = 0; i < count; i++) {
            if (data[i] != round + i)
                nc_fail("wrong value", data[i], round + i);
        }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != size * (size - 1) / 2)
            nc_fail("wrong sum", sum, size);
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"numacoll_bcast_calls",
                                        "numacoll_bcast_fell_back_several-worlds"};
    unsigned long long counted[2];
    struct nc_pvar pvars[2];
    MPI_Comm other, all;
    int high;

    nc_init(&argc, &argv);
    MPI_Comm_get_parent(&other);
    high = other != MPI_COMM_NULL;
    if (!high)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(other, high, &all);
    for (int i = 0; i < 2; i++)
        nc_pvar_open(&pvars[i], names[i]);
    use(all);
    for (int i = 0; i < 2; i++)
        counted[i] = nc_pvar_read(&pvars[i]);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    if (high) {
        MPI_Finalize();
        return nc_errors != 0;
    }
    if (nc_rank == 0)
        printf("served %llu fell_back %llu\n", counted[0], counted[1]);
    return nc_finish();
}
