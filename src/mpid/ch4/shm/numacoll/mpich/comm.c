/* Makes and frees the state of a communicator, and decides whether numacoll or MPICH serves a call.
 * coll/entry.c calls MPIDI_NUMACOLL_enter for each call that MPIDI_NUMACOLL_begin (comm.h) has not
 * settled; MPICH calls the hooks. The parts of the state are made elsewhere: the segment in
 * segment.c, the locations of the ranks in location.c, the choices in choose.c; agree.c compares
 * what all processes must have alike.
 *
 * All ranks of a communicator must decide alike. So a decision depends only on the communicator's
 * kind, on the number of calls on it so far, and on results of agree.c. */

#include "comm.h"

#include "agree.h"
#include "bells.h"
#include "choose.h"
#include "diag.h"
#include "location.h"
#include "numacoll_hooks.h"
#include "numacoll_waits.h"
#include "rest.h"
#include "settings.h"
#include "world.h"
#include "../core/nc_arena.h"
#include "../core/nc_model.h"

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

void MPIDI_NUMACOLL_comm_free_hook(MPIR_Comm *comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    if (!state)
        return;
    MPIDI_NUMACOLL_stats_remove(&state->stats);
    MPIDI_NUMACOLL_segment_free(&state->segment);
    MPIDI_NUMACOLL_hierarchy_free(&state->all);
    MPL_free(state->memory);
    MPL_free(state);
    MPIDI_POSIX_COMM(comm, numacoll) = NULL;
}

/* ---- set-up ---- */

/* nc_waiter.progress: what a wait in shared memory calls meanwhile. A poll takes one
 * cell of a message and sends one, so it polls until it does neither: then whatever comes rings the
 * bell. */
static int progress(void *unused)
{
    int mpi_errno = MPI_SUCCESS;
    unsigned before;

    do {
        before = MPIR_numacoll_cells_moved;
        mpi_errno = MPID_Progress_test(NULL);
        MPIDI_PROGRESS_YIELD();
    } while (mpi_errno == MPI_SUCCESS && before != MPIR_numacoll_cells_moved);
    return mpi_errno;
}

/* The slots that this communicator's settings ask for, before the node's budget is looked at. With
 * QUEUE_BUDGET the model derives slots and fragments, otherwise they are QUEUE_LENGTH and
 * FRAGMENT_SIZE. */
static struct nc_geometry wanted_geometry(MPIR_Comm *parent, int size)
{
    struct nc_geometry g;
    uint64_t budget = MPIDI_NUMACOLL_budget_bytes(parent),
             f = (uint64_t) MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_FRAGMENT_SIZE);
    uint64_t s = (uint64_t) MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_QUEUE_LENGTH);

    if (budget) {
        struct nc_model_slots slots = nc_model_slots_of_queue(budget);
        f = slots.f;
        s = slots.s < 4096 ? slots.s : 4096;
    }
    g = nc_geometry_make((uint32_t) size, (uint32_t) s,
                         (uint32_t) (f ? f : NC_LARGEST_SLOT_OF_RULE),
                         (uint32_t) MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_QUEUE_SETS),
                         (uint32_t) MPIDI_NUMACOLL_page_bytes(MPIR_CVAR_NUMACOLL_HUGE_PAGES_off));
    if (MPIDI_NUMACOLL_world.yield)
        nc_geometry_lengthen(&g);
    return g;
}

/* state->units in the form in which core/ takes it. */
static struct nc_locations locations_of(const struct MPIDI_NUMACOLL_comm *state)
{
    return (struct nc_locations){.ranks = state->size, .columns = NC_LEVELS, .unit = state->units};
}

/* Takes all arrays of a state from an arena; with an arena without memory it only measures them.
 * queue_bytes: of the queue's private memory, 0 if there will be no queue. It is taken last,
 * because it is the only array whose size depends on the geometry: if the budget leaves room for
 * fewer slots, the queue needs only the beginning of it. */
static void take_arrays(struct MPIDI_NUMACOLL_comm *state, size_t queue_bytes,
                        struct nc_arena *arena)
{
    size_t size = (size_t) state->size, choices = (size_t) state->entries + 1;
    struct nc_locations locations = locations_of(state);

    state->tree_bytes = MPIDI_NUMACOLL_choice_tree_bytes(state->size);
    state->choice = NC_ARENA_TAKE(arena, choices, struct nc_choice);
    state->trees = nc_arena_take(arena, choices, state->tree_bytes, 8);
    state->topo = nc_arena_take(arena, nc_topo_bytes(&locations), 1, 8);
    state->group_memory = nc_arena_take(arena, nc_groups_most_bytes(state->size, 2), 1, 8);
    state->inside_memory = nc_arena_take(arena, nc_groups_most_bytes(state->size, NC_ROUTE_LEVELS),
                                         1, 8);
    state->data_memory = nc_arena_take(arena, nc_groups_most_bytes(state->size, NC_ROUTE_LEVELS), 1,
                                       8);
    state->units = NC_ARENA_TAKE(arena, MPIDI_NUMACOLL_locate_ints(state->size), int);
    state->numa = NC_ARENA_TAKE(arena, size, int);
    state->region = NC_ARENA_TAKE(arena, size, char *);
    state->bell = NC_ARENA_TAKE(arena, size, struct nc_bell *);
    state->placement = NC_ARENA_TAKE(arena, size, struct nc_placement);
    state->flow = NC_ARENA_TAKE(arena, size, struct nc_flow);
    state->stream = NC_ARENA_TAKE(arena, size, struct nc_stream);
    state->typed = NC_ARENA_TAKE(arena, size, struct nc_typed);
    state->sent = NC_ARENA_TAKE(arena, size, size_t);
    state->list = NC_ARENA_TAKE(arena, size, int);
    state->column_rank = NC_ARENA_TAKE(arena, size, int);
    state->queue_memory = nc_arena_take(arena, queue_bytes, 1, 8);
}

/* Allocates all arrays of a state, as one block. False: no memory. */
static bool allocate(struct MPIDI_NUMACOLL_comm *state, size_t queue_bytes)
{
    struct nc_arena measured = {.base = NULL};

    take_arrays(state, queue_bytes, &measured);
    state->memory = MPL_malloc(measured.bytes, MPL_MEM_COLL);
    if (state->memory)
        take_arrays(state, queue_bytes, &(struct nc_arena){.base = state->memory});
    return state->memory != NULL;
}

/* Makes the teams of allreduce: row and column of this rank in the table that has the NUMA nodes as
 * its rows. */
static void make_teams(struct MPIDI_NUMACOLL_comm *state)
{
    struct nc_group near = nc_group_at(&state->groups, 0, state->rank, 0);
    int size = nc_groups_column(&state->groups, state->rank, state->column_rank);

    state->row = (struct nc_team){.rank = near.member, .size = near.size, .index = near.index};
    state->column = (struct nc_team){
        .rank = state->column_rank, .size = size, .index = near.number};
}

/* Groups the ranks by a set of levels (bit i: enum nc_level i). The groups are in `memory`, as
 * taken by take_arrays. */
static struct nc_levels group_by(struct MPIDI_NUMACOLL_comm *state, unsigned levels, char *memory)
{
    struct nc_locations locations = locations_of(state);
    struct nc_levels result;
    struct nc_topo topo;

    nc_topo_make(&topo, state->topo, &locations, levels);
    nc_groups_make(&result.groups, memory, &topo);
    memcpy(result.name, topo.name, sizeof result.name);
    return result;
}

/* Sets `below`, `group_leader` and `group_leaders`: the members of the highest group of `data`,
 * each of which leads a group on the level below. */
static void find_group_leaders(struct MPIDI_NUMACOLL_comm *state)
{
    int top = state->data.groups.levels - 1;
    struct nc_group highest = nc_group_at(&state->data.groups, top, state->rank, 0);

    state->below = state->data.groups;
    state->below.levels = top;
    state->group_leader = top > 0 ? nc_group_leader_of(&state->below, top - 1, state->rank, 0)
                                  : state->rank;
    state->group_leaders = (struct nc_team){
        .rank = highest.member, .size = highest.size, .index = highest.index};
}

/* Makes all groups inside the node from state->units. */
static void group(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    unsigned levels = (unsigned) MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_LEVELS);

    state->unbound = false;
    for (int i = 0; i < state->size; i++) {
        state->numa[i] = state->units[i * NC_LEVELS + NC_LEVEL_NUMA];
        state->unbound = state->unbound || state->numa[i] < 0;
    }
    if (state->unbound)
        memset(state->numa, 0, (size_t) state->size * sizeof(int));
    state->groups = group_by(state, levels & 1u << NC_LEVEL_NUMA, state->group_memory).groups;
    make_teams(state);
    state->inside = group_by(state, levels & NC_LEVELS_INSIDE, state->inside_memory);
    state->data = group_by(state, nc_route_by(levels), state->data_memory);
    find_group_leaders(state);
}

/* Decides how this communicator's ranks wait. All of its ranks on this node look for sleepers, or
 * none does. Collective over the node's ranks. */
static int make_waiter(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *node_comm)
{
    int mpi_errno = MPI_SUCCESS;
    const struct nc_world *w = &MPIDI_NUMACOLL_world;
    char *base = state->segment.base;
    bool all;

    mpi_errno = MPIDI_NUMACOLL_bells_find(node_comm, state->list, state->bell, &all,
                                          &state->oversubscribed);
    MPIR_ERR_CHECK(mpi_errno);
    state->waiter = (struct nc_waiter){
        .progress = progress,
        .step_aside = MPIR_numacoll_step_aside,
        .is_wanted = MPIDI_NUMACOLL_is_wanted,
        .spins = w->spins,
        .yield = w->gentle &&
                 (state->oversubscribed || MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_on),
        .among_others = w->yield,
        .unsure = w->unsure,
        .sleep = w->sleep,
        .gentle = w->gentle,
        .ranks = (unsigned) state->size,
        .until = (struct nc_atomic *) (base + NC_UNTIL)};
    if (all && state->size <= NC_PARKING_RANKS) {
        nc_parking_init(&state->parking, base, state->bell, state->rank, state->size);
        state->waiter.bell = state->bell[state->rank];
        state->waiter.parking = &state->parking;
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Makes the queue and the choices over a segment that is there. *g is its geometry, which may have
 * fewer slots than were wanted; offset[size]: where the regions begin. */
static void make_private_parts(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent,
                               const struct nc_geometry *g, const size_t *offset)
{
    for (int i = 0; i < state->size; i++)
        state->region[i] = (char *) state->segment.base + offset[i];
    nc_queue_init(&state->queue, state->region, g, state->rank, state->queue_memory,
                  &state->waiter);
    MPIDI_NUMACOLL_choose(state, parent);
}

/* Fills state->units, by the setting MAPPING if it assumes where the ranks are. Collective over the
 * node's ranks. */
static int locate(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    const char *mapping = MPIDI_NUMACOLL_text(MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_MAPPING));

    return MPIDI_NUMACOLL_locate(parent->node_comm, mapping, state->units, &state->cache_bytes);
}

/* Gathers where each rank's pages are to local rank 0, which writes the report. */
static int gather_placements(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *node_comm)
{
    NC_ERRFLAG_LOCAL(errflag);

    MPL_COMPILE_TIME_ASSERT(sizeof(struct nc_placement) == 3 * sizeof(int));
    return MPIR_Gather_intra_binomial(&state->segment.placement, 3, NC_TYPE_INT, state->placement,
                                      3, NC_TYPE_INT, 0, node_comm, errflag);
}

/* Makes everything that a state on a node of several ranks needs: settings compared, memory,
 * groups, segment, queue, choices. Sets state->reason, to the same value on all ranks of the node:
 * NC_REASON_NONE, or why there is no segment. Collective over the node's ranks. Errors: of MPICH's
 * messages. */
static int make_segment(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS, different;
    MPIR_Comm *node_comm = parent->node_comm;
    struct nc_geometry g = wanted_geometry(parent, state->size);
    struct nc_wanted wanted;
    size_t *offset = MPL_malloc((size_t) state->size * sizeof *offset, MPL_MEM_COLL);
    bool prepared;

    prepared = allocate(state, nc_queue_private_bytes(&g)) && offset;
    mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, node_comm, NC_PER_COMMUNICATOR, prepared,
                                                 &prepared, &different);
    MPIR_ERR_CHECK(mpi_errno);
    state->reason = different >= 0 ? NC_REASON_SETTINGS
                    : prepared     ? NC_REASON_NONE
                                   : NC_REASON_PAGES;
    if (state->reason != NC_REASON_NONE)
        goto fn_exit;
    mpi_errno = locate(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    group(state, parent);
    wanted = (struct nc_wanted){.placement = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_PLACEMENT),
                                .huge_pages = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_HUGE_PAGES),
                                .numa = state->numa};
    mpi_errno = MPIDI_NUMACOLL_segment_create(node_comm, &g, &wanted, &state->segment, offset,
                                              &state->reason);
    MPIR_ERR_CHECK(mpi_errno);
    if (state->reason != NC_REASON_NONE)
        goto fn_exit;
    mpi_errno = make_waiter(state, node_comm);
    MPIR_ERR_CHECK(mpi_errno);
    make_private_parts(state, parent, &g, offset);
    mpi_errno = gather_placements(state, node_comm);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(offset);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* As make_segment, for a process that is alone on its node: it needs no shared memory, but groups
 * and choices for messages between nodes. */
static int make_without_segment(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;

    state->reason = allocate(state, 0) ? NC_REASON_NONE : NC_REASON_PAGES;
    if (state->reason == NC_REASON_NONE) {
        mpi_errno = locate(state, parent);
        MPIR_ERR_CHECK(mpi_errno);
        group(state, parent);
        MPIDI_NUMACOLL_choose(state, parent);
    }

fn_fail:
    return mpi_errno;
}

/* Brings a state from NC_PHASE_NONE to READY or UNUSABLE; does nothing in any other phase.
 * Collective over the node's ranks. */
static int set_up(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;

    if (state->phase != NC_PHASE_NONE)
        goto fn_exit;
    state->phase = NC_PHASE_INITIALISING;
    state->rank = parent->node_comm ? parent->node_comm->rank : 0;
    state->size = parent->node_comm ? parent->node_comm->local_size : 1;
    state->entries = MPIDI_NUMACOLL_csel_entry_count();
    state->cache_bytes = MPIDI_NUMACOLL_world.cache_bytes;
    mpi_errno = parent->node_comm ? make_segment(state, parent)
                                  : make_without_segment(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    state->phase = state->reason == NC_REASON_NONE ? NC_PHASE_READY : NC_PHASE_UNUSABLE;

fn_exit:
    return mpi_errno;
fn_fail:
    state->phase = NC_PHASE_UNUSABLE;
    if (state->reason == NC_REASON_NONE)
        state->reason = NC_REASON_BACKING;
    goto fn_exit;
}

int MPIDI_NUMACOLL_settings_changed(MPIR_Comm *comm, bool right)
{
    int mpi_errno = MPI_SUCCESS, different = -1;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);
    bool all_right = right;

    /* a state that is not ready yet: its set-up will compare the keys */
    if (!state || state->phase != NC_PHASE_READY)
        goto fn_exit;
    if (comm->node_comm) {
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(comm, comm->node_comm, NC_PER_COMMUNICATOR,
                                                     right, &all_right, &different);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (state->agreed && NC_NODES(comm) > 1) {
        /* the ranks of all nodes come here; a wrong key on one node is an error on all nodes */
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(
            comm, comm, NC_PER_CALL, all_right && different < 0, &all_right, &different);
        MPIR_ERR_CHECK(mpi_errno);
    }
    MPIR_ERR_CHKANDJUMP(!all_right || different >= 0, mpi_errno, MPI_ERR_INFO_VALUE, "**infoval");
    /* This also changes the lists of readers that the queue keeps of earlier operations. They are
     * not needed any more, because all ranks have met since (PROTOCOLS.md, section 4). */
    MPIDI_NUMACOLL_choose(state, comm);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* ---- the decision ---- */

/* The communicator whose state serves the calls on `comm`: of a node_comm its parent communicator,
 * otherwise comm itself. NULL if numacoll does not serve comm: an intercommunicator, a
 * node_roots_comm, a communicator of one process. */
static MPIR_Comm *parent_of(MPIR_Comm *comm)
{
    MPIR_Comm *parent = MPIDI_POSIX_COMM(comm, numacoll_parent);

    if (parent)
        return parent;
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size == 1 ||
        !NC_KNOWS_NODES(comm))
        return NULL;
    return comm;
}

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

/* Makes an empty state for a communicator, in NC_PHASE_NONE if numacoll can serve it. NULL: no
 * memory. */
static struct MPIDI_NUMACOLL_comm *new_state(MPIR_Comm *parent)
{
    struct MPIDI_NUMACOLL_comm *state = MPL_calloc(1, sizeof *state, MPL_MEM_COLL);

    if (state) {
        MPIDI_POSIX_COMM(parent, numacoll) = state;
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

/* Counts a call, on the parent communicator or on its node_comm, and returns the number of calls so
 * far (at most CREATE_AFTER). The broadcast of the sequence number counts as the first call, also
 * where it did not come here or MPICH made none: a program's first call is always the second. */
static int count_call(struct MPIDI_NUMACOLL_comm *state, const MPIR_Comm *parent, bool on_parent)
{
    int *calls = on_parent ? &state->calls : &state->node_calls;

    if (*calls == 0 && !is_at_commit(parent))
        *calls = 1;
    if (*calls < MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER))
        ++*calls;
    return *calls;
}

/* Counts a call that falls back, and tells the user as MPIR_CVAR_COLLECTIVE_FALLBACK says, once for
 * each reason. Returns MPI_ERR_OTHER if that says `error`. */
static int fall_back(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm, enum nc_coll coll,
                     bool inner)
{
    int mpi_errno = MPI_SUCCESS;
    enum nc_reason reason = state->reason;
    bool error = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_error;
    bool print = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_print;

    if (!inner)
        state->stats.counts.fell_back[coll][reason]++;
    if ((error || print) && !(state->announced & 1u << reason))
        MPIDI_NUMACOLL_complain(comm->rank, "%s falls back on a communicator of %d ranks: %s",
                                MPIDI_NUMACOLL_coll_name(coll), comm->local_size,
                                MPIDI_NUMACOLL_reason_name(reason));
    if (error && !(state->announced & 1u << reason))
        MPIDI_NUMACOLL_pause_before_error(comm->rank);
    state->announced |= 1u << reason;
    MPIR_ERR_CHKANDJUMP(error, mpi_errno, MPI_ERR_OTHER, "**collalgo");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Decides about a call on a communicator whose state is not ready on all nodes, or on a node_comm,
 * which uses the state of its parent. Sets call->state if numacoll serves the call. A call on a
 * node_comm is MPICH's own; it is an inner call if a variable selected numacoll for it. */
static int enter_unready(struct nc_call *call, MPIR_Comm *parent, bool direct)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(parent, numacoll);
    bool on_parent = call->comm == parent;

    call->inner = direct && !on_parent;
    call->across = on_parent && NC_NODES(parent) > 1;
    if (!state)
        state = new_state(parent);
    MPIR_ERR_CHKANDJUMP(!state, mpi_errno, MPI_ERR_OTHER, "**nomem");
    /* the segment is being made at this moment: MPICH serves a call that comes meanwhile */
    if (state->phase == NC_PHASE_INITIALISING)
        goto fn_exit;
    if (count_call(state, parent, on_parent) < MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER)) {
        state->stats.counts.deferred[call->coll] += !call->inner;
        goto fn_exit;
    }
    mpi_errno = set_up(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    if (on_parent && !state->asked) {
        mpi_errno = MPIDI_NUMACOLL_agree_on_nodes(state, parent);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (on_parent ? state->agreed : state->phase == NC_PHASE_READY) {
        call->state = state;
    } else {
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
