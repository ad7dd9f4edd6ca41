/* The formulas of nc_model_papers.h. */

#include "nc_model_papers.h"

#include <math.h>

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

static int ceil_log(int k, int p)
{
    int n = 0;

    for (int64_t power = 1; power < p; power *= k)
        n++;
    return n;
}

double nc_model_linear(struct nc_model_link link, int p, uint64_t m)
{
    return (p - 1) * nc_model_message(link, m);
}

double nc_model_kary(struct nc_model_link link, int k, int p, uint64_t m)
{
    return (double) k * ceil_log(k, p) * nc_model_message(link, m);
}

double nc_model_knomial(struct nc_model_link link, int k, int p, uint64_t m)
{
    return (double) (k - 1) * ceil_log(k, p) * nc_model_message(link, m);
}

struct nc_model_span nc_model_kary_span(struct nc_model_link link, int k, int p, uint64_t m)
{
    int h = 0;
    double full; /* seconds of a level whose processes all send to k children */

    for (int64_t level = 1, processes = 1; processes < p; processes += level) {
        level *= k;
        h++;
    }
    full = k * nc_model_message(link, m);
    return (struct nc_model_span){.first = h * nc_model_message(link, m),
                                  .last_least = h ? (h - 1) * full : 0,
                                  .last_most = h * full};
}

/* Of a complete tree: how many of its p processes are in the subtree of child i of the root. */
static int64_t in_subtree(int k, int64_t p, int i)
{
    int64_t sum = 0, places = 1; /* of the subtree on a level */

    for (int64_t left = p - 1, here; left > 0; left -= here, places *= k) {
        int64_t mine;

        here = left < places * k ? left : places * k;
        mine = here - i * places;
        sum += mine < 0 ? 0 : mine < places ? mine : places;
    }
    return sum;
}

/* Subtrees become smaller from child to child, so of those of equal size the last one counts. */
static int complete_steps(int k, int64_t p)
{
    int most = 0;

    for (int i = 0; i < k; i++) {
        int64_t below = in_subtree(k, p, i);
        int steps = below && (i == k - 1 || in_subtree(k, p, i + 1) < below)
                        ? i + 1 + complete_steps(k, below)
                        : 0;

        most = steps > most ? steps : most;
    }
    return most;
}

int nc_model_complete_steps(int k, int p)
{
    return complete_steps(k, p);
}

int nc_model_balanced_steps(int k, int p)
{
    int less = (p - 1) / k, more = (p - 1) % k; /* `more` children have a process more below them */
    int first = more ? more + nc_model_balanced_steps(k, less + 1) : 0,
        last = less ? k + nc_model_balanced_steps(k, less) : 0;

    return first > last ? first : last;
}

double nc_model_scatter_allgather(struct nc_model_link link, int p, uint64_t m)
{
    if (p == 1)
        return 0;
    return (ceil_log(2, p) + p - 1) * link.alpha + 2.0 * (p - 1) / p * (double) m * link.beta;
}

double nc_model_lower_bound(struct nc_model_link link, int p, uint64_t m)
{
    double start = ceil_log(2, p) * link.alpha, bytes = p > 1 ? (double) m * link.beta : 0;

    return start > bytes ? start : bytes;
}

double nc_model_pipelined_binomial(struct nc_model_link link, int p, uint64_t m, uint64_t s)
{
    uint64_t segments = nc_frag_count(m, s);

    if (p == 1)
        return 0;
    return (ceil_log(2, p) - 1 + (double) segments) * nc_model_message(link, smaller(s, m));
}

/* ---- a queue ---- */

/* How often a queue is filled, the last time perhaps in part. It does not compute f s, which may
 * overflow. */
static double fillings(uint64_t m, uint64_t f, uint64_t s)
{
    return (double) nc_frag_count(nc_frag_count(m, f), s);
}

/* The part of the time that is never hidden by overlap: a wait for each fragment, and the copy of
 * the whole message out of the queue. */
static double reading(struct nc_model_costs c, uint64_t m, uint64_t f)
{
    return (double) nc_frag_count(m, f) * c.notice + (double) m * c.byte;
}

/* t_f: the copy of a queue's first fragment into the queue, for which the readers wait. */
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
    return (double) q * fillings(m, f, s) * (c.set + c.leave) + first_copy(c, m, f) +
           reading(c, m, f);
}

static struct nc_model_slots as_many_as_fit(uint64_t b, uint64_t f)
{
    return (struct nc_model_slots){.f = f, .s = larger(b / f, 1)};
}

struct nc_model_slots nc_model_best(struct nc_model_costs c, uint64_t m, uint64_t b)
{
    uint64_t share = m / nc_frag_count(m, b); /* bytes of the message in each filling */

    return as_many_as_fit(b, whole(sqrt((double) share * c.notice / c.byte), share));
}

struct nc_model_slots nc_model_slots_of_message(uint64_t m)
{
    uint64_t f = nc_frag_sqrt_rule(m);

    return (struct nc_model_slots){.f = f, .s = nc_frag_count(m, f)};
}

uint64_t nc_model_fragment_to_fit(uint64_t m, uint64_t s)
{
    return smaller(nc_frag_count(nc_frag_count(m, s), NC_FRAG_UNIT), UINT64_MAX / NC_FRAG_UNIT) *
           NC_FRAG_UNIT;
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
