/* The formulas of nc_model.h, and the search for the best tree and size of segments. */

#include "nc_model.h"

/* Newton's method from above, because libmpi does without libm. 0 if x is not positive. */
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

/* x rounded down to a whole number, between 1 and most; NaN counts as 1. */
static uint64_t whole(double x, uint64_t most)
{
    if (!(x >= 1))
        return 1;
    return x < (double) most ? (uint64_t) x : larger(most, 1);
}

/* ---- trees of messages ---- */

static int ceil_log2(int p)
{
    int n = 0;

    for (int64_t power = 1; power < p; power *= 2)
        n++;
    return n;
}

/* A pipelined tree: n segments take sends * (ahead + n) steps, each the time of one message. */
struct pipeline {
    int sends; /* messages a process sends one after the other for each segment */
    int ahead; /* steps until the last process gets the first segment, less one */
};

static struct pipeline pipeline(enum nc_model_tree tree, int p)
{
    return (struct pipeline){.sends = tree == NC_MODEL_PIPELINED_BINARY ? 2 : 1,
                             .ahead = (tree == NC_MODEL_CHAIN ? p - 1 : ceil_log2(p)) - 1};
}

static double pipelined(struct nc_model_link link, enum nc_model_tree tree, int p, double n,
                        uint64_t s)
{
    struct pipeline line = pipeline(tree, p);

    return line.sends * (line.ahead + n) * nc_model_message(link, s);
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

/* The search for the least time. Lengths are in elements if nothing else is said; none is 0. */
struct search {
    struct nc_model_link link;
    int p;
    uint64_t m, element;         /* the message and an element, bytes */
    uint64_t all;                /* the message */
    uint64_t least, most;        /* limits of a segment */
    struct nc_model_choice best; /* found so far */
};

/* s, or the nearest size within the limits. */
static uint64_t allowed(const struct search *search, uint64_t s)
{
    return smaller(larger(s, search->least), search->most);
}

/* The smallest size that gives as many segments as size s does, within the limits. */
static uint64_t equal_segments(const struct search *search, uint64_t s)
{
    return allowed(search, nc_frag_count(search->all, nc_frag_count(search->all, s)));
}

/* Takes segments of s elements if they are the best so far. Returns false if they, and any sizes
 * further from s_opt, cannot save a thousandth of the best time. */
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

    /* written so that a NaN, too, ends the search */
    if (!(unrounded >= 0 && unrounded < search->best.seconds * 0.999))
        return false;
    if (choice.seconds < search->best.seconds)
        search->best = choice;
    return true;
}

/* Tries segments from s_opt to longer ones, then to shorter ones. In both directions the time with
 * an unrounded number of segments only rises, so each direction ends at the first false. */
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

/* Rounds of an exchange among q processes, q the largest power of two not above p. */
static int rounds(int p)
{
    int n = ceil_log2(p);

    return p < 1 << n ? n - 1 : n;
}

/* Seconds for the processes beyond q to hand over their data before, and get the result after. */
static double folded(struct nc_model_link link, int p, uint64_t m)
{
    return p > 1 << rounds(p) ? 2 * nc_model_message(link, m) : 0;
}

double nc_model_doubling(struct nc_model_link link, int p, uint64_t m)
{
    return rounds(p) * nc_model_message(link, m) + folded(link, p, m);
}

double nc_model_rabenseifner(struct nc_model_link link, int p, uint64_t m)
{
    double q = 1 << rounds(p);

    return 2 * (rounds(p) * link.alpha + (q - 1) / q * (double) m * link.beta) + folded(link, p, m);
}

double nc_model_halves(struct nc_model_link link, int p, uint64_t m)
{
    double q = 1 << rounds(p);
    bool folds = p > 1 << rounds(p);

    return rounds(p) * link.alpha + (q - 1) / q * (double) m * link.beta +
           (folds ? nc_model_message(link, m) + nc_model_message(link, m / (uint64_t) p) : 0);
}

double nc_model_ring(struct nc_model_link link, int p, uint64_t m)
{
    return (p - 1) * (link.alpha + (double) m / p * link.beta);
}

/* ---- a queue ---- */

struct nc_model_slots nc_model_slots_of_queue(uint64_t b)
{
    uint64_t f = nc_frag_sqrt_rule(b);

    return (struct nc_model_slots){.f = f, .s = larger(b / f, 1)};
}

uint64_t nc_model_budget(uint64_t memory, uint64_t cores)
{
    return memory / cores / 100;
}
