/* Where the ranks are: on this machine or an assumed one, and in the network. */

#ifndef NUMACOLL_LOCATION_H_INCLUDED
#define NUMACOLL_LOCATION_H_INCLUDED

#include <stddef.h>

#include "mpidimpl.h"
#include "../core/nc_cpus.h"

/* Checks what the user says of machine and network; keeps masks ([local_size], may be NULL), which
 * it frees. Errors: MPI_ERR_OTHER, with a line from the first rank of a node. */
int MPIDI_NUMACOLL_locations_init(struct nc_cpus *masks);
void MPIDI_NUMACOLL_locations_finalize(void);

/* Collective over node_comm, NULL for a process alone on its node. units: memory for
 * locate_ints(ranks) ints, becomes [ranks][NC_LEVELS], as nc_topo wants it. *cache_bytes is changed
 * if hwloc knows the last-level cache. */
size_t MPIDI_NUMACOLL_locate_ints(int ranks);
int MPIDI_NUMACOLL_locate(MPIR_Comm *node_comm, const char *mapping, int *units,
                          size_t *cache_bytes);

/* Of the text of the network file, once a communicator's processes are located; 0 without one. */
int MPIDI_NUMACOLL_network_checksum(void);

#endif
