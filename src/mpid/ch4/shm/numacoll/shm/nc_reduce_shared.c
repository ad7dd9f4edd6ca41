/* Reduce and Allreduce inside a node straight out of shared buffers. See nc_reduce_shared.h;
 * numbers are those of PROTOCOLS.md, section 3.8. */

#include "nc_reduce_shared.h"

#include <string.h>

/* Elements that are combined at a time take so many bytes, or less; they stay in the cache. */
#define BLOCK 16384

/* What each rank posts in the payload of its send control slot: where its elements and its result
 * are (places, see nc_transfer_place), the bytes of an element, and the root. */
struct posted {
    uint64_t mine, result, element;
    int64_t root;
};

/* A rank's part in a call. */
struct shared {
    struct nc_transfer *transfer;
    const struct nc_op_kernel *kernel;
    int root;                   /* -1: all ranks have a result */
    struct nc_control *control; /* this rank's send control slot */
    bool streaming;             /* numbers: results that are written once go past the caches */
    uint64_t steps;             /* so many steps has this rank announced, the post included */
    int failed;                 /* 0, or the first error of the kernel */
};

/* ---- who has what ---- */

/* Z1: posts where this rank's buffers are, if they are shared. `direct` in the header: they are. */
static void post(struct shared *s, size_t count, bool plain)
{
    struct nc_transfer *t = s->transfer;
    struct nc_team all = nc_queue_everybody(t->queue);
    struct nc_readers readers = nc_queue_team(&all);
    bool has_result = s->root < 0 || s->root == t->queue->rank;
    size_t bytes = count * s->kernel->element;
    const struct posted where = {
        .mine = nc_transfer_place(t, s->kernel->mine, bytes),
        .result = has_result ? nc_transfer_place(t, s->kernel->result, bytes) : 0,
        .element = s->kernel->element,
        .root = s->root};
    const struct nc_control_header header = {
        .total = bytes,
        .direct = plain && where.mine && (where.result || !has_result) && where.element <= BLOCK};

    s->control = nc_queue_take_send_control(t->queue, &readers);
    memcpy(s->control->payload, &where, sizeof where);
    nc_transfer_put(t, s->control, &header, s->control->payload);
    s->steps = 1;
}

static struct posted posted_by(const struct shared *s, int rank)
{
    struct posted where;

    memcpy(&where, nc_queue_send_control(s->transfer->queue, rank)->payload, sizeof where);
    return where;
}

/* Z2: reads the posts of all ranks, and judges them for a message of so many bytes. All ranks read
 * the same posts, so they agree; a rank in another call counts as one with an empty message. */
static enum nc_shared_outcome judge(struct shared *s, size_t bytes)
{
    struct nc_transfer *t = s->transfer;
    bool all_share = true, all_equal = true;

    for (int r = 0; r < (int) t->queue->geometry.ranks; r++) {
        struct nc_flow *flow = &t->flow[r];
        struct posted posted;
        nc_transfer_meet(t, flow, nc_queue_send_control(t->queue, r), NULL, r, 1);
        flow->operand = flow->result = NULL;
        posted = posted_by(s, r);
        all_share = all_share && flow->header.direct;
        all_equal = all_equal && flow->header.total == bytes &&
                    posted.element == s->kernel->element && posted.root == s->root;
    }
    return !all_equal ? NC_SHARED_UNEQUAL : all_share ? NC_SHARED_REDUCED : NC_SHARED_ELSEWHERE;
}

/* Element `first` of the operand or of the result of a rank. The first use in a call looks for the
 * buffer; it stays in reach until the last one, as this rank uses only buffers of ranks that wait
 * for it until it is through (Z7, Y4). */
static char *element_of(const struct shared *s, int rank, bool of_result, size_t first)
{
    struct nc_flow *flow = &s->transfer->flow[rank];
    char **buffer = of_result ? &flow->result : &flow->operand;

    if (!*buffer) {
        struct posted where = posted_by(s, rank);
        *buffer = nc_transfer_at(s->transfer, rank, of_result ? where.result : where.mine);
    }
    return *buffer + first * s->kernel->element;
}

/* ---- steps ---- */

/* Announces that this rank has made the step that it is at (R1). */
static void made(struct shared *s)
{
    nc_queue_announce(s->transfer->queue, s->control, ++s->steps);
}

/* Awaits that a rank has made as many steps as this one. */
static void await(const struct shared *s, int rank)
{
    struct nc_queue *q = s->transfer->queue;

    nc_queue_await(q, nc_queue_send_control(q, rank), s->steps);
}

/* to := packed op from, for n elements, at most BLOCK bytes; by streaming stores, or not. A
 * function of the user's gets a copy of `packed`: it may write there, and this process may not. */
static int combine(const struct nc_op_kernel *c, char *to, const char *packed, const char *from,
                   size_t n, bool streaming)
{
    _Alignas(NC_LINE) char copy[BLOCK];

    if (c->numbers) {
        (streaming ? c->numbers_streaming : c->numbers)(to, packed, from, n);
        return 0;
    }
    if (to != from)
        memcpy(to, from, n * c->element);
    memcpy(copy, packed, n * c->element);
    return c->reduce_packed(c->context, copy, to, n);
}

/* Combines elements in the result of `holder`, by blocks: `part` of what the holder has, with those
 * of the other ranks of a team. from_result, of_results: whether what the holder has, and what the
 * others have, is in their results, and not in their operands. */
static void combine_team(struct shared *s, int holder, bool from_result, const struct nc_team *team,
                         bool of_results, struct nc_range part)
{
    const struct nc_op_kernel *c = s->kernel;
    size_t most = BLOCK / c->element;
    int me = s->transfer->queue->rank;

    for (size_t done = 0, n; done < part.count; done += n) {
        size_t first = part.first + done;
        char *to = element_of(s, holder, true, first),
             *from = element_of(s, holder, from_result, first);
        n = part.count - done < most ? part.count - done : most;
        for (int i = 0; i < team->size && !s->failed; i++) {
            int rank = nc_team_after(team, i);
            if (rank == holder)
                continue;
            s->failed = combine(c, to, element_of(s, rank, of_results, first), from, n,
                                s->streaming && team->size == 2 && to != from);
            from = to;
            s->transfer->traffic->shared += rank == me ? 0 : n * c->element;
        }
        s->transfer->traffic->shared += holder == me ? 0 : n * c->element;
        if (to != from)
            memcpy(to, from, n * c->element);
    }
}

/* Copies the slices of `whole` that the other ranks of a team have in their results, when they have
 * made the step that this rank has made. */
static void collect(struct shared *s, const struct nc_team *team, const struct nc_range *whole)
{
    struct nc_transfer *t = s->transfer;
    size_t element = s->kernel->element;
    int me = t->queue->rank;

    for (int i = 1; i < team->size; i++) {
        int rank = nc_team_after(team, i), index = (team->index + i) % team->size;
        struct nc_range slice = nc_range_slice(whole, team, index);
        await(s, rank);
        nc_copy_bytes(element_of(s, me, true, slice.first), element_of(s, rank, true, slice.first),
                      slice.count * element, nc_transfer_streams(t, whole->count * element, 1));
        t->traffic->shared += slice.count * element;
    }
}

static void reduce_to_all(struct shared *s, const struct nc_team *row, const struct nc_team *column,
                          size_t count)
{
    struct nc_range all = {0, count}, slice = nc_range_slice(&all, row, row->index);
    int me = s->transfer->queue->rank;

    combine_team(s, me, false, row, false, slice); /* Z3 */
    made(s);
    if (column->size > 1) {
        for (int i = 1; i < column->size; i++)
            await(s, nc_team_after(column, i));
        combine_team(s, me, true, column, true,
                     nc_range_slice(&slice, column, column->index)); /* Z4 */
        made(s);
        collect(s, column, &slice); /* Z5 */
        made(s);
    }
    collect(s, row, &all); /* Z6 */
}

/* The root's elements are combined only where a row is the first at a slice. */
static void reduce_to_root(struct shared *s, const struct nc_team *row,
                           const struct nc_team *column, size_t count)
{
    struct nc_range all = {0, count}, slice = nc_range_slice(&all, row, row->index);
    struct nc_team everybody = nc_queue_everybody(s->transfer->queue);
    bool is_root = s->root == s->transfer->queue->rank;
    const struct nc_team *awaited = is_root ? &everybody : row;

    for (int step = 0; step < column->size; step++) { /* Y3 */
        int part = (column->index + step) % column->size;
        if (step > 0)
            await(s, nc_team_after(column, 1));
        combine_team(s, s->root, step > 0, row, false, nc_range_slice(&slice, column, part));
        made(s);
    }
    for (int i = 1; i < awaited->size; i++) /* Y4 */
        await(s, nc_team_after(awaited, i));
}

int nc_reduce_shared_node(struct nc_transfer *t, int root, const struct nc_team *row,
                          const struct nc_team *column, const struct nc_op_kernel *kernel,
                          size_t count, bool plain, enum nc_shared_outcome *outcome)
{
    struct shared s = {.transfer = t, .kernel = kernel, .root = root};
    struct nc_team all = nc_queue_everybody(t->queue);
    struct nc_readers readers = nc_queue_team(&all);
    bool reduced;

    post(&s, count, plain);
    *outcome = judge(&s, count * kernel->element);
    reduced = *outcome == NC_SHARED_REDUCED;
    /* with several rows, what one has written another one reads */
    s.streaming = kernel->numbers_streaming && column->size == 1 &&
                  nc_transfer_streams(t, count * kernel->element, 2);
    if (reduced && root < 0)
        reduce_to_all(&s, row, column, count);
    else if (reduced)
        reduce_to_root(&s, row, column, count);
    nc_queue_end(t->queue);
    if (reduced && root < 0) /* Z7 */
        nc_queue_await_ended(t->queue, &readers);
    return s.failed;
}
