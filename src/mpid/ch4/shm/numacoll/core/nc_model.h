/* The models of time by which the library decides: of messages between nodes (core/nc_select.c
 * chooses algorithms and chunks by them), and rules for the size of a queue inside a node
 * (mpich/state_make.c, mpich/choose.c).
 *
 * This is arithmetic only: the formulas of the papers, for constants that the caller gives and that
 * have to be measured. Times are in seconds, lengths in bytes. An empty message counts as one
 * message, or one fragment, of 0 bytes. Formulas of the papers that the library does not use are in
 * tools/model. */

#ifndef NC_MODEL_H_INCLUDED
#define NC_MODEL_H_INCLUDED

#include <stdint.h>

#include "nc_frag.h"

/* ---- trees of messages. Source: Kurnosov 2019, the model of Hockney ---- */

/* A message of m bytes takes alpha + m * beta. Neither is negative. */
struct nc_model_link {
    double alpha; /* seconds per message */
    double beta;  /* seconds per byte */
};

/* Seconds of one message of m bytes. */
static inline double nc_model_message(struct nc_model_link link, uint64_t m)
{
    return link.alpha + (double) m * link.beta;
}

/* The trees that nc_model_choose compares. In a binomial tree the message is sent whole, in the
 * others in segments that follow each other. A segment here is a piece of a message, as in the
 * papers; not the shared memory. */
enum nc_model_tree {
    NC_MODEL_BINOMIAL, /* one segment */
    NC_MODEL_CHAIN,
    NC_MODEL_PIPELINED_BINARY,
    NC_MODEL_TREES
};

/* Seconds to bring m bytes to p >= 1 processes by a tree, in segments of s > 0 bytes.
 * NC_MODEL_BINOMIAL ignores s. */
double nc_model_segmented(struct nc_model_link link, enum nc_model_tree tree, int p, uint64_t m,
                          uint64_t s);

/* s_opt: the bytes of a segment, between 1 and m, with which nc_model_segmented has its minimum if
 * the number of segments need not be whole; m if segments do not save time. */
double nc_model_segment(struct nc_model_link link, enum nc_model_tree tree, int p, uint64_t m);

/* What the segments of a message may be. */
struct nc_model_limits {
    uint64_t element; /* bytes of an element; 0 counts as 1. A segment has whole elements, at least
                         one, even if one is larger than `highest` */
    uint64_t lowest;  /* bytes a segment has at least, if whole elements and `highest` allow it */
    uint64_t highest; /* bytes a segment has at most */
    unsigned trees; /* the trees to compare with NC_MODEL_BINOMIAL, a bit each: 1 << NC_MODEL_CHAIN
                       ... */
};

struct nc_model_choice {
    enum nc_model_tree tree;
    int k;            /* children of a process: 1 chain, 2 binary; degree of a binomial tree, 2 */
    uint64_t segment; /* bytes, never 0; with NC_MODEL_BINOMIAL the message, whatever the limits */
    double seconds;
};

/* The tree and the size of segments with the least modelled time (up to a thousandth) for m bytes,
 * a number of whole elements, from one of p >= 1 leaders to the others. Of equal times the first
 * tree in enum nc_model_tree. The source recommends the same where the sends of a process share one
 * port: binomial for small messages, pipelined binary for medium ones, chain for large ones and few
 * processes. */
struct nc_model_choice nc_model_choose(struct nc_model_link link, int p, uint64_t m,
                                       const struct nc_model_limits *limits);

/* Seconds of an allreduce of m bytes among p >= 1 processes: by recursive doubling, with m bytes a
 * round; or by Rabenseifner's algorithm, a reduce-scatter by halves and an allgather. Processes
 * beyond the largest power of two hand their data to another process first and get the result last.
 * Source: Thakur, Rabenseifner, Gropp 2005. */
double nc_model_doubling(struct nc_model_link link, int p, uint64_t m);
double nc_model_rabenseifner(struct nc_model_link link, int p, uint64_t m);

/* Seconds of a reduce-scatter of m bytes among p >= 1 processes: by halves, where processes beyond
 * the largest power of two hand all their data to another process first and get their part last; or
 * round the ring. */
double nc_model_halves(struct nc_model_link link, int p, uint64_t m);
double nc_model_ring(struct nc_model_link link, int p, uint64_t m);

/* ---- a queue. Source: Kurnosov, Tokmasheva 2020, choice of f and s ---- */

struct nc_model_slots {
    uint64_t f; /* bytes of a fragment, never 0 */
    uint64_t s; /* slots, never 0 */
};

/* Divides a queue of b > 0 bytes into slots: f = sqrt(b), rounded up to a page, and as many slots
 * as fit, at least one. */
struct nc_model_slots nc_model_slots_of_queue(uint64_t b);

/* Bytes of a queue on a machine with so many bytes of memory and so many cores > 0: 1 % of the
 * memory per core. */
uint64_t nc_model_budget(uint64_t memory, uint64_t cores);

#endif
