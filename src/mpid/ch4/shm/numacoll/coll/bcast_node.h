/* Bcast among ranks that share a segment: no MPI. */

#ifndef NC_BCAST_NODE_H_INCLUDED
#define NC_BCAST_NODE_H_INCLUDED

#include <stdbool.h>

#include "../core/nc_group.h"
#include "../core/nc_tree.h"
#include "../sync/nc_copy.h"
#include "../sync/nc_queue.h"

struct nc_bcast {
    struct nc_queue *queue;
    const struct nc_groups *groups;     /* by NUMA node, and their leaders; one level where there is one node */
    const struct nc_tree *inner, *outer;        /* who tells whom: in my NUMA node, and among the leaders */
    bool sqrt_rule;             /* the writer's choice of fragments, see nc_frag_choose */
    uint32_t largest_fragment;  /* bytes; at most a slot */
    size_t cache_bytes;         /* messages above this are stored past the cache */
    const int *numa;            /* [ranks] NUMA nodes, for the ledger */
    struct nc_ledger *ledger;
};

/* Sends the root's stream to everybody else's. The leader of each other NUMA node takes the fragments once, into its own
 * ring, and the rest of the node reads them there. *sent: the root's length, which the others' may differ from: what is
 * too much is dropped, what is missing stays as it was. 0, or the error of a wait or a copy; after an error of a
 * copy the other ranks are still served. Source: Kurnosov, Tokmasheva 2020, with the slot protocol of PROTOCOLS.md;
 * sharing inside a NUMA node: Kurnosov 2023. */
int nc_bcast_node(struct nc_bcast *bcast, int root, struct nc_stream *stream, size_t *sent);

#endif
