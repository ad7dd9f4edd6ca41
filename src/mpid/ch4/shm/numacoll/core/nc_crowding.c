/* Finds out what oversubscribes ranks. See nc_crowding.h. */

#include "nc_crowding.h"

/* How many of the ranks share a quota. */
static int sharers(const struct nc_quota *quotas, const int *rank, int n, uint64_t id)
{
    int count = 0;

    for (int i = 0; i < n; i++) {
        const struct nc_quota *q = &quotas[rank ? rank[i] : i];
        count += q->millicpus && q->id == id;
    }
    return count;
}

static bool exceed_quota(const struct nc_quota *quotas, const int *rank, int n)
{
    for (int i = 0; i < n; i++) {
        const struct nc_quota *q = &quotas[rank ? rank[i] : i];
        if (q->millicpus && (int64_t) sharers(quotas, rank, n, q->id) * 1000 > q->millicpus)
            return true;
    }
    return false;
}

enum nc_crowding nc_crowding_find(const struct nc_masks *masks, const struct nc_quota *quotas,
                                  const int *rank, int n)
{
    if (nc_cpus_oversubscribed(masks, rank, n))
        return NC_CROWDING_MASKS;
    return exceed_quota(quotas, rank, n) ? NC_CROWDING_QUOTA : NC_CROWDING_NONE;
}
