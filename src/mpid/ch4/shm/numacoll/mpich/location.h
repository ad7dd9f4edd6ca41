/* Where the ranks are: in which units of this machine or of an assumed one, and under which
 * switches of the network. world.c starts it, state_make.c asks it for the ranks of a communicator.
 */

#ifndef NUMACOLL_LOCATION_H_INCLUDED
#define NUMACOLL_LOCATION_H_INCLUDED

#include <stddef.h>

#include "mpidimpl.h"
#include "../core/nc_cpus.h"

/* Checks TOPOLOGY, MAPPING and NETWORK_FILE on local rank 0 of each node. False there, with a line:
 * they cannot be used. */
bool MPIDI_NUMACOLL_locations_check(void);

/* Then takes the affinity masks ([local_size]; may be NULL), which remain the caller's, until after
 * locations_finalize. */
void MPIDI_NUMACOLL_locations_init(const struct nc_masks *masks);

/* At MPI_Finalize: frees the mapping and the machine. */
void MPIDI_NUMACOLL_locations_finalize(void);

/* Whether a value of MAPPING can be used for the ranks of this node. False, with one line in
 * problem[size]: it cannot. */
bool MPIDI_NUMACOLL_mapping_fits(const char *mapping, char *problem, size_t size);

/* The ints of memory that MPIDI_NUMACOLL_locate needs for so many ranks. */
size_t MPIDI_NUMACOLL_locate_ints(int ranks);

/* The caches of this node; 0: unknown, as those of an assumed machine are. */
struct nc_caches {
    size_t last;    /* bytes of the last-level cache */
    int processors; /* how many processors share it */
    size_t l2;      /* bytes of a processor's L2 cache */
};

/* Finds the units of each rank of node_comm. Collective over node_comm, which is NULL for a process
 * alone on its node. local_rank[ranks]: the ranks' numbers among the processes of the node.
 * mapping: value of MAPPING. units: memory for locate_ints(ranks) ints; its
 * beginning becomes [ranks][NC_LEVELS], as nc_topo takes it, -1: unknown. *caches is filled,
 * alike on all ranks of node_comm. */
int MPIDI_NUMACOLL_locate(MPIR_Comm *node_comm, const int *local_rank, const char *mapping,
                          int *units, struct nc_caches *caches);

/* Checksum of the network file's text, once a communicator's processes are located; 0: there is no
 * file. */
int MPIDI_NUMACOLL_network_checksum(void);

#endif
