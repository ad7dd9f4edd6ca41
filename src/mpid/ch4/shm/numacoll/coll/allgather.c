/* MPI_Allgather, MPI_Allgatherv. entry.c calls these bodies on every rank; inside the node they use
 * shm/nc_gather.h and shm/nc_bcast.h, between nodes packed.h.
 *
 *   1  inside the node each rank writes its block, and reads the blocks of its NUMA node; inline
 *      blocks (at most a control slot) all ranks of the node read
 *   2  the leader of each NUMA node broadcasts the blocks of its NUMA node that were not inline, so
 *      that they cross to each other NUMA node once
 *   3  the leaders of nodes exchange the blocks of whole nodes by dissemination, and broadcast what
 *      arrives inside their nodes */

#include "bodies.h"
#include "packed.h"

/* A call. */
struct allgather {
    const struct nc_call *call;
    const struct nc_typed *mine; /* this rank's block: the send buffer, or in place its own block */
    bool in_place;
    const struct nc_blocks *blocks;
    int tag;
};

/* ---- inside the node ---- */

/* 1. *kept: whether this rank's own block has come to its place, too. */
static int gather_near(const struct allgather *g, bool *kept)
{
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream, *from = MPIDI_NUMACOLL_block_streams(g->call, g->blocks);
    struct nc_stream *own = &from[state->rank];
    struct nc_typed mine = *g->mine;

    MPIDI_NUMACOLL_stream_init(&stream, &mine);
    state->typed[state->rank] = MPIDI_NUMACOLL_block(g->blocks, g->call->comm->rank);
    MPIDI_NUMACOLL_stream_init(own, &state->typed[state->rank]);
    if (g->in_place)
        own->length = 0;
    mpi_errno = MPIDI_NUMACOLL_error(nc_allgather_node(MPIDI_NUMACOLL_transfer(g->call),
                                                       &state->groups, &stream, from, state->sent));
    *kept = g->in_place || own->at > 0;
    for (int i = 0; i < state->size; i++) {
        if (i != state->rank || !g->in_place)
            nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_check_room(state->sent[i], &from[i]));
    }
    return mpi_errno;
}

/* 2, for one NUMA node: its leader broadcasts the blocks that stayed inside. Every rank of the node
 * takes part, because it is one operation for all; the other ranks of this NUMA node have the
 * blocks from step 1 and pass a stream of length 0. */
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
    MPIDI_NUMACOLL_row_init(&stream, &row, g->blocks,
                            (struct nc_round){state->list, n, 0, takes ? n : 0});
    return MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(g->call, rank[0], &stream, &sent));
}

static int inside_node(const struct allgather *g)
{
    const struct nc_groups *groups = &g->call->state->groups;
    const int *member = MPIDI_NUMACOLL_members(g->call);
    struct nc_typed own = MPIDI_NUMACOLL_block(g->blocks, g->call->comm->rank);
    bool kept = g->in_place;
    int mpi_errno = MPI_SUCCESS;

    if (g->call->state->size > 1)
        mpi_errno = gather_near(g, &kept);
    if (!kept)
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(g->mine, &own, 0));
    for (int group = 0; groups->levels > 1 && group < groups->level[1]; group++)
        nc_keep_first(&mpi_errno, share_group(g, group, member));
    return mpi_errno;
}

/* ---- 3: the blocks of other nodes, from the node before mine backwards ---- */

/* The blocks of other nodes as they arrive at a rank. A leader collects them until they fill a
 * chunk, and then broadcasts them on its node. */
struct exchange {
    const struct allgather *g;
    struct nc_net net;
    struct nc_stream remote; /* the blocks of other nodes; bytes before `at` have arrived */
    struct nc_row row;       /* what `remote` consists of */
    char *free;              /* leader: end of the collected bytes, in buffers.arrived */
    size_t bytes;            /* leader: collected, not broadcast on the node yet */
    size_t total;            /* arrived so far */
};

/* Leader: broadcasts the collected bytes on its node. The receivers take a broadcast of less than a
 * chunk for the last one. */
static void tell_node(struct exchange *e)
{
    char *arrived = e->g->call->state->all.buffers.arrived;
    struct nc_stream stream = {.bytes = arrived, .length = e->bytes};
    size_t sent;

    if (e->g->call->state->size > 1)
        MPIDI_NUMACOLL_net_keep(&e->net, MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(
                                             e->g->call, 0, &stream, &sent)));
    e->bytes = 0;
    e->free = arrived;
}

/* Leader: takes a chunk that has arrived in e->free; called by MPIDI_NUMACOLL_exchange_rows. */
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

/* `ranks` ranks, beginning `skip` ranks behind the first of this node: its ranks, then those of the
 * node before it, and so on, round. */
static struct nc_round blocks_back(const struct nc_nodes *nodes, int skip, int ranks)
{
    int first = (int) (nc_nodes_ranks(nodes, nodes->mine) - nodes->member) + skip;

    return (struct nc_round){nodes->member, nodes->ranks, first, ranks};
}

/* Sends the blocks of `nodes` nodes, mine and those before it, to the leader `distance` nodes
 * further; receives the blocks of as many nodes from the leader `distance` nodes before. */
static void exchange_with(struct exchange *e, int distance, int nodes)
{
    const struct nc_nodes *all = &e->g->call->state->all.nodes;
    int to = nc_nodes_leader(all, nc_nodes_back(all, all->count - distance));
    int from = nc_nodes_leader(all, nc_nodes_back(all, distance)), ranks = 0;
    struct nc_stream stream;
    struct nc_row row;

    for (int d = 0; d < nodes; d++)
        ranks += nc_nodes_size(all, nc_nodes_back(all, d));
    MPIDI_NUMACOLL_row_init(&stream, &row, e->g->blocks, blocks_back(all, 0, ranks));
    MPIDI_NUMACOLL_exchange_rows(&e->net, &stream, to, from, e->g->tag, &e->free, take_chunk, e);
}

/* Leader: dissemination. Before round k (distance 2^k) a node has its own blocks and those of the
 * 2^k - 1 nodes before it. */
static void exchange_nodes(struct exchange *e)
{
    int nodes = e->g->call->state->all.nodes.count;

    e->free = e->g->call->state->all.buffers.arrived;
    for (int distance = 1; distance < nodes; distance *= 2)
        exchange_with(e, distance, distance < nodes - distance ? distance : nodes - distance);
    tell_node(e);
}

/* The other ranks: what the leader broadcasts, until a broadcast is not a whole chunk. */
static void receive_from_leader(struct exchange *e)
{
    size_t sent;

    do {
        MPIDI_NUMACOLL_net_keep(&e->net, MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(
                                             e->g->call, 0, &e->remote, &sent)));
        e->total += sent;
    } while (sent >= NC_CHUNK);
}

static int from_other_nodes(const struct allgather *g)
{
    const struct nc_nodes *nodes = &g->call->state->all.nodes;
    int here = nc_nodes_size(nodes, nodes->mine);
    struct exchange e = {.g = g, .net = {.call = g->call}};

    MPIDI_NUMACOLL_row_init(&e.remote, &e.row, g->blocks,
                            blocks_back(nodes, here, nodes->ranks - here));
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
        nc_keep_first(&mpi_errno, from_other_nodes(g));
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
