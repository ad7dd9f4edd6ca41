/* MPI_Reduce. entry.c calls the body on every rank.
 * Inside a node the operands go up the trees, or, if the operation or the elements need it, they
 * are combined in the order of ranks (shm/nc_reduce.h). On several nodes each chunk is reduced on
 * each node to its leader, and then up the levels above the node (above.h). What neither can do is
 * gathered by the root (gather.h), which combines it. */

#include "reduce.h"

#include "above.h"
#include "bodies.h"
#include "gather.h"
#include "../mpich/choose.h"

/* ---- inside a node ---- */

struct nc_transfer MPIDI_NUMACOLL_chain_transfer(const struct nc_reduction *r, size_t bytes)
{
    struct nc_transfer transfer = *MPIDI_NUMACOLL_transfer(r->call);
    uint64_t f = nc_select_chain_fragment(r->call->state->size, bytes);

    if (f < r->element)
        f = r->element;
    if (transfer.rule == NC_FRAG_QUARTER && f < transfer.largest_fragment)
        transfer.largest_fragment = (uint32_t) f;
    return transfer;
}

/* Along one chain of all ranks. */
static int reduce_along_all(struct nc_reduction *r, int local_root, struct nc_stream *mine,
                            bool *unequal)
{
    struct nc_transfer transfer = MPIDI_NUMACOLL_chain_transfer(r, nc_stream_rest(mine));

    return MPIDI_NUMACOLL_error(nc_reduce_tree_node(&transfer, &r->call->choice->reduce_chain_all,
                                                    local_root, &r->kernel, mine, unequal));
}

/* Whether messages of so many bytes, which are not inline, go along the chain. */
static bool goes_along_all(const struct nc_reduction *r, size_t bytes)
{
    struct nc_situation situation = MPIDI_NUMACOLL_situation(r->call->state);
    int wanted = r->call->choice->chain_all;

    return wanted == NC_CHAIN_ALL_ALWAYS ||
           (wanted == NC_CHAIN_ALL_IF_LONG &&
            nc_select_reduce(&situation, bytes, false, NULL) == NC_REDUCE_CHAIN_ALL);
}

/* By the trees of the call, unless the rules or the settings make it a chain. By the bytes of the
 * whole message also where a node's ranks move it in chunks: these depend on the segment, and the
 * same inputs must be combined in the same order. Chunks between nodes do not. All ranks choose
 * alike if their counts are equal. */
static int reduce_up(struct nc_reduction *r, int local_root, struct nc_stream *mine, bool *unequal)
{
    struct nc_choice *choice = r->call->choice;
    size_t bytes = r->call->across ? nc_stream_rest(mine) : r->element * (size_t) r->mine.count;
    struct nc_route *route = r->route;

    if (route == &choice->reduce && choice->chain_all != NC_CHAIN_ALL_ALWAYS &&
        bytes <= NC_INLINE_BYTES)
        route = &choice->reduce_short;
    else if (route == &choice->reduce && goes_along_all(r, bytes))
        return reduce_along_all(r, local_root, mine, unequal);
    return MPIDI_NUMACOLL_error(nc_reduce_tree_node(MPIDI_NUMACOLL_transfer(r->call), route,
                                                    local_root, &r->kernel, mine, unequal));
}

static int reduce_in_order(struct nc_reduction *r, int local_root, struct nc_stream *mine,
                           bool *unequal)
{
    struct nc_range every = {.first = 0, .count = nc_stream_rest(mine) / r->element};
    struct nc_team all = nc_queue_everybody(&r->call->state->queue);

    return MPIDI_NUMACOLL_error(nc_reduce_ordered_node(
        MPIDI_NUMACOLL_transfer(r->call), &all, local_root, &r->kernel, mine, &every, unequal));
}

/* Reduces the rest of stream `mine` inside the node, to local rank local_root. Every rank of the
 * node calls it, after MPIDI_NUMACOLL_operands_from for the element at which the stream stands. */
static int reduce_inside(struct nc_reduction *r, int local_root, struct nc_stream *mine)
{
    bool unequal = false;
    int mpi_errno;

    if (r->call->state->size == 1)
        return r->kernel.own(r->kernel.context, 0, nc_stream_rest(mine) / r->element);
    mpi_errno = r->commutative && r->plain ? reduce_up(r, local_root, mine, &unequal)
                                           : reduce_in_order(r, local_root, mine, &unequal);
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* ---- by a gather: REDUCE_ORDER=ranks; elements larger than a slot; on several nodes also
 * operations that do not commute and elements that are not plain ---- */

/* Combines n gathered elements of each rank into elements first .. first + n - 1 of the result, in
 * the order of ranks: a0 op (a1 op (a2 ..)), as REDUCE_ORDER=ranks promises. `blocks` has them
 * packed, the block of rank 0 first. */
static int reduce_blocks(struct nc_reduction *r, const char *blocks, size_t first, size_t n)
{
    int error = 0, last = r->call->comm->local_size - 1;

    for (int rank = last; rank >= 0 && !error; rank--) {
        const char *block = blocks + (size_t) rank * n * r->element;
        error = (rank == last ? r->kernel.take : r->kernel.join)(r, first, block, n);
    }
    return MPIDI_NUMACOLL_error(error);
}

/* The root gathers some elements of every rank at a time, and combines them. Without memory for
 * them it gathers nothing: what comes is read and dropped, as the other ranks make these
 * operations. */
static int by_gather(struct nc_reduction *r, int root, int tag)
{
    int mpi_errno = MPI_SUCCESS;
    size_t count = (size_t) r->mine.count, most = MPIDI_NUMACOLL_gathered_at_once(r);
    size_t bytes = most * (size_t) r->call->comm->local_size * r->element;
    bool is_root = r->call->comm->rank == root;
    char *memory = is_root ? MPL_malloc(bytes, MPL_MEM_COLL) : NULL;

    if (is_root && !memory)
        MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (size_t first = 0; first < count || first == 0; first += most) {
        size_t n = MPL_MIN(count - first, most);
        struct nc_typed mine = MPIDI_NUMACOLL_elements(r, &r->mine, first, n);
        struct nc_blocks blocks = {.buffer = memory,
                                   .count = memory ? (MPI_Aint) (n * r->element) : 0,
                                   .datatype = NC_TYPE_BYTE};
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_gather_blocks(r->call, &mine, &blocks, root, tag));
        if (memory)
            nc_keep_first(&mpi_errno, reduce_blocks(r, memory, first, n));
    }
    MPL_free(memory);
    return mpi_errno;
}

/* ---- across nodes ---- */

int MPIDI_NUMACOLL_reduce_chunk(struct nc_reduction *r, int local_root, size_t first, size_t n,
                                char *result)
{
    struct nc_typed typed = MPIDI_NUMACOLL_elements(r, &r->mine, first, n);
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, &typed);
    MPIDI_NUMACOLL_operands_from(r, &r->mine, first, result);
    return reduce_inside(r, local_root, &mine);
}

/* A node's leader: reduces each chunk inside its node, combines what comes from other nodes, and
 * sends the chunk on. A chunk is in the result at the root, in a chunk buffer elsewhere. */
static int lead(struct nc_reduction *r, const struct nc_above_choice *choice, int root, size_t most)
{
    size_t count = (size_t) r->mine.count;
    bool is_root = r->call->comm->rank == root;
    struct nc_above x;

    MPIDI_NUMACOLL_above_open(&x, r->call, root);
    MPIDI_NUMACOLL_above_combine_by(&x, r);
    MPIDI_NUMACOLL_above_up(&x, choice, 0);
    for (uint64_t w = 0; w * most < count || w == 0; w++) {
        size_t first = w * most, n = MPL_MIN(count - first, most);
        char *place = is_root ? (char *) r->result.buffer + (MPI_Aint) first * r->extent
                              : r->call->state->all.buffers.chunk[w % NC_CHUNKS];
        MPIDI_NUMACOLL_above_expect(&x, &x.up, w, place, n);
        MPIDI_NUMACOLL_above_wait_sends(&x, &x.up, w);
        nc_keep_first(&x.net.mpi_errno,
                      MPIDI_NUMACOLL_reduce_chunk(r, r->call->state->rank, first, n, place));
        MPIDI_NUMACOLL_above_run(&x, &x.up, w, place, n, false);
    }
    return MPIDI_NUMACOLL_above_close(&x);
}

static int across_nodes(struct nc_reduction *r, int root)
{
    int leader = MPIDI_NUMACOLL_local_leader(r->call, root), mpi_errno = MPI_SUCCESS;
    size_t count = (size_t) r->mine.count, most;
    struct nc_above_choice choice;

    MPIDI_NUMACOLL_above_choose(r->call, NC_REDUCE, count * r->element, r->element, &choice);
    most = choice.chunk / r->element;
    if (r->call->state->rank == leader)
        return lead(r, &choice, root, most);
    for (size_t first = 0; first < count || first == 0; first += most)
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_chunk(r, leader, first,
                                                              MPL_MIN(count - first, most), NULL));
    return mpi_errno;
}

/* ---- the call ---- */

int MPIDI_NUMACOLL_reduce_to(struct nc_reduction *r, int root, int tag)
{
    bool across = r->call->across, over;
    struct nc_stream mine;

    if (!r->fits || (across && !(r->commutative && r->plain)))
        return by_gather(r, root, tag);
    if (across)
        return across_nodes(r, root);
    if (MPIDI_NUMACOLL_may_be_shared(r)) {
        int mpi_errno = MPIDI_NUMACOLL_reduce_shared(r, root, &over);
        if (over)
            return mpi_errno;
    }
    MPIDI_NUMACOLL_stream_init(&mine, &r->mine);
    MPIDI_NUMACOLL_result_is_final(r);
    return reduce_inside(r, root, &mine);
}

int MPIDI_NUMACOLL_reduce(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                          MPI_Aint count, MPI_Datatype datatype, MPI_Op op, int root)
{
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, sendbuf, recvbuf,
                                                  call->comm->rank == root, count, datatype, op);

    MPIDI_NUMACOLL_count_typed(call, &r.mine);
    MPIDI_NUMACOLL_expect_operands(&r);
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_to(&r, root, MPIR_REDUCE_TAG));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}
