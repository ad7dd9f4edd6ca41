/* Differences between the MPICH versions 4.0 to 4.3, hidden behind macros. The only file that tests
 * the version (MPICH_NUMVERSION of mpi.h). */

#ifndef NUMACOLL_COMPAT_H_INCLUDED
#define NUMACOLL_COMPAT_H_INCLUDED

#if MPICH_NUMVERSION < 40100000

/* 4.0.x passes the error flag of a collective by address */
#define NC_ERRFLAG_T MPIR_Errflag_t *
#define NC_ERRFLAG_LOCAL(name) \
    MPIR_Errflag_t name##_value = MPIR_ERR_NONE; \
    MPIR_Errflag_t *name = &name##_value
#define NC_WAITALL(n, requests, statuses, errflag) MPIC_Waitall(n, requests, statuses, errflag)
#define NC_TYPEREP_PACK(in, count, type, offset, out, max, actual) \
    MPIR_Typerep_pack(in, count, type, offset, out, max, actual)
#define NC_TYPEREP_UNPACK(in, size, out, count, type, offset, actual) \
    MPIR_Typerep_unpack(in, size, out, count, type, offset, actual)

#else

#define NC_ERRFLAG_T           MPIR_Errflag_t
#define NC_ERRFLAG_LOCAL(name) MPIR_Errflag_t name = MPIR_ERR_NONE
#define NC_WAITALL(n, requests, statuses, errflag) \
    ((void) (errflag), MPIC_Waitall(n, requests, statuses))
#define NC_TYPEREP_PACK(in, count, type, offset, out, max, actual) \
    MPIR_Typerep_pack(in, count, type, offset, out, max, actual, MPIR_TYPEREP_FLAG_NONE)
#define NC_TYPEREP_UNPACK(in, size, out, count, type, offset, actual) \
    MPIR_Typerep_unpack(in, size, out, count, type, offset, actual, MPIR_TYPEREP_FLAG_NONE)

#endif

/* whether the shared-memory module has a message that waits for a free cell */
#if MPICH_NUMVERSION < 40100000
#define NC_QUEUES       MPIDI_POSIX_global.num_vsis
#define NC_POSTPONED(i) (MPIDI_POSIX_global.per_vsi[i].postponed_queue != NULL)
#else
#define NC_QUEUES       MPIDI_global.n_vcis
#define NC_POSTPONED(i) (MPIDI_POSIX_global.per_vci[i].postponed_queue != NULL)
#endif

#if MPICH_NUMVERSION < 40300000
#define NC_PROGRESS_HOOK_PARAMS                 int *made_progress
#define NC_PROGRESS_HOOK_REGISTER(function, id) MPIR_Progress_hook_register(function, id)
#else
#define NC_PROGRESS_HOOK_PARAMS                 int vci, int *made_progress
#define NC_PROGRESS_HOOK_REGISTER(function, id) MPIR_Progress_hook_register(-1, function, id)
#endif

#endif
