/* The command queue: t(m), t(m, s) and t(m, s, q) over fragments, slots or messages, with the
 * regimes and the optimum, and the papers' table of queues. See model.h; the formulas are in
 * nc_model_papers.h. */

#include <math.h>
#include <stdio.h>

#include "model.h"

/* ---- table 1 of Kurnosov, Tokmasheva 2020 ---- */

static void fill_table(struct table *t)
{
    enum { FRAGMENTS = 16, DIVISORS = 9, PAGE = 4096 };
    static const char *const marks[] = {
        [NC_MODEL_SMALL] = "", [NC_MODEL_MIDDLING] = "*", [NC_MODEL_LARGE] = "**"};
    static const char *const columns[DIVISORS] = {"f/2",  "f/4",   "f/8",   "f/16", "f/32",
                                                  "f/64", "f/128", "f/256", "f/512"};

    table_fact(t, "cells", "bytes of a queue of s = f/2, .. slots of f bytes");
    table_fact(t, "marks", "none below 10 MiB (small), * to 100 MiB (middling), ** above (large)");
    table_column(t, "f", false);
    for (int i = 0; i < DIVISORS; i++)
        table_column(t, columns[i], false);
    for (uint64_t f = PAGE; f <= FRAGMENTS * PAGE; f += PAGE) {
        table_number(t, (double) f);
        for (int i = 1; i <= DIVISORS; i++) {
            uint64_t b = nc_model_queue_bytes(f, f >> i);
            char text[64];

            snprintf(text, sizeof text, b < 1 << 20 ? "%.0f KiB%s" : "%.3g MiB%s",
                     (double) b / (b < 1 << 20 ? 1024 : 1 << 20), marks[nc_model_size(b)]);
            table_labelled(t, (double) b, text);
        }
    }
}

/* ---- curves ---- */

/* What a row is about: m, f, s. */
struct row {
    uint64_t m, f, s;
};

/* b / n, at least 1. */
static uint64_t share(uint64_t b, uint64_t n)
{
    return b >= n ? b / n : 1;
}

/* What the options leave open: slots as many as fit the queue, which has 4 MiB. */
static struct row row_at(const struct options *o, uint64_t x)
{
    struct row r = {.m = o->over == OVER_MESSAGE ? x : o->message,
                    .f = o->over == OVER_FRAGMENT ? x : o->fragment,
                    .s = o->over == OVER_SLOTS ? x : o->slots};
    uint64_t b = o->queue ? o->queue : (uint64_t) 4 << 20;

    if (!r.f)
        r.f = o->queue && r.s ? share(b, r.s) : 8192;
    if (!r.s)
        r.s = share(b, r.f);
    return r;
}

static double seconds_of(const struct options *o, const struct row *r)
{
    uint64_t q = o->sets < r->s ? o->sets : r->s;

    return nc_model_sets(o->costs, r->m, r->f, r->s, q);
}

static void add_row(const struct options *o, struct table *t, uint64_t x, struct row *best)
{
    static const char *const regimes[] = {[NC_MODEL_ONE_FRAGMENT] = "m <= f",
                                          [NC_MODEL_ONE_QUEUE] = "f < m <= b",
                                          [NC_MODEL_MANY_QUEUES] = "m > b"};
    struct row r = row_at(o, x);

    table_number(t, (double) x);
    table_number(t, 1e6 * seconds_of(o, &r));
    table_number(t, 1e6 * nc_model_slot(o->costs, r.m, r.f));
    table_number(t, (double) r.f);
    table_number(t, (double) r.s);
    table_number(t, (double) nc_model_queue_bytes(r.f, r.s));
    table_text(t, regimes[nc_model_regime(r.m, r.f, r.s)]);
    if (!best->f || seconds_of(o, &r) < seconds_of(o, best))
        *best = r;
}

/* The best row, and the best fragment of the queue. */
static void add_optimum(const struct options *o, struct table *t, const struct row *best)
{
    uint64_t b = o->queue ? o->queue : (uint64_t) 4 << 20;

    if (o->over != OVER_MESSAGE)
        table_fact(t, "least", "%.6g us, with fragments of %llu bytes in %llu slots",
                   1e6 * seconds_of(o, best), (unsigned long long) best->f,
                   (unsigned long long) best->s);
    if (o->over == OVER_FRAGMENT && !o->slots) {
        struct nc_model_slots slots = nc_model_best(o->costs, o->message, b);
        struct nc_model_slots rule = nc_model_slots_of_queue(b);
        struct row row = {o->message, slots.f, slots.s}, by_rule = {o->message, rule.f, rule.s};

        table_fact(t, "optimum", "%.6g us, with fragments of %llu bytes in %llu slots",
                   1e6 * seconds_of(o, &row), (unsigned long long) row.f,
                   (unsigned long long) row.s);
        table_fact(t, "by_square_root", "%.6g us, with fragments of %llu bytes in %llu slots",
                   1e6 * seconds_of(o, &by_rule), (unsigned long long) by_rule.f,
                   (unsigned long long) by_rule.s);
    }
}

void queue_fill(const struct options *o, struct table *t)
{
    static const char *const names[] = {
        [OVER_FRAGMENT] = "fragment", [OVER_SLOTS] = "slots", [OVER_MESSAGE] = "message"};
    struct row best = {0, 0, 0};

    if (o->table) {
        fill_table(t);
        return;
    }
    table_column(t, names[o->over], false);
    table_column(t, "us", true);
    table_column(t, "one_slot_us", false);
    table_column(t, "f", false);
    table_column(t, "s", false);
    table_column(t, "queue_bytes", false);
    table_column(t, "regime", false);
    if (o->over != OVER_MESSAGE)
        table_fact_number(t, "message", (double) o->message);
    table_fact_number(t, "sets", (double) o->sets);
    for (uint64_t x = o->from; x <= o->to; x = options_next(o, x))
        add_row(o, t, x, &best);
    add_optimum(o, t, &best);
    table_draw_as(t, &(struct table_picture){.log_x = !o->step,
                                             .log_y = o->over == OVER_MESSAGE,
                                             .bytes = o->over != OVER_SLOTS,
                                             .title = "Bcast through a queue, by its formula",
                                             .x = names[o->over],
                                             .y = "microseconds"});
}
