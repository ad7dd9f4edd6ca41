/* Where MPICH's calls arrive: for each row of the table of collectives the entry points at both
 * levels. Always built; without MPICH's posix shared-memory module every call falls back. */

#include "mpiimpl.h"
#ifdef NUMACOLL_BUILD_SHM
#include "numacoll.h"
#else
#include "numacoll_table.h"
#include "compat.h"
#endif

/* The communicator whose call this thread is handing back to MPICH: met again, a selection file
 * named numacoll as MPICH's own choice, and the algorithm of last resort serves. */
static _Thread_local MPIR_Comm *handed_back;

#define NC_HAND_BACK(elsewhere, args, comm, fixed) \
    do { \
        MPIR_Comm *outer = handed_back; \
        if (outer == (comm)) { \
            mpi_errno = fixed args; \
        } else { \
            handed_back = (comm); \
            mpi_errno = elsewhere args; \
            handed_back = outer; \
        } \
    } while (0)

#ifdef NUMACOLL_BUILD_SHM

static const struct {
    const char *name;
    int *variable;
    int ours, automatic;
} table[NC_COLL_COUNT] = {
#define NC_ROW(name, Name, NAME, params, args, fixed) \
    {#name, (int *) &MPIR_CVAR_##NAME##_INTRA_ALGORITHM, \
     MPIR_CVAR_##NAME##_INTRA_ALGORITHM_numacoll, MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto},
    NC_COLLECTIVES(NC_ROW)
#undef NC_ROW
};

const char *MPIDI_NUMACOLL_coll_name(enum nc_coll coll)
{
    return table[coll].name;
}

bool MPIDI_NUMACOLL_selected_explicitly(enum nc_coll coll)
{
    return *table[coll].variable == table[coll].ours;
}

bool MPIDI_NUMACOLL_selected(enum nc_coll coll)
{
    /* an algorithm chosen for this collective beats the list of collectives */
    return MPIDI_NUMACOLL_selected_explicitly(coll) ||
           ((MPIDI_NUMACOLL_world.collectives >> coll & 1) &&
            *table[coll].variable == table[coll].automatic);
}

#define NC_ENTER(name, NAME, args, direct, leaf, elsewhere, fixed) \
    int mpi_errno = MPI_SUCCESS; \
    struct MPIDI_NUMACOLL_comm *state = NULL; \
    if (handed_back != comm) \
        mpi_errno = MPIDI_NUMACOLL_enter(comm, NC_COLL_##NAME, direct, leaf, &state); \
    if (mpi_errno == MPI_SUCCESS) { \
        if (state) \
            mpi_errno = MPIDI_NUMACOLL_##name args; \
        else \
            NC_HAND_BACK(elsewhere, args, comm, fixed); \
    } \
    return mpi_errno;

#define NC_ENTRY(name, Name, NAME, params, args, fixed) \
    int MPIR_##Name##_numacoll_selected(MPIR_Comm *comm) \
    { \
        return comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && \
               MPIDI_NUMACOLL_selected(NC_COLL_##NAME); \
    } \
    int MPIR_##Name##_intra_numacoll params \
    { \
        NC_ENTER(name, NAME, args, MPIDI_NUMACOLL_selected(NC_COLL_##NAME), -1, \
                 MPIR_##Name##_allcomm_auto, fixed) \
    } \
    int MPIR_##Name##_numacoll_leaf NC_AND_LEAF params \
    { \
        NC_ENTER(name, NAME, args, false, leaf, MPIR_##Name##_allcomm_auto, fixed) \
    }

#define NC_POSIX_ENTRY(name, Name, NAME, params, args, fixed) \
    int MPIDI_POSIX_mpi_##name##_numacoll NC_AND_LEAF params \
    { \
        NC_ENTER(name, NAME, args, false, leaf, MPIR_##Name##_impl, fixed) \
    }

NC_COLLECTIVES(NC_ENTRY)
NC_POSIX_COLLECTIVES(NC_POSIX_ENTRY)
#else

#define NC_STUB(name, Name, NAME, params, args, fixed) \
    int MPIR_##Name##_numacoll_selected(MPIR_Comm *comm) \
    { \
        return comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && \
               MPIR_CVAR_##NAME##_INTRA_ALGORITHM == MPIR_CVAR_##NAME##_INTRA_ALGORITHM_numacoll; \
    } \
    int MPIR_##Name##_intra_numacoll params \
    { \
        int mpi_errno = MPI_SUCCESS; \
        MPII_COLLECTIVE_FALLBACK_CHECK(comm->rank, 0, mpi_errno, \
                                       "numacoll: " #name \
                                       ": this MPICH has no shared-memory module\n"); \
    fallback: \
        NC_HAND_BACK(MPIR_##Name##_allcomm_auto, args, comm, fixed); \
    fn_fail: \
        return mpi_errno; \
    } \
    int MPIR_##Name##_numacoll_leaf NC_AND_LEAF params \
    { \
        (void) leaf; \
        return MPIR_##Name##_intra_numacoll args; \
    }

NC_COLLECTIVES(NC_STUB)
#endif
