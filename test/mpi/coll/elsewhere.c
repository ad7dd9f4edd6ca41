/* Tests a program that leaves the folder in which it was started for another one, its argument:
 * REPORT_FILE stays where it was. test/mpi/faults runs it. */

#include "nctest.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    if (argc < 2 || chdir(argv[1]))
        nc_fail("chdir", 0, 0);
    for (int i = 0; i < 3; i++)
        nc_bcast(&(int){0}, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return nc_finish();
}
