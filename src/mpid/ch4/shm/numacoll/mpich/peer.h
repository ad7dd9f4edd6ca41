/* Another process of the node, and the ways to copy out of its memory: cma.c and xpmem.c each have
 * one, single_copy.c chooses. */

#ifndef NUMACOLL_PEER_H_INCLUDED
#define NUMACOLL_PEER_H_INCLUDED

#include "mpidimpl.h"

/* Another process, as a way reaches it. Private to a rank. */
struct nc_peer {
    int64_t offered, reached; /* what its process has offered, and what that has become here */
    /* A number in its memory, by which one sees that the process that is reached is this one: in
     * another PID namespace its id may be that of another process. */
    uint64_t number;
    const uint64_t *at;
    /* its memory that is mapped here, for ways that map it: so many bytes from `from` on */
    char *mapped;
    uintptr_t from;
    size_t bytes;
};

/* One way. */
struct nc_single_copy {
    const char *name;
    /* What this process tells the others so that they can reach it; negative: it cannot be. */
    int64_t (*offer)(void);
    /* Fills peer->reached from peer->offered. 0 or errno. */
    int (*reach)(struct nc_peer *peer);
    /* Copies n bytes at `from` in the memory of a peer. 0 or errno. */
    int (*copy)(struct nc_peer *peer, char *to, const char *from, size_t n);
    /* Ends what `reach` and `copy` have begun. NULL: nothing. */
    void (*leave)(struct nc_peer *peer);
};

#endif
