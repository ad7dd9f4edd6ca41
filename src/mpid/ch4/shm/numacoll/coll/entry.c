/* Where MPICH's calls arrive: for each row of the table of collectives the entry points at both
 * levels. Always built; without MPICH's posix shared-memory module every call falls back. */

#include "mpiimpl.h"
#ifdef NUMACOLL_BUILD_SHM
#include "bodies.h"
#include "../mpich/comm.h"
#else
#include "numacoll_table.h"
#include "../mpich/compat.h"
#endif

/* The communicator whose call this thread is handing back to MPICH, NULL for none. A call on it
 * that arrives here meanwhile shows that MPICH's own choice, by a selection file, is numacoll
 * again; then MPICH's algorithm of last resort serves. Such a communicator is not ready and does
 * not become so meanwhile, therefore a ready communicator need not look. */
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

#define NC_ENTER(name, NAME, args, body_args, direct, entry, elsewhere, fixed) \
    int mpi_errno = MPI_SUCCESS; \
    struct nc_call entered; \
    const struct nc_call *call = &entered; \
    if (!MPIDI_NUMACOLL_begin(&entered, comm, errflag, NC_COLL_##NAME, entry) && \
        handed_back != comm) \
        mpi_errno = MPIDI_NUMACOLL_enter(&entered, direct, entry); \
    if (mpi_errno == MPI_SUCCESS) { \
        if (call->state) \
            mpi_errno = MPIDI_NUMACOLL_##name body_args; \
        else \
            NC_HAND_BACK(elsewhere, args, comm, fixed); \
    } \
    return mpi_errno;

#define NC_ENTRY(name, Name, NAME, params, args, fixed, body_params, body_args) \
    int MPIR_##Name##_numacoll_selected(MPIR_Comm *comm) \
    { \
        return comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && \
               MPIDI_NUMACOLL_selected(NC_COLL_##NAME); \
    } \
    int MPIR_##Name##_intra_numacoll params \
    { \
        NC_ENTER(name, NAME, args, body_args, MPIDI_NUMACOLL_selected(NC_COLL_##NAME), -1, \
                 MPIR_##Name##_allcomm_auto, fixed) \
    } \
    int MPIR_##Name##_numacoll_csel_entry NC_AND_ENTRY params \
    { \
        NC_ENTER(name, NAME, args, body_args, false, entry, MPIR_##Name##_allcomm_auto, fixed) \
    }

#define NC_POSIX_ENTRY(name, Name, NAME, params, args, fixed, body_params, body_args) \
    int MPIDI_POSIX_mpi_##name##_numacoll NC_AND_ENTRY params \
    { \
        NC_ENTER(name, NAME, args, body_args, false, entry, MPIR_##Name##_impl, fixed) \
    }

NC_COLLECTIVES(NC_ENTRY)
NC_POSIX_COLLECTIVES(NC_POSIX_ENTRY)
#else

#define NC_STUB(name, Name, NAME, params, args, fixed, ...) \
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
    int MPIR_##Name##_numacoll_csel_entry NC_AND_ENTRY params \
    { \
        (void) entry; \
        return MPIR_##Name##_intra_numacoll args; \
    }

NC_COLLECTIVES(NC_STUB)
#endif
