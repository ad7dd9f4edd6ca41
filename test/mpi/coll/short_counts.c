/* Tests that a short call with a count for each rank allocates nothing, at any rank: MPICH's arrays
 * of counts lie on the stack (numacoll_counts.h). A call that waits long may allocate in MPICH's
 * progress engine, so one of many calls without malloc is enough. */

#include "nctest.h"

enum { CALLS = 200, RANKS = 64 };

static _Thread_local long mallocs;
static int sent[RANKS], received[RANKS], counts[RANKS], displs[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];

extern void *__libc_malloc(size_t bytes);

/* In place of the C library's, for MPICH, too. */
void *malloc(size_t n)
{
    mallocs++;
    return __libc_malloc(n);
}

static void call(int collective, int root)
{
    switch (collective) {
        case NC_SCATTERV:
            MPI_Scatterv(sent, counts, displs, MPI_INT, received, 1, MPI_INT, root, MPI_COMM_WORLD);
            break;
        case NC_GATHERV:
            MPI_Gatherv(sent, 1, MPI_INT, received, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
            break;
        case NC_ALLGATHERV:
            MPI_Allgatherv(sent, 1, MPI_INT, received, counts, displs, MPI_INT, MPI_COMM_WORLD);
            break;
        case NC_ALLTOALLV:
            MPI_Alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT,
                          MPI_COMM_WORLD);
            break;
        case NC_ALLTOALLW:
            MPI_Alltoallw(sent, counts, bytes, types, received, counts, bytes, types,
                          MPI_COMM_WORLD);
            break;
        case NC_REDUCE_SCATTER:
            MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            break;
    }
}

int main(int argc, char **argv)
{
    static const int with_counts[] = {NC_SCATTERV,  NC_GATHERV,   NC_ALLGATHERV,
                                      NC_ALLTOALLV, NC_ALLTOALLW, NC_REDUCE_SCATTER};

    nc_init(&argc, &argv);
    for (int i = 0; i < RANKS; i++) {
        counts[i] = 1;
        displs[i] = i;
        bytes[i] = i * (int) sizeof(int);
        types[i] = MPI_INT;
    }
    for (size_t c = 0; c < sizeof with_counts / sizeof *with_counts; c++) {
        int without[2] = {0, 0}; /* as a rank like others, as the root */
        for (int i = 0; i < CALLS; i++) {
            int root = i % nc_size;
            long before = mallocs;
            nc_count(with_counts[c], MPI_COMM_WORLD);
            call(with_counts[c], root);
            without[root == nc_rank] += mallocs == before;
        }
        for (int is_root = 0; is_root < 2; is_root++) {
            if (without[is_root] == 0)
                nc_fail("every call allocated: collective, as root", with_counts[c], is_root);
        }
    }
    if (mallocs == 0)
        nc_fail("no malloc was seen at all", 0, 0);
    return nc_finish();
}
