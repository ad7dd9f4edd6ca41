# Read by src/mpi/coll/src/Makefile.mk, whatever the device: without the posix shared-memory module only the files that
# are always built are in the library; the entry points then fall back. (BUILD_SHM_POSIX alone is true of every ch4.)

include $(top_srcdir)/src/mpid/ch4/shm/numacoll/numacoll_sources.mk

AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/ch4/shm/numacoll

noinst_HEADERS += \
    src/mpid/ch4/shm/numacoll/numacoll_mpir.h \
    src/mpid/ch4/shm/numacoll/numacoll_hooks.h

mpi_core_sources += $(numacoll_always_sources)

if BUILD_CH4_SHM
if BUILD_SHM_POSIX
AM_CPPFLAGS += -DNUMACOLL_BUILD_SHM

mpi_core_sources += $(numacoll_shm_sources)
endif
endif
