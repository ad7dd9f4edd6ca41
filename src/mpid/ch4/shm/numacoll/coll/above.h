/* The levels above the node: the messages that node leaders exchange by fixed schedules, for
 * Reduce, Bcast and Allreduce.
 *
 * Each node has one leader: on the root's node the root, on the others the lowest rank. On each
 * level above the node the leaders are grouped (core/nc_group.h), and each group works by an
 * algorithm of its own (core/nc_schedule.h). A message of the user is cut into chunks. All that a
 * leader sends and receives for one chunk in one direction is a pipeline: the messages of all its
 * levels, one after the other. Reduce is the pipeline up, Bcast the one down; Allreduce uses both,
 * and sends the next chunk up before the last one comes down. Source: Kurnosov 2023, hierarchical
 * groups; the chunks are an addition. */

#ifndef NUMACOLL_ABOVE_H_INCLUDED
#define NUMACOLL_ABOVE_H_INCLUDED

#include "net.h"
#include "reduction.h"

/* The messages of a chunk in one direction; chunks follow each other. */
struct nc_pipeline {
    int tag; /* of its own, so that what goes up never passes for what comes down */
    struct nc_net_message *message;
    int messages;
    MPIR_Request **sent[NC_CHUNKS]; /* of chunk c: [c % NC_CHUNKS][sends], not awaited yet */
    int sends[NC_CHUNKS];
    MPIR_Request *coming; /* a receive that is posted: of message `expected`, into `to` */
    int expected;
    char *to;
};

/* What a node leader does in one call. */
struct nc_above {
    struct nc_net net;
    int root;
    const struct nc_reduction *reduction; /* NULL where nothing is combined */
    size_t element;                       /* bytes; 1 where nothing is combined */
    int turn; /* which of the two operand buffers the next receive to be combined uses */
    struct nc_pipeline up, down;
};

/* How messages of a size travel, by the settings and the model: the algorithm on each level above
 * the node, and the bytes of a chunk. */
struct nc_above_choice {
    struct nc_group_algorithm {
        enum nc_algorithm algorithm;
        int k;
    } level[NC_LEVELS + 1]; /* by level of state->all.groups */
    size_t chunk;
};

/* bytes: of the message, known to all ranks; the choice is the same on all of them. */
void MPIDI_NUMACOLL_above_choose(const struct nc_call *call, enum nc_direction direction,
                                 size_t bytes, size_t element, struct nc_above_choice *choice);

/* The local rank of my node's leader in a call with a root. */
int MPIDI_NUMACOLL_local_leader(const struct nc_call *call, int root);

void MPIDI_NUMACOLL_above_open(struct nc_above *above, const struct nc_call *call, int root);

static inline void MPIDI_NUMACOLL_above_combine_by(struct nc_above *above,
                                                   const struct nc_reduction *r)
{
    above->reduction = r;
    above->element = r->element;
}

/* Fills the pipeline up or down with the messages of all levels above the node, except the `but`
 * highest. */
void MPIDI_NUMACOLL_above_up(struct nc_above *above, const struct nc_above_choice *choice, int but);
void MPIDI_NUMACOLL_above_down(struct nc_above *above, const struct nc_above_choice *choice,
                               int but);

/* Appends to the pipeline up the messages of the highest level, by which all members of its groups
 * get the result. */
void MPIDI_NUMACOLL_above_exchange(struct nc_above *above, const struct nc_above_choice *choice);

/* Sends and receives chunk c, of n elements, from and to `place`. An earlier chunk may still be on
 * its way from there: it is awaited first. learn: n is the most there can be, the elements of the
 * chunk are those of the message that comes, and the pipeline has trees only. Returns the elements
 * of the chunk. */
size_t MPIDI_NUMACOLL_above_run(struct nc_above *above, struct nc_pipeline *pipeline, uint64_t c,
                                char *place, size_t n, bool learn);

/* Posts the first receive of the chunk that is next on a pipeline, so that it comes while other
 * things are done. */
void MPIDI_NUMACOLL_above_expect(struct nc_above *above, struct nc_pipeline *pipeline, uint64_t c,
                                 char *place, size_t n);

/* Waits until what was sent of chunk c has left its place. */
void MPIDI_NUMACOLL_above_wait_sends(struct nc_above *above, struct nc_pipeline *pipeline,
                                     uint64_t c);

/* Waits for all sends. Returns the first error of all. */
int MPIDI_NUMACOLL_above_close(struct nc_above *above);

#endif
