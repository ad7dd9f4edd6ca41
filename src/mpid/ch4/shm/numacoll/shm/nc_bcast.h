/* Bcast among ranks that share a segment: no MPI. */

#ifndef NC_BCAST_H_INCLUDED
#define NC_BCAST_H_INCLUDED

#include "../core/nc_route.h"
#include "nc_transfer.h"

struct nc_bcast {
    struct nc_transfer transfer;
    struct nc_route route; /* of notifications, and of relays */
};

/* Sends the rest of the root's stream to everybody else's. In a flat group of the route all members
 * read the fragments in the leader's ring, in any other each reads in its parent's; who is read
 * takes them once, into its own ring. *sent: bytes of it, which the others' may differ from: what
 * is too much is dropped, what is missing stays as it was. 0, or the error of a wait or a copy;
 * after an error of a copy the other ranks are still served. Source: Kurnosov, Tokmasheva 2020,
 * with the slot protocol of PROTOCOLS.md; groups: Kurnosov 2023, BcastGroup, but a fragment goes on
 * as soon as it has arrived. */
int nc_bcast_node(struct nc_bcast *bcast, int root, struct nc_stream *stream, size_t *sent);

#endif
