/* Tests a program: a Fourier transform of a square of complex numbers, whose rows the ranks share
 * out. Rows are transformed where they are, transposed by Alltoallv, alternately in place, and
 * transformed again; Allreduce compares the sum of squares with that before (Parseval), and finds
 * the largest difference from a transform that each rank makes alone. A side that is no multiple of
 * the number of ranks, or less, makes counts that differ, or are 0. */

#include "nctest.h"

#include <complex.h>
#include <math.h>

enum { LARGEST = 61 }; /* numbers in a row */

static const double PI = 3.14159265358979323846;

/* The rows of a rank: first .. first + n - 1 of a square of `side` rows. */
struct part {
    int first, n;
};

static struct part part_of(int side, int rank)
{
    int first = rank * side / nc_size;

    return (struct part){first, (rank + 1) * side / nc_size - first};
}

static double complex number_at(int side, int row, int column)
{
    return (double) (row * 7 % side + column * column % 5) + I * (double) ((row + 3 * column) % 11);
}

/* The discrete Fourier transform of n numbers, by its definition. */
static void transform(double complex *numbers, int n)
{
    double complex result[LARGEST];

    for (int k = 0; k < n; k++) {
        result[k] = 0;
        for (int j = 0; j < n; j++)
            result[k] += numbers[j] * cexp(-2 * PI * I * (double) (j * k % n) / n);
    }
    memcpy(numbers, result, (size_t) n * sizeof *numbers);
}

/* ---- in parallel ---- */

/* What this rank has: its rows, and a block for each rank on the way, in the order of ranks. Counts
 * and displacements are those of the blocks, in doubles. */
struct square {
    int side;
    struct part mine;
    double complex *rows, *blocks;
    int *count, *displacement;
};

static double complex *memory_of(const struct square *s)
{
    return nc_memory_alloc((size_t) (s->mine.n * s->side + 1) * sizeof(double complex));
}

static struct square square_make(int side)
{
    struct square s = {.side = side, .mine = part_of(side, nc_rank)};

    s.rows = memory_of(&s);
    s.blocks = memory_of(&s);
    s.count = malloc((size_t) nc_size * sizeof(int));
    s.displacement = malloc((size_t) nc_size * sizeof(int));
    for (int r = 0; r < nc_size; r++) {
        struct part part = part_of(side, r);
        s.count[r] = 2 * s.mine.n * part.n;
        s.displacement[r] = 2 * s.mine.n * part.first;
    }
    for (int i = 0; i < s.mine.n * side; i++)
        s.rows[i] = number_at(side, s.mine.first + i / side, i % side);
    return s;
}

static void square_free(struct square *s)
{
    nc_memory_free(s->rows);
    nc_memory_free(s->blocks);
    free(s->count);
    free(s->displacement);
}

static void transform_rows(const struct square *s)
{
    for (int row = 0; row < s->mine.n; row++)
        transform(s->rows + row * s->side, s->side);
}

/* Rows become columns. The block for a rank has, row by row, what this rank has of its columns; the
 * block of a rank has its rows' part of ours. Both have the same length, so it may be in place. */
static void transpose(struct square *s, int in_place)
{
    double complex *to = s->blocks;

    for (int r = 0; r < nc_size; r++) {
        struct part part = part_of(s->side, r);
        for (int row = 0; row < s->mine.n; row++) {
            memcpy(to, s->rows + row * s->side + part.first, (size_t) part.n * sizeof *to);
            to += part.n;
        }
    }
    nc_count(NC_ALLTOALLV, MPI_COMM_WORLD);
    MPI_Alltoallv(in_place ? MPI_IN_PLACE : s->blocks, s->count, s->displacement, MPI_DOUBLE,
                  in_place ? s->blocks : s->rows, s->count, s->displacement, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    if (!in_place)
        memcpy(s->blocks, s->rows, (size_t) (s->mine.n * s->side) * sizeof *to);
    to = s->blocks;
    for (int r = 0; r < nc_size; r++) {
        struct part part = part_of(s->side, r);
        for (int column = 0; column < part.n; column++) {
            for (int row = 0; row < s->mine.n; row++)
                s->rows[row * s->side + part.first + column] = *to++;
        }
    }
}

static double of_all(double mine, MPI_Op op)
{
    double all;

    nc_count(NC_ALLREDUCE, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

static double squares(const struct square *s)
{
    double sum = 0;

    for (int i = 0; i < s->mine.n * s->side; i++)
        sum += pow(cabs(s->rows[i]), 2);
    return of_all(sum, MPI_SUM);
}

/* ---- alone ---- */

/* The transform of the whole square, transposed. */
static void transform_alone(double complex *all, int side)
{
    for (int row = 0; row < side; row++) {
        double complex numbers[LARGEST];
        for (int column = 0; column < side; column++)
            numbers[column] = number_at(side, row, column);
        transform(numbers, side);
        for (int column = 0; column < side; column++)
            all[column * side + row] = numbers[column];
    }
    for (int row = 0; row < side; row++)
        transform(all + row * side, side);
}

static double largest_difference(const struct square *s)
{
    static double complex all[LARGEST * LARGEST];
    double most = 0;

    transform_alone(all, s->side);
    for (int i = 0; i < s->mine.n * s->side; i++)
        most = fmax(most, cabs(s->rows[i] - all[s->mine.first * s->side + i]));
    return of_all(most, MPI_MAX);
}

static void check(int side, int in_place)
{
    struct square s = square_make(side);
    double before = squares(&s) * side * side, after, difference;

    transform_rows(&s);
    transpose(&s, in_place);
    transform_rows(&s);
    after = squares(&s);
    difference = largest_difference(&s);
    if (!(fabs(after - before) <= 1e-9 * before))
        nc_fail("the sum of squares has changed, side, in place", side, in_place);
    if (!(difference <= 1e-6))
        nc_fail("not the transform that one rank makes, side, in place", side, in_place);
    square_free(&s);
}

int main(int argc, char **argv)
{
    static const int sides[] = {1, 2, 5, 16, 33, LARGEST};

    nc_init(&argc, &argv);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        check(sides[i], 0);
        check(sides[i], 1);
    }
    return nc_finish();
}
