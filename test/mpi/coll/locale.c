/* Tests that a program's locale does not change what a variable or an info key says: LINKS has
 * decimal points, and de_DE.UTF-8 a decimal comma. test/mpi/selection runs it, on two assumed
 * nodes.
 *
 *   locale      some ranks choose the locale after MPI_Init
 *   locale key  all do, after a communicator was made with the info key numacoll_links */

#include "nctest.h"

#include <locale.h>

enum { BYTES = 1 << 20 };

static char message[BYTES];

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Info info;
    int key;

    nc_init(&argc, &argv);
    key = argc > 1;
    MPI_Info_create(&info);
    if (key)
        MPI_Info_set(info, "numacoll_links", "top:1.3/0.1");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    if ((key || nc_rank % 2) &&
        (!setlocale(LC_ALL, "de_DE.UTF-8") || *localeconv()->decimal_point != ','))
        nc_fail("no locale with a decimal comma", 0, 0);
    for (int i = 0; i < 10; i++) {
        memset(message, nc_rank == i % nc_size ? i + 1 : 0, BYTES);
        nc_bcast(message, BYTES, MPI_BYTE, i % nc_size, comm);
        for (int k = 0; k < BYTES; k++)
            nc_errors += message[k] != i + 1;
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    return nc_finish();
}
