/* What nonblocking calls, and persistent ones, which are MPICH's, take beside blocking ones:
 * microseconds per call on the slowest rank, of Barrier, and of Bcast and Allreduce of 8 bytes; a
 * nonblocking call is waited for at once. The medians of ROUNDS rounds, in each of which every kind
 * of call has its turn.
 *
 *   nonblocking_time [SECONDS]     about so long, 5 by default
 *
 * Run it with MPICH as it is, with MPIR_CVAR_NUMACOLL_COLLECTIVES=all, and with =all,nonblocking.
 * It is a measurement, and in no run of the tests. */

#include "nctest.h"

enum { FORMS = 3, KINDS = 3, ROUNDS = 7 };

static const char *const forms[FORMS] = {"blocking", "nonblocking", "persistent"};
static const char *const kinds[KINDS] = {"Barrier", "Bcast", "Allreduce"};
static MPI_Request persistent[KINDS];
static double value, sum;

static void block(int kind)
{
    if (kind == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (kind == 1)
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call(int form, int kind)
{
    MPI_Request request;

    if (form == 0) {
        block(kind);
        return;
    }
    if (form == 2)
        MPI_Start(&persistent[kind]);
    else if (kind == 0)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    else if (kind == 1)
        MPI_Ibcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Iallreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(form == 2 ? &persistent[kind] : &request, MPI_STATUS_IGNORE);
}

/* Seconds that n calls take on the slowest rank; on rank 0 only. */
static double time_of(int form, int kind, int n)
{
    double mine, slowest = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    for (int i = 0; i < n; i++)
        call(form, kind);
    mine = MPI_Wtime() - mine;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* How many calls take about so many seconds; the same on all ranks. */
static int calls_for(int form, int kind, double seconds)
{
    enum { TRIED = 20, MOST = 1000000 };
    double n = seconds * TRIED / (time_of(form, kind, TRIED) + 1e-9);
    int calls = n < TRIED ? TRIED : n > MOST ? MOST : (int) n;

    MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return calls;
}

int main(int argc, char **argv)
{
    static double us[FORMS][KINDS][ROUNDS];
    int calls[FORMS][KINDS];

    nc_init(&argc, &argv);
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &persistent[0]);
    MPI_Bcast_init(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent[1]);
    MPI_Allreduce_init(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &persistent[2]);
    for (int f = 0; f < FORMS; f++) {
        for (int k = 0; k < KINDS; k++)
            calls[f][k] = calls_for(f, k, seconds / (FORMS * KINDS * ROUNDS));
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int f = 0; f < FORMS; f++) {
            for (int k = 0; k < KINDS; k++)
                us[f][k][round] = time_of(f, k, calls[f][k]) / calls[f][k] * 1e6;
        }
    }
    for (int f = 0; f < FORMS && nc_rank == 0; f++) {
        for (int k = 0; k < KINDS; k++) {
            qsort(us[f][k], ROUNDS, sizeof(double), compare);
            printf("%s %s %d ranks: %.2f us (%.2f to %.2f)\n", kinds[k], forms[f], nc_size,
                   us[f][k][ROUNDS / 2], us[f][k][0], us[f][k][ROUNDS - 1]);
        }
    }
    for (int k = 0; k < KINDS; k++)
        MPI_Request_free(&persistent[k]);
    MPI_Finalize();
    return 0;
}
