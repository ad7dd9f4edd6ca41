/* The end of MPICH's exchange of network addresses at the start. Always built. */

#include "numacoll_mpir.h"
#include "compat.h"

int MPIR_numacoll_meet_all(MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;
    NC_ERRFLAG_LOCAL(errflag);

    if (NC_START_NODES(comm) == 1)
        return MPI_SUCCESS;
    mpi_errno = NC_START_NODE_BARRIER(comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (NC_START_ROOTS(comm)) {
        mpi_errno = MPIR_Barrier_fallback(NC_START_ROOTS(comm), errflag);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = NC_START_NODE_BARRIER(comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
