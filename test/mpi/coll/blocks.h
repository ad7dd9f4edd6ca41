/* Scatter, gather, allgather and their v forms with checked data, for all_random, all_corners and
 * all_lengths. A buffer has one block for each rank, in any datatype; all bytes outside the blocks
 * have the value NC_UNTOUCHED and must keep it. Each collective is a row of nc_moves. */

#ifndef BLOCKS_H_INCLUDED
#define BLOCKS_H_INCLUDED

#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

#include "nctest.h"

enum { NC_MOST_RANKS = 64, NC_MOST_PIECES = 24, NC_GUARD = 1024, NC_UNTOUCHED = 0xa5 };

/* ---- what the program is trying; lines about errors begin with it ---- */

static char nc_now[200];

static inline __attribute__((format(printf, 1, 2))) void nc_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(nc_now, sizeof nc_now, format, arguments);
    va_end(arguments);
}

static inline void nc_fail_now(const char *what, long a, long b)
{
    char text[300];

    snprintf(text, sizeof text, "%s: %s", nc_now, what);
    nc_fail(text, a, b);
}

/* ---- layouts ---- */

/* A datatype, and where an element of it has its bytes: pieces in the order of the typemap, offsets
 * in bytes from the element's address. */
struct nc_layout {
    const char *name;
    MPI_Datatype type;
    MPI_Aint extent;
    int size, pieces; /* bytes of an element, and how many pieces they are in */
    struct {
        MPI_Aint at;
        int bytes;
    } piece[NC_MOST_PIECES];
};

static inline void nc_layout_add(struct nc_layout *l, MPI_Aint at, int bytes)
{
    l->piece[l->pieces].at = at;
    l->piece[l->pieces++].bytes = bytes;
    l->size += bytes;
}

/* An int in `extent` bytes. */
static inline struct nc_layout nc_layout_ints(const char *name, MPI_Aint extent)
{
    struct nc_layout l = {.name = name, .extent = extent};

    nc_layout_add(&l, 0, (int) sizeof(int));
    MPI_Type_create_resized(MPI_INT, 0, extent, &l.type);
    MPI_Type_commit(&l.type);
    return l;
}

/* ---- blocks ---- */

/* A buffer with blocks. */
struct nc_blocks {
    const struct nc_layout *layout;
    unsigned char *memory, *start; /* the allocation, with guards; the address of displacement 0 */
    size_t bytes;                  /* of memory */
    int sparse;                    /* mapped without reservation; its untouched bytes are zero */
    void *base; /* what MPI is given, with `type`; normally start and the layout's type */
    MPI_Datatype type;
    int blocks;
    MPI_Count counts[NC_MOST_RANKS]; /* elements */
    MPI_Aint displs[NC_MOST_RANKS];  /* extents */
};

static inline unsigned char *nc_piece(const struct nc_blocks *b, int block, MPI_Count element,
                                      int piece)
{
    return b->start + (b->displs[block] + element) * b->layout->extent + b->layout->piece[piece].at;
}

/* The elements of a block; 0 if they have no bytes. */
static inline MPI_Count nc_elements(const struct nc_blocks *b, int block)
{
    return b->layout->size ? b->counts[block] : 0;
}

static inline unsigned char nc_untouched(const struct nc_blocks *b)
{
    return b->sparse ? 0 : NC_UNTOUCHED;
}

/* All bytes of the blocks are from *low to *high, relative to displacement 0. */
static inline void nc_bounds(const struct nc_blocks *b, MPI_Aint *low, MPI_Aint *high)
{
    int none = 1;

    *low = *high = 0;
    for (int i = 0; i < b->blocks; i++) {
        for (int p = 0; nc_elements(b, i) > 0 && p < b->layout->pieces; p++) {
            MPI_Aint at = b->displs[i] * b->layout->extent + b->layout->piece[p].at;
            MPI_Aint last = at + (MPI_Aint) (b->counts[i] - 1) * b->layout->extent +
                            b->layout->piece[p].bytes;
            *low = none || at < *low ? at : *low;
            *high = none || last > *high ? last : *high;
            none = 0;
        }
    }
}

static inline void nc_allocate(struct nc_blocks *b)
{
    b->sparse = b->bytes > (size_t) 1 << 28;
    b->memory = !b->sparse ? nc_memory_alloc(b->bytes)
                           : mmap(NULL, b->bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->memory == NULL || b->memory == MAP_FAILED) {
        fprintf(stderr, "%s: no room for %zu bytes of addresses\n", nc_now, b->bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!b->sparse)
        memset(b->memory, NC_UNTOUCHED, b->bytes);
}

/* Allocates a buffer for blocks of these counts. displs NULL: the blocks lie one behind the other.
 */
static inline struct nc_blocks nc_blocks_make(const struct nc_layout *layout, int blocks,
                                              const MPI_Count *counts, const MPI_Aint *displs)
{
    struct nc_blocks b = {.layout = layout, .type = layout->type, .blocks = blocks};
    MPI_Aint low, high, at = 0;

    for (int i = 0; i < blocks; i++) {
        b.counts[i] = counts[i];
        b.displs[i] = displs ? displs[i] : at;
        at += (MPI_Aint) counts[i];
    }
    nc_bounds(&b, &low, &high);
    b.bytes = (size_t) (high - low) + 2 * NC_GUARD;
    nc_allocate(&b);
    b.start = b.memory + NC_GUARD - low;
    b.base = b.start;
    return b;
}

/* Arguments that are not significant at a rank: NULL and MPI_DATATYPE_NULL, which an error would
 * use.
 */
static inline struct nc_blocks nc_blocks_none(void)
{
    return (struct nc_blocks){.type = MPI_DATATYPE_NULL};
}

/* Computes displacements: the blocks lie in memory in the order order[0], order[1], ..., with
 * gaps[k] elements before block order[k]. */
static inline void nc_place(int blocks, const MPI_Count *counts, const int *order, const int *gaps,
                            MPI_Aint *displs)
{
    MPI_Aint at = 0;

    for (int k = 0; k < blocks; k++) {
        displs[order[k]] = at + gaps[k];
        at += gaps[k] + (MPI_Aint) counts[order[k]];
    }
}

/* From now on MPI is given MPI_BOTTOM and a datatype that contains the address. */
static inline void nc_blocks_absolute(struct nc_blocks *b)
{
    int one = 1;
    MPI_Aint address;

    if (!b->memory)
        return;
    MPI_Get_address(b->start, &address);
    MPI_Type_create_hindexed(1, &one, &address, b->layout->type, &b->type);
    MPI_Type_commit(&b->type);
    b->base = MPI_BOTTOM;
}

/* Writes the message of this seed into a block. */
static inline void nc_fill(const struct nc_blocks *b, int block, int seed)
{
    size_t n = 0;

    for (MPI_Count e = 0; e < nc_elements(b, block); e++) {
        for (int p = 0; p < b->layout->pieces; p++) {
            unsigned char *to = nc_piece(b, block, e, p);
            for (int k = 0; k < b->layout->piece[p].bytes; k++)
                to[k] = nc_byte(n++, seed);
        }
    }
}

/* Compares the first `bytes` bytes of a block with the message of this seed, and makes them
 * untouched again, so that a later nc_expect_untouched checks all the rest. */
static inline void nc_expect_bytes(const struct nc_blocks *b, int block, int seed, size_t bytes)
{
    size_t n = 0, wrong = 0;

    for (MPI_Count e = 0; e < nc_elements(b, block); e++) {
        for (int p = 0; p < b->layout->pieces; p++) {
            unsigned char *from = nc_piece(b, block, e, p);
            for (int k = 0; k < b->layout->piece[p].bytes && n < bytes; k++, n++) {
                if (from[k] != nc_byte(n, seed) && wrong++ == 0)
                    nc_fail_now("wrong byte: block, byte", block, (long) n);
                from[k] = nc_untouched(b);
            }
        }
    }
}

static inline void nc_expect(const struct nc_blocks *b, int block, int seed)
{
    nc_expect_bytes(b, block, seed, SIZE_MAX);
}

static inline int nc_is_untouched(const struct nc_blocks *b, const unsigned char *from,
                                  size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (from[i] != nc_untouched(b)) {
            nc_fail_now("a byte outside the blocks: byte, value",
                        (long) (from - b->start) + (long) i, from[i]);
            return 0;
        }
    }
    return 1;
}

/* Checks that no byte was written. Of sparse memory it reads only what is near the blocks: to read
 * all of it would take too long and allocate it. */
static inline void nc_expect_untouched(const struct nc_blocks *b)
{
    if (!b->sparse) {
        nc_is_untouched(b, b->memory, b->bytes);
        return;
    }
    for (int i = 0; i < b->blocks; i++) {
        MPI_Count n = nc_elements(b, i), at_once = b->layout->extent < NC_GUARD ? n : 1;
        for (MPI_Count e = 0; e < n; e += at_once) {
            unsigned char *from = nc_piece(b, i, e, 0) - NC_GUARD;
            if (!nc_is_untouched(b, from,
                                 (size_t) (nc_piece(b, i, e + at_once - 1, 0) - from) + NC_GUARD))
                return;
        }
    }
}

/* Checks that all bytes are untouched, and frees the buffer. */
static inline void nc_blocks_release(struct nc_blocks *b)
{
    if (!b->memory)
        return;
    nc_expect_untouched(b);
    if (b->type != b->layout->type)
        MPI_Type_free(&b->type);
    if (b->sparse)
        munmap(b->memory, b->bytes);
    else
        nc_memory_free(b->memory);
}

/* ---- the collectives that move blocks ---- */

/* The arguments for a rank's own block. */
struct nc_own {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/* One call. */
struct nc_call {
    const struct nc_move *move;
    int root;
    MPI_Comm comm;
    int in_place; /* MPI_IN_PLACE at the ranks that may use it */
    int large;    /* the _c binding: counts are MPI_Count, displacements MPI_Aint */
};

/* The arguments of a call in both bindings. */
struct nc_arguments {
    const struct nc_call *call;
    const struct nc_blocks *all;
    struct nc_own own;
    int n, counts[NC_MOST_RANKS], displs[NC_MOST_RANKS]; /* of own and of all, as ints */
};

static inline int nc_call_scatter(const struct nc_arguments *a)
{
    const struct nc_blocks *all = a->all;
    const struct nc_own *own = &a->own;

    return a->call->large ? MPI_Scatter_c(all->base, all->counts[0], all->type, own->buffer,
                                          own->count, own->type, a->call->root, a->call->comm)
                          : MPI_Scatter(all->base, a->counts[0], all->type, own->buffer, a->n,
                                        own->type, a->call->root, a->call->comm);
}

static inline int nc_call_scatterv(const struct nc_arguments *a)
{
    const struct nc_blocks *all = a->all;
    const struct nc_own *own = &a->own;

    return a->call->large
               ? MPI_Scatterv_c(all->base, all->counts, all->displs, all->type, own->buffer,
                                own->count, own->type, a->call->root, a->call->comm)
               : MPI_Scatterv(all->base, a->counts, a->displs, all->type, own->buffer, a->n,
                              own->type, a->call->root, a->call->comm);
}

static inline int nc_call_gather(const struct nc_arguments *a)
{
    const struct nc_blocks *all = a->all;
    const struct nc_own *own = &a->own;

    return a->call->large ? MPI_Gather_c(own->buffer, own->count, own->type, all->base,
                                         all->counts[0], all->type, a->call->root, a->call->comm)
                          : MPI_Gather(own->buffer, a->n, own->type, all->base, a->counts[0],
                                       all->type, a->call->root, a->call->comm);
}

static inline int nc_call_gatherv(const struct nc_arguments *a)
{
    const struct nc_blocks *all = a->all;
    const struct nc_own *own = &a->own;

    return a->call->large
               ? MPI_Gatherv_c(own->buffer, own->count, own->type, all->base, all->counts,
                               all->displs, all->type, a->call->root, a->call->comm)
               : MPI_Gatherv(own->buffer, a->n, own->type, all->base, a->counts, a->displs,
                             all->type, a->call->root, a->call->comm);
}

static inline int nc_call_allgather(const struct nc_arguments *a)
{
    const struct nc_blocks *all = a->all;
    const struct nc_own *own = &a->own;

    return a->call->large ? MPI_Allgather_c(own->buffer, own->count, own->type, all->base,
                                            all->counts[0], all->type, a->call->comm)
                          : MPI_Allgather(own->buffer, a->n, own->type, all->base, a->counts[0],
                                          all->type, a->call->comm);
}

static inline int nc_call_allgatherv(const struct nc_arguments *a)
{
    const struct nc_blocks *all = a->all;
    const struct nc_own *own = &a->own;

    return a->call->large ? MPI_Allgatherv_c(own->buffer, own->count, own->type, all->base,
                                             all->counts, all->displs, all->type, a->call->comm)
                          : MPI_Allgatherv(own->buffer, a->n, own->type, all->base, a->counts,
                                           a->displs, all->type, a->call->comm);
}

/* In which direction the blocks move. */
enum nc_direction { NC_FROM_ROOT, NC_TO_ROOT, NC_TO_ALL };

/* One row for each collective that moves blocks; all_random, all_corners and all_lengths test all
 * rows. */
static const struct nc_move {
    int collective;
    enum nc_direction direction;
    int is_v; /* each block has a count and a displacement of its own */
    int (*call)(const struct nc_arguments *arguments);
} nc_moves[] = {
    {NC_SCATTER, NC_FROM_ROOT, 0, nc_call_scatter},
    {NC_SCATTERV, NC_FROM_ROOT, 1, nc_call_scatterv},
    {NC_GATHER, NC_TO_ROOT, 0, nc_call_gather},
    {NC_GATHERV, NC_TO_ROOT, 1, nc_call_gatherv},
    {NC_ALLGATHER, NC_TO_ALL, 0, nc_call_allgather},
    {NC_ALLGATHERV, NC_TO_ALL, 1, nc_call_allgatherv},
};

enum { NC_MOVES = sizeof nc_moves / sizeof *nc_moves };

static inline const struct nc_move *nc_move_of(int collective)
{
    int m = 0;

    while (nc_moves[m].collective != collective)
        m++;
    return &nc_moves[m];
}

/* Whether a rank has the buffer with all blocks. */
static inline int nc_has_all(const struct nc_call *c, int rank)
{
    return rank == c->root || c->move->direction == NC_TO_ALL;
}

/* Makes the call. It is not counted if all ranks can see that there is nothing to move: MPICH then
 * calls no algorithm, and numacoll makes no operation. Returns the error code. */
static inline int nc_call_blocks(const struct nc_call *c, const struct nc_blocks *all,
                                 const struct nc_blocks *mine)
{
    struct nc_arguments a = {
        .call = c, .all = all, .own = {mine->base, mine->counts[0], mine->type}};
    MPI_Count bytes;
    int rank;

    MPI_Comm_rank(c->comm, &rank);
    MPI_Type_size_x(mine->type, &bytes);
    if (c->move->is_v || (mine->counts[0] > 0 && bytes > 0))
        nc_count(c->move->collective, c->comm);
    if (c->in_place && nc_has_all(c, rank))
        a.own = (struct nc_own){MPI_IN_PLACE, 0, MPI_DATATYPE_NULL};
    a.n = (int) a.own.count;
    for (int i = 0; i < all->blocks; i++) {
        a.counts[i] = (int) all->counts[i];
        a.displs[i] = (int) all->displs[i];
    }
    return c->move->call(&a);
}

/* ---- a call with its data ---- */

static inline int nc_seed(int number, int from, int to)
{
    return number * 101 + from * 16 + to;
}

/* The seed of the block that moves between a rank and the root, or from the rank to all. */
static inline int nc_block_seed(const struct nc_call *c, int number, int rank)
{
    if (c->move->direction == NC_FROM_ROOT)
        return nc_seed(number, c->root, rank);
    return nc_seed(number, rank, c->move->direction == NC_TO_ALL ? 0 : c->root);
}

/* Writes what this rank sends. */
static inline void nc_fill_sent(const struct nc_call *c, const struct nc_blocks *all,
                                const struct nc_blocks *mine, int rank, int number)
{
    if (c->move->direction != NC_FROM_ROOT) {
        if (c->in_place && nc_has_all(c, rank))
            nc_fill(all, rank, nc_block_seed(c, number, rank));
        else
            nc_fill(mine, 0, nc_block_seed(c, number, rank));
        return;
    }
    for (int i = 0; i < all->blocks; i++)
        nc_fill(all, i, nc_block_seed(c, number, i));
}

/* Makes a call with data that depend on `number`, and checks both buffers: what was received, and
 * that what was sent has not changed. */
static inline void nc_exchange(const struct nc_call *c, const struct nc_blocks *all,
                               const struct nc_blocks *mine, int number)
{
    int rank, error;

    MPI_Comm_rank(c->comm, &rank);
    nc_fill_sent(c, all, mine, rank, number);
    error = nc_call_blocks(c, all, mine);
    if (error)
        nc_fail_now("error code", error, rank);
    for (int i = 0; i < all->blocks; i++)
        nc_expect(all, i, nc_block_seed(c, number, i));
    if (!c->in_place || !nc_has_all(c, rank))
        nc_expect(mine, 0, nc_block_seed(c, number, rank));
}

#endif
