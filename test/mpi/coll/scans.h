/* The runs of scan_kinds and exscan_kinds: every kind of element, in place and not, with few
 * elements, inline, through slots, along the chain and in chunks; elements larger than a slot; on a
 * communicator in the order of ranks, in the reverse order, and in one that mixes nodes and NUMA
 * nodes. */

#ifndef SCANS_H_INCLUDED
#define SCANS_H_INCLUDED

#include "reductions.h"

static inline void nc_scan_try(const struct nc_reducer *how, MPI_Comm comm,
                               const struct nc_numbers *kind, int count, int number)
{
    struct nc_reduction r = {.how = how,
                             .comm = comm,
                             .kind = kind,
                             .count = count,
                             .in_place = number % 2,
                             .large = number / 2 % 2};

    nc_say("call %d: %s of %d", number, kind->name, count);
    nc_reduce(&r, number);
}

static inline int nc_scans(int argc, char **argv, int collective)
{
    static const int counts[] = {0, 1, 7, 90, 3000, 40000};
    const struct nc_reducer *how = nc_reducer_of(collective);
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    int number = 0;

    nc_init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, nc_rank % 3, &comms[2]);
    nc_kinds_make();
    for (int i = 0; i < 6 * NC_KINDS; i++) {
        for (int c = 0; c < 3; c++)
            nc_scan_try(how, comms[c], &nc_kinds[i / 6], counts[i % 6], number + c);
        number += 1 + i % 2;
    }
    for (int gaps = 0; gaps < 2; gaps++) {
        struct nc_numbers k = nc_kind_affine("large elements", 9 * 1024, gaps);
        for (int c = 0; c < 3; c++)
            nc_scan_try(how, comms[c], &k, 1 + 2 * (c % 2), number++);
        nc_kind_free(&k);
    }
    nc_kinds_free();
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return nc_finish();
}

#endif
