/* Whether ranks, those of a node or of a communicator, are oversubscribed, and by what. */

#ifndef NC_CROWDING_H_INCLUDED
#define NC_CROWDING_H_INCLUDED

#include "nc_cpus.h"
#include "nc_quota.h"

enum nc_crowding {
    NC_CROWDING_NONE,  /* not oversubscribed */
    NC_CROWDING_MASKS, /* the affinity masks do not have a processor for each rank */
    NC_CROWDING_QUOTA  /* ranks that share a CPU quota are more than the processors it allows */
};

/* What oversubscribes n ranks; the masks come first if both do. rank[n]: their indices in `masks`
 * and `quotas`, each at most once; NULL: 0 .. n - 1. O(n^2) where there are quotas. */
enum nc_crowding nc_crowding_find(const struct nc_masks *masks, const struct nc_quota *quotas,
                                  const int *rank, int n);

#endif
