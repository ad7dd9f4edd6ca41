/* all_order [key]
 * Tests REDUCE_ORDER=ranks: Reduce, Allreduce and Reduce_scatter of floating-point numbers are
 * a0 + (a1 + (a2 + ..)) bit for bit, on any machine, placement, number of nodes, and with any other
 * settings. With `key` it is not the variable, but an info key that comes after the first calls. */

#include "nctest.h"

enum { MOST = 40000 };

static double mine[MOST], sum[MOST];

/* Numbers of very different sizes, so that another order gives another sum. */
static double number(int rank, int i, int seed)
{
    unsigned x = ((unsigned) rank * 7919 + (unsigned) i * 104729 + (unsigned) seed * 1299709) *
                 2654435761u;
    double d = (double) (x >> 8) / 3;

    for (unsigned n = x % 16; n > 0; n--)
        d *= x & 64 ? 16 : 1. / 16;
    return x & 32 ? d : -d;
}

/* The sum of element i over the ranks of a communicator of `size` ranks. rank_in[r] is the number
 * in MPI_COMM_WORLD of its rank r. */
static double expected(const int *rank_in, int size, int i, int seed)
{
    volatile double d = number(rank_in[size - 1], i, seed);

    for (int r = size - 2; r >= 0; r--)
        d = number(rank_in[r], i, seed) + d;
    return d;
}

/* How many sums differ if they are taken in the other direction. */
static int differences(int n, int seed)
{
    int differ = 0;

    for (int i = 0; i < n; i++) {
        volatile double d = number(0, i, seed);
        int all[2] = {0, 1};
        for (int r = 1; r < nc_size; r++)
            d += number(r, i, seed);
        differ += nc_size > 2 && d != expected(all, 2, i, seed);
    }
    return differ;
}

/* The sums are those of elements first .. first + n - 1. */
static void compare(const char *what, const int *rank_in, int size, int first, int n, int seed)
{
    for (int i = 0; i < n; i++) {
        double right = expected(rank_in, size, first + i, seed);
        if (memcmp(&sum[i], &right, sizeof right)) {
            nc_fail(what, i, n);
            return;
        }
    }
}

static void try(MPI_Comm comm, int n, int seed)
{
    int rank, size, rank_in[256], counts[256];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allgather(&nc_rank, 1, MPI_INT, rank_in, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        mine[i] = number(nc_rank, i, seed);
    nc_count(NC_ALLREDUCE, comm);
    MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, comm);
    compare("another sum from Allreduce", rank_in, size, 0, n, seed);
    for (int root = 0; root < size; root++) {
        memcpy(sum, mine, (size_t) n * sizeof *sum);
        nc_count(NC_REDUCE, comm);
        if (rank == root)
            MPI_Reduce(MPI_IN_PLACE, sum, n, MPI_DOUBLE, MPI_SUM, root, comm);
        else
            MPI_Reduce(mine, NULL, n, MPI_DOUBLE, MPI_SUM, root, comm);
        if (rank == root)
            compare("another sum from Reduce", rank_in, size, 0, n, seed);
    }
    for (int i = 0; i < size; i++)
        counts[i] = n * (i + 1) / size - n * i / size;
    nc_count(NC_REDUCE_SCATTER, comm);
    MPI_Reduce_scatter(mine, sum, counts, MPI_DOUBLE, MPI_SUM, comm);
    compare("another sum from Reduce_scatter", rank_in, size, n * rank / size, counts[rank], seed);
}

/* Asks for the order on a communicator that is used already. */
static void ask_late(MPI_Comm comm)
{
    MPI_Info info;

    for (int i = 0; i < 20; i++) {
        nc_count(NC_ALLREDUCE, comm);
        MPI_Allreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "numacoll_reduce_order", "ranks");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 5, 44, 45, 600, 5000, MOST};
    MPI_Comm reverse, half;

    nc_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &reverse);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, nc_rank, &half);
    if (argc > 1) {
        ask_late(MPI_COMM_WORLD);
        ask_late(reverse);
        ask_late(half);
    }
    for (int i = 0; i < (int) (sizeof lengths / sizeof *lengths); i++) {
        try(MPI_COMM_WORLD, lengths[i], 3 * i);
        try(reverse, lengths[i], 3 * i + 1);
        try(half, lengths[i], 3 * i + 2);
    }
    if (nc_size > 2 && differences(600, 0) == 0)
        nc_fail("the numbers give the same sum in any order", nc_size, 0);
    MPI_Comm_free(&reverse);
    MPI_Comm_free(&half);
    return nc_finish();
}
