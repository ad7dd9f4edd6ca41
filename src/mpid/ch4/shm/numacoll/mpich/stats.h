/* What was served, what was not, and why: counted per communicator, added up for the report and for
 * the performance variables. */

#ifndef NUMACOLL_STATS_H_INCLUDED
#define NUMACOLL_STATS_H_INCLUDED

#include <stdint.h>

#include "collectives.h"
#include "segment.h"
#include "../shm/nc_copy.h"
#include "../shm/nc_wait.h"

/* What is counted of a communicator; also the sum over several. Nothing but uint64_t. */
struct nc_stats {
    uint64_t served[NC_COLL_COUNT]
                   [NC_MOST_ALGORITHMS]; /* calls of the user, at either level, by algorithm */
    uint64_t bytes[NC_COLL_COUNT][NC_MOST_ALGORITHMS]; /* of their messages */
    /* calls MPICH makes itself on a node_comm, inside another collective */
    uint64_t inner[NC_COLL_COUNT];
    uint64_t deferred[NC_COLL_COUNT]; /* before the segment was made */
    uint64_t fell_back[NC_COLL_COUNT][NC_REASON_COUNT];
    uint64_t messages, message_bytes; /* sent to other nodes */
    /* the rest is kept elsewhere until it is added up */
    uint64_t waits_spinning, waits_in_progress, waits_yielding;
    uint64_t copied_local, copied_remote;
    uint64_t start_microseconds; /* of MPI_Init that numacoll took */
    uint64_t segment_bytes, huge_bytes, pages_right, pages_misplaced, pages_unverified;
};

/* The counts of one communicator, and where the rest of them is kept. One thread at a time counts.
 */
struct nc_comm_stats {
    struct nc_stats counts;
    const struct nc_waiter *waiter;
    const struct nc_traffic *traffic;
    const struct nc_segment *segment;
    struct nc_comm_stats *next, **link; /* list of all that are alive */
};

const char *MPIDI_NUMACOLL_reason_name(enum nc_reason reason);

/* From now on it is part of the sum; from then on its last values are. */
void MPIDI_NUMACOLL_stats_add(struct nc_comm_stats *counted);
void MPIDI_NUMACOLL_stats_remove(struct nc_comm_stats *counted);

void MPIDI_NUMACOLL_stats_start(uint64_t microseconds);
void MPIDI_NUMACOLL_stats_sum(struct nc_stats *sum);

#endif
