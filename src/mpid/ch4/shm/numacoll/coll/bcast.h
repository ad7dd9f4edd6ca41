/* Bcast inside another collective, which is the one that is counted. */

#ifndef NUMACOLL_BCAST_H_INCLUDED
#define NUMACOLL_BCAST_H_INCLUDED

#include "../mpich/call.h"

/* Errors: of MPI, of lengths that differ. */
int MPIDI_NUMACOLL_bcast_typed(const struct nc_call *call, struct nc_typed *typed, int root);

#endif
