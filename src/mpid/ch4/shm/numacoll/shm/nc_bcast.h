/* Bcast among the ranks of one node, in shared memory; no MPI. The callers are the bodies in coll/
 * (bcast, allgather, allreduce, ...); the steps are nc_transfer's. PROTOCOLS.md, 3.1. */

#ifndef NC_BCAST_H_INCLUDED
#define NC_BCAST_H_INCLUDED

#include "../core/nc_route.h"
#include "nc_transfer.h"

/* Sends the rest of the root's stream into the streams of all other ranks; every rank of the node
 * calls it. route: who announces to whom, and who reads whose ring. In a flat group of it all
 * members read the fragments in the send ring of the group's leader, in other groups each member in
 * the ring of its parent. A rank whose ring others read (a relay) copies each fragment once into
 * its own ring.
 *
 * *sent: length of the root's stream, bytes. A reader's stream may have another length: what is too
 * much is dropped, what is missing stays as it was. 0, or the error of a copy; after it the other
 * ranks are still served.
 *
 * Source: Kurnosov, Tokmasheva 2020, with the slot protocol of PROTOCOLS.md; groups: Kurnosov 2023,
 * BcastGroup, but a fragment goes on as soon as it has arrived. */
int nc_bcast_node(struct nc_transfer *transfer, struct nc_route *route, int root,
                  struct nc_stream *stream, size_t *sent);

#endif
