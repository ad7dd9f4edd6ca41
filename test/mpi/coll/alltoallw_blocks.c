/* Tests MPI_Alltoallw: blocks of many lengths, types that differ between sender and receiver, in
 * place. */

#include "alltoall.h"

int main(int argc, char **argv)
{
    return nc_alltoall_main(argc, argv, NC_ALLTOALLW);
}
