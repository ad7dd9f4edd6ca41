/* MPI_Scan and MPI_Exscan. entry.c calls the bodies on every rank. Inside a node the ranks combine
 * by the steps of core/nc_scan.h, or, if the message is long, along the chain of all ranks
 * (shm/nc_reduce.h). If each of several nodes has ranks that follow each other, each chunk is
 * scanned on each node; the last ranks of the nodes then make an exclusive scan of the totals of
 * their nodes by messages (net.h), by doubling or along a chain of the nodes, and tell their nodes
 * the result, which every rank combines with its own. What none of this can do goes by messages
 * among all ranks: elements larger than a slot, nodes whose ranks are mixed, and on several nodes
 * elements that are not plain (reduction.h).
 *
 * Everywhere operands are combined in the order of ranks, so any operation may be used. A rank that
 * has met an error sends no elements from then on, which their readers find too few: what it has is
 * not right, and so the error comes to all whose result it is in. */

#include "bodies.h"
#include "net.h"
#include "reduce.h"
#include "../mpich/choose.h"

/* A call. */
struct scan {
    struct nc_reduction *r;
    bool exclusive;
    int tag;
};

/* Elements of the message, of the operand or of the result. */
struct part {
    size_t first, n;
    struct nc_typed mine, result;
};

static struct part part_of(const struct scan *s, size_t first, size_t n)
{
    return (struct part){.first = first,
                         .n = n,
                         .mine = MPIDI_NUMACOLL_elements(s->r, &s->r->mine, first, n),
                         .result = MPIDI_NUMACOLL_elements(s->r, &s->r->result, first, n)};
}

/* `to` := `from`, which may be in the same place. */
static int set(const struct nc_typed *to, const struct nc_typed *from)
{
    return to->buffer == from->buffer ? MPI_SUCCESS : MPIDI_NUMACOLL_copy_own(from, to, 0);
}

/* `to` := `before` op `to`. */
static int join(const struct scan *s, const struct nc_typed *to, const struct nc_typed *before)
{
    return MPIDI_NUMACOLL_reduce_elements(s->r, before->buffer, to->buffer, to->buffer,
                                          (size_t) to->count);
}

/* The total of ranks up to this one: begun before the scan, whose result may overwrite the operand;
 * ended after it, if this rank has a result. */
static int total_begin(const struct scan *s, const struct part *p, const struct nc_typed *total)
{
    return s->exclusive ? set(total, &p->mine) : MPI_SUCCESS;
}

static int total_end(const struct scan *s, const struct part *p, const struct nc_typed *total,
                     bool has_result)
{
    if (!s->exclusive)
        return set(total, &p->result);
    return has_result ? join(s, total, &p->result) : MPI_SUCCESS;
}

/* ---- inside a node ---- */

/* One operation of the node: sends `sent`, and combines what comes with `own` in `to`. *mpi_errno:
 * the first error of this rank so far. */
static void step(const struct scan *s, const struct nc_scan_step *step, const struct nc_typed *sent,
                 const struct nc_typed *own, const struct nc_typed *to, int *mpi_errno)
{
    struct nc_typed from = *sent;
    struct nc_stream stream;
    bool unequal;

    if (*mpi_errno)
        from.count = 0;
    MPIDI_NUMACOLL_stream_init(&stream, &from);
    MPIDI_NUMACOLL_operands_from(s->r, own, 0, to->buffer);
    nc_keep_first(mpi_errno,
                  MPIDI_NUMACOLL_error(nc_scan_step_node(MPIDI_NUMACOLL_transfer(s->r->call), step,
                                                         &s->r->kernel, &stream, &unequal)));
    nc_keep_first(mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
}

static int along_chain(const struct scan *s, struct part *p)
{
    struct nc_stream stream;
    struct nc_transfer transfer;
    bool unequal;
    int mpi_errno;

    MPIDI_NUMACOLL_stream_init(&stream, &p->mine);
    MPIDI_NUMACOLL_operands_from(s->r, &p->mine, 0, p->result.buffer);
    if (!s->r->call->across)
        MPIDI_NUMACOLL_result_is_final(s->r);
    transfer = MPIDI_NUMACOLL_chain_transfer(s->r, nc_stream_rest(&stream));
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_scan_chain_node(&transfer, s->exclusive, &s->r->kernel, &stream, &unequal));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* The steps across and down. total: memory for p->n elements, on the last rank of a block. */
static void between_blocks(const struct scan *s, const struct nc_scan_plan *plan,
                           const struct part *p, const struct nc_typed *total, int *mpi_errno)
{
    const struct nc_scan_step *next = plan->step + plan->up;

    for (int i = 0; i < plan->across; i++, next++)
        step(s, next, total, total, total, mpi_errno);
    step(s, next, total, &p->result, &p->result, mpi_errno);
}

static int by_steps(const struct scan *s, const struct part *p)
{
    const struct nc_scan_plan *plan = &s->r->call->choice->scan[s->exclusive];
    struct nc_typed total = p->result;
    bool has_total = plan->down && plan->is_last;
    void *allocated = NULL, *room;
    int mpi_errno = MPI_SUCCESS;

    if (has_total) {
        room = MPIDI_NUMACOLL_room(s->r, p->n, &allocated);
        if (room)
            total.buffer = room;
        else
            MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
        nc_keep_first(&mpi_errno, total_begin(s, p, &total));
    }
    for (int i = 0; i < plan->up; i++) {
        const struct nc_typed *from = i == 0 ? &p->mine : &p->result;
        step(s, &plan->step[i], from, from, &p->result, &mpi_errno);
    }
    if (has_total)
        nc_keep_first(&mpi_errno, total_end(s, p, &total, plan->joins));
    if (plan->down)
        between_blocks(s, plan, p, &total, &mpi_errno);
    MPL_free(allocated);
    return mpi_errno;
}

/* Scans a part among the ranks of the node. */
static int inside(const struct scan *s, struct part *p)
{
    struct nc_situation situation = MPIDI_NUMACOLL_situation(s->r->call->state);
    enum nc_scan_way way = NC_SCAN_STEPS;
    size_t bytes = s->r->element * p->n;

    if (s->r->call->state->size == 1)
        return s->exclusive ? MPI_SUCCESS : set(&p->result, &p->mine);
    if (s->r->plain)
        way = nc_select_scan(&situation, bytes, bytes <= NC_INLINE_BYTES, NULL);
    MPIDI_NUMACOLL_watch_way(s->r->call, (int) way, 1);
    return way == NC_SCAN_CHAIN ? along_chain(s, p) : by_steps(s, p);
}

/* ---- by messages ---- */

/* Ranks that scan among themselves by messages, and the buffers of one of them. */
struct line {
    struct nc_net net;
    const int *rank; /* [ranks] of the communicator; NULL: all of them */
    int ranks, place;
    struct nc_typed total;  /* what is sent on; at first what this rank has itself */
    struct nc_typed before; /* the result of an exclusive scan; place 0 has none */
    struct nc_typed read;   /* what has come */
    char *packed[2];        /* what comes, and what goes; NULL: elements are packed as they are */
    bool exclusive;         /* if not, `total` is the result */
};

static int rank_at(const struct line *l, int place)
{
    return l->rank ? l->rank[place] : place;
}

/* Bytes to send of a total. */
static size_t sent_bytes(const struct scan *s, const struct line *l)
{
    return l->net.mpi_errno ? 0 : (size_t) l->total.count * s->r->element;
}

/* Sends the total `distance` places on. */
static void send_total(const struct scan *s, struct line *l, int distance, MPIR_Request **sent)
{
    struct nc_typed packed = {l->packed[1], (MPI_Aint) sent_bytes(s, l), NC_TYPE_BYTE};

    if (l->place + distance >= l->ranks)
        return;
    if (packed.buffer && packed.count > 0)
        MPIDI_NUMACOLL_net_keep(&l->net, MPIDI_NUMACOLL_copy_own(&l->total, &packed, 0));
    MPIDI_NUMACOLL_net_send(&l->net, packed.buffer ? packed.buffer : l->total.buffer,
                            sent_bytes(s, l), rank_at(l, l->place + distance), s->tag, sent);
}

/* Sends the total, and reads that of the rank as many places before, if there are such ranks.
 * Whether it has come. */
static bool exchange(const struct scan *s, struct line *l, int distance)
{
    size_t bytes = (size_t) l->total.count * s->r->element;
    struct nc_typed packed = {l->packed[0], (MPI_Aint) bytes, NC_TYPE_BYTE};
    MPIR_Request *coming = NULL, *sent = NULL;
    MPI_Aint came;

    if (l->place >= distance)
        MPIDI_NUMACOLL_net_expect(&l->net, packed.buffer ? packed.buffer : l->read.buffer, bytes,
                                  rank_at(l, l->place - distance), s->tag, &coming);
    send_total(s, l, distance, &sent);
    came = MPIDI_NUMACOLL_net_await(&l->net, &coming);
    MPIDI_NUMACOLL_net_await(&l->net, &sent);
    if (came < 0)
        return false;
    if ((size_t) came != bytes)
        MPIDI_NUMACOLL_net_keep(&l->net, MPIDI_NUMACOLL_unequal((size_t) came, bytes));
    else if (packed.buffer)
        MPIDI_NUMACOLL_net_keep(&l->net, MPIDI_NUMACOLL_copy_own(&packed, &l->read, 0));
    return (size_t) came == bytes;
}

/* A scan by windows, whose length doubles in each round (Hillis, Steele 1986). */
static void scan_line(const struct scan *s, struct line *l)
{
    bool begun = false;

    for (int distance = 1; distance < l->ranks; distance *= 2) {
        if (!exchange(s, l, distance))
            continue;
        if (l->exclusive)
            MPIDI_NUMACOLL_net_keep(&l->net, begun ? join(s, &l->before, &l->read)
                                                   : set(&l->before, &l->read));
        begun = true;
        if (!l->exclusive || l->place + 2 * distance < l->ranks)
            MPIDI_NUMACOLL_net_keep(&l->net, join(s, &l->total, &l->read));
    }
}

/* ---- among all ranks ---- */

/* Memory for n elements of each buffer of the line, but for those in the user's. */
static int reserve(const struct scan *s, struct line *l, size_t n, void *allocated[4])
{
    int mpi_errno = MPI_SUCCESS;
    bool packs = !s->r->plain;

    l->read.buffer = MPIDI_NUMACOLL_room(s->r, n, &allocated[0]);
    l->total.buffer = MPIDI_NUMACOLL_room(s->r, l->exclusive ? n : 0, &allocated[1]);
    for (int i = 0; i < 2 && packs; i++)
        l->packed[i] = allocated[2 + i] = MPL_malloc(n * s->r->element, MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!l->read.buffer || !l->total.buffer ||
                            (packs && !(l->packed[0] && l->packed[1])),
                        mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_fail:
    return mpi_errno;
}

/* Scans the elements of a part. */
static void scan_part(const struct scan *s, struct line *l, const struct part *p)
{
    l->before = p->result;
    l->read.count = l->total.count = p->result.count;
    if (!l->exclusive)
        l->total = p->result;
    MPIDI_NUMACOLL_net_keep(&l->net, set(&l->total, &p->mine));
    scan_line(s, l);
}

/* Without memory a rank sends nothing in each message, which its readers find too short. */
static int by_messages(const struct scan *s)
{
    const struct nc_call *call = s->r->call;
    size_t count = (size_t) s->r->mine.count, element = s->r->element;
    size_t most = element < NC_CHUNK ? NC_CHUNK / element : 1;
    struct line l = {.net = {.call = call},
                     .ranks = call->comm->local_size,
                     .place = call->comm->rank,
                     .total = {.datatype = s->r->mine.datatype},
                     .read = {.datatype = s->r->mine.datatype},
                     .exclusive = s->exclusive};
    void *allocated[4] = {NULL};
    bool lacks_memory;

    l.net.mpi_errno = reserve(s, &l, most < count ? most : count, allocated);
    lacks_memory = l.net.mpi_errno != MPI_SUCCESS;
    for (size_t first = 0; first < count; first += most) {
        struct part p = part_of(s, first, MPL_MIN(count - first, most));
        if (lacks_memory)
            p.mine.count = p.result.count = 0;
        scan_part(s, &l, &p);
    }
    for (int i = 0; i < 4; i++)
        MPL_free(allocated[i]);
    return l.net.mpi_errno;
}

/* ---- node by node ---- */

/* What a leader needs along the chain of nodes. */
struct chain {
    bool is_used;
    void *total[2];       /* buffers of totals in turn: one may be on its way while one is made */
    MPIR_Request *coming; /* what all nodes before have together */
    MPIR_Request *sent;   /* the total of the chunk before */
};

/* Posts the receive of a chunk, so that it comes while the node scans. */
static void expect_before(const struct scan *s, struct line *l, struct chain *c)
{
    if (l->place > 0)
        MPIDI_NUMACOLL_net_expect(&l->net, l->before.buffer,
                                  (size_t) l->before.count * s->r->element,
                                  rank_at(l, l->place - 1), s->tag, &c->coming);
}

/* Hands on what the nodes up to this one have together. */
static void hand_on(const struct scan *s, struct line *l, struct chain *c)
{
    size_t bytes = (size_t) l->total.count * s->r->element;

    if (l->place > 0) {
        MPI_Aint came = MPIDI_NUMACOLL_net_await(&l->net, &c->coming);
        if (came >= 0 && (size_t) came != bytes)
            MPIDI_NUMACOLL_net_keep(&l->net, MPIDI_NUMACOLL_unequal((size_t) came, bytes));
    }
    if (l->place + 1 == l->ranks)
        return;
    if (l->place > 0)
        MPIDI_NUMACOLL_net_keep(&l->net, join(s, &l->total, &l->before));
    MPIDI_NUMACOLL_net_await(&l->net, &c->sent);
    MPIDI_NUMACOLL_net_send(&l->net, l->total.buffer, sent_bytes(s, l), rank_at(l, l->place + 1),
                            s->tag, &c->sent);
}

/* Bytes of a chunk: of WINDOW, at most what the buffers have room for. */
static size_t chunk_bytes(const struct scan *s)
{
    size_t wanted = (size_t) s->r->call->choice->chunk_bytes;

    return wanted > 0 && wanted < NC_CHUNK ? wanted : NC_CHUNK;
}

/* The node's ranks get from its last one what the nodes before have together, and combine it with
 * what they have. */
static void tell_node(const struct scan *s, struct line *l, const struct part *p)
{
    struct MPIDI_NUMACOLL_comm *state = s->r->call->state;
    struct nc_typed told = l->before;
    struct nc_stream stream;
    size_t sent;

    if (state->all.nodes.place == 0)
        return;
    if (state->size > 1) {
        if (state->rank == state->size - 1 && l->net.mpi_errno)
            told.count = 0;
        MPIDI_NUMACOLL_stream_init(&stream, &told);
        MPIDI_NUMACOLL_net_keep(&l->net, MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(
                                             s->r->call, state->size - 1, &stream, &sent)));
        MPIDI_NUMACOLL_net_keep(&l->net, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    }
    MPIDI_NUMACOLL_net_keep(&l->net, s->exclusive && state->rank == 0
                                         ? set(&p->result, &l->before)
                                         : join(s, &p->result, &l->before));
}

/* Chunk w, in the buffers of messages between nodes. */
static void scan_chunk(const struct scan *s, struct line *l, struct chain *c, struct part *p,
                       uint64_t w)
{
    struct MPIDI_NUMACOLL_comm *state = s->r->call->state;
    bool leads = state->rank == state->size - 1;

    l->total.count = l->before.count = l->read.count = p->result.count;
    l->total.buffer = c->total[w % 2];
    if (leads && c->is_used)
        expect_before(s, l, c);
    if (leads)
        MPIDI_NUMACOLL_net_keep(&l->net, total_begin(s, p, &l->total));
    MPIDI_NUMACOLL_net_keep(&l->net, inside(s, p));
    if (leads)
        MPIDI_NUMACOLL_net_keep(&l->net, total_end(s, p, &l->total, state->size > 1));
    if (leads && c->is_used)
        hand_on(s, l, c);
    else if (leads)
        scan_line(s, l);
    tell_node(s, l, p);
}

static int by_nodes(const struct scan *s)
{
    const struct nc_call *call = s->r->call;
    const struct nc_hierarchy *h = &call->state->all;
    size_t count = (size_t) s->r->mine.count, most = chunk_bytes(s) / s->r->element, chunks;
    MPI_Datatype datatype = s->r->mine.datatype;
    struct line l = {.net = {.call = call},
                     .rank = h->nodes.last,
                     .ranks = h->nodes.count,
                     .place = h->nodes.place,
                     .total = {NULL, 0, datatype},
                     .before = {h->buffers.chunk[2], 0, datatype},
                     .read = {h->buffers.operand[0], 0, datatype},
                     .exclusive = true};
    struct chain c = {.total = {h->buffers.chunk[0], h->buffers.chunk[1]}};

    most = most ? most : 1;
    chunks = (count + most - 1) / most;
    c.is_used = nc_select_scan_nodes(l.ranks, chunks, NULL) == NC_SCAN_CHAIN;
    for (uint64_t w = 0; w < chunks; w++) {
        size_t first = w * most;
        struct part p = part_of(s, first, MPL_MIN(count - first, most));
        scan_chunk(s, &l, &c, &p, w);
    }
    MPIDI_NUMACOLL_net_await(&l.net, &c.sent);
    return l.net.mpi_errno;
}

/* ---- the call ---- */

static int scan(const struct scan *s)
{
    const struct nc_call *call = s->r->call;
    struct part all = part_of(s, 0, (size_t) s->r->mine.count);

    MPIDI_NUMACOLL_count_typed(call, &s->r->mine);
    if (!s->r->in_slots)
        return by_messages(s);
    if (!call->across)
        return inside(s, &all);
    return s->r->plain && call->state->all.nodes.consecutive ? by_nodes(s) : by_messages(s);
}

int MPIDI_NUMACOLL_scan(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                        MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    struct nc_reduction r;
    struct scan s = {.r = &r, .exclusive = false, .tag = MPIR_SCAN_TAG};
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, sendbuf, recvbuf, true, count, datatype,
                                                  op);

    nc_keep_first(&mpi_errno, scan(&s));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}

int MPIDI_NUMACOLL_exscan(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                          MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    struct nc_reduction r;
    struct scan s = {.r = &r, .exclusive = true, .tag = MPIR_EXSCAN_TAG};
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, sendbuf, recvbuf, true, count, datatype,
                                                  op);

    nc_keep_first(&mpi_errno, scan(&s));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}
