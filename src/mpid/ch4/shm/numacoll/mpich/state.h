/* The state of a communicator: what its node-local ranks share, where they are, and how calls are
 * served. Data only: comm.c makes, fills and frees it; the bodies in coll/ read it through struct
 * nc_call. */

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

/* The groups of a node's ranks, and the level of the machine that each of their levels stands
 * for. */
struct nc_levels {
    struct nc_groups groups;
    enum nc_level name[NC_ROUTE_LEVELS];
};

/* The collectives that have an algorithm for each level above the node. */
enum nc_direction { NC_REDUCE, NC_BCAST, NC_ALLREDUCE, NC_DIRECTIONS };

/* A choice: how calls are served. The communicator has one by its own settings, and one for each
 * csel entry, by the entry's parameters. Filled by choose.c. */
struct nc_choice {
    struct nc_bcast bcast;
    /* as `bcast`, but without the highest level that data goes by: each member of that level's
     * group broadcasts to the ranks below it */
    struct nc_bcast bcast_below;
    enum nc_tree_kind bcast_tree;
    /* both for commutative operations; `reduce_below` without the highest level, as
     * `bcast_below` */
    struct nc_route reduce, reduce_below;
    int allreduce_version; /* value of MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION */
    struct nc_barrier barrier;
    enum nc_barrier_kind barrier_kind;
    /* above the node: */
    struct nc_level_spec spec[NC_DIRECTIONS];
    struct nc_links links;
    int chunk_bytes; /* the value of WINDOW; 0: the model chooses */
};

enum nc_phase { NC_PHASE_NONE, NC_PHASE_INITIALISING, NC_PHASE_READY, NC_PHASE_UNUSABLE };

/* The state of the node-local ranks of a communicator of at least two processes. The communicator's
 * node_comm uses the same state. Private to the process, one per communicator. */
struct MPIDI_NUMACOLL_comm {
    enum nc_phase phase;
    bool agreed;           /* every process of the communicator is ready */
    bool asked;            /* agree_on_nodes has been called */
    size_t smallest_slot;  /* bytes; the smallest of all nodes */
    enum nc_reason reason; /* why UNUSABLE, or why not agreed */
    unsigned announced;    /* bit per reason: the user has been told */
    int calls, node_calls; /* calls on the communicator and on its node_comm, up to CREATE_AFTER */
    int rank, size;        /* among the processes of this node */
    struct nc_segment segment;
    struct nc_queue queue;
    struct nc_waiter waiter;
    int entries;
    struct nc_choice *choice; /* [1 + entries] the communicator's, then one for each csel entry */
    char *trees;              /* [1 + entries][tree_bytes] memory of the trees of each choice */
    size_t tree_bytes;
    /* [size][NC_LEVELS] the units each process is in, -1: unknown. There is more memory behind
     * them, see MPIDI_NUMACOLL_locate */
    int *units;
    char **region;                  /* [size] start of each process's region in the segment */
    struct nc_placement *placement; /* [size] on local rank 0: of each process, for the report */
    int *numa;                      /* [size] NUMA node of each; all 0 if that of one is unknown */
    struct nc_groups groups;        /* by NUMA node, and above these the leaders */
    struct nc_team row;             /* the ranks of this rank's NUMA node */
    /* of each NUMA node the rank that has this rank's index there; size 0: the NUMA nodes have
     * different numbers of ranks */
    struct nc_team column;
    struct nc_levels inside; /* groups by all levels inside the node */
    struct nc_levels data;   /* groups by the levels that data goes by */
    struct nc_groups below;  /* `data` without its highest level */
    int group_leader;        /* leader of this rank's group on the highest level of `below` */
    /* the leaders of all groups on that level, which exchange in ALLREDUCE_VERSION=rab; index -1:
     * this rank is not one of them */
    struct nc_team group_leaders;
    struct nc_hierarchy all; /* groups of all nodes, once agreed */
    bool unbound;            /* the NUMA node of some rank is unknown */
    size_t cache_bytes;      /* of the last-level cache */
    /* memory that one call after the other uses: */
    struct nc_flow *flow;     /* [size] the message from or to each rank */
    struct nc_stream *stream; /* [size] the block of each rank as a stream */
    struct nc_typed *typed;   /* [size] the buffer behind each of these streams */
    size_t *sent;             /* [size] bytes that each rank has sent */
    int *list;                /* [size] a list of ranks */
    /* memory of the fields above: */
    int *column_rank; /* [size] of `column` */
    char *topo, *group_memory, *inside_memory, *data_memory, *queue_memory;
    /* the op kernel that was looked up last: the next call often needs the same one */
    struct {
        MPI_Op op;
        MPI_Datatype datatype;
        nc_combine *combine;
    } numbers;
    struct nc_traffic traffic;
    struct nc_comm_stats stats;
    void *memory; /* one block for all the arrays, see take_arrays */
};

#endif
