/* The pages of a segment: their size, allocation, and placement on NUMA nodes. */

#ifndef NUMACOLL_PAGES_H_INCLUDED
#define NUMACOLL_PAGES_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Pages of this process's own region: on its NUMA node, on another, or not told by the kernel.
 * Three ints, as they are gathered for the report. */
struct nc_placement {
    int right, wrong, unverified;
};

/* Bytes of a page of the kind that is wanted (value of HUGE_PAGES); ordinary ones where the system
 * knows no such kind. */
size_t MPIDI_NUMACOLL_page_bytes(int huge_pages);

/* Allocates the pages of [start, start + bytes) of a file mapped at base. False: no memory; then no
 * touch may follow, for it would raise SIGBUS. */
bool MPIDI_NUMACOLL_pages_allocate(int fd, char *base, size_t start, size_t bytes);

/* Ties pages that are not allocated yet to this process's NUMA node. Containers may refuse it: then
 * the first touch decides alone, which on a quiet machine comes to the same. page: bytes of one. */
void MPIDI_NUMACOLL_pages_bind(char *base, size_t start, size_t bytes, size_t page);

/* Where the pages of this process's region are, against the node it runs on. move_pages may be
 * refused, and tells of pages only that are mapped here, so each is read first. */
struct nc_placement MPIDI_NUMACOLL_pages_look_up(const char *region, size_t bytes);

/* Bytes of a mapping that this process reaches through transparent huge pages, as the kernel says.
 */
size_t MPIDI_NUMACOLL_pages_mapped_huge(const void *base);

#endif
