/* Decides whether numacoll or MPICH serves a call, lets a communicator's state be made when it is
 * time, and keeps or frees it with the communicator. coll/entry.c calls MPIDI_NUMACOLL_enter for
 * each call that MPIDI_NUMACOLL_begin (comm.h) has not settled; MPICH calls the hooks.
 *
 * All ranks of a communicator must decide alike. So a decision depends only on the communicator's
 * kind, on the number of calls on it so far, and on results of agree.c. */

#include "comm.h"

#include <pthread.h>

#include "agree.h"
#include "diag.h"
#include "kept.h"
#include "nonblocking_segment.h"
#include "numacoll_hooks.h"
#include "settings.h"
#include "state_free.h"
#include "state_make.h"
#include "world.h"

/* A communicator that MPICH alone uses is worth a segment at this call: of windows only those with
 * many fences. Most windows make fewer calls, which together take less than making a segment. */
#define INNER_CREATE_AFTER 64

/* ---- a process without memory for a state ---- */

/* Stand in for the states of all communicators for which this process has no memory: it must take
 * part in what the other ranks do when they set theirs up, so that all fall back. [0] until the
 * processes of all nodes have met (the field `asked`), then [1]; nothing else differs between these
 * communicators. Threads may count in them at the same time, and lose a count. */
static struct MPIDI_NUMACOLL_comm poor[2];

static bool is_poor(const struct MPIDI_NUMACOLL_comm *state)
{
    return state == &poor[0] || state == &poor[1];
}

/* Fills them when they are first needed. */
static void make_poor(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2 && !poor[i].stats.waiter; i++) {
        poor[i].phase = NC_PHASE_UNUSABLE;
        poor[i].reason = NC_REASON_PAGES;
        poor[i].asked = i;
        poor[i].calls = poor[i].node_calls = INT_MAX;
        poor[i].stats.waiter = &poor[i].waiter;
        poor[i].stats.traffic = &poor[i].traffic;
        poor[i].stats.segment = &poor[i].segment;
        MPIDI_NUMACOLL_stats_add(&poor[i].stats);
    }
    pthread_mutex_unlock(&lock);
}

static void forget_poor(void)
{
    for (int i = 0; i < 2 && poor[i].stats.waiter; i++)
        MPIDI_NUMACOLL_stats_remove(&poor[i].stats);
    memset(poor, 0, sizeof poor);
}

/* ---- hooks ---- */

void MPIDI_NUMACOLL_comm_pre_hook(MPIR_Comm *comm)
{
    MPIDI_POSIX_COMM(comm, numacoll) = NULL;
    MPIDI_POSIX_COMM(comm, numacoll_parent) = NULL;
}

int MPIDI_NUMACOLL_comm_post_hook(MPIR_Comm *comm)
{
    if (comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && comm->node_comm)
        MPIDI_POSIX_COMM(comm->node_comm, numacoll_parent) = comm;
    if (NC_IS_FIRST(comm) && !MPIDI_NUMACOLL_world.initialised)
        return MPIDI_NUMACOLL_world_init(comm);
    return MPI_SUCCESS;
}

/* Frees a state at the end. The node's budget begins anew with MPI, and its counter may be gone by
 * now. */
static void free_at_end(struct MPIDI_NUMACOLL_comm *state)
{
    state->segment.charged = false;
    if (state->nonblocking)
        state->nonblocking->segment.charged = false;
    MPIDI_NUMACOLL_state_free(state);
}

void MPIDI_NUMACOLL_world_finalize(void)
{
    MPIDI_NUMACOLL_world_report();
    forget_poor();
    /* what communicators hold that the program has not freed, and what is kept of others */
    for (struct nc_comm_stats *alive; (alive = MPIDI_NUMACOLL_stats_first());) {
        struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(alive->comm, numacoll);
        MPIDI_POSIX_COMM(alive->comm, numacoll) = NULL;
        MPIDI_NUMACOLL_stats_remove(alive);
        free_at_end(state);
    }
    for (struct MPIDI_NUMACOLL_comm *state; (state = MPIDI_NUMACOLL_kept_take_any());)
        free_at_end(state);
    MPIDI_NUMACOLL_world_leave();
}

void MPIDI_NUMACOLL_comm_free_hook(MPIR_Comm *comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);
    bool several_nodes;

    MPIDI_POSIX_COMM(comm, numacoll) = NULL;
    if (!state || is_poor(state))
        return;
    MPIDI_NUMACOLL_stats_remove(&state->stats);
    several_nodes = NC_NODES(comm) > 1;
    /* the next communicator of this node's ranks may have others on other nodes. On one node
     * nothing more is agreed when a kept state goes on, so only one is kept that was agreed on */
    if (several_nodes)
        MPIDI_NUMACOLL_hierarchy_free(&state->all);
    if (!(state->agreed || several_nodes) || !MPIDI_NUMACOLL_kept_put(state))
        MPIDI_NUMACOLL_state_free(state);
}

/* ---- the decision ---- */

/* Whether a communicator has processes of several MPI_COMM_WORLDs (spawned or connected ones). Each
 * of these has variables of its own, so the processes may not even agree whether numacoll is
 * selected; without a message they all refuse. */
static bool has_several_worlds(MPIR_Comm *comm)
{
    int world = 0;

    for (int r = 0; r < comm->local_size && world == 0; r++)
        NC_GET_WORLD(comm, r, world);
    return world != 0;
}

/* The communicator whose state serves the calls on `comm`: of a node_comm its parent communicator,
 * otherwise comm itself, also one of several worlds, whose nodes MPICH may not know. NULL if
 * numacoll does not serve comm: an intercommunicator, a node_roots_comm, a communicator of one
 * process. */
static MPIR_Comm *parent_of(MPIR_Comm *comm)
{
    MPIR_Comm *parent = MPIDI_POSIX_COMM(comm, numacoll_parent);

    if (parent || MPIDI_POSIX_COMM(comm, numacoll))
        return parent ? parent : comm;
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size == 1)
        return NULL;
    return NC_KNOWS_NODES(comm) || (NC_MAY_LACK_NODES(comm) && has_several_worlds(comm)) ? comm
                                                                                         : NULL;
}

/* Makes an empty state for a communicator, in NC_PHASE_NONE if numacoll can serve it. NULL: no
 * memory. */
static struct MPIDI_NUMACOLL_comm *new_state(MPIR_Comm *parent)
{
    struct MPIDI_NUMACOLL_comm *state = MPL_calloc(1, sizeof *state, MPL_MEM_COLL);

    if (state) {
        MPIDI_POSIX_COMM(parent, numacoll) = state;
        state->stats.comm = parent;
        state->stats.waiter = &state->waiter;
        state->stats.traffic = &state->traffic;
        state->stats.segment = &state->segment;
        MPIDI_NUMACOLL_stats_add(&state->stats);
        if (has_several_worlds(parent)) {
            state->phase = NC_PHASE_UNUSABLE;
            state->reason = NC_REASON_WORLDS;
            state->asked = true;
        }
    }
    return state;
}

/* Whether the current call is the broadcast of the communicator's sequence number, by which MPICH
 * ends the making of most communicators. */
static bool is_at_commit(const MPIR_Comm *parent)
{
    return parent->seq == 0 && NC_IS_NUMBERED(parent);
}

/* Counts a call, on the parent communicator or on its node_comm. True: so many have been made that
 * the segment is worth its time. The broadcast of the sequence number counts as the first call,
 * also where it did not come here or MPICH made none: a program's first call is always the second.
 */
static bool count_call(struct MPIDI_NUMACOLL_comm *state, const MPIR_Comm *parent, bool on_parent)
{
    int enough = MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER);
    int *calls = on_parent ? &state->calls : &state->node_calls;

    if (*calls == 0 && !is_at_commit(parent))
        *calls = 1;
    if (state->inner && enough < INNER_CREATE_AFTER)
        enough = INNER_CREATE_AFTER;
    if (*calls < enough)
        ++*calls;
    return *calls >= enough;
}

/* Whether MPICH must not serve a call, because it would combine in another order. */
static bool needs_order(MPIR_Comm *comm, enum nc_coll coll)
{
    return (coll == NC_COLL_REDUCE || coll == NC_COLL_ALLREDUCE || coll == NC_COLL_REDUCE_SCATTER ||
            coll == NC_COLL_REDUCE_SCATTER_BLOCK) &&
           MPIDI_NUMACOLL_in_rank_order(comm);
}

/* Says that a communicator's calls fall back, for the first communicators of this process: a
 * program may make thousands. */
static void announce(const MPIR_Comm *comm, enum nc_coll coll, enum nc_reason reason)
{
    enum { MOST = 32 };
    static MPL_atomic_int_t lines = MPL_ATOMIC_INT_T_INITIALIZER(0);
    int before = comm->rank == 0 ? MPL_atomic_fetch_add_int(&lines, 1) : MOST;

    if (before < MOST)
        MPIDI_NUMACOLL_complain(comm->rank, "%s falls back on a communicator of %d ranks: %s%s",
                                MPIDI_NUMACOLL_coll_name(coll), comm->local_size,
                                MPIDI_NUMACOLL_reason_name(reason),
                                before == MOST - 1 ? " (no more of these lines)" : "");
}

/* Counts a call that falls back, and tells the user as MPIR_CVAR_COLLECTIVE_FALLBACK says, once for
 * each reason. Returns MPI_ERR_OTHER if that says `error`, or if the call needs an order. */
static int fall_back(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm, enum nc_coll coll,
                     bool inner)
{
    int mpi_errno = MPI_SUCCESS;
    enum nc_reason reason = state->reason;
    bool error = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_error ||
                 needs_order(comm, coll);
    bool print = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_print;

    if (!inner)
        state->stats.counts.fell_back[coll][reason]++;
    if ((error || print) && !(state->announced & 1u << reason))
        announce(comm, coll, reason);
    if (error && !(state->announced & 1u << reason))
        MPIDI_NUMACOLL_pause_before_error(comm->rank);
    state->announced |= 1u << reason;
    MPIR_ERR_CHKANDJUMP(error, mpi_errno, MPI_ERR_OTHER, "**collalgo");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Whether the processes of a communicator for which some node had no room in its budget try again
 * at this call on it: another communicator may have been freed. Alike on all ranks, for it depends
 * on the number of calls alone. */
static bool asks_again(struct MPIDI_NUMACOLL_comm *state)
{
    enum { FIRST = 64, FACTOR = 8 };
    unsigned calls;

    if (!state->asked || state->reason != NC_REASON_BUDGET)
        return false;
    calls = ++state->refused;
    while (calls > FIRST && calls % FACTOR == 0)
        calls /= FACTOR;
    return calls == FIRST;
}

/* Lets a state that was refused be set up again, where that is missing. */
static void begin_again(struct MPIDI_NUMACOLL_comm *state)
{
    if (state->phase == NC_PHASE_UNUSABLE)
        state->phase = NC_PHASE_NONE;
    state->asked = false;
    state->reason = NC_REASON_NONE;
}

/* What a process without memory for a state does in place of the set-up: it tells the other ranks
 * of the node, as make_segment does. *state: the one that stands in. Of a call before the set-up
 * MPICH takes care, and *state stays NULL. That needs a state to count calls if CREATE_AFTER is
 * above 2, and for a communicator that MPICH alone uses: **nomem. */
static int do_without(struct MPIDI_NUMACOLL_comm **state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS, after = MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER);
    struct nc_agreement a = {.prepared = false};
    bool worlds = has_several_worlds(parent);
    bool counts = after > 2 || MPIDI_NUMACOLL_is_inner_comm(parent);

    if (after == 2 && is_at_commit(parent) && !worlds)
        goto fn_exit;
    MPIR_ERR_CHKANDJUMP(counts && !worlds, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (parent->node_comm && !worlds) {
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent->node_comm,
                                                     NC_COMPARED_OF_THE_COMM, &a);
        MPIR_ERR_CHECK(mpi_errno);
    }
    make_poor();
    *state = &poor[worlds];
    MPIDI_POSIX_COMM(parent, numacoll) = *state;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* As MPIDI_NUMACOLL_agree_on_nodes, for a process without memory for a state. */
static int meet_nodes_poorly(struct MPIDI_NUMACOLL_comm **state, MPIR_Comm *parent)
{
    struct MPIDI_NUMACOLL_comm for_now = *poor;
    int mpi_errno = MPIDI_NUMACOLL_agree_on_nodes(&for_now, parent);

    *state = &poor[1];
    MPIDI_POSIX_COMM(parent, numacoll) = *state;
    return mpi_errno;
}

/* Decides about a call on a communicator whose state is not ready on all nodes, or on a node_comm,
 * which uses the state of its parent. Sets call->state if numacoll serves the call. A call on a
 * node_comm is MPICH's own; it is an inner call if a variable selected numacoll for it. */
static int enter_unready(struct nc_call *call, MPIR_Comm *parent, bool direct)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(parent, numacoll);
    bool on_parent = call->comm == parent;

    if (!state)
        state = new_state(parent);
    if (!state) {
        mpi_errno = do_without(&state, parent);
        MPIR_ERR_CHECK(mpi_errno);
        if (!state)
            goto fn_exit;
    }
    /* asked at each call: MPICH has made a communicator, by a broadcast on it, before it says so */
    state->inner = MPIDI_NUMACOLL_is_inner_comm(parent);
    call->inner = state->inner || (direct && !on_parent);
    call->across = on_parent && NC_NODES(parent) > 1;
    /* the segment is being made at this moment: MPICH serves a call that comes meanwhile */
    if (state->phase == NC_PHASE_INITIALISING)
        goto fn_exit;
    if (!count_call(state, parent, on_parent) &&
        (state->inner || !needs_order(parent, call->coll))) {
        state->stats.counts.deferred[call->coll] += !call->inner;
        goto fn_exit;
    }
    if (on_parent && asks_again(state))
        begin_again(state);
    mpi_errno = MPIDI_NUMACOLL_state_make(&state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    if (state->phase == NC_PHASE_READY && state->queue.operation >= state->grow_at) {
        mpi_errno = MPIDI_NUMACOLL_state_grow(state, parent);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (on_parent && !state->asked) {
        mpi_errno = is_poor(state) ? meet_nodes_poorly(&state, parent)
                                   : MPIDI_NUMACOLL_agree_on_nodes(state, parent);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (on_parent ? state->agreed : state->phase == NC_PHASE_READY) {
        call->state = state;
    } else if (!state->inner) {
        mpi_errno = fall_back(state, call->comm, call->coll, call->inner);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_enter(struct nc_call *call, bool direct, int entry)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *parent = MPIDI_NUMACOLL_world.initialised ? parent_of(call->comm) : NULL;

    if (parent)
        mpi_errno = enter_unready(call, parent, direct);
    if (call->state)
        call->choice = &call->state->choice[entry + 1];
    return mpi_errno;
}
