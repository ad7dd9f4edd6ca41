/* The only file that names the atomics. Every release has one acquire as its partner; both say what the pair licenses. */

#ifndef NC_ATOMIC_H_INCLUDED
#define NC_ATOMIC_H_INCLUDED

#include <stdint.h>

/* A word that one process writes and others read. */
struct nc_atomic {
    uint64_t value;
};

static inline uint64_t nc_atomic_acquire(const struct nc_atomic *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline void nc_atomic_release(struct nc_atomic *a, uint64_t value)
{
    __atomic_store_n(&a->value, value, __ATOMIC_RELEASE);
}

/* For counts that order nothing. */
static inline uint64_t nc_atomic_relaxed(const struct nc_atomic *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_RELAXED);
}

static inline void nc_atomic_count(struct nc_atomic *a, uint64_t n)
{
    __atomic_fetch_add(&a->value, n, __ATOMIC_RELAXED);
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
