/* The statistics: what was served, what was not, and why. Counted per communicator by the calls,
 * added up for the report and for the performance variables. */

#ifndef NUMACOLL_STATS_H_INCLUDED
#define NUMACOLL_STATS_H_INCLUDED

#include "mpidimpl.h"
#include "collectives.h"
#include "segment.h"
#include "../shm/nc_copy.h"
#include "../shm/nc_wait.h"

/* The statistics of one communicator, or their sum over several. Only uint64_t, because sums treat
 * the structure as an array. */
struct nc_stats {
    uint64_t served[NC_COLL_COUNT]
                   [NC_MOST_ALGORITHMS]; /* calls of the program, at either level, by algorithm */
    uint64_t bytes[NC_COLL_COUNT][NC_MOST_ALGORITHMS]; /* of the messages of these calls */
    /* inner calls: MPICH makes them itself on a node_comm, inside another collective */
    uint64_t inner[NC_COLL_COUNT];
    uint64_t deferred[NC_COLL_COUNT]; /* calls before the segment was made */
    uint64_t fell_back[NC_COLL_COUNT][NC_REASON_COUNT];
    /* nonblocking calls; those selected but not served, of persistent ones when they are made */
    uint64_t started[NC_NONBLOCKING_COUNT], elsewhere[NC_NONBLOCKING_COUNT];
    uint64_t answered; /* calls served by an answer that was remembered (answers.h) */
    uint64_t messages, message_bytes; /* sent to other nodes */
    /* segments made, also larger ones for a communicator that had one; communicators that went on
     * with the state of a freed one */
    uint64_t segments_made, segments_reused;
    /* The rest is kept elsewhere (struct nc_comm_stats) until it is added up. */
    uint64_t waits_spinning, waits_in_progress, waits_yielding, waits_asleep;
    uint64_t wake_ups, asleep_microseconds;
    uint64_t copied_local, copied_remote, copied_shared, copied_cma, copied_xpmem, demoted;
    uint64_t start_microseconds; /* time that numacoll took in MPI_Init */
    uint64_t kept_bytes;         /* of the segments that no communicator has at the moment */
    uint64_t segment_bytes, shortened_segments, huge_bytes, pages_right, pages_misplaced,
        pages_unverified;
};

/* The counts of one communicator, and pointers to where its other statistics are. Only one thread
 * at a time counts in a communicator. */
struct nc_comm_stats {
    struct nc_stats counts;
    MPIR_Comm *comm;
    const struct nc_waiter *waiter;
    const struct nc_traffic *traffic;
    const struct nc_segment *segment;
    size_t other_bytes;                 /* of the segment for nonblocking operations */
    bool maps;                          /* traffic->fetched is by xpmem, otherwise by cma */
    struct nc_comm_stats *next, **link; /* list of those of all communicators that are alive */
};

/* The published name of a reason. */
const char *MPIDI_NUMACOLL_reason_name(enum nc_reason reason);

/* stats_add: the statistics become part of the sum. stats_remove, before the communicator is freed:
 * their last values stay in the sum. */
void MPIDI_NUMACOLL_stats_add(struct nc_comm_stats *counted);
void MPIDI_NUMACOLL_stats_remove(struct nc_comm_stats *counted);

/* The statistics of some communicator that is alive; NULL: there is none. */
struct nc_comm_stats *MPIDI_NUMACOLL_stats_first(void);

/* Keeps the time that numacoll took in MPI_Init. */
void MPIDI_NUMACOLL_stats_start(uint64_t microseconds);

/* Says how many bytes there are at the moment in segments that are kept (kept.h). */
void MPIDI_NUMACOLL_stats_keep(uint64_t bytes);

/* The sum over all communicators of this process, freed ones included. */
void MPIDI_NUMACOLL_stats_sum(struct nc_stats *sum);

/* Of this sum only n numbers, from `offset` on, bytes, added up: for a tool that reads one variable
 * after the other while there are thousands of communicators. */
uint64_t MPIDI_NUMACOLL_stats_sum_of(size_t offset, int n);

#endif
