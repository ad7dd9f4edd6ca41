/* Alltoall of short blocks inside a node by rows and columns. alltoall.c calls it. */

#ifndef NUMACOLL_ALLTOALL_ROWS_H_INCLUDED
#define NUMACOLL_ALLTOALL_ROWS_H_INCLUDED

#include "../mpich/call.h"
#include "../shm/nc_exchange.h"

/* Whether the blocks of an alltoall go by rows and columns: they are equally long, so all ranks
 * answer alike; the NUMA nodes have equally many ranks; and each message fits a control slot.
 * `sent`: this rank's blocks. */
bool MPIDI_NUMACOLL_goes_by_rows(const struct nc_call *call, const struct nc_blocks *sent);

/* The part inside the node of an alltoall that goes by rows, with the rank's own block. In place
 * `sent` and `received` are the same. */
int MPIDI_NUMACOLL_alltoall_rows(const struct nc_call *call, const struct nc_blocks *sent,
                                 const struct nc_blocks *received);

/* nc_exchange_end, as an error code of MPICH; a block that was too long is MPI_ERR_TRUNCATE. */
int MPIDI_NUMACOLL_exchange_end(struct nc_exchange *exchange);

#endif
