/* Makes the segment of a set of node-local ranks: one shared mapping, in which each rank allocates
 * and touches its own region, accounted against the node's budget. state_make.c calls this when it
 * sets up a communicator, and again to give it a larger one; nonblocking_segment.c for nonblocking
 * calls.
 *
 *   1  local rank 0 takes the bytes from the node's budget, makes the backing, maps it and writes
 *      the header
 *   2  local rank 0 broadcasts where the backing is; each other rank maps it and checks the header
 *   3  all agree that every rank has mapped it; if not, they try the next backing
 *   4  each rank allocates and touches its own region
 *   5  all agree that every rank could; each asks the kernel where its pages are
 *
 * The messages between the ranks use fixed MPIR algorithms on node_comm: these never select another
 * algorithm, so they never come back to numacoll. */

#define _GNU_SOURCE
#include "mpidimpl.h"
#include "segment.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "diag.h"
#include "../shm/nc_atomic.h"

#define MAGIC          0x6c6c6f6361006d75ull
#define LAYOUT_VERSION 11

/* The first bytes of a segment. But for `holders`, written by local rank 0 in step 1, read by the
 * other ranks in step 2; ordered by the message of step 2. */
struct nc_header {
    uint64_t magic;
    uint32_t version;
    uint32_t uid;
    uint64_t nonce; /* of this segment: elsewhere (in another container) another process may have
                       the same pid */
    uint64_t bytes;
    uint64_t page; /* bytes of a page, as HUGE_PAGES wants */
    struct nc_geometry geometry;
    /* How many ranks have not freed the segment. Writer: local rank 0 in step 1, with the rest of
     * the header; then each rank subtracts 1, once, when it frees the segment. Readers: those that
     * keep it, for whom it is of no use when one has freed it. */
    struct nc_atomic holders;
};

_Static_assert(sizeof(struct nc_header) <= NC_UNTIL, "the word `until` is behind it");

/* The message of step 2, from local rank 0. */
struct invitation {
    int reason; /* NC_REASON_NONE, or why there is no segment */
    int backing;
    int pid, fd;
    int number; /* see struct nc_segment */
    uint64_t nonce;
    uint64_t bytes;
    uint64_t page;
    struct nc_geometry geometry;
    bool refused; /* the budget had no room for a larger one */
    bool reported;
    char path[NC_PATH_BYTES];
};

/* ---- budget ---- */

uint64_t MPIDI_NUMACOLL_segment_budget(void)
{
    return (uint64_t) MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE * 1024;
}

/* Takes bytes from the node's budget; false if so many are not left below `limit`. The counter is
 * shared by all processes of the node, and never shows more than has been taken: another process
 * that looks meanwhile would be refused what there is. */
static bool charge(size_t bytes, uint64_t limit)
{
    uint64_t taken = MPL_atomic_acquire_load_uint64(MPIDI_POSIX_shm_limit_counter), found;

    while (taken <= limit && bytes <= limit - taken) {
        found = MPL_atomic_cas_uint64(MPIDI_POSIX_shm_limit_counter, taken, taken + bytes);
        if (found == taken)
            return true;
        taken = found;
    }
    return false;
}

/* Takes a segment that fits: makes it shorter until it does. `small`: bytes of the small segment,
 * which is taken instead if it is smaller. Returns the bytes; 0: none fits. *refused becomes true
 * if the budget has no room for a larger one. */
static size_t charge_large(struct nc_geometry *g, const struct nc_wanted *wanted, size_t page,
                           size_t small, size_t *offset, bool *refused)
{
    uint64_t budget = MPIDI_NUMACOLL_segment_budget();

    for (;;) {
        size_t bytes = nc_layout_offsets(g, wanted->numa, page, offset);
        bool larger = bytes > small; /* not if both take one huge page */
        bool at_once = !larger || wanted->present || bytes <= nc_geometry_at_once(budget);
        if (bytes < small || (wanted->present && bytes <= wanted->present) ||
            (!at_once && !nc_geometry_is_wide(g)))
            return 0;
        if (at_once && charge(bytes, nc_geometry_share(g, !larger, budget)))
            return bytes;
        *refused |= at_once;
        if (!nc_geometry_shorten(g))
            return 0;
    }
}

/* Says once in a process that the node's budget has no room for the smallest segment. */
static void say_full(const struct nc_geometry *wanted)
{
    static MPL_atomic_int_t said = MPL_ATOMIC_INT_T_INITIALIZER(0);
    struct nc_geometry small = nc_geometry_small(wanted);
    uint64_t taken = MPL_atomic_acquire_load_uint64(MPIDI_POSIX_shm_limit_counter) +
                     nc_layout_bytes(&small);

    if (MPL_atomic_fetch_add_int(&said, 1) == 0)
        MPIDI_NUMACOLL_complain(
            0,
            "MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE=%d (KiB) has no room for a communicator of %u ranks "
            "on a node, whose calls MPICH serves: for this one it must be %" PRIu64,
            MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE, wanted->ranks, (taken + 1023) / 1024);
}

/* Takes a segment from the budget, see segment.h. Returns its bytes, 0: nothing fits. */
static size_t charge_what_fits(struct nc_geometry *g, const struct nc_wanted *wanted, size_t page,
                               size_t *offset, bool *refused)
{
    struct nc_geometry small = nc_geometry_small(g);
    size_t least = nc_layout_offsets(&small, wanted->numa, page, offset),
           bytes = charge_large(g, wanted, page, least, offset, refused);

    if (bytes || wanted->present)
        return bytes;
    *g = small;
    if (charge(least, MPIDI_NUMACOLL_segment_budget()))
        return nc_layout_offsets(g, wanted->numa, page, offset);
    return 0;
}

/* ---- backings ---- */

/* Whether /dev/shm has room for the segment and for MPICH's own message cells, whose pages the
 * kernel allocates only when they are touched. */
static bool room_in_dev_shm(size_t bytes)
{
    struct statvfs fs;
    uint64_t cells = (uint64_t) MPIR_Process.local_size *
                     (uint64_t) MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS *
                     (uint64_t) MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;

    return statvfs("/dev/shm", &fs) == 0 && (uint64_t) fs.f_bavail * fs.f_frsize >= cells + bytes;
}

static bool has_huge_pages(const struct invitation *in)
{
    return in->page > in->geometry.page;
}

/* Makes the backing; a descriptor, or -1. Only a named file has a path. It serves where processes
 * cannot open each other's descriptors, and its name goes once all ranks have attached. */
static int open_backing(struct invitation *in)
{
    if ((in->backing == NC_BACKING_HUGETLB && !has_huge_pages(in)) ||
        (in->backing > NC_BACKING_MEMFD && !room_in_dev_shm(in->bytes)))
        return -1;
    return MPIDI_NUMACOLL_backing_make(in->backing, in->path);
}

/* Reserves address space that starts at a multiple of `page`, as transparent huge pages need it.
 * NULL: there is none, and any address must do. */
static char *reserve(size_t bytes, size_t page)
{
    char *all, *start;

    all = mmap(NULL, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    start = (char *) (((uintptr_t) all + page - 1) & ~(uintptr_t) (page - 1));
    if (start > all)
        munmap(all, (size_t) (start - all));
    munmap(start + bytes, (size_t) (all + page - start));
    return start;
}

static void *map(int fd, const struct invitation *in)
{
    size_t bytes = in->bytes;
    bool thp = has_huge_pages(in) && in->backing != NC_BACKING_HUGETLB;
    char *at = thp ? reserve(bytes, in->page) : NULL;
    void *base = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);

    if (base == MAP_FAILED) {
        if (at)
            munmap(at, bytes);
        return NULL;
    }
    /* no read-ahead: it would place pages of other ranks' regions on this process's NUMA node */
    if (in->backing > NC_BACKING_MEMFD)
        madvise(base, bytes, MADV_RANDOM);
    if (thp && in->backing == NC_BACKING_MEMFD)
        madvise(base, bytes, MADV_HUGEPAGE);
    return base;
}

/* ---- making and attaching ---- */

/* Sets in->number, and in->nonce, which a segment of another process does not have either. */
static void number(struct invitation *in)
{
    static MPL_atomic_uint64_t count;
    uint64_t before = MPL_atomic_fetch_add_uint64(&count, 1);

    in->nonce = MPIDI_NUMACOLL_nonce();
    in->number = 1 + (int) (before % (1 << 30));
}

/* Maps the backing and writes the header. NULL: not possible. */
static void *write_header(int fd, const struct invitation *in, int placement)
{
    void *base = NULL;
    size_t front = nc_layout_front_bytes(&in->geometry);
    struct nc_header h = {.magic = MAGIC,
                          .version = LAYOUT_VERSION,
                          .uid = (uint32_t) getuid(),
                          .nonce = in->nonce,
                          .bytes = in->bytes,
                          .page = in->page,
                          .geometry = in->geometry,
                          .holders = {in->geometry.ranks}};

    if (MPIDI_NUMACOLL_backing_set_size(in->backing, fd, in->bytes))
        base = map(fd, in);
    /* with huge pages the header's page also holds the beginning of the first region */
    if (base && placement == MPIR_CVAR_NUMACOLL_PLACEMENT_bind)
        MPIDI_NUMACOLL_pages_bind(base, 0, front, in->page);
    /* allocate before writing: a lack of memory must fail here and not raise SIGBUS */
    if (base && !MPIDI_NUMACOLL_pages_allocate(fd, base, 0, front)) {
        munmap(base, in->bytes);
        base = NULL;
    }
    if (base)
        memcpy(base, &h, sizeof h);
    return base;
}

/* Step 1 on local rank 0, after `prepare`. */
static void make(enum nc_backing backing, struct invitation *in, int placement,
                 struct nc_segment *segment, int *fd)
{
    in->backing = backing;
    number(in);
    in->pid = getpid();
    *fd = open_backing(in);
    in->fd = *fd;
    segment->backing = backing;
    segment->base = *fd >= 0 ? write_header(*fd, in, placement) : NULL;
    in->reason = segment->base ? NC_REASON_NONE : NC_REASON_BACKING;
    if (*fd >= 0 && !segment->base && backing == NC_BACKING_NAMED_FILE)
        MPIDI_NUMACOLL_backing_unname(*fd, in->path);
}

/* Step 2 on the other ranks. segment->base stays NULL if the backing cannot be opened or is
 * another. */
static void attach(const struct invitation *in, struct nc_segment *segment, int *fd)
{
    *fd = MPIDI_NUMACOLL_backing_open(in->backing, in->pid, in->fd, in->path, in->bytes);
    segment->backing = in->backing;
    segment->base = *fd >= 0 ? map(*fd, in) : NULL;
    /* a core dump of each process would have the whole segment; one is enough */
    if (segment->base)
        madvise(segment->base, in->bytes, MADV_DONTDUMP);
    if (segment->base) {
        const struct nc_header *h = segment->base;
        if (h->magic != MAGIC || h->version != LAYOUT_VERSION || h->uid != getuid() ||
            h->nonce != in->nonce || h->page != in->page ||
            memcmp(&h->geometry, &in->geometry, sizeof h->geometry)) {
            munmap(segment->base, in->bytes);
            segment->base = NULL;
        }
    }
}

/* ---- placement ---- */

static bool allocate(int fd, char *base, size_t start, size_t bytes, size_t page)
{
    if (!MPIDI_NUMACOLL_pages_allocate(fd, base, start, bytes))
        return false;
    for (size_t at = 0; at < bytes; at += page)
        base[start + at] = 0;
    return true;
}

/* Step 4: each process allocates its own region, at `start`; with PLACEMENT=none local rank 0
 * allocates all regions. False: no memory. */
static bool place(struct nc_segment *segment, int fd, const struct invitation *in, size_t start,
                  size_t region, int rank, int placement)
{
    char *base = segment->base;
    size_t page = in->geometry.page, front = nc_layout_front_bytes(&in->geometry);

    if (placement == MPIR_CVAR_NUMACOLL_PLACEMENT_none)
        return rank != 0 || allocate(fd, base, front, segment->bytes - front, page);
    if (placement == MPIR_CVAR_NUMACOLL_PLACEMENT_bind)
        MPIDI_NUMACOLL_pages_bind(base, start, region, in->page);
    return allocate(fd, base, start, region, page);
}

static size_t huge_bytes(const struct nc_segment *segment, const struct invitation *in)
{
    if (segment->backing == NC_BACKING_HUGETLB)
        return segment->bytes;
    return has_huge_pages(in) ? MPIDI_NUMACOLL_pages_mapped_huge(segment->base) : 0;
}

/* ---- agreement ---- */

int MPIDI_NUMACOLL_all_agree(MPIR_Comm *node_comm, bool mine, bool *all)
{
    NC_ERRFLAG_LOCAL(errflag);
    int value = mine;
    int mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, &value, 1, NC_TYPE_INT,
                                                            MPI_MIN, node_comm, errflag);
    *all = value;
    return mpi_errno;
}

static int invite(MPIR_Comm *node_comm, struct invitation *in)
{
    NC_ERRFLAG_LOCAL(errflag);
    return MPIR_Bcast_intra_binomial(in, sizeof *in, NC_TYPE_BYTE, 0, node_comm, errflag);
}

/* Gives up the backing that was tried. */
static void abandon(struct nc_segment *segment, int *fd)
{
    if (segment->base)
        munmap(segment->base, segment->bytes);
    if (*fd >= 0)
        close(*fd);
    segment->base = NULL;
    *fd = -1;
}

/* Steps 1 to 3 with one backing. *all: every rank has mapped it. */
static int make_and_attach(MPIR_Comm *node_comm, enum nc_backing backing, struct invitation *in,
                           int placement, struct nc_segment *segment, int *fd, bool *all)
{
    int mpi_errno = MPI_SUCCESS;

    if (node_comm->rank == 0 && in->reason != NC_REASON_BUDGET)
        make(backing, in, placement, segment, fd);
    mpi_errno = invite(node_comm, in);
    MPIR_ERR_CHECK(mpi_errno);
    segment->bytes = in->bytes;
    *all = false;
    if (in->reason == NC_REASON_NONE) {
        if (node_comm->rank != 0)
            attach(in, segment, fd);
        mpi_errno = MPIDI_NUMACOLL_all_agree(node_comm, segment->base != NULL, all);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    /* Every rank removes the name, in any case: either all ranks have the file, or none needs it.
     * So the name is there no longer than until the first rank comes here. */
    if (backing == NC_BACKING_NAMED_FILE && *fd >= 0)
        MPIDI_NUMACOLL_backing_unname(*fd, in->path);
    if (!*all)
        abandon(segment, fd);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Begins step 1 on local rank 0: the size of the segment, and its bytes from the budget. */
static void prepare(struct invitation *in, const struct nc_wanted *wanted,
                    struct nc_segment *segment, size_t *offset)
{
    struct nc_geometry geometry = in->geometry;

    in->page = MPIDI_NUMACOLL_page_bytes(wanted->huge_pages);
    in->bytes = charge_what_fits(&in->geometry, wanted, in->page, offset, &in->refused);
    if (in->bytes == 0 && has_huge_pages(in)) {
        /* at least one huge page for each NUMA node is over the budget: take ordinary pages */
        in->geometry = geometry;
        in->page = geometry.page;
        in->refused = false;
        in->bytes = charge_what_fits(&in->geometry, wanted, in->page, offset, &in->refused);
    }
    segment->charged = in->bytes > 0;
    segment->bytes = in->bytes;
    in->reason = in->bytes ? NC_REASON_NONE : NC_REASON_BUDGET;
}

/* Charges a segment of another geometry instead of the one in *in. */
static void change(struct invitation *in, const struct nc_geometry *geometry,
                   const struct nc_wanted *wanted, struct nc_segment *segment, size_t *offset)
{
    MPL_atomic_fetch_sub_uint64(MPIDI_POSIX_shm_limit_counter, segment->bytes);
    in->geometry = *geometry;
    prepare(in, wanted, segment, offset);
}

/* Local rank 0, before files are tried: /dev/shm may be small, so wide rings and the longer rings
 * of send control slots are for memory that is not in a file, and where there is no room for the
 * others either the segment is a small one. */
static void shorten(struct invitation *in, const struct nc_wanted *wanted,
                    struct nc_segment *segment, size_t *offset)
{
    struct nc_geometry shorter = nc_geometry_narrow(&in->geometry),
                       small = nc_geometry_small(&in->geometry);

    if (in->reason == NC_REASON_BUDGET)
        return;
    if (shorter.send_controls > NC_SEND_CONTROLS)
        shorter.send_controls = NC_SEND_CONTROLS;
    if (memcmp(&shorter, &in->geometry, sizeof shorter))
        change(in, &shorter, wanted, segment, offset);
    if (in->reason != NC_REASON_BUDGET && !wanted->present && !room_in_dev_shm(segment->bytes))
        change(in, &small, wanted, segment, offset);
}

/* Steps 4 and 5. */
static int make_pages(MPIR_Comm *node_comm, const struct invitation *in,
                      const struct nc_wanted *wanted, struct nc_segment *segment, size_t *offset,
                      int fd, bool *all)
{
    size_t region = nc_layout_make(&in->geometry).region;
    int rank = node_comm->rank, mpi_errno;
    bool placed;

    nc_layout_offsets(&in->geometry, wanted->numa, in->page, offset);
    placed = place(segment, fd, in, offset[rank], region, rank, wanted->placement);
    mpi_errno = MPIDI_NUMACOLL_all_agree(node_comm, placed, all);
    /* only now are all pages allocated, also with PLACEMENT=none */
    if (mpi_errno == MPI_SUCCESS && *all) {
        segment->placement = MPIDI_NUMACOLL_pages_look_up((char *) segment->base + offset[rank],
                                                          region, in->geometry.page);
        segment->huge_bytes = huge_bytes(segment, in);
    }
    return mpi_errno;
}

/* Steps 1 to 5. Parameters as of MPIDI_NUMACOLL_segment_create. */
static int create(MPIR_Comm *node_comm, struct nc_geometry *geometry,
                  const struct nc_wanted *wanted, struct nc_segment *segment, size_t *offset,
                  enum nc_reason *reason)
{
    int mpi_errno = MPI_SUCCESS, fd = -1;
    int backing = wanted->huge_pages == MPIR_CVAR_NUMACOLL_HUGE_PAGES_hugetlb ? NC_BACKING_HUGETLB
                                                                              : NC_BACKING_MEMFD;
    struct invitation in = {
        .reason = NC_REASON_NONE, .geometry = *geometry, .reported = MPIR_CVAR_NUMACOLL_REPORT > 0};
    bool all = false;

    memset(segment, 0, sizeof *segment);
    if (node_comm->rank == 0)
        prepare(&in, wanted, segment, offset);
    *reason = NC_REASON_BACKING;
    for (bool last = false; backing < NC_BACKING_COUNT && !all && !last; backing++) {
        if (node_comm->rank == 0 && backing == NC_BACKING_UNNAMED_FILE)
            shorten(&in, wanted, segment, offset);
        mpi_errno = make_and_attach(node_comm, backing, &in, wanted->placement, segment, &fd, &all);
        MPIR_ERR_CHECK(mpi_errno);
        last = in.reason == NC_REASON_BUDGET;
        if (last)
            *reason = NC_REASON_BUDGET;
        if (!all)
            continue;
        mpi_errno = make_pages(node_comm, &in, wanted, segment, offset, fd, &all);
        MPIR_ERR_CHECK(mpi_errno);
        if (!all) {
            /* No memory. With hugetlb ordinary pages may still serve: the kernel may have accepted
             * the mapping without having enough huge pages. */
            *reason = NC_REASON_PAGES;
            last = backing != NC_BACKING_HUGETLB;
            abandon(segment, &fd);
        }
    }
    if (all) {
        *reason = NC_REASON_NONE;
        segment->shared = segment->charged = true;
    }
    segment->shortened = in.refused;
    segment->number = in.number;
    segment->reported = in.reported;
    *geometry = in.geometry;

fn_exit:
    if (fd >= 0)
        close(fd);
    if (!all || mpi_errno)
        MPIDI_NUMACOLL_segment_free(segment);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* If some rank has something to spare, each gives back all that it has, and the new segment, if
 * there is one: what nobody uses must not be in the way. *made, alike on all ranks: so it is. */
static int make_room(MPIR_Comm *node_comm, const struct nc_spare *spare, struct nc_segment *segment,
                     bool *made)
{
    int mpi_errno = MPI_SUCCESS;
    bool none, all;

    mpi_errno = MPIDI_NUMACOLL_all_agree(node_comm, spare->is_empty(), &none);
    MPIR_ERR_CHECK(mpi_errno);
    *made = !none;
    if (none)
        goto fn_exit;
    MPIDI_NUMACOLL_segment_free(segment);
    spare->drop();
    /* all have given back their bytes before one asks for some */
    mpi_errno = MPIDI_NUMACOLL_all_agree(node_comm, true, &all);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_segment_create(MPIR_Comm *node_comm, struct nc_geometry *geometry,
                                  const struct nc_wanted *wanted, struct nc_segment *segment,
                                  size_t *offset, enum nc_reason *reason)
{
    int mpi_errno = MPI_SUCCESS;
    const struct nc_geometry asked = *geometry;
    bool again = false;

    mpi_errno = create(node_comm, geometry, wanted, segment, offset, reason);
    MPIR_ERR_CHECK(mpi_errno);
    if (*reason != NC_REASON_NONE || segment->shortened) {
        mpi_errno = make_room(node_comm, wanted->spare, segment, &again);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (again) {
        *geometry = asked;
        mpi_errno = create(node_comm, geometry, wanted, segment, offset, reason);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (*reason == NC_REASON_BUDGET && !wanted->present && node_comm->rank == 0)
        say_full(&asked);

fn_exit:
    return mpi_errno;
fn_fail:
    MPIDI_NUMACOLL_segment_free(segment);
    goto fn_exit;
}

bool MPIDI_NUMACOLL_segment_is_whole(const struct nc_segment *segment)
{
    const struct nc_header *h = segment->base;

    /* orders nothing: who still has it may free it in the next moment; writers: leave */
    return nc_atomic_acquire(&h->holders) == h->geometry.ranks;
}

/* Leaves a segment. Whether its bytes are to be given back by this rank: the last one. */
static bool leave(struct nc_segment *segment)
{
    struct nc_header *h = segment->base;

    /* orders nothing: only the number counts; reader: MPIDI_NUMACOLL_segment_is_whole */
    return !segment->shared || nc_atomic_add_ordered(&h->holders, UINT64_MAX) == 1;
}

void MPIDI_NUMACOLL_segment_free(struct nc_segment *segment)
{
    bool last = segment->charged && leave(segment);

    if (segment->base)
        munmap(segment->base, segment->bytes);
    if (last)
        MPL_atomic_fetch_sub_uint64(MPIDI_POSIX_shm_limit_counter, segment->bytes);
    segment->base = NULL;
    segment->charged = segment->shared = false;
}
