/* The shared-memory segment of a set of node-local ranks. */

#ifndef NUMACOLL_SEGMENT_H_INCLUDED
#define NUMACOLL_SEGMENT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "mpidimpl.h"
#include "pages.h"
#include "../core/nc_layout.h"

/* Why a call falls back. The names are in stats.c. */
enum nc_reason {
    NC_REASON_NONE,
    NC_REASON_BUDGET,
    NC_REASON_BACKING,
    NC_REASON_PAGES,
    NC_REASON_SETTINGS,
    NC_REASON_COUNT
};

/* In the order they are tried, the first only if it is asked for: without a name there is nothing
 * to be left behind. */
enum nc_backing {
    NC_BACKING_HUGETLB,
    NC_BACKING_MEMFD,
    NC_BACKING_UNNAMED_FILE,
    NC_BACKING_NAMED_FILE
};

struct nc_segment {
    void *base;
    size_t bytes;
    enum nc_backing backing;
    bool charged; /* this process took the bytes from the node's budget */
    struct nc_placement placement;
    size_t huge_bytes; /* in huge pages, for this process */
};

/* What is wanted of a segment, beside its geometry; as the variables' values. */
struct nc_wanted {
    int placement, huge_pages;
    const int *numa; /* [ranks] NUMA nodes: ranks of one share huge pages */
};

/* Make or attach the segment, collective over node_comm; offset[ranks]: where the regions start,
 * bytes. *geometry becomes what fits the budget. *reason says what prevented it, alike on all
 * ranks. */
int MPIDI_NUMACOLL_segment_create(MPIR_Comm *node_comm, struct nc_geometry *geometry,
                                  const struct nc_wanted *wanted, struct nc_segment *segment,
                                  size_t *offset, enum nc_reason *reason);
void MPIDI_NUMACOLL_segment_free(struct nc_segment *segment);

#endif
