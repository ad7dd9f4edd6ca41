/* The one place where numacoll-bench complains while it runs: ranks agree whether one of them has a
 * problem, and one of them writes it. See bench.h. */

#include "bench.h"

#include <stdio.h>

bool all_well(MPI_Comm comm, const char *problem)
{
    int me, n, mine, first;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    mine = problem ? me : n;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (problem && me == first && *problem) {
        progress_clear();
        fprintf(stderr, "numacoll-bench: %s\n", problem);
    }
    return first == n;
}
