/* Tests that a nonblocking call which stays open holds up no other call.
 *
 * First rank 0 leaves an Ibarrier open over CALLS blocking calls on the same communicator. Then all
 * ranks but the last one start an Ibarrier, and the last rank enters it after CALLS blocking calls
 * that all make on another communicator; until then it must be open on all ranks. Meanwhile the
 * other ranks get broadcasts that were started after it, where numacoll serves them, and rank 0
 * starts more of them than there is room for. */

#include "nonblocking.h"

enum { CALLS = 1000, AHEAD = 8, MORE = 60 }; /* CALLS % 3 is 1: the last call is a barrier */

/* Blocking calls, with checked data, the last one a barrier. Until all ranks have entered that,
 * `request`, if there is one, must stay open. */
static void block(MPI_Comm comm, int calls, MPI_Request *request)
{
    for (int i = 0; i < calls; i++) {
        int root = i % nc_size, value = nc_rank == root ? i : -1, flag = 0, all = 1;
        switch (i % 3) {
            case 0:
                nc_barrier(comm);
                break;
            case 1:
                nc_bcast(&value, 1, MPI_INT, root, comm);
                if (value != i)
                    nc_fail("Bcast", value, i);
                break;
            case 2:
                nc_count(NC_ALLREDUCE, comm);
                MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, comm);
                if (all != nc_size)
                    nc_fail("Allreduce", all, nc_size);
        }
        if (request && i < calls - 1)
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (flag && nc_size > 1)
            nc_fail("the barrier is over without the last rank, call", i, 0);
    }
}

static void left_by_rank_0(MPI_Comm comm)
{
    MPI_Request request;

    nc_nonblocking_count(NC_IBARRIER, comm, 1);
    MPI_Ibarrier(comm, &request);
    if (nc_rank != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    block(comm, CALLS, NULL);
    if (nc_rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void start_broadcasts(MPI_Comm comm, int n, int *value, MPI_Request *request)
{
    for (int i = 0; i < n; i++) {
        nc_nonblocking_count(NC_IBCAST, comm, 1);
        value[i] = nc_rank == 0 ? i : -1;
        MPI_Ibcast(&value[i], 1, MPI_INT, 0, comm, &request[i]);
    }
}

static void entered_last(MPI_Comm comm, MPI_Comm other)
{
    MPI_Request barrier, request[AHEAD + MORE];
    int last = nc_rank == nc_size - 1, value[AHEAD + MORE];

    if (!last) {
        nc_nonblocking_count(NC_IBARRIER, comm, 1);
        MPI_Ibarrier(comm, &barrier);
        start_broadcasts(comm, AHEAD, value, request);
        if (nc_nonblocking_serves(comm))
            MPI_Waitall(AHEAD, request, MPI_STATUSES_IGNORE);
        start_broadcasts(comm, MORE, value + AHEAD, request + AHEAD);
    }
    block(other, CALLS, last ? NULL : &barrier);
    if (last) {
        nc_nonblocking_count(NC_IBARRIER, comm, 1);
        MPI_Ibarrier(comm, &barrier);
        start_broadcasts(comm, AHEAD, value, request);
        start_broadcasts(comm, MORE, value + AHEAD, request + AHEAD);
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Waitall(AHEAD + MORE, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < AHEAD + MORE; i++) {
        if (value[i] != (i < AHEAD ? i : i - AHEAD))
            nc_fail("Ibcast", value[i], i);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm dup;

    nc_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    nc_nonblocking_open();
    nc_barrier(MPI_COMM_WORLD);
    nc_barrier(dup);
    left_by_rank_0(MPI_COMM_WORLD);
    entered_last(MPI_COMM_WORLD, dup);
    left_by_rank_0(dup);
    nc_nonblocking_check();
    MPI_Comm_free(&dup);
    return nc_finish();
}
