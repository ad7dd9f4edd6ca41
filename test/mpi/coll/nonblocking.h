/* What the programs about nonblocking calls share: how many of them numacoll serves, compared with
 * its counts. A program opens the counts, adds to the expected ones what it starts, and checks them
 * at its end. */

#ifndef NONBLOCKING_H_INCLUDED
#define NONBLOCKING_H_INCLUDED

#include "nctest.h"

enum { NC_IBARRIER, NC_IBCAST, NC_IALLREDUCE, NC_NONBLOCKING_KINDS };
/* of a message that is served, at most: NC_INLINE_BYTES of shm/nc_queue.h */
enum { NC_POST_BYTES = 352 };

static const char *const nc_nonblocking_names[NC_NONBLOCKING_KINDS] = {"ibarrier", "ibcast",
                                                                       "iallreduce"};
static struct nc_pvar nc_started[NC_NONBLOCKING_KINDS], nc_elsewhere[NC_NONBLOCKING_KINDS];
static unsigned long long nc_expected[NC_NONBLOCKING_KINDS], nc_left[NC_NONBLOCKING_KINDS];

/* Whether numacoll is selected for nonblocking calls. */
static inline int nc_nonblocking_selected(void)
{
    const char *list = getenv("MPIR_CVAR_NUMACOLL_COLLECTIVES");

    return list && strstr(list, "nonblocking") != NULL;
}

static inline void nc_nonblocking_open(void)
{
    for (int i = 0; i < NC_NONBLOCKING_KINDS; i++) {
        char name[64];
        snprintf(name, sizeof name, "numacoll_%s_calls", nc_nonblocking_names[i]);
        nc_pvar_open(&nc_started[i], name);
        snprintf(name, sizeof name, "numacoll_%s_fell_back", nc_nonblocking_names[i]);
        nc_pvar_open(&nc_elsewhere[i], name);
    }
}

/* Whether all ranks of a communicator are on one node. Assumed nodes get the ranks in turn. */
static inline int nc_is_on_one_node(MPI_Comm comm)
{
    const char *cliques = getenv("MPIR_CVAR_NUM_CLIQUES");
    int size, one = 1, nodes = cliques ? atoi(cliques) : 1, first = 0;
    MPI_Group all, some;

    MPI_Comm_size(comm, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &some);
    for (int i = 0; i < size; i++) {
        int world;
        MPI_Group_translate_ranks(some, 1, &i, all, &world);
        first = i == 0 ? world % nodes : first;
        one = one && world % nodes == first;
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return cliques ? one : !nc_several_nodes();
}

/* Whether numacoll serves calls of a communicator, on which the program has made a blocking call.
 */
static inline int nc_nonblocking_serves(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    return nc_nonblocking_selected() && size > 1 && nc_is_on_one_node(comm);
}

/* A call that is about to be started. fits: numacoll has an algorithm for calls like it. */
static inline void nc_nonblocking_count(int kind, MPI_Comm comm, int fits)
{
    int size, serves = nc_nonblocking_serves(comm) && fits;

    MPI_Comm_size(comm, &size);
    nc_expected[kind] += (unsigned long long) serves;
    nc_left[kind] += (unsigned long long) (nc_nonblocking_selected() && size > 1 && !serves);
}

static inline void nc_nonblocking_check(void)
{
    for (int i = 0; i < NC_NONBLOCKING_KINDS; i++) {
        unsigned long long started = nc_pvar_read(&nc_started[i]),
                           elsewhere = nc_pvar_read(&nc_elsewhere[i]);
        if (started != nc_expected[i])
            nc_fail(nc_nonblocking_names[i], (long) started, (long) nc_expected[i]);
        if (elsewhere != nc_left[i])
            nc_fail("left to MPICH", (long) elsewhere, (long) nc_left[i]);
    }
}

#endif
