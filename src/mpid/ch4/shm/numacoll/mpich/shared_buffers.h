/* Shared buffers: memory of MPI_Alloc_mem that all processes of the node can read. Each process has
 * one file in memory for them, as long as its buffers may ever be together, whose pages there are
 * only where a buffer has been accessed; another process maps it once for all the communicators
 * that it has with that process, and so never looks for a single buffer. PROTOCOLS.md, section 3.8.
 */

#ifndef NUMACOLL_SHARED_BUFFERS_H_INCLUDED
#define NUMACOLL_SHARED_BUFFERS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "mpidimpl.h"

/* Bytes of a buffer, at least; what is smaller is never read directly, and is left to malloc. */
#define NC_SHARED_LEAST 65536

/* A buffer of so many bytes, which begins with a page, all zero. NULL: it is too small, the limit
 * is reached, or the system refuses. Any thread. */
void *MPIDI_NUMACOLL_shared_alloc(size_t bytes);

/* Frees a buffer; its pages are gone from all processes. False: it is no shared buffer. Any thread.
 */
bool MPIDI_NUMACOLL_shared_free(void *buffer);

/* Whether an address is in the file of this process, or, in a child that has been forked, of its
 * parent. Any thread. */
bool MPIDI_NUMACOLL_shared_has(const void *at);

/* Gives up the pages of a part of a shared buffer, which is zero afterwards. False: not possible,
 * as in a child, whose pages would be those of its parent again. Any thread. */
bool MPIDI_NUMACOLL_shared_empty(void *at, size_t bytes);

/* In a child that has been forked: from now on it has its parent's shared buffers for itself; what
 * either of them writes, the other one does not get, but for what the parent writes to pages that
 * the child has not written. Where there is no address space for that, the child ends. */
void MPIDI_NUMACOLL_shared_part(void);

/* At MPI_Finalize: gives up this process's own file, unless it still has buffers. */
void MPIDI_NUMACOLL_shared_finalize(void);

/* Scratch memory of MPIDI_NUMACOLL_shared_join, bytes, for so many ranks. */
size_t MPIDI_NUMACOLL_shared_scratch_bytes(int size);

/* Maps the files of all ranks of node_comm. base[size], bytes[size]: where they are here. *all,
 * alike on all ranks: each rank has mapped each file; if not, none is mapped for this communicator.
 * Collective over node_comm; errors: of MPICH's messages. */
int MPIDI_NUMACOLL_shared_join(MPIR_Comm *node_comm, void *scratch, char **base, size_t *bytes,
                               bool *all);

/* Ends the use of what shared_join has mapped for a communicator of `size` ranks on the node.
 * Local. */
void MPIDI_NUMACOLL_shared_leave(char *const *base, int size);

#endif
