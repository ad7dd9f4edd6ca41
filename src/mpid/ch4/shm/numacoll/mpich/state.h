/* The state of a communicator: what its node-local ranks share, where they are, and how its calls
 * are to be served. Data only; comm.h makes and frees it. */

#ifndef NUMACOLL_STATE_H_INCLUDED
#define NUMACOLL_STATE_H_INCLUDED

#include "hierarchy.h"
#include "segment.h"
#include "stats.h"
#include "../core/nc_model.h"
#include "../core/nc_level_spec.h"
#include "../core/nc_route.h"
#include "../shm/nc_barrier.h"
#include "../shm/nc_bcast.h"
#include "../shm/nc_gather.h"
#include "../shm/nc_queue.h"
#include "../shm/nc_reduce.h"
#include "../shm/nc_scatter.h"

/* Groups of a node's ranks, and what levels of the machine theirs are. */
struct nc_levels {
    struct nc_groups groups;
    enum nc_level name[NC_ROUTE_LEVELS];
};

/* What Reduce, Bcast and Allreduce do above the node. */
enum nc_direction { NC_REDUCE, NC_BCAST, NC_ALLREDUCE, NC_DIRECTIONS };

/* How calls are served, as the settings of the communicator, or of a entry of the selection files,
 * want it. Filled by choose.c. */
struct nc_choice {
    struct nc_bcast bcast;
    struct nc_bcast
        bcast_below; /* on the levels below the highest, from the group_leaders of their groups */
    enum nc_tree_kind bcast_tree;
    struct nc_route reduce, reduce_below; /* likewise */
    int allreduce_version;                /* value of ALLREDUCE_VERSION */
    struct nc_barrier barrier;
    enum nc_barrier_kind barrier_kind;
    /* above the node: */
    struct nc_level_spec spec[NC_DIRECTIONS];
    struct nc_links links;
    int chunk_bytes; /* 0: by the model */
};

enum nc_phase { NC_PHASE_NONE, NC_PHASE_INITIALISING, NC_PHASE_READY, NC_PHASE_UNUSABLE };

/* The state of a set of node-local ranks, of a communicator of at least two processes. The
 * communicator's node_comm shares it. Private to the process. */
struct MPIDI_NUMACOLL_comm {
    enum nc_phase phase;
    bool agreed;           /* all nodes of the communicator are ready */
    bool asked;            /* ... and have been asked */
    size_t smallest_slot;  /* of all nodes, bytes */
    enum nc_reason reason; /* why UNUSABLE, or why not agreed */
    unsigned announced;    /* bit per reason: said under MPIR_CVAR_COLLECTIVE_FALLBACK=print */
    int calls, node_calls; /* on the communicator, on its node_comm */
    int rank, size;        /* among the processes of this node */
    struct nc_segment segment;
    struct nc_queue queue;
    struct nc_waiter waiter;
    int entries;
    struct nc_choice *choice; /* [1 + entries] of the communicator, then of each entry */
    char *trees;              /* [1 + entries][tree_bytes] the memory of their trees */
    size_t tree_bytes;
    int *units;    /* [size][NC_LEVELS] where each process is, -1: unknown; and more, see locate */
    char **region; /* [size] of the segment */
    struct nc_placement *placement; /* [size] on local rank 0: of each process */
    int *numa;                      /* [size] NUMA node of each; all 0 if that of one is unknown */
    struct nc_groups groups;        /* by NUMA node, and their leaders */
    struct nc_team row;             /* the ranks of my NUMA node */
    struct nc_team column;   /* of each NUMA node the rank with my index; size 0: they differ */
    struct nc_levels inside; /* by all levels of the node */
    struct nc_levels data;   /* by those that data goes by, .. */
    struct nc_groups below;  /* .. but the highest, on which: */
    int group_leader;        /* of my group, and */
    struct nc_team group_leaders; /* of all groups; index -1: I am none */
    struct nc_hierarchy all;      /* on all nodes, once these are agreed */
    bool unbound;                 /* some rank's NUMA node is unknown */
    size_t cache_bytes;           /* of the last-level cache */
    struct nc_flow *flow;         /* [size] for scatter, gather, allgather, with */
    struct nc_stream *stream;     /* [size] a block of each rank, and */
    struct nc_typed *typed;       /* [size] ... what it is made of */
    size_t *sent;                 /* [size] bytes, from each */
    int *list;                    /* [size] for ranks */
    int *column_rank;             /* [size] of `column` */
    char *topo, *group_memory, *inside_memory, *data_memory, *queue_memory;
    struct {
        MPI_Op op;
        MPI_Datatype datatype;
        nc_combine *combine;
    } numbers; /* what has been looked up last, for a call often follows one like it */
    struct nc_traffic traffic;
    struct nc_comm_stats stats;
    void *memory; /* of all the arrays */
};

#endif
