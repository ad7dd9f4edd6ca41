/* Whether the ranks of this node outnumber their processors. world.c finds out at MPI_Init what the
 * local ranks may use and hands it over. */

#ifndef NUMACOLL_CROWDING_H_INCLUDED
#define NUMACOLL_CROWDING_H_INCLUDED

#include <stdbool.h>

#include "../core/nc_crowding.h"

/* Takes over the affinity masks and CPU quotas, quota[local_size], of all local ranks; MPL_malloc
 * has allocated both. quota NULL: this process is alone on its node. */
void MPIDI_NUMACOLL_crowding_init(struct nc_masks mask, struct nc_quota *quota);
void MPIDI_NUMACOLL_crowding_finalize(void);

/* The masks that crowding_init got. */
const struct nc_masks *MPIDI_NUMACOLL_masks(void);

/* By what all ranks of this node are oversubscribed. The same on all ranks of the node. */
enum nc_crowding MPIDI_NUMACOLL_crowding(void);

/* Whether n ranks of this node are oversubscribed among themselves, whatever other ranks there are.
 * local_rank[n]: their local ranks in the job (MPIR_Process.local_rank), each at most once. The
 * same answer on all ranks of the node. */
bool MPIDI_NUMACOLL_ranks_oversubscribed(const int *local_rank, int n);

#endif
