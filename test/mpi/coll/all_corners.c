/* Tests corner cases of scatter, gather, allgather and their v forms, with every root: datatypes,
 * in place, empty blocks, order and overlap of blocks, MPI_BOTTOM, displacements and counts of more
 * than 32 bits.
 *
 *   all_corners [CORNER]     CORNER: only this row of the table at the end of the file
 *
 * `huge` runs only by name: it moves 2 GiB (test/mpi/run --large). */

#define _GNU_SOURCE /* memfd_create */
#include "corners.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "blocks.h"

enum { LENGTHS = 3 };

static int number; /* of the exchange; its data depend on it */

/* ---- layouts of one type signature: one or more pairs of a char and a double ---- */

struct natural {
    char c;
    double d;
};

enum { DENSE, NATURAL, BACKWARDS, INDEXED, VECTORS, DESCENDING, LAYOUTS };

static struct nc_layout layouts[LAYOUTS];

static void add_pair(struct nc_layout *l, MPI_Aint c, MPI_Aint d)
{
    nc_layout_add(l, c, 1);
    nc_layout_add(l, d, (int) sizeof(double));
}

static MPI_Datatype pair_type(MPI_Aint c, MPI_Aint d)
{
    int one[2] = {1, 1};
    MPI_Aint at[2] = {c, d};
    MPI_Datatype parts[2] = {MPI_CHAR, MPI_DOUBLE}, type;

    MPI_Type_create_struct(2, one, at, parts, &type);
    return type;
}

static struct nc_layout one_pair(const char *name, MPI_Aint c, MPI_Aint d, MPI_Aint lb,
                                 MPI_Aint extent)
{
    struct nc_layout l = {.name = name, .extent = extent};
    MPI_Datatype raw = pair_type(c, d);

    add_pair(&l, c, d);
    MPI_Type_create_resized(raw, lb, extent, &l.type);
    MPI_Type_free(&raw);
    return l;
}

/* Four pairs, the first of which is the last one in memory. */
static struct nc_layout indexed_pairs(MPI_Datatype pair)
{
    MPI_Aint size = sizeof(struct natural);
    struct nc_layout l = {.name = "indexed", .extent = 6 * size};
    int lengths[3] = {1, 2, 1}, at[3] = {5, 0, 3}, items[4] = {5, 0, 1, 3};

    MPI_Type_indexed(3, lengths, at, pair, &l.type);
    for (int i = 0; i < 4; i++)
        add_pair(&l, items[i] * size, items[i] * size + (MPI_Aint) offsetof(struct natural, d));
    return l;
}

/* Two vectors of three pairs, at 0 2 4 and 9 11 13. */
static struct nc_layout vectors_of_pairs(MPI_Datatype pair)
{
    MPI_Aint size = sizeof(struct natural);
    struct nc_layout l = {.name = "vectors", .extent = 14 * size};
    MPI_Datatype vector;

    MPI_Type_vector(3, 1, 2, pair, &vector);
    MPI_Type_create_hvector(2, 1, 9 * size, vector, &l.type);
    MPI_Type_free(&vector);
    for (int i = 0; i < 6; i++)
        add_pair(&l, (i / 3 * 9 + i % 3 * 2) * size,
                 (i / 3 * 9 + i % 3 * 2) * size + (MPI_Aint) offsetof(struct natural, d));
    return l;
}

/* Four pairs at descending addresses. */
static struct nc_layout descending_pairs(MPI_Datatype pair)
{
    MPI_Aint size = sizeof(struct natural);
    struct nc_layout l = {.name = "descending", .extent = 4 * size};

    MPI_Type_create_hvector(4, 1, -size, pair, &l.type);
    for (int i = 0; i < 4; i++)
        add_pair(&l, -i * size, -i * size + (MPI_Aint) offsetof(struct natural, d));
    return l;
}

static void make_layouts(void)
{
    MPI_Datatype pair = pair_type(offsetof(struct natural, c), offsetof(struct natural, d));

    layouts[DENSE] = one_pair("dense", 0, 1, 0, 9);
    layouts[NATURAL] = one_pair("natural", offsetof(struct natural, c), offsetof(struct natural, d),
                                0, sizeof(struct natural));
    layouts[BACKWARDS] = one_pair("backwards", 4, -8, -16, 24);
    layouts[INDEXED] = indexed_pairs(pair);
    layouts[VECTORS] = vectors_of_pairs(pair);
    layouts[DESCENDING] = descending_pairs(pair);
    MPI_Type_free(&pair);
    for (int i = 0; i < LAYOUTS; i++)
        MPI_Type_commit(&layouts[i].type);
}

static void free_layouts(void)
{
    for (int i = 0; i < LAYOUTS; i++)
        MPI_Type_free(&layouts[i].type);
}

/* ---- one exchange ---- */

enum order { IN_A_ROW, FROM_BEHIND, SHUFFLED };

/* What an exchange is to be. */
struct plan {
    const char *corner;
    struct nc_call call;
    const struct nc_layout *all, *mine;
    int bytes[NC_MOST_RANKS]; /* of the block of each rank */
    const MPI_Aint *displs;   /* of the blocks; NULL: as `order` says */
    enum order order;         /* of the blocks in memory; except IN_A_ROW with gaps */
    int absolute;             /* MPI_BOTTOM on both sides */
    int null;                 /* an empty buffer is passed as NULL */
};

/* SHUFFLED goes round the blocks in steps of 13, which reaches all of them unless their number is a
 * multiple of 13. */
static void displacements(const struct plan *p, const MPI_Count *counts, MPI_Aint *displs)
{
    int order[NC_MOST_RANKS], gaps[NC_MOST_RANKS] = {0};

    for (int k = 0; k < nc_size; k++) {
        order[k] = p->order == IN_A_ROW      ? k
                   : p->order == FROM_BEHIND ? nc_size - 1 - k
                                             : (k * 13 + 1) % nc_size;
        gaps[k] = p->order == IN_A_ROW ? 0 : 1 + k % 3;
    }
    nc_place(nc_size, counts, order, gaps, displs);
}

/* The buffer with all blocks, at a rank that has it. */
static struct nc_blocks all_blocks(const struct plan *p)
{
    MPI_Count counts[NC_MOST_RANKS];
    MPI_Aint displs[NC_MOST_RANKS];

    if (!nc_has_all(&p->call, nc_rank))
        return nc_blocks_none();
    for (int i = 0; i < nc_size; i++)
        counts[i] = p->bytes[i] / p->all->size;
    displacements(p, counts, displs);
    return nc_blocks_make(p->all, nc_size, counts, p->displs ? p->displs : displs);
}

static struct nc_blocks own_block(const struct plan *p)
{
    MPI_Count count = p->bytes[nc_rank] / p->mine->size;

    return nc_blocks_make(p->mine, 1, &count, NULL);
}

static void forget_if_empty(struct nc_blocks *b)
{
    MPI_Count sum = 0;

    for (int i = 0; i < b->blocks; i++)
        sum += b->counts[i];
    if (sum == 0)
        b->base = NULL;
}

/* One call, with its checks. */
static void exchange(const struct plan *p)
{
    nc_say("%s: %s%s, all %s, own %s, %d bytes, root %d", p->corner,
           nc_names[p->call.move->collective], p->call.large ? "_c" : "", p->all->name,
           p->mine->name, p->bytes[nc_rank], p->call.root);
    struct nc_blocks all = all_blocks(p), mine = own_block(p);

    if (p->absolute) {
        nc_blocks_absolute(&all);
        nc_blocks_absolute(&mine);
    }
    if (p->null) {
        forget_if_empty(&all);
        forget_if_empty(&mine);
    }
    nc_exchange(&p->call, &all, &mine, number++);
    nc_blocks_release(&all);
    nc_blocks_release(&mine);
}

/* Bytes of a block: inline, too long to be inline, several fragments. Each is a multiple of the
 * size of every layout. */
static const int lengths[LENGTHS] = {324, 432, 17280};

/* One exchange for each length; in a v form the ranks have different lengths in one call. */
static void each_length(struct plan p)
{
    for (int l = 0; l < LENGTHS; l++) {
        for (int i = 0; i < nc_size; i++)
            p.bytes[i] = lengths[p.call.move->is_v ? (i + l) % LENGTHS : l];
        exchange(&p);
    }
}

/* Whether a collective is to be tried with this root: one without a root is tried with two only. */
static int is_due(const struct nc_move *move, int root)
{
    return root < 2 || move->direction != NC_TO_ALL;
}

static void each_move(struct plan p)
{
    for (int m = 0; m < NC_MOVES; m++) {
        p.call.move = &nc_moves[m];
        if (is_due(&nc_moves[m], p.call.root))
            each_length(p);
    }
}

/* Whether displacements can be tried: MPICH 4.0.2 ignores displs[0] if there is one rank only. */
static int is_displaced(const struct nc_move *move, int root)
{
    return is_due(move, root) && move->is_v && nc_size > 1;
}

static struct plan plan_of(const char *corner, int root)
{
    return (struct plan){.corner = corner,
                         .call = {.root = root, .comm = MPI_COMM_WORLD},
                         .all = &layouts[root % LAYOUTS],
                         .mine = &layouts[(root + nc_rank + 1) % LAYOUTS]};
}

/* ---- the corners ---- */

/* Different layouts on all sides: each rank has another layout than its neighbours. The layout of
 * all blocks takes every second value; which ones depends on the root. */
static void types(int root)
{
    struct plan p = plan_of("types", root);

    for (int a = root % 2; a < LAYOUTS; a += 2) {
        for (int shift = 0; shift < LAYOUTS; shift += nc_size) {
            p.all = &layouts[a];
            p.mine = &layouts[(root + nc_rank + shift) % LAYOUTS];
            each_move(p);
        }
    }
}

static void in_place(int root)
{
    struct plan p = plan_of("in_place", root);

    p.call.in_place = 1;
    each_move(p);
}

/* Blocks of length 0: all of them; all except one; only one. */
static void zeros(int root)
{
    struct plan p = plan_of("zeros", root);

    p.null = 1;
    for (int m = 0; m < NC_MOVES; m++) {
        p.call.move = &nc_moves[m];
        memset(p.bytes, 0, sizeof p.bytes);
        exchange(&p);
        for (int one = 0; one < nc_size && nc_moves[m].is_v && is_due(&nc_moves[m], root); one++) {
            for (int i = 0; i < nc_size; i++)
                p.bytes[i] = i == one ? 17280 : 0;
            exchange(&p);
            for (int i = 0; i < nc_size; i++)
                p.bytes[i] = i == one ? 0 : 324;
            exchange(&p);
        }
    }
}

/* Count 0 on some ranks, which MPICH's bindings answer by themselves, and 1 of a datatype without
 * bytes on the others: the signatures are the same. The ranks are in the same call afterwards.
 * (Only forms in which MPICH's own algorithms wait for nobody.) */
static void without_bytes(int root)
{
    MPI_Datatype nothing;
    int a = 1, b = 1, told = nc_rank == root ? root : -1;

    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Scatter(&a, 1, nothing, &b, 0, MPI_INT, root, MPI_COMM_WORLD);
    nc_bcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (told != root)
        nc_fail("after Scatter", told, root);
    told = nc_rank == root ? -2 : -1;
    MPI_Gather(&a, 1, nothing, &b, 0, MPI_INT, root, MPI_COMM_WORLD);
    nc_bcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (told != -2 || a != 1 || b != 1)
        nc_fail("after Gather", told, a + b);
    told = nc_rank == root ? -3 : -1;
    if (nc_rank == root)
        nc_bcast(&a, 0, MPI_INT, root, MPI_COMM_WORLD);
    else
        nc_bcast(&a, 1, nothing, root, MPI_COMM_WORLD);
    nc_bcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (nc_rank == root)
        nc_bcast(&a, 1, nothing, root, MPI_COMM_WORLD);
    else
        nc_bcast(&a, 0, MPI_INT, root, MPI_COMM_WORLD);
    if (told != -3 || a != 1)
        nc_fail("after Bcast", told, a);
    MPI_Type_free(&nothing);
}

static void order(int root)
{
    struct plan p = plan_of("order", root);

    for (int m = 0; m < NC_MOVES; m++) {
        p.call.move = &nc_moves[m];
        for (p.order = FROM_BEHIND; p.order <= SHUFFLED && is_displaced(&nc_moves[m], root);
             p.order++)
            each_length(p);
    }
}

static void bottom(int root)
{
    struct plan p = plan_of("bottom", root);

    p.absolute = 1;
    p.call.in_place = root % 2;
    each_move(p);
}

/* Scatterv of overlapping blocks: rank r gets `length` bytes from byte r * step of the root's
 * buffer on. */
static void overlapping(int root, int step, int length)
{
    struct nc_layout bytes = {.name = "bytes", .type = MPI_BYTE, .extent = 1};
    MPI_Count own = length, one = (nc_size - 1) * step + length;
    struct nc_call call = {.move = nc_move_of(NC_SCATTERV), .root = root, .comm = MPI_COMM_WORLD};

    nc_say("overlap: %d bytes every %d, root %d", length, step, root);
    nc_layout_add(&bytes, 0, 1);
    struct nc_blocks mine = nc_blocks_make(&bytes, 1, &own, NULL),
                     sent = nc_blocks_make(&bytes, 1, &one, NULL), all = sent;
    nc_fill(&sent, 0, number);
    all.blocks = nc_size;
    for (int i = 0; i < nc_size; i++) {
        all.counts[i] = length;
        all.displs[i] = i * step;
    }
    if (nc_call_blocks(&call, &all, &mine))
        nc_fail_now("error", step, length);
    if (memcmp(mine.start, sent.start + nc_rank * step, (size_t) length))
        nc_fail_now("wrong bytes", step, length);
    memset(mine.start, NC_UNTOUCHED, (size_t) length);
    nc_expect(&sent, 0, number++);
    nc_blocks_release(&sent);
    nc_blocks_release(&mine);
}

static void overlap(int root)
{
    for (int step = 0; step < 70; step += 23) {
        overlapping(root, step, 100);
        overlapping(root, step, 50000);
    }
}

/* 80 ints in an extent of more than 2^31 bytes. */
static struct nc_layout wide_layout(void)
{
    struct nc_layout l = {.name = "wide", .extent = ((MPI_Aint) 1 << 31) + 4096};
    MPI_Datatype ints;

    nc_layout_add(&l, 0, 80 * (int) sizeof(int));
    MPI_Type_contiguous(80, MPI_INT, &ints);
    MPI_Type_create_resized(ints, 0, l.extent, &l.type);
    MPI_Type_commit(&l.type);
    MPI_Type_free(&ints);
    return l;
}

/* Blocks and elements that are more than 2^31 bytes apart. One element is inline, four are not. */
static void far_blocks(int root)
{
    struct nc_layout wide = wide_layout(), plain = nc_layout_ints("plain", sizeof(int));
    struct plan p = plan_of("far_blocks", root);

    p.all = &wide;
    p.mine = nc_rank % 2 ? &plain : &wide;
    for (int m = 0; m < NC_MOVES; m++) {
        p.call.move = &nc_moves[m];
        for (int elements = 1; elements <= 4; elements += 3) {
            for (int i = 0; i < nc_size; i++)
                p.bytes[i] = elements * wide.size;
            exchange(&p);
        }
    }
    MPI_Type_free(&wide.type);
    MPI_Type_free(&plain.type);
}

/* The largest positive and negative displacements: INT_MAX, and with the _c binding more than 2^32
 * elements. */
static void far_displacements(int root)
{
    struct nc_layout plain = nc_layout_ints("plain", sizeof(int));
    struct plan p = plan_of("far_displacements", root);
    MPI_Aint displs[NC_MOST_RANKS];

    p.all = p.mine = &plain;
    p.displs = displs;
    for (p.call.large = 0; p.call.large < 2; p.call.large++) {
        for (int i = 0; i < nc_size; i++) {
            MPI_Aint most = p.call.large ? (MPI_Aint) 5 << 31 : INT_MAX;
            displs[i] = i % 2 ? -most + i * 10000 : most - (i + 1) * 10000;
        }
        for (int m = 0; m < NC_MOVES; m++) {
            p.call.move = &nc_moves[m];
            if (is_displaced(&nc_moves[m], root))
                each_length(p);
        }
    }
    MPI_Type_free(&plain.type);
}

/* The largest counts, of a datatype without bytes. */
static void many_of_nothing(int root)
{
    struct nc_layout nothing = {.name = "nothing", .extent = 1 << 20};
    MPI_Count counts[NC_MOST_RANKS];
    MPI_Aint displs[NC_MOST_RANKS];
    MPI_Datatype empty;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_create_resized(empty, 0, nothing.extent, &nothing.type);
    MPI_Type_commit(&nothing.type);
    for (int large = 0; large < 2; large++) {
        for (int i = 0; i < nc_size; i++) {
            counts[i] = large ? (MPI_Count) 1 << 40 : INT_MAX;
            displs[i] = INT_MAX - i;
        }
        for (int m = 0; m < NC_MOVES; m++) {
            struct nc_call call = {
                .move = &nc_moves[m], .root = root, .comm = MPI_COMM_WORLD, .large = large};
            nc_say("many_of_nothing: %s%s, root %d", nc_names[nc_moves[m].collective],
                   large ? "_c" : "", root);
            struct nc_blocks all = nc_blocks_make(&nothing, nc_size, counts, displs);
            struct nc_blocks mine = nc_blocks_make(&nothing, 1, counts, NULL);
            nc_exchange(&call, &all, &mine, number++);
            nc_blocks_release(&all);
            nc_blocks_release(&mine);
        }
    }
    MPI_Type_free(&nothing.type);
    MPI_Type_free(&empty);
}

static void large_counts(int root)
{
    struct plan p = plan_of("large_counts", root);

    p.call.large = 1;
    p.call.in_place = root % 2;
    each_move(p);
}

/* ---- one block of more than 2^31 bytes ---- */

/* The send buffer maps a few pages again and again, so that only the receive buffer takes memory.
 * The number of pages is prime, so that data shifted by a power of two is noticed. */
enum { PAGES = 1009, PAGE = 4096 };

static uint64_t word_of(size_t i)
{
    return i % (PAGES * PAGE / sizeof(uint64_t)) * 0x9e3779b97f4a7c15u + 1;
}

static void *map(void *at, size_t bytes, int flags, int fd)
{
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);

    if (p == MAP_FAILED) {
        perror("huge: mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* A send buffer. */
static char *map_words(size_t bytes)
{
    char *all = map(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    int fd = memfd_create("words", 0);
    uint64_t *words;

    if (fd < 0 || ftruncate(fd, PAGES * PAGE)) {
        perror("huge: memfd");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    words = map(NULL, PAGES * PAGE, MAP_SHARED, fd);
    for (size_t i = 0; i < PAGES * PAGE / sizeof *words; i++)
        words[i] = word_of(i);
    for (size_t at = 0; at < bytes; at += PAGES * PAGE)
        map(all + at, bytes - at < PAGES * PAGE ? bytes - at : PAGES * PAGE, MAP_SHARED | MAP_FIXED,
            fd);
    munmap(words, PAGES * PAGE);
    close(fd);
    return all;
}

/* A receive buffer. */
static char *map_room(size_t bytes)
{
    char *room = map(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);

    madvise(room, bytes, MADV_HUGEPAGE);
    return room;
}

/* A buffer of MPI_Alloc_mem, with SHARED_BUFFERS. */
static char *shared_words(size_t bytes, size_t words, bool filled)
{
    uint64_t *all;

    MPI_Alloc_mem((MPI_Aint) bytes, MPI_INFO_NULL, &all);
    for (size_t i = 0; i < words && filled; i++)
        all[i] = word_of(i);
    return (char *) all;
}

static void expect_words(const uint64_t *got, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        if (got[i] != word_of(i)) {
            nc_fail_now("wrong word", (long) i, (long) got[i]);
            return;
        }
    }
    for (size_t i = words; i < words + PAGE / sizeof *got; i++) {
        if (got[i])
            nc_fail_now("a word behind the end", (long) i, (long) got[i]);
    }
}

/* One block of 2 GiB from the root to the next rank or back; the blocks of other ranks are empty.
 */
static void huge_block(int collective, int root)
{
    size_t words = ((size_t) 1 << 28) + 1000, room = (words * sizeof(uint64_t) / PAGE + 2) * PAGE;
    int other = (root + 1) % nc_size, counts[NC_MOST_RANKS] = {0}, displs[NC_MOST_RANKS] = {0};
    int from = collective == NC_SCATTERV ? root : other,
        to = collective == NC_SCATTERV ? other : root;
    const char *on = getenv("MPIR_CVAR_NUMACOLL_SHARED_BUFFERS");
    bool shared = on && !strcmp(on, "on");
    char *data = nc_rank != from && nc_rank != to ? NULL
                 : shared                         ? shared_words(room, words, nc_rank == from)
                 : nc_rank == from                ? map_words(room)
                                                  : map_room(room);
    void *own = nc_rank == root ? NULL : data;

    nc_say("huge: %s, root %d", nc_names[collective], root);
    counts[other] = (int) words;
    nc_count(collective, MPI_COMM_WORLD);
    if (collective == NC_SCATTERV)
        MPI_Scatterv(data, counts, displs, MPI_UINT64_T, own, counts[nc_rank], MPI_UINT64_T, root,
                     MPI_COMM_WORLD);
    else
        MPI_Gatherv(own, counts[nc_rank], MPI_UINT64_T, data, counts, displs, MPI_UINT64_T, root,
                    MPI_COMM_WORLD);
    if (nc_rank == to)
        expect_words((uint64_t *) data, words);
    if (data && shared)
        MPI_Free_mem(data);
    else if (data)
        munmap(data, room);
}

static void huge(int root)
{
    if (root != 0 || nc_size == 1)
        return;
    huge_block(NC_SCATTERV, root);
    huge_block(NC_GATHERV, root);
}

/* ---- the table and the program ---- */

static const struct corner corners[] = {{"types", types, 0},
                                        {"in_place", in_place, 0},
                                        {"zeros", zeros, 0},
                                        {"without_bytes", without_bytes, 0},
                                        {"order", order, 0},
                                        {"overlap", overlap, 0},
                                        {"bottom", bottom, 0},
                                        {"far_blocks", far_blocks, 0},
                                        {"far_displacements", far_displacements, 0},
                                        {"many_of_nothing", many_of_nothing, 0},
                                        {"large_counts", large_counts, 0},
                                        {"huge", huge, 1}};

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    make_layouts();
    run_corners(corners, sizeof corners / sizeof *corners, argc > 1 ? argv[1] : NULL);
    free_layouts();
    return nc_finish();
}
