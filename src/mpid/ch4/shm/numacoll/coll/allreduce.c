/* MPI_Allreduce.
 *
 *   symmetric   every rank combines what all have, in the order of ranks, for itself
 *   sliced      of each window every rank combines a slice, and all gather the slices
 *   rb          reduce to rank 0, broadcast from there: by windows, the next one goes up while the last comes down
 *   rab         the same, but that on the highest level above the nodes all members come to the result */

#include "hier.h"

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
    struct nc_team all = nc_queue_everybody(&r->state->queue);
    bool unequal;
    int mpi_errno;

    stream_of(r, &r->mine, first, n, &typed, &mine);
    r->before = first;
    mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_ordered_node(MPIDI_NUMACOLL_move(r->state), &all, -1, &r->combiner,
                                                            &mine, range, &unequal));
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

/* ---- rb, rab ---- */

/* A call by windows. */
struct windows {
    struct nc_reduction *r;
    struct nc_hier *hier;       /* of a rank that speaks for its node; NULL: there is nothing above it, or another speaks */
    size_t count, most;         /* elements, of the message and of a window */
};

static size_t elements_of(const struct windows *c, uint64_t w)
{
    size_t first = w * c->most;

    return c->count - first < c->most ? c->count - first : c->most;
}

static char *place_of(const struct windows *c, uint64_t w)
{
    return (char *) c->r->result.buffer + (MPI_Aint) (w * c->most) * c->r->extent;
}

/* The windows are parts of the result: none is in the way of another. */
static int reduce_window(const struct windows *c, uint64_t w)
{
    struct nc_hier *x = c->hier;
    char *place = place_of(c, w);
    size_t n = elements_of(c, w);
    int mpi_errno;

    if (x)
        MPIDI_NUMACOLL_hier_expect(x, &x->up, w, place, n);
    mpi_errno = MPIDI_NUMACOLL_reduce_window(c->r, 0, w * c->most, n, place);
    if (x)
        MPIDI_NUMACOLL_hier_run(x, &x->up, w, place, n, false);
    return mpi_errno;
}

static int bcast_window(const struct windows *c, uint64_t w)
{
    const struct MPIDI_NUMACOLL_comm *state = c->r->state;
    struct nc_typed typed = MPIDI_NUMACOLL_elements(c->r, &c->r->result, w * c->most, elements_of(c, w));
    struct nc_hier *x = c->hier;
    struct nc_stream stream;
    size_t sent;
    int mpi_errno;

    if (x) {
        /* what comes down is written where this was sent up from */
        MPIDI_NUMACOLL_hier_settle(x, &x->up, w);
        MPIDI_NUMACOLL_hier_run(x, &x->down, w, typed.buffer, (size_t) typed.count, false);
    }
    if (state->size == 1)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_stream_init(&stream, &typed);
    mpi_errno = MPIDI_NUMACOLL_error(nc_bcast_node(&state->bcast[state->leaf + 1].bcast, 0, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

static int up_and_down(const struct windows *c)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t w = 0;

    do {
        MPIDI_NUMACOLL_keep_first(&mpi_errno, reduce_window(c, w));
        if (w > 0)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, bcast_window(c, w - 1));
        w++;
    } while (w * c->most < c->count);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, bcast_window(c, w - 1));
    return mpi_errno;
}

static int reduce_bcast(struct nc_reduction *r)
{
    struct windows c = {.r = r,.count = (size_t) r->mine.count,.most = window_elements(r) };

    return up_and_down(&c);
}

/* All elements plain, and the operation commutative. rab: of the highest groups the members exchange. */
static int across_nodes(struct nc_reduction *r, bool rab)
{
    size_t count = (size_t) r->mine.count, bytes = count * r->element;
    struct windows c = {.r = r,.count = count };
    struct nc_ways up, down, exchange;
    struct nc_hier x;
    int mpi_errno;

    MPIDI_NUMACOLL_ways(r->state, NC_REDUCE, bytes, r->element, &up);
    MPIDI_NUMACOLL_ways(r->state, NC_BCAST, bytes, r->element, &down);
    MPIDI_NUMACOLL_ways(r->state, NC_ALLREDUCE, bytes, r->element, &exchange);
    c.most = (rab && exchange.window < up.window ? exchange : up).window / r->element;
    if (r->state->rank > 0)
        return up_and_down(&c);
    c.hier = &x;
    MPIDI_NUMACOLL_hier_open(&x, r->state, 0, r->comm, r->errflag);
    MPIDI_NUMACOLL_hier_combine_by(&x, r);
    MPIDI_NUMACOLL_hier_up(&x, &up, rab);
    if (rab)
        MPIDI_NUMACOLL_hier_across(&x, &exchange);
    MPIDI_NUMACOLL_hier_down(&x, &down, rab);
    mpi_errno = up_and_down(&c);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_hier_close(&x));
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
               MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rb == 1 + (int) NC_ALLREDUCE_RB &&
               MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rab == 1 + (int) NC_ALLREDUCE_RAB,
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
    if (version == NC_ALLREDUCE_RAB)
        version = NC_ALLREDUCE_RB;
    return version == NC_ALLREDUCE_RB && !(r->commutative && r->plain) ? NC_ALLREDUCE_SYMMETRIC : version;
}

/* On several nodes, likewise. */
static enum nc_allreduce_version version_across(const struct nc_reduction *r)
{
    bool rb = r->state->reduce[r->state->leaf + 1].version == MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rb;

    return rb || !r->fits || !r->commutative || !r->plain ? NC_ALLREDUCE_RB : NC_ALLREDUCE_RAB;
}

static int allreduce(struct nc_reduction *r)
{
    static int (*const functions[]) (struct nc_reduction * r) = {
        [NC_ALLREDUCE_SYMMETRIC] = symmetric,[NC_ALLREDUCE_SLICED] = sliced,[NC_ALLREDUCE_RB] = reduce_bcast
    };
    bool across = MPIDI_NUMACOLL_is_across(r->comm);
    enum nc_allreduce_version version = across ? version_across(r) : r->fits ? version_of(r) : NC_ALLREDUCE_RB;

    MPIDI_NUMACOLL_count(r->state, NC_COLL_ALLREDUCE, 1 + (int) version, r->element * (size_t) r->mine.count);
    if (!r->fits || (across && !(r->commutative && r->plain)))
        return reduce_then_bcast(r);
    return across ? across_nodes(r, version == NC_ALLREDUCE_RAB) : functions[version] (r);
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
