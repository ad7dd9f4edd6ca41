/* MPI_Gather, MPI_Gatherv. entry.c calls the bodies on every rank, reduce.c gather_blocks. On the
 * root's node the root reads the blocks from shared memory (shm/nc_gather.h). On another node the
 * leader collects the blocks of its ranks that way and sends them to the root in packed messages
 * (packed.h). */

#include "gather.h"

#include "packed.h"
#include "bodies.h"
#include "../shm/nc_joint.h"

/* A call. */
struct gather {
    const struct nc_call *call;
    struct nc_typed *mine;
    const struct nc_blocks *blocks;
    int root, tag;
    bool exact; /* less than a block has room for is an error too */
};

static int check_length(const struct gather *g, size_t sent, const struct nc_stream *block)
{
    return g->exact ? MPIDI_NUMACOLL_compare_lengths(sent, block)
                    : MPIDI_NUMACOLL_check_room(sent, block);
}

/* ---- on the root's node ---- */

/* Root: its own block, and the blocks of its node. */
static int receive_near(const struct gather *g)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    struct nc_transfer *transfer = MPIDI_NUMACOLL_transfer(g->call);
    struct nc_stream *from = MPIDI_NUMACOLL_block_streams(g->call, g->blocks), mine;
    struct nc_typed own = MPIDI_NUMACOLL_block(g->blocks, g->root);
    bool has_own = g->mine->buffer != MPI_IN_PLACE, inside = false;

    if (has_own && transfer->direct) {
        MPIDI_NUMACOLL_stream_init(&mine, g->mine);
        MPIDI_NUMACOLL_stream_init(&from[state->rank], &own);
        inside = state->size > 1 && nc_joint_takes_own(transfer, &mine, &from[state->rank]);
    }
    /* own block first: meanwhile the other ranks write theirs */
    if (has_own && !inside)
        mpi_errno = MPIDI_NUMACOLL_copy_own(g->mine, &own, 0);
    if (state->size == 1)
        return mpi_errno;
    nc_keep_first(&mpi_errno,
                  MPIDI_NUMACOLL_error(nc_gather_node(transfer, state->rank, inside ? &mine : NULL,
                                                      from, state->sent)));
    for (int i = 0; i < state->size; i++) {
        if (i != state->rank)
            nc_keep_first(&mpi_errno, check_length(g, state->sent[i], &from[i]));
    }
    return mpi_errno;
}

static int send_near(const struct gather *g, int local_root)
{
    struct nc_stream stream;

    MPIDI_NUMACOLL_stream_init(&stream, g->mine);
    return MPIDI_NUMACOLL_error(
        nc_gather_node(MPIDI_NUMACOLL_transfer(g->call), local_root, &stream, NULL, NULL));
}

/* ---- on another node than the root's ---- */

/* An allgather of the lengths of the node's blocks: length[size], bytes, on all ranks of the node.
 * All then know how many packed messages, and so operations, follow. */
static int share_lengths(const struct gather *g, size_t bytes, uint64_t *length)
{
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    struct nc_stream own = {.bytes = (char *) &length[state->rank], .length = sizeof *length};

    length[state->rank] = bytes;
    if (state->size == 1)
        return MPI_SUCCESS;
    for (int i = 0; i < state->size; i++)
        state->stream[i] = (struct nc_stream){.bytes = (char *) &length[i],
                                              .length = i == state->rank ? 0 : sizeof *length};
    return MPIDI_NUMACOLL_error(nc_allgather_node(MPIDI_NUMACOLL_transfer(g->call), &state->groups,
                                                  &own, state->stream, state->sent));
}

/* Leader: gathers the current share of every rank's block into a packed message, and sends it. */
static int collect_chunk(const struct gather *g, struct nc_packed *packed, struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    int mpi_errno = MPI_SUCCESS;
    char *at = MPIDI_NUMACOLL_packed_load(packed), *own = at;

    for (int i = 0; i < state->size; i++) {
        size_t bytes = MPIDI_NUMACOLL_packed_bytes(packed, i);
        state->stream[i] = (struct nc_stream){.bytes = at, .length = bytes};
        at += bytes;
    }
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_copy_in(mine, own, MPIDI_NUMACOLL_packed_bytes(packed, 0), 0, NULL));
    if (state->size > 1)
        nc_keep_first(&mpi_errno,
                      MPIDI_NUMACOLL_error(nc_gather_node(MPIDI_NUMACOLL_transfer(g->call), 0, NULL,
                                                          state->stream, state->sent)));
    MPIDI_NUMACOLL_packed_send(packed, at);
    return mpi_errno;
}

/* The other ranks: the current share of this rank's block to the leader. */
static int give_chunk(const struct gather *g, const struct nc_packed *packed,
                      struct nc_stream *mine)
{
    size_t all = mine->length;
    int error;

    mine->length = mine->at + MPIDI_NUMACOLL_packed_bytes(packed, g->call->state->rank);
    error = nc_gather_node(MPIDI_NUMACOLL_transfer(g->call), 0, mine, NULL, NULL);
    mine->length = all;
    return MPIDI_NUMACOLL_error(error);
}

static int send_across(const struct gather *g)
{
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    const struct nc_hierarchy *h = &state->all;
    int mpi_errno = MPI_SUCCESS;
    struct nc_packed packed;
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, g->mine);
    MPIDI_NUMACOLL_packed_open(&packed, g->call, h->nodes.mine, g->root, g->tag);
    mpi_errno = share_lengths(g, mine.length, packed.length);
    MPIDI_NUMACOLL_packed_count(&packed);
    do
        nc_keep_first(&mpi_errno, state->rank == 0 ? collect_chunk(g, &packed, &mine)
                                                   : give_chunk(g, &packed, &mine));
    while (MPIDI_NUMACOLL_packed_next(&packed));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_packed_close(&packed));
    return mpi_errno;
}

/* ---- the root: blocks of other nodes ---- */

/* Receives all blocks of a node from its leader. */
static int receive_node(const struct gather *g, int node)
{
    const struct nc_hierarchy *h = &g->call->state->all;
    const int *member = nc_nodes_ranks(&h->nodes, node);
    int mpi_errno = MPI_SUCCESS;
    struct nc_packed packed;
    struct nc_stream *block = MPIDI_NUMACOLL_node_streams(h, g->blocks, node);

    MPIDI_NUMACOLL_packed_open(&packed, g->call, node, member[0], g->tag);
    do {
        char *at = MPIDI_NUMACOLL_packed_receive(&packed);
        for (int i = 0; i < packed.ranks; i++) {
            size_t bytes = MPIDI_NUMACOLL_packed_bytes(&packed, i);
            nc_keep_first(&mpi_errno,
                          MPIDI_NUMACOLL_error(nc_copy_out(&block[i], at, bytes, 0, NULL)));
            at += bytes;
        }
    } while (MPIDI_NUMACOLL_packed_next(&packed));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_packed_close(&packed));
    for (int i = 0; i < packed.ranks; i++)
        nc_keep_first(&mpi_errno, check_length(g, packed.length[i], &block[i]));
    return mpi_errno;
}

/* ---- the call ---- */

static int gather(const struct gather *g)
{
    struct MPIDI_NUMACOLL_comm *state = g->call->state;
    bool across = g->call->across, is_root = g->call->comm->rank == g->root;
    const struct nc_hierarchy *h = &state->all;
    int mpi_errno = MPI_SUCCESS;

    if (is_root)
        mpi_errno = receive_near(g);
    else if (!across || MPIDI_NUMACOLL_node_of(h, g->call->comm, g->root) == h->nodes.mine)
        mpi_errno = send_near(g, MPIDI_NUMACOLL_local_rank(g->call, g->root));
    else
        mpi_errno = send_across(g);
    for (int distance = 1; across && is_root && distance < h->nodes.count; distance++)
        nc_keep_first(&mpi_errno, receive_node(g, nc_nodes_back(&h->nodes, distance)));
    return mpi_errno;
}

static int counted(const struct gather *g)
{
    MPIDI_NUMACOLL_count_typed(g->call, g->call->comm->rank == g->root ? NULL : g->mine);
    return gather(g);
}

int MPIDI_NUMACOLL_gather_blocks(const struct nc_call *call, struct nc_typed *mine,
                                 const struct nc_blocks *blocks, int root, int tag)
{
    struct gather g = {call, mine, blocks, root, tag, .exact = true};

    return gather(&g);
}

int MPIDI_NUMACOLL_gather(const struct nc_call *call, const void *sendbuf, MPI_Aint sendcount,
                          MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                          MPI_Datatype recvtype, int root)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf, .count = recvcount, .datatype = recvtype};
    struct gather g = {call, &mine, &blocks, root, MPIR_GATHER_TAG, .exact = false};

    return counted(&g);
}

int MPIDI_NUMACOLL_gatherv(const struct nc_call *call, const void *sendbuf, MPI_Aint sendcount,
                           MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                           const MPI_Aint *displs, MPI_Datatype recvtype, int root)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {
        .buffer = recvbuf, .counts = recvcounts, .displs = displs, .datatype = recvtype};
    struct gather g = {call, &mine, &blocks, root, MPIR_GATHERV_TAG, .exact = false};

    return counted(&g);
}
