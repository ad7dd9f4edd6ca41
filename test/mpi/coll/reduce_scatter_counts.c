/* Reduce_scatter with blocks of all kinds of lengths: equal ones, none, one alone, a long one among
 * short ones, and such that the result in place overlaps its operand; of every kind of element,
 * also of elements larger than a slot, and of as many elements as are just inline between two
 * ranks, or one more; on communicators in two orders. */

#include "reductions.h"

enum { SHAPES = 6 };

/* Elements of the blocks of all ranks. */
static void divide(struct nc_reduction *r, int shape, int n)
{
    for (int i = 0; i < nc_size; i++) {
        r->blocks[i] = shape == 0   ? n
                       : shape == 1 ? (i == 1) * n
                       : shape == 2 ? (i == nc_size - 1) * n
                       : shape == 3 ? i % 3 ? 1 : n
                       : shape == 4 ? (i + 1) * n / nc_size
                                    : (i > 0) * (n - i);
        r->blocks[i] = r->blocks[i] < 0 ? 0 : r->blocks[i];
        r->count += r->blocks[i];
    }
}

static void try(MPI_Comm comm, const struct nc_numbers *k, int shape, int n, int number)
{
    struct nc_reduction r = {.how = nc_reducer_of(NC_REDUCE_SCATTER),
                             .comm = comm,
                             .kind = k,
                             .in_place = number % 2,
                             .large = number / 2 % 2};

    divide(&r, shape, n);
    nc_say("call %d: %s of %d, shape %d", number, k->name, n, shape);
    nc_reduce_divided(&r, number);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 7, 44, 88, 89, 3000, 40000};
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    int number = 0;

    nc_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comms[1]);
    nc_kinds_make();
    for (int k = 0; k < NC_KINDS; k++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            for (int i = 0; i < 6; i++, number++)
                try(comms[(k + i) % 2], &nc_kinds[k], shape, counts[i], number + k % 2);
        }
    }
    for (int shape = 0; shape < SHAPES; shape++)
        try(comms[0], &nc_kinds[NC_KIND_SUM], shape, counts[6], number++);
    for (int gaps = 0; gaps < 2; gaps++) {
        struct nc_numbers k = nc_kind_affine("large elements", 9 * 1024, gaps);
        for (int shape = 0; shape < SHAPES; shape++)
            try(comms[gaps], &k, shape, 2, number++);
        nc_kind_free(&k);
    }
    nc_kinds_free();
    MPI_Comm_free(&comms[1]);
    return nc_finish();
}
