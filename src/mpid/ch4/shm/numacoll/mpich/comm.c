/* The life of a communicator's state, and the decision who serves a call.
 *
 * Everything here that decides is the same on all ranks of the communicator: it depends on its
 * kind, on how many calls it has seen, and on what was agreed. */

#include <unistd.h>

#include "numacoll.h"
#include "numacoll_mpir.h"
#include "../core/nc_model.h"

/* ---- hooks ---- */

void MPIDI_NUMACOLL_comm_pre_hook(MPIR_Comm *comm)
{
    MPIDI_POSIX_COMM(comm, numacoll) = NULL;
    MPIDI_POSIX_COMM(comm, numacoll_home) = NULL;
}

void MPIDI_NUMACOLL_comm_post_hook(MPIR_Comm *comm)
{
    if (comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && comm->node_comm)
        MPIDI_POSIX_COMM(comm->node_comm, numacoll_home) = comm;
}

void MPIDI_NUMACOLL_comm_free_hook(MPIR_Comm *comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    if (!state)
        return;
    MPIDI_NUMACOLL_counts_remove(state);
    MPIDI_NUMACOLL_segment_free(&state->segment);
    MPIDI_NUMACOLL_hierarchy_free(&state->all);
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

/* Bytes of a queue that QUEUE_BUDGET grants; 0: none is set. */
static uint64_t budget_bytes(MPIR_Comm *home)
{
    int budget = MPIDI_NUMACOLL_setting(home, -1, NC_VAR_QUEUE_BUDGET);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE),
         processors = sysconf(_SC_NPROCESSORS_CONF);

    if (budget >= 0)
        return (uint64_t) budget;
    return pages > 0 && page > 0 && processors > 0
               ? nc_model_budget((uint64_t) pages * (uint64_t) page, (uint64_t) processors) / 1024 *
                     1024
               : 0;
}

/* What the processes of a node share, as this communicator's settings say. */
static struct nc_geometry wanted_geometry(MPIR_Comm *home, int size)
{
    uint64_t budget = budget_bytes(home),
             f = (uint64_t) MPIDI_NUMACOLL_setting(home, -1, NC_VAR_FRAGMENT_SIZE);
    uint64_t s = (uint64_t) MPIDI_NUMACOLL_setting(home, -1, NC_VAR_QUEUE_LENGTH);

    if (budget) {
        struct nc_model_slots slots = nc_model_slots_of_queue(budget);
        f = slots.f;
        s = slots.s < 4096 ? slots.s : 4096;
    }
    return nc_geometry_make((uint32_t) size, (uint32_t) s,
                            (uint32_t) (f ? f : NC_LARGEST_SLOT_OF_RULE),
                            (uint32_t) MPIDI_NUMACOLL_setting(home, -1, NC_VAR_QUEUE_SETS));
}

_Static_assert(MPIR_CVAR_NUMACOLL_BCAST_TREE_flat == (int) NC_TREE_FLAT &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_kary == (int) NC_TREE_KARY &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_knomial == (int) NC_TREE_KNOMIAL &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_chain == (int) NC_TREE_CHAIN,
               "cvars.yaml lists them as nc_tree.h does");

/* The trees that the words of BCAST_GROUP and REDUCE_GROUP, in their order, are inside a node. */
static const struct nc_shape_tree trees[] = {{NC_TREE_FLAT, 0},  {NC_TREE_FLAT, 0},
                                             {NC_TREE_KARY, 0},  {NC_TREE_KNOMIAL, 0},
                                             {NC_TREE_CHAIN, 0}, {NC_TREE_FLAT, 0}};

void MPIDI_NUMACOLL_trees(enum nc_setting setting, int value, const struct nc_levels *levels,
                          const struct nc_shape_tree *word, struct nc_shape_tree *tree)
{
    struct nc_plan plan;

    MPIDI_NUMACOLL_plan(setting, value, &plan);
    for (int l = 0; l < levels->groups.levels; l++) {
        tree[l] = word[plan.algorithm[levels->name[l]]];
        if (tree[l].k == 0)
            tree[l].k = plan.degree[levels->name[l]];
    }
}

/* Largest fragment as a leaf wants it. Under a budget FRAGMENT_SIZE has not made the slots, and
 * bounds fragments only if a leaf says so. 0: by the rule. */
static uint32_t wanted_fragment(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, int leaf,
                                uint32_t slot)
{
    int f = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_FRAGMENT_SIZE);

    if (budget_bytes(home) && f == MPIDI_NUMACOLL_setting(home, -1, NC_VAR_FRAGMENT_SIZE))
        return slot;
    return (uint32_t) f;
}

/* Bcast as a leaf (-1: none) wants it. */
static void choose_bcast(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, int leaf, void *memory)
{
    struct nc_bcast_choice *c = &state->bcast[leaf + 1];
    uint32_t slot = state->size > 1 ? state->queue.geometry.slot_bytes : INT_MAX;
    uint32_t f = wanted_fragment(state, home, leaf, slot);
    int plan = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_BCAST_GROUP);
    struct nc_shape_tree inside[NC_ROUTE_LEVELS], notice;

    c->kind = (enum nc_tree_kind) MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_BCAST_TREE);
    notice.kind = c->kind;
    notice.k = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_BCAST_TREE_K);
    MPIDI_NUMACOLL_trees(NC_VAR_BCAST_GROUP, plan, &state->data, trees, inside);
    nc_route_make(&c->bcast.route, memory, &state->data.groups, inside, &notice, state->rank);
    memory = (char *) memory + nc_route_bytes(state->size, NC_ROUTE_LEVELS);
    nc_route_make(&c->below.route, memory, &state->below, inside, &notice, state->rank);
    c->bcast.transfer = (struct nc_transfer){.queue = &state->queue,
                                             .sqrt_rule = f == 0,
                                             .largest_fragment = f && f < slot ? f : slot,
                                             .cache_bytes = state->cache_bytes,
                                             .numa = state->numa,
                                             .ledger = &state->ledger,
                                             .flow = state->flow};
    c->below.transfer = c->bcast.transfer;
}

/* Reduce and Allreduce, likewise. */
static void choose_reduce(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, int leaf,
                          void *memory)
{
    struct nc_reduce_choice *c = &state->reduce[leaf + 1];
    int plan = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_REDUCE_GROUP);
    struct nc_shape_tree inside[NC_ROUTE_LEVELS];

    MPIDI_NUMACOLL_trees(NC_VAR_REDUCE_GROUP, plan, &state->data, trees, inside);
    nc_route_make(&c->route, memory, &state->data.groups, inside, NULL, state->rank);
    memory = (char *) memory + nc_route_bytes(state->size, NC_ROUTE_LEVELS);
    nc_route_make(&c->below, memory, &state->below, inside, NULL, state->rank);
    c->version = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_ALLREDUCE_VERSION);
}

/* Reduce, Bcast and Allreduce above the node, likewise. */
static void choose_across(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, int leaf)
{
    static const enum nc_setting plans[NC_DIRECTIONS] = {[NC_REDUCE] = NC_VAR_REDUCE_GROUP,
                                                         [NC_BCAST] = NC_VAR_BCAST_GROUP,
                                                         [NC_ALLREDUCE] = NC_VAR_ALLREDUCE_GROUP};
    struct nc_across_choice *c = &state->across[leaf + 1];

    for (int i = 0; i < NC_DIRECTIONS; i++)
        MPIDI_NUMACOLL_plan(plans[i], MPIDI_NUMACOLL_setting(home, leaf, plans[i]), &c->plan[i]);
    nc_links_parse(&c->links,
                   MPIDI_NUMACOLL_text(MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_LINKS)));
    c->window = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_WINDOW);
}

/* The parts of state->memory, bytes from its start. The queue is last: only its size depends on the
 * geometry, which may shrink after the memory is made. */
struct parts {
    size_t bcast, barrier, reduce, across, trees, reduce_trees, tree, shapes, shape, units, numa;
    size_t region, placement, flow, stream, typed, sent, list, column, topo, groups, inside, data,
        queue;
};

static size_t up8(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* Where the processes are, for the levels and groups. */
static struct nc_locations locations_of(const struct MPIDI_NUMACOLL_comm *state)
{
    return (struct nc_locations){.ranks = state->size, .columns = NC_LEVELS, .unit = state->units};
}

static struct parts parts_of(const struct MPIDI_NUMACOLL_comm *state)
{
    size_t choices = (size_t) state->leaves + 1;
    struct nc_locations locations = locations_of(state);
    struct parts p = {.bcast = 0};

    /* of all levels, and of those below the highest */
    p.tree = 2 * nc_route_bytes(state->size, NC_ROUTE_LEVELS);
    p.shape = up8(MPIDI_NUMACOLL_barrier_bytes(state));
    p.barrier = choices * sizeof(struct nc_bcast_choice);
    p.reduce = p.barrier + choices * sizeof(struct nc_barrier_choice);
    p.across = p.reduce + choices * sizeof(struct nc_reduce_choice);
    p.topo = p.across + choices * sizeof(struct nc_across_choice);
    p.groups = p.topo + up8(nc_topo_bytes(&locations));
    p.inside = p.groups + up8(nc_groups_most_bytes(state->size, 2));
    p.data = p.inside + up8(nc_groups_most_bytes(state->size, NC_ROUTE_LEVELS));
    p.units = p.data + up8(nc_groups_most_bytes(state->size, NC_ROUTE_LEVELS));
    p.numa = p.units + up8(MPIDI_NUMACOLL_locate_bytes(state->size));
    p.region = p.numa + up8((size_t) state->size * sizeof(int));
    p.placement = p.region + (size_t) state->size * sizeof(char *);
    p.flow = p.placement + up8((size_t) state->size * sizeof(struct nc_placement));
    p.stream = p.flow + up8((size_t) state->size * sizeof(struct nc_flow));
    p.typed = p.stream + up8((size_t) state->size * sizeof(struct nc_stream));
    p.sent = p.typed + up8((size_t) state->size * sizeof(struct nc_typed));
    p.list = p.sent + (size_t) state->size * sizeof(size_t);
    p.column = p.list + (size_t) state->size * sizeof(int);
    p.trees = p.column + (size_t) state->size * sizeof(int);
    p.reduce_trees = p.trees + choices * p.tree;
    p.shapes = up8(p.reduce_trees + choices * p.tree);
    p.queue = p.shapes + choices * p.shape;
    return p;
}

static void point_into_memory(struct MPIDI_NUMACOLL_comm *state, const struct parts *p)
{
    state->bcast = (struct nc_bcast_choice *) ((char *) state->memory + p->bcast);
    state->barrier = (struct nc_barrier_choice *) ((char *) state->memory + p->barrier);
    state->reduce = (struct nc_reduce_choice *) ((char *) state->memory + p->reduce);
    state->across = (struct nc_across_choice *) ((char *) state->memory + p->across);
    state->units = (int *) ((char *) state->memory + p->units);
    state->numa = (int *) ((char *) state->memory + p->numa);
    state->region = (char **) ((char *) state->memory + p->region);
    state->flow = (struct nc_flow *) ((char *) state->memory + p->flow);
    state->stream = (struct nc_stream *) ((char *) state->memory + p->stream);
    state->typed = (struct nc_typed *) ((char *) state->memory + p->typed);
    state->sent = (size_t *) ((char *) state->memory + p->sent);
    state->list = (int *) ((char *) state->memory + p->list);
    state->placement = (struct nc_placement *) ((char *) state->memory + p->placement);
}

/* The NUMA nodes as rows of equal length, if they are; memory for the ranks of a column. */
static void make_teams(struct MPIDI_NUMACOLL_comm *state, int *memory)
{
    struct nc_group near = nc_group_at(&state->groups, 0, state->rank, 0);
    int size = nc_groups_column(&state->groups, state->rank, memory);

    state->row = (struct nc_team){.rank = near.member, .size = near.size, .index = near.index};
    state->column = (struct nc_team){.rank = memory, .size = size, .index = near.number};
}

/* Groups by a set of levels; at: where their memory is. */
static struct nc_levels group_by(struct MPIDI_NUMACOLL_comm *state, unsigned levels,
                                 const struct parts *p, size_t at)
{
    struct nc_locations locations = locations_of(state);
    struct nc_levels result;
    struct nc_topo topo;

    nc_topo_make(&topo, (char *) state->memory + p->topo, &locations, levels);
    nc_groups_make(&result.groups, (char *) state->memory + at, &topo);
    memcpy(result.name, topo.name, sizeof result.name);
    return result;
}

/* Those who are in the highest group that data goes by, each for its group below. */
static void find_heads(struct MPIDI_NUMACOLL_comm *state)
{
    int top = state->data.groups.levels - 1;
    struct nc_group highest = nc_group_at(&state->data.groups, top, state->rank, 0);

    state->below = state->data.groups;
    state->below.levels = top;
    state->head = top > 0 ? nc_group_leader_of(&state->below, top - 1, state->rank, 0)
                          : state->rank;
    state->heads = (struct nc_team){
        .rank = highest.member, .size = highest.size, .index = highest.index};
}

/* NUMA nodes, and groups by them and by other levels, once the units are known. */
static void group(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, const struct parts *p)
{
    unsigned levels = (unsigned) MPIDI_NUMACOLL_setting(home, -1, NC_VAR_LEVELS);

    state->unbound = false;
    for (int i = 0; i < state->size; i++) {
        state->numa[i] = state->units[i * NC_LEVELS + NC_LEVEL_NUMA];
        state->unbound = state->unbound || state->numa[i] < 0;
    }
    if (state->unbound)
        memset(state->numa, 0, (size_t) state->size * sizeof(int));
    state->groups = group_by(state, levels & 1u << NC_LEVEL_NUMA, p, p->groups).groups;
    make_teams(state, (int *) ((char *) state->memory + p->column));
    state->inside = group_by(state, levels & NC_LEVELS_INSIDE, p, p->inside);
    state->data = group_by(state, nc_route_by(levels), p, p->data);
    find_heads(state);
}

static void choose(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, const struct parts *p)
{
    char *memory = state->memory;

    for (int leaf = -1; leaf < state->leaves; leaf++) {
        choose_bcast(state, home, leaf, memory + p->trees + (size_t) (leaf + 1) * p->tree);
        choose_reduce(state, home, leaf, memory + p->reduce_trees + (size_t) (leaf + 1) * p->tree);
        choose_across(state, home, leaf);
        MPIDI_NUMACOLL_barrier_choose(state, home, leaf,
                                      memory + p->shapes + (size_t) (leaf + 1) * p->shape);
    }
}

/* Once the segment is there; it may have fewer slots than the memory was made for. */
static void make_private_parts(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home,
                               const struct parts *p, const struct nc_geometry *g,
                               const size_t *offset)
{
    for (int i = 0; i < state->size; i++)
        state->region[i] = (char *) state->segment.base + offset[i];
    state->waiter.progress = progress;
    state->waiter.yield = MPIDI_NUMACOLL_world.yield;
    state->waiter.ranks = (unsigned) state->size;
    nc_queue_init(&state->queue, state->region, g, state->rank, (char *) state->memory + p->queue,
                  &state->waiter);
    choose(state, home, p);
}

/* ---- agreement ---- */

enum { FILES = MPIR_NUMACOLL_CSEL_POSIX + 1 };

/* What compare_settings may find: a setting, or a selection file, numbered behind them. */
static const char *name_of(int different)
{
    return different < NC_SETTING_COUNT
               ? MPIDI_NUMACOLL_variables[different].name
               : MPIDI_NUMACOLL_file_variable(different - NC_SETTING_COUNT);
}

/* What must be the same on all processes of comm: the selection files, and of each setting that may
 * be made per `scope`, or more often, its value, and whether it is an info key. And `prepared`,
 * which all must be. Collective; *different: one that differs, or -1. */
static int compare_settings(MPIR_Comm *home, MPIR_Comm *comm, enum nc_scope scope, bool prepared,
                            bool *all_prepared, int *different)
{
    enum { VALUES = 2 * NC_SETTING_COUNT + FILES + 1 };
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    int both[2 * VALUES], *highest = both, *lowest_negative = both + VALUES;

    for (int i = 0; i < NC_SETTING_COUNT; i++) {
        bool compared = MPIDI_NUMACOLL_variables[i].scope >= scope;
        both[2 * i] = compared ? MPIDI_NUMACOLL_comparable(i, MPIDI_NUMACOLL_setting(home, -1, i))
                               : 0;
        both[2 * i + 1] = compared && MPIDI_NUMACOLL_setting_is_info(home, i);
    }
    /* -1 stands for what each process's system says; private memory is made for it */
    if (both[2 * NC_VAR_QUEUE_BUDGET] < 0)
        both[2 * NC_VAR_QUEUE_BUDGET] = -(int) (budget_bytes(home) / 1024);
    for (int f = 0; f < FILES; f++)
        both[2 * NC_SETTING_COUNT + f] = (int) (MPIDI_NUMACOLL_file_checksum(f) >> 1);
    both[VALUES - 1] = prepared;
    for (int i = 0; i < VALUES; i++)
        lowest_negative[i] = -highest[i];
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, both, 2 * VALUES, MPI_INT,
                                                        MPI_MAX, comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *all_prepared = -lowest_negative[VALUES - 1];
    *different = -1;
    for (int i = VALUES - 2; i >= 0; i--) {
        if (highest[i] != -lowest_negative[i])
            *different = i < 2 * NC_SETTING_COUNT ? i / 2 : i - NC_SETTING_COUNT;
    }
    if (*all_prepared && *different >= 0 && comm->rank == 0) {
        fprintf(stderr,
                "numacoll: communicator of %d ranks: %s: must be the same on all ranks, as a "
                "variable and as an "
                "info key, a file with the same text\n",
                home->local_size, name_of(*different));
        fflush(stderr);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int locate(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home)
{
    const char *mapping = MPIDI_NUMACOLL_text(MPIDI_NUMACOLL_setting(home, -1, NC_VAR_MAPPING));

    return MPIDI_NUMACOLL_locate(home->node_comm, mapping, state->units, &state->cache_bytes);
}

/* For the report of local rank 0. */
static int gather_placements(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *node_comm)
{
    NC_ERRFLAG_LOCAL(errflag);

    MPL_COMPILE_TIME_ASSERT(sizeof(struct nc_placement) == 3 * sizeof(int));
    return MPIR_Gather_intra_binomial(&state->segment.placement, 3, MPI_INT, state->placement, 3,
                                      MPI_INT, 0, node_comm, errflag);
}

/* Collective over the node's processes: everything up to READY, or the reason why not, alike on
 * all. */
static int make_segment(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home)
{
    int mpi_errno = MPI_SUCCESS, different;
    MPIR_Comm *node_comm = home->node_comm;
    struct nc_geometry g = wanted_geometry(home, state->size);
    struct parts parts = parts_of(state);
    struct nc_wanted wanted;
    size_t *offset = MPL_malloc((size_t) state->size * sizeof *offset, MPL_MEM_COLL);
    bool prepared;

    state->memory = MPL_malloc(parts.queue + nc_queue_private_bytes(&g), MPL_MEM_COLL);
    mpi_errno = compare_settings(home, node_comm, NC_PER_COMMUNICATOR, state->memory && offset,
                                 &prepared, &different);
    MPIR_ERR_CHECK(mpi_errno);
    state->reason = different >= 0 ? NC_REASON_SETTINGS
                    : prepared     ? NC_REASON_NONE
                                   : NC_REASON_PAGES;
    if (state->reason != NC_REASON_NONE)
        goto fn_exit;
    point_into_memory(state, &parts);
    mpi_errno = locate(state, home);
    MPIR_ERR_CHECK(mpi_errno);
    group(state, home, &parts);
    wanted = (struct nc_wanted){.placement = MPIDI_NUMACOLL_setting(home, -1, NC_VAR_PLACEMENT),
                                .huge_pages = MPIDI_NUMACOLL_setting(home, -1, NC_VAR_HUGE_PAGES),
                                .numa = state->numa};
    mpi_errno = MPIDI_NUMACOLL_segment_create(node_comm, &g, &wanted, &state->segment, offset,
                                              &state->reason);
    MPIR_ERR_CHECK(mpi_errno);
    if (state->reason == NC_REASON_NONE)
        make_private_parts(state, home, &parts, &g, offset);
    if (state->reason == NC_REASON_NONE)
        mpi_errno = gather_placements(state, node_comm);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(offset);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* A process alone on its node copies nothing, but its calls go by the same settings and are
 * counted. */
static int make_without_segment(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home)
{
    int mpi_errno = MPI_SUCCESS;
    struct parts parts = parts_of(state);

    state->memory = MPL_malloc(parts.queue, MPL_MEM_COLL);
    state->reason = state->memory ? NC_REASON_NONE : NC_REASON_PAGES;
    if (state->memory) {
        point_into_memory(state, &parts);
        mpi_errno = locate(state, home);
        MPIR_ERR_CHECK(mpi_errno);
        group(state, home, &parts);
        choose(state, home, &parts);
    }

fn_fail:
    return mpi_errno;
}

/* Collective over the node's processes, once. */
static int set_up(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home)
{
    int mpi_errno = MPI_SUCCESS;

    if (state->phase != NC_PHASE_NONE)
        goto fn_exit;
    state->phase = NC_PHASE_INITIALISING;
    state->rank = home->node_comm ? home->node_comm->rank : 0;
    state->size = home->node_comm ? home->node_comm->local_size : 1;
    state->leaves = MPIDI_NUMACOLL_leaf_count();
    state->cache_bytes = MPIDI_NUMACOLL_world.cache_bytes;
    mpi_errno = home->node_comm ? make_segment(state, home) : make_without_segment(state, home);
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
    struct parts parts;
    bool all_right = right;

    /* before it is set up, that will compare them */
    if (!state || state->phase != NC_PHASE_READY)
        goto fn_exit;
    if (comm->node_comm) {
        mpi_errno = compare_settings(comm, comm->node_comm, NC_PER_COMMUNICATOR, right, &all_right,
                                     &different);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (state->agreed && comm->node_count > 1) {
        /* all nodes are ready, and come here; what is wrong on one is for all */
        mpi_errno = compare_settings(comm, comm, NC_PER_CALL, all_right && different < 0,
                                     &all_right, &different);
        MPIR_ERR_CHECK(mpi_errno);
    }
    MPIR_ERR_CHKANDJUMP(!all_right || different >= 0, mpi_errno, MPI_ERR_INFO_VALUE, "**infoval");
    parts = parts_of(state);
    /* the lists of readers change, too; but all ranks have met since they last read: PROTOCOLS.md,
     * 4 */
    choose(state, comm, &parts);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Collective over the communicator: is every process ready? The worst reason wins, alike for all.
 */
static int ask_all_nodes(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    int most[2] = {(int) state->reason, 0}, different = -1;
    bool prepared;

    if (home->node_count > 1) {
        /* trees and windows between nodes follow from them */
        mpi_errno = compare_settings(home, home, NC_PER_CALL, true, &prepared, &different);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (different >= 0 && state->reason == NC_REASON_NONE)
        state->reason = NC_REASON_SETTINGS;
    if (state->reason == NC_REASON_NONE) {
        most[0] = MPIDI_NUMACOLL_hierarchy_reserve(&state->all, home) ? NC_REASON_NONE
                                                                      : NC_REASON_PAGES;
        most[1] = -(int) state->bcast[0].bcast.transfer.largest_fragment;
    }
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX,
                                                        home, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    state->asked = true;
    state->reason = (enum nc_reason) most[0];
    state->smallest_slot = (size_t) -most[1];
    if (state->reason == NC_REASON_NONE) {
        mpi_errno = MPIDI_NUMACOLL_hierarchy_make(
            &state->all, state->units + state->rank * NC_LEVELS,
            (unsigned) MPIDI_NUMACOLL_setting(home, -1, NC_VAR_LEVELS), home);
        MPIR_ERR_CHECK(mpi_errno);
        state->agreed = true;
    }
    MPIDI_NUMACOLL_report_setup(state, home);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* ---- the decision ---- */

/* Whether its processes know each other's nodes. MPICH gives no hierarchy to a communicator that
 * has every process on a node of its own, but the tables of one. */
static bool knows_nodes(const MPIR_Comm *comm)
{
    if (comm->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__FLAT)
        return comm->internode_table && comm->intranode_table &&
               comm->node_count == comm->local_size;
    return comm->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__PARENT;
}

/* The communicator that has the state this one's calls use; NULL for those that are not ours:
 * intercommunicators, leaders of nodes, and single processes. */
static MPIR_Comm *home_of(MPIR_Comm *comm)
{
    MPIR_Comm *home = MPIDI_POSIX_COMM(comm, numacoll_home);

    if (home)
        return home;
    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM || comm->local_size == 1 || !knows_nodes(comm))
        return NULL;
    return comm;
}

static struct MPIDI_NUMACOLL_comm *new_state(MPIR_Comm *home)
{
    struct MPIDI_NUMACOLL_comm *state = MPL_calloc(1, sizeof *state, MPL_MEM_COLL);

    if (state) {
        MPIDI_POSIX_COMM(home, numacoll) = state;
        MPIDI_NUMACOLL_counts_add(state);
    }
    return state;
}

/* Whether this is the broadcast MPICH does itself when it makes a communicator, which has no number
 * before it. (Those it makes at MPI_Init, and those of doubtful origin, it does not broadcast on.)
 */
static bool is_at_commit(const MPIR_Comm *home)
{
    return home->seq == 0 && !HANDLE_IS_BUILTIN(home->handle) && !home->tainted;
}

/* That broadcast is a communicator's first call, whether it came here or not. */
static int count_call(struct MPIDI_NUMACOLL_comm *state, const MPIR_Comm *home, bool on_home)
{
    int *calls = on_home ? &state->calls : &state->node_calls;

    if (*calls == 0 && !is_at_commit(home))
        *calls = 1;
    if (*calls < MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER))
        ++*calls;
    return *calls;
}

static int fall_back(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm, enum nc_coll coll,
                     bool inner)
{
    int mpi_errno = MPI_SUCCESS;
    enum nc_reason reason = state->reason;
    bool error = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_error;
    bool print = MPIR_CVAR_COLLECTIVE_FALLBACK == MPIR_CVAR_COLLECTIVE_FALLBACK_print;

    if (!inner)
        state->counts.fell_back[coll][reason]++;
    if ((error || print) && comm->rank == 0 && !(state->announced & 1u << reason)) {
        fprintf(stderr, "numacoll: %s falls back on a communicator of %d ranks: %s\n",
                MPIDI_NUMACOLL_coll_name(coll), comm->local_size,
                MPIDI_NUMACOLL_reason_name(reason));
        fflush(stderr);
    }
    if (error && !(state->announced & 1u << reason))
        MPIDI_NUMACOLL_let_rank_0_speak_first(comm->rank);
    state->announced |= 1u << reason;
    MPIR_ERR_CHKANDJUMP(error, mpi_errno, MPI_ERR_OTHER, "**collalgo");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Everything but the fast path of a ready communicator. */
static int enter_slowly(MPIR_Comm *comm, MPIR_Comm *home, enum nc_coll coll, bool direct,
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
    if (count_call(state, home, on_home) < MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER)) {
        state->counts.deferred[coll] += !inner;
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

int MPIDI_NUMACOLL_enter(MPIR_Comm *comm, enum nc_coll coll, bool direct, int leaf,
                         struct MPIDI_NUMACOLL_comm **serving)
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
    if (*serving) {
        (*serving)->leaf = leaf;
        (*serving)->inner_call = direct && MPIDI_POSIX_COMM(comm, numacoll_home);
    }
    return mpi_errno;
}
