/* Tests that a rank which waits in a collective, or does not come to one, holds up nobody else:
 *   - it takes other ranks' synchronous messages, whose receives it has begun (operations on its
 *     window would show nothing: here MPICH makes them without the target),
 *   - its other thread goes on (MPI_THREAD_MULTIPLE),
 *   - of a scatter and a gather all but the late rank are through before it comes.
 * The first two are compared with the same rank waiting in MPI_Recv, where MPICH alone decides. On
 * few processors that shows only gross mistakes; how often a wait looks after MPICH is counted in
 * test/shm/test_node.c, polls_often. */

#define _GNU_SOURCE
#include "nctest.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum {
    TAG_LATE = 1,
    TAG_PING,
    TAG_MESSAGE,
    MESSAGES = 500,
    BLOCK = 1 << 20,
    ATTEMPTS = 5,
    WORSE = 4
};

static const double LATE = 1, MEASURED = 0.2, SOON = 0.1; /* seconds */
/* Where ranks outnumber processors a wait in a collective yields, and a ping-pong beside it took 33
 * us instead of 6; only what is longer can be starvation. */
static const double SLOW = 100e-6;

static MPI_Comm slow; /* ranks 0 and 2, or 0 and 1: of them the second comes late */

/* ---- ways to wait for the late one, who calls let_go ---- */

static bool by_message;

static void await(void)
{
    char c = 0;

    if (by_message)
        MPI_Recv(&c, 1, MPI_CHAR, 1, TAG_LATE, slow, MPI_STATUS_IGNORE);
    else
        nc_bcast(&c, 1, MPI_CHAR, 1, slow);
}

static void let_go(void)
{
    char c = 0;

    usleep((useconds_t) (1e6 * (2 * SOON + MEASURED)));
    if (by_message)
        MPI_Send(&c, 1, MPI_CHAR, 0, TAG_LATE, slow);
    else
        nc_bcast(&c, 1, MPI_CHAR, 1, slow);
}

/* ---- messages to a rank that waits: rank 1 sends them, rank 2 is late ---- */

static double seconds_of_a_message(void)
{
    double start;

    usleep((useconds_t) (1e6 * SOON));
    start = MPI_Wtime();
    for (int i = 0; i < MESSAGES; i++)
        MPI_Ssend(NULL, 0, MPI_INT, 0, TAG_MESSAGE, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / MESSAGES;
}

static double messages_to_a_waiting_rank(void)
{
    static MPI_Request request[MESSAGES];
    double took = 0;

    for (int i = 0; nc_rank == 0 && i < MESSAGES; i++)
        MPI_Irecv(NULL, 0, MPI_INT, 1, TAG_MESSAGE, MPI_COMM_WORLD, &request[i]);
    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank == 0)
        await();
    else if (nc_rank == 1)
        took = seconds_of_a_message();
    else if (nc_rank == 2)
        let_go();
    if (nc_rank == 0)
        MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    return took;
}

/* ---- a thread of rank 0 waits, another one plays ping-pong with rank 1 ---- */

static void *late_or_waiting(void *unused)
{
    if (nc_rank == 0)
        await();
    else
        let_go();
    return unused;
}

static double seconds_of_a_ping_pong(void)
{
    int go = 1, n = 0;
    double start, took = 0;

    usleep((useconds_t) (1e6 * SOON));
    for (start = MPI_Wtime(); go; n++) {
        if (nc_rank == 0) {
            took = MPI_Wtime() - start;
            go = took < MEASURED;
            MPI_Send(&go, 1, MPI_INT, 1, TAG_PING, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, 1, TAG_PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&go, 1, MPI_INT, 0, TAG_PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_INT, 0, TAG_PING, MPI_COMM_WORLD);
        }
    }
    return took / n;
}

static double other_thread(void)
{
    pthread_t thread;
    double took = 0;

    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank < 2) {
        pthread_create(&thread, NULL, late_or_waiting, NULL);
        took = seconds_of_a_ping_pong();
        pthread_join(thread, NULL);
    }
    return took;
}

/* Compares the ways to wait. `what` returns its seconds on rank `who`; the late rank is `late`. */
static void compare(const char *name, double (*what)(void), int who, int late)
{
    double message = 0, collective = 0;
    int worse = 1;

    MPI_Comm_split(MPI_COMM_WORLD, nc_rank == 0 || nc_rank == late ? 0 : MPI_UNDEFINED, nc_rank,
                   &slow);
    for (int i = 0; slow != MPI_COMM_NULL && i < 3; i++) {
        char c = 0;
        nc_bcast(&c, 1, MPI_CHAR, 1, slow); /* makes its segment */
    }
    /* something else may have run meanwhile, so one of some comparisons must be good */
    for (int i = 0; i < ATTEMPTS && worse; i++) {
        by_message = true;
        message = what();
        by_message = false;
        collective = what();
        worse = collective > WORSE * message && collective > SLOW;
        nc_bcast(&worse, 1, MPI_INT, who, MPI_COMM_WORLD);
    }
    if (nc_rank == who && worse)
        nc_fail(name, (long) (1e9 * collective), (long) (1e9 * message));
    if (nc_rank == who)
        fprintf(stderr, "# %s: %.2f us beside a collective, %.2f us beside a receive\n", name,
                1e6 * collective, 1e6 * message);
    if (slow != MPI_COMM_NULL)
        MPI_Comm_free(&slow);
}

/* ---- a late rank of a scatter and of a gather with long blocks ---- */

static void scatter(char *all, char *mine)
{
    nc_count(NC_SCATTER, MPI_COMM_WORLD);
    MPI_Scatter(all, BLOCK, MPI_CHAR, mine, BLOCK, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void gather(char *all, char *mine)
{
    nc_count(NC_GATHER, MPI_COMM_WORLD);
    MPI_Gather(mine, BLOCK, MPI_CHAR, all, BLOCK, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Rank 1, the first whom the root could wait for, comes late; the ranks above it must not wait. */
static void late_rank(const char *name, void (*call)(char *all, char *mine))
{
    char *all = calloc((size_t) nc_size, BLOCK), *mine = calloc(1, BLOCK);
    double took;

    for (int i = 0; i < 3; i++)
        call(all, mine);
    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank == 1)
        usleep((useconds_t) (1e6 * LATE));
    took = MPI_Wtime();
    call(all, mine);
    took = MPI_Wtime() - took;
    if (nc_rank > 1 && took > LATE / 2)
        nc_fail(name, nc_rank, (long) (1e3 * took));
    free(all);
    free(mine);
}

int main(int argc, char **argv)
{
    nc_init_threads(&argc, &argv);
    if (nc_size > 2)
        compare("a message to a waiting rank", messages_to_a_waiting_rank, 1, 2);
    if (nc_size > 1)
        compare("a ping-pong of another thread", other_thread, 0, 1);
    late_rank("a scatter waited for the late rank", scatter);
    late_rank("a gather waited for the late rank", gather);
    return nc_finish();
}
