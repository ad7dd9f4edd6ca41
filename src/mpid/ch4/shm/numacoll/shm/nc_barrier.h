/* Barriers among the ranks of one node, in shared memory; no MPI. coll/barrier.c calls the function
 * of the algorithm that is selected. PROTOCOLS.md, section 8; R4, R5 and R6 are its releases.
 *
 * All ranks call the same function with the same n, the number of the barrier: 1 at least, and
 * larger in each call than in the one before. The algorithm may be another one in each call. Each
 * rank has an area of nc_flags_bytes(ranks) bytes in its own region, all zero at first:
 *
 *     0         128    256      384
 *     +---------+------+--------+--------+---  ---+
 *     | counter | gate | line 0 | line 1 |  ...   |
 *     +---------+------+--------+--------+---  ---+
 *
 *     counter  how many arrivals have been counted here, of all barriers; writers and readers: the
 *              ranks that arrive here, each by one atomic add
 *     gate     the number of the last barrier in which the gate was opened; writer: one rank in
 *              each barrier, which one depends on the algorithm; readers: the ranks that wait
 *              here
 *     line k   the number of the last barrier in which the owner gave its signal k; writer: the
 *              owner; reader: one rank in each barrier, which one depends on the algorithm. A rank
 *              gives one signal on a tree, and one in each round of dissemination
 *
 * and there is a row of one line for each rank, all zero at first. In a barrier in which rank 0
 * waits for all others, their signals are in the row instead, so that it finds them side by side
 * and in its own memory. */

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
 * sets all fields but `in_row`, `gate`, `arrival` and `release`, which nc_barrier_shape sets. */
struct nc_barrier {
    char *const *region; /* [ranks] where the region of each rank is mapped */
    size_t offset;       /* where in a region the area begins, bytes; a multiple of NC_LINE */
    char *row;           /* the row */
    int rank, ranks;
    struct nc_waiter *waiter;
    bool in_row; /* signals are in the row */
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

/* nc_barrier_shape sets `in_row`, `gate`, `arrival` and `release` for an algorithm. Their lists are
 * in the private memory, nc_barrier_private_bytes(ranks) bytes aligned for int, which must outlive
 * the barrier. levels may be NULL unless algorithm->groups is set. */
size_t nc_barrier_private_bytes(int ranks);
void nc_barrier_shape(struct nc_barrier *barrier, void *private_memory,
                      const struct nc_barrier_algorithm *algorithm,
                      const struct nc_barrier_levels *levels);

/* ---- for the algorithms ---- */

static inline struct nc_atomic *nc_barrier_at(const struct nc_barrier *b, int owner, int place)
{
    return (struct nc_atomic *) (b->region[owner] + b->offset + (size_t) place * NC_LINE);
}

static inline struct nc_atomic *nc_barrier_counter(const struct nc_barrier *b, int owner)
{
    return nc_barrier_at(b, owner, 0);
}

static inline struct nc_atomic *nc_barrier_gate(const struct nc_barrier *b, int owner)
{
    return nc_barrier_at(b, owner, 1);
}

static inline struct nc_atomic *nc_barrier_line(const struct nc_barrier *b, int owner, int line)
{
    if (b->in_row)
        return (struct nc_atomic *) (b->row + (size_t) owner * NC_LINE);
    return nc_barrier_at(b, owner, NC_FLAGS + line);
}

/* Gives this rank's signal `line`. */
static inline void nc_barrier_signal(const struct nc_barrier *b, int line, uint64_t n)
{
    /* release R4: the reader sees what this rank did, and what it acquired, before; partner:
     * nc_barrier_await */
    nc_release(nc_barrier_line(b, b->rank, line), n, b->waiter);
}

/* Waits for signal `line` of a rank. */
static inline void nc_barrier_await(const struct nc_barrier *b, int writer, int line, uint64_t n)
{
    /* acquire of R4 */
    nc_wait_clock(nc_barrier_line(b, writer, line), n, b->waiter);
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
