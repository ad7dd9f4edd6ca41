/* The life of a communicator's state, and the decision who serves a call.
 *
 * Everything here that decides is the same on all ranks of the communicator: it depends on its kind, on how many
 * calls it has seen, and on what was agreed. */

#include "numacoll.h"

/* ---- hooks ---- */

void MPIDI_NUMACOLL_comm_pre_hook(MPIR_Comm * comm)
{
    MPIDI_POSIX_COMM(comm, numacoll) = NULL;
    MPIDI_POSIX_COMM(comm, numacoll_home) = NULL;
}

void MPIDI_NUMACOLL_comm_post_hook(MPIR_Comm * comm)
{
    if (comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && comm->node_comm)
        MPIDI_POSIX_COMM(comm->node_comm, numacoll_home) = comm;
}

void MPIDI_NUMACOLL_comm_free_hook(MPIR_Comm * comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    if (!state)
        return;
    MPIDI_NUMACOLL_report_remove(state);
    MPIDI_NUMACOLL_segment_free(&state->segment);
    MPL_free(state->memory);
    MPL_free(state);
    MPIDI_POSIX_COMM(comm, numacoll) = NULL;
}

/* ---- set-up ---- */

static int progress(void *unused)
{
    int mpi_errno = MPID_Progress_test(NULL);

    MPIDI_PROGRESS_YIELD();
    return mpi_errno;
}

/* What was written through MPI_T since MPI_Init is brought into the range of its variable, alike on all ranks. */
#define NC_CLAMP(name, low, high, unit) \
    static inline int clamped_##name(void) \
    { \
        int value = MPIR_CVAR_NUMACOLL_##name; \
        return value < (low) ? (low) : value > (high) ? (high) : value; \
    }
NC_INT_VARIABLES(NC_CLAMP)

/* What the processes of a node share, as this communicator's variables say. */
static struct nc_geometry wanted_geometry(int size)
{
    uint32_t f = (uint32_t) clamped_FRAGMENT_SIZE();

    return nc_geometry_make((uint32_t) size, (uint32_t) clamped_QUEUE_LENGTH(), f ? f : 8192,
                            (uint32_t) clamped_QUEUE_SETS());
}

static int tree_kind(void)
{
    switch (MPIR_CVAR_NUMACOLL_BCAST_TREE) {
        case MPIR_CVAR_NUMACOLL_BCAST_TREE_flat:
            return NC_TREE_FLAT;
        case MPIR_CVAR_NUMACOLL_BCAST_TREE_kary:
            return NC_TREE_KARY;
        case MPIR_CVAR_NUMACOLL_BCAST_TREE_chain:
            return NC_TREE_CHAIN;
        default:
            return NC_TREE_KNOMIAL;
    }
}

/* In state->memory, which has room for a geometry of at least as many slots. */
static void make_private_parts(struct MPIDI_NUMACOLL_comm *state, const struct nc_geometry *g)
{
    size_t queue_bytes = nc_queue_private_bytes(g);

    state->waiter.progress = progress;
    state->waiter.yield = MPIDI_NUMACOLL_world.yield;
    nc_queue_init(&state->queue, state->segment.base, g, state->rank, state->memory, &state->waiter);
    nc_tree_make(&state->bcast_tree, (char *) state->memory + queue_bytes, tree_kind(),
                 clamped_BCAST_TREE_K(), state->size);
    state->bcast.queue = &state->queue;
    state->bcast.tree = &state->bcast_tree;
    state->bcast.sqrt_rule = clamped_FRAGMENT_SIZE() == 0;
    state->bcast.cache_bytes = MPIDI_NUMACOLL_world.cache_bytes;
}

/* Collective over the node's processes. */
static int set_up(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm * home)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *node_comm = home->node_comm;
    struct nc_geometry g;

    if (state->phase != NC_PHASE_NONE)
        goto fn_exit;
    state->phase = NC_PHASE_INITIALISING;
    state->rank = node_comm ? node_comm->rank : 0;
    state->size = node_comm ? node_comm->local_size : 1;
    if (node_comm) {
        g = wanted_geometry(state->size);
        /* before the last agreement, which this process must not pass without it */
        state->memory = MPL_malloc(nc_queue_private_bytes(&g) + nc_tree_bytes(state->size), MPL_MEM_COLL);
        mpi_errno = MPIDI_NUMACOLL_segment_create(node_comm, &g, state->memory != NULL, &state->segment,
                                                  &state->reason);
        MPIR_ERR_CHECK(mpi_errno);
        if (state->reason == NC_REASON_NONE)
            make_private_parts(state, &g);
    }
    state->phase = state->reason == NC_REASON_NONE ? NC_PHASE_READY : NC_PHASE_UNUSABLE;
    MPIDI_NUMACOLL_report_setup(state, home);

  fn_exit:
    return mpi_errno;
  fn_fail:
    state->phase = NC_PHASE_UNUSABLE;
    if (state->reason == NC_REASON_NONE)
        state->reason = NC_REASON_BACKING;
    goto fn_exit;
}

/* Collective over the communicator: is every node ready? The worst reason wins, alike for all. */
static int ask_all_nodes(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm * home)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, reason = state->reason;

    if (home->node_count > 1) {
        mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, &reason, 1, MPI_INT, MPI_MAX, home, errflag);
        MPIR_ERR_CHECK(mpi_errno);
    }
    state->asked = true;
    state->agreed = reason == NC_REASON_NONE;
    state->reason = reason;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the decision ---- */

/* The communicator that has the state this one's calls use; NULL for those that are not ours: intercommunicators,
 * leaders of nodes, single processes, and communicators without two processes on any node. */
static MPIR_Comm *home_of(MPIR_Comm * comm)
{
    MPIR_Comm *home = MPIDI_POSIX_COMM(comm, numacoll_home);

    if (home)
        return home;
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size == 1 ||
        comm->hierarchy_kind != MPIR_COMM_HIERARCHY_KIND__PARENT)
        return NULL;
    return comm;
}

static struct MPIDI_NUMACOLL_comm *new_state(MPIR_Comm * home)
{
    struct MPIDI_NUMACOLL_comm *state = MPL_calloc(1, sizeof *state, MPL_MEM_COLL);

    if (state) {
        MPIDI_POSIX_COMM(home, numacoll) = state;
        MPIDI_NUMACOLL_report_add(state);
    }
    return state;
}

/* MPICH's own broadcast at the making of a communicator is its first call, whether it came here or not. */
static int count_call(struct MPIDI_NUMACOLL_comm *state, bool on_home, bool direct)
{
    int *calls = on_home ? &state->calls : &state->node_calls;

    if (*calls == 0 && direct)
        *calls = 1;
    if (*calls < clamped_CREATE_AFTER())
        ++*calls;
    return *calls;
}

static int fall_back(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm * comm, enum nc_coll coll, bool inner)
{
    int mpi_errno = MPI_SUCCESS;
    bool error = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_error;
    bool print = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_print;

    if (!inner)
        state->fell_back[coll][state->reason]++;
    if ((error || print) && comm->rank == 0 && !(state->announced & 1u << state->reason)) {
        fprintf(stderr, "numacoll: %s falls back on a communicator of %d ranks: %s\n",
                MPIDI_NUMACOLL_coll_name(coll), comm->local_size, MPIDI_NUMACOLL_reason_name(state->reason));
        fflush(stderr);
    }
    if (error && !(state->announced & 1u << state->reason))
        MPIDI_NUMACOLL_let_rank_0_speak_first(comm->rank);
    state->announced |= 1u << state->reason;
    MPIR_ERR_CHKANDJUMP(error, mpi_errno, MPI_ERR_OTHER, "**collalgo");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Everything but the fast path of a ready communicator. */
static int enter_slowly(MPIR_Comm * comm, MPIR_Comm * home, enum nc_coll coll, bool direct,
                        struct MPIDI_NUMACOLL_comm **serving)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(home, numacoll);
    bool on_home = comm == home, inner = direct && !on_home;

    if (!state)
        state = new_state(home);
    MPIR_ERR_CHKANDJUMP(!state, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (state->phase == NC_PHASE_INITIALISING)
        goto fn_exit;
    if (count_call(state, on_home, direct) < clamped_CREATE_AFTER()) {
        state->deferred[coll] += !inner;
        goto fn_exit;
    }
    mpi_errno = set_up(state, home);
    MPIR_ERR_CHECK(mpi_errno);
    if (on_home && !state->asked) {
        mpi_errno = ask_all_nodes(state, home);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (on_home ? state->agreed : state->phase == NC_PHASE_READY) {
        *serving = state;
    } else {
        mpi_errno = fall_back(state, comm, coll, inner);
        MPIR_ERR_CHECK(mpi_errno);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_enter(MPIR_Comm * comm, enum nc_coll coll, bool direct, struct MPIDI_NUMACOLL_comm **serving)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    if (state && state->agreed) {
        *serving = state;
    } else if (MPIDI_NUMACOLL_world.initialised) {
        MPIR_Comm *home = home_of(comm);
        if (home)
            mpi_errno = enter_slowly(comm, home, coll, direct, serving);
    }
    if (*serving && direct && MPIDI_POSIX_COMM(comm, numacoll_home))
        (*serving)->inner[coll]++;
    else if (*serving)
        (*serving)->served[coll]++;
    return mpi_errno;
}
