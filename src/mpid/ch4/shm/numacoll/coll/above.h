/* The levels above the node: the messages that node leaders exchange by fixed schedules. reduce.c,
 * bcast.c, allreduce.c and reduce_scatter.c call these functions, on node leaders only
 * (above_choose and local_leader also on other ranks); the messages go through net.h.
 *
 * Each node has one leader: on the root's node the root, on the others the lowest rank. On each
 * level above the node the leaders are grouped (core/nc_group.h), and each group works by an
 * algorithm of its own (core/nc_schedule.h). A message of the user is cut into chunks. A pipeline
 * is what a leader sends and receives for one chunk in one direction: the messages of all its
 * levels, one after the other. Reduce uses the pipeline up, Bcast the pipeline down. Allreduce uses
 * both: it sends chunk c + 1 up before chunk c comes down. Source: Kurnosov 2023, hierarchical
 * groups; the chunks are an addition. */

#ifndef NUMACOLL_ABOVE_H_INCLUDED
#define NUMACOLL_ABOVE_H_INCLUDED

#include "net.h"
#include "reduction.h"
#include "../core/nc_select.h"

/* The messages of a chunk in one direction. Every chunk of a call makes these messages again, in
 * this order. */
struct nc_pipeline {
    int tag; /* up and down have different tags: a message up never matches a receive down */
    /* [messages] in the order in which they are made; `peer` is a rank of the communicator. Those
     * down are behind those up, in one array */
    struct nc_step *message;
    int messages;
    MPIR_Request **sent[NC_CHUNKS]; /* of chunk c: [c % NC_CHUNKS][sends], not awaited yet */
    int sends[NC_CHUNKS];           /* number of these requests */
    MPIR_Request *coming; /* the posted receive, of message `expected`, into `to`; NULL: none */
    int expected;
    char *to;
};

/* The state of a node leader in one call. Private to the process. */
struct nc_above {
    struct nc_net net;
    int root;                             /* rank of the communicator */
    int roots_node;                       /* the node it is on */
    const struct nc_reduction *reduction; /* NULL in Bcast */
    size_t element;                       /* bytes; 1 in Bcast */
    /* where the parts of a chunk begin, and the last one ends, elements; NULL: they are equal */
    const size_t *bound;
    int turn; /* operand buffer, 0 or 1, of the last posted receive */
    struct nc_pipeline up, down;
};

/* How a message travels above the node: the algorithm of each level, and the size of a chunk. */
struct nc_above_choice {
    struct nc_group_algorithm level[NC_LEVELS + 1]; /* by level of state->all.nodes.groups */
    size_t chunk;                                   /* bytes, a multiple of the element */
};

/* Fills *choice from the settings and, where they say auto, from the model of time. `bytes` is the
 * length of the message, `element` the bytes of an element of a reduction (1 otherwise). All ranks
 * of the communicator must pass the same values; then all get the same choice. */
void MPIDI_NUMACOLL_above_choose(const struct nc_call *call, enum nc_direction direction,
                                 size_t bytes, size_t element, struct nc_above_choice *choice);

/* As above_choose for the first message of a Bcast, whose length only the root knows: so all
 * algorithms are trees, and do not depend on the length. A level that scatters, and one where the
 * settings say auto, has a binomial tree (which the model, too, would choose for few bytes). Sets
 * choice->level only. */
void MPIDI_NUMACOLL_above_choose_first(const struct nc_call *call, struct nc_above_choice *choice);

/* The local rank of this node's leader in a call with this root (rank of the communicator). */
int MPIDI_NUMACOLL_local_leader(const struct nc_call *call, int root);

/* Prepares a call, with empty pipelines. Only node leaders call this function and those below. */
void MPIDI_NUMACOLL_above_open(struct nc_above *above, const struct nc_call *call, int root);

/* Makes the messages up combine elements by this reduction, which must live until above_close. */
static inline void MPIDI_NUMACOLL_above_combine_by(struct nc_above *above,
                                                   const struct nc_reduction *r)
{
    above->reduction = r;
    above->element = r->element;
}

/* Fills the pipeline up or down with the messages of all levels above the node, except the `but`
 * highest levels. Up is filled first. */
void MPIDI_NUMACOLL_above_up(struct nc_above *above, const struct nc_above_choice *choice, int but);
void MPIDI_NUMACOLL_above_down(struct nc_above *above, const struct nc_above_choice *choice,
                               int but);

/* Appends to the pipeline up an allreduce on the highest level: all members of its groups get the
 * result. The pipeline must have been filled with but = 1. */
void MPIDI_NUMACOLL_above_exchange(struct nc_above *above, const struct nc_above_choice *choice);

/* For a reduce-scatter of parts of unequal lengths to all nodes, which are one group: the algorithm
 * of nc_schedule_reduce_scatter for a message of `bytes` bytes. All ranks of the communicator must
 * pass the same value; then all get the same algorithm. */
enum nc_algorithm MPIDI_NUMACOLL_above_scatters_by(const struct nc_call *call, size_t bytes);

/* Fills the pipeline up with it. The members are the nodes. above->bound[parts + 1] must be set
 * before each chunk. */
void MPIDI_NUMACOLL_above_scatter(struct nc_above *above, enum nc_algorithm algorithm);

/* Sends and receives the messages of chunk c, of n elements, from and to `place`. Waits first for
 * the sends of chunk c - NC_CHUNKS, which may have the same place. Returns the number of elements
 * in the chunk: n, or if `learn`, the length of the message that has come, which is at most n (the
 * pipeline must then consist of trees, whose messages carry whole chunks). Errors are kept in
 * above->net. */
size_t MPIDI_NUMACOLL_above_run(struct nc_above *above, struct nc_pipeline *pipeline, uint64_t c,
                                char *place, size_t n, bool learn);

/* Posts the receive of the first message of chunk c, which must be the next chunk of the pipeline,
 * so that the message arrives while this rank does other work. Does nothing if the first message is
 * a send, or if a receive is posted already. c, place and n are those of the above_run that
 * follows. */
void MPIDI_NUMACOLL_above_expect(struct nc_above *above, struct nc_pipeline *pipeline, uint64_t c,
                                 char *place, size_t n);

/* Waits for the sends of chunk c; afterwards its place may be overwritten. */
void MPIDI_NUMACOLL_above_wait_sends(struct nc_above *above, struct nc_pipeline *pipeline,
                                     uint64_t c);

/* Waits for all sends. Returns the first error of the call in messages or in combining. */
int MPIDI_NUMACOLL_above_close(struct nc_above *above);

#endif
