/* Single copy by XPMEM, a way of peer.h. */

#ifndef NUMACOLL_XPMEM_H_INCLUDED
#define NUMACOLL_XPMEM_H_INCLUDED

#include "peer.h"

extern const struct nc_single_copy MPIDI_NUMACOLL_xpmem;

#endif
