/* Finds out from affinity masks whether ranks are oversubscribed. See nc_cpus.h. */

#include "nc_cpus.h"

struct matching {
    const struct nc_masks *masks;
    struct nc_cpus taken; /* processors that have an owner */
    struct nc_cpus tried; /* processors whose owners the current search has asked to move */
    int *owner;           /* [words * 64] */
};

static bool is_empty(const uint64_t *word, int words)
{
    for (int w = 0; w < words; w++) {
        if (word[w])
            return false;
    }
    return true;
}

/* Gives the rank a free processor of its mask. False: there is none. */
static bool take_free(struct matching *m, int rank)
{
    const uint64_t *mask = nc_masks_of(m->masks, rank);

    for (int w = 0; w < m->masks->words; w++) {
        uint64_t free = mask[w] & ~m->taken.word[w];
        if (free) {
            m->taken.word[w] |= free & -free;
            m->owner[64 * w + __builtin_ctzll(free)] = rank;
            return true;
        }
    }
    return false;
}

/* Gives the rank a processor of its mask: a free one, or one whose owner can move to another.
 * Recurses at most as deep as there are ranks: the owners on the way differ. */
static bool place(struct matching *m, int rank)
{
    const uint64_t *mask = nc_masks_of(m->masks, rank);
    uint64_t untried;

    if (take_free(m, rank))
        return true;
    for (int w = 0; w < m->masks->words; w++) {
        while ((untried = mask[w] & ~m->tried.word[w])) {
            int cpu = 64 * w + __builtin_ctzll(untried);
            m->tried.word[w] |= untried & -untried;
            if (place(m, m->owner[cpu])) {
                m->owner[cpu] = rank;
                return true;
            }
        }
    }
    return false;
}

bool nc_cpus_oversubscribed(const struct nc_masks *masks, const int *rank, int n)
{
    /* as long as the masks are: of 8192 processors it is too large for the stack of some threads */
    int owner[masks->words * 64];
    struct matching m = {.masks = masks, .owner = owner};

    for (int i = 0; i < n; i++) {
        int r = rank ? rank[i] : i;
        m.tried = (struct nc_cpus){{0}};
        if (!is_empty(nc_masks_of(masks, r), masks->words) && !place(&m, r))
            return true;
    }
    return false;
}
