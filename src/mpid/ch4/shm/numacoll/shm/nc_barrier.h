/* Barriers of a set of ranks that share memory. See PROTOCOLS.md, section 8.
 *
 * Every rank calls the same function with the same n; n grows from call to call, from 1. The
 * algorithm may be another one in each call. Memory, all zero at first, is an area of each rank,
 * NC_FLAGS_BYTES(ranks), in its own NUMA node:
 *
 *     0        128      256          128 * ranks  128 * (ranks + 1)
 *     +--------+--------+---  ---+---+------------+------------+
 *     | line 0 | line 1 |  ...       | counter    | gate       |
 *     +--------+--------+---  ---+---+------------+------------+
 *
 *     line w   the last barrier in which rank w had something to say to me; writer: w, reader: the
 *              owner of the area
 *     counter  arrivals at a node of a counting tree; writers: those who arrive, by adding
 *     gate     the last barrier that is over here; writer: one rank in each barrier, which one is
 *              the algorithm's business; readers: all who wait there */

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

/* A rank's view of a set's barriers by one algorithm. Private to it. The caller sets all but the
 * neighbours. */
struct nc_barrier {
    char *const *region; /* [ranks] memory of each rank, */
    size_t offset;       /* and where in it its area begins, a multiple of NC_LINE */
    int rank, ranks;
    struct nc_waiter *waiter;
    bool gate; /* nc_barrier_tree: rank 0's gate releases all, not `release` */
    struct nc_neighbours arrival, release; /* nc_barrier_tree: who reports, and who tells */
    /* What rank 0 alone does when all have arrived, before anybody leaves; 0 or an error, which
     * becomes its result (the others leave all the same). NULL: nothing; on all ranks alike, the
     * others only look whether it is set. */
    int (*between)(void *context);
    void *context;
};

/* A barrier, number n. 0, the error of a wait, or on rank 0 that of `between`. */
typedef int (*nc_barrier_function)(struct nc_barrier *, uint64_t n);

int nc_barrier_tree(struct nc_barrier *barrier, uint64_t n);
int nc_barrier_central(struct nc_barrier *barrier, uint64_t n);
int nc_barrier_combining(struct nc_barrier *barrier, uint64_t n);
int nc_barrier_dissemination(struct nc_barrier *barrier, uint64_t n);

/* An algorithm as users know it. */
struct nc_barrier_algorithm {
    const char *name;
    nc_barrier_function function;
    struct nc_tree_spec arrival; /* none: not nc_barrier_tree, or by groups */
    struct nc_tree_spec release; /* none beside an arrival: by rank 0's gate */
    bool groups;                 /* both trees come from the groups */
};

/* By enum nc_barrier_kind. */
extern const struct nc_barrier_algorithm nc_barrier_algorithms[NC_BARRIER_KINDS];

/* What `hierarchical` has to know. */
struct nc_barrier_levels {
    const struct nc_groups *groups;
    const struct nc_tree_spec *inside; /* [levels] the tree inside a group of each level */
    bool flag;                         /* release all by rank 0's gate, as in the paper */
};

/* Sets the neighbours for an algorithm, in private memory of nc_barrier_private_bytes(ranks) bytes,
 * aligned for int. levels may be NULL unless the algorithm goes by groups. */
size_t nc_barrier_private_bytes(int ranks);
void nc_barrier_shape(struct nc_barrier *barrier, void *private_memory,
                      const struct nc_barrier_algorithm *algorithm,
                      const struct nc_barrier_levels *levels);

/* ---- for the algorithms ---- */

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

/* Tells a rank, in the line that only I write. */
static inline void nc_barrier_signal(const struct nc_barrier *b, int reader, uint64_t n)
{
    /* release R4: who hears of me may count on what I did, and heard of, before; partner:
     * nc_barrier_await */
    nc_atomic_release(nc_barrier_at(b, reader, b->rank), n);
}

/* Waits until a rank has told me. */
static inline int nc_barrier_await(const struct nc_barrier *b, int writer, uint64_t n)
{
    /* acquire of R4 */
    return nc_wait_clock(nc_barrier_at(b, b->rank, writer), n, b->waiter);
}

/* Lets go all who wait at a gate. */
static inline void nc_barrier_open(const struct nc_barrier *b, int owner, uint64_t n)
{
    /* release R5: all have arrived, and what they did before may be counted on; partner:
     * nc_barrier_pass */
    nc_atomic_release(nc_barrier_gate(b, owner), n);
}

/* Waits until a gate is open. */
static inline int nc_barrier_pass(const struct nc_barrier *b, int owner, uint64_t n)
{
    /* acquire of R5 */
    return nc_wait_clock(nc_barrier_gate(b, owner), n, b->waiter);
}

/* Counts me at a counter; how many there were before. */
static inline uint64_t nc_barrier_count(const struct nc_barrier *b, int owner)
{
    /* release R6, and acquire of the R6 before it: the last to come may count on what all did
     * before; partners: nc_barrier_count, nc_barrier_central */
    return nc_atomic_add_acq_rel(nc_barrier_counter(b, owner), 1);
}

static inline int nc_barrier_between(const struct nc_barrier *b)
{
    return b->between ? b->between(b->context) : 0;
}

#endif
