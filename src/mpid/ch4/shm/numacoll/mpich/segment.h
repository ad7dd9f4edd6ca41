/* The segment of a set of node-local ranks: made and attached when a communicator is set up
 * (state_make.c), detached when the communicator is freed and nobody keeps its state (kept.c). */

#ifndef NUMACOLL_SEGMENT_H_INCLUDED
#define NUMACOLL_SEGMENT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "mpidimpl.h"
#include "backing.h"
#include "pages.h"
#include "../core/nc_layout.h"

/* Why a call falls back; stats.c has the names. Where processes have different reasons, the highest
 * counts. */
enum nc_reason {
    NC_REASON_NONE,
    NC_REASON_BUDGET,
    NC_REASON_BACKING,
    NC_REASON_PAGES,
    NC_REASON_SETTINGS,
    NC_REASON_WORLDS,
    NC_REASON_COUNT
};

/* A segment as this process has it. Private to the process. */
struct nc_segment {
    void *base;
    size_t bytes;
    enum nc_backing backing;
    /* the bytes are in the node's budget (COLL_SHM_LIMIT_PER_NODE), and this process gives them
     * back if it is the last one that has the segment */
    bool charged;
    bool shared; /* all ranks have it; until then it is local rank 0's alone */
    int number; /* of the segments that local rank 0 has made for others, from 1 on; at most 2^30 */
    bool shortened; /* the budget had no room for as many or as large slots as were wanted */
    bool reported;  /* local rank 0 writes a report; the same on all ranks */
    struct nc_placement placement;
    size_t huge_bytes; /* bytes that this process reaches through huge pages */
};

/* What a process holds that nobody uses: given back where there is no room for a segment. */
struct nc_spare {
    bool (*is_empty)(void);
    void (*drop)(void); /* gives all of it back */
};

/* What the settings ask of a segment, beside its geometry; values of PLACEMENT and HUGE_PAGES. */
struct nc_wanted {
    int placement, huge_pages;
    /* bytes of the segment that the ranks have already, which the new one must exceed: it is worth
     * while to have a larger one. 0: they have none */
    size_t present;
    const int *numa; /* [ranks] their NUMA nodes: the ranks of a NUMA node may share huge pages */
    const struct nc_spare *spare;
};

/* Bytes of the node's budget. */
uint64_t MPIDI_NUMACOLL_segment_budget(void);

/* *all: whether `mine` is true on all ranks. Collective over node_comm. */
int MPIDI_NUMACOLL_all_agree(MPIR_Comm *node_comm, bool mine, bool *all);

/* Makes the segment, or attaches to the one that local rank 0 makes. Collective over node_comm.
 * *geometry: what is wanted; becomes what fits its share of the budget (nc_geometry_share). Only
 * with `present` it may take more than nc_geometry_at_once. Without `present` a segment
 * that does not get so much is a small one; with it, none is made unless it is larger than that.
 * offset[ranks] become the starts of the regions, bytes from segment->base. *reason: why there is
 * no segment, the same on all ranks; NC_REASON_NONE: there is one. If there is none, the return
 * value is still MPI_SUCCESS: errors are only those of messages. Before it gives up, or takes less
 * than was wanted, the ranks free what they keep (kept.h). */
int MPIDI_NUMACOLL_segment_create(MPIR_Comm *node_comm, struct nc_geometry *geometry,
                                  const struct nc_wanted *wanted, struct nc_segment *segment,
                                  size_t *offset, enum nc_reason *reason);

/* Whether no rank has freed it yet. Local; what another rank does at this moment may not show. */
bool MPIDI_NUMACOLL_segment_is_whole(const struct nc_segment *segment);

/* Unmaps the segment; the last rank gives its bytes back to the budget. Local. */
void MPIDI_NUMACOLL_segment_free(struct nc_segment *segment);

#endif
