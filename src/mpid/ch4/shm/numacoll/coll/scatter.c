/* MPI_Scatter, MPI_Scatterv: the root fills the queues of the receivers; to other nodes it sends
 * messages, whose leaders do that. */

#include "across.h"

/* A call. */
struct scatter {
    struct MPIDI_NUMACOLL_comm *state;
    const struct nc_blocks *blocks;
    struct nc_typed *mine;
    int root, tag;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
};

/* ---- the root ---- */

/* Inside its node. */
static int serve(const struct scatter *s)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = s->state;
    struct nc_stream *to = MPIDI_NUMACOLL_block_streams(state, s->blocks,
                                                        MPIDI_NUMACOLL_members(state, s->comm));
    struct nc_typed own = MPIDI_NUMACOLL_block(s->blocks, s->root);

    if (state->size > 1)
        mpi_errno = MPIDI_NUMACOLL_error(
            nc_scatter_node(MPIDI_NUMACOLL_move(state), state->rank, to, NULL, NULL));
    /* last: meanwhile the others read */
    if (s->mine->buffer != MPI_IN_PLACE)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(&own, s->mine));
    return mpi_errno;
}

static int send_node(const struct scatter *s, int node)
{
    const struct nc_hierarchy *h = &s->state->all;
    int mpi_errno = MPI_SUCCESS;
    struct nc_freight freight;
    struct nc_stream *block = MPIDI_NUMACOLL_node_streams(h, s->blocks, node);

    MPIDI_NUMACOLL_freight_open(&freight, s->state, node, s->comm, nc_hierarchy_leader(h, node),
                                s->tag, s->errflag);
    for (int i = 0; i < freight.ranks; i++)
        freight.length[i] = block[i].length;
    MPIDI_NUMACOLL_freight_count(&freight);
    do {
        char *at = MPIDI_NUMACOLL_freight_load(&freight);
        for (int i = 0; i < freight.ranks; i++) {
            size_t window = MPIDI_NUMACOLL_freight_window(&freight, i);
            struct nc_ledger elsewhere;
            MPIDI_NUMACOLL_keep_first(
                &mpi_errno, MPIDI_NUMACOLL_error(nc_copy_in(&block[i], at, window, 0, &elsewhere)));
            at += window;
        }
        MPIDI_NUMACOLL_freight_send(&freight, at);
    } while (MPIDI_NUMACOLL_freight_next(&freight));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_freight_close(&freight));
    return mpi_errno;
}

/* ---- everybody else on the root's node ---- */

static int receive_near(const struct scatter *s, int local_root)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream;
    size_t sent;

    MPIDI_NUMACOLL_stream_init(&stream, s->mine);
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_scatter_node(MPIDI_NUMACOLL_move(s->state), local_root, NULL, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

/* ---- on another node than the root's ---- */

/* The leader tells the others the lengths, and so how many windows there are. */
static int share_lengths(const struct scatter *s, struct nc_freight *freight)
{
    struct MPIDI_NUMACOLL_comm *state = s->state;
    struct nc_stream lengths = {.bytes = (char *) freight->length,
                                .length = (size_t) state->size * sizeof *freight->length};
    size_t sent;
    int error = 0;

    if (state->size > 1)
        error = nc_bcast_node(&state->bcast[state->leaf + 1].bcast, 0, &lengths, &sent);
    MPIDI_NUMACOLL_freight_count(freight);
    return MPIDI_NUMACOLL_error(error);
}

/* Leader: a window of everybody's. */
static int share_window(const struct scatter *s, const struct nc_freight *freight, char *at,
                        struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = s->state;
    int mpi_errno = MPI_SUCCESS;
    struct nc_ledger elsewhere;
    const char *own = at;

    for (int i = 0; i < state->size; i++) {
        size_t window = MPIDI_NUMACOLL_freight_window(freight, i);
        state->stream[i] = (struct nc_stream){.bytes = at, .length = window};
        at += window;
    }
    if (state->size > 1)
        mpi_errno = MPIDI_NUMACOLL_error(
            nc_scatter_node(MPIDI_NUMACOLL_move(state), 0, state->stream, NULL, NULL));
    MPIDI_NUMACOLL_keep_first(
        &mpi_errno, MPIDI_NUMACOLL_error(nc_copy_out(
                        mine, own, MPIDI_NUMACOLL_freight_window(freight, 0), 0, &elsewhere)));
    return mpi_errno;
}

static int receive_as_leader(const struct scatter *s, struct nc_freight *freight,
                             struct nc_stream *mine)
{
    int mpi_errno = MPI_SUCCESS;

    do {
        char *at = MPIDI_NUMACOLL_freight_receive(freight);
        if (freight->round == 0)
            mpi_errno = share_lengths(s, freight);
        MPIDI_NUMACOLL_keep_first(&mpi_errno, share_window(s, freight, at, mine));
    } while (MPIDI_NUMACOLL_freight_next(freight));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_freight_close(freight));
    return mpi_errno;
}

static int receive_from_leader(const struct scatter *s, struct nc_freight *freight,
                               struct nc_stream *mine)
{
    int mpi_errno = share_lengths(s, freight);

    do {
        size_t sent;
        MPIDI_NUMACOLL_keep_first(
            &mpi_errno, MPIDI_NUMACOLL_error(
                            nc_scatter_node(MPIDI_NUMACOLL_move(s->state), 0, NULL, mine, &sent)));
    } while (MPIDI_NUMACOLL_freight_next(freight));
    return mpi_errno;
}

static int receive_across(const struct scatter *s)
{
    const struct nc_hierarchy *h = &s->state->all;
    int mpi_errno = MPI_SUCCESS;
    struct nc_freight freight;
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, s->mine);
    MPIDI_NUMACOLL_freight_open(&freight, s->state, h->node, s->comm, s->root, s->tag, s->errflag);
    mpi_errno = s->state->rank == 0 ? receive_as_leader(s, &freight, &mine)
                                    : receive_from_leader(s, &freight, &mine);
    MPIDI_NUMACOLL_keep_first(
        &mpi_errno, MPIDI_NUMACOLL_compare_lengths(freight.length[s->state->rank], &mine));
    return mpi_errno;
}

/* ---- both ---- */

static int scatter(const struct scatter *s, enum nc_coll coll)
{
    struct MPIDI_NUMACOLL_comm *state = s->state;
    bool across = MPIDI_NUMACOLL_is_across(s->comm), is_root = s->comm->rank == s->root;
    const struct nc_hierarchy *h = &state->all;
    int mpi_errno = MPI_SUCCESS;

    MPIDI_NUMACOLL_count_typed(state, coll, is_root ? NULL : s->mine);
    /* other nodes first: they are further away */
    for (int distance = 1; across && is_root && distance < h->nodes; distance++)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, send_node(s, nc_hierarchy_back(h, distance)));
    if (is_root)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, serve(s));
    else if (!across || h->node_of[s->root] == h->node)
        mpi_errno = receive_near(s, across ? MPIR_Get_intranode_rank(s->comm, s->root) : s->root);
    else
        mpi_errno = receive_across(s);
    return mpi_errno;
}

int MPIDI_NUMACOLL_scatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                           void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                           MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_blocks blocks = {
        .buffer = (void *) sendbuf, .count = sendcount, .datatype = sendtype};
    struct nc_typed mine = {recvbuf, recvcount, recvtype};
    struct scatter call = {
        MPIDI_NUMACOLL_home_state(comm), &blocks, &mine, root, MPIR_SCATTER_TAG, comm, errflag};

    return scatter(&call, NC_COLL_SCATTER);
}

int MPIDI_NUMACOLL_scatterv(const void *sendbuf, const MPI_Aint *sendcounts, const MPI_Aint *displs,
                            MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                            MPI_Datatype recvtype, int root, MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_blocks blocks = {
        .buffer = (void *) sendbuf, .counts = sendcounts, .displs = displs, .datatype = sendtype};
    struct nc_typed mine = {recvbuf, recvcount, recvtype};
    struct scatter call = {
        MPIDI_NUMACOLL_home_state(comm), &blocks, &mine, root, MPIR_SCATTERV_TAG, comm, errflag};

    return scatter(&call, NC_COLL_SCATTERV);
}
