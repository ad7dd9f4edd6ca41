/* Barriers among the ranks of one node, in shared memory; no MPI. coll/barrier.c calls the function
 * of the algorithm that is selected. PROTOCOLS.md, section 8; R4, R5 and R6 are its releases.
 *
 * All ranks call the same function with the same n, the number of the barrier: 1 at least, and
 * larger in each call than in the one before. The algorithm may be another one in each call. Each
 * rank has an area of NC_FLAGS_BYTES(ranks) bytes in its own region, all zero at first:
 *
 *     0        128      256          128 * ranks  128 * (ranks + 1)
 *     +--------+--------+---  ---+---+------------+------------+
 *     | line 0 | line 1 |  ...       | counter    | gate       |
 *     +--------+--------+---  ---+---+------------+------------+
 *
 *     line w   the number of the last barrier in which rank w signalled the owner of the area;
 *              writer: w; reader: the owner
 *     counter  how many arrivals have been counted here, of all barriers; writers and readers: the
 *              ranks that arrive here, each by one atomic add
 *     gate     the number of the last barrier in which the gate was opened; writer: one rank in
 *              each barrier, which one depends on the algorithm; readers: the ranks that wait
 *              here */

#ifndef NC_BARRIER_H_INCLUDED
#define NC_BARRIER_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/nc_layout.h"
#include "../core/nc_route.h"
#include "../core/nc_select.h"
#include "nc_atomic.h"
#include "nc_wait.h"

_Static_assert(sizeof(struct nc_atomic) <= NC_LINE, "a line has room for its word");

/* One rank's view of the barriers of a communicator by one algorithm. Private memory. The caller
 * sets all fields but `gate`, `arrival` and `release`, which nc_barrier_shape sets. */
struct nc_barrier {
    char *const *region; /* [ranks] where the region of each rank is mapped */
    size_t offset;       /* where in a region the area begins, bytes; a multiple of NC_LINE */
    int rank, ranks;
    struct nc_waiter *waiter;
    /* for nc_barrier_tree: */
    bool gate; /* the gate of rank 0 releases all ranks, not the tree `release` */
    /* the tree in which ranks report their arrival, and the tree in which they are released */
    struct nc_neighbours arrival, release;
    /* What rank 0 does when all ranks have arrived and none has left. Returns 0 or an error, which
     * becomes the result of rank 0; the other ranks leave the barrier as usual. NULL: nothing. It
     * is NULL on all ranks or on none; a rank other than 0 only tests it. */
    int (*between)(void *context);
    void *context;
};

/* Makes barrier number n. 0, or, on rank 0, the error of `between`. */
typedef int (*nc_barrier_function)(struct nc_barrier *, uint64_t n);

int nc_barrier_tree(struct nc_barrier *barrier, uint64_t n);
int nc_barrier_central(struct nc_barrier *barrier, uint64_t n);
int nc_barrier_combining(struct nc_barrier *barrier, uint64_t n);
int nc_barrier_dissemination(struct nc_barrier *barrier, uint64_t n);

/* An algorithm that users can select by its name. */
struct nc_barrier_algorithm {
    const char *name;
    nc_barrier_function function;
    struct nc_tree_spec arrival; /* none (k is 0) if not nc_barrier_tree, or if `groups` is set */
    struct nc_tree_spec release; /* none, with an arrival: the gate of rank 0 releases all ranks */
    bool groups;                 /* arrival and release follow the groups of nc_barrier_levels */
};

/* Indexed by enum nc_barrier_kind. */
extern const struct nc_barrier_algorithm nc_barrier_algorithms[NC_BARRIER_KINDS];

/* The input of an algorithm that follows the groups. */
struct nc_barrier_levels {
    const struct nc_groups *groups;
    const struct nc_tree_spec *inside; /* [levels] the tree inside a group of each level */
    bool flag; /* release all ranks by the gate of rank 0, as in the paper */
};

/* nc_barrier_shape sets `gate`, `arrival` and `release` for an algorithm. Their lists are in the
 * private memory, nc_barrier_private_bytes(ranks) bytes aligned for int, which must outlive the
 * barrier. levels may be NULL unless algorithm->groups is set. */
size_t nc_barrier_private_bytes(int ranks);
void nc_barrier_shape(struct nc_barrier *barrier, void *private_memory,
                      const struct nc_barrier_algorithm *algorithm,
                      const struct nc_barrier_levels *levels);

/* ---- for the algorithms ---- */

/* Line number `line` of a rank's area; the counter and the gate stand behind the lines. */
static inline struct nc_atomic *nc_barrier_at(const struct nc_barrier *b, int owner, int line)
{
    return (struct nc_atomic *) (b->region[owner] + b->offset + (size_t) line * NC_LINE);
}

static inline struct nc_atomic *nc_barrier_counter(const struct nc_barrier *b, int owner)
{
    return nc_barrier_at(b, owner, b->ranks);
}

static inline struct nc_atomic *nc_barrier_gate(const struct nc_barrier *b, int owner)
{
    return nc_barrier_at(b, owner, b->ranks + 1);
}

/* Signals a rank, in the line of its area that only this rank writes. */
static inline void nc_barrier_signal(const struct nc_barrier *b, int reader, uint64_t n)
{
    /* release R4: the reader sees what this rank did, and what it acquired, before; partner:
     * nc_barrier_await */
    nc_release(nc_barrier_at(b, reader, b->rank), n, b->waiter);
}

/* Waits for the signal of a rank. */
static inline void nc_barrier_await(const struct nc_barrier *b, int writer, uint64_t n)
{
    /* acquire of R4 */
    nc_wait_clock(nc_barrier_at(b, b->rank, writer), n, b->waiter);
}

/* Opens the gate of a rank's area: all ranks that wait there may go on. */
static inline void nc_barrier_open(const struct nc_barrier *b, int owner, uint64_t n)
{
    /* release R5: a rank that passes sees what this rank did, and what it acquired, before;
     * partner: nc_barrier_pass */
    nc_release(nc_barrier_gate(b, owner), n, b->waiter);
}

/* Waits until the gate of a rank's area is open. */
static inline void nc_barrier_pass(const struct nc_barrier *b, int owner, uint64_t n)
{
    /* acquire of R5 */
    nc_wait_clock(nc_barrier_gate(b, owner), n, b->waiter);
}

/* Adds 1 to the counter of a rank's area, and returns the sum before. */
static inline uint64_t nc_barrier_count(const struct nc_barrier *b, int owner)
{
    /* release R6, and acquire of the R6 before it: the last rank to be counted sees what all ranks
     * counted here did before; partners: nc_barrier_count, nc_barrier_central */
    return nc_release_add(nc_barrier_counter(b, owner), 1, b->waiter);
}

/* Rank 0: what is to be done when all have arrived. 0 or its error. */
static inline int nc_barrier_between(const struct nc_barrier *b)
{
    return b->between ? b->between(b->context) : 0;
}

#endif
