/* MPI_Gather, MPI_Gatherv: through the senders' own queues to the root; from other nodes to their
 * leaders, who send what they have of all their ranks in common messages. */

#include "across.h"

/* A call. */
struct gather {
    struct MPIDI_NUMACOLL_comm *state;
    struct nc_typed *mine;
    const struct nc_blocks *blocks;
    int root, tag;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
};

/* ---- to the root, inside its node ---- */

static int receive_near(const struct gather *g)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = g->state;
    struct nc_stream *from = MPIDI_NUMACOLL_block_streams(state, g->blocks,
                                                          MPIDI_NUMACOLL_members(state, g->comm));
    struct nc_typed own = MPIDI_NUMACOLL_block(g->blocks, g->root);

    /* first: meanwhile the others write */
    if (g->mine->buffer != MPI_IN_PLACE)
        mpi_errno = MPIDI_NUMACOLL_copy_own(g->mine, &own);
    if (state->size == 1)
        return mpi_errno;
    MPIDI_NUMACOLL_keep_first(
        &mpi_errno, MPIDI_NUMACOLL_error(nc_gather_node(MPIDI_NUMACOLL_move(state), state->rank,
                                                        NULL, from, state->sent)));
    for (int i = 0; i < state->size; i++) {
        if (i != state->rank)
            MPIDI_NUMACOLL_keep_first(&mpi_errno,
                                      MPIDI_NUMACOLL_compare_lengths(state->sent[i], &from[i]));
    }
    return mpi_errno;
}

static int send_near(const struct gather *g, int local_root)
{
    struct nc_stream stream;

    MPIDI_NUMACOLL_stream_init(&stream, g->mine);
    return MPIDI_NUMACOLL_error(
        nc_gather_node(MPIDI_NUMACOLL_move(g->state), local_root, &stream, NULL, NULL));
}

/* ---- to the root from another node ---- */

/* How much each rank of the node sends: freight->length, on all of them. */
static int share_lengths(const struct gather *g, size_t bytes, uint64_t *length)
{
    struct MPIDI_NUMACOLL_comm *state = g->state;
    struct nc_stream own = {.bytes = (char *) &length[state->rank], .length = sizeof *length};

    length[state->rank] = bytes;
    if (state->size == 1)
        return MPI_SUCCESS;
    for (int i = 0; i < state->size; i++)
        state->stream[i] = (struct nc_stream){.bytes = (char *) &length[i],
                                              .length = sizeof *length};
    return MPIDI_NUMACOLL_error(nc_allgather_node(MPIDI_NUMACOLL_move(state), &state->groups, &own,
                                                  state->stream, state->sent));
}

/* Leader: a window of everybody's, and off. */
static int collect_window(const struct gather *g, struct nc_freight *freight,
                          struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = g->state;
    int mpi_errno = MPI_SUCCESS;
    struct nc_ledger elsewhere;
    char *at = MPIDI_NUMACOLL_freight_load(freight), *own = at;

    for (int i = 0; i < state->size; i++) {
        size_t window = MPIDI_NUMACOLL_freight_window(freight, i);
        state->stream[i] = (struct nc_stream){.bytes = at, .length = window};
        at += window;
    }
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_copy_in(mine, own, MPIDI_NUMACOLL_freight_window(freight, 0), 0, &elsewhere));
    if (state->size > 1)
        MPIDI_NUMACOLL_keep_first(
            &mpi_errno, MPIDI_NUMACOLL_error(nc_gather_node(MPIDI_NUMACOLL_move(state), 0, NULL,
                                                            state->stream, state->sent)));
    MPIDI_NUMACOLL_freight_send(freight, at);
    return mpi_errno;
}

/* Everybody else: a window of mine to the leader. */
static int give_window(const struct gather *g, const struct nc_freight *freight,
                       struct nc_stream *mine)
{
    size_t all = mine->length;
    int error;

    mine->length = mine->at + MPIDI_NUMACOLL_freight_window(freight, g->state->rank);
    error = nc_gather_node(MPIDI_NUMACOLL_move(g->state), 0, mine, NULL, NULL);
    mine->length = all;
    return MPIDI_NUMACOLL_error(error);
}

static int send_across(const struct gather *g)
{
    struct MPIDI_NUMACOLL_comm *state = g->state;
    const struct nc_hierarchy *h = &state->all;
    int mpi_errno = MPI_SUCCESS;
    struct nc_freight freight;
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, g->mine);
    MPIDI_NUMACOLL_freight_open(&freight, g->state, h->node, g->comm, g->root, g->tag, g->errflag);
    mpi_errno = share_lengths(g, mine.length, freight.length);
    MPIDI_NUMACOLL_freight_count(&freight);
    do
        MPIDI_NUMACOLL_keep_first(&mpi_errno, state->rank == 0 ? collect_window(g, &freight, &mine)
                                                               : give_window(g, &freight, &mine));
    while (MPIDI_NUMACOLL_freight_next(&freight));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_freight_close(&freight));
    return mpi_errno;
}

/* ---- the root, of other nodes ---- */

static int receive_node(const struct gather *g, int node)
{
    const struct nc_hierarchy *h = &g->state->all;
    const int *member = h->member + h->first[node];
    int mpi_errno = MPI_SUCCESS;
    struct nc_freight freight;
    struct nc_stream *block = MPIDI_NUMACOLL_node_streams(h, g->blocks, node);

    MPIDI_NUMACOLL_freight_open(&freight, g->state, node, g->comm, member[0], g->tag, g->errflag);
    do {
        char *at = MPIDI_NUMACOLL_freight_receive(&freight);
        for (int i = 0; i < freight.ranks; i++) {
            size_t window = MPIDI_NUMACOLL_freight_window(&freight, i);
            struct nc_ledger elsewhere;
            MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_copy_out(
                                                      &block[i], at, window, 0, &elsewhere)));
            at += window;
        }
    } while (MPIDI_NUMACOLL_freight_next(&freight));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_freight_close(&freight));
    for (int i = 0; i < freight.ranks; i++)
        MPIDI_NUMACOLL_keep_first(&mpi_errno,
                                  MPIDI_NUMACOLL_compare_lengths(freight.length[i], &block[i]));
    return mpi_errno;
}

/* ---- both ---- */

static int gather(const struct gather *g)
{
    struct MPIDI_NUMACOLL_comm *state = g->state;
    bool across = MPIDI_NUMACOLL_is_across(g->comm), is_root = g->comm->rank == g->root;
    const struct nc_hierarchy *h = &state->all;
    int mpi_errno = MPI_SUCCESS;

    if (is_root)
        mpi_errno = receive_near(g);
    else if (!across || h->node_of[g->root] == h->node)
        mpi_errno = send_near(g, across ? MPIR_Get_intranode_rank(g->comm, g->root) : g->root);
    else
        mpi_errno = send_across(g);
    for (int distance = 1; across && is_root && distance < h->nodes; distance++)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, receive_node(g, nc_hierarchy_back(h, distance)));
    return mpi_errno;
}

static int counted(const struct gather *g, enum nc_coll coll)
{
    MPIDI_NUMACOLL_count_typed(g->state, coll, g->comm->rank == g->root ? NULL : g->mine);
    return gather(g);
}

int MPIDI_NUMACOLL_gather_blocks(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *mine,
                                 const struct nc_blocks *blocks, int root, int tag, MPIR_Comm *comm,
                                 NC_ERRFLAG_T errflag)
{
    struct gather call = {state, mine, blocks, root, tag, comm, errflag};

    return gather(&call);
}

int MPIDI_NUMACOLL_gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root,
                          MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf, .count = recvcount, .datatype = recvtype};
    struct gather call = {
        MPIDI_NUMACOLL_home_state(comm), &mine, &blocks, root, MPIR_GATHER_TAG, comm, errflag};

    return counted(&call, NC_COLL_GATHER);
}

int MPIDI_NUMACOLL_gatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                           MPI_Datatype recvtype, int root, MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {
        .buffer = recvbuf, .counts = recvcounts, .displs = displs, .datatype = recvtype};
    struct gather call = {
        MPIDI_NUMACOLL_home_state(comm), &mine, &blocks, root, MPIR_GATHERV_TAG, comm, errflag};

    return counted(&call, NC_COLL_GATHERV);
}
