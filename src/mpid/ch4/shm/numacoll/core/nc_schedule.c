/* The steps of each algorithm for one member. See nc_schedule.h. */

#include "nc_schedule.h"

/* Parts first .. end - 1. */
struct range {
    int first, end;
};

int nc_schedule_most_sends(int p)
{
    return 2 * (p - 1);
}

/* NC_RSG and NC_SAG together have the most with 2 to 4 members; with more NC_RING has, which takes
 * two passes of p - 1 rounds, with a SEND and a receiving step in each. */
int nc_schedule_most(int p)
{
    return 5 * (p - 1);
}

static void begin(struct nc_schedule *s, int parts)
{
    s->parts = parts;
    s->count = 0;
}

static void add(struct nc_schedule *s, enum nc_step_kind kind, int peer, struct range parts)
{
    s->step[s->count++] = (struct nc_step){
        .peer = peer, .first = parts.first, .end = parts.end, .parts = s->parts, .kind = kind};
}

/* Sets wait_sends in the step added last. */
static void wait_sends(struct nc_schedule *s)
{
    s->step[s->count - 1].wait_sends = true;
}

static struct range all(const struct nc_schedule *s)
{
    return (struct range){0, s->parts};
}

/* ---- trees ---- */

static void turn_round(struct nc_step *first, struct nc_step *end)
{
    while (first < end) {
        struct nc_step step = *first;
        *first++ = *--end;
        *end = step;
    }
}

static void reduce_tree(struct nc_schedule *s, enum nc_tree_kind kind, int k, int p, int me)
{
    for (int child = me; (child = nc_tree_next(kind, k, p, me, child)) >= 0;)
        add(s, NC_STEP_REDUCE, child, all(s));
    /* Receive from the smallest subtree first: it is ready first. */
    if (!nc_tree_larger_last(kind))
        turn_round(s->step, s->step + s->count);
    if (me > 0)
        add(s, NC_STEP_SEND, nc_tree_parent(kind, k, me), all(s));
}

static void bcast_tree(struct nc_schedule *s, enum nc_tree_kind kind, int k, int p, int me)
{
    int sends;

    if (me > 0)
        add(s, NC_STEP_RECV, nc_tree_parent(kind, k, me), all(s));
    sends = s->count;
    for (int child = me; (child = nc_tree_next(kind, k, p, me, child)) >= 0;)
        add(s, NC_STEP_SEND, child, all(s));
    /* Send to the largest subtree first: it takes the longest. */
    if (nc_tree_larger_last(kind))
        turn_round(s->step + sends, s->step + s->count);
}

/* ---- rings ---- */

/* i modulo p, of members or parts; -p <= i < p. */
static int cyclic(int i, int p)
{
    return i < 0 ? i + p : i;
}

static bool holds(struct range range, int part)
{
    return range.first <= part && part < range.end;
}

/* Allgather round the ring: part i starts at member i and goes from each member to its right
 * neighbour. `mine` and `rights` are the parts that this member and its right neighbour have from
 * the start; they are not sent to a member that has them. */
static void allgather_ring(struct nc_schedule *s, int p, int me, struct range mine,
                           struct range rights)
{
    int left = cyclic(me - 1, p), right = cyclic(me + 1 - p, p);

    for (int i = 0; i < p - 1; i++) {
        int out = cyclic(me - i, p), in = cyclic(me - i - 1, p);
        if (!holds(rights, out))
            add(s, NC_STEP_SEND, right, (struct range){out, out + 1});
        if (!holds(mine, in))
            add(s, NC_STEP_RECV, left, (struct range){in, in + 1});
    }
}

/* Reduce-scatter round the ring: part i starts at member i + 1 and is complete at member i. */
static void reduce_scatter_ring(struct nc_schedule *s, int p, int me)
{
    int left = cyclic(me - 1, p), right = cyclic(me + 1 - p, p);

    for (int i = 0; i < p - 1; i++) {
        int out = cyclic(me - i - 1, p), in = cyclic(me - i - 2, p);
        add(s, NC_STEP_SEND, right, (struct range){out, out + 1});
        add(s, NC_STEP_REDUCE, left, (struct range){in, in + 1});
    }
}

static void allreduce_ring(struct nc_schedule *s, int p, int me)
{
    int right = cyclic(me + 1 - p, p);

    reduce_scatter_ring(s, p, me);
    wait_sends(s);
    allgather_ring(s, p, me, (struct range){me, me + 1}, (struct range){right, right + 1});
}

/* Member i and its descendants in the binomial tree; their indices follow i. */
static struct range subtree(int p, int i)
{
    int end = i + (i & -i);

    return (struct range){i, i == 0 || end > p ? p : end};
}

/* A bcast along the binomial tree, in which a member gets the parts of its subtree only. */
static void scatter_tree(struct nc_schedule *s, int p, int me)
{
    bcast_tree(s, NC_TREE_KNOMIAL, 2, p, me);
    for (struct nc_step *step = s->step; step < s->step + s->count; step++) {
        struct range parts = subtree(p, step->kind == NC_STEP_SEND ? step->peer : me);
        step->first = parts.first;
        step->end = parts.end;
    }
}

static void bcast_sag(struct nc_schedule *s, int p, int me)
{
    scatter_tree(s, p, me);
    allgather_ring(s, p, me, subtree(p, me), subtree(p, cyclic(me + 1 - p, p)));
}

/* ---- halves and doubles ---- */

/* Halving needs a power of two. So of the first 2 * folded members, each odd one hands its data to
 * the member below it and leaves; member 0 stays. The members that stay, the rest, get new indices
 * in the same order. */
struct rest {
    int size; /* a power of two */
    int folded;
    int index; /* this member's among the rest; -1: this member is folded */
};

static struct rest rest_of(int p, int me)
{
    struct rest r = {.size = 1};

    while (r.size <= p / 2)
        r.size *= 2;
    r.folded = p - r.size;
    if (me >= 2 * r.folded)
        r.index = me - r.folded;
    else
        r.index = me % 2 == 0 ? me / 2 : -1;
    return r;
}

/* The partner of this member at a distance: its number in the group. */
static int across(const struct rest *r, int distance)
{
    int index = r->index ^ distance;

    return index < r->folded ? 2 * index : index + r->folded;
}

/* The half that the partner keeps if this member keeps `mine`. upper: `mine` is the upper half. */
static struct range other_half(struct range mine, bool upper)
{
    int size = mine.end - mine.first;

    return upper ? (struct range){mine.first - size, mine.first}
                 : (struct range){mine.end, mine.end + size};
}

/* Reduce-scatter by halves; the largest halves are exchanged at distance 1. Each part is complete
 * at one member only, so members cannot differ by the order of operands. Therefore all steps are
 * REDUCE: theirs op mine is what MPI's operations in place compute without a copy. */
static struct range halve(struct nc_schedule *s, const struct rest *r)
{
    struct range mine = all(s);

    for (int distance = 1; distance < r->size; distance *= 2) {
        bool upper = r->index & distance;
        int half = (mine.end - mine.first) / 2;
        if (upper)
            mine.first += half;
        else
            mine.end -= half;
        add(s, NC_STEP_SEND, across(r, distance), other_half(mine, upper));
        add(s, NC_STEP_REDUCE, across(r, distance), mine);
    }
    return mine;
}

/* Undoes the halving as a gather: the partner that kept the upper half sends it to the partner that
 * kept the lower half. */
static void gather_halves(struct nc_schedule *s, const struct rest *r, struct range mine)
{
    for (int distance = r->size / 2; distance > 0; distance /= 2) {
        if (r->index & distance) {
            add(s, NC_STEP_SEND, across(r, distance), mine);
            return;
        }
        add(s, NC_STEP_RECV, across(r, distance), other_half(mine, false));
        if (distance == r->size / 2)
            wait_sends(s);
        mine.end = other_half(mine, false).end;
    }
}

/* Undoes the halving as an allgather: both partners send what they have. */
static void allgather_halves(struct nc_schedule *s, const struct rest *r, struct range mine)
{
    for (int distance = r->size / 2; distance > 0; distance /= 2) {
        bool upper = r->index & distance;
        struct range theirs = other_half(mine, upper);
        add(s, NC_STEP_SEND, across(r, distance), mine);
        add(s, NC_STEP_RECV, across(r, distance), theirs);
        if (upper)
            mine.first = theirs.first;
        else
            mine.end = theirs.end;
    }
}

/* Recursive doubling. Both partners compute the same bits: the operand of the partner with the
 * lower index is the left one. */
static void double_all(struct nc_schedule *s, const struct rest *r)
{
    for (int distance = 1; distance < r->size; distance *= 2) {
        bool upper = r->index & distance;
        add(s, NC_STEP_SEND, across(r, distance), all(s));
        add(s, upper ? NC_STEP_REDUCE : NC_STEP_REDUCE_BEHIND, across(r, distance), all(s));
        wait_sends(s);
    }
}

static void reduce_rsg(struct nc_schedule *s, const struct rest *r, int me)
{
    if (r->index < 0) {
        add(s, NC_STEP_SEND, me - 1, all(s));
        return;
    }
    if (me < 2 * r->folded)
        add(s, NC_STEP_REDUCE, me + 1, all(s));
    gather_halves(s, r, halve(s, r));
}

static void allreduce_rsag(struct nc_schedule *s, const struct rest *r)
{
    struct range mine = halve(s, r);

    wait_sends(s);
    allgather_halves(s, r, mine);
}

static void allreduce_rest(struct nc_schedule *s, enum nc_algorithm a, const struct rest *r, int me)
{
    bool folds = me < 2 * r->folded;

    if (r->index < 0) {
        add(s, NC_STEP_SEND, me - 1, all(s));
        add(s, NC_STEP_RECV, me - 1, all(s));
        wait_sends(s);
        return;
    }
    if (folds)
        add(s, NC_STEP_REDUCE, me + 1, all(s));
    if (a == NC_RD)
        double_all(s, r);
    else
        allreduce_rsag(s, r);
    if (folds)
        add(s, NC_STEP_SEND, me + 1, all(s));
}

/* ---- reduce-scatter alone ---- */

/* Which half of each half a member keeps, as a number: the member with this index among the rest
 * keeps the parts 2 * i and 2 * i + 1 of 2 * size. Its own inverse. */
static int mirrored(int i, int size)
{
    int result = 0;

    for (; size > 1; size /= 2, i /= 2)
        result = 2 * result + i % 2;
    return result;
}

int nc_schedule_owner(enum nc_algorithm a, int p, int part)
{
    struct rest r = rest_of(p, 0);
    int index = mirrored(part / 2, r.size);

    if (a == NC_RING)
        return part;
    if (index < r.folded)
        return 2 * index + part % 2;
    return part % 2 ? -1 : index + r.folded;
}

static void reduce_scatter_halves(struct nc_schedule *s, const struct rest *r, int me)
{
    bool folds = me < 2 * r->folded;
    int own = 2 * mirrored(r->index < 0 ? me / 2 : r->index, r->size);
    struct range partners = {own + 1, own + 2};

    if (r->index < 0) {
        add(s, NC_STEP_SEND, me - 1, all(s));
        add(s, NC_STEP_RECV, me - 1, partners);
        wait_sends(s);
        return;
    }
    if (folds)
        add(s, NC_STEP_REDUCE, me + 1, all(s));
    halve(s, r);
    if (folds)
        add(s, NC_STEP_SEND, me + 1, partners);
}

/* ---- the collectives ---- */

void nc_schedule_reduce(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me)
{
    struct rest r = rest_of(p, me);

    begin(s, a == NC_RSG ? r.size : 1);
    if (a == NC_RSG)
        reduce_rsg(s, &r, me);
    else
        reduce_tree(s, (enum nc_tree_kind) a, k, p, me);
}

void nc_schedule_bcast(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me)
{
    begin(s, a == NC_SAG ? p : 1);
    if (a == NC_SAG)
        bcast_sag(s, p, me);
    else
        bcast_tree(s, (enum nc_tree_kind) a, k, p, me);
}

void nc_schedule_allreduce(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me)
{
    struct rest r = rest_of(p, me);

    (void) k; /* a parameter so that the three functions have one type, see coll/above.c */
    begin(s, a == NC_RING ? p : a == NC_RSAG ? r.size : 1);
    if (p == 1)
        return;
    if (a == NC_RING)
        allreduce_ring(s, p, me);
    else
        allreduce_rest(s, a, &r, me);
}

void nc_schedule_reduce_scatter(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me)
{
    struct rest r = rest_of(p, me);

    (void) k;
    begin(s, nc_schedule_parts(a, p));
    if (a == NC_RING)
        reduce_scatter_ring(s, p, me);
    else
        reduce_scatter_halves(s, &r, me);
}

int nc_schedule_parts(enum nc_algorithm a, int p)
{
    return a == NC_RING ? p : 2 * rest_of(p, 0).size;
}
