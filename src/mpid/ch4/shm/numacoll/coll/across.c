#include "across.h"

int MPIDI_NUMACOLL_send(struct MPIDI_NUMACOLL_comm *state, const void *from, size_t bytes, int to,
                        int tag, MPIR_Comm *comm, NC_ERRFLAG_T errflag, MPIR_Request **request)
{
    state->counts.messages++;
    state->counts.message_bytes += bytes;
    return MPIC_Isend(from, (MPI_Aint) bytes, MPI_BYTE, to, tag, comm, request, errflag);
}

/* ---- channels ---- */

static void open_channel(struct nc_channel *c, struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm,
                         int peer, int tag, NC_ERRFLAG_T errflag)
{
    *c = (struct nc_channel){.state = state,
                             .comm = comm,
                             .peer = peer,
                             .tag = tag,
                             .errflag = errflag,
                             .buffer = state->all.window,
                             .bytes = state->all.window_bytes};
}

/* Ends the oldest message; its bytes. */
static size_t end_message(struct nc_channel *c)
{
    MPI_Status status;
    MPIR_Request **request = &c->request[c->ended++ % 2];
    MPI_Aint bytes = 0;
    int mpi_errno = MPI_SUCCESS;

    if (*request) {
        mpi_errno = NC_WAITALL(1, request, &status, c->errflag);
        bytes = mpi_errno == MPI_SUCCESS ? MPIR_STATUS_GET_COUNT(status) : 0;
    }
    *request = NULL;
    MPIDI_NUMACOLL_keep_first(&c->mpi_errno, mpi_errno);
    return (size_t) bytes;
}

static char *free_buffer(struct nc_channel *c)
{
    if (c->begun - c->ended == 2)
        end_message(c);
    return c->buffer[c->begun % 2];
}

static void send_message(struct nc_channel *c, size_t bytes)
{
    int i = (int) (c->begun++ % 2);

    MPIDI_NUMACOLL_keep_first(&c->mpi_errno,
                              MPIDI_NUMACOLL_send(c->state, c->buffer[i], bytes, c->peer, c->tag,
                                                  c->comm, c->errflag, &c->request[i]));
}

static void expect_message(struct nc_channel *c)
{
    int i = (int) (c->begun++ % 2);

    MPIDI_NUMACOLL_keep_first(&c->mpi_errno, MPIC_Irecv(c->buffer[i], (MPI_Aint) c->bytes, MPI_BYTE,
                                                        c->peer, c->tag, c->comm, &c->request[i]));
}

/* ---- freight ---- */

void MPIDI_NUMACOLL_freight_open(struct nc_freight *f, struct MPIDI_NUMACOLL_comm *state, int node,
                                 MPIR_Comm *comm, int peer, int tag, NC_ERRFLAG_T errflag)
{
    const struct nc_hierarchy *h = &state->all;
    int ranks = h->first[node + 1] - h->first[node];

    *f = (struct nc_freight){
        .ranks = ranks, .part = nc_window_part((size_t) ranks), .length = h->length, .rounds = 1};
    open_channel(&f->channel, state, comm, peer, tag, errflag);
}

/* As many as the longest block needs. */
void MPIDI_NUMACOLL_freight_count(struct nc_freight *f)
{
    uint64_t longest = 1;

    for (int i = 0; i < f->ranks; i++)
        longest = f->length[i] > longest ? f->length[i] : longest;
    f->rounds = (longest - 1) / f->part + 1;
}

size_t MPIDI_NUMACOLL_freight_window(const struct nc_freight *f, int rank)
{
    uint64_t before = f->round * f->part;

    if (f->length[rank] <= before)
        return 0;
    return f->length[rank] - before < f->part ? f->length[rank] - before : f->part;
}

char *MPIDI_NUMACOLL_freight_load(struct nc_freight *f)
{
    char *buffer = free_buffer(&f->channel);

    if (f->round > 0)
        return buffer;
    for (int i = 0; i < f->ranks; i++)
        ((uint64_t *) buffer)[i] = f->length[i];
    return buffer + (size_t) f->ranks * sizeof(uint64_t);
}

void MPIDI_NUMACOLL_freight_send(struct nc_freight *f, const char *end)
{
    send_message(&f->channel, (size_t) (end - f->channel.buffer[f->channel.begun % 2]));
}

char *MPIDI_NUMACOLL_freight_receive(struct nc_freight *f)
{
    char *buffer = f->channel.buffer[f->channel.ended % 2];

    if (f->round == 0)
        expect_message(&f->channel);
    end_message(&f->channel);
    if (f->round == 0) {
        for (int i = 0; i < f->ranks; i++)
            f->length[i] = f->channel.mpi_errno ? 0 : ((const uint64_t *) buffer)[i];
        MPIDI_NUMACOLL_freight_count(f);
        buffer += (size_t) f->ranks * sizeof(uint64_t);
    }
    if (f->round + 1 < f->rounds)
        expect_message(&f->channel);
    return buffer;
}

int MPIDI_NUMACOLL_freight_close(struct nc_freight *f)
{
    while (f->channel.ended < f->channel.begun)
        end_message(&f->channel);
    return f->channel.mpi_errno;
}

struct nc_stream *MPIDI_NUMACOLL_node_streams(const struct nc_hierarchy *h,
                                              const struct nc_blocks *b, int node)
{
    for (int i = 0; i < h->first[node + 1] - h->first[node]; i++) {
        h->typed[i] = MPIDI_NUMACOLL_block(b, h->member[h->first[node] + i]);
        MPIDI_NUMACOLL_stream_init(&h->stream[i], &h->typed[i]);
    }
    return h->stream;
}
