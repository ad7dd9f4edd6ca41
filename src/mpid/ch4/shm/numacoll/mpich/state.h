/* The state of a communicator: the shared memory of the ranks of this node, where these ranks are,
 * and how calls are served. Data only: comm.c makes the state, state_make.c fills it
 * (choose.c the choices, agree.c the groups of all nodes), kept.c keeps it for another
 * communicator, state_free.c frees it; the bodies in coll/ reach it through struct nc_call.
 */

#ifndef NUMACOLL_STATE_H_INCLUDED
#define NUMACOLL_STATE_H_INCLUDED

#include "hierarchy.h"
#include "location.h"
#include "segment.h"
#include "stats.h"
#include "../core/nc_model.h"
#include "../core/nc_level_spec.h"
#include "../core/nc_route.h"
#include "../shm/nc_barrier.h"
#include "../shm/nc_bcast.h"
#include "../shm/nc_gather.h"
#include "../shm/nc_joint.h"
#include "../shm/nc_queue.h"
#include "../shm/nc_reduce.h"
#include "../shm/nc_scatter.h"

/* The collectives that have an algorithm for each level above the node. */
enum nc_direction { NC_REDUCE, NC_BCAST, NC_ALLREDUCE, NC_DIRECTIONS };

/* A choice: how calls are served. The communicator has one choice by its variables and info keys,
 * and one for each csel entry, by the entry's parameters too. Filled by choose.c. */
struct nc_choice {
    struct nc_transfer transfer; /* how data moves inside the node */
    struct nc_route bcast;
    /* as `bcast`, but without the highest level of the groups `data` (below): each member of the
     * group on that level broadcasts to the ranks it stands for */
    struct nc_route bcast_below;
    enum nc_tree_kind bcast_tree;
    /* the trees of reduce and allreduce, for commutative operations; `reduce_below` lacks the
     * highest level, as `bcast_below` does */
    struct nc_route reduce, reduce_below;
    struct nc_route reduce_short; /* the same for inline messages */
    /* a chain of all ranks, if REDUCE_GROUP says `chain_all` for all levels; for long messages, if
     * it leaves all levels open */
    struct nc_route reduce_chain_all;
    enum { NC_CHAIN_ALL_NEVER, NC_CHAIN_ALL_IF_LONG, NC_CHAIN_ALL_ALWAYS } chain_all;
    struct nc_scan_plan scan[2]; /* of a scan inside the node; [1]: an exclusive one */
    int allreduce_version;       /* value of MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION */
    struct nc_barrier barrier;
    enum nc_barrier_kind barrier_kind;
    /* for the levels above the node: */
    struct nc_level_spec spec[NC_DIRECTIONS];
    struct nc_links links;
    int chunk_bytes; /* the setting WINDOW; 0: the model chooses */
};

/* The life of a state on this node: its segment is not made yet; is being made (MPICH may call a
 * collective on the communicator meanwhile); is there; or cannot be made (`reason` says why). */
enum nc_phase { NC_PHASE_NONE, NC_PHASE_INITIALISING, NC_PHASE_READY, NC_PHASE_UNUSABLE };

/* The state of a communicator of at least two processes. It is about the ranks of this node, except
 * for `all`. Calls on the communicator's node_comm use this state too. Private to the process.
 * Ranks are local ranks, 0 to size - 1, unless a comment says otherwise. */
struct MPIDI_NUMACOLL_comm {
    enum nc_phase phase;
    bool inner;  /* MPICH alone uses the communicator */
    bool agreed; /* every process of the communicator can serve calls, see agree.h */
    bool asked;  /* MPIDI_NUMACOLL_agree_on_nodes has been called */
    /* bytes of the largest fragment when the ranks met, on the node where it is smallest */
    size_t smallest_slot;
    enum nc_reason reason; /* why the phase is UNUSABLE, or why `agreed` is false */
    bool failed;           /* a call had an error on this process: nobody is to go on with it */
    unsigned announced;    /* one bit for each reason: the user has been told of it */
    int calls, node_calls; /* calls on the communicator, on its node_comm; not counted beyond
                              CREATE_AFTER */
    unsigned refused;      /* calls on the communicator since the budget had no room for it */
    int rank, size;        /* this process among those of the node; their number */
    int *key;              /* what the state can be used for again, see kept.h; NULL: for nothing */
    int context; /* context id of the communicator that it is of, or was of before it was kept */
    struct nc_segment segment;
    /* of the nonblocking calls; NULL: MPICH serves them. The same on all ranks */
    struct MPIDI_NUMACOLL_nonblocking *nonblocking;
    struct nc_geometry full; /* what the settings ask of the segment, which may be a smaller one */
    struct nc_queue queue;
    /* the number of the operation of the queue at which the node's ranks try to replace a smaller
     * segment; so many operations are more than there will be: not at all */
    uint64_t grow_at;
    struct nc_waiter waiter;
    struct nc_parking parking; /* used if waiter.parking is set */
    struct {
        uint64_t ended; /* waits that had ended when this one was first looked at */
        time_t began;   /* seconds, CLOCK_MONOTONIC; 0: none was looked at */
        bool reported;
    } watch;                  /* the wait for REPORT_WAITS */
    bool in_rank_order;       /* the setting REDUCE_ORDER is ranks */
    bool oversubscribed;      /* the ranks of this communicator on this node */
    int entries;              /* csel entries with parameters for numacoll */
    struct nc_choice *choice; /* [1 + entries] the communicator's, then one for each csel entry */
    char *trees;              /* [1 + entries][tree_bytes] memory of the trees of each choice */
    size_t tree_bytes;
    int *local_rank; /* [size] the number of each rank among the processes of the node */
    /* [size][NC_LEVELS] the units that each rank is in, by level; -1: unknown. Behind them is
     * memory of MPIDI_NUMACOLL_locate */
    int *units;
    bool has_bells;                 /* all ranks' processes have bells of one MPI_COMM_WORLD */
    struct nc_bell **bell;          /* [size] these bells, if has_bells */
    char **region;                  /* [size] start of each rank's region in the segment */
    struct nc_placement *placement; /* [size] where each rank's pages are, for the report; only on
                                       local rank 0 */
    int *numa;               /* [size] NUMA node of each rank; all 0 if that of one is unknown */
    struct nc_groups groups; /* the ranks by NUMA node; above them one group of their leaders */
    struct nc_team row;      /* the ranks of this rank's NUMA node */
    /* from each NUMA node the rank with the index that this rank has in its own; size 0: the NUMA
     * nodes have different numbers of ranks, so there are no columns */
    struct nc_team column;
    int *columns;               /* [size] if there are columns: the ranks of all of them, one behind
                                   the other */
    struct nc_levels inside;    /* groups by all levels inside the node */
    struct nc_levels signals;   /* groups for barriers (nc_route_signals_by) */
    struct nc_levels data;      /* groups by the levels by which data is moved (nc_route_by) */
    struct nc_groups below;     /* `data` without its highest level */
    struct nc_groups one_group; /* one group of all ranks, in the order of `data` */
    int group_leader;           /* leader of this rank's group on the highest level of `below` */
    /* the leaders of all groups on that level, which reduce among themselves in
     * ALLREDUCE_VERSION=rab; index -1: this rank is not one of them */
    struct nc_team group_leaders;
    struct nc_hierarchy all; /* the groups of all processes, on all nodes; filled once `agreed` */
    bool unbound;            /* the NUMA node of some rank is unknown */
    struct nc_caches caches; /* of this node */
    /* How messages are read out of the buffers of other ranks: `fetch`, if SINGLE_COPY wants
     * it and the kernel allows it; `shared`, and windows, if SHARED_BUFFERS wants it and all ranks
     * have mapped the files of all. single_copy: the way of `fetch`, also if SINGLE_COPY=auto does
     * not use it (yet); NULL: there is none. single_copy_timed: it has been compared with the
     * queue. */
    struct nc_direct direct;
    const struct nc_single_copy *single_copy;
    bool single_copy_timed;
    char **shared;             /* [size] for `direct` */
    size_t *shared_bytes;      /* [size] */
    struct nc_sibling sibling; /* whether the readers of what this rank writes are on its core */
    struct nc_pace *pace;      /* [size] which stores into the region of each rank are faster */
    /* scratch memory that each call uses anew: */
    struct nc_flow *flow;       /* [size] the message from or to each rank */
    struct nc_joint *joint;     /* [size] the same, of those that two ranks copy together */
    struct nc_awaited *awaited; /* [2 * size] what they wait for */
    struct nc_stream *stream;   /* [size] the block of each rank as a stream */
    struct nc_typed *typed;     /* [size] the buffer behind each of these streams */
    size_t *sent;               /* [size] bytes that each rank has sent */
    MPI_Aint *counts, *displs;  /* [size] where the parts of a row are, for struct nc_blocks */
    int *list;                  /* [size] a list of ranks */
    /* memory that fields above point into: */
    char *topo, *group_memory, *inside_memory, *signals_memory, *data_memory, *one_group_memory,
        *told, *peers, *shared_scratch, *queue_memory;
    /* the op kernel that was looked up last: the next call often needs it again */
    struct {
        MPI_Op op;
        MPI_Datatype datatype;
        nc_combine *combine, *streaming;
    } numbers;
    struct nc_answers *answers; /* of selection files, see answers.h; NULL: there are none */
    struct nc_traffic traffic;
    struct nc_comm_stats stats;
    void *memory; /* one block for all the arrays, see take_arrays in state_make.c */
};

#endif
