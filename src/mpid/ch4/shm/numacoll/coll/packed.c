/* Packed messages and rows of chunks between nodes, by the functions of net.h. See packed.h. */

#include "packed.h"

/* ---- packed messages ---- */

void MPIDI_NUMACOLL_packed_open(struct nc_packed *p, const struct nc_call *call, int node, int peer,
                                int tag)
{
    const struct nc_hierarchy *h = &call->state->all;
    int ranks = nc_nodes_size(&h->nodes, node);

    *p = (struct nc_packed){.net = {.call = call},
                            .peer = peer,
                            .tag = tag,
                            .ranks = ranks,
                            .share = nc_packed_share((size_t) ranks),
                            .length = h->length,
                            .rounds = 1};
}

/* As many messages as the longest block needs, at least one. */
void MPIDI_NUMACOLL_packed_count(struct nc_packed *p)
{
    uint64_t longest = 1;

    for (int i = 0; i < p->ranks; i++)
        longest = p->length[i] > longest ? p->length[i] : longest;
    p->rounds = (longest - 1) / p->share + 1;
}

size_t MPIDI_NUMACOLL_packed_bytes(const struct nc_packed *p, int rank)
{
    uint64_t before = p->round * p->share;

    if (p->length[rank] <= before)
        return 0;
    return p->length[rank] - before < p->share ? p->length[rank] - before : p->share;
}

static char *buffer(const struct nc_packed *p, uint64_t message)
{
    return p->net.call->state->all.buffers.packed[message % 2];
}

static MPI_Aint end_message(struct nc_packed *p)
{
    return MPIDI_NUMACOLL_net_await(&p->net, &p->request[p->ended++ % 2]);
}

char *MPIDI_NUMACOLL_packed_load(struct nc_packed *p)
{
    uint64_t *lengths = (uint64_t *) buffer(p, p->begun);

    if (p->begun - p->ended == 2)
        end_message(p);
    if (p->round > 0)
        return (char *) lengths;
    memcpy(lengths, p->length, (size_t) p->ranks * sizeof *lengths);
    return (char *) (lengths + p->ranks);
}

void MPIDI_NUMACOLL_packed_send(struct nc_packed *p, const char *end)
{
    const char *start = buffer(p, p->begun);

    MPIDI_NUMACOLL_net_send(&p->net, start, (size_t) (end - start), p->peer, p->tag,
                            &p->request[p->begun % 2]);
    p->begun++;
}

static void expect_message(struct nc_packed *p)
{
    MPIDI_NUMACOLL_net_expect(&p->net, buffer(p, p->begun),
                              p->net.call->state->all.buffers.packed_bytes, p->peer, p->tag,
                              &p->request[p->begun % 2]);
    p->begun++;
}

/* Takes the lengths from the first message, and computes from them how many messages follow.
 * Returns where the shares begin. */
static char *take_lengths(struct nc_packed *p, char *message)
{
    size_t bytes = (size_t) p->ranks * sizeof *p->length;

    if (p->net.mpi_errno)
        memset(p->length, 0, bytes);
    else
        memcpy(p->length, message, bytes);
    MPIDI_NUMACOLL_packed_count(p);
    return message + bytes;
}

char *MPIDI_NUMACOLL_packed_receive(struct nc_packed *p)
{
    char *message = buffer(p, p->ended);

    if (p->round == 0)
        expect_message(p);
    end_message(p);
    if (p->round == 0)
        message = take_lengths(p, message);
    if (p->round + 1 < p->rounds)
        expect_message(p);
    return message;
}

int MPIDI_NUMACOLL_packed_close(struct nc_packed *p)
{
    while (p->ended < p->begun)
        end_message(p);
    return p->net.mpi_errno;
}

struct nc_stream *MPIDI_NUMACOLL_node_streams(const struct nc_hierarchy *h,
                                              const struct nc_blocks *b, int node)
{
    const int *rank = nc_nodes_ranks(&h->nodes, node);

    for (int i = 0; i < nc_nodes_size(&h->nodes, node); i++) {
        h->typed[i] = MPIDI_NUMACOLL_block(b, rank[i]);
        MPIDI_NUMACOLL_stream_init(&h->stream[i], &h->typed[i]);
    }
    return h->stream;
}

/* ---- rows of chunks ---- */

/* Packs the next chunk of a stream and begins to send it. Returns its bytes. */
static size_t send_chunk(struct nc_net *net, struct nc_stream *stream, int to, int tag,
                         MPIR_Request **request)
{
    char *chunk = net->call->state->all.buffers.outgoing;
    size_t bytes = nc_stream_rest(stream) < NC_CHUNK ? nc_stream_rest(stream) : NC_CHUNK;

    MPIDI_NUMACOLL_net_keep(net, MPIDI_NUMACOLL_error(nc_copy_in(stream, chunk, bytes, 0, NULL)));
    MPIDI_NUMACOLL_net_send(net, chunk, bytes, to, tag, request);
    return bytes;
}

void MPIDI_NUMACOLL_exchange_rows(struct nc_net *net, struct nc_stream *stream, int to, int from,
                                  int tag, char **into, nc_chunk_taker take, void *context)
{
    size_t sent = NC_CHUNK, received = NC_CHUNK;

    while (sent == NC_CHUNK || received == NC_CHUNK) {
        MPIR_Request *in = NULL, *out = NULL;
        if (received == NC_CHUNK)
            MPIDI_NUMACOLL_net_expect(net, *into, NC_CHUNK, from, tag, &in);
        sent = sent == NC_CHUNK ? send_chunk(net, stream, to, tag, &out) : 0;
        if (received == NC_CHUNK) {
            MPI_Aint bytes = MPIDI_NUMACOLL_net_await(net, &in);
            received = bytes < 0 ? 0 : (size_t) bytes;
            take(context, received);
        } else {
            received = 0;
        }
        MPIDI_NUMACOLL_net_await(net, &out);
    }
}
