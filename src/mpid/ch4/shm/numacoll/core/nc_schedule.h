/* Schedules: for each algorithm of a group, the list of messages of each member.
 *
 * Members are numbered by their index (nc_group.h). Member 0 is the leader: it has the message of a
 * bcast and gets the result of a reduce. A message of n elements is cut into parts; a step moves a
 * range of consecutive parts. The functions here only compute the lists. coll/above.c runs the
 * steps in order and knows no algorithm:
 *
 *   SEND             begins to send and does not wait; after the last step, before the place of
 *                    the message is used again, the member waits for all its sends
 *   REDUCE,          begins to receive into a separate buffer; if `wait_sends`, waits for all its
 *   REDUCE_BEHIND    sends so far; waits for the receive, and reduces what came with its own parts
 *   RECV             if `wait_sends`, waits for all its sends so far; then receives the parts into
 *                    their place in the message
 *
 * A send may be synchronous: it need not complete before its receive has begun. The schedules do
 * not deadlock even if all sends are synchronous. Messages between two members are received in the
 * order in which they were sent. If a range has no elements, there is no message on either side;
 * but the `wait_sends` of such a step still holds, because later steps rely on it.
 *
 * A step has `wait_sends` if it changes parts that an earlier SEND sends and no step has waited
 * since. There is one exception: the first RECV of an allgather that follows a reduce-scatter. The
 * SEND before this RECV goes to a member that also sends before it receives. If both waited for
 * their sends, neither would begin to receive. Instead, the last REDUCE of the reduce-scatter
 * waits: at that point the other member has begun to receive.
 *
 * The table says what all p members together send for a message of m bytes. log is to base 2; q is
 * the largest power of two that is not above p; f = p - q members are folded: they hand their data
 * to another member first and, except in RSG, get the result last; d is the sum of all depths in
 * the binomial tree, p log(p) / 2 if p = q.
 *
 *              messages                bytes
 *   trees      p - 1                   (p - 1) m
 *   SAG        p^2 - 1 - d             (p - 1) m
 *   RSG        q log q + q - 1 + f     (q - 1 + log(q) / 2 + f) m
 *   RD         q log q + 2 f           (q log q + 2 f) m
 *   RSAG       2 q log q + 2 f         (2 (q - 1) + 2 f) m
 *   RING       2 p (p - 1)             2 (p - 1) m
 *
 * A reduce-scatter alone, to equal parts for all members, sends q log q + 2 f messages with
 * (q - 1 + f) m bytes and the f parts of the folded by halves, p (p - 1) and (p - 1) m by the ring.
 *
 * If p = q, a member sends log p messages of m bytes in RD, and in RSAG 2 log p messages with
 * 2 (p - 1) / p m bytes in all. In RING, with any p, it sends 2 (p - 1) messages with 2 (p - 1) / p
 * m bytes in all.
 *
 * Sources. Which algorithms, and the trees: Kurnosov 2023, 2020. RD, RSG, RSAG and the folding:
 * Rabenseifner 2004, and Thakur, Rabenseifner, Gropp 2005 on reduce and allreduce. SAG: Thakur,
 * Rabenseifner, Gropp 2005 on broadcast, after van de Geijn; with Zhou et al. 2015: the allgather
 * does not send a member the parts that it has from the scatter, so no member gets a part twice.
 * RING: Patarasuk, Yuan 2009. */

#ifndef NC_SCHEDULE_H_INCLUDED
#define NC_SCHEDULE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "nc_tree.h"

/* The most bytes of a chunk, and so of the data in a message between nodes; lengths come on top. */
enum { NC_CHUNK = 65536 };

enum nc_algorithm {
    NC_FLAT = NC_TREE_FLAT,
    NC_KARY = NC_TREE_KARY,
    NC_BALANCED = NC_TREE_BALANCED,
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
    int peer;       /* index of the other member */
    int first, end; /* parts first .. end - 1 .. */
    enum nc_step_kind kind;
    bool wait_sends; /* wait for this member's sends so far before `mine` is changed */
    int parts;       /* .. of so many into which the message is cut */
};

struct nc_schedule {
    int parts;
    int count;            /* steps; 0 if p is 1 */
    struct nc_step *step; /* the caller's memory, for nc_schedule_most(p) steps */
};

/* Upper bounds for all algorithms and members: of the steps of a reduce and a bcast together, or of
 * an allreduce; and of those that send, in one of the three. */
int nc_schedule_most(int p);
int nc_schedule_most_sends(int p);

/* The next three functions write the steps of member me, 0 <= me < p, to s->step, the caller's
 * memory. k >= 2 is the degree of NC_KARY, NC_BALANCED and NC_KNOMIAL; the other algorithms ignore
 * it. The reduction operation must be associative and commutative. O(steps), times log p in a tree.
 *
 * Reduce to member 0 by a tree (NC_FLAT .. NC_CHAIN) or by NC_RSG. The data of the other members
 * may be overwritten. */
void nc_schedule_reduce(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);

/* Bcast from member 0 by a tree (NC_FLAT .. NC_CHAIN) or by NC_SAG. */
void nc_schedule_bcast(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);

/* Allreduce by NC_RD, NC_RSAG or NC_RING. The results of all members are equal bit by bit, even if
 * a op b and b op a differ in some bits: if two members reduce the same two operands, both put the
 * same operand on the left. */
void nc_schedule_allreduce(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);

/* Reduce-scatter, the first half of the allreduce NC_RSAG or NC_RING, to nc_schedule_parts parts:
 * each is complete at its owner alone at the end. The owner of a part, -1: nobody, the part must be
 * empty. A member owns one part that may have elements. k is ignored. */
void nc_schedule_reduce_scatter(struct nc_schedule *s, enum nc_algorithm a, int k, int p, int me);
int nc_schedule_owner(enum nc_algorithm a, int p, int part);
int nc_schedule_parts(enum nc_algorithm a, int p);

/* The first element of part i of a message of n elements: n * i / parts, without overflow. A part
 * ends where the next one starts, and may be empty. */
static inline size_t nc_schedule_part(size_t n, int parts, int i)
{
    size_t c = (size_t) parts, j = (size_t) i;

    return n / c * j + n % c * j / c;
}

/* Rounds bytes of a chunk down to whole elements, but to one at least. */
static inline size_t nc_schedule_whole(size_t bytes, size_t element)
{
    return bytes < element ? element : bytes - bytes % element;
}

#endif
