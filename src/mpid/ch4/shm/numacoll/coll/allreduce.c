/* MPI_Allreduce. entry.c calls the body on every rank. It uses shm/nc_reduce.h, nc_gather.h and
 * nc_bcast.h inside a node, above.h between nodes. The versions (ALLREDUCE_VERSION):
 *
 *   symmetric   every rank combines the operands of all ranks, in the order of ranks, for itself
 *   sliced      each rank combines one slice of each chunk, then all gather the slices; on several
 *               NUMA nodes in two steps: first the ranks of a NUMA node (row), then those with the
 *               same index on each NUMA node (column)
 *   rb          reduce to rank 0, broadcast from rank 0; by chunks: chunk c + 1 goes up before
 *               chunk c comes down
 *   rab         reduce up to the highest level, on which all members combine; broadcast below it
 *
 * With SHARED_BUFFERS long messages are sliced without copying them first, if the buffers of all
 * ranks are shared ones (shm/nc_reduce_shared.h).
 *
 * On several nodes there are rb and rab only. Elements larger than a slot, and on several nodes
 * operations that do not commute and elements that are not plain (reduction.h), are reduced as a
 * whole and then broadcast. */

#include "above.h"
#include "bcast.h"
#include "bodies.h"
#include "reduce.h"
#include "../mpich/choose.h"

/* Elements first .. first + n - 1 of `of` as a stream. *typed must live as long as the stream. */
static void stream_of(const struct nc_reduction *r, const struct nc_typed *of, size_t first,
                      size_t n, struct nc_typed *typed, struct nc_stream *stream)
{
    *typed = MPIDI_NUMACOLL_elements(r, of, first, n);
    MPIDI_NUMACOLL_stream_init(stream, typed);
}

/* The address of element `first` of the result. */
static char *place_of(const struct nc_reduction *r, size_t first)
{
    return (char *) r->result.buffer + (MPI_Aint) first * r->extent;
}

/* One operation of the node: every rank of the team writes the elements `whole` of `of` (its
 * operand, or its result so far) into shared memory, and combines the elements `part` of all ranks
 * of the team into its result. Both ranges count from the beginning of the message. *mpi_errno: of
 * the operations before, on which `of` depends; after an error the rank sends nothing, which the
 * others find too short, so that they have an error, too. */
static void combine(struct nc_reduction *r, const struct nc_team *team, const struct nc_typed *of,
                    const struct nc_range *whole, const struct nc_range *part, int *mpi_errno)
{
    struct nc_range from_there = {.first = part->first - whole->first, .count = part->count};
    struct nc_transfer *transfer = MPIDI_NUMACOLL_transfer(r->call);
    struct nc_typed typed;
    struct nc_stream mine;
    bool unequal;
    int error;

    stream_of(r, of, whole->first, whole->count, &typed, &mine);
    if (*mpi_errno)
        mine.length = 0;
    MPIDI_NUMACOLL_operands_from(r, of, whole->first, place_of(r, whole->first));
    error = nc_reduce_ordered_node(transfer, team, -1, &r->kernel, &mine, &from_there, &unequal);
    nc_keep_first(mpi_errno, MPIDI_NUMACOLL_error(error));
    nc_keep_first(mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
}

static int symmetric(struct nc_reduction *r)
{
    struct nc_range all = {.first = 0, .count = (size_t) r->mine.count};
    struct nc_team everybody = nc_queue_everybody(&r->call->state->queue);
    int mpi_errno = MPI_SUCCESS;

    MPIDI_NUMACOLL_watch_way(r->call, NC_ALLREDUCE_SYMMETRIC, 1);
    combine(r, &everybody, &r->mine, &all, &all, &mpi_errno);
    return mpi_errno;
}

/* ---- sliced ---- */

/* An allgather of the team: every rank gets the slices of all ranks of the team into its result.
 * *mpi_errno: as in combine. */
static void gather_slices(struct nc_reduction *r, const struct nc_team *team,
                          const struct nc_range *whole, int *mpi_errno)
{
    struct MPIDI_NUMACOLL_comm *state = r->call->state;
    struct nc_range mine = nc_range_slice(whole, team, team->index);
    struct nc_typed typed;
    struct nc_stream stream;
    int error;

    for (int i = 0; i < team->size; i++) {
        struct nc_range slice = nc_range_slice(whole, team, i);
        int rank = team->rank[i];
        stream_of(r, &r->result, slice.first, slice.count, &state->typed[rank],
                  &state->stream[rank]);
    }
    state->stream[r->call->state->rank].length = 0; /* is there */
    stream_of(r, &r->result, mine.first, mine.count, &typed, &stream);
    if (*mpi_errno)
        stream.length = 0;
    error = nc_allgather_team(MPIDI_NUMACOLL_transfer(r->call), team, &stream, state->stream,
                              state->sent);
    nc_keep_first(mpi_errno, MPIDI_NUMACOLL_error(error));
    for (int i = 0; i < team->size; i++) {
        int rank = team->rank[i];
        if (i != team->index)
            nc_keep_first(mpi_errno,
                          MPIDI_NUMACOLL_compare_lengths(state->sent[rank], &state->stream[rank]));
    }
}

/* One chunk: steps A1 to A4 of PROTOCOLS.md, section 3.5. If the rows or the columns have one rank,
 * all ranks leave out their steps. */
static int slice_chunk(struct nc_reduction *r, const struct nc_range *chunk)
{
    const struct nc_team *row = &r->call->state->row, *column = &r->call->state->column;
    struct nc_range slice = nc_range_slice(chunk, row, row->index);
    struct nc_range mine = nc_range_slice(&slice, column, column->index);
    /* A2 reads and writes the result; PROTOCOLS.md, section 3.5, says why this is safe */
    const struct nc_typed *partial = row->size > 1 ? &r->result : &r->mine;
    int mpi_errno = MPI_SUCCESS;

    if (row->size > 1)
        combine(r, row, &r->mine, chunk, &slice, &mpi_errno);
    if (column->size > 1) {
        combine(r, column, partial, &slice, &mine, &mpi_errno);
        gather_slices(r, column, &slice, &mpi_errno);
    }
    if (row->size > 1)
        gather_slices(r, row, chunk, &mpi_errno);
    return mpi_errno;
}

static int sliced(struct nc_reduction *r)
{
    size_t count = (size_t) r->mine.count, most = MPIDI_NUMACOLL_ring_elements(r);
    int mpi_errno = MPI_SUCCESS;

    MPIDI_NUMACOLL_watch_way(r->call, NC_ALLREDUCE_SLICED, count / most + (count % most > 0));
    for (size_t first = 0; first < count; first += most) {
        size_t n = MPL_MIN(count - first, most);
        struct nc_range chunk = {.first = first, .count = n};
        nc_keep_first(&mpi_errno, slice_chunk(r, &chunk));
    }
    return mpi_errno;
}

/* ---- rb, rab ---- */

/* A call by chunks. */
struct chunks {
    struct nc_reduction *r;
    size_t count, most;     /* elements, of the message and of a chunk */
    int leader;             /* local rank to which chunks are reduced, and which broadcasts them */
    struct nc_route *bcast; /* how they are broadcast */
    const struct nc_team *leaders; /* rab inside a node: they combine; NULL: one leader only */
    struct nc_above *above;        /* a leader on several nodes; else NULL */
};

/* Elements of chunk w. */
static size_t elements_of(const struct chunks *c, uint64_t w)
{
    size_t first = w * c->most;

    return MPL_MIN(c->count - first, c->most);
}

/* rab inside a node: the leaders combine chunk w among themselves. It is one operation of the node,
 * so the other ranks end it at once. *mpi_errno: as in combine. */
static void exchange_chunk(const struct chunks *c, uint64_t w, int *mpi_errno)
{
    struct nc_range chunk = {w * c->most, elements_of(c, w)};

    if (c->leaders->index >= 0)
        combine(c->r, c->leaders, &c->r->result, &chunk, &chunk, mpi_errno);
    else
        nc_queue_end(&c->r->call->state->queue);
}

/* Chunk w up: inside the node to the leader, among the leaders, to other nodes. Each chunk has its
 * own place in the result, so the next chunk can go up while this one is on its way. */
static int reduce_chunk(const struct chunks *c, uint64_t w)
{
    struct nc_above *x = c->above;
    char *place = place_of(c->r, w * c->most);
    size_t n = elements_of(c, w);
    int mpi_errno;

    if (x)
        MPIDI_NUMACOLL_above_expect(x, &x->up, w, place, n);
    mpi_errno = MPIDI_NUMACOLL_reduce_chunk(c->r, c->leader, w * c->most, n, place);
    if (c->leaders)
        exchange_chunk(c, w, &mpi_errno);
    if (x)
        MPIDI_NUMACOLL_above_run(x, &x->up, w, place, n, false);
    return mpi_errno;
}

/* Chunk w down: from other nodes to the leader, then inside the node. */
static int bcast_chunk(const struct chunks *c, uint64_t w)
{
    struct nc_typed typed = MPIDI_NUMACOLL_elements(c->r, &c->r->result, w * c->most,
                                                    elements_of(c, w));
    struct nc_above *x = c->above;
    struct nc_stream stream;
    size_t sent;
    int mpi_errno;

    if (x) {
        /* the chunk comes down into the place it was sent up from */
        MPIDI_NUMACOLL_above_wait_sends(x, &x->up, w);
        MPIDI_NUMACOLL_above_run(x, &x->down, w, typed.buffer, (size_t) typed.count, false);
    }
    if (c->r->call->state->size == 1)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_stream_init(&stream, &typed);
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_bcast_node(MPIDI_NUMACOLL_transfer(c->r->call), c->bcast, c->leader, &stream, &sent));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

/* All chunks. At least one, also if there are no elements: every rank makes the operations. */
static int up_and_down(const struct chunks *c)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t w = 0;

    MPIDI_NUMACOLL_watch_way(c->r->call, c->leaders ? NC_ALLREDUCE_RAB : NC_ALLREDUCE_RB,
                             c->count / c->most + (c->count % c->most > 0));
    do {
        nc_keep_first(&mpi_errno, reduce_chunk(c, w));
        if (w > 0)
            nc_keep_first(&mpi_errno, bcast_chunk(c, w - 1));
        w++;
    } while (w * c->most < c->count);
    nc_keep_first(&mpi_errno, bcast_chunk(c, w - 1));
    return mpi_errno;
}

static int reduce_bcast(struct nc_reduction *r)
{
    struct chunks c = {.r = r,
                       .count = (size_t) r->mine.count,
                       .most = MPIDI_NUMACOLL_ring_elements(r),
                       .bcast = &r->call->choice->bcast};

    return up_and_down(&c);
}

static int reduce_exchange_bcast(struct nc_reduction *r)
{
    struct MPIDI_NUMACOLL_comm *state = r->call->state;
    struct chunks c = {.r = r,
                       .count = (size_t) r->mine.count,
                       .most = MPIDI_NUMACOLL_ring_elements(r),
                       .leader = state->group_leader,
                       .bcast = &r->call->choice->bcast_below,
                       .leaders = &state->group_leaders};

    r->route = &r->call->choice->reduce_below;
    return up_and_down(&c);
}

/* rb or rab on several nodes. The elements are plain, and the operation commutes. With rab both
 * pipelines leave out the highest level (`but` is 1), and an allreduce on that level ends the
 * pipeline up. */
static int across_nodes(struct nc_reduction *r, bool rab)
{
    size_t count = (size_t) r->mine.count, bytes = count * r->element;
    struct chunks c = {.r = r, .count = count, .bcast = &r->call->choice->bcast};
    struct nc_above_choice up, down, exchange;
    struct nc_above x;
    size_t chunk;
    int mpi_errno;

    MPIDI_NUMACOLL_above_choose(r->call, NC_REDUCE, bytes, r->element, &up);
    chunk = up.chunk;
    if (rab) {
        MPIDI_NUMACOLL_above_choose(r->call, NC_ALLREDUCE, bytes, r->element, &exchange);
        chunk = exchange.chunk < chunk ? exchange.chunk : chunk;
    }
    c.most = chunk / r->element;
    if (r->call->state->rank > 0)
        return up_and_down(&c);
    c.above = &x;
    MPIDI_NUMACOLL_above_choose(r->call, NC_BCAST, bytes, r->element, &down);
    MPIDI_NUMACOLL_above_open(&x, r->call, 0);
    MPIDI_NUMACOLL_above_combine_by(&x, r);
    MPIDI_NUMACOLL_above_up(&x, &up, rab);
    if (rab)
        MPIDI_NUMACOLL_above_exchange(&x, &exchange);
    MPIDI_NUMACOLL_above_down(&x, &down, rab);
    mpi_errno = up_and_down(&c);
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_above_close(&x));
    return mpi_errno;
}

/* Where the reduction cannot go by chunks: reduces the whole message, then broadcasts it; or, after
 * an error at rank 0, a message of no elements, which the other ranks find too short. */
static int reduce_then_bcast(struct nc_reduction *r)
{
    int mpi_errno = MPIDI_NUMACOLL_reduce_to(r, 0, MPIR_ALLREDUCE_TAG);
    struct nc_typed result = r->result;

    if (mpi_errno && r->call->comm->rank == 0)
        result.count = 0;
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_bcast_typed(r->call, &result, 0));
    return mpi_errno;
}

/* ---- the call ---- */

_Static_assert(MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_symmetric == 1 + (int) NC_ALLREDUCE_SYMMETRIC &&
                   MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_sliced == 1 + (int) NC_ALLREDUCE_SLICED &&
                   MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rb == 1 + (int) NC_ALLREDUCE_RB &&
                   MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rab == 1 + (int) NC_ALLREDUCE_RAB,
               "cvars.yaml lists them as nc_select.h does, behind auto");

/* Whether a message may be reduced by slices, a NUMA node at a time and not in the order of ranks:
 * with several NUMA nodes the operation must commute, and all must have the same number of ranks
 * (else column.size is 0). */
static bool can_be_sliced(const struct nc_reduction *r)
{
    int rows = r->call->state->column.size;

    return rows == 1 || (rows > 1 && r->commutative);
}

/* The version inside a node, by the settings or by the rules of core/nc_select.h. All ranks choose
 * alike if their counts and datatypes are. */
static enum nc_allreduce_version version_of(const struct nc_reduction *r)
{
    int wanted = r->call->choice->allreduce_version;
    size_t bytes = r->element * (size_t) r->mine.count;
    bool in_any_order = r->commutative && r->plain;
    struct nc_situation situation = MPIDI_NUMACOLL_situation(r->call->state);
    enum nc_allreduce_version version = (enum nc_allreduce_version)(wanted - 1);

    if (wanted == MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_auto)
        version = nc_select_allreduce(&situation, bytes, bytes <= NC_INLINE_BYTES, in_any_order,
                                      NULL);
    return nc_select_possible(version, can_be_sliced(r), in_any_order);
}

/* The version on several nodes: rab, unless the settings say rb or it is not possible. */
static enum nc_allreduce_version version_across(const struct nc_reduction *r)
{
    bool rb = r->call->choice->allreduce_version == MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_rb;

    return rb || !r->fits || !r->commutative || !r->plain ? NC_ALLREDUCE_RB : NC_ALLREDUCE_RAB;
}

/* Whether to ask if all ranks have shared buffers: the settings leave it open or ask for slices,
 * which is what is made of them then. */
static bool may_be_shared(const struct nc_reduction *r)
{
    int wanted = r->call->choice->allreduce_version;

    return MPIDI_NUMACOLL_may_be_shared(r) &&
           (wanted == MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_auto ||
            wanted == MPIR_CVAR_NUMACOLL_ALLREDUCE_VERSION_sliced);
}

static int allreduce(struct nc_reduction *r)
{
    static int (*const functions[])(struct nc_reduction *) = {
        [NC_ALLREDUCE_SYMMETRIC] = symmetric,
        [NC_ALLREDUCE_SLICED] = sliced,
        [NC_ALLREDUCE_RB] = reduce_bcast,
        [NC_ALLREDUCE_RAB] = reduce_exchange_bcast};
    bool across = r->call->across;
    enum nc_allreduce_version version = NC_ALLREDUCE_RB;
    bool over = false;
    int mpi_errno = may_be_shared(r) ? MPIDI_NUMACOLL_reduce_shared(r, -1, &over) : MPI_SUCCESS;

    if (over) {
        version = NC_ALLREDUCE_SLICED;
        MPIDI_NUMACOLL_count(r->call, 1 + (int) version, r->element * (size_t) r->mine.count);
        return mpi_errno;
    }
    if (across)
        version = version_across(r);
    else if (r->fits)
        version = version_of(r);
    MPIDI_NUMACOLL_count(r->call, 1 + (int) version, r->element * (size_t) r->mine.count);
    if (!r->fits || (across && !(r->commutative && r->plain)))
        return reduce_then_bcast(r);
    return across ? across_nodes(r, version == NC_ALLREDUCE_RAB) : functions[version](r);
}

int MPIDI_NUMACOLL_allreduce(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                             MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, sendbuf, recvbuf, true, count, datatype,
                                                  op);

    MPIDI_NUMACOLL_expect_operands(&r);
    nc_keep_first(&mpi_errno, allreduce(&r));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}
