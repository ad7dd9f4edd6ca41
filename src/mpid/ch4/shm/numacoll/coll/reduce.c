/* MPI_Reduce: inside a node up the trees, or in the order of ranks where the operation needs it; across nodes the nodes'
 * leaders up a binomial tree, by windows. */

#include "reduction.h"

/* ---- inside a node ---- */

int MPIDI_NUMACOLL_reduce_inside(struct nc_reduction *r, int local_root, struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = r->state;
    struct nc_range all = {.first = 0,.count = nc_stream_rest(mine) / r->element };
    struct nc_move *move = MPIDI_NUMACOLL_move(state);
    bool unequal = false;
    int mpi_errno = MPI_SUCCESS;

    if (state->size == 1)
        return r->combiner.own(r->combiner.context, 0, all.count);
    if (r->commutative && r->plain)
        mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_tree_node(move, &state->reduce[state->leaf + 1].route, local_root, &r->combiner,
                                                             mine, &unequal));
    else
        mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_ordered_node(move, local_root, &r->combiner, mine, &all, &unequal));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* ---- by a gather: operations that keep the order on several nodes, elements larger than a slot ---- */

/* What has been gathered, packed, the block of rank 0 first, to elements of the result. */
static int join_blocks(struct nc_reduction *r, const char *blocks, size_t first, size_t n)
{
    int error = 0, last = r->comm->local_size - 1;

    for (int rank = last; rank >= 0 && !error; rank--) {
        const char *block = blocks + (size_t) rank * n * r->element;
        error = (rank == last ? r->combiner.take : r->combiner.join) (r, first, block, n);
    }
    return MPIDI_NUMACOLL_error(error);
}

/* Whether the root has memory for so many bytes, as it says to all; a window it has, or nothing goes on anyway. */
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
        struct nc_blocks blocks = {.buffer = memory,.count = (MPI_Aint) (n * r->element),.datatype = MPI_BYTE };
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_gather_blocks(r->state, &mine, &blocks, root, tag, r->comm, r->errflag));
        if (is_root)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, join_blocks(r, memory, first, n));
    }

  fn_fail:
    MPL_free(memory);
    return mpi_errno;
}

/* ---- across nodes ---- */

/* A window of the nodes below this one to `mine`. */
static int join_nodes(struct nc_reduction *r, const struct nc_node_tree *t, int tag, void *mine, size_t n)
{
    const struct nc_hierarchy *h = &r->state->all;
    int mpi_errno = MPI_SUCCESS;

    for (int bit = 1; MPIDI_NUMACOLL_has_child(t, bit); bit *= 2) {
        MPI_Status status;
        MPIR_Request *request = NULL;
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIC_Irecv(h->window[0], (MPI_Aint) h->window_bytes, MPI_BYTE,
                                                        MPIDI_NUMACOLL_speaker(t, bit), tag, r->comm, &request));
        if (request)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, NC_WAITALL(1, &request, &status, r->errflag));
        if (mpi_errno != MPI_SUCCESS)
            continue;
        if ((size_t) MPIR_STATUS_GET_COUNT(status) == n * r->element)
            mpi_errno = MPIR_Reduce_local(h->window[0], mine, (MPI_Aint) n, r->mine.datatype, r->op);
        else
            mpi_errno = MPIDI_NUMACOLL_unequal((size_t) MPIR_STATUS_GET_COUNT(status), n * r->element);
    }
    return mpi_errno;
}

/* By a rank that speaks for its node. *sending: the window before is on its way to the node above. */
static int window_across(struct nc_reduction *r, const struct nc_node_tree *t, int tag, struct nc_stream *mine, size_t n,
                         MPIR_Request ** sending)
{
    const struct nc_hierarchy *h = &r->state->all;
    bool is_root = r->comm->rank == t->root;
    struct nc_typed own_result = r->result;
    size_t before = r->before;
    int mpi_errno = MPI_SUCCESS;
    MPI_Status status;
    char *sum = is_root ? (char *) r->result.buffer + (MPI_Aint) r->before * r->extent : h->window[1];

    if (*sending)
        mpi_errno = NC_WAITALL(1, sending, &status, r->errflag);
    *sending = NULL;
    if (!is_root) {
        /* the node's result is a window's: as if it began there */
        r->result.buffer = h->window[1] - (MPI_Aint) before * r->extent;
    }
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_inside(r, r->state->rank, mine));
    r->result = own_result;
    MPIDI_NUMACOLL_keep_first(&mpi_errno, join_nodes(r, t, tag, sum, n));
    if (!is_root)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIC_Isend(sum, (MPI_Aint) (n * r->element), MPI_BYTE,
                                                        MPIDI_NUMACOLL_speaker(t, -t->bit), tag, r->comm, sending,
                                                        r->errflag));
    return mpi_errno;
}

static int across_nodes(struct nc_reduction *r, int root, int tag)
{
    const struct nc_hierarchy *h = &r->state->all;
    struct nc_node_tree t = MPIDI_NUMACOLL_node_tree(h, root);
    int local_root = t.relative == 0 ? MPIR_Get_intranode_rank(r->comm, root) : 0, mpi_errno = MPI_SUCCESS;
    size_t count = (size_t) r->mine.count, most = NC_WINDOW / r->element;
    bool in_place = r->in_place;
    MPIR_Request *sending = NULL;
    struct nc_stream mine;
    MPI_Status status;

    MPIDI_NUMACOLL_stream_init(&mine, &r->mine);
    for (r->before = 0; r->before < count || r->before == 0; r->before += most) {
        size_t n = count - r->before < most ? count - r->before : most;
        mine.length = mine.at + n * r->element;
        r->in_place = in_place && r->comm->rank == root;
        if (r->state->rank == local_root)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, window_across(r, &t, tag, &mine, n, &sending));
        else
            MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_inside(r, local_root, &mine));
        mine.at = mine.length;
    }
    if (sending)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, NC_WAITALL(1, &sending, &status, r->errflag));
    r->before = 0;
    r->in_place = in_place;
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
        return across_nodes(r, root, tag);
    MPIDI_NUMACOLL_stream_init(&mine, &r->mine);
    return MPIDI_NUMACOLL_reduce_inside(r, root, &mine);
}

int MPIDI_NUMACOLL_reduce(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype, MPI_Op op, int root,
                          MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, sendbuf, recvbuf, comm->rank == root, count, datatype, op, comm,
                                                  errflag);

    MPIDI_NUMACOLL_count_typed(r.state, NC_COLL_REDUCE, &r.mine);
    MPIDI_NUMACOLL_expect_result(&r);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_to(&r, root, MPIR_REDUCE_TAG));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}
