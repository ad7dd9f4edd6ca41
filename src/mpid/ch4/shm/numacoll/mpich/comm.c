/* Makes the state of a communicator, keeps or frees it with the communicator, and decides whether
 * numacoll or MPICH serves a call. coll/entry.c calls MPIDI_NUMACOLL_enter for each call that
 * MPIDI_NUMACOLL_begin (comm.h) has not settled; MPICH calls the hooks. The parts of the state are
 * made elsewhere: the segment in segment.c, the locations of the ranks in location.c, the choices
 * in choose.c; agree.c compares what all processes must have alike.
 *
 * All ranks of a communicator must decide alike. So a decision depends only on the communicator's
 * kind, on the number of calls on it so far, and on results of agree.c. */

#include "comm.h"

#include <pthread.h>

#include "agree.h"
#include "answers.h"
#include "bells.h"
#include "choose.h"
#include "diag.h"
#include "kept.h"
#include "location.h"
#include "nonblocking_segment.h"
#include "numacoll_hooks.h"
#include "numacoll_waits.h"
#include "report.h"
#include "rest.h"
#include "settings.h"
#include "shared_buffers.h"
#include "single_copy.h"
#include "state_free.h"
#include "windows.h"
#include "world.h"
#include "../core/nc_arena.h"
#include "../core/nc_model.h"

/* A communicator that has made so many operations on a node is worth a segment of full size. */
#define USED 16

/* After so many operations the ranks look again, at the latest, whether they should have a larger
 * segment. That takes as long as one of their operations takes, or a few. */
#define SELDOM 4096

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

/* ---- set-up ---- */

/* nc_waiter.progress: what a wait in shared memory calls meanwhile. A poll takes one cell of a
 * message and sends one, so the wait polls until it does neither: then whatever comes rings the
 * bell. */
static int progress(void *context)
{
    struct MPIDI_NUMACOLL_comm *state = context;
    unsigned before = MPIR_numacoll_cells_moved();
    int mpi_errno = MPID_Progress_test(NULL);

    MPIDI_PROGRESS_YIELD();
    state->waiter.busy = before != MPIR_numacoll_cells_moved();
    if (unlikely(MPIR_CVAR_NUMACOLL_REPORT_WAITS))
        MPIDI_NUMACOLL_watch_wait(state);
    if (unlikely(state->queue.stranger.call))
        MPIDI_NUMACOLL_watch_stranger(state);
    return mpi_errno;
}

/* The slots that this communicator's settings ask for, before the node's budget is looked at. With
 * QUEUE_BUDGET the model derives slots and fragments, otherwise they are QUEUE_LENGTH and
 * FRAGMENT_SIZE, as far as these do not leave them open. l2_bytes: see nc_geometry_make. */
static struct nc_geometry wanted_geometry(MPIR_Comm *parent, int size, size_t l2_bytes)
{
    struct nc_geometry g;
    int fragment = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_FRAGMENT_SIZE),
        length = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_QUEUE_LENGTH);
    uint64_t budget = MPIDI_NUMACOLL_budget_bytes(parent);

    if (budget) {
        struct nc_model_slots slots = nc_model_slots_of_queue(budget);
        fragment = (int) slots.f;
        length = slots.s < 4096 ? (int) slots.s : 4096;
    }
    g = nc_geometry_make((uint32_t) size, length, fragment,
                         (uint32_t) MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_QUEUE_SETS), l2_bytes,
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
    state->signals_memory = nc_arena_take(arena, nc_groups_most_bytes(state->size, NC_ROUTE_LEVELS),
                                          1, 8);
    state->data_memory = nc_arena_take(arena, nc_groups_most_bytes(state->size, NC_ROUTE_LEVELS), 1,
                                       8);
    state->one_group_memory = nc_arena_take(arena, nc_groups_most_bytes(state->size, 1), 1, 8);
    state->units = NC_ARENA_TAKE(arena, MPIDI_NUMACOLL_locate_ints(state->size), int);
    state->numa = NC_ARENA_TAKE(arena, size, int);
    state->local_rank = NC_ARENA_TAKE(arena, size, int);
    state->region = NC_ARENA_TAKE(arena, size, char *);
    state->bell = NC_ARENA_TAKE(arena, size, struct nc_bell *);
    state->placement = NC_ARENA_TAKE(arena, size, struct nc_placement);
    state->flow = NC_ARENA_TAKE(arena, size, struct nc_flow);
    state->pace = NC_ARENA_TAKE(arena, size, struct nc_pace);
    state->joint = NC_ARENA_TAKE(arena, size, struct nc_joint);
    state->awaited = NC_ARENA_TAKE(arena, 2 * size, struct nc_awaited);
    state->stream = NC_ARENA_TAKE(arena, size, struct nc_stream);
    state->typed = NC_ARENA_TAKE(arena, size, struct nc_typed);
    state->sent = NC_ARENA_TAKE(arena, size, size_t);
    state->counts = NC_ARENA_TAKE(arena, size, MPI_Aint);
    state->displs = NC_ARENA_TAKE(arena, size, MPI_Aint);
    state->list = NC_ARENA_TAKE(arena, size, int);
    state->columns = NC_ARENA_TAKE(arena, size, int);
    if (MPIDI_NUMACOLL_files_answer())
        state->answers = NC_ARENA_TAKE(arena, 1, struct nc_answers);
    state->told = nc_arena_take(arena, MPIDI_NUMACOLL_bells_bytes(state->size), 1, 8);
    state->peers = nc_arena_take(arena, MPIDI_NUMACOLL_single_copy_bytes(state->size), 1, 8);
    state->shared = NC_ARENA_TAKE(arena, size, char *);
    state->shared_bytes = NC_ARENA_TAKE(arena, size, size_t);
    state->shared_scratch = nc_arena_take(arena, MPIDI_NUMACOLL_shared_scratch_bytes(state->size),
                                          1, 8);
    state->queue_memory = nc_arena_take(arena, queue_bytes, 1, 8);
}

/* Allocates all arrays of a state, as one block. False: no memory. */
static bool allocate(struct MPIDI_NUMACOLL_comm *state, size_t queue_bytes)
{
    struct nc_arena measured = {.base = NULL};

    take_arrays(state, queue_bytes, &measured);
    state->memory = MPL_malloc(measured.bytes, MPL_MEM_COLL);
    if (state->memory) {
        take_arrays(state, queue_bytes, &(struct nc_arena){.base = state->memory});
        state->sibling = (struct nc_sibling){.found = false};
        memset(state->pace, 0, (size_t) state->size * sizeof *state->pace);
        if (state->answers)
            memset(state->answers, 0, sizeof *state->answers);
    }
    return state->memory != NULL;
}

/* Makes the teams of allreduce and reduce_scatter: row and column of this rank in the table that
 * has the NUMA nodes as its rows. */
static void make_teams(struct MPIDI_NUMACOLL_comm *state)
{
    struct nc_group near = nc_group_at(&state->groups, 0, state->rank, 0);
    int size = nc_groups_column(&state->groups, state->rank, state->columns);

    for (int i = 0; i < near.size && size > 0; i++)
        nc_groups_column(&state->groups, near.member[i], state->columns + i * size);
    state->row = (struct nc_team){.rank = near.member, .size = near.size, .index = near.index};
    state->column = (struct nc_team){
        .rank = state->columns + near.index * size, .size = size, .index = near.number};
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
    state->signals = group_by(state, nc_route_signals_by(levels), state->signals_memory);
    state->data = group_by(state, nc_route_by(levels), state->data_memory);
    nc_groups_make_one(&state->one_group, state->one_group_memory, &state->data.groups);
    find_group_leaders(state);
}

/* Where in the segment the waits have their words. */
static void place_waiter(struct MPIDI_NUMACOLL_comm *state)
{
    char *base = state->segment.base;

    state->waiter.until = (struct nc_atomic *) (base + NC_UNTIL);
    if (state->waiter.parking)
        nc_parking_init(&state->parking, base, state->bell, state->rank, state->size);
}

/* Decides how this communicator's ranks wait. All of its ranks on this node look for sleepers, or
 * none does. */
static void make_waiter(struct MPIDI_NUMACOLL_comm *state)
{
    const struct nc_world *w = &MPIDI_NUMACOLL_world;

    state->waiter = (struct nc_waiter){
        .progress = progress,
        .context = state,
        .step_aside = MPIR_numacoll_step_aside,
        .is_wanted = MPIDI_NUMACOLL_is_wanted,
        .spins = w->spins,
        .yield = w->gentle &&
                 (state->oversubscribed || MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_on),
        .among_others = w->yield,
        .unsure = w->unsure,
        .sleep = w->sleep,
        .gentle = w->gentle,
        .ranks = (unsigned) state->size};
    if (state->has_bells && state->size <= NC_PARKING_RANKS) {
        state->waiter.bell = state->bell[state->rank];
        state->waiter.parking = &state->parking;
    }
    place_waiter(state);
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

/* Finds the bells of the node's ranks, and fills state->units, by the setting MAPPING if it assumes
 * where the ranks are. Collective over the node's ranks. */
static int locate(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;
    const char *mapping = MPIDI_NUMACOLL_text(MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_MAPPING));

    state->local_rank[0] = MPIR_Process.local_rank;
    if (parent->node_comm)
        mpi_errno = MPIDI_NUMACOLL_bells_find(parent->node_comm, state->told, state->local_rank,
                                              state->bell, &state->has_bells,
                                              &state->oversubscribed);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_NUMACOLL_locate(parent->node_comm, state->local_rank, mapping, state->units,
                                      &state->caches);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Gathers where each rank's pages are to local rank 0, if it writes a report. */
static int gather_placements(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *node_comm)
{
    NC_ERRFLAG_LOCAL(errflag);

    MPL_COMPILE_TIME_ASSERT(sizeof(struct nc_placement) == 3 * sizeof(int));
    if (!state->segment.reported)
        return MPI_SUCCESS;
    return MPIR_Gather_intra_binomial(&state->segment.placement, 3, NC_TYPE_INT, state->placement,
                                      3, NC_TYPE_INT, 0, node_comm, errflag);
}

/* What the settings ask of a segment. `present`: as in struct nc_wanted. */
static struct nc_wanted wanted_segment(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent,
                                       size_t present)
{
    return (struct nc_wanted){.placement = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_PLACEMENT),
                              .huge_pages = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_HUGE_PAGES),
                              .present = present,
                              .numa = state->numa,
                              .spare = &MPIDI_NUMACOLL_kept_spare};
}

/* Sets `direct`, and `single_copy`. Collective over the node's ranks. */
static int read_directly(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;
    bool shares = false;

    mpi_errno = MPIDI_NUMACOLL_single_copy_join(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    if (MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_SHARED_BUFFERS) !=
        MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_off) {
        mpi_errno = MPIDI_NUMACOLL_shared_join(parent->node_comm, state->shared_scratch,
                                               state->shared, state->shared_bytes, &shares);
        MPIR_ERR_CHECK(mpi_errno);
    }
    state->direct.shared = shares ? state->shared : NULL;
    state->direct.shared_bytes = state->shared_bytes;
    state->direct.window_place = MPIDI_NUMACOLL_window_place;
    state->direct.window_bytes = MPIDI_NUMACOLL_window_bytes;
    state->direct.ranks = state;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool is_full(const struct MPIDI_NUMACOLL_comm *state)
{
    return memcmp(&state->queue.geometry, &state->full, sizeof state->full) == 0;
}

static bool is_small(const struct MPIDI_NUMACOLL_comm *state)
{
    struct nc_geometry small = nc_geometry_small(&state->full);

    return memcmp(&state->queue.geometry, &small, sizeof small) == 0;
}

/* Allocates all arrays of a state that gets a segment. False: no memory. */
static bool allocate_with_queue(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    /* at most; the cache is not known yet */
    struct nc_geometry g = wanted_geometry(parent, state->size, SIZE_MAX);

    return allocate(state, nc_queue_private_bytes(&g));
}

/* Compares the settings of the node's ranks, and whether all of them keep the state of a freed
 * communicator that can take the place of this one: *kept; NULL: no, and this one has its memory.
 * Sets state->reason, to the same value on all ranks. Collective over the node's ranks.
 *
 * A rank that keeps a state allocates nothing for this one. If others do not keep it, it has to,
 * and the ranks agree once more. */
static int agree(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent,
                 struct MPIDI_NUMACOLL_comm **kept)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_agreement a = {.prepared = true};

    MPIDI_NUMACOLL_kept_set_key(state, parent);
    *kept = MPIDI_NUMACOLL_kept_take(state);
    if (*kept) {
        a.number = (*kept)->segment.number;
        a.operations = MPIDI_NUMACOLL_kept_operations(*kept);
    } else {
        a.prepared = allocate_with_queue(state, parent);
    }
    mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent->node_comm, NC_PER_COMMUNICATOR,
                                                 &a);
    MPIR_ERR_CHECK(mpi_errno);
    if (a.keepers == NC_KEPT_BY_ALL && a.different < 0)
        goto fn_exit;
    MPIDI_NUMACOLL_kept_put_back(*kept, a.keepers != NC_KEPT_UNEQUALLY);
    *kept = NULL;
    if (a.keepers != NC_KEPT_BY_NONE && a.prepared && a.different < 0) {
        a = (struct nc_agreement){.prepared = state->memory || allocate_with_queue(state, parent)};
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent->node_comm, NC_PER_COMMUNICATOR,
                                                     &a);
        MPIR_ERR_CHECK(mpi_errno);
    }
    state->reason = a.different >= 0 ? NC_REASON_SETTINGS
                    : a.prepared     ? NC_REASON_NONE
                                     : NC_REASON_PAGES;

fn_exit:
    return mpi_errno;
fn_fail:
    MPIDI_NUMACOLL_kept_put_back(*kept, false);
    *kept = NULL;
    goto fn_exit;
}

/* Makes everything that a state on a node of several ranks needs: settings compared, memory,
 * groups, segment, queue, choices. Sets the reason of the state, to the same value on all ranks of
 * the node: NC_REASON_NONE, or why there is no segment. *at: the state, in whose place may come one
 * that was kept. Collective over the node's ranks. Errors: of MPICH's messages. */
static int make_segment(struct MPIDI_NUMACOLL_comm **at, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = *at, *kept;
    MPIR_Comm *node_comm = parent->node_comm;
    struct nc_geometry g;
    struct nc_wanted wanted;
    size_t *offset;

    mpi_errno = agree(state, parent, &kept);
    MPIR_ERR_CHECK(mpi_errno);
    if (kept) {
        MPIDI_NUMACOLL_kept_go_on(kept, state, parent);
        *at = kept;
        goto fn_exit;
    }
    if (state->reason != NC_REASON_NONE)
        goto fn_exit;
    offset = state->sent; /* no call uses it yet */
    mpi_errno = locate(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    group(state, parent);
    g = state->full = wanted_geometry(parent, state->size, state->caches.l2);
    wanted = wanted_segment(state, parent, 0);
    mpi_errno = MPIDI_NUMACOLL_segment_create(node_comm, &g, &wanted, &state->segment, offset,
                                              &state->reason);
    MPIR_ERR_CHECK(mpi_errno);
    if (state->reason != NC_REASON_NONE)
        goto fn_exit;
    make_waiter(state);
    mpi_errno = read_directly(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    make_private_parts(state, parent, &g, offset);
    state->stats.counts.segments_made++;
    state->grow_at = is_full(state) ? UINT64_MAX : is_small(state) ? 1 : USED;
    mpi_errno = gather_placements(state, node_comm);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_NUMACOLL_nonblocking_make(state, parent, &wanted);
    MPIR_ERR_CHECK(mpi_errno);
    if (is_full(state))
        mpi_errno = MPIDI_NUMACOLL_single_copy_time(state, parent);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Whether this rank has read out of another one's buffer. */
static bool read_any(const struct MPIDI_NUMACOLL_comm *state)
{
    return state->traffic.shared || state->traffic.fetched;
}

/* Whether the ranks of this node should have a larger segment at this operation: they have used the
 * communicator for a while (1), or one of them has moved more than its ring holds, or has read
 * out of another one's buffer, so that there are long messages (2). Collective over the node's
 * ranks; alike on all. Also 0 if one has no memory for `offset`. */
static int should_grow(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *node_comm,
                       const size_t *offset, int *grow)
{
    NC_ERRFLAG_LOCAL(errflag);
    const struct nc_queue *q = &state->queue;
    int wanted = q->head > q->geometry.slots || read_any(state) ? 2 : q->operation >= USED;
    int most[2] = {wanted, !offset};
    int mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, most, 2, NC_TYPE_INT,
                                                            MPI_MAX, node_comm, errflag);

    *grow = most[1] ? 0 : most[0];
    return mpi_errno;
}

/* Replaces the segment by a larger one, if it is time and the budget allows; otherwise the calls go
 * on in the one there is. Without long messages it is at most a narrow one. All ranks of the node
 * have ended all earlier operations when the new one is made, and it begins as the first did; the
 * memory of the old one is there until the last rank has left it. Collective over the node's ranks,
 * at the same operation. */
static int grow(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS, wants;
    struct nc_geometry g;
    struct nc_wanted wanted = wanted_segment(state, parent, state->segment.bytes);
    struct nc_segment larger;
    enum nc_reason reason;
    size_t *offset = MPL_malloc((size_t) state->size * sizeof *offset, MPL_MEM_COLL);

    state->grow_at = state->queue.operation +
                     (state->queue.operation < SELDOM ? state->queue.operation : SELDOM);
    mpi_errno = should_grow(state, parent->node_comm, offset, &wants);
    MPIR_ERR_CHECK(mpi_errno);
    if (wants == 0)
        goto fn_exit;
    g = wants == 2 ? state->full : nc_geometry_narrow(&state->full);
    if (nc_layout_make(&g).region <= state->queue.layout.region)
        goto fn_exit;
    mpi_errno = MPIDI_NUMACOLL_segment_create(parent->node_comm, &g, &wanted, &larger, offset,
                                              &reason);
    MPIR_ERR_CHECK(mpi_errno);
    if (reason != NC_REASON_NONE) {
        /* a full one that was not refused by the budget is not to be had later either */
        state->segment.shortened |= larger.shortened;
        if (wants == 2 && !larger.shortened)
            state->grow_at = UINT64_MAX;
        goto fn_exit;
    }
    MPIDI_NUMACOLL_segment_free(&state->segment);
    state->segment = larger;
    place_waiter(state);
    make_private_parts(state, parent, &g, offset);
    state->grow_at = is_full(state) ? UINT64_MAX : USED;
    state->stats.counts.segments_made++;
    if (is_full(state))
        mpi_errno = MPIDI_NUMACOLL_single_copy_time(state, parent);
    nc_keep_first(&mpi_errno, gather_placements(state, parent->node_comm));
    MPIDI_NUMACOLL_report_growth(state, parent);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(offset);
    return mpi_errno;
fn_fail:
    state->failed = true;
    goto fn_exit;
}

/* As make_segment, for a process that is alone on its node: it needs no shared memory, but groups
 * and choices for messages between nodes. */
static int make_without_segment(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;

    state->reason = allocate(state, 0) ? NC_REASON_NONE : NC_REASON_PAGES;
    state->grow_at = UINT64_MAX;
    if (state->reason == NC_REASON_NONE) {
        mpi_errno = locate(state, parent);
        MPIR_ERR_CHECK(mpi_errno);
        group(state, parent);
        MPIDI_NUMACOLL_choose(state, parent);
    }

fn_fail:
    return mpi_errno;
}

/* Brings a state from NC_PHASE_NONE to READY or UNUSABLE; does nothing in any other phase. *at: the
 * state, in whose place may come one that was kept. Collective over the node's ranks. */
static int set_up(struct MPIDI_NUMACOLL_comm **at, MPIR_Comm *parent)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = *at;

    if (state->phase != NC_PHASE_NONE)
        goto fn_exit;
    state->phase = NC_PHASE_INITIALISING;
    state->rank = parent->node_comm ? parent->node_comm->rank : 0;
    state->size = parent->node_comm ? parent->node_comm->local_size : 1;
    state->entries = MPIDI_NUMACOLL_csel_entry_count();
    state->context = (int) parent->context_id;
    mpi_errno = parent->node_comm ? make_segment(at, parent) : make_without_segment(state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    state = *at;
    state->phase = state->reason == NC_REASON_NONE ? NC_PHASE_READY : NC_PHASE_UNUSABLE;
    if (state->phase == NC_PHASE_READY)
        MPIDI_NUMACOLL_settings_fix(parent);

fn_exit:
    if (state->phase == NC_PHASE_UNUSABLE) {
        MPIDI_NUMACOLL_nonblocking_free(state);
        MPIDI_NUMACOLL_stop_reading(state);
        MPL_free(state->memory);
        state->memory = NULL;
        state->answers = NULL; /* was part of it, and each call looks there first */
    }
    return mpi_errno;
fn_fail:
    state->phase = NC_PHASE_UNUSABLE;
    if (state->reason == NC_REASON_NONE)
        state->reason = NC_REASON_BACKING;
    goto fn_exit;
}

int MPIDI_NUMACOLL_settings_changed(MPIR_Comm *comm, bool right)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);
    struct nc_agreement a = {.prepared = right, .different = -1};

    /* a state that is not ready yet: its set-up will compare the keys */
    if (!state || state->phase != NC_PHASE_READY)
        goto fn_exit;
    if (comm->node_comm) {
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(comm, comm->node_comm, NC_PER_COMMUNICATOR,
                                                     &a);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (state->agreed && NC_NODES(comm) > 1) {
        /* the ranks of all nodes come here; a wrong key on one node is an error on all nodes */
        a.prepared = a.prepared && a.different < 0;
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(comm, comm, NC_PER_CALL, &a);
        MPIR_ERR_CHECK(mpi_errno);
    }
    MPIR_ERR_CHKANDJUMP(!a.prepared || a.different >= 0, mpi_errno, MPI_ERR_INFO_VALUE,
                        "**infoval");
    /* This also changes the lists of readers that the queue keeps of earlier operations. They are
     * not needed any more, because all ranks have met since (PROTOCOLS.md, section 4). */
    MPIDI_NUMACOLL_choose(state, comm);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
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
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent->node_comm, NC_PER_COMMUNICATOR,
                                                     &a);
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
    mpi_errno = set_up(&state, parent);
    MPIR_ERR_CHECK(mpi_errno);
    if (state->phase == NC_PHASE_READY && state->queue.operation >= state->grow_at) {
        mpi_errno = grow(state, parent);
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
