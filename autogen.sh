#!/bin/sh
# Makes ./configure, the driver's. MPICH's own is made again after the graft.
cd "$(dirname "$0")" && autoconf -f
