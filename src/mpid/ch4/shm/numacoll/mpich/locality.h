/* What the launcher says of where it has put the ranks of this node. */

#ifndef NUMACOLL_LOCALITY_H_INCLUDED
#define NUMACOLL_LOCALITY_H_INCLUDED

#include <stdbool.h>

/* The units (unit[NC_LEVEL_NODE]) that the launcher has bound a rank of this node to; false if it
 * does not say, or MPICH was not built with PMIx. */
bool MPIDI_NUMACOLL_locality_get(int local_rank, int *unit);

#endif
