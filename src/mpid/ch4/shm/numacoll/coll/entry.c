/* Where MPICH's calls arrive: the entry points of each collective. An entry point fills a struct
 * nc_call (mpich/comm.h), then calls the body in coll/<name>.c, or hands the call back to MPICH.
 * The code is macros, which are expanded for each row of collectives.yaml (numacoll_table.h).
 * Always built; without MPICH's posix shared-memory module every call falls back. */

#include "mpiimpl.h"
#ifdef NUMACOLL_BUILD_SHM
#include "bodies.h"
#include "../mpich/answers.h"
#include "../mpich/comm.h"
#else
#include "numacoll_table.h"
#include "../mpich/compat.h"
#endif

/* The communicator whose call this thread is handing back to MPICH; NULL: none. If a call on this
 * communicator arrives here meanwhile, MPICH's selection file has selected numacoll again, and
 * would do so for ever; so the algorithm of last resort (`fixed`) serves the call. Calls on a ready
 * communicator are never handed back, so a call for which MPIDI_NUMACOLL_begin returns true does
 * not look at this variable. */
static _Thread_local MPIR_Comm *handed_back;

/* Lets MPICH serve a call: by the function `elsewhere`, which selects among MPICH's algorithms, or
 * by `fixed`, which selects nothing. Sets mpi_errno. */
#define NC_HAND_BACK(elsewhere, args, comm, fixed) \
    do { \
        MPIR_Comm *outer = handed_back; \
        if (outer == (comm) || !NC_SELECTS(comm)) { \
            mpi_errno = fixed args; \
        } else { \
            handed_back = (comm); \
            mpi_errno = elsewhere args; \
            handed_back = outer; \
        } \
    } while (0)

#ifdef NUMACOLL_BUILD_SHM

/* Whether a variable selects numacoll. Inline, as every call asks. */
#define NC_IS_SELECTED(NAME) \
    MPIDI_NUMACOLL_is_selected(NC_COLL_##NAME, MPIR_CVAR_##NAME##_INTRA_ALGORITHM, \
                               MPIR_CVAR_##NAME##_INTRA_ALGORITHM_numacoll, \
                               MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto)

#define NC_FIRST(first, ...) first

/* The parameters, and the arguments, with two more: as for MPIDI_NUMACOLL_enter. */
#define NC_AND_HOW(...) (__VA_ARGS__, bool direct, int entry)
#define NC_HOW(...)     (__VA_ARGS__, direct, entry)

/* The whole of an entry point. args: its parameters, for MPICH's functions; body_args: the
 * arguments of the body; root: as for MPIDI_NUMACOLL_watch_call; direct, entry: as for
 * MPIDI_NUMACOLL_enter. */
#define NC_ENTER(name, NAME, args, body_args, root, direct, entry, elsewhere, fixed) \
    int mpi_errno = MPI_SUCCESS; \
    struct nc_call entered; \
    const struct nc_call *call = &entered; \
    /* most often what a rank sends; a prefetch of anything else does no harm */ \
    nc_copy_expect_read(NC_FIRST args, 1); \
    if (!MPIDI_NUMACOLL_begin(&entered, comm, errflag, NC_COLL_##NAME, entry) && \
        handed_back != comm) \
        mpi_errno = MPIDI_NUMACOLL_enter(&entered, direct, entry); \
    if (mpi_errno == MPI_SUCCESS) { \
        if (call->state) { \
            MPIDI_NUMACOLL_watch_call(call, root); \
            mpi_errno = MPIDI_NUMACOLL_end(call, MPIDI_NUMACOLL_##name body_args); \
        } else { \
            NC_HAND_BACK(elsewhere, args, comm, fixed); \
        } \
    } \
    return mpi_errno;

/* What MPICH calls at the level of MPIR, as maint/graft edits it. _serves: MPIR_<Name> asks whether
 * numacoll serves the call, because a variable selects it or the selection files did for such a
 * call before; if so it does, and *error is the call's. _intra_numacoll: a variable selects
 * numacoll, and MPICH comes another way. _csel_entry: an entry of a selection file selects
 * numacoll; `entry` is the number of that entry, -1 if it has no parameters. enter_ is in each of
 * them: to pass up to twelve arguments on takes longer than what it does. */
#define NC_ENTRY(name, Name, NAME, params, args, fixed, body_params, body_args, root, asked, \
                 early) \
    static inline __attribute__((always_inline)) int enter_##name NC_AND_HOW params \
    { \
        if (unlikely(MPIDI_NUMACOLL_has_no_bytes early)) \
            return MPI_SUCCESS; /* as where MPICH returns early, see collectives.yaml */ \
        NC_ENTER(name, NAME, args, body_args, root, direct, entry, MPIR_##Name##_allcomm_auto, \
                 fixed) \
    } \
    int MPIR_##Name##_numacoll_serves NC_AND_ERROR params \
    { \
        bool direct = NC_IS_SELECTED(NAME); \
        int entry = -1; \
        if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM) \
            return 0; \
        if (!direct) { \
            const struct nc_answer *answer; \
            if (MPIR_CVAR_##NAME##_INTRA_ALGORITHM != MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto || \
                !MPIDI_NUMACOLL_has_answers(comm)) \
                return 0; \
            answer = MPIDI_NUMACOLL_answered(comm, NC_COLL_##NAME, MPIDI_NUMACOLL_ask asked); \
            if (!answer) \
                return 0; \
            entry = answer->entry; \
        } \
        *error = enter_##name NC_HOW args; \
        return 1; \
    } \
    int MPIR_##Name##_intra_numacoll params \
    { \
        bool direct = true; \
        int entry = -1; \
        return enter_##name NC_HOW args; \
    } \
    int MPIR_##Name##_numacoll_csel_entry NC_AND_ENTRY params \
    { \
        bool direct = false; \
        if (MPIDI_NUMACOLL_has_answers(comm)) \
            MPIDI_NUMACOLL_remember(comm, NC_COLL_##NAME, MPIDI_NUMACOLL_ask asked, entry); \
        return enter_##name NC_HOW args; \
    }

/* What MPICH calls at the level of its posix shared-memory module. */
#define NC_POSIX_ENTRY(name, Name, NAME, params, args, fixed, body_params, body_args, root, asked, \
                       early) \
    int MPIDI_POSIX_mpi_##name##_numacoll NC_AND_ENTRY params \
    { \
        if (unlikely(MPIDI_NUMACOLL_has_no_bytes early)) \
            return MPI_SUCCESS; \
        NC_ENTER(name, NAME, args, body_args, root, false, entry, MPIR_##Name##_impl, fixed) \
    }

NC_COLLECTIVES(NC_ENTRY)
NC_POSIX_COLLECTIVES(NC_POSIX_ENTRY)
#else

/* The entry points of NC_ENTRY without the posix shared-memory module: numacoll can be selected,
 * but every call is handed back to MPICH, as MPIR_CVAR_COLLECTIVE_FALLBACK says. */
#define NC_STUB(name, Name, NAME, params, args, fixed, ...) \
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
    int MPIR_##Name##_numacoll_serves NC_AND_ERROR params \
    { \
        if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || \
            MPIR_CVAR_##NAME##_INTRA_ALGORITHM != MPIR_CVAR_##NAME##_INTRA_ALGORITHM_numacoll) \
            return 0; \
        *error = MPIR_##Name##_intra_numacoll args; \
        return 1; \
    } \
    int MPIR_##Name##_numacoll_csel_entry NC_AND_ENTRY params \
    { \
        (void) entry; \
        return MPIR_##Name##_intra_numacoll args; \
    }

NC_COLLECTIVES(NC_STUB)

/* Those of coll/nonblocking.c. */
#define NC_NONBLOCKING_STUB(name, Name, NAME, params) \
    int MPIR_##Name##_numacoll params \
    { \
        *served = false; \
        return MPI_SUCCESS; \
    }

NC_NONBLOCKING(NC_NONBLOCKING_STUB)

int MPIR_numacoll_compare_nodes(void)
{
    return MPI_SUCCESS;
}
#endif
