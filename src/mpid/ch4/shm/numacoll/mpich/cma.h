/* Single copy by cross memory attach, a way of peer.h. */

#ifndef NUMACOLL_CMA_H_INCLUDED
#define NUMACOLL_CMA_H_INCLUDED

#include "peer.h"

extern const struct nc_single_copy MPIDI_NUMACOLL_cma;

#endif
