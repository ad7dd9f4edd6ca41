/* The headers of an old system, as far as names go: test/old/run includes this file before all
 * others. It takes away the constants that came after glibc 2.28 and the kernel headers 4.18, so
 * that the source has to define what it uses of them itself. (run finds newer functions without a
 * list.) */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#define NC_OLD_GNU_SOURCE
#endif

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* a file that defines it itself may do so */
#ifdef NC_OLD_GNU_SOURCE
#undef _GNU_SOURCE
#endif

#undef FUTEX_LOCK_PI2
#undef F_SEAL_EXEC
#undef F_SEAL_FUTURE_WRITE
#undef MADV_COLD
#undef MADV_COLLAPSE
#undef MADV_DONTNEED_LOCKED
#undef MADV_GUARD_INSTALL
#undef MADV_GUARD_REMOVE
#undef MADV_PAGEOUT
#undef MADV_POPULATE_READ
#undef MADV_POPULATE_WRITE
#undef MAP_DROPPABLE
#undef MFD_EXEC
#undef MFD_NOEXEC_SEAL
#undef MREMAP_DONTUNMAP
#undef SYS_cachestat
#undef SYS_clone3
#undef SYS_close_range
#undef SYS_epoll_pwait2
#undef SYS_faccessat2
#undef SYS_futex_requeue
#undef SYS_futex_wait
#undef SYS_futex_waitv
#undef SYS_futex_wake
#undef SYS_memfd_secret
#undef SYS_openat2
#undef SYS_pidfd_getfd
#undef SYS_pidfd_open
#undef SYS_pidfd_send_signal
#undef SYS_process_madvise
#undef SYS_process_mrelease
#undef SYS_set_mempolicy_home_node
