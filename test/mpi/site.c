/* For test/mpi/site: prints what the library says about itself, and whether a program that this one
 * starts would find a variable of the site's file in its environment. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, failed;

    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    printf("%s\n", text);
    fflush(stdout);
    failed = system("echo a child has ${MPIR_CVAR_NUMACOLL_COLLECTIVES-nothing}");
    MPI_Finalize();
    return failed;
}
