/* Reduce_scatter_block of every kind of element, in place and not: none, inline, the last length
 * that is inline between two ranks and the next one, fragments, several rings; and elements larger
 * than a slot. */

#include "reductions.h"

static void try(MPI_Comm comm, const struct nc_numbers *k, int block, int number)
{
    struct nc_reduction r = {.how = nc_reducer_of(NC_REDUCE_SCATTER_BLOCK),
                             .comm = comm,
                             .kind = k,
                             .count = (MPI_Count) block * nc_size,
                             .in_place = number % 2,
                             .large = number / 2 % 2};

    nc_say("call %d: %s of %d", number, k->name, block);
    nc_reduce(&r, number);
}

int main(int argc, char **argv)
{
    static const int blocks[] = {0, 1, 7, 29, 30, 44, 45, 88, 89, 3000};
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    int number = 0;

    nc_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comms[1]);
    nc_kinds_make();
    for (int k = 0; k < NC_KINDS; k++) {
        for (int i = 0; i < 10; i++) {
            try(comms[(k + i) % 2], &nc_kinds[k], blocks[i], number++);
            try(comms[(k + i) % 2], &nc_kinds[k], blocks[i], number++);
        }
    }
    try(comms[0], &nc_kinds[NC_KIND_SUM], 40000, 0);
    try(comms[1], &nc_kinds[NC_KIND_SUM], 40000, 1);
    for (int gaps = 0; gaps < 2; gaps++) {
        struct nc_numbers k = nc_kind_affine("large elements", 9 * 1024, gaps);
        try(comms[gaps], &k, 2, number++);
        try(comms[gaps], &k, 1, number++);
        nc_kind_free(&k);
    }
    nc_kinds_free();
    MPI_Comm_free(&comms[1]);
    return nc_finish();
}
