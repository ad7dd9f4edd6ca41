/* Atomic words in shared memory: acquire load, release store, add. No other file uses the
 * compiler's atomics; the callers are the functions of nc_queue, nc_barrier and nc_wait. Every
 * release store has an acquire load as its partner. A comment at the release says what the partner
 * may rely on after it, and names the function that has the acquire. */

#ifndef NC_ATOMIC_H_INCLUDED
#define NC_ATOMIC_H_INCLUDED

#include <stdint.h>

/* A 64-bit word in shared memory. One process at a time writes it and others read it; only a word
 * that is changed by nc_atomic_add_acq_rel alone may have many writers at a time. */
struct nc_atomic {
    uint64_t value;
};

/* Hooks for test/shm/crossings.c, which counts these accesses. They are empty in the library. */
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

/* Loads the word. After it the caller may read what the writer of this value had written, or had
 * acquired, before it released the value. */
static inline uint64_t nc_atomic_acquire(const struct nc_atomic *a)
{
    nc_observe_load(a);
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

/* Stores the word: everything the caller did before becomes visible to a rank that acquires the
 * value. */
static inline void nc_atomic_release(struct nc_atomic *a, uint64_t value)
{
    nc_observe_store(a);
    __atomic_store_n(&a->value, value, __ATOMIC_RELEASE);
}

/* Adds n to a word that many ranks add to, and returns the value before. It acquires what all
 * earlier adds have released, and releases that together with the caller's own writes: a rank that
 * acquires a sum sees what was written before each add in that sum. */
static inline uint64_t nc_atomic_add_acq_rel(struct nc_atomic *a, uint64_t n)
{
    nc_observe_load(a);
    nc_observe_store(a);
    return __atomic_fetch_add(&a->value, n, __ATOMIC_ACQ_REL);
}

/* Tells the processor that the caller is spinning. */
static inline void nc_atomic_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

#endif
