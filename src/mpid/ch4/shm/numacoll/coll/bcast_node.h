/* Bcast among ranks that share a segment: no MPI. */

#ifndef NC_BCAST_NODE_H_INCLUDED
#define NC_BCAST_NODE_H_INCLUDED

#include "../core/nc_route.h"
#include "move_node.h"

struct nc_bcast {
    struct nc_move move;
    struct nc_route route;      /* of notifications, and of relays */
};

/* Sends the rest of the root's stream to everybody else's. The leader of each other NUMA node takes the fragments once, into its own
 * ring, and the rest of the node reads them there. *sent: bytes of it, which the others' may differ from: what is
 * too much is dropped, what is missing stays as it was. 0, or the error of a wait or a copy; after an error of a
 * copy the other ranks are still served. Source: Kurnosov, Tokmasheva 2020, with the slot protocol of PROTOCOLS.md;
 * sharing inside a NUMA node: Kurnosov 2023. */
int nc_bcast_node(struct nc_bcast *bcast, int root, struct nc_stream *stream, size_t *sent);

#endif
