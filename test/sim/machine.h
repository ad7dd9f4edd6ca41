/* A simulated machine that runs the code of shm/: each rank is an actor of SimGrid (S4U), and time
 * passes where a rank reads a line that another one has written, and where it copies or combines
 * data. The code is built with NC_ATOMIC_OBSERVED and calls the observers of shm/nc_atomic.h and
 * shm/nc_copy.h, which are here. Nothing is copied: only who copies how much from where counts. */

#ifndef SIM_MACHINE_H_INCLUDED
#define SIM_MACHINE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a machine has, and what it takes. */
struct sim_machine {
    int packages, numa_nodes, cores; /* NUMA nodes of a package, cores of a NUMA node */
    /* Seconds until a line that another core has written is here: from a core of the same NUMA
     * node, of the package, of another package. */
    double line[3];
    double turn;    /* seconds that a line is busy with each core that fetches it */
    double copy;    /* bytes per second that a core can read, and as many that it can write */
    double memory;  /* bytes per second of the memory of a NUMA node */
    double link[2]; /* bytes per second, each way, between two NUMA nodes: of a package, of two */
};

/* What a run took. Bytes and lines of all ranks, but for the busiest one's. */
struct sim_cost {
    double seconds;
    uint64_t lines_crossed, bytes_crossed; /* between NUMA nodes */
    int chain; /* lines that crossed, the longest row of which each waited for the one before */
    uint64_t busiest; /* bytes that one rank has read out of shared memory, at most */
};

/* Where the data of a run lies: the memory of rank r begins at shared + r * shared_bytes, and
 * at user + r * user_bytes. */
struct sim_memory {
    char *shared, *user;
    size_t shared_bytes, user_bytes;
};

/* Runs `main` for each rank at once, `rounds` times, rank r on core r (or, by_node, on the cores of
 * the NUMA nodes in turn): main(context, r). Returns the cost of the last round; the ones before
 * bring lines to where they are in the middle of a program. Ranks meet between rounds, at no cost.
 * False: the ranks wait for each other for ever. */
bool sim_run(const struct sim_machine *machine, int ranks, int by_node, int rounds,
             const struct sim_memory *memory, void (*main)(void *context, int rank), void *context,
             struct sim_cost *cost);

/* The NUMA node of a rank. */
int sim_numa(const struct sim_machine *machine, int by_node, int rank);

/* For struct nc_waiter.progress: the rank waits until a line that it has read is written. */
int sim_wait(void *context);

/* For struct nc_op_kernel.numbers, of doubles: nothing is computed. */
void sim_combine(void *result, const void *a, const void *b, size_t n);

#ifdef __cplusplus
}
#endif
#endif
