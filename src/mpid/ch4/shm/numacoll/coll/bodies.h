/* The bodies of the collectives, one for each row of collectives.yaml: MPIDI_NUMACOLL_<name>, in
 * <name>.c; those of gather, scatter and allgather also have the v form. entry.c calls them. */

#ifndef NUMACOLL_BODIES_H_INCLUDED
#define NUMACOLL_BODIES_H_INCLUDED

#include "../mpich/call.h"

#define NC_DECLARE_BODY(name, Name, NAME, params, args, fixed, body_params, body_args) \
    int MPIDI_NUMACOLL_##name body_params;
NC_COLLECTIVES(NC_DECLARE_BODY)
#undef NC_DECLARE_BODY

#endif
