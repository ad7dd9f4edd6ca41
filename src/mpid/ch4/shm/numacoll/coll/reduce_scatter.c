/* MPI_Reduce_scatter, MPI_Reduce_scatter_block. entry.c calls the bodies on every rank. Inside a
 * node every rank combines its own block of what all ranks have, straight out of their slots
 * (shm/nc_reduce.h); blocks longer than a ring piece by piece, so that all ranks combine at a time.
 * On several NUMA nodes, if these have equal numbers of ranks and the operation commutes, they do
 * so in two steps, as a sliced allreduce does: first the ranks of a NUMA node (row), then those
 * with the same index on each NUMA node (column). Two ranks send each other short blocks inline. On
 * several nodes each node reduces a chunk, which also has a piece of each block, to its leader; the
 * leaders reduce the chunks to a part for each node (above.h), and scatter it (scatter.h).
 *
 * What neither can do is reduced to rank 0 (reduce.h), which scatters it: elements larger than a
 * slot; and on several nodes operations that do not commute, elements that are not plain, and
 * chunks that would be too long with one element of each block. */

#include "above.h"
#include "bcast.h"
#include "bodies.h"
#include "reduce.h"
#include "scatter.h"

/* The vector, the operand of every rank, as a row of blocks, one for each rank. */
struct vector {
    const MPI_Aint *counts; /* elements of each block; NULL: `count` each */
    size_t count;
};

/* Which operations inside a node follow from the counts: none, one for each row of pieces, or one
 * for each chunk of rank 0. */
enum { EMPTY, PIECES, BY_RANK_0 };

/* A call. */
struct reduce_scatter {
    struct nc_reduction *r; /* of the whole vector; its result is this rank's block */
    const struct vector *vector;
    size_t before; /* elements of the vector before this rank's block */
};

/* Elements of a rank's block. */
static size_t block_of(const struct vector *v, int rank)
{
    return v->counts ? (size_t) v->counts[rank] : v->count;
}

/* Elements of the first `ranks` blocks. */
static size_t sum_of(const struct vector *v, int ranks)
{
    size_t sum = 0;

    if (!v->counts)
        return v->count * (size_t) ranks;
    for (int i = 0; i < ranks; i++)
        sum += (size_t) v->counts[i];
    return sum;
}

/* Blocks that are not empty. */
static size_t blocks_in(const struct vector *v, int ranks)
{
    size_t n = 0;

    for (int i = 0; i < ranks; i++)
        n += block_of(v, i) > 0;
    return n;
}

/* ---- pieces: what of each block is reduced at a time ---- */

/* Piece w of a block: its elements w * most .. w * most + most - 1, as far as it has them. */
struct pieces {
    size_t most, w;
    uint64_t count; /* pieces of the longest block: how often all reduce */
};

/* So long that those of all blocks together have at most `room` elements, but no piece is empty,
 * unless all blocks are. */
static struct pieces pieces_of(const struct reduce_scatter *c, size_t room)
{
    int ranks = c->r->call->comm->local_size;
    size_t blocks = blocks_in(c->vector, ranks), longest = 0;
    struct pieces p = {.count = 1};

    if (blocks == 0)
        return p;
    for (int i = 0; i < ranks; i++)
        longest = block_of(c->vector, i) > longest ? block_of(c->vector, i) : longest;
    p.most = room > blocks ? room / blocks : 1;
    if (p.most > longest)
        p.most = longest;
    p.count = (longest - 1) / p.most + 1;
    return p;
}

/* Elements of a rank's piece. */
static size_t piece_of(const struct pieces *p, const struct vector *vector, int rank)
{
    size_t block = block_of(vector, rank), before = p->w * p->most;

    return block <= before ? 0 : block - before < p->most ? block - before : p->most;
}

/* Where the result of this rank's piece goes. */
static char *place_of(const struct reduce_scatter *c, const struct pieces *p)
{
    return (char *) c->r->result.buffer + (MPI_Aint) (p->w * p->most) * c->r->extent;
}

/* ---- inside a node ---- */

/* Fills the state's counts and displs: where in the vector each rank's piece is. */
static void find_pieces(const struct reduce_scatter *c, const struct pieces *p)
{
    struct MPIDI_NUMACOLL_comm *state = c->r->call->state;
    size_t before = 0;

    for (int i = 0; i < state->size; i++) {
        state->counts[i] = (MPI_Aint) piece_of(p, c->vector, i);
        state->displs[i] = (MPI_Aint) (before + p->w * p->most);
        before += block_of(c->vector, i);
    }
}

/* The elements of the pieces of `n` ranks from rank[first] on. */
static struct nc_range range_of(const struct MPIDI_NUMACOLL_comm *state, const int *rank, int first,
                                int n)
{
    struct nc_range range = {0, 0};

    for (int i = 0; i < first; i++)
        range.first += (size_t) state->counts[rank[i]];
    for (int i = first; i < first + n; i++)
        range.count += (size_t) state->counts[rank[i]];
    return range;
}

/* A message: elements in the order in which a team sends them. */
struct message {
    struct nc_stream stream;
    struct nc_row row;
    struct nc_blocks blocks;
};

/* The pieces of all ranks, in the order of rank[]. */
static void message_of(struct message *m, const struct nc_reduction *r, const int *rank)
{
    struct MPIDI_NUMACOLL_comm *state = r->call->state;

    m->blocks = (struct nc_blocks){.buffer = r->mine.buffer,
                                   .counts = state->counts,
                                   .displs = state->displs,
                                   .datatype = r->mine.datatype};
    MPIDI_NUMACOLL_row_init(&m->stream, &m->row, &m->blocks,
                            (struct nc_round){rank, state->size, 0, state->size});
}

/* One operation of the node: every rank of the team sends its message, and combines the elements
 * `range` of all. mine: this rank's own elements of the range, one behind the other, or NULL;
 * result: where the first of them goes. */
static int combine(struct nc_reduction *r, const struct nc_team *team, struct nc_stream *message,
                   const struct nc_range *range, const char *mine, char *result, bool keeps)
{
    MPI_Aint before = (MPI_Aint) range->first * r->extent;
    bool unequal;
    int mpi_errno;

    r->kernel.mine = mine ? mine - before : NULL;
    r->kernel.result = result - before;
    mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_scatter_node(
        MPIDI_NUMACOLL_transfer(r->call), team, &r->kernel, message, range, keeps, &unequal));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* Every rank combines its piece of what all ranks have, in the order of ranks. */
static int reduce_pieces(const struct reduce_scatter *c, const struct pieces *p)
{
    struct nc_reduction *r = c->r;
    struct MPIDI_NUMACOLL_comm *state = r->call->state;
    struct nc_team all = nc_queue_everybody(&state->queue);
    struct nc_range every, own;
    const char *mine;
    struct message m;
    bool keeps;

    find_pieces(c, p);
    every = range_of(state, all.rank, 0, all.size);
    own = range_of(state, all.rank, all.index, 1);
    mine = (const char *) r->mine.buffer + state->displs[all.index] * r->extent;
    keeps = r->plain && r->mine.buffer != r->result.buffer &&
            nc_reduce_keeps(every.count * r->element);
    if (keeps)
        state->counts[all.index] = 0;
    if (keeps || p->count > 1)
        message_of(&m, r, all.rank);
    else
        MPIDI_NUMACOLL_stream_init(&m.stream, &r->mine);
    return combine(r, &all, &m.stream, &own, mine, place_of(c, p), keeps);
}

/* The same in two operations: the ranks of a NUMA node (row) combine, each for its column, and then
 * those of a column. `memory` has room for a column's pieces; NULL: this rank has nothing to give,
 * which the others find too short. */
static int reduce_by_rows(const struct reduce_scatter *c, const struct pieces *p, char *memory)
{
    struct nc_reduction *r = c->r;
    struct MPIDI_NUMACOLL_comm *state = r->call->state;
    const struct nc_team *row = &state->row, *column = &state->column;
    struct nc_range pieces, own;
    struct nc_stream partial;
    struct message m;
    int mpi_errno;

    find_pieces(c, p);
    if (!memory)
        memset(state->counts, 0, (size_t) state->size * sizeof *state->counts);
    pieces = range_of(state, state->columns, row->index * column->size, column->size);
    own = range_of(state, column->rank, column->index, 1);
    message_of(&m, r, state->columns);
    mpi_errno = combine(r, row, &m.stream, &pieces, NULL, memory, false);
    /* after an error nothing, which the others find too short */
    partial = (struct nc_stream){.bytes = memory,
                                 .length = mpi_errno ? 0 : pieces.count * r->element};
    nc_keep_first(&mpi_errno, combine(r, column, &partial, &own, memory + own.first * r->element,
                                      place_of(c, p), false));
    return mpi_errno;
}

/* Whether to reduce a NUMA node at a time, and so not in the order of ranks. */
static bool goes_by_rows(const struct nc_reduction *r)
{
    const struct MPIDI_NUMACOLL_comm *state = r->call->state;

    return r->fits && r->commutative && r->plain &&
           nc_select_reduce_scatter_rows(state->column.size, state->row.size, NULL);
}

/* The result goes past the caches where it is combined at once, of two operands, and is not in the
 * place of one, if the vector that this rank reads would not stay there. */
static void stream_result(struct nc_reduction *r)
{
    const struct MPIDI_NUMACOLL_comm *state = r->call->state;

    if (state->size == 2 && r->kernel.numbers && state->numbers.streaming &&
        r->mine.buffer != r->result.buffer &&
        nc_transfer_streams(MPIDI_NUMACOLL_transfer(r->call), (size_t) r->mine.count * r->element,
                            1))
        r->kernel.numbers = state->numbers.streaming;
}

static int inside(const struct reduce_scatter *c)
{
    struct nc_reduction *r = c->r;
    const struct MPIDI_NUMACOLL_comm *state = r->call->state;
    struct pieces p = pieces_of(c, MPIDI_NUMACOLL_ring_elements(r));
    bool rows = goes_by_rows(r);
    char *memory = NULL;
    int mpi_errno = MPI_SUCCESS;

    if (rows) {
        /* + 1: something, also where all blocks are empty */
        memory = MPL_malloc((size_t) state->column.size * p.most * r->element + 1, MPL_MEM_COLL);
        if (!memory)
            MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
    }
    stream_result(r);
    MPIDI_NUMACOLL_watch_way(r->call, p.most > 0 ? PIECES : EMPTY, p.count);
    for (; p.w < p.count; p.w++)
        nc_keep_first(&mpi_errno, rows ? reduce_by_rows(c, &p, memory) : reduce_pieces(c, &p));
    MPL_free(memory);
    return mpi_errno;
}

/* ---- two ranks, and short blocks ---- */

/* Whether the node has two ranks, with blocks so short that each sends the other's inline, and
 * nothing else. */
static bool is_short_pair(const struct reduce_scatter *c)
{
    const struct nc_reduction *r = c->r;

    return r->call->state->size == 2 && nc_reduce_fits_pair(block_of(c->vector, 0) * r->element,
                                                            block_of(c->vector, 1) * r->element);
}

static int in_pair(const struct reduce_scatter *c)
{
    struct nc_reduction *r = c->r;
    struct nc_team pair = nc_queue_everybody(&r->call->state->queue);
    size_t count = block_of(c->vector, pair.index), others = block_of(c->vector, 1 - pair.index);
    struct nc_typed mine = MPIDI_NUMACOLL_elements(r, &r->mine, c->before, count);
    struct nc_typed theirs = MPIDI_NUMACOLL_elements(r, &r->mine, pair.index ? 0 : count, others);
    const struct nc_range range = {.first = 0, .count = count};
    struct nc_stream own, sent;
    bool unequal;
    int mpi_errno;

    MPIDI_NUMACOLL_stream_init(&own, &mine);
    MPIDI_NUMACOLL_stream_init(&sent, &theirs);
    MPIDI_NUMACOLL_operands_from(r, &r->mine, c->before, r->result.buffer);
    mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_pair_node(
        MPIDI_NUMACOLL_transfer(r->call), &pair, &r->kernel, &sent, &own, &range, &unequal));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* ---- across nodes ---- */

/* The vector goes chunk by chunk: a piece of each block. A chunk is reduced inside each node to the
 * leader, and between the leaders to parts, one for each node: the pieces of its ranks, in their
 * order. The leader scatters it. */
struct chunks {
    const struct reduce_scatter *c;
    struct nc_typed operand; /* this rank's, the whole vector */
    struct pieces pieces;
    enum nc_algorithm algorithm;
    int parts;              /* of a chunk, see nc_schedule_parts */
    size_t *bound;          /* [parts + 1] of the current chunk: elements before each part */
    size_t mine_from[2];    /* where this node's part begins in chunk w: [w % 2], elements */
    struct nc_above *above; /* a leader's; else NULL */
};

/* The part of a rank's node. */
static int part_of(const struct chunks *k, int rank)
{
    const struct nc_call *call = k->c->r->call;
    const struct nc_hierarchy *h = &call->state->all;

    return h->part[MPIDI_NUMACOLL_node_of(h, call->comm, rank)];
}

/* Sets bound[part + 1] to where the part begins. pack_pieces moves it on, to where the part ends.
 */
static void find_parts(struct chunks *k)
{
    memset(k->bound, 0, ((size_t) k->parts + 2) * sizeof *k->bound);
    for (int i = 0; i < k->c->r->call->comm->local_size; i++)
        k->bound[part_of(k, i) + 2] += piece_of(&k->pieces, k->c->vector, i);
    for (int i = 2; i <= k->parts; i++)
        k->bound[i] += k->bound[i - 1];
}

/* Packs this rank's pieces of all blocks into a chunk, part after part. */
static int pack_pieces(struct chunks *k, char *chunk)
{
    const struct nc_reduction *r = k->c->r;
    size_t before = 0;
    int mpi_errno = MPI_SUCCESS;

    for (int i = 0; i < r->call->comm->local_size; i++) {
        size_t n = piece_of(&k->pieces, k->c->vector, i), *at = &k->bound[part_of(k, i) + 1];
        size_t first = n > 0 ? before + k->pieces.w * k->pieces.most : 0;
        struct nc_typed piece = MPIDI_NUMACOLL_elements(r, &k->operand, first, n);
        struct nc_stream stream;
        MPIDI_NUMACOLL_stream_init(&stream, &piece);
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_copy_in(&stream, chunk + *at * r->element,
                                                                  n * r->element, 0, NULL)));
        *at += n;
        before += block_of(k->c->vector, i);
    }
    return mpi_errno;
}

static char *chunk_buffer(const struct chunks *k, size_t w)
{
    return k->c->r->call->state->all.buffers.chunk[w % NC_CHUNKS];
}

/* Chunk w to the leaders, each of which then has its node's part. */
static int reduce_to_nodes(struct chunks *k, size_t w)
{
    const struct nc_hierarchy *h = &k->c->r->call->state->all;
    struct nc_reduction *r = k->c->r;
    char *chunk = chunk_buffer(k, w);
    int mpi_errno;
    size_t n;

    k->pieces.w = w;
    if (k->above)
        MPIDI_NUMACOLL_above_wait_sends(k->above, &k->above->up, w);
    find_parts(k);
    mpi_errno = pack_pieces(k, chunk);
    n = k->bound[k->parts];
    k->mine_from[w % 2] = k->bound[h->part[h->nodes.mine]];
    if (k->above)
        MPIDI_NUMACOLL_above_expect(k->above, &k->above->up, w, chunk, n);
    r->mine = (struct nc_typed){chunk, (MPI_Aint) n, r->mine.datatype};
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_chunk(r, 0, 0, n, chunk));
    if (k->above)
        MPIDI_NUMACOLL_above_run(k->above, &k->above->up, w, chunk, n, false);
    return mpi_errno;
}

/* This node's part of chunk w to its ranks. */
static int scatter_part(struct chunks *k, size_t w)
{
    struct nc_reduction *r = k->c->r;
    struct MPIDI_NUMACOLL_comm *state = r->call->state;
    const int *member = MPIDI_NUMACOLL_members(r->call);
    struct nc_typed result = r->result;
    struct nc_stream mine;

    k->pieces.w = w;
    for (int i = 0; i < state->size; i++)
        state->sent[i] = piece_of(&k->pieces, k->c->vector, member[i]) * r->element;
    result.buffer = place_of(k->c, &k->pieces);
    result.count = (MPI_Aint) (state->sent[state->rank] / r->element);
    MPIDI_NUMACOLL_stream_init(&mine, &result);
    return MPIDI_NUMACOLL_scatter_packed(
        r->call, chunk_buffer(k, w) + k->mine_from[w % 2] * r->element, state->sent, &mine);
}

/* Chunk w + 1 goes to the nodes before chunk w is scattered, so that the other ranks of a node have
 * it in shared memory while their leader waits for messages. */
static int chunk_by_chunk(struct chunks *k)
{
    uint64_t last = k->pieces.count - 1;
    int mpi_errno = reduce_to_nodes(k, 0);

    for (size_t w = 1; w <= last; w++) {
        nc_keep_first(&mpi_errno, reduce_to_nodes(k, w));
        nc_keep_first(&mpi_errno, scatter_part(k, w - 1));
    }
    nc_keep_first(&mpi_errno, scatter_part(k, last));
    return mpi_errno;
}

static void choose_parts(struct chunks *k, size_t bytes)
{
    const struct nc_call *call = k->c->r->call;
    struct nc_hierarchy *h = &call->state->all;

    k->algorithm = MPIDI_NUMACOLL_above_scatters_by(call, bytes < NC_CHUNK ? bytes : NC_CHUNK);
    k->parts = nc_schedule_parts(k->algorithm, h->nodes.count);
    k->bound = h->bound;
    for (int i = 0; i < k->parts; i++) {
        int owner = nc_schedule_owner(k->algorithm, h->nodes.count, i);
        if (owner >= 0)
            h->part[owner] = i;
    }
}

static int across_nodes(const struct reduce_scatter *c)
{
    const struct nc_call *call = c->r->call;
    size_t bytes = (size_t) c->r->mine.count * c->r->element;
    struct chunks k = {.c = c, .operand = c->r->mine};
    struct nc_above_choice choice;
    struct nc_above above;
    int mpi_errno;

    MPIDI_NUMACOLL_above_choose(call, NC_ALLREDUCE, bytes, c->r->element, &choice);
    k.pieces = pieces_of(c, choice.chunk / c->r->element);
    MPIDI_NUMACOLL_watch_way(call, PIECES, k.pieces.count);
    choose_parts(&k, bytes);
    if (call->state->rank > 0)
        return chunk_by_chunk(&k);
    k.above = &above;
    MPIDI_NUMACOLL_above_open(&above, call, 0);
    MPIDI_NUMACOLL_above_combine_by(&above, c->r);
    MPIDI_NUMACOLL_above_scatter(&above, k.algorithm);
    above.bound = k.bound;
    mpi_errno = chunk_by_chunk(&k);
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_above_close(&above));
    return mpi_errno;
}

/* ---- by rank 0, in chunks of the vector ---- */

/* What rank 0 has, of one chunk of the vector at a time. */
struct rank_0 {
    size_t most; /* elements of a chunk */
    void *memory;
    void *result;              /* the reduced elements, from the first on */
    MPI_Aint *counts, *displs; /* [ranks] the elements of each rank's block that are in the chunk */
};

/* Takes rank 0's memory. All ranks learn whether there was enough; without, nobody goes on. */
static int rank_0_open(struct rank_0 *k, const struct reduce_scatter *c)
{
    const struct nc_reduction *r = c->r;
    size_t ranks = (size_t) r->call->comm->local_size;
    char enough = 1;
    struct nc_typed told = {&enough, 1, NC_TYPE_BYTE};
    int mpi_errno = MPI_SUCCESS;

    *k = (struct rank_0){.most = r->element < NC_CHUNK ? NC_CHUNK / r->element : 1};
    MPIDI_NUMACOLL_watch_way(r->call, BY_RANK_0, nc_frag_count((uint64_t) r->mine.count, k->most));
    if (r->call->comm->rank == 0) {
        k->result = MPIDI_NUMACOLL_room(r, k->most, &k->memory);
        k->counts = MPL_malloc(2 * ranks * sizeof *k->counts, MPL_MEM_COLL);
        k->displs = k->counts + ranks;
        enough = k->result && k->counts ? 1 : 0;
    }
    mpi_errno = MPIDI_NUMACOLL_bcast_typed(r->call, &told, 0);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP(!enough, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_fail:
    return mpi_errno;
}

static void rank_0_close(struct rank_0 *k)
{
    MPL_free(k->memory);
    MPL_free(k->counts);
}

/* Reduces elements first .. first + n - 1 of the vector to rank 0. */
static int reduce_chunk(const struct rank_0 *k, const struct reduce_scatter *c, size_t first,
                        size_t n)
{
    const struct nc_call *call = c->r->call;
    struct nc_typed mine = MPIDI_NUMACOLL_elements(c->r, &c->r->mine, first, n);
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, mine.buffer, k->result,
                                                  call->comm->rank == 0, mine.count, mine.datatype,
                                                  c->r->op);

    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_to(&r, 0, MPIR_REDUCE_SCATTER_TAG));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}

/* The elements of both ranges. */
static struct nc_range common(struct nc_range a, struct nc_range b)
{
    size_t first = a.first > b.first ? a.first : b.first;
    size_t end_a = a.first + a.count, end_b = b.first + b.count,
           end = end_a < end_b ? end_a : end_b;

    return (struct nc_range){first, first < end ? end - first : 0};
}

/* Scatters a chunk. In place the result overwrites what this chunk, and those before, have sent. If
 * rank 0 has no result, empty blocks, which are an error of all. */
static int scatter_chunk(struct rank_0 *k, const struct reduce_scatter *c, struct nc_range chunk,
                         bool has_result)
{
    const struct nc_reduction *r = c->r;
    struct nc_range block = {0, 0},
                    own = common((struct nc_range){c->before, (size_t) r->result.count}, chunk);
    struct nc_typed mine = MPIDI_NUMACOLL_elements(
        r, &r->result, own.count ? own.first - c->before : 0, own.count);
    struct nc_blocks blocks = {
        .buffer = k->result, .counts = k->counts, .displs = k->displs, .datatype = mine.datatype};

    for (int i = 0; i < r->call->comm->local_size && k->counts; i++) {
        struct nc_range here;
        block = (struct nc_range){block.first + block.count, block_of(c->vector, i)};
        here = common(block, chunk);
        k->counts[i] = has_result ? (MPI_Aint) here.count : 0;
        k->displs[i] = here.count ? (MPI_Aint) (here.first - chunk.first) : 0;
    }
    return MPIDI_NUMACOLL_scatter_blocks(r->call, &blocks, &mine, 0, MPIR_REDUCE_SCATTER_TAG);
}

static int by_rank_0(const struct reduce_scatter *c)
{
    size_t count = (size_t) c->r->mine.count;
    struct rank_0 k;
    int mpi_errno = rank_0_open(&k, c);

    MPIR_ERR_CHECK(mpi_errno);
    for (size_t first = 0; first < count; first += k.most) {
        struct nc_range chunk = {first, MPL_MIN(count - first, k.most)};
        nc_keep_first(&mpi_errno, reduce_chunk(&k, c, first, chunk.count));
        nc_keep_first(&mpi_errno, scatter_chunk(&k, c, chunk, mpi_errno == MPI_SUCCESS));
    }

fn_fail:
    rank_0_close(&k);
    return mpi_errno;
}

/* ---- the calls ---- */

/* Whether the vector can go between nodes by chunks: they are packed, in any order, and have an
 * element of each block that is not empty. */
static bool goes_by_chunks(const struct reduce_scatter *c)
{
    const struct nc_reduction *r = c->r;
    size_t blocks = blocks_in(c->vector, r->call->comm->local_size);

    return r->fits && r->commutative && r->plain && blocks * r->element <= NC_CHUNK;
}

/* Whether every rank can combine its block out of slots. Pieces are reduced in the order of ranks,
 * so elements need not `fit` where only REDUCE_ORDER is against it; but the room to unpack those
 * that are not plain is made for what fits. (And the room to copy others, for what is in slots.) */
static bool goes_through_slots(const struct nc_reduction *r)
{
    return r->fits || (r->plain && r->in_slots);
}

static int serve(const struct reduce_scatter *c)
{
    if (c->r->call->across)
        return goes_by_chunks(c) ? across_nodes(c) : by_rank_0(c);
    if (is_short_pair(c))
        return in_pair(c);
    return goes_through_slots(c->r) ? inside(c) : by_rank_0(c);
}

static int reduce_scatter(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                          struct vector vector, MPI_Datatype datatype, MPI_Op op)
{
    int rank = call->comm->rank;
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(
        &r, call, sendbuf, recvbuf, true, (MPI_Aint) sum_of(&vector, call->comm->local_size),
        datatype, op);
    struct reduce_scatter c = {&r, &vector, 0};

    if (r.mine.count == 0) /* also if elements have no bytes */
        vector = (struct vector){NULL, 0};
    c.before = sum_of(&vector, rank);
    r.result.count = (MPI_Aint) block_of(&vector, rank);
    MPIDI_NUMACOLL_expect_operands(&r);
    MPIDI_NUMACOLL_count_typed(call, &r.result);
    /* on one node also of nothing, as other ranks may have something by mistake */
    if (r.mine.count > 0 || !call->across)
        nc_keep_first(&mpi_errno, serve(&c));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}

int MPIDI_NUMACOLL_reduce_scatter(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                                  const MPI_Aint *recvcounts, MPI_Datatype datatype, MPI_Op op)
{
    return reduce_scatter(call, sendbuf, recvbuf, (struct vector){recvcounts, 0}, datatype, op);
}

int MPIDI_NUMACOLL_reduce_scatter_block(const struct nc_call *call, const void *sendbuf,
                                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype datatype,
                                        MPI_Op op)
{
    return reduce_scatter(call, sendbuf, recvbuf, (struct vector){NULL, (size_t) recvcount},
                          datatype, op);
}
