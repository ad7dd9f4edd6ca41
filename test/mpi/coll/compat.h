/* What differs between MPICH's releases for the programs of this folder. No other file of test/
 * names a release in code. */

#ifndef NCTEST_COMPAT_H_INCLUDED
#define NCTEST_COMPAT_H_INCLUDED

#include <mpi.h>

/* Whether a broadcast of nothing is a call: later MPICH returns at once where the count is 0. */
#define NC_EMPTY_BCAST_CALLS (MPICH_NUMVERSION < 40100000)

/* Progress hooks: what they are called with, and what comes first when one is registered. */
#if MPICH_NUMVERSION < 40300000
#define NC_HOOK_PARAMETERS __attribute__((unused)) int *made_progress
#define NC_HOOK_VCI
typedef int nc_register_hook(int (*)(int *), int *);
#else
#define NC_HOOK_PARAMETERS \
    __attribute__((unused)) int vci, __attribute__((unused)) int *made_progress
#define NC_HOOK_VCI -1,
typedef int nc_register_hook(int, int (*)(int, int *), int *);
#endif

#endif
