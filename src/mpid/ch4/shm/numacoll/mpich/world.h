/* What the process knows from MPI_Init to MPI_Finalize. The functions that start and end it are
 * declared in numacoll_hooks.h. */

#ifndef NUMACOLL_WORLD_H_INCLUDED
#define NUMACOLL_WORLD_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

struct nc_world {
    bool initialised;
    bool gentle; /* waits may yield late and sleep: YIELD is not `off` */
    bool yield;  /* waits give the processor away at once, MPICH's own waits too */
    bool sleep;  /* waits sleep at once */
    bool unsure; /* not `yield`, but other nodes' ranks may use the processors, too */
    int spins;   /* loads with a PAUSE in a round of spinning, about 3 us */
    /* of the last-level cache, as the C library says */
    size_t cache_bytes;
};
extern struct nc_world MPIDI_NUMACOLL_world;

/* At MPI_Finalize: writes the totals of the report; then, when no communicator has a state any
 * more, frees what world_init made. */
void MPIDI_NUMACOLL_world_report(void);
void MPIDI_NUMACOLL_world_leave(void);

#endif
