/* Arithmetic of fragments and sets (Kurnosov, Tokmasheva 2020, sections on the algorithm and on the
 * choice of f). */

#ifndef NC_FRAG_H_INCLUDED
#define NC_FRAG_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define NC_PAGE 4096

/* Fragments of f > 0 bytes in a message of m bytes; an empty message has one, so that it is
 * announced. */
static inline uint64_t nc_frag_count(uint64_t m, uint64_t f)
{
    return m ? (m - 1) / f + 1 : 1;
}

/* Bytes of fragment i. */
static inline uint64_t nc_frag_bytes(uint64_t m, uint64_t f, uint64_t i)
{
    uint64_t start = i * f;
    return start >= m ? 0 : m - start < f ? m - start : f;
}

/* Whether a reader that has finished n of its fragments gives slots back now: at the end of a set
 * of `set` slots. */
static inline bool nc_frag_ends_set(uint64_t n, unsigned set)
{
    return n % set == 0;
}

/* f* of the model for a message (or a queue) of m bytes: sqrt(m), rounded up to a page, bytes. */
uint64_t nc_frag_sqrt_rule(uint64_t m);

/* Bytes of a fragment the writer takes for a message of m bytes when slots have `slot` bytes.
 * sqrt_rule: the model's; otherwise a quarter of the message, so that the readers' copies overlap
 * the writer's, but neither more than a slot nor, where a slot holds that much, less than 4 KiB: an
 * announcement costs a line there and back. */
uint64_t nc_frag_choose(uint64_t m, uint64_t slot, bool sqrt_rule);

#endif
