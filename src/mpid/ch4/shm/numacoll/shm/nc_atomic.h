/* The only file that names the atomics. Every release has one acquire as its partner; both say what
 * the pair licenses. */

#ifndef NC_ATOMIC_H_INCLUDED
#define NC_ATOMIC_H_INCLUDED

#include <stdint.h>

/* A word that one process writes and others read; with nc_atomic_add_acq_rel, one that many write.
 */
struct nc_atomic {
    uint64_t value;
};

/* A test may look at every access that orders something (test/shm/crossings.c). */
#ifdef NC_ATOMIC_OBSERVED
void nc_observe_load(const struct nc_atomic *a);
void nc_observe_store(const struct nc_atomic *a);
#else
static inline void nc_observe_load(const struct nc_atomic *a)
{
    (void) a;
}

static inline void nc_observe_store(const struct nc_atomic *a)
{
    (void) a;
}
#endif

static inline uint64_t nc_atomic_acquire(const struct nc_atomic *a)
{
    nc_observe_load(a);
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline void nc_atomic_release(struct nc_atomic *a, uint64_t value)
{
    nc_observe_store(a);
    __atomic_store_n(&a->value, value, __ATOMIC_RELEASE);
}

/* Adds to a word that many write. The value before. An acquire of what all adds before it released,
 * and a release of that and of the caller's own: who sees a sum sees what came before each of its
 * terms. */
static inline uint64_t nc_atomic_add_acq_rel(struct nc_atomic *a, uint64_t n)
{
    nc_observe_load(a);
    nc_observe_store(a);
    return __atomic_fetch_add(&a->value, n, __ATOMIC_ACQ_REL);
}

static inline void nc_atomic_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

#endif
