/* The pages of a segment: their size, their allocation, and on which NUMA node they are. segment.c
 * calls these functions. */

#ifndef NUMACOLL_PAGES_H_INCLUDED
#define NUMACOLL_PAGES_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Pages of this process's own region: on its NUMA node (right), on another (wrong), or not told by
 * the kernel (unverified). Three ints, as state_make.c gathers them for the report. */
struct nc_placement {
    int right, wrong, unverified;
};

/* Bytes of a page of the kind that huge_pages (value of HUGE_PAGES) asks for; of an ordinary page
 * where the system has no such pages. */
size_t MPIDI_NUMACOLL_page_bytes(int huge_pages);

/* Allocates the pages of the bytes start .. start + bytes - 1 of a file that is mapped at base.
 * False: no memory; the caller must not touch these pages, for a touch would raise SIGBUS. */
bool MPIDI_NUMACOLL_pages_allocate(int fd, char *base, size_t start, size_t bytes);

/* Binds pages that are not allocated yet to this process's NUMA node. page: bytes of one. Without
 * effect where a container refuses it: then the first touch decides, which on a quiet machine gives
 * the same result. */
void MPIDI_NUMACOLL_pages_bind(char *base, size_t start, size_t bytes, size_t page);

/* Counts on which NUMA nodes the pages of this process's region are, compared with the node that it
 * runs on. page: bytes of an ordinary one. Reads each page first, because move_pages knows only of
 * pages that this process has mapped. */
struct nc_placement MPIDI_NUMACOLL_pages_look_up(const char *region, size_t bytes, size_t page);

/* Bytes of the mapping at `base` that this process has mapped by transparent huge pages, as the
 * kernel says. */
size_t MPIDI_NUMACOLL_pages_mapped_huge(const void *base);

#endif
