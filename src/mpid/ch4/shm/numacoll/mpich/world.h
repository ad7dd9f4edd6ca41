/* What the process knows from MPI_Init to MPI_Finalize. The functions that start and end it are
 * declared in numacoll_hooks.h. */

#ifndef NUMACOLL_WORLD_H_INCLUDED
#define NUMACOLL_WORLD_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "../core/nc_crowding.h"

struct nc_world {
    bool initialised;
    bool yield;                /* waits give the processor away at once */
    bool oversubscribed;       /* ranks of this node outnumber the processors they may use */
    enum nc_crowding crowding; /* by what they are oversubscribed */
    /* of the last-level cache, as the C library says */
    size_t cache_bytes;
};
extern struct nc_world MPIDI_NUMACOLL_world;

/* Whether n ranks of this node are oversubscribed among themselves, whatever other ranks there are.
 * local_rank[n]: their local ranks in the job (MPIR_Process.local_rank), each at most once. The
 * same answer on all ranks of the node. */
bool MPIDI_NUMACOLL_ranks_oversubscribed(const int *local_rank, int n);

#endif
