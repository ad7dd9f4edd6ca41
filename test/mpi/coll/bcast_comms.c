/* Tests Bcast on communicators of every kind: split, reversed, made and freed many times, many at a
 * time, intercommunicators, and one that is never freed; and with messages under way that need the
 * progress of a rank that waits in MPI_Bcast. */

#include "nctest.h"

static void try(MPI_Comm comm, int m, int root, int seed)
{
    unsigned char *buffer = calloc(1, (size_t) m + 1);
    int rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; rank == root && i < m; i++)
        buffer[i] = nc_byte((size_t) i, seed);
    nc_bcast(buffer, m, MPI_BYTE, root, comm);
    for (int i = 0; i < m; i++) {
        if (buffer[i] != nc_byte((size_t) i, seed)) {
            nc_fail("wrong byte", i, m);
            break;
        }
    }
    free(buffer);
}

static void all_roots(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        try(comm, 4, root, root);
        try(comm, 30000, root, root + 1);
    }
}

static void made_and_freed(int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        try(comm, 5000, i % nc_size, i);
        try(comm, 5000, i % nc_size, i);
        MPI_Comm_free(&comm);
    }
}

static void many_at_once(void)
{
    enum { MANY = 20 };
    MPI_Comm comm[MANY];

    for (int i = 0; i < MANY; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++)
            try(comm[i], 1000 * i, (i + round) % nc_size, i);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&comm[i]);
}

static void inter(void)
{
    MPI_Comm half, between;
    int color = nc_rank % 2, x = 0, root;
    struct nc_pvar inside[NC_COLLECTIVE_COUNT];

    if (nc_size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, color, nc_rank, &half);
    nc_inside_begins(inside); /* broadcasts on the local communicator */
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 7, &between);
    nc_inside_ends(inside);
    root = color ? 0 : nc_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (nc_rank == 0)
        x = 99;
    nc_bcast(&x, 1, MPI_INT, root, between);
    if (color && x != 99)
        nc_fail("intercommunicator", x, 99);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* A rendezvous message is under way that completes only by the receiver's progress inside
 * MPI_Bcast. */
static void outstanding(void)
{
    enum { LARGE = 1 << 20 };
    char *out = malloc(LARGE), *in = malloc(LARGE);
    MPI_Request request[2];

    memset(out, nc_rank, LARGE);
    for (int i = 0; i < 10; i++) {
        MPI_Irecv(in, LARGE, MPI_BYTE, (nc_rank + nc_size - 1) % nc_size, i, MPI_COMM_WORLD,
                  &request[0]);
        MPI_Isend(out, LARGE, MPI_BYTE, (nc_rank + 1) % nc_size, i, MPI_COMM_WORLD, &request[1]);
        /* the root broadcasts only after its messages are complete: the other ranks, which wait in
         * MPI_Bcast already, must make progress on them */
        if (nc_rank == i % nc_size)
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        try(MPI_COMM_WORLD, 100000, i % nc_size, i);
        if (nc_rank != i % nc_size)
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        if (in[LARGE - 1] != (nc_rank + nc_size - 1) % nc_size)
            nc_fail("message", in[LARGE - 1], nc_rank);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    nc_init(&argc, &argv);
    all_roots(MPI_COMM_WORLD);
    all_roots(MPI_COMM_SELF);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, nc_rank, &comm);
    all_roots(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comm);
    all_roots(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank == 0 ? MPI_UNDEFINED : 0, nc_rank, &comm);
    if (comm != MPI_COMM_NULL) {
        all_roots(comm);
        MPI_Comm_free(&comm);
    }
    made_and_freed(30);
    many_at_once();
    inter();
    outstanding();
    /* not freed: MPI_Finalize has to free its state */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_roots(comm);
    return nc_finish();
}
