/* MPI_Scatter, MPI_Scatterv. entry.c calls the bodies on every rank. On its node the root writes
 * each block into the shared memory of its reader (shm/nc_scatter.h). To another node it sends
 * packed messages (packed.h), which that node's leader scatters on its node in the same way. */

#include "scatter.h"

#include "bodies.h"
#include "packed.h"
#include "../shm/nc_joint.h"

/* A call. */
struct scatter {
    const struct nc_call *call;
    const struct nc_blocks *blocks;
    struct nc_typed *mine;
    int root, tag;
    bool equal; /* all blocks that the root has are equally long */
    bool exact; /* a block that is shorter than its reader expects is an error */
};

/* ---- the root ---- */

/* The blocks of its own node, and its own block. */
static int serve(const struct scatter *s)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = s->call->state;
    struct nc_transfer *transfer = MPIDI_NUMACOLL_transfer(s->call);
    struct nc_stream *to = MPIDI_NUMACOLL_block_streams(s->call, s->blocks), mine;
    struct nc_typed own = MPIDI_NUMACOLL_block(s->blocks, s->root);
    bool has_own = s->mine->buffer != MPI_IN_PLACE, inside = false;

    if (has_own && transfer->direct) {
        MPIDI_NUMACOLL_stream_init(&mine, s->mine);
        MPIDI_NUMACOLL_stream_init(&to[state->rank], &own);
        inside = state->size > 1 && nc_joint_takes_own(transfer, &to[state->rank], &mine);
    }
    if (state->size > 1)
        mpi_errno = MPIDI_NUMACOLL_error(
            nc_scatter_node(transfer, state->rank, to, inside ? &mine : NULL, NULL));
    /* own block last: meanwhile the other ranks read theirs, if these have gone through the queue
     */
    if (has_own && !inside)
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(&own, s->mine, 0));
    return mpi_errno;
}

/* Sends all blocks of a node to its leader. */
static int send_node(const struct scatter *s, int node)
{
    const struct nc_hierarchy *h = &s->call->state->all;
    int mpi_errno = MPI_SUCCESS;
    struct nc_packed packed;
    struct nc_stream *block = MPIDI_NUMACOLL_node_streams(h, s->blocks, node);

    MPIDI_NUMACOLL_packed_open(&packed, s->call, node, nc_nodes_leader(&h->nodes, node), s->tag);
    for (int i = 0; i < packed.ranks; i++)
        packed.length[i] = block[i].length;
    MPIDI_NUMACOLL_packed_count(&packed);
    do {
        char *at = MPIDI_NUMACOLL_packed_load(&packed);
        for (int i = 0; i < packed.ranks; i++) {
            size_t bytes = MPIDI_NUMACOLL_packed_bytes(&packed, i);
            nc_keep_first(&mpi_errno,
                          MPIDI_NUMACOLL_error(nc_copy_in(&block[i], at, bytes, 0, NULL)));
            at += bytes;
        }
        MPIDI_NUMACOLL_packed_send(&packed, at);
    } while (MPIDI_NUMACOLL_packed_next(&packed));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_packed_close(&packed));
    return mpi_errno;
}

/* The error of a block of `sent` bytes. */
static int check(const struct scatter *s, size_t sent, const struct nc_stream *stream)
{
    return s->exact ? MPIDI_NUMACOLL_compare_lengths(sent, stream)
                    : MPIDI_NUMACOLL_check_room(sent, stream);
}

/* ---- the other ranks on the root's node ---- */

static int receive_near(const struct scatter *s, int local_root)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream;
    size_t sent;

    MPIDI_NUMACOLL_stream_init(&stream, s->mine);
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_scatter_node(MPIDI_NUMACOLL_transfer(s->call), local_root, NULL, &stream, &sent));
    nc_keep_first(&mpi_errno, check(s, sent, &stream));
    return mpi_errno;
}

/* ---- on another node than the root's ---- */

/* The leader broadcasts the lengths of the node's blocks. All ranks of the node then know how many
 * packed messages, and so operations, there are. */
static int share_lengths(const struct scatter *s, struct nc_packed *packed)
{
    struct MPIDI_NUMACOLL_comm *state = s->call->state;
    struct nc_stream lengths = {.bytes = (char *) packed->length,
                                .length = (size_t) state->size * sizeof *packed->length};
    size_t sent;
    int error = 0;

    if (state->size > 1)
        error = MPIDI_NUMACOLL_bcast_inside(s->call, 0, &lengths, &sent);
    MPIDI_NUMACOLL_packed_count(packed);
    return MPIDI_NUMACOLL_error(error);
}

int MPIDI_NUMACOLL_scatter_packed(const struct nc_call *call, char *at, const size_t *bytes,
                                  struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = call->state;
    struct nc_transfer *transfer = MPIDI_NUMACOLL_transfer(call);
    int mpi_errno = MPI_SUCCESS;
    const char *own = at;
    size_t sent;

    if (state->rank > 0)
        return MPIDI_NUMACOLL_error(nc_scatter_node(transfer, 0, NULL, mine, &sent));
    for (int i = 0; i < state->size; i++) {
        state->stream[i] = (struct nc_stream){.bytes = at, .length = bytes[i]};
        at += bytes[i];
    }
    if (state->size > 1)
        mpi_errno = MPIDI_NUMACOLL_error(nc_scatter_node(transfer, 0, state->stream, NULL, NULL));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_copy_out(mine, own, bytes[0], 0, NULL)));
    return mpi_errno;
}

/* Leader: scatters the shares of a packed message, which begin at `at`. */
static int share_chunk(const struct scatter *s, const struct nc_packed *packed, char *at,
                       struct nc_stream *mine)
{
    struct MPIDI_NUMACOLL_comm *state = s->call->state;

    for (int i = 0; i < state->size; i++)
        state->sent[i] = MPIDI_NUMACOLL_packed_bytes(packed, i);
    return MPIDI_NUMACOLL_scatter_packed(s->call, at, state->sent, mine);
}

/* Whether equal blocks end with a full share, and so need an empty one that ends them. */
static bool ends_full(const struct nc_packed *packed)
{
    return packed->length[0] > 0 && packed->length[0] % packed->share == 0;
}

static int receive_as_leader(const struct scatter *s, struct nc_packed *packed,
                             struct nc_stream *mine)
{
    int mpi_errno = MPI_SUCCESS;
    char *at;

    do {
        at = MPIDI_NUMACOLL_packed_receive(packed);
        if (packed->round == 0 && !s->equal)
            mpi_errno = share_lengths(s, packed);
        nc_keep_first(&mpi_errno, share_chunk(s, packed, at, mine));
    } while (MPIDI_NUMACOLL_packed_next(packed));
    if (s->equal && ends_full(packed))
        nc_keep_first(&mpi_errno, share_chunk(s, packed, at, mine));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_packed_close(packed));
    return mpi_errno;
}

static int receive_from_leader(const struct scatter *s, struct nc_packed *packed,
                               struct nc_stream *mine)
{
    int mpi_errno = share_lengths(s, packed);

    do {
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_scatter_packed(s->call, NULL, NULL, mine));
    } while (MPIDI_NUMACOLL_packed_next(packed));
    return mpi_errno;
}

/* Shares of equal blocks, which need no lengths: one that is not full is the last one of each
 * block. (A rank must not use its own expected length: it may expect more than the root sends.)
 * Fills in how long this rank's block is. */
static int receive_shares(const struct scatter *s, struct nc_packed *packed, struct nc_stream *mine)
{
    uint64_t *length = &packed->length[s->call->state->rank];
    int mpi_errno = MPI_SUCCESS;
    size_t sent;

    *length = 0;
    do {
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_scatter_node(
                                      MPIDI_NUMACOLL_transfer(s->call), 0, NULL, mine, &sent)));
        *length += sent;
    } while (sent == packed->share);
    return mpi_errno;
}

static int receive_across(const struct scatter *s)
{
    const struct nc_hierarchy *h = &s->call->state->all;
    int mpi_errno = MPI_SUCCESS;
    struct nc_packed packed;
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, s->mine);
    MPIDI_NUMACOLL_packed_open(&packed, s->call, h->nodes.mine, s->root, s->tag);
    mpi_errno = s->call->state->rank == 0 ? receive_as_leader(s, &packed, &mine)
                : s->equal                ? receive_shares(s, &packed, &mine)
                                          : receive_from_leader(s, &packed, &mine);
    nc_keep_first(&mpi_errno, check(s, packed.length[s->call->state->rank], &mine));
    return mpi_errno;
}

/* ---- the call ---- */

static int scatter(const struct scatter *s)
{
    struct MPIDI_NUMACOLL_comm *state = s->call->state;
    bool across = s->call->across, is_root = s->call->comm->rank == s->root;
    const struct nc_hierarchy *h = &state->all;
    int mpi_errno = MPI_SUCCESS;

    /* other nodes first: they are further away */
    for (int distance = 1; across && is_root && distance < h->nodes.count; distance++)
        nc_keep_first(&mpi_errno, send_node(s, nc_nodes_back(&h->nodes, distance)));
    if (is_root)
        nc_keep_first(&mpi_errno, serve(s));
    else if (!across || MPIDI_NUMACOLL_node_of(h, s->call->comm, s->root) == h->nodes.mine)
        mpi_errno = receive_near(s, MPIDI_NUMACOLL_local_rank(s->call, s->root));
    else
        mpi_errno = receive_across(s);
    return mpi_errno;
}

static int counted(const struct scatter *s)
{
    MPIDI_NUMACOLL_count_typed(s->call, s->call->comm->rank == s->root ? NULL : s->mine);
    return scatter(s);
}

int MPIDI_NUMACOLL_scatter_blocks(const struct nc_call *call, const struct nc_blocks *blocks,
                                  struct nc_typed *mine, int root, int tag)
{
    struct scatter s = {call, blocks, mine, root, tag, .equal = false, .exact = true};

    return scatter(&s);
}

int MPIDI_NUMACOLL_scatter(const struct nc_call *call, const void *sendbuf, MPI_Aint sendcount,
                           MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                           MPI_Datatype recvtype, int root)
{
    struct nc_blocks blocks = {
        .buffer = (void *) sendbuf, .count = sendcount, .datatype = sendtype};
    struct nc_typed mine = {recvbuf, recvcount, recvtype};
    struct scatter s = {call, &blocks, &mine, root, MPIR_SCATTER_TAG, .equal = true};

    return counted(&s);
}

int MPIDI_NUMACOLL_scatterv(const struct nc_call *call, const void *sendbuf,
                            const MPI_Aint *sendcounts, const MPI_Aint *displs,
                            MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                            MPI_Datatype recvtype, int root)
{
    struct nc_blocks blocks = {
        .buffer = (void *) sendbuf, .counts = sendcounts, .displs = displs, .datatype = sendtype};
    struct nc_typed mine = {recvbuf, recvcount, recvtype};
    struct scatter s = {call, &blocks, &mine, root, MPIR_SCATTERV_TAG, .equal = false};

    return counted(&s);
}
