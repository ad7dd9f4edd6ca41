/* The levels and groups of all processes of a communicator, on all nodes, and the buffers of
 * messages between nodes. agree.c makes both once every node is ready; coll/net.c, above.c and
 * packed.c use them. */

#ifndef NUMACOLL_HIERARCHY_H_INCLUDED
#define NUMACOLL_HIERARCHY_H_INCLUDED

#include "buffer.h"
#include "../core/nc_group.h"
#include "../core/nc_schedule.h"
#include "../shm/nc_copy.h"
#include "../shm/nc_queue.h"

/* The most bytes of a chunk, and so of the data in a message between nodes; lengths come on top. */
enum { NC_CHUNK = 65536 };

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

/* One message of a schedule, as a leader runs it. */
struct nc_net_message {
    int peer;  /* rank of the communicator */
    int parts; /* the number of parts the chunk is cut into; `step` names some of them */
    struct nc_step step;
};

/* The buffers of messages between nodes, private to the process. One call at a time uses them, in
 * one of three ways; the three ways share the memory (take_buffers). */
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
};

/* The groups of all ranks of a communicator, by all active levels. */
struct nc_hierarchy {
    struct nc_groups groups;
    enum nc_level name[NC_LEVELS + 1]; /* of each level of the groups */
    /* The nodes are numbered so that those under one switch have neighbouring numbers. */
    int nodes;
    int node;     /* this process's */
    int *node_of; /* [ranks] the node of each rank */
    int *first;   /* [nodes + 1] where the ranks of each node begin in `member` */
    /* [ranks] the ranks of node i, ascending, are member[first[i]] to member[first[i + 1] - 1] */
    int *member;
    int *back; /* [ranks] of this node, then of the node before it, and so on, round */
    int above; /* the lowest level of `groups` that is above the node */
    int largest[NC_LEVELS + 1]; /* [levels] members of the level's largest group */
    /* For messages between nodes: */
    struct nc_net_buffers buffers;
    struct nc_stream *stream;       /* [ranks of the largest node] their blocks as streams */
    struct nc_typed *typed;         /* [ranks of the largest node] the buffers of these streams */
    uint64_t *length;               /* [ranks of the largest node] bytes of their blocks */
    struct nc_step *step;           /* [messages] of one group's schedule */
    struct nc_net_message *message; /* [NC_PIPELINES * messages] */
    MPIR_Request **sent;            /* [NC_PIPELINES * NC_CHUNKS * messages] */
    int messages;                   /* the most that a rank has for one chunk in one direction */
    void *group_memory;
    void *memory, *scratch;
};

/* The node `distance` places before this process's node, round. */
static inline int nc_hierarchy_back(const struct nc_hierarchy *h, int distance)
{
    return (h->node + h->nodes - distance) % h->nodes;
}

/* The leader of a node in calls without root: its lowest rank. */
static inline int nc_hierarchy_leader(const struct nc_hierarchy *h, int node)
{
    return h->member[h->first[node]];
}

/* Allocates the memory of a hierarchy; false: no memory. Local. hierarchy_free
 * must follow at the end, also after false. */
bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *hierarchy, const MPIR_Comm *comm);

/* Frees what hierarchy_reserve allocated. May be called twice. */
void MPIDI_NUMACOLL_hierarchy_free(struct nc_hierarchy *hierarchy);

/* Fills a reserved hierarchy. Collective over comm. units[NC_LEVELS]: the units this process is in;
 * levels: the set of levels that LEVELS allows, bit i for level i. */
int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *hierarchy, const int *units, unsigned levels,
                                  MPIR_Comm *comm);

#endif
