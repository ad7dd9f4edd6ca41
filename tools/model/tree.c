/* The command tree: the time of trees of messages by Hockney's model, each with its best degree or
 * segment, beside the lower bound; and which is best for messages of which size. See model.h; the
 * formulas are in nc_model_papers.h and core/nc_model.h. */

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static const unsigned with_degree = 1u << TREE_KARY | 1u << TREE_BALANCED | 1u << TREE_KNOMIAL,
                      with_segments = 1u << TREE_CHAIN | 1u << TREE_PIPELINED_BINARY |
                                      1u << TREE_PIPELINED_BINOMIAL;

/* A job: p processes, m bytes. */
struct task {
    struct nc_model_link link;
    int p;
    uint64_t m;
};

/* What an algorithm takes, with which degree (0: it has none) and segment (0: none). */
struct plan {
    double seconds, formula; /* of the second the paper's bound */
    int degree;
    uint64_t segment;
};

/* ---- degrees ---- */

/* The steps of a tree gone through, or by the formula if that is what every tree takes. */
static double steps_of(enum tree tree, int k, int p)
{
    const struct nc_model_link one = {.alpha = 1};

    return tree == TREE_KARY       ? nc_model_complete_steps(k, p)
           : tree == TREE_BALANCED ? nc_model_balanced_steps(k, p)
                                   : nc_model_knomial(one, k, p, 0);
}

/* The degree with the fewest steps, the lowest one of equal ones. */
static int best_degree(enum tree tree, int p)
{
    enum { MOST = 16 }; /* larger degrees are never better: a binary tree has fewer steps */
    int best = 2;

    for (int k = 3; k <= MOST; k++) {
        if (steps_of(tree, k, p) < steps_of(tree, best, p))
            best = k;
    }
    return best;
}

static struct plan plan_of_degree(const struct task *j, enum tree tree, int degree)
{
    int k = degree ? degree : best_degree(tree, j->p);

    return (struct plan){.degree = k,
                         .seconds = steps_of(tree, k, j->p) * nc_model_message(j->link, j->m),
                         .formula = tree == TREE_KNOMIAL ? nc_model_knomial(j->link, k, j->p, j->m)
                                                         : nc_model_kary(j->link, k, j->p, j->m)};
}

/* ---- segments ---- */

/* Of a pipelined tree in segments of s bytes. */
static double segmented(const struct task *j, enum tree tree, uint64_t s)
{
    if (tree == TREE_PIPELINED_BINOMIAL)
        return nc_model_pipelined_binomial(j->link, j->p, j->m, s);
    return nc_model_segmented(
        j->link, tree == TREE_CHAIN ? NC_MODEL_CHAIN : NC_MODEL_PIPELINED_BINARY, j->p, j->m, s);
}

/* s_opt, not rounded. */
static double optimal_segment(const struct task *j, enum tree tree)
{
    return nc_model_segment(
        j->link, tree == TREE_CHAIN ? NC_MODEL_CHAIN : NC_MODEL_PIPELINED_BINARY, j->p, j->m);
}

/* The best whole number of equal segments is one of the two next to the best one that need not be
 * whole, because the time over this number has one minimum. */
static struct plan plan_of_segments(const struct task *j, enum tree tree)
{
    struct plan best = {.seconds = INFINITY};
    uint64_t m = j->m ? j->m : 1, n = (uint64_t) ((double) m / optimal_segment(j, tree));

    for (uint64_t i = n ? n : 1; i <= n + 1 && i <= m; i++) {
        uint64_t s = nc_frag_count(m, i);
        double seconds = segmented(j, tree, s);
        if (seconds < best.seconds)
            best = (struct plan){.seconds = seconds, .formula = seconds, .segment = s};
    }
    return best;
}

/* ---- all algorithms ---- */

static struct plan plan_of(const struct options *o, const struct task *j, enum tree tree)
{
    double seconds;

    if (with_degree >> tree & 1)
        return plan_of_degree(j, tree, o->degree);
    if (with_segments >> tree & 1)
        return plan_of_segments(j, tree);
    seconds = tree == TREE_LINEAR ? nc_model_linear(j->link, j->p, j->m)
                                  : nc_model_scatter_allgather(j->link, j->p, j->m);
    return (struct plan){.seconds = seconds, .formula = seconds};
}

static bool is_shown(const struct options *o, enum tree tree)
{
    return !o->trees || o->trees >> tree & 1;
}

/* Without --algorithms a tree that needs several ports does not count among those that do not. */
static bool competes(const struct options *o, enum tree tree)
{
    return o->trees ? o->trees >> tree & 1 : tree != TREE_PIPELINED_BINOMIAL;
}

/* The best, of equal ones the first. */
static enum tree best_of(const struct options *o, const struct task *j)
{
    double least = INFINITY;
    enum tree best = TREE_LINEAR;

    for (enum tree tree = 0; tree < TREES; tree++) {
        double seconds = competes(o, tree) ? plan_of(o, j, tree).seconds : INFINITY;
        if (seconds < least) {
            least = seconds;
            best = tree;
        }
    }
    return best;
}

static struct task task_of(const struct options *o)
{
    return (struct task){.link = o->link, .p = o->ranks, .m = o->message};
}

/* ---- which is best where ---- */

/* The longest message, between `low`, where `tree` is best, and `high`, where it is not, up to
 * which it is. */
static uint64_t end_of(const struct options *o, struct task j, enum tree tree, uint64_t low,
                       uint64_t high)
{
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        j.m = middle;
        if (best_of(o, &j) == tree)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds the ranges of messages, up to a GiB, with the best algorithm of each; between two lengths
 * that are tried, 4 % apart, the best changes at most once. */
static void add_ranges(const struct options *o, struct table *t)
{
    enum { MOST = 1 << 30 };
    struct task j = task_of(o);
    char text[1024] = "";
    enum tree best;
    uint64_t m = 1;

    j.m = m;
    best = best_of(o, &j);
    while (m < MOST && strlen(text) < sizeof text - 100) {
        uint64_t next = m + m / 25 + 1;
        enum tree then;
        j.m = next;
        then = best_of(o, &j);
        if (then != best)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s to %llu bytes, ",
                     tree_names[best], (unsigned long long) end_of(o, j, best, m, next));
        best = then;
        m = next;
    }
    table_fact(t, "best", "%s%s%s", text, tree_names[best], *text ? " above" : "");
}

/* ---- tables ---- */

static double first_of(const struct options *o, const struct task *j, enum tree tree)
{
    int k = tree == TREE_LINEAR ? j->p - 1 : plan_of(o, j, tree).degree;

    if ((tree != TREE_LINEAR && tree != TREE_KARY) || j->p < 2)
        return NAN;
    return 1e6 * nc_model_kary_span(j->link, k, j->p, j->m).first;
}

/* A row for each algorithm. */
static void fill_point(const struct options *o, struct table *t)
{
    struct task j = task_of(o);
    double bound = nc_model_lower_bound(j.link, j.p, j.m);

    table_column(t, "algorithm", false);
    table_column(t, "degree", false);
    table_column(t, "segment", false);
    table_column(t, "us", true);
    table_column(t, "formula_us", false);
    table_column(t, "first_us", false);
    table_column(t, "ratio", false);
    for (enum tree tree = 0; tree < TREES; tree++) {
        struct plan plan;
        if (!is_shown(o, tree))
            continue;
        plan = plan_of(o, &j, tree);
        table_text(t, tree_names[tree]);
        table_number(t, plan.degree ? (double) plan.degree : (double) NAN);
        table_number(t, plan.segment ? (double) plan.segment : (double) NAN);
        table_number(t, 1e6 * plan.seconds);
        table_number(t, 1e6 * plan.formula);
        table_number(t, first_of(o, &j, tree));
        table_number(t, bound > 0 ? plan.seconds / bound : NAN);
    }
    table_fact_number(t, "lower_bound_us", 1e6 * bound);
    for (enum tree tree = TREE_CHAIN; tree < TREE_PIPELINED_BINOMIAL; tree++)
        table_fact_number(t, tree == TREE_CHAIN ? "s_opt_chain" : "s_opt_pipelined_binary",
                          optimal_segment(&j, tree));
    add_ranges(o, t);
}

/* The algorithms that have a column in a table over something. */
static bool has_column(const struct options *o, enum tree tree)
{
    unsigned kinds = o->over == OVER_SEGMENT  ? with_segments
                     : o->over == OVER_DEGREE ? with_degree
                                              : ~0u;

    return is_shown(o, tree) && kinds >> tree & 1;
}

static double value_at(const struct options *o, const struct task *j, enum tree tree, uint64_t x)
{
    if (o->over == OVER_SEGMENT)
        return segmented(j, tree, x);
    if (o->over == OVER_DEGREE)
        return plan_of_degree(j, tree, (int) x).seconds;
    return plan_of(o, j, tree).seconds;
}

static void fill_over(const struct options *o, struct table *t)
{
    bool compares = o->over == OVER_MESSAGE || o->over == OVER_RANKS;
    struct task j = task_of(o);

    for (enum tree tree = 0; tree < TREES; tree++) {
        if (has_column(o, tree))
            table_column(t, tree_names[tree], true);
    }
    if (table_columns(t) == 1)
        errx(WRONG_ARGUMENTS, "--algorithms: none of them is over what --over says");
    table_column(t, "lower_bound", compares);
    if (compares)
        table_column(t, "best", false);
    for (uint64_t x = o->from; x <= o->to; x = options_next(o, x)) {
        j.m = o->over == OVER_MESSAGE ? x : j.m;
        j.p = o->over == OVER_RANKS ? (int) x : j.p;
        table_number(t, (double) x);
        for (enum tree tree = 0; tree < TREES; tree++) {
            if (has_column(o, tree))
                table_number(t, 1e6 * value_at(o, &j, tree, x));
        }
        table_number(t, 1e6 * nc_model_lower_bound(j.link, j.p, j.m));
        if (compares)
            table_text(t, tree_names[best_of(o, &j)]);
    }
    if (o->over == OVER_MESSAGE)
        add_ranges(o, t);
}

void tree_fill(const struct options *o, struct table *t)
{
    static const char *const names[] = {[OVER_MESSAGE] = "message",
                                        [OVER_SEGMENT] = "segment",
                                        [OVER_DEGREE] = "degree",
                                        [OVER_RANKS] = "ranks"};

    if (o->over != OVER_RANKS)
        table_fact_number(t, "ranks", o->ranks);
    if (o->over != OVER_MESSAGE)
        table_fact_number(t, "message", (double) o->message);
    table_fact(t, "link", "%g us per message, %g ns per byte", 1e6 * o->link.alpha,
               1e9 * o->link.beta);
    if (o->over == OVER_NOTHING) {
        fill_point(o, t);
    } else {
        table_column(t, names[o->over], false);
        fill_over(o, t);
    }
    table_draw_as(
        t, &(struct table_picture){.bars = o->over == OVER_NOTHING,
                                   .log_x = !o->step,
                                   .log_y = true,
                                   .bytes = o->over == OVER_MESSAGE || o->over == OVER_SEGMENT,
                                   .title = "Trees of messages, by their formulas",
                                   .x = o->over ? names[o->over] : "",
                                   .y = "microseconds"});
}
