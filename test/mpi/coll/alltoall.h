/* Alltoall, Alltoallv and Alltoallw with checked data, for all_random and the programs of the
 * three. All blocks that a rank sends are in one buffer, all that it receives in another, or, in
 * place, in the same one; all bytes outside the blocks have the value NC_UNTOUCHED and must keep
 * it. */

#ifndef ALLTOALL_H_INCLUDED
#define ALLTOALL_H_INCLUDED

#include "blocks.h"

/* One side of a call: a buffer with a block for each rank, or from each rank. */
struct nc_side {
    int blocks;
    struct nc_blocks all;               /* the buffer; not alltoallw: with all blocks */
    struct nc_blocks of[NC_MOST_RANKS]; /* alltoallw: each block, with a layout of its own */
    MPI_Count counts[NC_MOST_RANKS];    /* elements */
    MPI_Aint displs[NC_MOST_RANKS];     /* extents; of alltoallw: bytes */
    MPI_Datatype types[NC_MOST_RANKS];  /* of alltoallw */
    int int_counts[NC_MOST_RANKS], int_displs[NC_MOST_RANKS];
};

/* A call. */
struct nc_alltoall {
    int collective; /* NC_ALLTOALL, NC_ALLTOALLV or NC_ALLTOALLW */
    MPI_Comm comm;
    int in_place;
    int large; /* the _c binding */
    struct nc_side sent, received;
};

static inline void nc_side_as_ints(struct nc_side *s)
{
    for (int i = 0; i < s->blocks; i++) {
        s->int_counts[i] = (int) s->counts[i];
        s->int_displs[i] = (int) s->displs[i];
    }
}

/* A side of alltoall or alltoallv. displs NULL: the blocks lie one behind the other. */
static inline void nc_side_make(struct nc_side *s, const struct nc_layout *layout, int blocks,
                                const MPI_Count *counts, const MPI_Aint *displs)
{
    s->all = nc_blocks_make(layout, blocks, counts, displs);
    s->blocks = blocks;
    for (int i = 0; i < blocks; i++) {
        s->counts[i] = counts[i];
        s->displs[i] = s->all.displs[i];
    }
    nc_side_as_ints(s);
}

/* A side of alltoallw, in the order order[0], order[1], ..: block i has layout[i], and a gap of
 * gaps[i] bytes before it. */
static inline void nc_side_make_w(struct nc_side *s, const struct nc_layout *const *layout,
                                  int blocks, const MPI_Count *counts, const int *order,
                                  const int *gaps)
{
    static const struct nc_layout bytes = {
        .name = "bytes", .type = MPI_BYTE, .extent = 1, .size = 1, .pieces = 1, .piece = {{0, 1}}};
    MPI_Count length;
    MPI_Aint at = 0, low, high;

    s->blocks = blocks;
    for (int k = 0; k < blocks; k++) {
        int i = order[k];
        struct nc_blocks *b = &s->of[i];
        *b = (struct nc_blocks){.layout = layout[i], .blocks = 1};
        b->counts[0] = s->counts[i] = counts[i];
        nc_bounds(b, &low, &high);
        s->displs[i] = at + gaps[i] - low;
        s->types[i] = layout[i]->type;
        at = s->displs[i] + high;
    }
    length = at;
    s->all = nc_blocks_make(&bytes, 1, &length, NULL);
    for (int i = 0; i < blocks; i++) {
        s->of[i].start = s->all.start + s->displs[i];
        s->of[i].sparse = s->all.sparse;
    }
    nc_side_as_ints(s);
}

static inline void nc_side_fill(const struct nc_alltoall *a, const struct nc_side *s, int block,
                                int seed)
{
    if (a->collective == NC_ALLTOALLW)
        nc_fill(&s->of[block], 0, seed);
    else
        nc_fill(&s->all, block, seed);
}

static inline void nc_side_expect(const struct nc_alltoall *a, const struct nc_side *s, int block,
                                  int seed)
{
    if (a->collective == NC_ALLTOALLW)
        nc_expect(&s->of[block], 0, seed);
    else
        nc_expect(&s->all, block, seed);
}

static inline int nc_call_alltoall(const struct nc_alltoall *a)
{
    const struct nc_side *s = &a->sent, *r = &a->received;
    const void *in = a->in_place ? MPI_IN_PLACE : s->all.base;

    switch (a->collective) {
        case NC_ALLTOALL:
            return a->large ? MPI_Alltoall_c(in, s->counts[0], s->all.type, r->all.base,
                                             r->counts[0], r->all.type, a->comm)
                            : MPI_Alltoall(in, s->int_counts[0], s->all.type, r->all.base,
                                           r->int_counts[0], r->all.type, a->comm);
        case NC_ALLTOALLV:
            return a->large
                       ? MPI_Alltoallv_c(in, s->counts, s->displs, s->all.type, r->all.base,
                                         r->counts, r->displs, r->all.type, a->comm)
                       : MPI_Alltoallv(in, s->int_counts, s->int_displs, s->all.type, r->all.base,
                                       r->int_counts, r->int_displs, r->all.type, a->comm);
        default:
            return a->large ? MPI_Alltoallw_c(in, s->counts, s->displs, s->types, r->all.base,
                                              r->counts, r->displs, r->types, a->comm)
                            : MPI_Alltoallw(in, s->int_counts, s->int_displs, s->types, r->all.base,
                                            r->int_counts, r->int_displs, r->types, a->comm);
    }
}

/* Makes a call with data that depend on `number`, checks what was received, and that what was sent
 * has not changed, and frees the buffers. In place a->sent is not used. */
static inline void nc_exchange_pairs(struct nc_alltoall *a, int number)
{
    const struct nc_side *sent = a->in_place ? &a->received : &a->sent;
    int rank, error;

    MPI_Comm_rank(a->comm, &rank);
    for (int i = 0; i < sent->blocks; i++)
        nc_side_fill(a, sent, i, nc_seed(number, rank, i));
    if (a->collective != NC_ALLTOALL || a->received.counts[0] > 0)
        nc_count(a->collective, a->comm);
    error = nc_call_alltoall(a);
    if (error)
        nc_fail_now("error code", error, rank);
    for (int i = 0; i < a->received.blocks; i++)
        nc_side_expect(a, &a->received, i, nc_seed(number, i, rank));
    nc_blocks_release(&a->received.all);
    if (a->in_place)
        return;
    for (int i = 0; i < sent->blocks; i++)
        nc_side_expect(a, sent, i, nc_seed(number, rank, i));
    nc_blocks_release(&a->sent.all);
}

/* ---- the program of one of the three ---- */

/* Layouts of one type signature, ints: dense, with gaps, and of two ints the second of which is the
 * first in memory. */
enum { NC_ALLTOALL_LAYOUTS = 3 };

static struct nc_layout nc_alltoall_layout[NC_ALLTOALL_LAYOUTS];

static inline struct nc_layout nc_two_ints_backwards(void)
{
    struct nc_layout l = {.name = "backwards", .extent = 12};
    int one[2] = {1, 1}, at[2] = {0, -2};
    MPI_Datatype raw;

    MPI_Type_indexed(2, one, at, MPI_INT, &raw);
    MPI_Type_create_resized(raw, -8, 12, &l.type);
    MPI_Type_commit(&l.type);
    MPI_Type_free(&raw);
    nc_layout_add(&l, 0, (int) sizeof(int));
    nc_layout_add(&l, -8, (int) sizeof(int));
    return l;
}

/* How long the block from one rank to another is, in pairs of ints; in place in both directions. */
static inline int nc_pairs_of_ints(int collective, int step, int from, int to, int in_place)
{
    static const int lengths[] = {0, 1, 11, 44, 45, 600, 5000, 20000};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };

    if (collective == NC_ALLTOALL)
        return lengths[step % LENGTHS];
    if (in_place && from > to)
        return lengths[(step + to * 3 + from) % LENGTHS];
    return lengths[(step + from * 3 + to) % LENGTHS];
}

/* The layout of a block; only in alltoallw those of a side differ. */
static inline const struct nc_layout *nc_layout_of(const struct nc_alltoall *a, int step, int sends,
                                                   int block)
{
    int i = step + nc_rank + sends + (a->collective == NC_ALLTOALLW ? block : 0);

    return &nc_alltoall_layout[i % NC_ALLTOALL_LAYOUTS];
}

static inline void nc_alltoall_side(struct nc_alltoall *a, struct nc_side *s, int step, int sends)
{
    const struct nc_layout *layout[NC_MOST_RANKS];
    /* gcc 12 may think that there are no ranks, and warns */
    MPI_Count counts[NC_MOST_RANKS] = {0};
    MPI_Aint displs[NC_MOST_RANKS] = {0};
    int order[NC_MOST_RANKS], gaps[NC_MOST_RANKS];

    for (int i = 0; i < nc_size; i++) {
        int from = sends ? nc_rank : i, to = sends ? i : nc_rank;
        layout[i] = nc_layout_of(a, step, sends, i);
        counts[i] = nc_pairs_of_ints(a->collective, step, from, to, a->in_place) * 8 /
                    layout[i]->size;
        order[i] = step % 2 ? nc_size - 1 - i : i;
        gaps[i] = a->collective == NC_ALLTOALLW ? 4 * (i % 5) : i % 3;
    }
    if (a->collective == NC_ALLTOALLW) {
        nc_side_make_w(s, layout, nc_size, counts, order, gaps);
        return;
    }
    nc_place(nc_size, counts, order, gaps, displs);
    nc_side_make(s, nc_layout_of(a, step, sends, 0), nc_size, counts,
                 a->collective == NC_ALLTOALLV ? displs : NULL);
}

/* Calls with lengths from nothing to several rings, different ones in a call where that is allowed,
 * in place and not, in both bindings. */
static inline int nc_alltoall_main(int argc, char **argv, int collective)
{
    static struct nc_alltoall a;
    int number = 0;

    nc_init(&argc, &argv);
    nc_alltoall_layout[0] = nc_layout_ints("ints", sizeof(int));
    nc_alltoall_layout[1] = nc_layout_ints("ints with gaps", 3 * sizeof(int));
    nc_alltoall_layout[2] = nc_two_ints_backwards();
    a.collective = collective;
    a.comm = MPI_COMM_WORLD;
    for (int step = 0; step < 28; step++) {
        for (a.in_place = 0; a.in_place < 2; a.in_place++) {
            a.large = number % 3 == 1;
            nc_say("%s%s, step %d%s", nc_names[collective], a.large ? "_c" : "", step,
                   a.in_place ? ", in place" : "");
            if (!a.in_place)
                nc_alltoall_side(&a, &a.sent, step, 1);
            nc_alltoall_side(&a, &a.received, step, 0);
            nc_exchange_pairs(&a, number++);
        }
    }
    for (int i = 0; i < NC_ALLTOALL_LAYOUTS; i++)
        MPI_Type_free(&nc_alltoall_layout[i].type);
    return nc_finish();
}

#endif
