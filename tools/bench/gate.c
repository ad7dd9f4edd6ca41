/* The barrier between the calls that are timed. On one node: counters in a shared window, and a
 * common moment to start, so that no rank's call is timed while other ranks still leave the
 * barrier. The rank that arrives last sets it, so long ahead (the start window) as ranks need to
 * see it, which is measured. On several nodes: a dissemination barrier of messages. */

#include "bench.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { TRIALS = 100 };

/* Seconds. If ranks need longer to see a start, or outnumber processors, they do not all run at
 * once. */
#define LEAST_WINDOW 1e-6
#define MOST_WINDOW  50e-6

/* Each rank adds to `arrived`. The last one writes `released` and `start`, then `round`; the others
 * read in reverse order, all before they arrive again. */
struct shared {
    _Atomic uint64_t arrived;
    char apart[120];
    _Atomic uint64_t round;
    _Atomic double released, start;
};

static MPI_Comm comm;
static MPI_Win window = MPI_WIN_NULL;
static struct shared *shared;
static uint64_t my_round;
static int rank, size;
static double ahead;   /* seconds: the start window */
static bool judged;    /* whether ranks that see a start after it are late */
static double seen_at; /* when this rank saw the last start */

double gate_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Allocates what the ranks of a node share. Returns what is wrong, or NULL. */
static const char *share(MPI_Comm node)
{
    struct shared *own;
    MPI_Aint bytes;
    int unit;

    if (MPI_Win_allocate_shared(rank == 0 ? sizeof *own : 0, 1, MPI_INFO_NULL, node, &own,
                                &window) ||
        MPI_Win_shared_query(window, 0, &bytes, &unit, &shared))
        return "no shared memory for the barrier before each call (MPI_Win_allocate_shared fails): "
               "is /dev/shm full?";
    if (rank == 0) {
        atomic_store(&shared->arrived, 0);
        atomic_store(&shared->round, 0);
    }
    return NULL;
}

bool gate_init(MPI_Comm over)
{
    MPI_Comm node;
    int node_size;
    bool good = true;

    MPI_Comm_dup(over, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &node_size);
    if (node_size == size)
        good = all_well(comm, share(node));
    if (!good)
        window = MPI_WIN_NULL; /* to free it takes all ranks */
    ahead = LEAST_WINDOW;
    judged = false;
    MPI_Comm_free(&node);
    return good;
}

static double pass_shared(void)
{
    uint64_t round = ++my_round;
    double start;

    if (atomic_fetch_add(&shared->arrived, 1) + 1 == round * (uint64_t) size) {
        double now = gate_now();
        atomic_store(&shared->released, now);
        atomic_store(&shared->start, now + ahead);
        atomic_store(&shared->round, round);
    }
    for (int spins = 0; atomic_load(&shared->round) < round; spins++) {
        if (spins > 200)
            sched_yield();
    }
    seen_at = gate_now();
    start = atomic_load(&shared->start);
    while (gate_now() < start)
        ;
    return start;
}

void gate_calibrate(void)
{
    double needed[TRIALS], most[TRIALS], twice;

    if (!shared)
        return;
    for (int i = 0; i < TRIALS; i++) {
        pass_shared();
        needed[i] = seen_at - atomic_load(&shared->released);
    }
    MPI_Reduce(needed, most, TRIALS, MPI_DOUBLE, MPI_MAX, 0, comm);
    twice = rank == 0 ? 2 * order_quantile(most, TRIALS, 0.95) : 0;
    MPI_Bcast(&twice, 1, MPI_DOUBLE, 0, comm);
    judged = twice <= MOST_WINDOW && size <= machine_get()->processors;
    ahead = judged && twice > LEAST_WINDOW ? twice : LEAST_WINDOW;
}

double gate_window(void)
{
    return judged ? ahead : 0;
}

bool gate_late(double arrival)
{
    return judged && seen_at > arrival;
}

static double pass_messages(void)
{
    char token = 0;

    for (int distance = 1; distance < size; distance *= 2)
        MPI_Sendrecv(&token, 1, MPI_CHAR, (rank + distance) % size, 0, &token, 1, MPI_CHAR,
                     (rank - distance + size) % size, 0, comm, MPI_STATUS_IGNORE);
    return gate_now();
}

double gate_pass(void)
{
    return shared ? pass_shared() : pass_messages();
}

bool gate_common_start(void)
{
    return shared;
}

void gate_finish(void)
{
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    shared = NULL;
    my_round = 0;
    MPI_Comm_free(&comm);
}
