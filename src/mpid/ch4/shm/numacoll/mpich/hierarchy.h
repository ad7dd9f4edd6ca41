/* The levels and groups of all processes of a communicator, on however many nodes, and the buffers
 * of messages between nodes. */

#ifndef NUMACOLL_HIERARCHY_H_INCLUDED
#define NUMACOLL_HIERARCHY_H_INCLUDED

#include "buffer.h"
#include "../core/nc_group.h"
#include "../core/nc_schedule.h"
#include "../shm/nc_copy.h"
#include "../shm/nc_queue.h"

/* Bytes of a chunk, at most: what a message between nodes carries, beside lengths. */
enum { NC_CHUNK = 65536 };

/* Chunks of a pipeline under way at a time, at most; directions of pipelines: up and down. */
enum { NC_CHUNKS = 3, NC_PIPELINES = 2 };

/* Bytes of the block of each of a node's ranks in a packed message, at most: what a chunk has for
 * it, but no less than fits inline inside the node. */
static inline size_t nc_packed_share(size_t ranks)
{
    return NC_CHUNK / ranks > NC_INLINE_BYTES ? NC_CHUNK / ranks : NC_INLINE_BYTES;
}

/* Bytes of the largest message: a chunk, or a packed message with a length for each rank. */
static inline size_t nc_message_bytes(size_t ranks)
{
    size_t data = ranks * nc_packed_share(ranks);

    /* an operation of the user may ask for what malloc aligns to */
    return (ranks * sizeof(uint64_t) + (data > NC_CHUNK ? data : NC_CHUNK) + 63) / 64 * 64;
}

/* One message of a schedule. */
struct nc_net_message {
    int peer;  /* rank of the communicator */
    int parts; /* of the chunk, which the step's are of */
    struct nc_step step;
};

/* The buffers of messages between nodes. One call at a time uses them, and that in one of three
 * ways; the ways share the memory. */
struct nc_net_buffers {
    /* schedules (coll/above.h): chunk c is in chunk[c % NC_CHUNKS]; received operands alternate */
    char *chunk[NC_CHUNKS];
    char *operand[2];
    /* packed messages (coll/packed.h) */
    char *packed[2];
    size_t packed_bytes;
    /* rows of chunks (coll/packed.h): what has arrived, two chunks side by side; what is sent */
    char *arrived;
    char *outgoing;
};

/* Ranks by all active levels. */
struct nc_hierarchy {
    struct nc_groups groups;
    enum nc_level name[NC_LEVELS + 1]; /* of each level of the groups */
    /* of all nodes, those under one switch side by side: */
    int nodes;
    int node;     /* this process's */
    int *node_of; /* [ranks] */
    int *first;   /* [nodes + 1], and .. */
    int *member;  /* [ranks] ranks of node i, ascending: member[first[i]] .. [first[i + 1] - 1] */
    int *back;    /* [ranks] those of my node, then of the one before it, and so on round */
    int above;    /* the lowest level of the groups above the node */
    int largest[NC_LEVELS + 1]; /* members of the largest group of a level */
    /* for messages between nodes: */
    struct nc_net_buffers buffers;
    struct nc_stream *stream;       /* [ranks of the largest node] */
    struct nc_typed *typed;         /* likewise */
    uint64_t *length;               /* likewise, bytes */
    struct nc_step *step;           /* [messages] */
    struct nc_net_message *message; /* [NC_PIPELINES * messages] */
    MPIR_Request **sent;            /* [NC_PIPELINES * NC_CHUNKS * messages] */
    int messages;                   /* of a rank for a chunk in one direction, at most */
    void *group_memory;
    void *memory, *scratch;
};

/* The node so many places before mine, round. */
static inline int nc_hierarchy_back(const struct nc_hierarchy *h, int distance)
{
    return (h->node + h->nodes - distance) % h->nodes;
}

/* The leader of a node in calls without root: its lowest rank. */
static inline int nc_hierarchy_leader(const struct nc_hierarchy *h, int node)
{
    return h->member[h->first[node]];
}

/* Its memory, false if there is none; then, collective over comm, all of it, of this process's own
 * row of units. */
bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *hierarchy, const MPIR_Comm *comm);
void MPIDI_NUMACOLL_hierarchy_free(struct nc_hierarchy *hierarchy);
int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *hierarchy, const int *units, unsigned levels,
                                  MPIR_Comm *comm);

#endif
