/* Atomic words in shared memory: acquire load, release store, add. No other file uses the
 * compiler's atomics. Every release store has an acquire load as its partner. A comment at the
 * release says what the partner may rely on after it, and names the function that has the acquire.
 */

#ifndef NC_ATOMIC_H_INCLUDED
#define NC_ATOMIC_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A 64-bit word in shared memory. One process at a time writes it and others read it; only a word
 * that is changed by nc_atomic_add_ordered alone may have many writers at a time, when they have
 * heard of its first value. */
struct nc_atomic {
    uint64_t value;
};

/* Hooks for test/shm/crossings.c and test/sim/machine.cpp, which count loads and stores, and for
 * test/unit/test_demote.c. They are empty in the library. */
#ifdef NC_ATOMIC_OBSERVED
void nc_observe_load(const struct nc_atomic *a);
void nc_observe_store(const struct nc_atomic *a);
void nc_observe_demote(const void *line);
#else
static inline void nc_observe_demote(const void *line)
{
    (void) line;
}

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

/* ---- sequentially consistent accesses, for PROTOCOLS.md, section 5.2 ----
 *
 * All of them are in one order that all processes agree on, so of a process that stores word A and
 * then loads word B, and one that stores B and then loads A, at least one sees the other's store.
 */

/* A 32-bit word that the kernel can wait for (futex). */
struct nc_atomic32 {
    uint32_t value;
};

static inline uint64_t nc_atomic_load_ordered(const struct nc_atomic *a)
{
    nc_observe_load(a);
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

static inline void nc_atomic_store_ordered(struct nc_atomic *a, uint64_t value)
{
    nc_observe_store(a);
    __atomic_store_n(&a->value, value, __ATOMIC_SEQ_CST);
}

/* Adds n to a word that many ranks add to, and returns the value before. It acquires what all
 * earlier adds have released, and releases that together with the caller's own writes: a rank that
 * acquires a sum sees what was written before each add in that sum. */
static inline uint64_t nc_atomic_add_ordered(struct nc_atomic *a, uint64_t n)
{
    nc_observe_load(a);
    nc_observe_store(a);
    return __atomic_fetch_add(&a->value, n, __ATOMIC_SEQ_CST);
}

/* Sets or clears bits of a word that many processes change. */
static inline void nc_atomic_set_bits(struct nc_atomic *a, uint64_t bits)
{
    __atomic_fetch_or(&a->value, bits, __ATOMIC_SEQ_CST);
}

static inline void nc_atomic_clear_bits(struct nc_atomic *a, uint64_t bits)
{
    __atomic_fetch_and(&a->value, ~bits, __ATOMIC_SEQ_CST);
}

static inline uint32_t nc_atomic32_load(const struct nc_atomic32 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

/* Sets bits, and returns the value before. */
static inline uint32_t nc_atomic32_set_bits(struct nc_atomic32 *a, uint32_t bits)
{
    return __atomic_fetch_or(&a->value, bits, __ATOMIC_SEQ_CST);
}

/* Changes the word from *expected to `value`. False, with *expected as it is now: it had another
 * value. */
static inline bool nc_atomic32_swap(struct nc_atomic32 *a, uint32_t *expected, uint32_t value)
{
    return __atomic_compare_exchange_n(&a->value, expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Orders the caller's earlier stores, of whatever kind, before its later loads. For words that are
 * MPICH's: between the words of this component no order rests on it. ThreadSanitizer does not know
 * fences. */
static inline void nc_atomic_fence(void)
{
#ifndef __SANITIZE_THREAD__
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
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

/* Returns when this core has the word's line for writing; the word stays as it is, whoever changes
 * it. Assembly, because a compiler may make something else of an addition of nothing. */
static inline void nc_atomic_take_line(struct nc_atomic *a)
{
#if defined(__x86_64__)
    __asm__ volatile("lock; addq $0, %0" : "+m"(a->value) : : "cc");
#else
    (void) a;
#endif
}

/* Tells a processor that knows CLDEMOTE that others are going to read a cache line which this one
 * has written: it moves the line into the cache that all share. Other processors take it for a NOP,
 * but emulators may not know it. It changes and orders nothing. */
static inline void nc_atomic_demote(const void *line)
{
    nc_observe_demote(line);
#if defined(__x86_64__)
    /* cldemote (%rdi), by its code: older assemblers do not have the name */
    __asm__ volatile(".byte 0x0f, 0x1c, 0x07" : : "D"(line) : "memory");
#endif
}

/* Returns n. The compiler does not know that the result is n: it can neither make something else of
 * a branch before it, nor remove it. Not a fence; for nc_copy, and here because it is assembly. */
static inline size_t nc_opaque(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

#endif
