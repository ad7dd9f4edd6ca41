/* The layout of a segment: header, parking and a row of lines, then one region per process.
 * mpich/segment.c makes the segment; shm/nc_queue.h and shm/nc_barrier.h find their places in it by
 * the offsets computed here.
 *
 *                                                     written by               read by
 *     header        struct nc_header                  the maker, before        all
 *                                                     anybody attaches
 *     parking       see shm/nc_parking.h
 *     row           a line for each rank       its rank               rank 0
 *                   (up to a page)
 *     region of i   `ack` line, 128 bytes             i                        all
 *                   receive control slots,            the parent of i          i
 *                   `recv_controls`
 *                   send control slots,               i                        all
 *                   `send_controls`
 *                   flags                             see shm/nc_barrier.h
 *                   (up to NC_RING_ALIGN if a
 *                   ring is as long)
 *                   send ring, `slots` slots          i                        all
 *                   (likewise)
 *                   receive ring, `recv_slots` slots  the root of a scatter    i
 *                   (up to a page)
 *
 * Regions start at pages, because the kernel places memory on NUMA nodes by pages. The size of a
 * page is the kernel's, 4 to 64 KiB, and so a part of the geometry. Lines that have different
 * writers are 128 bytes apart, because processors fetch pairs of 64-byte lines. With huge pages,
 * the regions of one NUMA node lie side by side and share huge pages; the header lies in the first
 * huge page. */

#ifndef NC_LAYOUT_H_INCLUDED
#define NC_LAYOUT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nc_frag.h"

#define NC_LINE 128 /* bytes between lines of different writers */
/* Bytes of the header; the parking is behind it. */
#define NC_HEADER_BYTES 4096
/* Rings begin at multiples of it, bytes: processors prefetch within 4 KiB. */
#define NC_RING_ALIGN 4096
/* receive control slots of a rank, at most and by default: so many operations a writer may be ahead
 * of a reader */
#define NC_RECV_CONTROLS 32
/* send control slots of a rank; with 16, a narrow segment of 64 ranks stays below 8 MiB */
#define NC_SEND_CONTROLS 16
/* the same where ranks outnumber processors, and for all ranks of a segment together: a writer that
 * runs ahead of readers without a processor needs not wait for them so often */
#define NC_MOST_SEND_CONTROLS     512
#define NC_SEND_CONTROLS_TOGETHER 2048
#define NC_CONTROL_BYTES          384 /* a control slot: header and payload */
/* Slots of a ring, and bytes of a slot, that a message of any length needs at least; a ring with
 * more of either is wide. Where the settings leave them open, slots have NC_WIDE_SLOT_BYTES, and
 * there are so many that a ring takes three quarters of a processor's L2 cache. Lines of a shorter
 * ring are still in the reader's L2 cache when the writer writes them again, and have to be called
 * back from there (doc/design-notes.md has figures). */
#define NC_SLOTS           8
#define NC_SLOT_BYTES      8192
#define NC_WIDE_SLOT_BYTES 32768
#define NC_MOST_SLOTS      256 /* where their bytes are set, and few */

/* The parking of a segment (shm/nc_parking.h): buckets of NC_BUCKET_WORDS words, then a place for
 * each rank. In a communicator with more ranks on the node nobody parks. */
#define NC_BUCKETS       64
#define NC_BUCKET_WORDS  8
#define NC_BUCKETS_BYTES ((size_t) NC_BUCKETS * NC_BUCKET_WORDS * 8)
#define NC_PLACE_BYTES   64
#define NC_PARKING_RANKS (64 * NC_BUCKET_WORDS)

_Static_assert(NC_CONTROL_BYTES % NC_LINE == 0, "control slots begin at lines");
_Static_assert(NC_RING_ALIGN % NC_LINE == 0, "rings of slots begin at lines");

/* Where the header has struct nc_waiter's word `until`, bytes. */
#define NC_UNTIL (NC_HEADER_BYTES - NC_LINE)

/* Of a rank's lines for barriers (shm/nc_barrier.h): the counter and the gate. */
#define NC_FLAGS 2

/* Bytes of a rank's lines for barriers: counter, gate, and a line for each signal that the rank
 * gives in a barrier, log2(ranks) rounded up, at least 1. */
static inline size_t nc_flags_bytes(uint32_t ranks)
{
    size_t lines = 1;

    while (ranks > 1u << lines)
        lines++;
    return NC_LINE * (NC_FLAGS + lines);
}

/* How the ranks of a segment share it. Fixed when the segment is made; equal on all ranks. */
struct nc_geometry {
    uint32_t ranks;
    uint32_t slots;      /* s, slots of a send ring */
    uint32_t slot_bytes; /* f, bytes of a slot: the largest fragment */
    uint32_t set_slots;  /* slots a reader acknowledges at a time, slots / sets */
    /* receive control slots, a power of 2; at most NC_RECV_CONTROLS. 0: there are none, as nobody
     * writes into another rank's region */
    uint32_t recv_controls;
    uint32_t send_controls; /* send control slots, a power of 2; at most NC_MOST_SEND_CONTROLS */
    uint32_t page; /* bytes of an ordinary page of this machine, a multiple of NC_RING_ALIGN */
};

/* Offsets and sizes in a region, bytes. */
struct nc_layout {
    size_t ack;
    size_t recv_controls;
    size_t send_controls;
    size_t flags;
    size_t send;
    size_t recv;
    size_t slot_stride;
    size_t region; /* size of the region */
    /* slots of a receive ring: as many as of a send ring if that is wide, else half as many,
     * because only scatter uses it */
    uint32_t recv_slots;
    uint32_t recv_set; /* slots of a receive ring that a reader acknowledges at a time */
};

/* Gives a geometry more send control slots if it has few ranks. */
void nc_geometry_lengthen(struct nc_geometry *geometry);

/* The geometry for p ranks. q: sets; more than there are slots count as so many. length: slots of a
 * send ring, 0: open. fragment: bytes of a slot, -1: open, 0: NC_SLOT_BYTES. l2_bytes: of a
 * processor's L2 cache, 0: unknown. */
struct nc_geometry nc_geometry_make(uint32_t p, int length, int fragment, uint32_t q,
                                    size_t l2_bytes, uint32_t page);

static inline bool nc_geometry_is_wide(const struct nc_geometry *geometry)
{
    return geometry->slots > NC_SLOTS || geometry->slot_bytes > NC_SLOT_BYTES;
}

/* Makes a segment shorter that does not fit: halves the slots, down to NC_SLOTS; then the bytes of
 * a slot, down to NC_SLOT_BYTES; then takes back what nc_geometry_lengthen has given, and halves
 * the slots further. The sets stay as many as before if there are slots enough: a writer fills one
 * set while its readers are at another. False: there is one slot only. */
bool nc_geometry_shorten(struct nc_geometry *geometry);

/* The same without what is wide in it: enough for communicators without long messages. */
struct nc_geometry nc_geometry_narrow(const struct nc_geometry *full);

/* The geometry with which a segment of many ranks begins, while nobody knows how much the
 * communicator will be used: with pages of 4 KiB a region of up to 512 ranks takes two, one for
 * nonblocking operations takes one. */
struct nc_geometry nc_geometry_small(const struct nc_geometry *full);

/* The geometry of a segment for nonblocking operations (shm/nc_nonblocking.h), which use send
 * control slots only: of all else there is as little as can be. */
struct nc_geometry nc_geometry_nonblocking(uint32_t p, uint32_t page);

/* How many bytes of a node's budget may be taken when a segment of this geometry is: small segments
 * may take all of it, larger ones the first half, wide ones the first quarter, so that others find
 * room for a ring, too. */
uint64_t nc_geometry_share(const struct nc_geometry *geometry, bool small, uint64_t budget);

/* How many bytes of a budget a segment takes at most before its communicator has been used much,
 * unless it is a small one. */
static inline uint64_t nc_geometry_at_once(uint64_t budget)
{
    return budget / 16;
}

/* Where everything is in a region of a segment with this geometry. */
struct nc_layout nc_layout_make(const struct nc_geometry *geometry);

/* Where the row of lines for barriers begins, behind header and parking (shm/nc_barrier.h). */
size_t nc_layout_row(uint32_t ranks);

/* Bytes of header, parking and row, whole ordinary pages: where the first region begins. */
size_t nc_layout_front_bytes(const struct nc_geometry *geometry);

/* Bytes of a segment with ordinary pages. */
size_t nc_layout_bytes(const struct nc_geometry *geometry);

/* Writes to offset[ranks] where each region starts in a segment whose pages have `page` bytes.
 * Returns the bytes of the segment. With ordinary pages the regions are in the order of ranks. With
 * huge pages, which are larger, the regions of each NUMA node are side by side, numa[i] being the
 * NUMA node of rank i; the NUMA nodes are in the order of their lowest ranks, and each but the
 * first begins at a huge page. */
size_t nc_layout_offsets(const struct nc_geometry *geometry, const int *numa, size_t page,
                         size_t *offset);

#endif
