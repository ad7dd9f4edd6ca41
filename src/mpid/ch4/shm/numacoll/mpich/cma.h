/* Cross memory attach: a process reads the memory of another process of its node, if the kernel
 * allows it. comm.c asks whether it does; shm/ calls the copy through struct nc_direct. */

#ifndef NUMACOLL_CMA_H_INCLUDED
#define NUMACOLL_CMA_H_INCLUDED

#include "mpidimpl.h"
#include "../shm/nc_transfer.h"

/* The processes of a node's ranks: memory of so many bytes. */
size_t MPIDI_NUMACOLL_cma_bytes(int size);

/* Tries to copy a number from each rank of node_comm to each other one. *allowed, alike on all
 * ranks: all of them have arrived. peers: memory of cma_bytes, then the context of cma_fetch.
 * Collective over node_comm; errors: of MPICH's messages. */
int MPIDI_NUMACOLL_cma_join(MPIR_Comm *node_comm, void *peers, bool *allowed);

/* struct nc_direct.fetch: process_vm_readv. Errors: an error code of MPICH, MPI_ERR_BUFFER if the
 * kernel finds no memory at `from` or `to`, else MPI_ERR_OTHER. */
int MPIDI_NUMACOLL_cma_fetch(void *peers, void *to, const struct nc_origin *from, size_t n);

#endif
