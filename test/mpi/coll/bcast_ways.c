/* Makes as many broadcasts of 4 bytes as of 1 MB, with other roots than rank 0 if there are others,
 * for the scripts of test/mpi, which choose how they are served. At the end rank 0 prints the
 * performance variables that counted something: pvar NAME VALUE; and what all ranks have copied
 * without the queue: all NAME SUM.
 *
 *   bcast_ways [KEY VALUE]     on a communicator with this info key */
#include "nctest.h"

enum { SMALL = 4, LARGE = 1 << 20, TIMES = 6 };

static void round_of(unsigned char *buffer, size_t m, int root, int seed, MPI_Comm comm)
{
    for (size_t i = 0; i < m; i++)
        buffer[i] = nc_rank == root ? nc_byte(i, seed) : 0;
    nc_bcast(buffer, (int) m, MPI_BYTE, root, comm);
    for (size_t i = 0; i < m; i++) {
        if (buffer[i] != nc_byte(i, seed)) {
            nc_fail("wrong byte", (long) i, seed);
            return;
        }
    }
}

/* No collective: those are counted. */
static void print_sum(struct nc_pvar *pvar, const char *name)
{
    unsigned long long sum = nc_pvar_read(pvar), other;

    if (nc_rank > 0)
        MPI_Send(&sum, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    for (int r = 1; nc_rank == 0 && r < nc_size; r++, sum += other)
        MPI_Recv(&other, 1, MPI_UNSIGNED_LONG_LONG, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (nc_rank == 0)
        printf("all %s %llu\n", name, sum);
}

int main(int argc, char **argv)
{
    unsigned char *buffer;
    enum { WAYS = 3 };
    static const char *const copied_name[WAYS] = {
        "numacoll_copied_shared_bytes", "numacoll_copied_cma_bytes", "numacoll_copied_xpmem_bytes"};
    static struct nc_pvar all[256], copied[WAYS];
    MPI_Comm comm;
    int pvars;

    nc_init(&argc, &argv);
    MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &buffer);
    comm = nc_comm_with(argc, argv);
    pvars = nc_pvars_open(all, 256);
    for (int i = 0; i < WAYS; i++)
        nc_pvar_open(&copied[i], copied_name[i]);
    for (int i = 0; i < TIMES; i++) {
        int root = nc_size > 1 ? 1 + i % (nc_size - 1) : 0;
        round_of(buffer, SMALL, root, i, comm);
        round_of(buffer, LARGE, root, i + 100, comm);
    }
    nc_pvars_print(all, pvars);
    for (int i = 0; i < WAYS; i++)
        print_sum(&copied[i], copied_name[i]);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Free_mem(buffer);
    return nc_finish();
}
