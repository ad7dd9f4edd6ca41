/* Models of time that decide in the library: of messages between nodes, and the rules for a queue
 * inside one.
 *
 * Arithmetic only: the formulas of the papers for the constants the caller gives, which are to be
 * measured. Times are in seconds, lengths in bytes; an empty message is one message, or one
 * fragment, of 0 bytes. The papers' other formulas are in tools/model. */

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

/* Trees between which a choice is made. The message goes whole, or in segments that follow each
 * other. */
enum nc_model_tree {
    NC_MODEL_BINOMIAL, /* whole */
    NC_MODEL_CHAIN,
    NC_MODEL_PIPELINED_BINARY,
    NC_MODEL_TREES
};

/* Time of m bytes to p >= 1 processes in segments of s > 0 bytes, seconds. NC_MODEL_BINOMIAL has
 * one segment. */
double nc_model_segmented(struct nc_model_link link, enum nc_model_tree tree, int p, uint64_t m,
                          uint64_t s);

/* s_opt, bytes, between 1 and m: where nc_model_segmented has its minimum if the number of segments
 * need not be whole; m where segments gain nothing. */
double nc_model_segment(struct nc_model_link link, enum nc_model_tree tree, int p, uint64_t m);

/* What the segments of a message may be. */
struct nc_model_limits {
    uint64_t element; /* bytes; a segment is a number of whole elements, at least one (0 counts as
                         1) .. */
    uint64_t lowest;  /* .. and, where elements allow it, at least as many bytes .. */
    uint64_t highest; /* .. and at most as many; this one wins against `lowest`, an element against
                         both */
    unsigned trees; /* offered beside NC_MODEL_BINOMIAL, which always is: 1 << NC_MODEL_CHAIN and so
                       on */
};

struct nc_model_choice {
    enum nc_model_tree tree;
    int k;            /* children of a process: 1 chain, 2 binary; degree of a binomial tree, 2 */
    uint64_t segment; /* bytes, never 0; of NC_MODEL_BINOMIAL the message's, whatever the limits */
    double seconds;
};

/* The tree, and the segments, with the least modelled time, but for a thousandth, for m bytes,
 * whole elements, from one of p >= 1 leaders to the others; of equals the first in enum
 * nc_model_tree. Where sends share a port this is what the source recommends: binomial for small
 * messages, pipelined binary for medium ones, chain for large ones and few processes. */
struct nc_model_choice nc_model_choose(struct nc_model_link link, int p, uint64_t m,
                                       const struct nc_model_limits *limits);

/* All p >= 1 processes exchange and combine m bytes, seconds: by recursive doubling, m bytes a
 * round; or by halves, each a part, and back (Rabenseifner). Those beyond the largest power of two
 * give theirs to another first, and get the result last. Source: Thakur, Rabenseifner, Gropp 2005.
 */
double nc_model_doubling(struct nc_model_link link, int p, uint64_t m);
double nc_model_rabenseifner(struct nc_model_link link, int p, uint64_t m);

/* ---- a queue. Source: Kurnosov, Tokmasheva 2020, choice of f and s ---- */

struct nc_model_slots {
    uint64_t f; /* bytes of a fragment, never 0 */
    uint64_t s; /* slots, never 0 */
};

/* A queue of b > 0 bytes: f = sqrt(b), rounded up to a page, and as many slots as fit, at least
 * one. */
struct nc_model_slots nc_model_slots_of_queue(uint64_t b);

/* Bytes of a queue where a machine has so many bytes of memory and cores > 0: 1 % of the memory per
 * core. */
uint64_t nc_model_budget(uint64_t memory, uint64_t cores);

#endif
