#include "nc_cpus.h"

int nc_cpus_count(const struct nc_cpus *set)
{
    int n = 0;

    for (int i = 0; i < NC_CPUS_WORDS; i++)
        n += __builtin_popcountll(set->word[i]);
    return n;
}

bool nc_cpus_inside(const struct nc_cpus *inner, const struct nc_cpus *outer)
{
    for (int i = 0; i < NC_CPUS_WORDS; i++) {
        if (inner->word[i] & ~outer->word[i])
            return false;
    }
    return true;
}

bool nc_cpus_crowded(const struct nc_cpus *masks, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        int confined = 0;
        for (int j = 0; j < ranks; j++)
            confined += nc_cpus_inside(&masks[j], &masks[i]);
        if (confined > nc_cpus_count(&masks[i]))
            return true;
    }
    return false;
}
