/* Reduce, allreduce and scans inside a node. Each sender writes its elements into its own send
 * control slot or send ring; its parent in a tree, or the ranks that reduce in the order of a team,
 * read them from there and reduce them by the caller's op kernel. The
 * steps are nc_transfer's. Numbers are those
 * of PROTOCOLS.md, section 3.5. Round i is about fragment i of all messages. */

#include "nc_reduce.h"

#include <string.h>

/* A rank's part in a call. The sources are the ranks whose messages it reduces. */
struct reduce {
    struct nc_transfer *transfer;
    const struct nc_op_kernel *kernel;
    struct nc_stream *stream;       /* this rank's own elements */
    struct nc_flow *mine;           /* this rank's message in fragments; not used inline */
    struct nc_readers readers;      /* of this rank's send control slot and slots */
    const struct nc_position *part; /* up a tree: this rank's part; NULL: in the order of `team` */
    const struct nc_team *team;     /* the sources; in a scan index is -1 */
    const struct nc_range *kept;    /* elements that are not in `stream`; NULL: none */
    bool joins;          /* in order: this rank's elements come behind those of the sources */
    bool fills;          /* fragments fill slots: all ranks write and read at the same time */
    int sources;         /* how many; their messages are transfer->flow[0 .. sources - 1] */
    nc_combine *numbers; /* the kernel's, for this call; NULL if it has none */
    int copied;          /* 0, or the first error of a copy or of the kernel */
    bool unequal;
};

/* ---- what I have ---- */

/* Elements of the message before fragment i. */
static size_t first_of(const struct reduce *r, uint64_t i)
{
    return i * r->mine->at_once;
}

/* Elements of fragment i, in my message and in every message of the same length: counted as
 * nc_frag_bytes counts bytes. */
static size_t elements_of(const struct reduce *r, uint64_t i)
{
    return nc_frag_bytes(r->mine->elements, r->mine->at_once, i);
}

/* Prepares my message, in fragments of whole elements. A root that sends nothing prepares it too:
 * it says how the fragments of the sources are cut. */
static void begin(struct reduce *r)
{
    size_t element = r->kernel->element;
    struct nc_flow *mine = r->mine;

    nc_transfer_begin(r->transfer, mine, r->stream, r->transfer->queue->rank);
    if (r->kept) {
        mine->kept_first = r->kept->first * element;
        mine->kept_end = mine->kept_first + r->kept->count * element;
        mine->header.total += r->kept->count * element;
    }
    if (r->fills)
        nc_transfer_fill_slots(r->transfer, mine);
    mine->elements = mine->header.total / element;
    mine->at_once = mine->header.fragment / (uint32_t) element;
    if (mine->at_once == 0)
        mine->at_once = 1;
    mine->header.fragment = (uint32_t) (mine->at_once * element);
    mine->fragments = nc_frag_count(mine->elements, mine->at_once);
}

/* J1. The header follows with the first announcement (J5). */
static struct nc_control *take_control(struct reduce *r)
{
    return nc_queue_take_send_control(r->transfer->queue, &r->readers);
}

/* ---- what others have ---- */

/* The rank of source k. Source 0 is my last child, or the last rank of my team. */
static int source(const struct reduce *r, int k)
{
    int last = r->sources - 1;

    return r->part ? nc_position_child(r->part, last - k) : r->team->rank[last - k];
}

/* J3: awaits the header of source k. A source whose message has another length than mine is left
 * out (its flow's control becomes NULL): this rank reads none of its fragments. Its slots are
 * acknowledged with those of the other sources, by R3 at the latest. */
static void meet(struct reduce *r, int k)
{
    struct nc_flow *flow = &r->transfer->flow[k];
    int rank = source(r, k);

    nc_transfer_meet(r->transfer, flow, nc_queue_send_control(r->transfer->queue, rank), r->stream,
                     rank, 1);
    if (flow->header.total != r->mine->header.total ||
        flow->header.fragment != r->mine->header.fragment) {
        r->unequal = true;
        flow->control = NULL;
    }
    r->unequal |= flow->header.incomplete;
}

/* J3 of all sources, in round 0 only. */
static void meet_sources(struct reduce *r, uint64_t i)
{
    for (int k = 0; k < r->sources && i == 0; k++)
        meet(r, k);
}

/* J4: waits until fragment i of source k is announced. Returns where it is, or NULL if the source
 * is left out. */
static const char *await_source(struct reduce *r, int k, uint64_t i)
{
    struct nc_flow *flow = &r->transfer->flow[k];

    if (!flow->control)
        return NULL;
    nc_queue_await(r->transfer->queue, flow->control, i + 1);
    return nc_transfer_source(r->transfer, flow, i);
}

/* J6: n fragments of every source are read. */
static void acknowledge(const struct reduce *r, uint64_t n)
{
    nc_transfer_acknowledge(r->transfer, n, r->sources > 0 && n < r->mine->fragments,
                            r->transfer->queue->geometry.set_slots);
}

/* Counts the traffic of reading so many bytes of source k. */
static void count(struct reduce *r, int k, size_t bytes)
{
    nc_copy_count(r->transfer->traffic, bytes, r->transfer->flow[k].how);
}

/* ---- accumulating elements of several sources ---- */

/* Elements first .. first + n - 1 of the message, accumulated in one place. */
struct accumulation {
    struct reduce *r;
    size_t first, n;
    char *place;      /* the place; NULL: where the result is */
    const char *last; /* numbers: where the elements accumulated so far are; NULL: none yet */
    bool begun;       /* other elements: whether the place has any yet */
};

static char *place_of(const struct accumulation *f)
{
    const struct nc_op_kernel *c = f->r->kernel;

    return f->place ? f->place : c->result + f->first * c->element;
}

/* Begins with this rank's own elements. Numbers are not copied: the first source is reduced with
 * them where they are, which saves a pass over them. */
static void accumulate_mine(struct accumulation *f)
{
    const struct nc_op_kernel *c = f->r->kernel;
    int error = 0;

    f->begun = true;
    if (c->numbers) {
        f->last = c->mine + f->first * c->element;
        if (f->place)
            nc_copy_count(f->r->transfer->traffic, f->n * c->element, 0);
    } else if (f->place) {
        error = nc_copy_in(f->r->stream, f->place, f->n * c->element, 0, f->r->transfer->traffic);
    } else {
        error = c->own(c->context, f->first, f->n);
    }
    nc_keep_first(&f->r->copied, error);
}

/* Accumulates elements of a source, `packed` in shared memory: packed op what is accumulated. */
static void accumulate_packed(struct accumulation *f, const char *packed)
{
    const struct nc_op_kernel *c = f->r->kernel;

    if (!c->numbers) {
        f->r->copied = f->place
                           ? c->reduce_packed(c->context, packed, f->place, f->n)
                           : (f->begun ? c->join : c->take)(c->context, f->first, packed, f->n);
    } else if (f->last) {
        f->r->numbers(place_of(f), packed, f->last, f->n);
        f->last = place_of(f);
    } else {
        f->last = packed;
    }
    f->begun = true;
}

/* Ends an accumulation. If it has the numbers of one rank only, these are still where that rank has
 * them; they are copied here. message: mine, if the place is a slot of it; else NULL. */
static void accumulate_end(struct accumulation *f, const struct nc_flow *message)
{
    size_t bytes = f->n * f->r->kernel->element;
    struct nc_paced paced = {.how = 0};

    if (bytes == 0 || !f->last || f->last == place_of(f))
        return;
    if (message)
        paced = nc_transfer_begin_copy(f->r->transfer, message, bytes);
    nc_copy_bytes(place_of(f), f->last, bytes, paced.how);
    nc_transfer_end_copy(&paced);
}

/* ---- up a tree ---- */

/* Accumulates fragment i of this rank and of its children, in `place`, or, if that is NULL, in the
 * result. */
static void reduce_children(struct reduce *r, uint64_t i, char *place)
{
    struct accumulation f = {
        .r = r, .first = first_of(r, i), .n = elements_of(r, i), .place = place};

    accumulate_mine(&f);
    meet_sources(r, i);
    for (int k = 0; k < r->sources; k++) {
        const char *fragment = await_source(r, k, i);
        if (!fragment || r->copied)
            continue;
        count(r, k, f.n * r->kernel->element);
        accumulate_packed(&f, fragment);
    }
    accumulate_end(&f, place ? r->mine : NULL);
}

/* J2 to J6 */
static void tree_round(struct reduce *r, uint64_t i)
{
    char *place = NULL;

    if (r->part->parent >= 0)
        place = nc_transfer_take_slot(r->transfer, &r->readers, i);
    reduce_children(r, i, place);
    r->mine->header.incomplete = r->unequal;
    if (place) {
        nc_transfer_announce(r->transfer, r->mine->control, &r->mine->header, i);
        nc_transfer_demote_slot(r->transfer, &r->mine->header, i, place);
    }
    acknowledge(r, i + 1);
}

/* Whether the result goes past the caches: nobody gets it from this rank, which reads as many bytes
 * of its own, and that many together would not stay there. Of several sources the first would bring
 * the lines of the result into the cache, as do operands in its place. */
static bool streams_result(const struct reduce *r)
{
    const struct nc_op_kernel *c = r->kernel;

    return r->readers.count[0] == 0 && r->sources == 1 && c->numbers_streaming &&
           c->mine != c->result && nc_transfer_streams(r->transfer, r->mine->header.total, 2);
}

static void up_the_tree(struct reduce *r)
{
    struct nc_flow mine;

    r->mine = &mine;
    begin(r);
    if (r->part->parent >= 0) {
        r->readers = nc_queue_one(r->transfer->queue, r->part->parent);
        mine.control = take_control(r);
    }
    if (streams_result(r))
        r->numbers = r->kernel->numbers_streaming;
    for (uint64_t i = 0; i < mine.fragments; i++)
        tree_round(r, i);
}

/* ---- in order ---- */

/* How many elements of fragment i are in the range; *skip: elements of the fragment before them. */
static size_t part_in(const struct reduce *r, const struct nc_range *range, uint64_t i,
                      size_t *skip)
{
    size_t first = first_of(r, i), end = first + elements_of(r, i),
           last = range->first + range->count;

    *skip = range->first > first ? range->first - first : 0;
    end = last < end ? last : end;
    return first + *skip < end ? end - first - *skip : 0;
}

/* Whether source k is this rank itself. */
static bool is_mine(const struct reduce *r, int k)
{
    return r->sources - 1 - k == r->team->index;
}

/* Whether source k is this rank itself, and its elements are numbers that can be read in the user's
 * memory instead of the slot or payload, which may have gone past the cache. The result of the
 * first two sources may overwrite them: if it is in their place, this rank must be one of these
 * two; elsewhere it must not touch them. */
static bool is_at_hand(const struct reduce *r, const struct nc_range *range, int k)
{
    const struct nc_op_kernel *c = r->kernel;
    uintptr_t mine = (uintptr_t) c->mine, result = (uintptr_t) c->result,
              apart = mine < result ? result - mine : mine - result;

    return c->numbers && c->mine && is_mine(r, k) &&
           (apart >= range->count * c->element || (apart == 0 && k < 2));
}

/* Accumulates the part of fragment i that is in the range: in a scan this rank's own elements
 * first, then from the last rank of the team to the first. Elements that this rank keeps are all in
 * its range. */
static void reduce_in_order(struct reduce *r, const struct nc_range *range, uint64_t i)
{
    size_t skip, n = part_in(r, range, i, &skip), element = r->kernel->element;
    struct accumulation f = {.r = r, .first = first_of(r, i) + skip, .n = n};

    if (r->joins)
        accumulate_mine(&f);
    for (int k = 0; k < r->sources && n > 0; k++) {
        bool near = r->kept ? is_mine(r, k) : is_at_hand(r, range, k);
        const char *fragment = near ? r->kernel->mine + first_of(r, i) * element
                                    : await_source(r, k, i);
        if (!fragment || r->copied)
            continue;
        if (!near)
            count(r, k, n * element);
        accumulate_packed(&f, fragment + skip * element);
    }
    accumulate_end(&f, NULL);
}

/* J2, J5, J3, J4, J6 */
static void ordered_round(struct reduce *r, const struct nc_range *range, uint64_t i)
{
    while (nc_transfer_sends(r->transfer, r->mine, i))
        nc_transfer_send(r->transfer, r->mine, &r->readers, r->mine->next++);
    nc_keep_first(&r->copied, r->mine->copied);
    meet_sources(r, i);
    reduce_in_order(r, range, i);
    acknowledge(r, i + 1);
}

static void in_order(struct reduce *r, const struct nc_range *range)
{
    struct nc_flow mine;

    r->mine = &mine;
    begin(r);
    if (r->readers.count[0] > 0)
        mine.control = take_control(r);
    else
        mine.next = mine.fragments; /* sends none */
    for (uint64_t i = 0; i < mine.fragments; i++)
        ordered_round(r, range, i);
}

/* ---- a scan along the chain of all ranks ---- */

/* C1: copies elements in shared memory, of fragment i, into the result. */
static void keep(struct reduce *r, uint64_t i, const char *packed)
{
    const struct nc_op_kernel *c = r->kernel;
    size_t n = elements_of(r, i), first = first_of(r, i);

    if (!packed || r->copied)
        return;
    if (c->numbers)
        nc_copy_bytes(c->result + first * c->element, packed, n * c->element,
                      nc_transfer_streams(r->transfer, r->mine->header.total, 1));
    else
        r->copied = c->take(c->context, first, packed, n);
}

/* J2, J3, J4, J5, C1, J6 */
static void chain_round(struct reduce *r, bool exclusive, uint64_t i)
{
    char *place = NULL;

    if (r->readers.count[0] > 0)
        place = nc_transfer_take_slot(r->transfer, &r->readers, i);
    if (place || !exclusive) {
        reduce_children(r, i, place);
    } else { /* the last rank hands nothing on */
        meet_sources(r, i);
        count(r, 0, elements_of(r, i) * r->kernel->element);
    }
    if (place) {
        r->mine->header.incomplete = r->unequal;
        nc_transfer_announce(r->transfer, r->mine->control, &r->mine->header, i);
    }
    if (exclusive)
        keep(r, i, r->sources > 0 ? await_source(r, 0, i) : NULL);
    else if (place)
        keep(r, i, place);
    if (place)
        nc_transfer_demote_slot(r->transfer, &r->mine->header, i, place);
    acknowledge(r, i + 1);
}

static void along_the_chain(struct reduce *r, bool exclusive)
{
    struct nc_flow mine;

    r->mine = &mine;
    begin(r);
    if (r->readers.count[0] > 0)
        mine.control = take_control(r);
    else if (streams_result(r))
        r->numbers = r->kernel->numbers_streaming;
    for (uint64_t i = 0; i < mine.fragments; i++)
        chain_round(r, exclusive, i);
}

/* ---- inline: one round, in send control slots alone ---- */

static bool is_inline(const struct reduce *r)
{
    return nc_stream_rest(r->stream) <= NC_INLINE_BYTES;
}

/* J3, J4: waits until the message of source k is announced. Returns where its elements are; NULL if
 * the source is left out (its length is not `bytes`), if it has none, or after an error. */
static const char *await_inline(struct reduce *r, int k, size_t bytes)
{
    struct nc_queue *q = r->transfer->queue;
    int rank = source(r, k);
    struct nc_control *control = nc_queue_send_control(q, rank);

    nc_queue_await(q, control, 1);
    if (!nc_queue_is_of_call(q, control, rank) || control->header.total != bytes ||
        control->header.fragment != 0) {
        r->unequal = true;
        return NULL;
    }
    r->unequal |= control->header.incomplete;
    if (r->copied || bytes == 0)
        return NULL;
    nc_copy_count(r->transfer->traffic, bytes, nc_transfer_remote(r->transfer, rank));
    return control->payload;
}

static void inline_up_the_tree(struct reduce *r)
{
    struct nc_control_header header = {.total = nc_stream_rest(r->stream)};
    /* a division of 32 bits, which takes less time */
    struct accumulation f = {.r = r, .n = (uint32_t) header.total / (uint32_t) r->kernel->element};
    struct nc_control *control = NULL;

    if (r->part->parent >= 0) {
        r->readers = nc_queue_one(r->transfer->queue, r->part->parent);
        control = take_control(r);
        f.place = control->payload;
    }
    accumulate_mine(&f);
    for (int k = 0; k < r->sources; k++) {
        const char *theirs = await_inline(r, k, header.total);
        if (theirs)
            accumulate_packed(&f, theirs);
    }
    accumulate_end(&f, NULL);
    header.incomplete = r->unequal;
    if (control)
        nc_transfer_put(r->transfer, control, &header, control->payload);
}

static void inline_in_order(struct reduce *r, const struct nc_range *range)
{
    size_t bytes = nc_stream_rest(r->stream);
    struct accumulation f = {.r = r, .first = range->first, .n = range->count};

    if (r->readers.count[0] > 0)
        r->copied = nc_transfer_inline(r->transfer, take_control(r), r->stream, 0);
    if (r->joins)
        accumulate_mine(&f);
    for (int k = 0; k < r->sources; k++) {
        const char *elements = is_at_hand(r, range, k) ? r->kernel->mine
                                                       : await_inline(r, k, bytes);
        if (elements && range->count > 0)
            accumulate_packed(&f, elements + range->first * r->kernel->element);
    }
    accumulate_end(&f, NULL);
}

/* Where this rank's own elements of a pair are, from the first of the range on: in the user's
 * memory; or in `packed`, where this function puts them, if they are not numbers, or if the result
 * would overwrite some of them before they are reduced. */
static const char *own_of_pair(struct reduce *r, const struct nc_range *range,
                               struct nc_stream *own, char *packed)
{
    if (is_at_hand(r, range, r->sources - 1 - r->team->index))
        return r->kernel->mine + range->first * r->kernel->element;
    nc_keep_first(&r->copied, nc_copy_in(own, packed, nc_stream_rest(own), 0, NULL));
    return packed;
}

/* P4: of two ranks each sends what the other one reduces, and nothing else. */
static void inline_in_pair(struct reduce *r, const struct nc_range *range, struct nc_stream *own)
{
    _Alignas(16) char packed[NC_INLINE_BYTES];
    size_t bytes = range->count * r->kernel->element;
    struct accumulation f = {.r = r, .first = range->first, .n = range->count};
    const char *mine;

    r->copied = nc_transfer_inline(r->transfer, take_control(r), r->stream, 0);
    mine = own_of_pair(r, range, own, packed);
    for (int k = 0; k < r->sources; k++) {
        const char *elements = is_mine(r, k) ? mine : await_inline(r, k, bytes);
        if (elements && range->count > 0 && !r->copied)
            accumulate_packed(&f, elements);
    }
    accumulate_end(&f, NULL);
}

/* ---- the calls ---- */

static int end(struct reduce *r, bool *unequal)
{
    nc_queue_end(r->transfer->queue);
    *unequal = r->unequal;
    return r->copied;
}

/* A root that has met another length says so where in a reduce up the trees nobody looks: a rank
 * whose message is longer may be in a reduce out of shared buffers, and wait for a post (Z2). */
static void tell_unequal(struct reduce *r, uint64_t total)
{
    struct nc_transfer *t = r->transfer;
    struct nc_team all = nc_queue_everybody(t->queue);
    const struct nc_control_header header = {.total = total};

    if (!r->unequal || r->part->parent >= 0 || !t->direct || !t->direct->shared)
        return;
    r->readers = nc_queue_team(&all);
    nc_transfer_announce(t, take_control(r), &header, 0);
}

int nc_reduce_tree_node(struct nc_transfer *t, struct nc_route *route, int root,
                        const struct nc_op_kernel *kernel, struct nc_stream *mine, bool *unequal)
{
    const struct nc_position *part = nc_route_position(route, root);
    struct reduce r = {.transfer = t,
                       .kernel = kernel,
                       .numbers = kernel->numbers,
                       .stream = mine,
                       .part = part,
                       .sources = part->children};
    uint64_t total = nc_stream_rest(mine);

    if (is_inline(&r))
        inline_up_the_tree(&r);
    else
        up_the_tree(&r);
    tell_unequal(&r, total);
    return end(&r, unequal);
}

static int reduce_in_team(struct reduce *r, const struct nc_range *range, bool *unequal)
{
    if (is_inline(r) && !r->kept)
        inline_in_order(r, range);
    else
        in_order(r, range);
    return end(r, unequal);
}

int nc_reduce_ordered_node(struct nc_transfer *t, const struct nc_team *team, int root,
                           const struct nc_op_kernel *kernel, struct nc_stream *mine,
                           const struct nc_range *range, bool *unequal)
{
    struct nc_queue *q = t->queue;
    struct reduce r = {.transfer = t,
                       .kernel = kernel,
                       .numbers = kernel->numbers,
                       .stream = mine,
                       .team = team,
                       .fills = root < 0,
                       .readers = root < 0 ? nc_queue_team(team) : nc_queue_one(q, root),
                       .sources = root < 0 || root == q->rank ? team->size : 0};

    return reduce_in_team(&r, range, unequal);
}

int nc_reduce_scatter_node(struct nc_transfer *t, const struct nc_team *team,
                           const struct nc_op_kernel *kernel, struct nc_stream *mine,
                           const struct nc_range *range, bool keeps, bool *unequal)
{
    struct reduce r = {.transfer = t,
                       .kernel = kernel,
                       .numbers = kernel->numbers,
                       .stream = mine,
                       .team = team,
                       .kept = keeps ? range : NULL,
                       .fills = true,
                       .readers = nc_queue_team(team),
                       .sources = team->size};

    return reduce_in_team(&r, range, unequal);
}

int nc_reduce_pair_node(struct nc_transfer *t, const struct nc_team *team,
                        const struct nc_op_kernel *kernel, struct nc_stream *theirs,
                        struct nc_stream *own, const struct nc_range *range, bool *unequal)
{
    struct reduce r = {.transfer = t,
                       .kernel = kernel,
                       .numbers = kernel->numbers,
                       .stream = theirs,
                       .team = team,
                       .readers = nc_queue_one(t->queue, nc_team_after(team, 1)),
                       .sources = team->size};

    inline_in_pair(&r, range, own);
    return end(&r, unequal);
}

int nc_scan_step_node(struct nc_transfer *t, const struct nc_scan_step *step,
                      const struct nc_op_kernel *kernel, struct nc_stream *mine, bool *unequal)
{
    const struct nc_team sources = {.rank = step->source, .size = step->sources, .index = -1};
    const struct nc_range all = {.first = 0, .count = nc_stream_rest(mine) / kernel->element};
    struct reduce r = {.transfer = t,
                       .kernel = kernel,
                       .numbers = kernel->numbers,
                       .stream = mine,
                       .team = &sources,
                       .joins = step->joins,
                       .fills = true,
                       .readers = {.rank = {step->reader, NULL}, .count = {step->readers, 0}},
                       .sources = step->sources};

    return reduce_in_team(&r, &all, unequal);
}

int nc_scan_chain_node(struct nc_transfer *t, bool exclusive, const struct nc_op_kernel *kernel,
                       struct nc_stream *mine, bool *unequal)
{
    struct nc_queue *q = t->queue;
    const struct nc_team before = {.rank = q->everybody + q->rank - (q->rank > 0), .size = 1};
    struct reduce r = {.transfer = t,
                       .kernel = kernel,
                       .numbers = kernel->numbers,
                       .stream = mine,
                       .team = &before,
                       .sources = q->rank > 0};

    if (q->rank + 1 < (int) q->geometry.ranks)
        r.readers = nc_queue_one(q, q->rank + 1);
    along_the_chain(&r, exclusive);
    return end(&r, unequal);
}
