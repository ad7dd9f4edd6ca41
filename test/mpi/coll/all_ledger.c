/* Measures how many bytes cross between NUMA nodes in a collective of 1 MB: the sum over all ranks
 * of numacoll_copied_remote_bytes, for every root. Rank 0 prints `remote LOWEST HIGHEST`, in bytes,
 * over all roots; and `busiest HIGHEST`, what one rank has copied to and from shared memory at
 * most. test/mpi/topology and test/numa know what they must be.
 *
 *   all_ledger bcast|allgather|reduce|allreduce|alltoall|reduce_scatter_block|scan|exscan [STEP]
 *
 * The roots are 0, STEP, 2 STEP, .. */
#include "nctest.h"

enum { M = 1 << 20, INTS = M / (int) sizeof(int) };

static void check(const unsigned char *buffer, int seed)
{
    for (size_t i = 0; i < M; i++)
        nc_errors += buffer[i] != nc_byte(i, seed);
}

static void broadcast(unsigned char *buffer, int root)
{
    for (size_t i = 0; i < M; i++)
        buffer[i] = nc_rank == root ? nc_byte(i, root) : 0;
    nc_bcast(buffer, M, MPI_BYTE, root, MPI_COMM_WORLD);
    check(buffer, root);
}

/* Blocks of M / ranks bytes; the rest of the buffer has its data already. */
static void allgather(unsigned char *buffer, int call)
{
    size_t block = (size_t) (M / nc_size), mine = block * (size_t) nc_rank;

    for (size_t i = 0; i < M; i++)
        buffer[i] = (i >= mine && i < mine + block) || i >= block * (size_t) nc_size
                        ? nc_byte(i, call)
                        : 0;
    nc_count(NC_ALLGATHER, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, (int) block, MPI_BYTE,
                  MPI_COMM_WORLD);
    check(buffer, call);
}

/* Blocks of M / ranks bytes, in place. */
static void alltoall(unsigned char *buffer, int call)
{
    size_t block = (size_t) (M / nc_size);

    for (size_t i = 0; i < M; i++)
        buffer[i] = nc_byte(i % block, call + nc_rank * nc_size + (int) (i / block));
    nc_count(NC_ALLTOALL, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, (int) block, MPI_BYTE, MPI_COMM_WORLD);
    for (size_t i = 0; i < block * (size_t) nc_size; i++)
        nc_errors += buffer[i] != nc_byte(i % block, call + (int) (i / block) * nc_size + nc_rank);
}

/* A sum of ints: element i of rank r is i + r. root -1: allreduce. */
static void combine(unsigned char *buffer, int root)
{
    int *mine = malloc(M), *all = (int *) (void *) buffer;

    for (int i = 0; i < INTS; i++)
        mine[i] = i + nc_rank;
    memset(buffer, 0, M);
    nc_count(root < 0 ? NC_ALLREDUCE : NC_REDUCE, MPI_COMM_WORLD);
    if (root < 0)
        MPI_Allreduce(mine, all, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce(mine, all, INTS, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; (root < 0 || root == nc_rank) && i < INTS; i++)
        nc_errors += all[i] != nc_size * i + nc_size * (nc_size - 1) / 2;
    free(mine);
}

static void reduce(unsigned char *buffer, int root)
{
    combine(buffer, root);
}

static void allreduce(unsigned char *buffer, int call)
{
    (void) call;
    combine(buffer, -1);
}

/* The vector has 1 MB; each rank gets a block of it. */
static void reduce_scatter_block(unsigned char *buffer, int call)
{
    int *mine = malloc(M), *sums = (int *) (void *) buffer, block = INTS / nc_size;

    for (int i = 0; i < INTS; i++)
        mine[i] = i + nc_rank + call;
    memset(buffer, 0, M);
    nc_count(NC_REDUCE_SCATTER_BLOCK, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(mine, sums, block, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < block; i++)
        nc_errors += sums[i] !=
                     nc_size * (nc_rank * block + i + call) + nc_size * (nc_size - 1) / 2;
    free(mine);
}

/* A sum of the ranks up to this one, or, if `call` is negative, of those before it: of ints as
 * above. */
static void scan(unsigned char *buffer, int call)
{
    int *all = (int *) (void *) buffer, ranks = nc_rank + (call >= 0);

    for (int i = 0; i < INTS; i++)
        all[i] = i + nc_rank;
    nc_count(call < 0 ? NC_EXSCAN : NC_SCAN, MPI_COMM_WORLD);
    if (call < 0)
        MPI_Exscan(MPI_IN_PLACE, all, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Scan(MPI_IN_PLACE, all, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; ranks > 0 && i < INTS; i++)
        nc_errors += all[i] != ranks * i + ranks * (ranks - 1) / 2;
}

static void exscan(unsigned char *buffer, int call)
{
    scan(buffer, -1 - call);
}

/* The highest of all ranks, on rank 0 only; by messages, as nc_sum does. */
static unsigned long long most(unsigned long long mine)
{
    unsigned long long highest = mine, other;

    if (nc_rank)
        MPI_Send(&mine, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    for (int r = 1; r < nc_size && nc_rank == 0; r++) {
        MPI_Recv(&other, 1, MPI_UNSIGNED_LONG_LONG, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        highest = other > highest ? other : highest;
    }
    return highest;
}

static const struct {
    const char *name;
    void (*call)(unsigned char *buffer, int root);
} calls[] = {{"bcast", broadcast},   {"allgather", allgather},
             {"reduce", reduce},     {"allreduce", allreduce},
             {"alltoall", alltoall}, {"reduce_scatter_block", reduce_scatter_block},
             {"scan", scan},         {"exscan", exscan}};

int main(int argc, char **argv)
{
    unsigned char *buffer = malloc(M);
    unsigned long long low = ~0ull, high = 0, busiest = 0;
    struct nc_pvar remote, local;
    int warm = 0, step = argc > 2 ? atoi(argv[2]) : 1;
    size_t which = 0;

    nc_init(&argc, &argv);
    while (argc > 1 && which < sizeof calls / sizeof *calls - 1 &&
           strcmp(argv[1], calls[which].name))
        which++;
    nc_bcast(&warm, 1, MPI_INT, 0, MPI_COMM_WORLD);
    nc_pvar_open(&remote, "numacoll_copied_remote_bytes");
    nc_pvar_open(&local, "numacoll_copied_local_bytes");
    for (int root = 0; root < nc_size; root += step) {
        unsigned long long before = nc_pvar_read(&remote), own = nc_pvar_read(&local), all, one;
        calls[which].call(buffer, root);
        all = nc_sum(nc_pvar_read(&remote) - before);
        one = most(nc_pvar_read(&remote) - before + nc_pvar_read(&local) - own);
        busiest = one > busiest ? one : busiest;
        low = all < low ? all : low;
        high = all > high ? all : high;
    }
    if (nc_rank == 0)
        printf("remote %llu %llu\nbusiest %llu\n", low, high, busiest);
    free(buffer);
    return nc_finish();
}
