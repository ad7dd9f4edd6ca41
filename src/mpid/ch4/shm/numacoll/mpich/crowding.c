/* Keeps what the local ranks may use of the machine's processors, and tells whether that is enough.
 * See crowding.h; the arithmetic is core/nc_crowding.c's. */

#include "mpidimpl.h"
#include "crowding.h"

#include <unistd.h>

/* Of the local ranks; `quotas`, [local_size], is NULL where there is only one process, which is
 * also the case where MPICH was built without shared memory between processes. */
static struct nc_masks masks;
static struct nc_quota *quotas;

void MPIDI_NUMACOLL_crowding_init(struct nc_masks mask, struct nc_quota *quota)
{
    masks = mask;
    quotas = quota;
}

void MPIDI_NUMACOLL_crowding_finalize(void)
{
    MPL_free(masks.word);
    MPL_free(quotas);
    masks = (struct nc_masks){0};
    quotas = NULL;
}

const struct nc_masks *MPIDI_NUMACOLL_masks(void)
{
    return quotas ? &masks : NULL;
}

/* Whether all nodes are simulated on this machine (by MPICH's variables for cliques) and have more
 * ranks than it has processors. */
static bool simulated_crowd(void)
{
    return (MPIR_CVAR_NUM_CLIQUES > 1 || MPIR_CVAR_ODD_EVEN_CLIQUES) &&
           MPIR_Process.size > sysconf(_SC_NPROCESSORS_ONLN);
}

/* local_rank NULL: the first n. */
static enum nc_crowding find(const int *local_rank, int n)
{
    if (simulated_crowd())
        return NC_CROWDING_MASKS;
    return quotas ? nc_crowding_find(&masks, quotas, local_rank, n) : NC_CROWDING_NONE;
}

enum nc_crowding MPIDI_NUMACOLL_crowding(void)
{
    return find(NULL, MPIR_Process.local_size);
}

bool MPIDI_NUMACOLL_ranks_oversubscribed(const int *local_rank, int n)
{
    return find(local_rank, n) != NC_CROWDING_NONE;
}
