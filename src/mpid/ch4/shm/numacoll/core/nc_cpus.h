/* Affinity masks: do ranks outnumber processors? */

#ifndef NC_CPUS_H_INCLUDED
#define NC_CPUS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define NC_CPUS_WORDS 16 /* 1024 processors, as cpu_set_t */

/* A set of processors, bit i of word i / 64. */
struct nc_cpus {
    uint64_t word[NC_CPUS_WORDS];
};

/* Whether any of `ranks` masks has more ranks confined to it than it has processors. Only such a
 * mask decides: two ranks bound to one processor are oversubscribed even if others are free. */
bool nc_cpus_oversubscribed(const struct nc_cpus *masks, int ranks);

#endif
