/* MPI_Allgather, MPI_Allgatherv: everybody writes its own queue, and reads everybody else's.
 *
 *   1  inside each NUMA node; what fits a post also across the node
 *   2  what did not fit goes from each NUMA node's leader to the other NUMA nodes, once to each
 *   3  the leaders of nodes exchange what theirs have by dissemination, and hand on what arrives */

#include "bodies.h"
#include "packed.h"

/* A call. */
struct allgather {
    const struct nc_call *call;
    const struct nc_typed *mine;
    bool in_place;
    const struct nc_blocks *blocks;
    int tag;
};

static struct nc_bcast *bcast_of(const struct allgather *g)
{
    return &g->call->choice->bcast;
}

/* ---- inside the node ---- */

/* 1 */
static int gather_near(const struct allgather *g)
{
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream, *from = MPIDI_NUMACOLL_block_streams(g->call, g->blocks);
    struct nc_typed own = *g->mine;

    MPIDI_NUMACOLL_stream_init(&stream, &own);
    mpi_errno = MPIDI_NUMACOLL_error(nc_allgather_node(MPIDI_NUMACOLL_transfer(g->call),
                                                       &state->groups, &stream, from, state->sent));
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
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
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
    const struct nc_groups *groups = &g->call->state->groups;
    const int *member = MPIDI_NUMACOLL_members(g->call);
    struct nc_typed own = MPIDI_NUMACOLL_block(g->blocks, g->call->comm->rank);
    int mpi_errno = MPI_SUCCESS;

    if (g->call->state->size > 1)
        mpi_errno = gather_near(g);
    if (!g->in_place)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(g->mine, &own));
    for (int group = 0; groups->levels > 1 && group < groups->level[1]; group++)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, share_group(g, group, member));
    return mpi_errno;
}

/* ---- 3: of other nodes, the one before mine first ---- */

/* What a rank does with the blocks of other nodes. A leader gathers what has arrived until it is
 * worth an operation inside the node. */
struct exchange {
    const struct allgather *g;
    struct nc_net net;
    struct nc_stream remote; /* the blocks of other nodes, up to `at` in place */
    struct nc_row row;
    char *free;   /* behind what has arrived, in the buffer of two chunks */
    size_t bytes; /* that have arrived and are not told to the node yet */
    size_t total; /* bytes that have arrived in all */
};

/* To the rest of the node. An operation of less than a chunk is the last. */
static void tell_node(struct exchange *e)
{
    char *arrived = e->g->call->state->all.buffers.arrived;
    struct nc_stream stream = {.bytes = arrived, .length = e->bytes};
    size_t sent;

    if (e->g->call->state->size > 1)
        MPIDI_NUMACOLL_net_keep(
            &e->net, MPIDI_NUMACOLL_error(nc_bcast_node(bcast_of(e->g), 0, &stream, &sent)));
    e->bytes = 0;
    e->free = arrived;
}

static void take_chunk(void *context, size_t bytes)
{
    struct exchange *e = context;

    MPIDI_NUMACOLL_net_keep(&e->net,
                            MPIDI_NUMACOLL_error(nc_copy_out(&e->remote, e->free, bytes, 0, NULL)));
    e->free += bytes;
    e->bytes += bytes;
    e->total += bytes;
    if (e->bytes >= NC_CHUNK)
        tell_node(e);
}

/* The blocks of so many nodes, mine and those before it, to the node at a distance; as many come
 * from the other side. */
static void exchange_with(struct exchange *e, int distance, int nodes)
{
    const struct nc_hierarchy *h = &e->g->call->state->all;
    int to = nc_hierarchy_leader(h, nc_hierarchy_back(h, h->nodes - distance));
    int from = nc_hierarchy_leader(h, nc_hierarchy_back(h, distance)), ranks = 0;
    struct nc_stream stream;
    struct nc_row row;

    for (int d = 0; d < nodes; d++) {
        int node = nc_hierarchy_back(h, d);
        ranks += h->first[node + 1] - h->first[node];
    }
    MPIDI_NUMACOLL_row_init(&stream, &row, e->g->blocks, h->back, ranks);
    MPIDI_NUMACOLL_exchange_rows(&e->net, &stream, to, from, e->g->tag, &e->free, take_chunk, e);
}

/* Source of the order: dissemination; in round k a node has those of the 2^k - 1 before it. */
static void exchange_nodes(struct exchange *e)
{
    int nodes = e->g->call->state->all.nodes;

    e->free = e->g->call->state->all.buffers.arrived;
    for (int distance = 1; distance < nodes; distance *= 2)
        exchange_with(e, distance, distance < nodes - distance ? distance : nodes - distance);
    tell_node(e);
}

static void receive_from_leader(struct exchange *e)
{
    size_t sent;

    do {
        MPIDI_NUMACOLL_net_keep(
            &e->net, MPIDI_NUMACOLL_error(nc_bcast_node(bcast_of(e->g), 0, &e->remote, &sent)));
        e->total += sent;
    } while (sent >= NC_CHUNK);
}

static int from_other_nodes(const struct allgather *g)
{
    const struct nc_hierarchy *h = &g->call->state->all;
    int here = h->first[h->node + 1] - h->first[h->node];
    struct exchange e = {.g = g, .net = {.call = g->call}};

    MPIDI_NUMACOLL_row_init(&e.remote, &e.row, g->blocks, h->back + here,
                            g->call->comm->local_size - here);
    if (g->call->state->rank == 0)
        exchange_nodes(&e);
    else
        receive_from_leader(&e);
    MPIDI_NUMACOLL_net_keep(&e.net, MPIDI_NUMACOLL_compare_lengths(e.total, &e.remote));
    return e.net.mpi_errno;
}

/* ---- the call ---- */

static int allgather(struct allgather *g, struct nc_typed *mine)
{
    int mpi_errno;

    g->in_place = mine->buffer == MPI_IN_PLACE;
    if (g->in_place)
        *mine = MPIDI_NUMACOLL_block(g->blocks, g->call->comm->rank);
    g->mine = mine;
    MPIDI_NUMACOLL_count_typed(g->call, mine);
    mpi_errno = inside_node(g);
    if (g->call->across)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, from_other_nodes(g));
    return mpi_errno;
}

int MPIDI_NUMACOLL_allgather(const struct nc_call *call, const void *sendbuf, MPI_Aint sendcount,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                             MPI_Datatype recvtype)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf, .count = recvcount, .datatype = recvtype};
    struct allgather g = {.call = call, .blocks = &blocks, .tag = MPIR_ALLGATHER_TAG};

    return allgather(&g, &mine);
}

int MPIDI_NUMACOLL_allgatherv(const struct nc_call *call, const void *sendbuf, MPI_Aint sendcount,
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                              const MPI_Aint *displs, MPI_Datatype recvtype)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {
        .buffer = recvbuf, .counts = recvcounts, .displs = displs, .datatype = recvtype};
    struct allgather g = {.call = call, .blocks = &blocks, .tag = MPIR_ALLGATHERV_TAG};

    return allgather(&g, &mine);
}
