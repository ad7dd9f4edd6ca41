/* Where the launcher has put the ranks of this node. location.c asks here when affinity masks do
 * not tell where the ranks are. */

#ifndef NUMACOLL_LOCALITY_H_INCLUDED
#define NUMACOLL_LOCALITY_H_INCLUDED

#include <stdbool.h>

/* The units that the launcher has bound a local rank (of the job) to: unit[NC_LEVEL_NODE]. False:
 * the launcher does not say, or MPICH was not built with PMIx. */
bool MPIDI_NUMACOLL_locality_get(int local_rank, int *unit);

#endif
