# src/mpi/coll/src/Makefile.mk includes this file, whatever the device. With the posix shared-memory module all files of the
# component are in the library. Without it only those that are always built are, and the entry points fall back.
# Both conditions below are needed: BUILD_SHM_POSIX alone is true of every build with ch4.

include $(top_srcdir)/src/mpid/ch4/shm/numacoll/numacoll_sources.mk

AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/ch4/shm/numacoll -I$(top_builddir)/src/mpid/ch4/shm/numacoll

# In a header of its own: as an option of all compilations, builds for different folders would have no compiler cache in common
BUILT_SOURCES += src/mpid/ch4/shm/numacoll/numacoll_paths.h
DISTCLEANFILES += src/mpid/ch4/shm/numacoll/numacoll_paths.h

src/mpid/ch4/shm/numacoll/numacoll_paths.h: Makefile
	@$(MKDIR_P) $(@D)
	{ echo '#define NUMACOLL_SYSCONFDIR "$(sysconfdir)"'; echo '#define NUMACOLL_TUNED "$(datadir)/numacoll/tuned"'; } >$@

noinst_HEADERS += \
    src/mpid/ch4/shm/numacoll/numacoll_mpir.h \
    src/mpid/ch4/shm/numacoll/numacoll_counts.h \
    src/mpid/ch4/shm/numacoll/numacoll_counts_end.h \
    src/mpid/ch4/shm/numacoll/numacoll_waits.h \
    src/mpid/ch4/shm/numacoll/numacoll_hooks.h

mpi_core_sources += $(numacoll_always_sources)

if BUILD_CH4_SHM
if BUILD_SHM_POSIX
AM_CPPFLAGS += -DNUMACOLL_BUILD_SHM

mpi_core_sources += $(numacoll_shm_sources)
endif
endif
