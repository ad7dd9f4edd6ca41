/* Arithmetic of fragments and sets. The writer of a message chooses the size of its fragments and
 * tells the readers (shm/nc_transfer.h); both sides count fragments by these functions.
 * Source: Kurnosov, Tokmasheva 2020, sections on the algorithm and on the choice of f. */

#ifndef NC_FRAG_H_INCLUDED
#define NC_FRAG_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* Fragments by the square root rule are multiples of it, bytes: the page of the papers' machines,
 * on whatever machine. */
#define NC_FRAG_UNIT 4096

/* The number of fragments of f > 0 bytes in a message of m bytes. An empty message has one
 * fragment, so that the message is announced. A message of one fragment divides nothing. */
static inline uint64_t nc_frag_count(uint64_t m, uint64_t f)
{
    return m > f ? (m - 1) / f + 1 : 1;
}

/* Bytes of fragment i; 0 beyond the end of the message. */
static inline uint64_t nc_frag_bytes(uint64_t m, uint64_t f, uint64_t i)
{
    uint64_t start = i * f;
    return start >= m ? 0 : m - start < f ? m - start : f;
}

/* Whether a reader that has read n fragments of a message acknowledges slots now: whether fragment
 * n - 1 is the last of a set of `set` slots. */
static inline bool nc_frag_ends_set(uint64_t n, unsigned set)
{
    return n % set == 0;
}

/* f* of the model, the bytes of a fragment in a message (or a slot in a queue) of m bytes: sqrt(m),
 * rounded up to a multiple of NC_FRAG_UNIT, at least one. */
uint64_t nc_frag_sqrt_rule(uint64_t m);

/* How the writer of a message chooses the size of its fragments, in the order of the values of
 * FRAGMENT_RULE in cvars.yaml. */
enum nc_frag_rule {
    /* a quarter of the message (of a scatter's, half of it), so that the readers copy one fragment
     * while the writer copies the next; but at least 4 KiB, because each announcement moves a cache
     * line to the reader and back
     */
    NC_FRAG_QUARTER,
    NC_FRAG_FIXED, /* a slot, as in the papers' figures over the size of a fragment */
    NC_FRAG_SQRT   /* nc_frag_sqrt_rule */
};

/* Bytes of a fragment in a message of m bytes by a rule; never more than a slot, which has `slot`
 * bytes. */
uint64_t nc_frag_choose(uint64_t m, uint64_t slot, enum nc_frag_rule rule);

/* The same for a message of a scatter, of which NC_FRAG_QUARTER takes half. Its root goes on to
 * other readers, or to its own block, while a reader copies, and each announcement holds it up: it
 * has to call back the line at which the reader looks. */
uint64_t nc_frag_choose_scatter(uint64_t m, uint64_t slot, enum nc_frag_rule rule);

#endif
