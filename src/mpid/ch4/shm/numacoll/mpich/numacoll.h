/* A communicator's state, and what the rooms of mpich/ offer each other and coll/. */

#ifndef NUMACOLL_H_INCLUDED
#define NUMACOLL_H_INCLUDED

#include "mpidimpl.h"
#include "numacoll_hooks.h"
#include "settings.h"
#include "../shm/nc_bcast.h"
#include "../shm/nc_gather.h"
#include "../shm/nc_reduce.h"
#include "../shm/nc_scatter.h"
#include "../core/nc_cpus.h"
#include "../core/nc_topo.h"
#include "../core/nc_schedule.h"
#include "../core/nc_tree.h"
#include "../core/nc_select.h"
#include "../shm/nc_barrier.h"
#include "../shm/nc_copy.h"
#include "../shm/nc_queue.h"
#include "../shm/nc_wait.h"

/* The collectives, numbered by their rows. */
enum nc_coll {
#define NC_NUMBER(name, Name, NAME, params, args, fixed) NC_COLL_##NAME,
    NC_COLLECTIVES(NC_NUMBER)
#undef NC_NUMBER
        NC_COLL_COUNT
};

/* Why a call falls back. The names are in counts.c. */
enum nc_reason {
    NC_REASON_NONE,
    NC_REASON_BUDGET,
    NC_REASON_BACKING,
    NC_REASON_PAGES,
    NC_REASON_SETTINGS,
    NC_REASON_COUNT
};

/* In the order they are tried, the first only if it is asked for: without a name there is nothing
 * to be left behind. */
enum nc_backing {
    NC_BACKING_HUGETLB,
    NC_BACKING_MEMFD,
    NC_BACKING_UNNAMED_FILE,
    NC_BACKING_NAMED_FILE
};

/* Pages of this process's own region, as move_pages tells. */
struct nc_placement {
    int right, wrong, unverified;
};

struct nc_segment {
    void *base;
    size_t bytes;
    enum nc_backing backing;
    bool charged; /* this process took the bytes from the node's budget */
    struct nc_placement placement;
    size_t huge_bytes; /* in huge pages, for this process */
};

/* What is wanted of a segment, beside its geometry; as the variables' values. */
struct nc_wanted {
    int placement, huge_pages;
    const int *numa; /* [ranks] NUMA nodes: ranks of one share huge pages */
};

enum { NC_WAYS = 10 }; /* at most as many algorithms has a collective */

/* What is counted of a communicator; also the sum over several. Nothing but uint64_t. */
struct nc_counts {
    uint64_t served[NC_COLL_COUNT][NC_WAYS]; /* calls of the user, at either level, by algorithm */
    uint64_t bytes[NC_COLL_COUNT][NC_WAYS];  /* of their messages */
    uint64_t inner[NC_COLL_COUNT];    /* calls MPICH makes itself on a node_comm, inside another
                                         collective */
    uint64_t deferred[NC_COLL_COUNT]; /* before the segment was made */
    uint64_t fell_back[NC_COLL_COUNT][NC_REASON_COUNT];
    uint64_t messages, message_bytes; /* sent to other nodes */
    /* the rest is kept elsewhere until it is added up */
    uint64_t waits_spinning, waits_in_progress, waits_yielding;
    uint64_t copied_local, copied_remote;
    uint64_t start_microseconds;
    uint64_t segment_bytes, huge_bytes, pages_right, pages_misplaced, pages_unverified;
};

/* A buffer of the user. */
struct nc_typed {
    void *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
};

/* Messages between nodes carry bytes of several ranks: first a length for each, then up to so many
 * of data. */
enum { NC_WINDOW = 65536, NC_WINDOW_PART = NC_POST_PAYLOAD, NC_WINDOWS = 5 };

/* Of the ranks of a node, data of each in a message, at most; and the largest message, bytes. */
static inline size_t nc_window_part(size_t ranks)
{
    return NC_WINDOW / ranks > NC_WINDOW_PART ? NC_WINDOW / ranks : NC_WINDOW_PART;
}

static inline size_t nc_window_bytes(size_t ranks)
{
    size_t data = ranks * nc_window_part(ranks);

    /* an operation of the user may ask for what malloc aligns to */
    return (ranks * sizeof(uint64_t) + (data > NC_WINDOW ? data : NC_WINDOW) + 63) / 64 * 64;
}

/* One message of a window between nodes. */
struct nc_leg {
    int peer;  /* rank of the communicator */
    int parts; /* of the window, which the step's are of */
    struct nc_step step;
};

enum {
    NC_LANES = 2,
    NC_PLACES = 3
}; /* ways of windows, up and down; windows of each under way at a time, at most */

/* Ranks by all active levels. */
struct nc_hierarchy {
    struct nc_groups groups;
    enum nc_level name[NC_LEVELS + 1]; /* of each level of the groups */
    /* of all nodes, those under one switch side by side: */
    int nodes;
    int node;            /* this process's */
    int *node_of;        /* [ranks] */
    int *first, *member; /* [nodes + 1], [ranks] ranks of node i, ascending: member[first[i]] ..
                            [first[i + 1] - 1] */
    int *back;           /* [ranks] those of my node, then of the one before it, and so on round */
    int above;           /* the lowest level of the groups above the node */
    int largest[NC_LEVELS + 1]; /* members of the largest group of a level */
    /* for messages between nodes: */
    char *window[NC_WINDOWS]; /* [window_bytes] each */
    size_t window_bytes;
    struct nc_stream *stream; /* [ranks of the largest node] */
    struct nc_typed *typed;   /* likewise */
    uint64_t *length;         /* likewise, bytes */
    struct nc_step *step;     /* [legs] */
    struct nc_leg *leg;       /* [NC_LANES * legs] */
    MPIR_Request **sent;      /* [NC_LANES * NC_PLACES * legs] */
    int legs;                 /* messages of a rank for a window one way, at most */
    void *memory, *scratch;
};

/* The node so many places before mine, round. */
static inline int nc_hierarchy_back(const struct nc_hierarchy *h, int distance)
{
    return (h->node + h->nodes - distance) % h->nodes;
}

/* The rank that speaks for a node: its lowest. */
static inline int nc_hierarchy_leader(const struct nc_hierarchy *h, int node)
{
    return h->member[h->first[node]];
}

/* Groups of a node's ranks, and what levels of the machine theirs are. */
struct nc_levels {
    struct nc_groups groups;
    enum nc_level name[NC_ROUTE_LEVELS];
};

/* Bcast as the settings of a communicator or of a leaf want it. */
struct nc_bcast_choice {
    struct nc_bcast bcast;
    struct nc_bcast below; /* on the levels below the highest, from the heads of their groups */
    enum nc_tree_kind kind;
};

/* Barrier, likewise. */
struct nc_barrier_choice {
    struct nc_barrier barrier;
    enum nc_barrier_kind kind;
};

/* Reduce and Allreduce, likewise. */
struct nc_reduce_choice {
    struct nc_route route, below;
    int version; /* value of ALLREDUCE_VERSION */
};

/* What Reduce, Bcast and Allreduce do above the node, likewise. */
enum nc_direction { NC_REDUCE, NC_BCAST, NC_ALLREDUCE, NC_DIRECTIONS };

struct nc_across_choice {
    struct nc_plan plan[NC_DIRECTIONS];
    struct nc_links links;
    int window; /* bytes, 0: by the model */
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
    struct nc_bcast_choice
        *bcast; /* [1 + leaves]: of the communicator, then of each leaf of the selection files */
    struct nc_barrier_choice *barrier; /* [1 + leaves] */
    struct nc_reduce_choice *reduce;   /* [1 + leaves] */
    struct nc_across_choice *across;   /* [1 + leaves] */
    int leaves;
    int leaf;        /* of the call that is being served, -1: none */
    bool inner_call; /* ... MPICH makes it itself */
    int *units;    /* [size][NC_LEVELS] where each process is, -1: unknown; and more, see locate */
    char **region; /* [size] of the segment */
    struct nc_placement *placement; /* [size] on local rank 0: of each process */
    int *numa;               /* [size] NUMA node of each process; all 0 if that of one is unknown */
    struct nc_groups groups; /* by NUMA node, and their leaders */
    struct nc_team row;      /* the ranks of my NUMA node */
    struct nc_team column;   /* of each NUMA node who has my index; size 0: they differ */
    struct nc_levels inside; /* by all levels of the node */
    struct nc_levels data;   /* by those that data goes by, .. */
    struct nc_groups below;  /* .. but the highest, on which: */
    int head;                /* of my group, and */
    struct nc_team heads;    /* of all groups; index -1: I am none */
    struct nc_hierarchy all; /* on all nodes, once these are agreed */
    bool unbound;            /* some rank's NUMA node is unknown */
    size_t cache_bytes;      /* of the last-level cache */
    struct nc_flow *flow;    /* [size] for scatter, gather, allgather, with */
    struct nc_stream *stream; /* [size] a block of each rank, and */
    struct nc_typed *typed;   /* [size] ... what it is made of */
    size_t *sent;             /* [size] bytes, from each */
    int *list;                /* [size] for ranks */
    struct {
        MPI_Op op;
        MPI_Datatype datatype;
        nc_combine *combine;
    } numbers; /* what has been looked up last, for a call often follows one like it */
    struct nc_ledger ledger;
    void *memory; /* of all the arrays */
    struct nc_counts counts;
    struct MPIDI_NUMACOLL_comm *next, **link; /* list of all states, for the report */
};

/* One of MPI's types, without gaps, where the processor reaches it. */
static inline bool MPIDI_NUMACOLL_is_builtin(MPI_Datatype datatype)
{
#ifdef MPL_HAVE_GPU
    return false;
#else
    return HANDLE_IS_BUILTIN(datatype);
#endif
}

/* What the process knows since MPI_Init. */
struct nc_world {
    bool initialised;
    bool yield; /* waits give the CPU away at once */
    bool crowded;
    unsigned collectives; /* bit per collective: MPIR_CVAR_NUMACOLL_COLLECTIVES */
    size_t cache_bytes;
    uint64_t start_microseconds; /* of MPI_Init that numacoll took */
};
extern struct nc_world MPIDI_NUMACOLL_world;

/* vars.c: every variable within its range? MPI_ERR_OTHER, with one line from rank 0 on stderr, if
 * not. */
int MPIDI_NUMACOLL_vars_check(unsigned *collectives);

/* world.c: is numacoll selected for any collective? */
bool MPIDI_NUMACOLL_any_selected(void);

/* comm.c: the state that is to serve this call, NULL if the call is to go to MPICH. All ranks
 * alike. direct: selected by variable, not by a selection file; leaf: the parameters that file
 * gives, -1 for none. Errors: MPI_ERR_OTHER under MPIR_CVAR_COLLECTIVE_FALLBACK=error. */
int MPIDI_NUMACOLL_enter(MPIR_Comm *comm, enum nc_coll coll, bool direct, int leaf,
                         struct MPIDI_NUMACOLL_comm **state);

/* comm.c: collective; a communicator, if it is in use, has new info keys. right: this rank's are.
 * Errors: MPI_ERR_INFO_VALUE on all ranks if one's are wrong or they differ; then nothing has
 * changed. */
int MPIDI_NUMACOLL_settings_changed(MPIR_Comm *comm, bool right);

/* location.c: checks what the user says of machine and network; keeps masks ([local_size], may be
 * NULL), which it frees. Errors: MPI_ERR_OTHER, with a line from the first rank of a node. */
int MPIDI_NUMACOLL_locations_init(struct nc_cpus *masks);
void MPIDI_NUMACOLL_locations_finalize(void);

/* location.c: collective over node_comm, NULL for a process alone on its node. units: memory of
 * locate_bytes, becomes [size][NC_LEVELS], as nc_topo wants it. *cache_bytes is changed if hwloc
 * knows the last-level cache. */
size_t MPIDI_NUMACOLL_locate_bytes(int ranks);
int MPIDI_NUMACOLL_locate(MPIR_Comm *node_comm, const char *mapping, int *units,
                          size_t *cache_bytes);

/* locality.c: the units (unit[NC_LEVEL_NODE]) that the launcher has bound a rank of this node to;
 * false if it does not say, or MPICH was not built with PMIx. */
bool MPIDI_NUMACOLL_locality_get(int local_rank, int *unit);

/* location.c: of the text of the network file, once a communicator's processes are located; 0
 * without one. */
int MPIDI_NUMACOLL_network_checksum(void);

/* hierarchy.c: its memory, false if there is none; then, collective over comm, all of it, of this
 * process's own row of units. */
bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *hierarchy, const MPIR_Comm *comm);
void MPIDI_NUMACOLL_hierarchy_free(struct nc_hierarchy *hierarchy);
int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *hierarchy, const int *units, unsigned levels,
                                  MPIR_Comm *comm);

/* entry.c */
bool MPIDI_NUMACOLL_selected(enum nc_coll coll);
bool MPIDI_NUMACOLL_selected_explicitly(enum nc_coll coll);
const char *MPIDI_NUMACOLL_coll_name(enum nc_coll coll);

/* segment.c: make or attach the segment, over node_comm; offset[ranks]: where the regions start,
 * bytes. *geometry becomes what fits the budget. *reason says what prevented it, alike on all
 * ranks. */
int MPIDI_NUMACOLL_segment_create(MPIR_Comm *node_comm, struct nc_geometry *geometry,
                                  const struct nc_wanted *wanted, struct nc_segment *segment,
                                  size_t *offset, enum nc_reason *reason);
void MPIDI_NUMACOLL_segment_free(struct nc_segment *segment);

/* counts.c */
const char *MPIDI_NUMACOLL_reason_name(enum nc_reason reason);
const char *MPIDI_NUMACOLL_algorithms(enum nc_coll coll); /* names by number, one space between */
void MPIDI_NUMACOLL_counts_add(struct MPIDI_NUMACOLL_comm *state);
void MPIDI_NUMACOLL_counts_remove(struct MPIDI_NUMACOLL_comm *state);
void MPIDI_NUMACOLL_counts_sum(struct nc_counts *sum);

/* One call, counted where it begins to be served; way: the algorithm's number. */
static inline void MPIDI_NUMACOLL_count(struct MPIDI_NUMACOLL_comm *state, enum nc_coll coll,
                                        int way, size_t bytes)
{
    if (state->inner_call) {
        state->counts.inner[coll]++;
    } else {
        state->counts.served[coll][way]++;
        state->counts.bytes[coll][way] += bytes;
    }
}

/* The same, with the bytes of a block; NULL: none. */
static inline void MPIDI_NUMACOLL_count_typed(struct MPIDI_NUMACOLL_comm *state, enum nc_coll coll,
                                              const struct nc_typed *block)
{
    MPI_Aint size = 0;

    if (block)
        MPIR_Datatype_get_size_macro(block->datatype, size);
    MPIDI_NUMACOLL_count(state, coll, 0, block ? (size_t) (size * block->count) : 0);
}

/* pvars.c: the counts as performance variables */
void MPIDI_NUMACOLL_pvars_register(void);

/* report.c */
void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);
void MPIDI_NUMACOLL_report_totals(void);

/* stream.c: of any type */
void MPIDI_NUMACOLL_stream_init_typed(struct nc_stream *stream, struct nc_typed *typed);

/* A user buffer as a stream. `typed` must live as long as the stream. */
static inline void MPIDI_NUMACOLL_stream_init(struct nc_stream *stream, struct nc_typed *typed)
{
    if (!MPIDI_NUMACOLL_is_builtin(typed->datatype)) {
        MPIDI_NUMACOLL_stream_init_typed(stream, typed);
    } else {
        stream->length = (size_t) MPIR_Datatype_get_basic_size(typed->datatype) *
                         (size_t) typed->count;
        stream->at = 0;
        stream->bytes = stream->length ? typed->buffer : stream;
    }
}

/* stream.c: the error of lengths that differ, bytes: MPI_ERR_TRUNCATE, **collective_size_mismatch.
 */
int MPIDI_NUMACOLL_unequal(size_t sent, size_t expected);

/* stream.c: what a rank keeps for itself. Errors: lengths that differ. */
int MPIDI_NUMACOLL_copy_own(const struct nc_typed *from, const struct nc_typed *to);

/* How this call moves data. */
static inline struct nc_transfer *MPIDI_NUMACOLL_move(struct MPIDI_NUMACOLL_comm *state)
{
    return &state->bcast[state->leaf + 1].bcast.transfer;
}

/* comm.c: the tree that a plan names for the groups of each level; word: the trees its words stand
 * for, of the degree in the plan where it has none. All plans name levels in this way. */
void MPIDI_NUMACOLL_trees(enum nc_setting setting, int value, const struct nc_levels *levels,
                          const struct nc_shape_tree *word, struct nc_shape_tree *tree);

/* coll/barrier.c: Barrier as a leaf (-1: none) wants it, once the segment is there; memory of
 * barrier_bytes. */
size_t MPIDI_NUMACOLL_barrier_bytes(const struct MPIDI_NUMACOLL_comm *state);
void MPIDI_NUMACOLL_barrier_choose(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, int leaf,
                                   void *memory);

/* coll/: the bodies */
#define NC_DECLARE_BODY(name, Name, NAME, params, args, fixed) int MPIDI_NUMACOLL_##name params;
NC_COLLECTIVES(NC_DECLARE_BODY)
#undef NC_DECLARE_BODY

static inline struct MPIDI_NUMACOLL_comm *MPIDI_NUMACOLL_home_state(MPIR_Comm *comm)
{
    MPIR_Comm *home = MPIDI_POSIX_COMM(comm, numacoll_home);
    return MPIDI_POSIX_COMM(home ? home : comm, numacoll);
}

#endif
