/* MPI_Allreduce.
 *
 *   symmetric   every rank combines what all have, in the order of ranks, for itself
 *   sliced      of each window every rank combines a slice, and all gather the slices
 *   rb          reduce to rank 0, broadcast from there: by windows, the next one goes up while the last comes down */

#include "reduction.h"

/* Elements first .. first + n - 1 as a stream. `typed` must live as long. */
static void stream_of(const struct nc_reduction *r, const struct nc_typed *of, size_t first, size_t n, struct nc_typed *typed,
                      struct nc_stream *stream)
{
    *typed = MPIDI_NUMACOLL_elements(r, of, first, n);
    MPIDI_NUMACOLL_stream_init(stream, typed);
}

/* Of elements first .. first + n - 1, which every rank puts in its queue, the range, from there. */
static int combine_range(struct nc_reduction *r, size_t first, size_t n, const struct nc_range *range)
{
    struct nc_typed typed;
    struct nc_stream mine;
    bool unequal;
    int mpi_errno;

    stream_of(r, &r->mine, first, n, &typed, &mine);
    r->before = first;
    mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_ordered_node(MPIDI_NUMACOLL_move(r->state), -1, &r->combiner, &mine, range,
                                                            &unequal));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    r->before = 0;
    return mpi_errno;
}

static int symmetric(struct nc_reduction *r)
{
    struct nc_range all = {.first = 0,.count = (size_t) r->mine.count };

    return combine_range(r, 0, all.count, &all);
}

/* ---- sliced ---- */

static struct nc_range slice_of(size_t n, int ranks, int rank)
{
    size_t begin = n * (size_t) rank / (size_t) ranks, end = n * (size_t) (rank + 1) / (size_t) ranks;

    return (struct nc_range) {begin, end - begin};
}

static int gather_slices(struct nc_reduction *r, size_t first, size_t n)
{
    struct MPIDI_NUMACOLL_comm *state = r->state;
    struct nc_range mine = slice_of(n, state->size, state->rank);
    struct nc_typed typed;
    struct nc_stream stream;

    for (int i = 0; i < state->size; i++) {
        struct nc_range slice = slice_of(n, state->size, i);
        stream_of(r, &r->result, first + slice.first, slice.count, &state->typed[i], &state->stream[i]);
    }
    stream_of(r, &r->result, first + mine.first, mine.count, &typed, &stream);
    return MPIDI_NUMACOLL_error(nc_allgather_node(MPIDI_NUMACOLL_move(state), &state->groups, &stream, state->stream, state->sent));
}

/* Elements of a window: as much as the slots of a queue take, in whole fragments. */
static size_t window_elements(const struct nc_reduction *r)
{
    const struct nc_geometry *g = &r->state->queue.geometry;
    size_t n = (size_t) g->slots * g->slot_bytes / r->element;

    return n ? n : 1;
}

static int sliced(struct nc_reduction *r)
{
    size_t count = (size_t) r->mine.count, most = window_elements(r);
    int mpi_errno = MPI_SUCCESS;

    for (size_t first = 0; first < count; first += most) {
        size_t n = count - first < most ? count - first : most;
        struct nc_range slice = slice_of(n, r->state->size, r->state->rank);
        MPIDI_NUMACOLL_keep_first(&mpi_errno, combine_range(r, first, n, &slice));
        MPIDI_NUMACOLL_keep_first(&mpi_errno, gather_slices(r, first, n));
    }
    return mpi_errno;
}

/* ---- rb ---- */

static int reduce_window(struct nc_reduction *r, size_t first, size_t n)
{
    struct nc_typed typed;
    struct nc_stream mine;
    int mpi_errno;

    stream_of(r, &r->mine, first, n, &typed, &mine);
    r->before = first;
    mpi_errno = MPIDI_NUMACOLL_reduce_inside(r, 0, &mine);
    r->before = 0;
    return mpi_errno;
}

static int bcast_window(struct nc_reduction *r, size_t first, size_t n)
{
    struct nc_typed typed;
    struct nc_stream stream;
    size_t sent;
    int mpi_errno;

    stream_of(r, &r->result, first, n, &typed, &stream);
    mpi_errno = MPIDI_NUMACOLL_error(nc_bcast_node(&r->state->bcast[r->state->leaf + 1].bcast, 0, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

static int reduce_bcast(struct nc_reduction *r)
{
    size_t count = (size_t) r->mine.count, most = window_elements(r), down = 0;
    int mpi_errno = MPI_SUCCESS;

    for (size_t up = 0; up < count || up == 0; up += most) {
        MPIDI_NUMACOLL_keep_first(&mpi_errno, reduce_window(r, up, count - up < most ? count - up : most));
        if (up == 0)
            continue;
        MPIDI_NUMACOLL_keep_first(&mpi_errno, bcast_window(r, down, most));
        down += most;
    }
    MPIDI_NUMACOLL_keep_first(&mpi_errno, bcast_window(r, down, count - down));
    return mpi_errno;
}

/* Where windows do not go: all of it up, then all of it down. */
static int reduce_then_bcast(struct nc_reduction *r)
{
    int mpi_errno = MPIDI_NUMACOLL_reduce_to(r, 0, MPIR_ALLREDUCE_TAG);

    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_bcast_typed(r->state, &r->result, 0, r->comm, r->errflag));
    return mpi_errno;
}

/* ---- the call ---- */

_Static_assert(MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_symmetric == 1 + (int) NC_ALLREDUCE_SYMMETRIC &&
               MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_sliced == 1 + (int) NC_ALLREDUCE_SLICED &&
               MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rb == 1 + (int) NC_ALLREDUCE_RB,
               "cvars.yaml lists them as nc_select.h does, behind auto");

/* Inside a node, as the settings want it. All ranks come to the same, but for unequal lengths. */
static enum nc_allreduce_version version_of(const struct nc_reduction *r)
{
    const struct MPIDI_NUMACOLL_comm *state = r->state;
    int wanted = state->reduce[state->leaf + 1].version;
    struct nc_situation situation = {.ranks = state->size,.crowded = MPIDI_NUMACOLL_world.crowded,
        .numa_nodes = state->groups.levels > 1
    };
    enum nc_allreduce_version version = wanted == MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_auto ?
        nc_select_allreduce(&situation, r->element * (size_t) r->mine.count) : (enum nc_allreduce_version) (wanted - 1);

    /* slices of another NUMA node's ranks would not come */
    if (version == NC_ALLREDUCE_SLICED && state->groups.levels > 1)
        version = NC_ALLREDUCE_RB;
    return version == NC_ALLREDUCE_RB && !(r->commutative && r->plain) ? NC_ALLREDUCE_SYMMETRIC : version;
}

static int allreduce(struct nc_reduction *r)
{
    static int (*const functions[]) (struct nc_reduction * r) = {
        [NC_ALLREDUCE_SYMMETRIC] = symmetric,[NC_ALLREDUCE_SLICED] = sliced,[NC_ALLREDUCE_RB] = reduce_bcast
    };
    bool windows = !MPIDI_NUMACOLL_is_across(r->comm) && r->fits;
    enum nc_allreduce_version version = windows ? version_of(r) : NC_ALLREDUCE_RB;

    MPIDI_NUMACOLL_count(r->state, NC_COLL_ALLREDUCE, 1 + (int) version, r->element * (size_t) r->mine.count);
    return windows ? functions[version] (r) : reduce_then_bcast(r);
}

int MPIDI_NUMACOLL_allreduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype, MPI_Op op,
                             MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, sendbuf, recvbuf, true, count, datatype, op, comm, errflag);

    MPIDI_NUMACOLL_expect_result(&r);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, allreduce(&r));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}
