#include "nc_schedule.h"

/* Parts first .. end - 1. */
struct range {
    int first, end;
};

/* A ring has the most: two steps for each of the others, and that twice. */
int nc_schedule_most(int p)
{
    return 4 * (p - 1);
}

static void begin(struct nc_schedule *s, int parts)
{
    s->parts = parts;
    s->count = 0;
}

static void add(struct nc_schedule *s, enum nc_step_kind kind, int peer, struct range parts)
{
    s->step[s->count++] = (struct nc_step){
        .peer = peer, .first = parts.first, .end = parts.end, .kind = kind};
}

/* Marks the step added last. */
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
    /* The smallest subtree is ready first. */
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
    /* The largest subtree has the longest way to go. */
    if (nc_tree_larger_last(kind))
        turn_round(s->step + sends, s->step + s->count);
}

/* ---- rings ---- */

/* Member, or part, i of p that are counted round; -p <= i < p. */
static int cyclic(int i, int p)
{
    return i < 0 ? i + p : i;
}

static bool holds(struct range range, int part)
{
    return range.first <= part && part < range.end;
}

/* Part i travels round from member i, whatever is in the way of it; mine and rights are the parts
 * that I and my right neighbour have from the start. */
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

/* Part i travels round from member i + 1 and is complete with member i. */
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

/* Member i and those behind it in the binomial tree, who follow it. */
static struct range subtree(int p, int i)
{
    int end = i + (i & -i);

    return (struct range){i, i == 0 || end > p ? p : end};
}

/* A bcast along the binomial tree, of which a member gets but the parts of its subtree. */
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

/* Halving needs a power of two. Of the first 2 * folded members the odd ones hand theirs to the one
 * below; so member 0 stays, and those who stay are counted again, in the same order. */
struct rest {
    int size; /* a power of two */
    int folded;
    int index; /* mine; -1: I am folded */
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

/* Whom I meet over a distance. */
static int across(const struct rest *r, int distance)
{
    int index = r->index ^ distance;

    return index < r->folded ? 2 * index : index + r->folded;
}

/* The other half of what both had before I kept this one, the upper or the lower. */
static struct range other_half(struct range mine, bool upper)
{
    int size = mine.end - mine.first;

    return upper ? (struct range){mine.first - size, mine.first}
                 : (struct range){mine.end, mine.end + size};
}

/* The largest halves go to the nearest. Each part is complete in one place, whichever operand came
 * first, so that REDUCE will do; it is what an operation in place gives without a copy. */
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

/* Halving backwards: those who kept the upper half give it to those who kept the lower. */
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

/* Halving backwards, for both. */
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

/* Both compute the same bits: the operand of the one who comes first is the left one. */
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

/* ---- what a group does ---- */

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

    (void) k; /* as the others have it, for a table of the three */
    begin(s, a == NC_RING ? p : a == NC_RSAG ? r.size : 1);
    if (p == 1)
        return;
    if (a == NC_RING)
        allreduce_ring(s, p, me);
    else
        allreduce_rest(s, a, &r, me);
}
