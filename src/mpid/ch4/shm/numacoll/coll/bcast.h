/* Bcast as a part of another collective. It does not count a call: the
 * other collective counts itself. */

#ifndef NUMACOLL_BCAST_H_INCLUDED
#define NUMACOLL_BCAST_H_INCLUDED

#include "../mpich/call.h"

/* Broadcasts the buffer of the root (rank of the communicator) into the buffers of all ranks; every
 * rank of the communicator calls it. Errors: of MPICH; MPI_ERR_TRUNCATE or
 * **collective_size_mismatch where a rank's length differs from the root's. */
int MPIDI_NUMACOLL_bcast_typed(const struct nc_call *call, struct nc_typed *typed, int root);

#endif
