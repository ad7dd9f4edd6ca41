/* Tests that no rank leaves a barrier before all ranks have entered it. Each rank counts its phases
 * in memory that all ranks of this machine share, also if they are on several nodes (simulated
 * ones, or test/mpi/hosts). After a barrier the counter of each other rank must be this rank's or
 * one more. On MPI_COMM_WORLD, a duplicate, the reverse order and two halves.
 *
 *   barrier_counter [PHASES] */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nctest.h"

enum { LINE = 128, PHASES = 200 };

struct counter {
    _Alignas(LINE) _Atomic long phase;
};

static struct counter *counters;

/* All processes map a file of rank 0. It has a name, because /proc and /dev/shm are not those of
 * another host. */
static void share(void)
{
    size_t bytes = (size_t) nc_size * sizeof *counters;
    char path[] = "/tmp/barrier_counter.XXXXXX";
    int fd = nc_rank == 0 ? mkstemp(path) : -1;

    if (nc_rank == 0 && (fd < 0 || ftruncate(fd, (off_t) bytes)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (nc_rank != 0)
        fd = open(path, O_RDWR);
    counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counters == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    close(fd);
    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank == 0)
        unlink(path);
}

static void delay(unsigned *dice)
{
    *dice = *dice * 1103515245u + 12345u;
    if (*dice >> 16 & 3)
        return;
    struct timespec t = {.tv_nsec = (long) (*dice >> 18 & 63) * 1000};
    nanosleep(&t, NULL);
}

/* The world ranks of a communicator's ranks. */
static int *members(MPI_Comm comm, int *n)
{
    MPI_Group all, some;
    int *from, *to;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &some);
    MPI_Group_size(some, n);
    from = malloc((size_t) *n * sizeof *from);
    to = malloc((size_t) *n * sizeof *to);
    for (int i = 0; i < *n; i++)
        from[i] = i;
    MPI_Group_translate_ranks(some, *n, from, all, to);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    free(from);
    return to;
}

static void check(MPI_Comm comm, int phases)
{
    static long phase;
    unsigned dice = (unsigned) nc_rank * 7919u + 1;
    int n, *world = members(comm, &n);
    long first = phase;

    for (; phase < first + phases;) {
        atomic_store(&counters[nc_rank].phase, ++phase);
        delay(&dice);
        nc_barrier(comm);
        for (int i = 0; i < n; i++) {
            long other = atomic_load(&counters[world[i]].phase);
            if (other < phase || other > phase + 1)
                nc_fail("left a barrier: phase of another, mine", other, phase);
        }
    }
    free(world);
    /* a rank may go on to a communicator with other members, and count there, only after all
     * members of this one have made their last check */
    nc_barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, reverse, half;

    nc_init(&argc, &argv);
    int phases = argc > 1 ? atoi(argv[1]) : nc_size > 16 ? PHASES / 6 : PHASES;
    share();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &reverse);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, nc_rank, &half);
    check(MPI_COMM_WORLD, phases);
    check(dup, phases / 4);
    check(reverse, phases / 4);
    check(half, phases / 4);
    nc_barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&reverse);
    MPI_Comm_free(&half);
    return nc_finish();
}
