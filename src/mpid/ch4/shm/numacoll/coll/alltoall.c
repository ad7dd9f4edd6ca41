/* MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw. entry.c calls these bodies on every rank; inside the
 * node they use shm/nc_exchange.h, by alltoall_rows.c where the blocks of an alltoall are short.
 * Each pair of ranks on different nodes exchanges its blocks by messages of its own (net.h). */

#include "alltoall_rows.h"
#include "bodies.h"
#include "net.h"
#include "../core/nc_pairs.h"
#include "../shm/nc_exchange.h"

/* Rounds whose messages are under way at a time. */
enum { AT_A_TIME = 16 };

/* A call. */
struct alltoall {
    const struct nc_call *call;
    const struct nc_blocks *sent, *received; /* in place the same */
    struct nc_typed out, in; /* the blocks that the streams of nc_exchange are made of */
    const int *member;       /* ranks of the processes of this node, by local rank */
    int tag;
};

static bool is_in_place(const struct alltoall *a)
{
    return a->sent == a->received;
}

/* ---- inside the node ---- */

static void sent_to(void *context, int local_rank, struct nc_stream *stream)
{
    struct alltoall *a = context;

    a->out = MPIDI_NUMACOLL_block(a->sent, a->member[local_rank]);
    MPIDI_NUMACOLL_stream_init(stream, &a->out);
}

static void received_from(void *context, int local_rank, struct nc_stream *stream)
{
    struct alltoall *a = context;

    a->in = MPIDI_NUMACOLL_block(a->received, a->member[local_rank]);
    MPIDI_NUMACOLL_stream_init(stream, &a->in);
}

/* Counts the call with the bytes of a block that this rank sends, on the average. */
static void count(const struct alltoall *a)
{
    int ranks = a->sent->counts ? a->call->comm->local_size : 1; /* or all are as long */
    size_t bytes = 0;

    for (int i = 0; i < ranks; i++)
        bytes += MPIDI_NUMACOLL_block_bytes(a->sent, i);
    MPIDI_NUMACOLL_count(a->call, 0, bytes / (size_t) ranks);
}

/* A long block goes past the caches, as those that come from others. */
static int copy_own(const struct alltoall *a)
{
    int rank = a->call->comm->rank;
    struct nc_typed from = MPIDI_NUMACOLL_block(a->sent, rank),
                    to = MPIDI_NUMACOLL_block(a->received, rank);
    int how = nc_transfer_streams(MPIDI_NUMACOLL_transfer(a->call),
                                  MPIDI_NUMACOLL_block_bytes(a->sent, rank), a->call->state->size);

    return is_in_place(a) ? MPI_SUCCESS : MPIDI_NUMACOLL_copy_own(&from, &to, how);
}

/* Each block by itself. What this rank has to do by itself it does while the blocks of others are
 * on their way. */
static int exchange_all(struct alltoall *a)
{
    const struct nc_exchange_blocks blocks = {sent_to, received_from, a};
    struct nc_transfer *transfer = MPIDI_NUMACOLL_transfer(a->call);
    struct nc_team all = nc_queue_everybody(transfer->queue);
    struct nc_exchange x;
    int mpi_errno;

    a->member = MPIDI_NUMACOLL_members(a->call);
    nc_exchange_begin(&x, transfer, &all, &blocks);
    count(a);
    mpi_errno = copy_own(a);
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_exchange_end(&x));
    return mpi_errno;
}

static int inside_node(struct alltoall *a)
{
    bool alone = a->call->state->size == 1;
    bool rows = !alone && MPIDI_NUMACOLL_goes_by_rows(a->call, a->sent);

    if (!alone)
        MPIDI_NUMACOLL_watch_way(a->call, rows, 1);
    if (!alone && !rows)
        return exchange_all(a);
    count(a);
    return alone ? copy_own(a) : MPIDI_NUMACOLL_alltoall_rows(a->call, a->sent, a->received);
}

/* ---- between nodes ---- */

/* The messages with one partner: a block in each direction. In an alltoall, whose blocks are all as
 * long, also an empty one, as another rank may have another length by mistake. In the other forms
 * an empty block is no message: there may be many. */
struct pair {
    MPIR_Request *in, *out;
    void *copy;   /* in place: what is sent, packed; else NULL */
    size_t bytes; /* in place: of each block; else 0 */
};

static int pack(struct nc_stream *stream, void **copy)
{
    size_t bytes = nc_stream_rest(stream);
    int mpi_errno = MPI_SUCCESS;

    *copy = MPL_malloc(bytes, MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!*copy, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_NUMACOLL_error(nc_copy_in(stream, *copy, bytes, 0, NULL));

fn_fail:
    return mpi_errno;
}

/* Begins to send a block, in place out of a packed copy, as the block from the partner takes its
 * place. */
static void send_block(const struct alltoall *a, struct nc_net *net, struct pair *pair, int partner)
{
    struct nc_typed block = MPIDI_NUMACOLL_block(a->sent, partner);
    struct nc_stream stream;
    size_t bytes;

    MPIDI_NUMACOLL_stream_init(&stream, &block);
    bytes = stream.length;
    if (bytes > 0 && is_in_place(a)) {
        pair->bytes = bytes;
        MPIDI_NUMACOLL_net_keep(net, pack(&stream, &pair->copy));
        /* without memory an empty message, which the partner finds too short */
        MPIDI_NUMACOLL_net_send(net, pair->copy, pair->copy ? bytes : 0, partner, a->tag,
                                &pair->out);
    } else if (bytes > 0 || !a->sent->counts) {
        MPIDI_NUMACOLL_net_send_typed(net, &block, bytes, partner, a->tag, &pair->out);
    }
}

static void expect_block(const struct alltoall *a, struct nc_net *net, struct pair *pair,
                         int partner)
{
    struct nc_typed block = MPIDI_NUMACOLL_block(a->received, partner);
    struct nc_stream stream;

    MPIDI_NUMACOLL_stream_init(&stream, &block);
    if (stream.length > 0 || !a->received->counts)
        MPIDI_NUMACOLL_net_expect_typed(net, &block, partner, a->tag, &pair->in);
}

/* Begins the messages of a round. */
static struct pair begin_pair(const struct alltoall *a, struct nc_net *net, int round)
{
    const struct MPIR_Comm *comm = a->call->comm;
    const struct nc_hierarchy *h = &a->call->state->all;
    struct pair pair = {.copy = NULL};
    int partner = nc_pairs_partner(comm->local_size, comm->rank, round);

    if (round < nc_pairs_rounds(comm->local_size) &&
        MPIDI_NUMACOLL_node_of(h, a->call->comm, partner) != h->nodes.mine) {
        send_block(a, net, &pair, partner);
        expect_block(a, net, &pair, partner);
    }
    return pair;
}

static void end_pair(struct nc_net *net, struct pair *pair)
{
    MPI_Aint came = MPIDI_NUMACOLL_net_await(net, &pair->in);

    if (came >= 0 && (size_t) came < pair->bytes)
        MPIDI_NUMACOLL_net_keep(net, MPIDI_NUMACOLL_unequal((size_t) came, pair->bytes));
    MPIDI_NUMACOLL_net_await(net, &pair->out);
    MPL_free(pair->copy);
}

/* In the order of the rounds, in each of which every rank has a partner of its own: never many send
 * to one. A round's messages wait only for those of earlier rounds. The part inside the node comes
 * while the first messages are on their way. */
static int alltoall_across(struct alltoall *a)
{
    int rounds = nc_pairs_rounds(a->call->comm->local_size);
    struct nc_net net = {.call = a->call};
    struct pair pair[AT_A_TIME];

    for (int k = 0; k < AT_A_TIME; k++)
        pair[k] = begin_pair(a, &net, k);
    MPIDI_NUMACOLL_net_keep(&net, inside_node(a));
    for (int round = 0; round < rounds; round++) {
        end_pair(&net, &pair[round % AT_A_TIME]);
        pair[round % AT_A_TIME] = begin_pair(a, &net, round + AT_A_TIME);
    }
    return net.mpi_errno;
}

/* ---- the call ---- */

/* Prefetches the first blocks. Where they are and how long, is guessed: one behind the other, and
 * as the first one. */
static void expect_blocks(const struct alltoall *a)
{
    size_t ranks = (size_t) a->call->comm->local_size;

    nc_copy_expect_read(a->sent->buffer, ranks * MPIDI_NUMACOLL_block_bytes(a->sent, 0));
    nc_copy_expect_written(a->received->buffer, ranks * MPIDI_NUMACOLL_block_bytes(a->received, 0));
}

static int alltoall(const struct nc_call *call, const struct nc_blocks *sent,
                    const struct nc_blocks *received, int tag)
{
    bool in_place = sent->buffer == MPI_IN_PLACE;
    struct alltoall a = {
        .call = call, .sent = in_place ? received : sent, .received = received, .tag = tag};

    expect_blocks(&a);
    return call->across ? alltoall_across(&a) : inside_node(&a);
}

int MPIDI_NUMACOLL_alltoall(const struct nc_call *call, const void *sendbuf, MPI_Aint sendcount,
                            MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                            MPI_Datatype recvtype)
{
    struct nc_blocks sent = {.buffer = (void *) sendbuf, .count = sendcount, .datatype = sendtype};
    struct nc_blocks received = {.buffer = recvbuf, .count = recvcount, .datatype = recvtype};

    return alltoall(call, &sent, &received, MPIR_ALLTOALL_TAG);
}

int MPIDI_NUMACOLL_alltoallv(const struct nc_call *call, const void *sendbuf,
                             const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                             MPI_Datatype sendtype, void *recvbuf, const MPI_Aint *recvcounts,
                             const MPI_Aint *rdispls, MPI_Datatype recvtype)
{
    struct nc_blocks sent = {
        .buffer = (void *) sendbuf, .counts = sendcounts, .displs = sdispls, .datatype = sendtype};
    struct nc_blocks received = {
        .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .datatype = recvtype};

    return alltoall(call, &sent, &received, MPIR_ALLTOALLV_TAG);
}

int MPIDI_NUMACOLL_alltoallw(const struct nc_call *call, const void *sendbuf,
                             const MPI_Aint *sendcounts, const MPI_Aint *sdispls,
                             const MPI_Datatype *sendtypes, void *recvbuf,
                             const MPI_Aint *recvcounts, const MPI_Aint *rdispls,
                             const MPI_Datatype *recvtypes)
{
    struct nc_blocks sent = {.buffer = (void *) sendbuf,
                             .counts = sendcounts,
                             .displs = sdispls,
                             .datatypes = sendtypes};
    struct nc_blocks received = {
        .buffer = recvbuf, .counts = recvcounts, .displs = rdispls, .datatypes = recvtypes};

    return alltoall(call, &sent, &received, MPIR_ALLTOALLW_TAG);
}
