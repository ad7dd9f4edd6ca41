/* The papers' formulas of time that no algorithm of the library asks: for tools, and for tests of
 * those that the library asks (core/nc_model.h).
 *
 * Units and conventions are nc_model.h's. */

#ifndef NC_MODEL_PAPERS_H_INCLUDED
#define NC_MODEL_PAPERS_H_INCLUDED

#include "core/nc_model.h"

/* ---- trees of messages. Source: Kurnosov 2019, the model of Hockney ---- */

/* Time until the last of p >= 1 processes has m bytes, seconds; k >= 2 is the degree. The root
 * tells all in turn; */
double nc_model_linear(struct nc_model_link link, int p, uint64_t m);
/* a k-ary tree, bounded from above: k ceil(log_k p) messages one after the other; k = 3 is best for
 * large p; */
double nc_model_kary(struct nc_model_link link, int k, int p, uint64_t m);
/* a k-nomial tree, (k - 1) ceil(log_k p) messages; k = 2, the binomial tree, is never worse than
 * others. */
double nc_model_knomial(struct nc_model_link link, int k, int p, uint64_t m);

/* When the processes of a complete k-ary tree have their m bytes, seconds. A linear tree is one of
 * degree p - 1. */
struct nc_model_span {
    double first; /* the first leaf of the last level, h messages; h: height of the tree in edges */
    double last_least; /* the last process, between k (h - 1) .. */
    double last_most;  /* .. and k h messages; this if the last level is full */
};

/* k >= 1, p >= 1. */
struct nc_model_span nc_model_kary_span(struct nc_model_link link, int k, int p, uint64_t m);

/* No algorithm gives m bytes to p >= 1 processes in less, seconds: max(ceil(log2 p) alpha, m beta).
 */
double nc_model_lower_bound(struct nc_model_link link, int p, uint64_t m);

/* Time of m bytes to p >= 1 processes by a binomial tree in segments of s > 0 bytes, seconds. The
 * formula lets a process send to all its children at once, each at full speed. Then no tree of
 * nc_model_choose is ever faster with the same segments; where sends share one port, segments do
 * not pay in a binomial tree. s_opt is nc_model_segment's of NC_MODEL_PIPELINED_BINARY. */
double nc_model_pipelined_binomial(struct nc_model_link link, int p, uint64_t m, uint64_t s);

/* ---- a queue. Source: Kurnosov, Tokmasheva 2020, time of Bcast and choice of f and s ----
 *
 * m: bytes of the message; f > 0: bytes of a fragment; s > 0: slots of a queue; b = f * s, bytes of
 * a queue; q > 0: sets of a queue. */

struct nc_model_costs { /* seconds, none negative */
    double set;         /* t_WO, the root's wait for a set */
    double leave;       /* t_A, a reader's atomic leave */
    double notice;      /* t_W, a reader's wait for a notification */
    double byte;        /* t, a byte copied */
};

/* How a message meets a queue; each of them is a case of nc_model_queue. */
enum nc_model_regime {
    NC_MODEL_ONE_FRAGMENT, /* m <= f: copied in, then copied out */
    NC_MODEL_ONE_QUEUE,    /* f < m <= b: the copies overlap, no slot is used twice */
    NC_MODEL_MANY_QUEUES   /* m > b: slots are used again */
};

enum nc_model_regime nc_model_regime(uint64_t m, uint64_t f, uint64_t s);

/* t(m), seconds: a queue of one slot, where no copies overlap. */
double nc_model_slot(struct nc_model_costs costs, uint64_t m, uint64_t f);

/* t(m, s), seconds; with s = 1 it is t(m). */
double nc_model_queue(struct nc_model_costs costs, uint64_t m, uint64_t f, uint64_t s);

/* t(m, s, q), seconds; with q = 1 it is t(m, s). The source waits for all q sets even if the
 * message ends in an earlier one, so this is too much for messages shorter than the queue. */
double nc_model_sets(struct nc_model_costs costs, uint64_t m, uint64_t f, uint64_t s, uint64_t q);

/* f* and s* = b / f* of a queue of b > 0 bytes: where t(m, s) has its minimum if nothing need be
 * whole. */
struct nc_model_slots nc_model_best(struct nc_model_costs costs, uint64_t m, uint64_t b);

/* The practical rules, which need no constants. Other things known:
 *    f and the longest message m    s = nc_frag_count(m, f)
 *    s and the longest message m    f = nc_frag_sqrt_rule(m), or nc_model_fragment_to_fit
 *    b bytes of a queue             nc_model_slots_of_queue
 *    the memory                     b = nc_model_budget, then nc_model_slots_of_queue
 * a message of m bytes: f = sqrt(m), rounded up to a page, and as many slots as it has fragments;
 */
struct nc_model_slots nc_model_slots_of_message(uint64_t m);
/* s slots: bytes of a fragment, whole pages, with which a message of m bytes just fits. */
uint64_t nc_model_fragment_to_fit(uint64_t m, uint64_t s);

/* b = f * s, bytes; UINT64_MAX if it is more. */
uint64_t nc_model_queue_bytes(uint64_t f, uint64_t s);

enum nc_model_size {
    NC_MODEL_SMALL,    /* below 10 MiB */
    NC_MODEL_MIDDLING, /* to 100 MiB */
    NC_MODEL_LARGE
};

/* What the source calls a queue of b bytes. */
enum nc_model_size nc_model_size(uint64_t b);

#endif
