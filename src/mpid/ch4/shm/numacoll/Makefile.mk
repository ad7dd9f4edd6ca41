# Read by src/mpi/coll/src/Makefile.mk, whatever the device: without the posix shared-memory module only the entry
# points are built, and they fall back. (BUILD_SHM_POSIX alone is true of every ch4.)

AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/ch4/shm/numacoll

noinst_HEADERS += \
    src/mpid/ch4/shm/numacoll/numacoll_mpir.h \
    src/mpid/ch4/shm/numacoll/numacoll_hooks.h

mpi_core_sources += \
    src/mpid/ch4/shm/numacoll/core/nc_variable.c \
    src/mpid/ch4/shm/numacoll/core/nc_plan.c \
    src/mpid/ch4/shm/numacoll/core/nc_topo.c \
    src/mpid/ch4/shm/numacoll/coll/entry.c \
    src/mpid/ch4/shm/numacoll/mpich/diag.c \
    src/mpid/ch4/shm/numacoll/mpich/info.c \
    src/mpid/ch4/shm/numacoll/mpich/selection_file.c \
    src/mpid/ch4/shm/numacoll/mpich/settings.c \
    src/mpid/ch4/shm/numacoll/mpich/text_file.c

if BUILD_CH4_SHM
if BUILD_SHM_POSIX
AM_CPPFLAGS += -DNUMACOLL_BUILD_SHM

mpi_core_sources += \
    src/mpid/ch4/shm/numacoll/core/nc_tree.c \
    src/mpid/ch4/shm/numacoll/core/nc_layout.c \
    src/mpid/ch4/shm/numacoll/core/nc_frag.c \
    src/mpid/ch4/shm/numacoll/core/nc_cpus.c \
    src/mpid/ch4/shm/numacoll/core/nc_group.c \
    src/mpid/ch4/shm/numacoll/core/nc_shape.c \
    src/mpid/ch4/shm/numacoll/core/nc_select.c \
    src/mpid/ch4/shm/numacoll/core/nc_model.c \
    src/mpid/ch4/shm/numacoll/core/nc_netfile.c \
    src/mpid/ch4/shm/numacoll/core/nc_route.c \
    src/mpid/ch4/shm/numacoll/core/nc_schedule.c \
    src/mpid/ch4/shm/numacoll/core/nc_combine.c \
    src/mpid/ch4/shm/numacoll/core/nc_locality.c \
    src/mpid/ch4/shm/numacoll/shm/nc_wait.c \
    src/mpid/ch4/shm/numacoll/shm/nc_copy.c \
    src/mpid/ch4/shm/numacoll/shm/nc_queue.c \
    src/mpid/ch4/shm/numacoll/shm/nc_barrier.c \
    src/mpid/ch4/shm/numacoll/shm/nc_barrier_tree.c \
    src/mpid/ch4/shm/numacoll/shm/nc_barrier_central.c \
    src/mpid/ch4/shm/numacoll/shm/nc_barrier_combining.c \
    src/mpid/ch4/shm/numacoll/shm/nc_barrier_dissemination.c \
    src/mpid/ch4/shm/numacoll/shm/nc_bcast.c \
    src/mpid/ch4/shm/numacoll/shm/nc_gather.c \
    src/mpid/ch4/shm/numacoll/shm/nc_reduce.c \
    src/mpid/ch4/shm/numacoll/shm/nc_scatter.c \
    src/mpid/ch4/shm/numacoll/shm/nc_transfer.c \
    src/mpid/ch4/shm/numacoll/mpich/agree.c \
    src/mpid/ch4/shm/numacoll/mpich/buffer.c \
    src/mpid/ch4/shm/numacoll/mpich/call.c \
    src/mpid/ch4/shm/numacoll/mpich/choose.c \
    src/mpid/ch4/shm/numacoll/mpich/collectives.c \
    src/mpid/ch4/shm/numacoll/mpich/comm.c \
    src/mpid/ch4/shm/numacoll/mpich/hierarchy.c \
    src/mpid/ch4/shm/numacoll/mpich/locality.c \
    src/mpid/ch4/shm/numacoll/mpich/location.c \
    src/mpid/ch4/shm/numacoll/mpich/machine.c \
    src/mpid/ch4/shm/numacoll/mpich/pages.c \
    src/mpid/ch4/shm/numacoll/mpich/pvars.c \
    src/mpid/ch4/shm/numacoll/mpich/report.c \
    src/mpid/ch4/shm/numacoll/mpich/segment.c \
    src/mpid/ch4/shm/numacoll/mpich/stats.c \
    src/mpid/ch4/shm/numacoll/mpich/vars.c \
    src/mpid/ch4/shm/numacoll/mpich/world.c \
    src/mpid/ch4/shm/numacoll/coll/above.c \
    src/mpid/ch4/shm/numacoll/coll/allgather.c \
    src/mpid/ch4/shm/numacoll/coll/allreduce.c \
    src/mpid/ch4/shm/numacoll/coll/barrier.c \
    src/mpid/ch4/shm/numacoll/coll/bcast.c \
    src/mpid/ch4/shm/numacoll/coll/gather.c \
    src/mpid/ch4/shm/numacoll/coll/net.c \
    src/mpid/ch4/shm/numacoll/coll/packed.c \
    src/mpid/ch4/shm/numacoll/coll/reduce.c \
    src/mpid/ch4/shm/numacoll/coll/reduction.c \
    src/mpid/ch4/shm/numacoll/coll/scatter.c
endif
endif
