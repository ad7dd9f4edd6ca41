/* Schedules: each algorithm of a group as a list of messages for each member.
 *
 * Members are counted as in nc_group.h; member 0 is the leader, which has the message or gets the
 * result. A message of n elements is cut into parts, and a step moves some that follow each other.
 * The lists are arithmetic; the code that runs them knows no algorithm. It goes through the steps
 * in order:
 *
 *   SEND             begins the send and does not wait for it; after the last step it waits for all
 *                    sends
 *   REDUCE,          begins the receive, to elsewhere; if `wait_sends`, waits for all sends so far;
 *   REDUCE_BEHIND    waits for the receive, and combines what came with the member's own parts
 *   RECV             if `wait_sends`, waits for all sends so far; then receives the parts into
 *                    place
 *
 * A send may last until its receive is begun: nothing hangs even so. Messages between two members
 * are received in the order they were sent. An empty range is no message on both sides, but its
 * `wait_sends` holds all the same: the next steps rely on it.
 *
 * A step has `wait_sends` if it changes parts that an earlier SEND sent, and no step has waited
 * since; but not the first RECV of an allgather that follows a reduce-scatter. The SEND before that
 * RECV goes to a member that does the same, and if each waited until the other received, neither
 * would begin to receive. The last REDUCE of the reduce-scatter waits instead: by then the other
 * member has begun to receive.
 *
 * What all members send, of m bytes. log is to base 2; q is the largest power of two that is not
 * above p; f = p - q members are folded in before and, but for RSG, given the result after; d is
 * the sum of all depths in the binomial tree, p log(p) / 2 if p = q.
 *
 *              messages                bytes
 *   trees      p - 1                   (p - 1) m
 *   SAG        p^2 - 1 - d             (p - 1) m
 *   RSG        q log q + q - 1 + f     (q - 1 + log(q) / 2 + f) m
 *   RD         q log q + 2 f           (q log q + 2 f) m
 *   RSAG       2 q log q + 2 f         (2 (q - 1) + 2 f) m
 *   RING       2 p (p - 1)             2 (p - 1) m
 *
 * If p = q, a member sends log p messages of m in RD, and in RSAG 2 log p messages, 2 (p - 1) / p m
 * together; in RING always 2 (p - 1) messages, as much together.
 *
 * Sources. Which algorithms, and the trees: Kurnosov 2023, 2020. RD, RSG, RSAG and the folding:
 * Rabenseifner 2004, and Thakur, Rabenseifner, Gropp 2005 on reduce and allreduce. SAG: the latter
 * on broadcast, after van de Geijn, with Zhou et al. 2015: nobody is sent a part the scatter left
 * there; so nobody takes a part twice either. RING: Patarasuk, Yuan 2009. */

#ifndef NC_SCHEDULE_H_INCLUDED
#define NC_SCHEDULE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "nc_tree.h"

enum nc_algorithm {
    NC_FLAT = NC_TREE_FLAT,
    NC_KARY = NC_TREE_KARY,
    NC_KNOMIAL = NC_TREE_KNOMIAL,
    NC_CHAIN = NC_TREE_CHAIN,
    NC_RSG,  /* reduce-scatter by halves, binomial gather */
    NC_SAG,  /* binomial scatter, allgather round the ring */
    NC_RD,   /* recursive doubling */
    NC_RSAG, /* reduce-scatter by halves, allgather by doubling */
    NC_RING  /* reduce-scatter and allgather round the ring */
};

enum nc_step_kind {
    NC_STEP_SEND,
    NC_STEP_RECV,         /* mine := theirs */
    NC_STEP_REDUCE,       /* mine := theirs op mine */
    NC_STEP_REDUCE_BEHIND /* mine := mine op theirs */
};

struct nc_step {
    int peer;       /* member */
    int first, end; /* parts first .. end - 1 */
    enum nc_step_kind kind;
    bool wait_sends; /* my sends so far must be over before mine is changed */
};

struct nc_schedule {
    int parts;
    int count;            /* steps; none if p is 1 */
    struct nc_step *step; /* the caller's memory, for nc_schedule_most(p) steps */
};

/* Steps of any algorithm and any member, at most. */
int nc_schedule_most(int p);

/* The steps of member me, 0 <= me < p; k >= 2 is the degree of NC_KARY and NC_KNOMIAL, and nothing
 * to the others. O(steps), times log p in a tree. The operation is associative and commutative.
 *
 * Result at member 0; NC_FLAT, NC_KARY, NC_KNOMIAL, NC_CHAIN or NC_RSG. What the others
 * have may be changed. */
void nc_schedule_reduce(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);

/* From member 0; NC_FLAT, NC_KARY, NC_KNOMIAL, NC_CHAIN or NC_SAG. */
void nc_schedule_bcast(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);

/* NC_RD, NC_RSAG or NC_RING. All members have the same result, bit by bit, even if a op b and
 * b op a differ in some: where two combine the same, both put the same operand on the left. */
void nc_schedule_allreduce(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);

/* Where part i of n elements starts; it ends where part i + 1 starts, and may be empty. It is
 * n * i / parts, also if n * i is more than a size_t holds. */
static inline size_t nc_schedule_part(size_t n, int parts, int i)
{
    size_t c = (size_t) parts, j = (size_t) i;

    return n / c * j + n % c * j / c;
}

#endif
