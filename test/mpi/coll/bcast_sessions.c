/* Tests Bcast in an MPI session, without MPI_Init. One session only: in the second one MPICH 4.0.2
 * crashes (in MPII_Coll_init, before it calls numacoll), and MPICH 5.0.1 may wait for ever (in its
 * exchange of addresses). Raise EPOCHS when MPICH has fixed that. */

#include "nctest.h"

enum { EPOCHS = 1 };

static void epoch(int number, int last)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int x, all = 0;

    nc_calls[NC_BCAST] = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "nctest", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &nc_rank);
    MPI_Comm_size(comm, &nc_size);
    for (int i = 0; i < 50; i++) {
        x = nc_rank == i % nc_size ? 100 * number + i : -1;
        nc_bcast(&x, 1, MPI_INT, i % nc_size, comm);
        if (x != 100 * number + i)
            nc_fail("wrong value", x, number);
    }
    MPI_Reduce(&nc_errors, &all, 1, MPI_INT, MPI_SUM, 0, comm);
    if (last && nc_rank == 0)
        printf(all ? " Found errors\n" : " No Errors\n");
    if (last && nc_rank == 0)
        nc_print_calls();
    fflush(stdout);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(void)
{
    for (int i = 0; i < EPOCHS; i++)
        epoch(i, i == EPOCHS - 1);
    return nc_errors != 0;
}
