/* Tests progress: large messages are under way during barriers and broadcasts, and can complete
 * only if a rank that waits in a collective calls MPICH's progress. */

#include "nctest.h"

enum { LARGE = 1 << 20, SMALL = 8, ROUNDS = 40 };

static void check(const unsigned char *data, size_t n, int seed)
{
    for (size_t i = 0; i < n; i += 997) {
        if (data[i] != nc_byte(i, seed)) {
            nc_fail("wrong byte", (long) i, seed);
            return;
        }
    }
}

static void fill(unsigned char *data, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        data[i] = nc_byte(i, seed);
}

/* The receiver has posted a receive and waits in the barrier. The sender enters the barrier only
 * after its synchronous send, which ends when the receiver's progress has matched it. */
static void send_to_one_in_the_barrier(int round, unsigned char *data, unsigned char *other)
{
    int sender = round % nc_size, receiver = (sender + 1) % nc_size;
    MPI_Request request;

    if (nc_rank == receiver)
        MPI_Irecv(other, LARGE, MPI_BYTE, sender, round, MPI_COMM_WORLD, &request);
    if (nc_rank == sender) {
        fill(data, LARGE, round);
        MPI_Ssend(data, LARGE, MPI_BYTE, receiver, round, MPI_COMM_WORLD);
    }
    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank == receiver) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(other, LARGE, round);
    }
}

/* Each rank sends to the next: both requests are open during a barrier, a broadcast, a barrier. */
static void keep_open(int round, unsigned char *data, unsigned char *other)
{
    int next = (nc_rank + 1) % nc_size, before = (nc_rank + nc_size - 1) % nc_size;
    unsigned char x[SMALL];
    MPI_Request request[2];

    fill(data, LARGE, nc_rank + round);
    MPI_Irecv(other, LARGE, MPI_BYTE, before, round, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(data, LARGE, MPI_BYTE, next, round, MPI_COMM_WORLD, &request[1]);
    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank == round % nc_size)
        fill(x, SMALL, round);
    nc_bcast(x, SMALL, MPI_BYTE, round % nc_size, MPI_COMM_WORLD);
    check(x, SMALL, round);
    nc_barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    check(other, LARGE, before + round);
}

int main(int argc, char **argv)
{
    unsigned char *data = malloc(LARGE), *other = malloc(LARGE);

    nc_init(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        if (nc_size > 1)
            send_to_one_in_the_barrier(round, data, other);
        keep_open(round, data, other);
    }
    free(data);
    free(other);
    return nc_finish();
}
