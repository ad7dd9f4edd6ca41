/* Makes the state of a communicator, gives it a larger segment, and makes its choices anew. See
 * state_make.h. The parts are made elsewhere: the segment in segment.c, the locations of the ranks
 * in location.c, the choices in choose.c; agree.c compares what all processes must have alike. */

#include "state_make.h"

#include "agree.h"
#include "answers.h"
#include "bells.h"
#include "choose.h"
#include "kept.h"
#include "location.h"
#include "nonblocking_segment.h"
#include "numacoll_waits.h"
#include "report.h"
#include "rest.h"
#include "settings.h"
#include "shared_buffers.h"
#include "single_copy.h"
#include "state_free.h"
#include "watch.h"
#include "windows.h"
#include "world.h"
#include "../core/nc_arena.h"
#include "../core/nc_model.h"

/* A communicator that has made so many operations on a node is worth a segment of full size. */
#define USED 16

/* After so many operations the ranks look again, at the latest, whether they should have a larger
 * segment. That takes as long as one of their operations takes, or a few. */
#define SELDOM 4096

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
    if (state->waiter.parking) {
        /* a counter of MPI_T: it goes on where a segment grows */
        uint64_t rings = state->parking.rings;

        nc_parking_init(&state->parking, base, state->bell, state->rank, state->size);
        state->parking.rings = rings;
    }
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
        MPIDI_NUMACOLL_kept_operations(*kept, a.operations);
    } else {
        a.prepared = allocate_with_queue(state, parent);
    }
    mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent->node_comm, NC_COMPARED_OF_THE_COMM,
                                                 &a);
    MPIR_ERR_CHECK(mpi_errno);
    if (a.keepers == NC_KEPT_BY_ALL && a.different < 0)
        goto fn_exit;
    MPIDI_NUMACOLL_kept_put_back(*kept, a.keepers != NC_KEPT_UNEQUALLY);
    *kept = NULL;
    if (a.keepers != NC_KEPT_BY_NONE && a.prepared && a.different < 0) {
        a = (struct nc_agreement){.prepared = state->memory || allocate_with_queue(state, parent)};
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent->node_comm,
                                                     NC_COMPARED_OF_THE_COMM, &a);
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

/* The slots that a communicator begins with. Where its processes make so many that they cannot keep
 * their segments, all but a few will be short-lived, and a full segment takes ten times as long to
 * make as a narrow one; those that are used, with long messages, grow. What the user has set
 * counts. Local rank 0 decides, whose geometry the segment gets. */
static struct nc_geometry first_geometry(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    bool set = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_FRAGMENT_SIZE) >= 0 ||
               MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_QUEUE_LENGTH) > 0 ||
               MPIDI_NUMACOLL_budget_bytes(parent) > 0;

    return set || !MPIDI_NUMACOLL_kept_was_full() ? state->full : nc_geometry_narrow(&state->full);
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
    state->full = wanted_geometry(parent, state->size, state->caches.l2);
    g = first_geometry(state, parent);
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
    state->smallest_slot = state->choice[0].transfer.largest_fragment;
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

/* All ranks of the node have ended all earlier operations when the new segment is made, and it
 * begins as the first did; the memory of the old one is there until the last rank has left it. */
int MPIDI_NUMACOLL_state_grow(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
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

int MPIDI_NUMACOLL_state_make(struct MPIDI_NUMACOLL_comm **at, MPIR_Comm *parent)
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
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(comm, comm->node_comm, NC_COMPARED_OF_THE_COMM,
                                                     &a);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (state->agreed && NC_NODES(comm) > 1) {
        /* the ranks of all nodes come here; a wrong key on one node is an error on all nodes */
        a.prepared = a.prepared && a.different < 0;
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(comm, comm, NC_COMPARED_OF_CALLS, &a);
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
