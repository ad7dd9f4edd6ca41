/* Finds out from affinity masks whether ranks are oversubscribed. See nc_cpus.h. */

#include "nc_cpus.h"

static int count(const struct nc_cpus *set)
{
    int n = 0;

    for (int i = 0; i < NC_CPUS_WORDS; i++)
        n += __builtin_popcountll(set->word[i]);
    return n;
}

static bool is_inside(const struct nc_cpus *inner, const struct nc_cpus *outer)
{
    for (int i = 0; i < NC_CPUS_WORDS; i++) {
        if (inner->word[i] & ~outer->word[i])
            return false;
    }
    return true;
}

bool nc_cpus_oversubscribed(const struct nc_cpus *masks, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        int confined = 0;
        for (int j = 0; j < ranks; j++)
            confined += is_inside(&masks[j], &masks[i]);
        if (confined > count(&masks[i]))
            return true;
    }
    return false;
}
