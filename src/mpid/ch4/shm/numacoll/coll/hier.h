/* The levels above the node: what the ranks that speak for their nodes do with the windows of a
 * message.
 *
 * Of each node one rank speaks: of the root's the root, of the others the lowest. On each level
 * above the node the speakers are grouped (nc_group.h), and each group works by an algorithm of its
 * own (nc_schedule.h). All a speaker sends and receives for a window, one way, is a lane: its legs
 * are those of all its levels, one behind the other. Reduce is the way up, Bcast the way down;
 * Allreduce is both, the next window up before the last one down. Source: Kurnosov 2023,
 * hierarchical groups; the windows are ours. */

#ifndef NUMACOLL_HIER_H_INCLUDED
#define NUMACOLL_HIER_H_INCLUDED

#include "reduction.h"

/* Windows follow each other along a lane. */
struct nc_lane {
    int tag; /* of its own, so that what goes up never passes for what comes down */
    struct nc_leg *leg;
    int legs;
    MPIR_Request **sent[NC_PLACES]; /* of window w: [w % NC_PLACES][sends], not waited for yet */
    int sends[NC_PLACES];
    MPIR_Request *coming; /* a receive that is posted: of leg `expected`, into `to` */
    int expected;
    char *to;
};

/* A speaker's part in a call. */
struct nc_hier {
    struct MPIDI_NUMACOLL_comm *state;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
    int root;
    const struct nc_reduction *reduction; /* NULL where nothing is combined */
    size_t element;                       /* bytes; 1 where nothing is combined */
    int turn; /* which of two buffers what is to be combined comes into */
    struct nc_lane up, down;
    int mpi_errno; /* the first error; the others are still served */
};

/* What is done with messages of so many bytes, by the settings and the model: the algorithm of each
 * level above the node, and the bytes of a window. */
struct nc_ways {
    struct nc_way {
        enum nc_algorithm algorithm;
        int k;
    } way[NC_LEVELS + 1]; /* by level of state->all.groups */
    size_t window;
};

/* Bytes that all ranks know; the same on all of them. */
void MPIDI_NUMACOLL_ways(const struct MPIDI_NUMACOLL_comm *state, enum nc_direction direction,
                         size_t bytes, size_t element, struct nc_ways *ways);

/* The rank that speaks for my node in a call with a root, local. */
int MPIDI_NUMACOLL_local_speaker(const struct MPIDI_NUMACOLL_comm *state, const MPIR_Comm *comm,
                                 int root);

void MPIDI_NUMACOLL_hier_open(struct nc_hier *hier, struct MPIDI_NUMACOLL_comm *state, int root,
                              MPIR_Comm *comm, NC_ERRFLAG_T errflag);

static inline void MPIDI_NUMACOLL_hier_combine_by(struct nc_hier *hier,
                                                  const struct nc_reduction *r)
{
    hier->reduction = r;
    hier->element = r->element;
}

/* Adds the legs of all levels above the node, but so many of the highest, to an empty lane. */
void MPIDI_NUMACOLL_hier_up(struct nc_hier *hier, const struct nc_ways *ways, int but);
void MPIDI_NUMACOLL_hier_down(struct nc_hier *hier, const struct nc_ways *ways, int but);
/* ... and those of the highest, by which all its members come to the result, behind those up. */
void MPIDI_NUMACOLL_hier_across(struct nc_hier *hier, const struct nc_ways *ways);

/* Window w, of n elements, along a lane, from and to `place`, which is not written while an earlier
 * window is sent from it. learn: the window's bytes, n at most, are those of the message that
 * comes, and only trees are its legs. Returns the elements. */
size_t MPIDI_NUMACOLL_hier_run(struct nc_hier *hier, struct nc_lane *lane, uint64_t w, char *place,
                               size_t n, bool learn);

/* Posts the first receive of a window that is to be next on the lane: it then comes while other
 * things are done. */
void MPIDI_NUMACOLL_hier_expect(struct nc_hier *hier, struct nc_lane *lane, uint64_t w, char *place,
                                size_t n);

/* Until what was sent of window w, on its lane, has left its place. */
void MPIDI_NUMACOLL_hier_settle(struct nc_hier *hier, struct nc_lane *lane, uint64_t w);

/* All of them. The first error of all. */
int MPIDI_NUMACOLL_hier_close(struct nc_hier *hier);

#endif
