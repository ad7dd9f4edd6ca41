/* Tests that each of two ranks gives the other its block alone where both blocks are short: around
 * the length up to which they go inline, by the bytes that numacoll says it has copied. In place,
 * where longer blocks make a rank write its own into shared memory, too, and read it there. */

#include "nctest.h"

enum { LIMIT = 352 / sizeof(int), MOST = LIMIT + 3 }; /* NC_INLINE_BYTES of shm/nc_queue.h */

/* One call with blocks of n[0] and n[1] elements. */
static void try(const int n[2], int in_place, struct nc_pvar *copied)
{
    int own = n[nc_rank], first = nc_rank ? n[0] : 0, all = n[0] + n[1];
    int is_short = n[0] <= LIMIT && n[1] <= LIMIT;
    int mine[2 * MOST], other[MOST], *sum = in_place ? mine : other;
    unsigned long long bytes = nc_pvar_read(copied);

    for (int i = 0; i < all; i++)
        mine[i] = 3 * i + 1000 * nc_rank;
    nc_count(NC_REDUCE_SCATTER, MPI_COMM_WORLD);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : mine, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    bytes = nc_pvar_read(copied) - bytes;
    for (int i = 0; i < own; i++) {
        if (sum[i] != 6 * (first + i) + 1000)
            nc_fail("wrong sum, element", i, sum[i]);
    }
    if (in_place && own > 0 && (bytes == (size_t) all * sizeof(int)) != is_short)
        nc_fail("copied, of bytes", (long) bytes, all * (long) sizeof(int));
}

int main(int argc, char **argv)
{
    struct nc_pvar copied;

    nc_init(&argc, &argv);
    nc_pvar_open(&copied, "numacoll_copied_local_bytes");
    for (int n = 0; n <= MOST && nc_size == 2; n++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            try((int[]){n, n}, in_place, &copied);
            try((int[]){n, 10}, in_place, &copied);
            try((int[]){7, n}, in_place, &copied);
        }
    }
    return nc_finish();
}
