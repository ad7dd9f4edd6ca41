/* Tests corner cases of reduce, allreduce, reduce_scatter, scan and exscan, with every root: kinds
 * of elements, in place, few elements, lengths around the limits of the protocol, large elements,
 * elements without bytes, types made in different ways, overlapping elements, and equal bits on all
 * ranks that have one result, and in repeated calls.
 *
 *   all_reduce [CORNER]      CORNER: only this row of the table at the end of the file */

#include "corners.h"
#include "reductions.h"

static int number; /* of the call; its data depend on it */

/* One call of each collective that reduces, alternately in both bindings. */
static void try(const char *corner, const struct nc_numbers *kind, MPI_Count count, int root,
                int in_place)
{
    int large = number % 2;

    for (int i = 0; i < NC_REDUCERS; i++) {
        int scans = nc_reducers[i].collective == NC_SCAN || nc_reducers[i].collective == NC_EXSCAN;
        struct nc_reduction r = {.how = &nc_reducers[i],
                                 .comm = MPI_COMM_WORLD,
                                 .root = root,
                                 .kind = kind,
                                 .count = count,
                                 .in_place = in_place,
                                 .large = large};
        if (scans && nc_spoils)
            continue;
        nc_say("%s: %s, %s of %ld, root %d%s", corner, nc_reducer_name(&r), kind->name,
               (long) count, root, in_place ? ", in place" : "");
        nc_reduce(&r, number++);
    }
}

static void every_kind(int root)
{
    static const MPI_Count counts[] = {1, 39, 90, 2050};

    for (int k = 0; k < NC_KINDS; k++)
        try("every kind", &nc_kinds[k], counts[(root + k) % 4], root, (root + k / 4) % 2);
}

static void in_place(int root)
{
    for (int k = root % 3; k < NC_KINDS; k += 3)
        try("in place", &nc_kinds[k], 24 * 1024 / nc_kinds[k].extent, root, 1);
}

/* Counts from 0 to one more than ranks: if each rank combines a slice, some slices are empty. */
static void few(int root)
{
    static const int kinds[] = {NC_KIND_SUM, NC_KIND_AFFINE, NC_KIND_AFFINE_GAPS};

    for (int count = 0; count <= nc_size + 1; count++)
        try("few", &nc_kinds[kinds[(count + root) % 3]], count, root, count % 2);
}

/* Lengths around what fits a control slot, a slot, a send ring, a chunk. */
static void sizes(int root)
{
    static const int bytes[] = {352, 1000, 4096, 8192, 32768, 65536, 131072};
    static const int kinds[] = {NC_KIND_BXOR, NC_KIND_AFFINE, NC_KIND_MINLOC_REAL};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        const struct nc_numbers *k = &nc_kinds[kinds[(i + (size_t) root) % 3]];
        int size;
        MPI_Type_size(k->type, &size);
        int more = ((int) i + root) % 3 - 1;
        try("sizes", k, bytes[i] / size + more, root, root % 2);
    }
}

/* Elements as large as a slot, as some slots, and larger than a chunk. */
static void large_elements(int root)
{
    static const int slots[] = {1, 3, 9};

    for (int gaps = 0; gaps < 2; gaps++) {
        int i = (root + 2 * gaps) % 3;
        struct nc_numbers k = nc_kind_affine(gaps ? "large elements with gaps" : "large elements",
                                             slots[i] * 1024 + root % 2, gaps);
        try("large elements", &k, 1 + 2 * (i < 2), root, (root + gaps) % 2);
        nc_kind_free(&k);
    }
}

/* Elements without bytes, one and many. */
static void nothing(int root)
{
    struct nc_numbers k = nc_kind_affine("elements of no bytes", 0, 0);

    try("nothing", &k, 1, root, 0);
    try("nothing", &k, 100000, root, 1);
    nc_kind_free(&k);
}

/* Two ints side by side, the one at `first` before the other one in the type map. On ranks with an
 * odd number made so that MPICH does not know that there are no gaps. */
static MPI_Datatype two_ints(int first)
{
    MPI_Datatype wide, type, part[2] = {MPI_INT, MPI_INT};
    MPI_Aint at[2] = {first, (MPI_Aint) sizeof(int) - first};

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
    if (nc_rank % 2)
        part[first > 0] = wide;
    MPI_Type_create_struct(2, (int[]){1, 1}, at, part, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&wide);
    return type;
}

/* Many ints side by side. On ranks with an odd number made of many pieces, in types of types. */
static MPI_Datatype many_ints(int triples)
{
    MPI_Datatype wide, three, triple, type;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
    MPI_Type_create_hvector(3, 1, sizeof(int), wide, &three);
    MPI_Type_create_resized(three, 0, 3 * sizeof(int), &triple);
    if (nc_rank % 2)
        MPI_Type_contiguous(triples, triple, &type);
    else
        MPI_Type_contiguous(3 * triples, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&wide);
    MPI_Type_free(&three);
    MPI_Type_free(&triple);
    return type;
}

/* The same type map on all ranks, made in different ways. */
static void made_differently(int root)
{
    enum { TRIPLES = 60 };
    static const MPI_Count counts[] = {1, 50, 300, 5000};

    for (int i = 0; i < 4; i++) {
        struct nc_numbers affine = nc_kinds[NC_KIND_AFFINE], product = nc_kinds[NC_KIND_PRODUCT];
        affine.name = "affine, made differently";
        affine.type = two_ints(0);
        product.name = i % 2 ? "product, made differently" : "product, backwards";
        product.pairs = 2;
        product.extent = 2 * sizeof(int);
        product.type = two_ints(i % 2 ? 0 : sizeof(int));
        try("made differently", &affine, counts[(root + i) % 4], root, i % 2);
        try("made differently", &product, counts[(root + i) % 4], root, i / 2);
        MPI_Type_free(&affine.type);
        MPI_Type_free(&product.type);
        product.name = "product of many, made differently";
        product.pairs = 3 * TRIPLES;
        product.extent = 3 * TRIPLES * sizeof(int);
        product.type = many_ints(TRIPLES);
        try("made differently", &product, 1 + (root + i) % 4, root, i / 2);
        MPI_Type_free(&product.type);
    }
}

/* Operations that write into their first operand, which is in shared memory or in a user's buffer,
 * where other ranks read it, too. Not scans: MPICH's own need operands that stay as they are. */
static void spoilt(int root)
{
    static const int kinds[] = {NC_KIND_PRODUCT, NC_KIND_AFFINE, NC_KIND_AFFINE_GAPS};
    static const MPI_Count counts[] = {1, 40, 3000, 40000};

    nc_spoils = 1;
    for (int i = 0; i < 12; i++)
        try("spoilt", &nc_kinds[kinds[(i + root) % 3]], counts[i / 3], root, i % 2);
    nc_spoils = 0;
}

/* ---- elements that overlap in memory: columns of a matrix ---- */

enum { SIDE = 4 };

/* The user's operation: a column is two pairs, which are maps to be composed (nc_compose). */
static void compose_columns(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int row = SIDE * (int) sizeof(int);

    (void) type;
    for (int column = 0; column < *n; column++) {
        char *a = (char *) in + column * (int) sizeof(int),
             *b = (char *) inout + column * (int) sizeof(int);
        nc_compose(a, b, 0, row);
        nc_compose(a, b, 2 * row, 3 * row);
    }
}

static void fill_columns(int matrix[SIDE * SIDE], int seed, int rank)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        matrix[i] = (int) (nc_mixed((uint32_t) (seed * 64 + rank), (uint32_t) i) % NC_MODULUS);
}

/* Checks the result: its first columns are those from `first` on, reduced of the first `ranks`
 * ranks, the others must be as before. */
static void expect_columns(const int result[SIDE * SIDE], int first, int columns, int seed,
                           int ranks)
{
    int expected[SIDE * SIDE], other[SIDE * SIDE];

    fill_columns(expected, seed, ranks - 1);
    for (int rank = ranks - 2; rank >= 0; rank--) {
        fill_columns(other, seed, rank);
        compose_columns(other, expected, &(int){SIDE}, NULL);
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (result[i] != (i % SIDE < columns ? expected[i + first] : -1))
            nc_fail_now("wrong number of a matrix", i, result[i]);
    }
}

static void columns(int root)
{
    MPI_Datatype raw, column;
    MPI_Op op;

    MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Op_create(compose_columns, 0, &op);
    for (int n = 1; n <= SIDE; n += SIDE - 1) {
        for (int i = 0; i < NC_REDUCERS; i++) {
            int matrix[SIDE * SIDE], result[SIDE * SIDE];
            struct nc_numbers kind = {.type = column, .op = op};
            struct nc_reduction r = {.how = &nc_reducers[i],
                                     .comm = MPI_COMM_WORLD,
                                     .root = root,
                                     .kind = &kind,
                                     .count = n};
            nc_say("columns: %d of them, %s, root %d", n, nc_reducer_name(&r), root);
            MPI_Count first, mine;
            fill_columns(matrix, number, nc_rank);
            memset(result, -1, sizeof result);
            nc_divide(&r, number);
            mine = nc_result_of(&r, nc_rank, &first);
            nc_call_reduce(&r, matrix, result);
            expect_columns(result, (int) first, (int) mine, number,
                           nc_joined(&r, nc_rank, nc_size));
            number++;
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&column);
    MPI_Type_free(&raw);
}

/* ---- bits of floating-point sums, which depend on the order ---- */

static void fill_real(void *data, int is_double, int n, int seed)
{
    for (int i = 0; i < n; i++) {
        uint32_t x = nc_mixed((uint32_t) (seed * 64 + nc_rank), (uint32_t) i);
        double value = ((double) x - 2e9) * (x % 3 == 0 ? 1e-7 : x % 3 == 1 ? 1 : 1e5);
        if (is_double)
            ((double *) data)[i] = value;
        else
            ((float *) data)[i] = (float) value;
    }
}

static void expect_same(const void *a, const void *b, size_t bytes, int rank)
{
    if (memcmp(a, b, bytes))
        nc_fail_now("other bits: rank", rank, (long) bytes);
}

/* Checks that all ranks have the bits of rank 0. */
static void compare_ranks(const void *mine, void *other, int bytes)
{
    if (nc_rank)
        MPI_Send(mine, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    for (int r = 1; r < nc_size && nc_rank == 0; r++) {
        MPI_Recv(other, bytes, MPI_BYTE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_same(mine, other, (size_t) bytes, r);
    }
}

/* Reduces the same operands three times, the second time with a late rank, the last time in place:
 * the bits must be the same, and in an allreduce the same on all ranks. */
static void same_bits(const struct nc_reducer *how, int is_double, int n, int root, int seed)
{
    MPI_Datatype type = is_double ? MPI_DOUBLE : MPI_FLOAT;
    struct nc_numbers kind = {.type = type, .op = MPI_SUM};
    struct nc_reduction r = {
        .how = how, .comm = MPI_COMM_WORLD, .root = root, .kind = &kind, .count = n};
    size_t number = is_double ? sizeof(double) : sizeof(float), bytes = (size_t) n * number;
    MPI_Count start;
    void *from = malloc(bytes), *first = calloc(1, bytes), *again = calloc(1, bytes);

    nc_say("same bits: %s of %d %s, root %d", nc_reducer_name(&r), n,
           is_double ? "doubles" : "floats", root);
    fill_real(from, is_double, n, seed);
    nc_divide(&r, seed);
    nc_call_reduce(&r, from, first);
    if (nc_rank == seed % nc_size)
        for (double until = MPI_Wtime() + 2e-4; MPI_Wtime() < until;)
            ;
    nc_call_reduce(&r, from, again);
    expect_same(first, again, bytes, nc_rank);
    memcpy(again, from, bytes);
    nc_call_reduce(&r, nc_gets(&r, nc_rank) ? MPI_IN_PLACE : from, again);
    expect_same(first, again, (size_t) nc_result_of(&r, nc_rank, &start) * number, nc_rank);
    if (!how->has_root && how->share == NC_ALL && how->joined == NC_OF_ALL)
        compare_ranks(first, again, (int) bytes);
    free(from);
    free(first);
    free(again);
}

static void bits(int root)
{
    static const int counts[] = {1, 45, 91, 3000, 9001};

    for (int i = root % 2; i < 5; i += 2) {
        for (int how = 0; how < NC_REDUCERS; how++)
            same_bits(&nc_reducers[how], (root / 2 + i) % 2, counts[i], root, root + i);
    }
}

/* ---- the table and the program ---- */

static const struct corner corners[] = {{"every_kind", every_kind, 0},
                                        {"in_place", in_place, 0},
                                        {"few", few, 0},
                                        {"sizes", sizes, 0},
                                        {"large_elements", large_elements, 0},
                                        {"nothing", nothing, 0},
                                        {"made_differently", made_differently, 0},
                                        {"spoilt", spoilt, 0},
                                        {"columns", columns, 0},
                                        {"bits", bits, 0}};

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    nc_kinds_make();
    run_corners(corners, sizeof corners / sizeof *corners, argc > 1 ? argv[1] : NULL);
    nc_kinds_free();
    return nc_finish();
}
