/* The bodies of the collectives, one for each row of collectives.yaml: MPIDI_NUMACOLL_<name>, in
 * <name>.c (the v forms of gather, scatter and allgather in the file of the form without v).
 * entry.c calls a body on every rank of the communicator, after MPIDI_NUMACOLL_begin or
 * MPIDI_NUMACOLL_enter has decided that numacoll serves the call. */

#ifndef NUMACOLL_BODIES_H_INCLUDED
#define NUMACOLL_BODIES_H_INCLUDED

#include "../mpich/watch.h"

#define NC_DECLARE_BODY(name, Name, NAME, params, args, fixed, body_params, body_args, root, ...) \
    int MPIDI_NUMACOLL_##name body_params;
NC_COLLECTIVES(NC_DECLARE_BODY)
#undef NC_DECLARE_BODY

#endif
