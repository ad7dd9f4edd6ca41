/* Makes and finds the bells of the node's processes. See bells.h. */

#include "bells.h"

#include <unistd.h>

#include "backing.h"
#include "compat.h"
#include "crowding.h"
#include "meeting.h"

/* The memory that the processes of the node share: a line that tells their MPI_COMM_WORLD from
 * others, written by local rank 0 before all meet; then the bells. NULL: none. */
static struct shared {
    _Alignas(NC_LINE) uint64_t world; /* not 0 */
    struct nc_bell bell[];
} * shared;

int MPIDI_NUMACOLL_bells_make(struct nc_bell **bell)
{
    int mpi_errno = MPI_SUCCESS;
    void *memory;

    mpi_errno = MPIDI_NUMACOLL_meeting_share(
        sizeof *shared + (size_t) MPIR_Process.local_size * sizeof *shared->bell, &memory);
    MPIR_ERR_CHECK(mpi_errno);
    shared = memory;
    *bell = shared ? shared->bell : NULL;
    if (shared && MPIR_Process.local_rank == 0)
        shared->world = MPIDI_NUMACOLL_nonce();
    mpi_errno = MPIDI_NUMACOLL_meeting_wait();
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_bells_free(void)
{
    if (shared)
        MPIDI_NUMACOLL_meeting_unshare(shared);
    shared = NULL;
}

/* What each rank of a communicator tells the others. */
struct told {
    uint64_t world; /* 0: without bells */
    int local_rank, oversubscribed;
};

size_t MPIDI_NUMACOLL_bells_bytes(int size)
{
    return (size_t) size * sizeof(struct told);
}

int MPIDI_NUMACOLL_bells_find(MPIR_Comm *node_comm, void *memory, int *local_rank,
                              struct nc_bell **bell, bool *all, bool *oversubscribed)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, size = node_comm->local_size;
    struct told mine = {.world = shared ? shared->world : 0,
                        .local_rank = MPIR_Process.local_rank,
                        .oversubscribed = MPIDI_NUMACOLL_crowding() != NC_CROWDING_NONE};
    struct told *told = memory;

    mpi_errno = MPIR_Allgather_intra_brucks(&mine, sizeof mine, NC_TYPE_BYTE, told, sizeof mine,
                                            NC_TYPE_BYTE, node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *all = true;
    *oversubscribed = false;
    for (int i = 0; i < size; i++) {
        *all = *all && told[i].world != 0 && told[i].world == told[0].world;
        *oversubscribed = *oversubscribed || told[i].oversubscribed;
        local_rank[i] = told[i].local_rank;
    }
    if (*all) {
        for (int i = 0; i < size; i++)
            bell[i] = &shared->bell[local_rank[i]];
        *oversubscribed = MPIDI_NUMACOLL_ranks_oversubscribed(local_rank, size);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

MPL_atomic_int_t MPIDI_NUMACOLL_unposted = MPL_ATOMIC_INT_T_INITIALIZER(0);

bool MPIDI_NUMACOLL_is_wanted(void *unused)
{
    bool wanted = MPIR_Process.size > MPIR_Process.local_size ||
                  MPIDI_global.avt_mgr.n_avts > 1 || /* worlds */
                  MPL_atomic_relaxed_load_int(&MPIDI_NUMACOLL_unposted) > 0;

    (void) unused;
    for (int i = 0; i < NC_QUEUES && !wanted; i++)
        wanted = NC_POSTPONED(i);
    return wanted;
}
