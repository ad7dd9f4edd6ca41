/* What the process knows since MPI_Init. Its start and end are declared in numacoll_hooks.h. */

#ifndef NUMACOLL_WORLD_H_INCLUDED
#define NUMACOLL_WORLD_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

struct nc_world {
    bool initialised;
    bool yield;          /* waits give the CPU away at once */
    bool oversubscribed; /* ranks of this node outnumber the processors they may use */
    size_t cache_bytes;
};
extern struct nc_world MPIDI_NUMACOLL_world;

#endif
