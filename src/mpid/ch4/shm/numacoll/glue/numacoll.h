/* A communicator's state, and what the rooms of glue/ offer each other and coll/. */

#ifndef NUMACOLL_H_INCLUDED
#define NUMACOLL_H_INCLUDED

#include "mpidimpl.h"
#include "numacoll_hooks.h"
#include "numacoll_vars.h"
#include "../coll/bcast_node.h"
#include "../core/nc_tree.h"
#include "../sync/nc_copy.h"
#include "../sync/nc_queue.h"
#include "../sync/nc_wait.h"

/* The collectives, numbered by their rows. */
enum nc_coll {
#define NC_NUMBER(name, Name, NAME, params, args, fixed) NC_COLL_##NAME,
    NC_COLLECTIVES(NC_NUMBER)
#undef NC_NUMBER
        NC_COLL_COUNT
};

/* Why a call falls back. The names are in report.c. */
enum nc_reason { NC_REASON_NONE, NC_REASON_BUDGET, NC_REASON_BACKING, NC_REASON_PAGES, NC_REASON_COUNT };

/* In the order they are tried: without a name there is nothing to be left behind. */
enum nc_backing { NC_BACKING_MEMFD, NC_BACKING_UNNAMED_FILE, NC_BACKING_NAMED_FILE };

/* Pages of this process's own region, as move_pages tells. */
struct nc_placement {
    int right, wrong, unverified;
};

struct nc_segment {
    void *base;
    size_t bytes;
    enum nc_backing backing;
    bool charged;               /* this process took the bytes from the node's budget */
    struct nc_placement placement;
};

enum nc_phase { NC_PHASE_NONE, NC_PHASE_INITIALISING, NC_PHASE_READY, NC_PHASE_UNUSABLE };

/* The state of a set of node-local ranks: of a communicator with at least two processes somewhere on one node. The
 * communicator's node_comm shares it. Private to the process. */
struct MPIDI_NUMACOLL_comm {
    enum nc_phase phase;
    bool agreed;                /* all nodes of the communicator are ready */
    bool asked;                 /* ... and have been asked */
    enum nc_reason reason;      /* why UNUSABLE, or why not agreed */
    unsigned announced;         /* bit per reason: said under MPIR_CVAR_COLLECTIVE_FALLBACK=print */
    int calls, node_calls;      /* on the communicator, on its node_comm */
    int rank, size;             /* among the processes of this node */
    struct nc_segment segment;
    struct nc_queue queue;
    struct nc_waiter waiter;
    struct nc_tree bcast_tree;
    struct nc_bcast bcast;
    void *memory;               /* of queue and trees */
    uint64_t served[NC_COLL_COUNT];     /* calls of the user, at either level */
    uint64_t inner[NC_COLL_COUNT];      /* calls MPICH makes itself on a node_comm, inside another collective */
    uint64_t deferred[NC_COLL_COUNT], fell_back[NC_COLL_COUNT][NC_REASON_COUNT];
    struct MPIDI_NUMACOLL_comm *next, **link;   /* list of all states, for the report */
};

/* What the process knows since MPI_Init. */
struct nc_world {
    bool initialised;
    bool yield;                 /* waits give the CPU away at once */
    bool crowded;
    unsigned collectives;       /* bit per collective: MPIR_CVAR_NUMACOLL_COLLECTIVES */
    size_t cache_bytes;
};
extern struct nc_world MPIDI_NUMACOLL_world;

/* vars.c: every variable within its range? MPI_ERR_OTHER, with one line from rank 0 on stderr, if not. */
int MPIDI_NUMACOLL_vars_check(unsigned *collectives);

/* vars.c: before an error of all ranks: the first rank's abort ends the job, so the others give rank 0 time for its line. */
void MPIDI_NUMACOLL_let_rank_0_speak_first(int rank);

/* world.c: is numacoll selected for any collective? */
bool MPIDI_NUMACOLL_any_selected(void);

/* comm.c: the state that is to serve this call, NULL if the call is to go to MPICH. All ranks alike.
 * direct: selected by variable, not by a selection file.
 * Errors: MPI_ERR_OTHER under MPIR_CVAR_COLLECTIVE_FALLBACK=error. */
int MPIDI_NUMACOLL_enter(MPIR_Comm * comm, enum nc_coll coll, bool direct, struct MPIDI_NUMACOLL_comm **state);

/* entry.c */
bool MPIDI_NUMACOLL_selected(enum nc_coll coll);
bool MPIDI_NUMACOLL_selected_explicitly(enum nc_coll coll);
const char *MPIDI_NUMACOLL_coll_name(enum nc_coll coll);

/* segment.c: make or attach the segment, over node_comm; prepared: this process has what else it needs. *reason says what prevented it, alike on all ranks. */
int MPIDI_NUMACOLL_segment_create(MPIR_Comm * node_comm, struct nc_geometry *geometry, bool prepared,
                                  struct nc_segment *segment, enum nc_reason *reason);
void MPIDI_NUMACOLL_segment_free(struct nc_segment *segment);

/* report.c */
const char *MPIDI_NUMACOLL_reason_name(enum nc_reason reason);
void MPIDI_NUMACOLL_report_add(struct MPIDI_NUMACOLL_comm *state);
void MPIDI_NUMACOLL_report_remove(struct MPIDI_NUMACOLL_comm *state);
void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm * comm);
void MPIDI_NUMACOLL_report_totals(void);
void MPIDI_NUMACOLL_report_clear(void);

/* stream.c: a user buffer as a stream. `typed` must live as long as the stream. */
struct nc_typed {
    void *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
};
void MPIDI_NUMACOLL_stream_init(struct nc_stream *stream, struct nc_typed *typed);

/* coll/: the bodies */
#define NC_DECLARE_BODY(name, Name, NAME, params, args, fixed) \
    int MPIDI_NUMACOLL_##name params;
NC_COLLECTIVES(NC_DECLARE_BODY)
#undef NC_DECLARE_BODY

static inline struct MPIDI_NUMACOLL_comm *MPIDI_NUMACOLL_home_state(MPIR_Comm * comm)
{
    MPIR_Comm *home = MPIDI_POSIX_COMM(comm, numacoll_home);
    return MPIDI_POSIX_COMM(home ? home : comm, numacoll);
}

#endif
