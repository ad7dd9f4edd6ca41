/* Formulas of time from the papers that the library does not use. Unit tests compare the
 * formulas that the library uses (core/nc_model.h) with them.
 *
 * Units and conventions are those of nc_model.h. */

#ifndef NC_MODEL_PAPERS_H_INCLUDED
#define NC_MODEL_PAPERS_H_INCLUDED

#include "core/nc_model.h"

/* ---- trees of messages. Source: Kurnosov 2019, the model of Hockney ---- */

/* The next three functions give the seconds until the last of p >= 1 processes has m bytes; k >= 2
 * is the degree. A linear tree: the root sends to all other processes in turn. */
double nc_model_linear(struct nc_model_link link, int p, uint64_t m);
/* A k-ary tree, an upper bound: k ceil(log_k p) messages one after the other. For large p, k = 3 is
 * best. */
double nc_model_kary(struct nc_model_link link, int k, int p, uint64_t m);
/* A k-nomial tree: (k - 1) ceil(log_k p) messages one after the other. k = 2, the binomial tree, is
 * never worse than other degrees. */
double nc_model_knomial(struct nc_model_link link, int k, int p, uint64_t m);

/* When the processes of a complete k-ary tree have their m bytes, seconds. A linear tree is a k-ary
 * tree of degree p - 1. */
struct nc_model_span {
    double first; /* the first leaf of the last level: h messages; h: height of the tree in edges */
    double last_least; /* the last process, at least: k (h - 1) messages */
    double last_most;  /* the last process, at most: k h messages, if the last level is full */
};

/* k >= 1, p >= 1. */
struct nc_model_span nc_model_kary_span(struct nc_model_link link, int k, int p, uint64_t m);

/* The messages of equal length that follow each other until the last of p >= 1 processes has the
 * message, gone through send by send: of a complete k-ary tree, whose last level is filled from the
 * left; and of a balanced one, in which the subtrees of a process differ by one process at most.
 * k >= 2. */
int nc_model_complete_steps(int k, int p);
int nc_model_balanced_steps(int k, int p);

/* Seconds of a scatter along a binomial tree and an allgather round the ring; the parts are m / p
 * bytes. Source: Thakur, Rabenseifner, Gropp 2005. */
double nc_model_scatter_allgather(struct nc_model_link link, int p, uint64_t m);

/* A lower bound, seconds, for any algorithm that brings m bytes to p >= 1 processes:
 * max(ceil(log2 p) alpha, m beta). */
double nc_model_lower_bound(struct nc_model_link link, int p, uint64_t m);

/* Seconds to bring m bytes to p >= 1 processes by a binomial tree in segments of s > 0 bytes. The
 * formula assumes that a process sends to all its children at once, to each at full speed. Under
 * this assumption no tree of nc_model_choose is faster with equal segments. If the sends of a
 * process share one port, segments do not save time in a binomial tree. s_opt is that of
 * NC_MODEL_PIPELINED_BINARY (nc_model_segment). */
double nc_model_pipelined_binomial(struct nc_model_link link, int p, uint64_t m, uint64_t s);

/* ---- a queue. Source: Kurnosov, Tokmasheva 2020, time of Bcast and choice of f and s ----
 *
 * m: bytes of the message; f > 0: bytes of a fragment; s > 0: slots of a queue; b = f * s, bytes of
 * a queue; q > 0: sets of a queue. */

struct nc_model_costs { /* seconds, none negative */
    double set;         /* t_WO, the root waits for a set */
    double leave;       /* t_A, a reader leaves by an atomic operation */
    double notice;      /* t_W, a reader waits for a notification */
    double byte;        /* t, to copy a byte */
};

/* The lengths of a message against those of a queue: the cases of nc_model_queue. */
enum nc_model_regime {
    NC_MODEL_ONE_FRAGMENT, /* m <= f: copied in, then copied out */
    NC_MODEL_ONE_QUEUE,    /* f < m <= b: the copies overlap, no slot is used twice */
    NC_MODEL_MANY_QUEUES   /* m > b: slots are used again */
};

enum nc_model_regime nc_model_regime(uint64_t m, uint64_t f, uint64_t s);

/* t(m), seconds: the time with a queue of one slot, in which no copies overlap. */
double nc_model_slot(struct nc_model_costs costs, uint64_t m, uint64_t f);

/* t(m, s), seconds: the time with a queue of s slots; t(m) if s = 1. */
double nc_model_queue(struct nc_model_costs costs, uint64_t m, uint64_t f, uint64_t s);

/* t(m, s, q), seconds: the time with a queue of s slots in q sets; t(m, s) if q = 1. With several
 * sets the root copies ahead, so only the first fragment's copy is waited for. The print of the
 * formula is ambiguous; this reading is what the algorithm takes if it is gone through step by
 * step. In it the root waits for all q sets even if the message ends in an earlier set, so the time
 * is too long for messages shorter than the queue. */
double nc_model_sets(struct nc_model_costs costs, uint64_t m, uint64_t f, uint64_t s, uint64_t q);

/* f* and s* = b / f* of a queue of b > 0 bytes, with which t(m, s) has its minimum if the numbers
 * need not be whole. */
struct nc_model_slots nc_model_best(struct nc_model_costs costs, uint64_t m, uint64_t b);

/* The practical rules of the paper, which need no constants. What is known, and what follows:
 *    f and the longest message m    s = nc_frag_count(m, f)
 *    s and the longest message m    f = nc_frag_sqrt_rule(m), or nc_model_fragment_to_fit
 *    b bytes of a queue             nc_model_slots_of_queue
 *    the memory                     b = nc_model_budget, then nc_model_slots_of_queue
 *    a message of m bytes           nc_model_slots_of_message: f = sqrt(m), rounded up to a page,
 *                                   and as many slots as the message has fragments */
struct nc_model_slots nc_model_slots_of_message(uint64_t m);
/* The smallest fragment, whole pages, with which a message of m bytes fits into s slots. Bytes. */
uint64_t nc_model_fragment_to_fit(uint64_t m, uint64_t s);

/* b = f * s, bytes; UINT64_MAX if the product is larger. */
uint64_t nc_model_queue_bytes(uint64_t f, uint64_t s);

enum nc_model_size {
    NC_MODEL_SMALL,    /* below 10 MiB */
    NC_MODEL_MIDDLING, /* to 100 MiB */
    NC_MODEL_LARGE
};

/* How the source calls a queue of b bytes. */
enum nc_model_size nc_model_size(uint64_t b);

#endif
