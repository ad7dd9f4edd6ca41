/* The nodes of a communicator, and the buffers of messages between them. agree.c makes both once
 * every node is ready. A process keeps 4 bytes for each
 * rank of the communicator; all else grows with the nodes and with the ranks of the largest one. */

#ifndef NUMACOLL_HIERARCHY_H_INCLUDED
#define NUMACOLL_HIERARCHY_H_INCLUDED

#include "buffer.h"
#include "../core/nc_nodes.h"
#include "../core/nc_route.h"
#include "../core/nc_schedule.h"
#include "../shm/nc_copy.h"
#include "../shm/nc_queue.h"

/* The most chunks of a pipeline that are on their way at a time; and the directions of pipelines,
 * up and down. */
enum { NC_CHUNKS = 3, NC_PIPELINES = 2 };

/* The most bytes of one rank's block in a packed message, for a node of `ranks` ranks: its share of
 * a chunk, but no less than an inline message inside the node. */
static inline size_t nc_packed_share(size_t ranks)
{
    return NC_CHUNK / ranks > NC_INLINE_BYTES ? NC_CHUNK / ranks : NC_INLINE_BYTES;
}

/* Bytes of the largest message: a chunk, or a packed message with a length for each rank. */
static inline size_t nc_message_bytes(size_t ranks)
{
    size_t data = ranks * nc_packed_share(ranks);

    /* round up: a user's operation may rely on the alignment that malloc gives */
    return (ranks * sizeof(uint64_t) + (data > NC_CHUNK ? data : NC_CHUNK) + 63) / 64 * 64;
}

/* The buffers of messages between nodes, private to the process. One call at a time uses them, in
 * one of four ways; the four ways share the memory (take_buffers). */
struct nc_net_buffers {
    /* schedules (coll/above.h): chunk c is in chunk[c % NC_CHUNKS]; operands that are received go
     * to operand[0] and operand[1] in turn */
    char *chunk[NC_CHUNKS];
    char *operand[2];
    /* packed messages (coll/packed.h): message i is in packed[i % 2] */
    char *packed[2];
    size_t packed_bytes;
    /* rows of chunks (coll/packed.h): `arrived` has room for two chunks side by side, `outgoing`
     * for the one that is sent */
    char *arrived;
    char *outgoing;
    /* Scan and Exscan (coll/scan.c): the totals of chunks are in chunk[0] and chunk[1] in turn,
     * what comes from the nodes before in chunk[2], and what exchanges read in operand[0] */
};

/* The nodes of a communicator, and what its leaders need for messages between them. */
struct nc_hierarchy {
    struct nc_nodes nodes;
    /* for the report: the levels up to the node by which each node groups its ranks, bit i for
     * level i, and how many groups all nodes together have on each */
    unsigned below;
    int below_groups[NC_LEVEL_NODE + 1];
    int most;     /* ranks of the largest node */
    int switches; /* levels of switches that this process knows: not fewer than all know */
    struct nc_net_buffers buffers;
    struct nc_stream *stream; /* [most] blocks of a node's ranks as streams */
    struct nc_typed *typed;   /* [most] the buffers of these streams */
    uint64_t *length;         /* [most] bytes of the blocks */
    size_t *bound;            /* [most parts of a reduce-scatter + 2] for coll/reduce_scatter.c */
    int *part;                /* [nodes] in a reduce-scatter, the part of each */
    struct nc_step *message;  /* [nc_schedule_most(nodes)] */
    MPIR_Request **sent;      /* [NC_PIPELINES * NC_CHUNKS * sends] */
    int sends;                /* the most that a rank has for one chunk in one direction */
    void *memory, *scratch;
};

/* Allocates the memory of a hierarchy; false: no memory. units[NC_LEVELS]: the units this process
 * is in. Local. hierarchy_free must follow at the end, also after false. */
bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *hierarchy, const int *units,
                                      const MPIR_Comm *comm);

/* Frees what hierarchy_reserve allocated. May be called twice. */
void MPIDI_NUMACOLL_hierarchy_free(struct nc_hierarchy *hierarchy);

/* The node of a rank of the communicator. */
static inline int MPIDI_NUMACOLL_node_of(const struct nc_hierarchy *h, const MPIR_Comm *comm,
                                         int rank)
{
    return h->nodes.number[NC_NODE_OF(comm, rank)];
}

/* Fills a reserved hierarchy of several nodes or of one. Collective over comm: the leaders of the
 * nodes tell each other, and each its node, so a process takes part in O(log of the nodes + log of
 * the node's ranks) messages. units: as above; inside: the groups of this node's ranks; levels: the
 * set of levels that LEVELS allows, bit i for level i. */
int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *hierarchy, const int *units,
                                  const struct nc_levels *inside, unsigned levels, MPIR_Comm *comm);

#endif
