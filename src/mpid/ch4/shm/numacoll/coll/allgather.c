/* MPI_Allgather, MPI_Allgatherv: everybody writes its own queue, and reads everybody else's.
 *
 *   1  inside each NUMA node; what fits a post also across the node
 *   2  what did not fit goes from each NUMA node's leader to the other NUMA nodes, once to each
 *   3  the leaders of nodes exchange what theirs have by dissemination, and hand on what arrives */

#include "across.h"

/* A call. */
struct allgather {
    struct MPIDI_NUMACOLL_comm *state;
    const struct nc_typed *mine;
    bool in_place;
    const struct nc_blocks *blocks;
    int tag;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
};

static struct nc_bcast *bcast_of(const struct allgather *g)
{
    return &g->state->bcast[g->state->leaf + 1].bcast;
}

/* ---- inside the node ---- */

/* 1 */
static int gather_near(const struct allgather *g, const int *member)
{
    struct MPIDI_NUMACOLL_comm *state = g->state;
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream, *from = MPIDI_NUMACOLL_block_streams(state, g->blocks, member);
    struct nc_typed own = *g->mine;

    MPIDI_NUMACOLL_stream_init(&stream, &own);
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_allgather_node(MPIDI_NUMACOLL_move(state), &state->groups, &stream, from, state->sent));
    for (int i = 0; i < state->size; i++) {
        if (i != state->rank)
            MPIDI_NUMACOLL_keep_first(&mpi_errno,
                                      MPIDI_NUMACOLL_compare_lengths(state->sent[i], &from[i]));
    }
    return mpi_errno;
}

/* 2: of one NUMA node. Its other ranks have it already, and take none of it. */
static int share_group(const struct allgather *g, int group, const int *member)
{
    struct MPIDI_NUMACOLL_comm *state = g->state;
    const struct nc_groups *groups = &state->groups;
    const int *rank = groups->member + groups->first[group];
    bool takes = groups->of[0][state->rank] != group || rank[0] == state->rank;
    struct nc_stream stream;
    struct nc_row row;
    size_t sent;
    int n = 0;

    for (int i = 0; i < groups->first[group + 1] - groups->first[group]; i++) {
        if (nc_allgather_stays(state->sent[rank[i]]))
            state->list[n++] = member[rank[i]];
    }
    if (n == 0)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_row_init(&stream, &row, g->blocks, state->list, takes ? n : 0);
    return MPIDI_NUMACOLL_error(nc_bcast_node(bcast_of(g), rank[0], &stream, &sent));
}

static int inside_node(const struct allgather *g)
{
    const struct nc_groups *groups = &g->state->groups;
    const int *member = MPIDI_NUMACOLL_members(g->state, g->comm);
    struct nc_typed own = MPIDI_NUMACOLL_block(g->blocks, g->comm->rank);
    int mpi_errno = MPI_SUCCESS;

    if (g->state->size > 1)
        mpi_errno = gather_near(g, member);
    if (!g->in_place)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(g->mine, &own));
    for (int group = 0; groups->levels > 1 && group < groups->level[1]; group++)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, share_group(g, group, member));
    return mpi_errno;
}

/* ---- 3: of other nodes, the one before mine first ---- */

/* A leader's. What has arrived is gathered until it is worth telling. */
struct exchange {
    const struct allgather *g;
    struct nc_stream remote; /* the blocks of other nodes, up to `at` in place */
    struct nc_row row;
    char *arrived; /* room for two windows */
    size_t bytes;  /* of them */
    size_t total;  /* bytes that have arrived, before these too */
    int mpi_errno;
};

/* To the rest of the node. A message of less than a window is the last. */
static void tell_node(struct exchange *e)
{
    struct nc_stream stream = {.bytes = e->arrived, .length = e->bytes};
    size_t sent;

    if (e->g->state->size > 1)
        MPIDI_NUMACOLL_keep_first(
            &e->mpi_errno, MPIDI_NUMACOLL_error(nc_bcast_node(bcast_of(e->g), 0, &stream, &sent)));
    e->bytes = 0;
}

/* Begins a message of the next window of a stream; its bytes. */
static size_t send_window(struct exchange *e, struct nc_stream *stream, int to,
                          MPIR_Request **request)
{
    char *window = e->g->state->all.window[NC_WINDOWS - 1];
    size_t bytes = nc_stream_rest(stream) < NC_WINDOW ? nc_stream_rest(stream) : NC_WINDOW;
    struct nc_ledger elsewhere;

    MPIDI_NUMACOLL_keep_first(
        &e->mpi_errno, MPIDI_NUMACOLL_error(nc_copy_in(stream, window, bytes, 0, &elsewhere)));
    MPIDI_NUMACOLL_keep_first(&e->mpi_errno,
                              MPIDI_NUMACOLL_send(e->g->state, window, bytes, to, e->g->tag,
                                                  e->g->comm, e->g->errflag, request));
    return bytes;
}

/* Waits for one. */
static size_t receive_window(struct exchange *e, MPIR_Request **request)
{
    struct nc_ledger elsewhere;
    MPI_Status status;
    size_t bytes = 0;
    int mpi_errno = NC_WAITALL(1, request, &status, e->g->errflag);

    MPIDI_NUMACOLL_keep_first(&e->mpi_errno, mpi_errno);
    if (mpi_errno == MPI_SUCCESS)
        bytes = (size_t) MPIR_STATUS_GET_COUNT(status);
    MPIDI_NUMACOLL_keep_first(
        &e->mpi_errno,
        MPIDI_NUMACOLL_error(nc_copy_out(&e->remote, e->arrived + e->bytes, bytes, 0, &elsewhere)));
    e->bytes += bytes;
    e->total += bytes;
    if (e->bytes >= NC_WINDOW)
        tell_node(e);
    return bytes;
}

/* The blocks of so many nodes, mine and those before it, to the node at a distance; as many come
 * from the other side. */
static void exchange_with(struct exchange *e, int distance, int nodes)
{
    const struct nc_hierarchy *h = &e->g->state->all;
    int to = nc_hierarchy_leader(h, nc_hierarchy_back(h, h->nodes - distance));
    int from = nc_hierarchy_leader(h, nc_hierarchy_back(h, distance)), ranks = 0;
    size_t sent = NC_WINDOW, received = NC_WINDOW;
    struct nc_stream stream;
    struct nc_row row;

    for (int d = 0; d < nodes; d++) {
        int node = nc_hierarchy_back(h, d);
        ranks += h->first[node + 1] - h->first[node];
    }
    MPIDI_NUMACOLL_row_init(&stream, &row, e->g->blocks, h->back, ranks);
    while (sent == NC_WINDOW || received == NC_WINDOW) {
        MPIR_Request *in = NULL, *out = NULL;
        MPI_Status status;
        if (received == NC_WINDOW)
            MPIDI_NUMACOLL_keep_first(&e->mpi_errno,
                                      MPIC_Irecv(e->arrived + e->bytes, NC_WINDOW, MPI_BYTE, from,
                                                 e->g->tag, e->g->comm, &in));
        sent = sent == NC_WINDOW ? send_window(e, &stream, to, &out) : 0;
        received = in ? receive_window(e, &in) : 0;
        if (out)
            MPIDI_NUMACOLL_keep_first(&e->mpi_errno, NC_WAITALL(1, &out, &status, e->g->errflag));
    }
}

/* Source of the order: dissemination; in round k a node has those of the 2^k - 1 before it. */
static void exchange_nodes(struct exchange *e)
{
    int nodes = e->g->state->all.nodes;

    e->arrived = e->g->state->all.window[0];
    for (int distance = 1; distance < nodes; distance *= 2)
        exchange_with(e, distance, distance < nodes - distance ? distance : nodes - distance);
    tell_node(e);
}

static void hear_from_leader(struct exchange *e)
{
    size_t sent;

    do {
        MPIDI_NUMACOLL_keep_first(&e->mpi_errno, MPIDI_NUMACOLL_error(nc_bcast_node(
                                                     bcast_of(e->g), 0, &e->remote, &sent)));
        e->total += sent;
    } while (sent >= NC_WINDOW);
}

static int from_other_nodes(const struct allgather *g)
{
    const struct nc_hierarchy *h = &g->state->all;
    int here = h->first[h->node + 1] - h->first[h->node];
    struct exchange e = {.g = g};

    MPIDI_NUMACOLL_row_init(&e.remote, &e.row, g->blocks, h->back + here,
                            g->comm->local_size - here);
    if (g->state->rank == 0)
        exchange_nodes(&e);
    else
        hear_from_leader(&e);
    MPIDI_NUMACOLL_keep_first(&e.mpi_errno, MPIDI_NUMACOLL_compare_lengths(e.total, &e.remote));
    return e.mpi_errno;
}

/* ---- the call ---- */

static int allgather(struct allgather *g, struct nc_typed *mine, enum nc_coll coll)
{
    int mpi_errno;

    g->in_place = mine->buffer == MPI_IN_PLACE;
    if (g->in_place)
        *mine = MPIDI_NUMACOLL_block(g->blocks, g->comm->rank);
    g->mine = mine;
    MPIDI_NUMACOLL_count_typed(g->state, coll, mine);
    mpi_errno = inside_node(g);
    if (MPIDI_NUMACOLL_is_across(g->comm))
        MPIDI_NUMACOLL_keep_first(&mpi_errno, from_other_nodes(g));
    return mpi_errno;
}

int MPIDI_NUMACOLL_allgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype,
                             MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf, .count = recvcount, .datatype = recvtype};
    struct allgather call = {.state = MPIDI_NUMACOLL_home_state(comm),
                             .blocks = &blocks,
                             .tag = MPIR_ALLGATHER_TAG,
                             .comm = comm,
                             .errflag = errflag};

    return allgather(&call, &mine, NC_COLL_ALLGATHER);
}

int MPIDI_NUMACOLL_allgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const MPI_Aint *recvcounts, const MPI_Aint *displs,
                              MPI_Datatype recvtype, MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {
        .buffer = recvbuf, .counts = recvcounts, .displs = displs, .datatype = recvtype};
    struct allgather call = {.state = MPIDI_NUMACOLL_home_state(comm),
                             .blocks = &blocks,
                             .tag = MPIR_ALLGATHERV_TAG,
                             .comm = comm,
                             .errflag = errflag};

    return allgather(&call, &mine, NC_COLL_ALLGATHERV);
}
