/* Affinity masks, and whether they have a processor for each of some ranks. */

#ifndef NC_CPUS_H_INCLUDED
#define NC_CPUS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NC_CPUS_WORDS 128 /* 8192 processors, the most that Linux can be built for on x86 */

/* A set of processors: bit i % 64 of word[i / 64] stands for processor i. As a rank's affinity
 * mask, the empty set means that the mask is unknown. */
struct nc_cpus {
    uint64_t word[NC_CPUS_WORDS];
};

/* The affinity masks of ranks, with so many words of each as the longest mask has. */
struct nc_masks {
    int words;      /* at most NC_CPUS_WORDS */
    uint64_t *word; /* [ranks][words] */
};

static inline const uint64_t *nc_masks_of(const struct nc_masks *masks, int rank)
{
    return masks->word + (size_t) rank * (size_t) masks->words;
}

/* Whether n ranks are oversubscribed by their affinity masks: whether they cannot all have a
 * processor of their own at the same time, each one of its mask. So two ranks bound to one
 * processor are oversubscribed even if other processors are free. Ranks whose mask is unknown do
 * not count. rank[n]: their indices in `masks`, each at most once; NULL: 0 .. n - 1.
 *
 * Exact: searches a largest matching of ranks to processors by augmenting paths (H. W. Kuhn, The
 * Hungarian method for the assignment problem, Naval Research Logistics Quarterly 2, 1955). O(n)
 * where masks are equal or disjoint, at worst O(n^2), times NC_CPUS_WORDS. */
bool nc_cpus_oversubscribed(const struct nc_masks *masks, const int *rank, int n);

#endif
