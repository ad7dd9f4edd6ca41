#include "nc_model.h"

/* Newton's method from above; libmpi does without libm. 0 for what has no root. */
static double square_root(double x)
{
    double root = x > 1 ? x : 1, next;

    if (!(x > 0))
        return 0;
    while ((next = (root + x / root) / 2) < root)
        root = next;
    return root;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* x as a whole number between 1 and most; not a number counts as 1. */
static uint64_t whole(double x, uint64_t most)
{
    if (!(x >= 1))
        return 1;
    return x < (double) most ? (uint64_t) x : larger(most, 1);
}

/* ---- trees of messages ---- */

static double message(struct nc_model_link link, uint64_t m)
{
    return link.alpha + (double) m * link.beta;
}

static int ceil_log(int k, int p)
{
    int n = 0;

    for (int64_t power = 1; power < p; power *= k)
        n++;
    return n;
}

double nc_model_linear(struct nc_model_link link, int p, uint64_t m)
{
    return (p - 1) * message(link, m);
}

double nc_model_kary(struct nc_model_link link, int k, int p, uint64_t m)
{
    return (double) k * ceil_log(k, p) * message(link, m);
}

double nc_model_knomial(struct nc_model_link link, int k, int p, uint64_t m)
{
    return (double) (k - 1) * ceil_log(k, p) * message(link, m);
}

struct nc_model_span nc_model_kary_span(struct nc_model_link link, int k, int p, uint64_t m)
{
    int h = 0;
    double full; /* a level, all of whose processes send to k children */

    for (int64_t level = 1, processes = 1; processes < p; processes += level) {
        level *= k;
        h++;
    }
    full = k * message(link, m);
    return (struct nc_model_span){
        .first = h * message(link, m), .last_least = h ? (h - 1) * full : 0, .last_most = h * full};
}

double nc_model_lower_bound(struct nc_model_link link, int p, uint64_t m)
{
    double start = ceil_log(2, p) * link.alpha, bytes = p > 1 ? (double) m * link.beta : 0;

    return start > bytes ? start : bytes;
}

/* A pipeline: n segments take sends * (ahead + n) steps, of one message each. */
struct pipeline {
    int sends; /* of a process, per segment, one after the other */
    int ahead; /* steps until the last process gets the first segment, without the last such step */
};

static struct pipeline pipeline(enum nc_model_tree tree, int p)
{
    return (struct pipeline){.sends = tree == NC_MODEL_PIPELINED_BINARY ? 2 : 1,
                             .ahead = (tree == NC_MODEL_CHAIN ? p - 1 : ceil_log(2, p)) - 1};
}

static double pipelined(struct nc_model_link link, enum nc_model_tree tree, int p, double n,
                        uint64_t s)
{
    struct pipeline line = pipeline(tree, p);

    return line.sends * (line.ahead + n) * message(link, s);
}

double nc_model_segmented(struct nc_model_link link, enum nc_model_tree tree, int p, uint64_t m,
                          uint64_t s)
{
    if (p == 1)
        return 0;
    if (tree == NC_MODEL_BINOMIAL || s > m)
        return pipelined(link, tree, p, 1, m);
    return pipelined(link, tree, p, (double) nc_frag_count(m, s), s);
}

double nc_model_segment(struct nc_model_link link, enum nc_model_tree tree, int p, uint64_t m)
{
    int ahead = pipeline(tree, p).ahead;
    double most = (double) larger(m, 1), s;

    if (tree == NC_MODEL_BINOMIAL || ahead <= 0 || !(link.beta > 0))
        return most;
    s = square_root((double) m * link.alpha / (ahead * link.beta));
    return s < 1 ? 1 : s < most ? s : most;
}

/* For the least time. Lengths are in elements, and none is 0. */
struct search {
    struct nc_model_link link;
    int p;
    uint64_t m, element;         /* bytes */
    uint64_t all;                /* the message */
    uint64_t least, most;        /* of a segment */
    struct nc_model_choice best; /* so far */
};

static uint64_t allowed(const struct search *search, uint64_t s)
{
    return smaller(larger(s, search->least), search->most);
}

/* Segments no longer than they need to be where they are as many as those of s elements. */
static uint64_t equal_segments(const struct search *search, uint64_t s)
{
    return allowed(search, nc_frag_count(search->all, nc_frag_count(search->all, s)));
}

/* False if segments of s elements cannot gain a thousandth, whatever the rounding of their number.
 */
static bool consider(struct search *search, enum nc_model_tree tree, uint64_t s)
{
    uint64_t bytes = smaller(search->element * s, larger(search->m, 1));
    double unrounded = pipelined(search->link, tree, search->p, (double) search->m / (double) bytes,
                                 bytes);
    struct nc_model_choice choice = {.tree = tree,
                                     .k = tree == NC_MODEL_CHAIN ? 1 : 2,
                                     .segment = search->element * s,
                                     .seconds = nc_model_segmented(search->link, tree, search->p,
                                                                   search->m, search->element * s)};

    /* the search ends, whatever the constants are */
    if (!(unrounded >= 0 && unrounded < search->best.seconds * 0.999))
        return false;
    if (choice.seconds < search->best.seconds)
        search->best = choice;
    return true;
}

/* From s_opt to longer segments, then to shorter ones: either way the unrounded time only rises. */
static void consider_segments(struct search *search, enum nc_model_tree tree)
{
    double opt = nc_model_segment(search->link, tree, search->p, search->m) /
                 (double) search->element;
    uint64_t middle = allowed(search, whole(opt, search->all)), s = middle, n;

    consider(search, tree, equal_segments(search, middle));
    while ((n = nc_frag_count(search->all, s)) > 1) {
        s = nc_frag_count(search->all, n - 1);
        if (s > search->most || !consider(search, tree, s))
            break;
    }
    s = equal_segments(search, middle);
    while (s > search->least) {
        s = equal_segments(search, s - 1);
        if (!consider(search, tree, s))
            break;
    }
}

struct nc_model_choice nc_model_choose(struct nc_model_link link, int p, uint64_t m,
                                       const struct nc_model_limits *limits)
{
    uint64_t element = larger(limits->element, 1), most = larger(limits->highest / element, 1);
    struct search search = {
        .link = link,
        .p = p,
        .m = m,
        .element = element,
        .all = nc_frag_count(m, element),
        .least = smaller(nc_frag_count(limits->lowest, element), most),
        .most = most,
        .best = {.tree = NC_MODEL_BINOMIAL,
                 .k = 2,
                 .segment = larger(m, element),
                 .seconds = nc_model_segmented(link, NC_MODEL_BINOMIAL, p, m, m)}};

    for (enum nc_model_tree tree = NC_MODEL_BINOMIAL + 1; tree < NC_MODEL_TREES; tree++) {
        if (limits->trees >> tree & 1)
            consider_segments(&search, tree);
    }
    return search.best;
}

/* ---- exchanges ---- */

/* Rounds among the largest power of two of p. */
static int rounds(int p)
{
    int n = ceil_log(2, p);

    return p < 1 << n ? n - 1 : n;
}

/* What those beyond it give before and get after. */
static double folded(struct nc_model_link link, int p, uint64_t m)
{
    return p > 1 << rounds(p) ? 2 * message(link, m) : 0;
}

double nc_model_doubling(struct nc_model_link link, int p, uint64_t m)
{
    return rounds(p) * message(link, m) + folded(link, p, m);
}

double nc_model_rabenseifner(struct nc_model_link link, int p, uint64_t m)
{
    double q = 1 << rounds(p);

    return 2 * (rounds(p) * link.alpha + (q - 1) / q * (double) m * link.beta) + folded(link, p, m);
}

/* ---- a queue ---- */

/* How often a queue is filled, the last time perhaps in part. Not m / (f s), whose product may be
 * too large. */
static double fillings(uint64_t m, uint64_t f, uint64_t s)
{
    return (double) nc_frag_count(nc_frag_count(m, f), s);
}

/* What no overlap hides: a wait for each fragment, and the copy out of the whole message. */
static double reading(struct nc_model_costs c, uint64_t m, uint64_t f)
{
    return (double) nc_frag_count(m, f) * c.notice + (double) m * c.byte;
}

/* t_f: the copy in of a queue's first fragment, which the readers wait for. */
static double first_copy(struct nc_model_costs c, uint64_t m, uint64_t f)
{
    return (double) smaller(m, f) * c.byte;
}

enum nc_model_regime nc_model_regime(uint64_t m, uint64_t f, uint64_t s)
{
    uint64_t n = nc_frag_count(m, f);

    return n == 1 ? NC_MODEL_ONE_FRAGMENT : n <= s ? NC_MODEL_ONE_QUEUE : NC_MODEL_MANY_QUEUES;
}

double nc_model_slot(struct nc_model_costs c, uint64_t m, uint64_t f)
{
    return fillings(m, f, 1) * (c.set + c.leave) + reading(c, m, f) + (double) m * c.byte;
}

double nc_model_queue(struct nc_model_costs c, uint64_t m, uint64_t f, uint64_t s)
{
    if (s == 1)
        return nc_model_slot(c, m, f);
    return fillings(m, f, s) * (c.set + c.leave + first_copy(c, m, f)) + reading(c, m, f);
}

double nc_model_sets(struct nc_model_costs c, uint64_t m, uint64_t f, uint64_t s, uint64_t q)
{
    if (q == 1)
        return nc_model_queue(c, m, f, s);
    return (double) q * fillings(m, f, s) * (c.set + first_copy(c, m, f)) + c.leave +
           reading(c, m, f);
}

static struct nc_model_slots as_many_as_fit(uint64_t b, uint64_t f)
{
    return (struct nc_model_slots){.f = f, .s = larger(b / f, 1)};
}

struct nc_model_slots nc_model_best(struct nc_model_costs c, uint64_t m, uint64_t b)
{
    uint64_t share = m / nc_frag_count(m, b); /* of the message, in each filling */

    return as_many_as_fit(b, whole(square_root((double) share * c.notice / c.byte), share));
}

struct nc_model_slots nc_model_slots_of_queue(uint64_t b)
{
    return as_many_as_fit(b, nc_frag_sqrt_rule(b));
}

struct nc_model_slots nc_model_slots_of_message(uint64_t m)
{
    uint64_t f = nc_frag_sqrt_rule(m);

    return (struct nc_model_slots){.f = f, .s = nc_frag_count(m, f)};
}

uint64_t nc_model_fragment_to_fit(uint64_t m, uint64_t s)
{
    return smaller(nc_frag_count(nc_frag_count(m, s), NC_PAGE), UINT64_MAX / NC_PAGE) * NC_PAGE;
}

uint64_t nc_model_budget(uint64_t memory, uint64_t cores)
{
    return memory / cores / 100;
}

uint64_t nc_model_queue_bytes(uint64_t f, uint64_t s)
{
    return f && s > UINT64_MAX / f ? UINT64_MAX : f * s;
}

enum nc_model_size nc_model_size(uint64_t b)
{
    uint64_t mib = 1 << 20;

    return b < 10 * mib ? NC_MODEL_SMALL : b <= 100 * mib ? NC_MODEL_MIDDLING : NC_MODEL_LARGE;
}
