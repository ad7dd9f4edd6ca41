/* Affinity masks, and whether the ranks of a node are oversubscribed. mpich/world.c asks once, when
 * the process starts. */

#ifndef NC_CPUS_H_INCLUDED
#define NC_CPUS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define NC_CPUS_WORDS 16 /* 1024 processors, as cpu_set_t */

/* A set of processors: bit i % 64 of word[i / 64] stands for processor i. */
struct nc_cpus {
    uint64_t word[NC_CPUS_WORDS];
};

/* Whether the ranks with these affinity masks, masks[ranks], are oversubscribed: whether for some
 * mask, the ranks whose own mask lies inside it are more than its processors. So two ranks bound to
 * one processor are oversubscribed even if other processors are free. O(ranks^2). */
bool nc_cpus_oversubscribed(const struct nc_cpus *masks, int ranks);

#endif
