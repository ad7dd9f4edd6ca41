/* MPI_Reduce: inside a node up the trees, or in the order of ranks where the operation needs it;
 * across nodes by windows, on each node to its speaker and then up the levels above the node. */

#include "hier.h"

/* ---- inside a node ---- */

int MPIDI_NUMACOLL_reduce_inside(struct nc_reduction *r, int local_root, struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = r->state;
    struct nc_range every = {.first = 0, .count = nc_stream_rest(mine) / r->element};
    struct nc_transfer *move = MPIDI_NUMACOLL_move(state);
    struct nc_team all = nc_queue_everybody(&state->queue);
    bool unequal = false;
    int mpi_errno = MPI_SUCCESS;

    if (state->size == 1)
        return r->combiner.own(r->combiner.context, 0, every.count);
    if (r->commutative && r->plain)
        mpi_errno = MPIDI_NUMACOLL_error(
            nc_reduce_tree_node(move, r->route, local_root, &r->combiner, mine, &unequal));
    else
        mpi_errno = MPIDI_NUMACOLL_error(
            nc_reduce_ordered_node(move, &all, local_root, &r->combiner, mine, &every, &unequal));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* ---- by a gather: operations that keep the order on several nodes, elements larger than a slot
 * ---- */

/* What has been gathered, packed, the block of rank 0 first, to elements of the result. */
static int join_blocks(struct nc_reduction *r, const char *blocks, size_t first, size_t n)
{
    int error = 0, last = r->comm->local_size - 1;

    for (int rank = last; rank >= 0 && !error; rank--) {
        const char *block = blocks + (size_t) rank * n * r->element;
        error = (rank == last ? r->combiner.take : r->combiner.join)(r, first, block, n);
    }
    return MPIDI_NUMACOLL_error(error);
}

/* Whether the root has memory for so many bytes, as it says to all; a window it has, or nothing
 * goes on anyway. */
static int agree_on_memory(struct nc_reduction *r, size_t bytes, const char *memory, int root)
{
    int mpi_errno = MPI_SUCCESS, enough = memory != NULL;
    struct nc_typed typed = {&enough, 1, MPI_INT};

    if (bytes > NC_WINDOW)
        mpi_errno = MPIDI_NUMACOLL_bcast_typed(r->state, &typed, root, r->comm, r->errflag);
    else
        enough = 1;
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP(!enough, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_fail:
    return mpi_errno;
}

static int by_gather(struct nc_reduction *r, int root, int tag)
{
    int mpi_errno = MPI_SUCCESS;
    size_t count = (size_t) r->mine.count, most = MPIDI_NUMACOLL_gathered_at_once(r);
    size_t bytes = most * (size_t) r->comm->local_size * r->element;
    bool is_root = r->comm->rank == root;
    char *memory = is_root ? MPL_malloc(bytes, MPL_MEM_COLL) : NULL;

    mpi_errno = agree_on_memory(r, bytes, memory, root);
    MPIR_ERR_CHECK(mpi_errno);
    for (size_t first = 0; first < count || first == 0; first += most) {
        size_t n = count - first < most ? count - first : most;
        struct nc_typed mine = MPIDI_NUMACOLL_elements(r, &r->mine, first, n);
        struct nc_blocks blocks = {
            .buffer = memory, .count = (MPI_Aint) (n * r->element), .datatype = MPI_BYTE};
        MPIDI_NUMACOLL_keep_first(
            &mpi_errno,
            MPIDI_NUMACOLL_gather_blocks(r->state, &mine, &blocks, root, tag, r->comm, r->errflag));
        if (is_root)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, join_blocks(r, memory, first, n));
    }

fn_fail:
    MPL_free(memory);
    return mpi_errno;
}

/* ---- across nodes ---- */

int MPIDI_NUMACOLL_reduce_window(struct nc_reduction *r, int local_root, size_t first, size_t n,
                                 char *result)
{
    struct nc_typed typed = MPIDI_NUMACOLL_elements(r, &r->mine, first, n);
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, &typed);
    MPIDI_NUMACOLL_combine_from(r, &r->mine, first, result);
    return MPIDI_NUMACOLL_reduce_inside(r, local_root, &mine);
}

/* By a rank that speaks for its node: the root's windows are in its result. */
static int speak(struct nc_reduction *r, const struct nc_ways *ways, int root, size_t most)
{
    size_t count = (size_t) r->mine.count;
    bool is_root = r->comm->rank == root;
    struct nc_hier x;

    MPIDI_NUMACOLL_hier_open(&x, r->state, root, r->comm, r->errflag);
    MPIDI_NUMACOLL_hier_combine_by(&x, r);
    MPIDI_NUMACOLL_hier_up(&x, ways, 0);
    for (uint64_t w = 0; w * most < count || w == 0; w++) {
        size_t first = w * most, n = count - first < most ? count - first : most;
        char *place = is_root ? (char *) r->result.buffer + (MPI_Aint) first * r->extent
                              : r->state->all.window[w % NC_PLACES];
        MPIDI_NUMACOLL_hier_expect(&x, &x.up, w, place, n);
        MPIDI_NUMACOLL_hier_settle(&x, &x.up, w);
        MPIDI_NUMACOLL_keep_first(&x.mpi_errno,
                                  MPIDI_NUMACOLL_reduce_window(r, r->state->rank, first, n, place));
        MPIDI_NUMACOLL_hier_run(&x, &x.up, w, place, n, false);
    }
    return MPIDI_NUMACOLL_hier_close(&x);
}

static int across_nodes(struct nc_reduction *r, int root)
{
    int speaker = MPIDI_NUMACOLL_local_speaker(r->state, r->comm, root), mpi_errno = MPI_SUCCESS;
    size_t count = (size_t) r->mine.count, most;
    struct nc_ways ways;

    MPIDI_NUMACOLL_ways(r->state, NC_REDUCE, count * r->element, r->element, &ways);
    most = ways.window / r->element;
    if (r->state->rank == speaker)
        return speak(r, &ways, root, most);
    for (size_t first = 0; first < count || first == 0; first += most)
        MPIDI_NUMACOLL_keep_first(
            &mpi_errno, MPIDI_NUMACOLL_reduce_window(
                            r, speaker, first, count - first < most ? count - first : most, NULL));
    return mpi_errno;
}

/* ---- the call ---- */

int MPIDI_NUMACOLL_reduce_to(struct nc_reduction *r, int root, int tag)
{
    bool across = MPIDI_NUMACOLL_is_across(r->comm);
    struct nc_stream mine;

    if (!r->fits || (across && !(r->commutative && r->plain)))
        return by_gather(r, root, tag);
    if (across)
        return across_nodes(r, root);
    MPIDI_NUMACOLL_stream_init(&mine, &r->mine);
    return MPIDI_NUMACOLL_reduce_inside(r, root, &mine);
}

int MPIDI_NUMACOLL_reduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                          MPI_Op op, int root, MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, sendbuf, recvbuf, comm->rank == root, count,
                                                  datatype, op, comm, errflag);

    MPIDI_NUMACOLL_count_typed(r.state, NC_COLL_REDUCE, &r.mine);
    MPIDI_NUMACOLL_expect_operands(&r);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_to(&r, root, MPIR_REDUCE_TAG));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}
