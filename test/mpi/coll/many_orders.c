/* Tests communicators of the same ranks in many orders, none of which can go on with the segment of
 * another. After some the process cannot keep the segments of all, and then begins with a narrow
 * one, which long messages let grow. 4 ranks. */

#include "nctest.h"

enum { BYTES = 100000, CALLS = 40 };

static char buffer[BYTES];

/* Makes so many calls on a communicator with the i-th order of the ranks, and frees it. Returns the
 * bytes of its segment after the first call; *at_last: after the last one. */
static unsigned long long use(int i, int calls, unsigned long long *at_last)
{
    int order[4] = {0, 1, 2, 3}, key = 0;
    unsigned long long first = 0;
    MPI_Comm comm;

    for (int n = 4; n > 1; i /= n, n--) {
        int moved = order[i % n];
        order[i % n] = order[n - 1];
        order[n - 1] = moved;
    }
    while (order[key] != nc_rank)
        key++;
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
    for (int c = 0; c < calls; c++) {
        int rank;
        MPI_Comm_rank(comm, &rank);
        memset(buffer, rank == 1 ? c : -1, BYTES);
        nc_bcast(buffer, BYTES, MPI_CHAR, 1, comm);
        if (buffer[0] != c || buffer[BYTES - 1] != c)
            nc_fail("wrong byte", buffer[0], c);
        *at_last = nc_level("numacoll_segment_bytes");
        first = first ? first : *at_last;
    }
    MPI_Comm_free(&comm);
    return first;
}

int main(int argc, char **argv)
{
    unsigned long long full, narrow, at_last = 0;

    nc_init(&argc, &argv);
    full = use(0, 1, &at_last);
    for (int i = 1; i < 23; i++)
        use(i, 1, &at_last);
    narrow = use(23, CALLS, &at_last);
    if (narrow >= full / 2)
        nc_fail("not a narrow segment at first", (long) narrow, (long) full);
    if (at_last < full)
        nc_fail("has not become a full segment", (long) at_last, (long) full);
    if (nc_rank == 0)
        printf("%llu bytes, then %llu, then %llu\n", full, narrow, at_last);
    return nc_finish();
}
