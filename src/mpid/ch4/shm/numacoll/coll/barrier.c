/* MPI_Barrier: inside a node by one of the barriers of shm/, across nodes by messages among their
 * leaders.
 *
 *   1  on each node, all arrive
 *   2  the leaders (local ranks 0), by dissemination
 *   3  on each node, all are released */

#include "across.h"

/* ---- how, by the settings ---- */

_Static_assert(MPIR_CVAR_NUMACOLL_BARRIER_central == 1 + (int) NC_BARRIER_CENTRAL &&
                   MPIR_CVAR_NUMACOLL_BARRIER_flat == 1 + (int) NC_BARRIER_FLAT &&
                   MPIR_CVAR_NUMACOLL_BARRIER_flat_gr == 1 + (int) NC_BARRIER_FLAT_GR &&
                   MPIR_CVAR_NUMACOLL_BARRIER_combining == 1 + (int) NC_BARRIER_COMBINING &&
                   MPIR_CVAR_NUMACOLL_BARRIER_mcs == 1 + (int) NC_BARRIER_MCS &&
                   MPIR_CVAR_NUMACOLL_BARRIER_tournament == 1 + (int) NC_BARRIER_TOURNAMENT &&
                   MPIR_CVAR_NUMACOLL_BARRIER_dissemination == 1 + (int) NC_BARRIER_DISSEMINATION &&
                   MPIR_CVAR_NUMACOLL_BARRIER_hierarchical == 1 + (int) NC_BARRIER_HIERARCHICAL,
               "cvars.yaml lists them as nc_select.h does, behind auto");

/* The trees that BARRIER_GROUP names, in its order. */
static const struct nc_shape_tree trees[] = {
    {NC_TREE_FLAT, 2}, {NC_TREE_KARY, 2}, {NC_TREE_KARY, 4}, {NC_TREE_KNOMIAL, 2}};

static enum nc_barrier_kind kind_of(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home,
                                    int leaf)
{
    int value = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_BARRIER);
    struct nc_situation situation = {
        /* not whether I yield: all ranks of a node must come to the same */
        .ranks = state->size,
        .crowded = MPIDI_NUMACOLL_world.crowded,
        .numa_nodes = state->groups.levels > 1};

    return value == MPIR_CVAR_NUMACOLL_BARRIER_auto ? nc_select_barrier(&situation)
                                                    : (enum nc_barrier_kind)(value - 1);
}

size_t MPIDI_NUMACOLL_barrier_bytes(const struct MPIDI_NUMACOLL_comm *state)
{
    return nc_barrier_private_bytes(state->size);
}

void MPIDI_NUMACOLL_barrier_choose(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *home, int leaf,
                                   void *memory)
{
    struct nc_barrier_choice *c = &state->barrier[leaf + 1];
    struct nc_shape_tree inside[NC_ROUTE_LEVELS];
    struct nc_barrier_levels levels = {.groups = &state->inside.groups, .inside = inside};
    int plan = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_BARRIER_GROUP);

    MPIDI_NUMACOLL_trees(NC_VAR_BARRIER_GROUP, plan, &state->inside, trees, inside);
    levels.flag = MPIDI_NUMACOLL_setting(home, leaf, NC_VAR_BARRIER_RELEASE) ==
                  MPIR_CVAR_NUMACOLL_BARRIER_RELEASE_flag;
    c->kind = kind_of(state, home, leaf);
    c->barrier = (struct nc_barrier){.region = state->region,
                                     .offset = state->queue.layout.flags,
                                     .rank = state->rank,
                                     .ranks = state->size,
                                     .waiter = &state->waiter};
    nc_barrier_shape(&c->barrier, memory, &nc_barrier_algorithms[c->kind], &levels);
}

/* ---- the call ---- */

struct across {
    struct MPIDI_NUMACOLL_comm *state;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
};

/* 2: in the order of the switches, so that in the first rounds they are those of one switch. After
 * an error it goes on, for the others wait; the first one is returned. */
static int leaders(void *context)
{
    int mpi_errno = MPI_SUCCESS, next;
    const struct across *a = context;
    const struct nc_hierarchy *all = &a->state->all;

    for (int distance = 1; distance < all->nodes; distance *= 2) {
        int to = nc_hierarchy_leader(all, (all->node + distance) % all->nodes);
        int from = nc_hierarchy_leader(all, nc_hierarchy_back(all, distance));

        a->state->counts.messages++;
        next = MPIC_Sendrecv(NULL, 0, MPI_BYTE, to, MPIR_BARRIER_TAG, NULL, 0, MPI_BYTE, from,
                             MPIR_BARRIER_TAG, a->comm, MPI_STATUS_IGNORE, a->errflag);
        if (mpi_errno == MPI_SUCCESS)
            mpi_errno = next;
    }
    return mpi_errno;
}

int MPIDI_NUMACOLL_barrier(MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    struct nc_barrier_choice *c = &state->barrier[state->leaf + 1];
    struct across across = {.state = state, .comm = comm, .errflag = errflag};
    bool several = MPIDI_NUMACOLL_is_across(comm);

    MPIDI_NUMACOLL_count(state, NC_COLL_BARRIER, 1 + (int) c->kind, 0);
    c->barrier.between = several ? leaders : NULL;
    c->barrier.context = &across;
    if (state->size > 1)
        mpi_errno = nc_barrier_algorithms[c->kind].function(&c->barrier,
                                                            state->queue.operation + 1);
    else if (several)
        mpi_errno = leaders(&across);
    if (state->size > 1)
        nc_queue_end(&state->queue);
    return mpi_errno;
}
