/* The wait for one of some words. nc_wait_clock (nc_wait.h) calls it when its first look has
 * failed. It goes through three stages: spin, yield the processor, sleep in the kernel; in each of
 * them it also runs MPICH's progress engine. PROTOCOLS.md, section 5. */

#define _GNU_SOURCE
#include "nc_wait.h"

#include <sched.h>
#include <time.h>

/* After this time the CPU is yielded even if the affinity masks show a processor for every rank: a
 * container may have a quota that is smaller. */
#define FRUITLESS_NS 50000
/* The same if other ranks of the node may need the processor. ScaLAPACK's programs, 4 ranks on 2
 * processors in communicators of 2: 3 us takes 0.6 to 1.0 of the time of 50 us. */
#define FRUITLESS_AMONG_NS 3000
/* A yield that takes RAN_NS has let another process run (a yield alone: 0.5 to 0.9 us), and for
 * SHARED_NS after it an unsure waiter takes the processor for shared. 6 ranks on 3 hosts on 2
 * processors, random calls: 0.8 to 1.7 s; with spinning only 4.6 to 4.9 s, with YIELD=on 0.8 to
 * 0.9 s. */
#define RAN_NS    2000
#define SHARED_NS 100000000
/* Loads in a round when ranks outnumber processors. 4 ranks on 2 processors of an AMD EPYC, 4
 * bytes: 4.6 us; with 20: 5.3 us, 60: 7.4 us, 150: 11.7 us. On an Intel Xeon, where a pause is
 * longer, 1 to 20 make no difference above what launches differ by, with 4 and 8 ranks. */
#define OVERSUBSCRIBED_SPINS 5

/* Where the CPU is yielded, the rank waited for needs it more than this rank's progress engine
 * does. So progress is called in one of this many rounds, or in one of waiter->ranks rounds if that
 * is more. Barriers of 64 ranks on 2 processors: 16 takes 0.7 of the time of 4; 64 about 0.93 of
 * the time of 16. */
#define YIELDS_PER_PROGRESS 16

/* A wait of this length sleeps: its reason is not that another rank is about to answer, and waking
 * up then costs little of it. */
#define LONG_NS 1000000
/* A yield comes back late if it takes so long, and so much more for each other rank, each of which
 * may run before. A slice of another busy process is 3 milliseconds or more. */
#define LATE_NS          250000
#define LATE_PER_RANK_NS 10000
#define LATE_MOST_NS     2000000
/* Two late yields of a rank within RECENT_NS, or one so soon after sleeping, say that yielding does
 * not pay; then waits sleep for ASLEEP_NS before they try to yield again. */
#define RECENT_NS 20000000
#define ASLEEP_NS 100000000
/* A late yield does not count if the time lost is less than this for each yield since the last late
 * one: where the other process takes its share of the processor in slices, the ranks have yielded
 * to each other many times before, and sleeping would cost more. 16 ranks in one cgroup with a
 * process at nice 19, barrier: with 20 us 111 us, with 60 us 84 us, with 200 us 60 us; 8 ranks
 * beside a process of another session per processor: 34, 21 and 54 us. */
#define WORTH_NS 100000

/* Where all that may need the process rings its bell, a sleep lasts so long at most; otherwise the
 * first sleep of a wait is a short one, and each is twice as long as the one before it, up to a
 * limit. Tests make the first time longer, to find rings that were lost. */
#ifndef NC_WAIT_SLEEP_NS
#define NC_WAIT_SLEEP_NS 10000000
#endif
#define SLEEP_FIRST_NS 50000
#define SLEEP_MOST_NS  1000000

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* ---- stages ---- */

static struct nc_atomic *until_of(struct nc_waiter *w)
{
    return w->until ? w->until : &w->until_own;
}

/* For how long a wait spins before it yields. */
static uint64_t spinning_ns(const struct nc_waiter *w, uint64_t now)
{
    return w->yield || now < w->shared_until ? 0
           : w->among_others                 ? FRUITLESS_AMONG_NS
                                             : FRUITLESS_NS;
}

enum nc_stage nc_wait_stage(struct nc_waiter *w, struct nc_patience *p)
{
    bool begins = p->began == 0;
    uint64_t spinning;

    if (w->sleep)
        return NC_STAGE_SLEEP;
    if (begins)
        p->began = p->now = now_ns();
    spinning = spinning_ns(w, p->now);
    if (!begins && p->now - p->began <= spinning)
        p->now = now_ns();
    if (p->now - p->began < spinning)
        return NC_STAGE_SPIN;
    if (w->gentle && p->now < nc_atomic_acquire(until_of(w)))
        return NC_STAGE_SLEEP;
    return (w->yield || w->among_others) && w->gentle && p->now - p->began > LONG_NS
               ? NC_STAGE_SLEEP
               : NC_STAGE_YIELD;
}

static uint64_t late_ns(const struct nc_waiter *w)
{
    uint64_t ns = LATE_NS + (uint64_t) w->ranks * LATE_PER_RANK_NS;

    return ns < LATE_MOST_NS ? ns : LATE_MOST_NS;
}

static void step_aside(struct nc_waiter *w, bool aside)
{
    if (w->step_aside)
        w->step_aside(w->context, aside);
}

void nc_wait_yield(struct nc_waiter *w, struct nc_patience *p)
{
    struct nc_atomic *until = until_of(w);
    uint64_t before = now_ns(), asleep, yields;

    step_aside(w, true);
    sched_yield();
    step_aside(w, false);
    p->now = now_ns();
    w->yields++;
    if (w->unsure && p->now - before > RAN_NS)
        w->shared_until = p->now + SHARED_NS;
    if (!w->gentle || p->now - before < late_ns(w))
        return;
    yields = w->yields;
    w->yields = 0;
    if (p->now - before < yields * WORTH_NS)
        return;
    asleep = nc_atomic_acquire(until);
    if (p->now - w->late < RECENT_NS || p->now - asleep < RECENT_NS)
        nc_atomic_release(until, p->now + ASLEEP_NS); /* only a hint: orders nothing */
    w->late = p->now;
}

/* How long the next sleep may last. */
static uint64_t sleep_ns(const struct nc_waiter *w, const struct nc_patience *p, bool rung)
{
    uint64_t ns = SLEEP_FIRST_NS << (p->sleeps < 5 ? p->sleeps : 5);

    return rung && !(w->is_wanted && w->is_wanted(w->context)) ? NC_WAIT_SLEEP_NS
           : ns < SLEEP_MOST_NS                                ? ns
                                                               : SLEEP_MOST_NS;
}

bool nc_wait_sleep(struct nc_waiter *w, struct nc_patience *p, uint32_t heard, bool rung)
{
    uint64_t ns = sleep_ns(w, p, rung), before = now_ns();
    bool passed = true;

    step_aside(w, true);
    if (w->bell)
        passed = nc_bell_sleep(w->bell, heard, ns);
    else
        nc_bell_pause(ns);
    step_aside(w, false);
    p->sleeps++;
    p->now = now_ns();
    w->asleep_ns += p->now - before;
    return passed;
}

int nc_wait_spins_of(uint64_t ns)
{
    enum { TRIED = 64, LEAST = 20 };
    uint64_t took, spins;

    /* the shortest of several, as something else may run meanwhile */
    took = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t start = now_ns(), t;
        for (int k = 0; k < TRIED; k++)
            nc_atomic_pause();
        t = now_ns() - start;
        took = t < took ? t : took;
    }
    spins = ns * TRIED / (took ? took : 1);
    return spins < LEAST ? LEAST : spins < NC_WAIT_SPINS ? (int) spins : NC_WAIT_SPINS;
}

/* ---- the wait ---- */

/* What a wait is for: one of n words. */
struct goal {
    const struct nc_awaited *awaited;
    int n;
};

/* Whether one of the words has reached its clock. */
static inline bool is_reached(const struct goal *g)
{
    for (int k = 0; k < g->n; k++) {
        if (nc_clock_reached(nc_atomic_acquire(g->awaited[k].word), g->awaited[k].clock))
            return true;
    }
    return false;
}

/* The same, in one order with the marks of sleepers (Q4). */
static bool is_reached_ordered(const struct goal *g)
{
    for (int k = 0; k < g->n; k++) {
        if (nc_clock_reached(nc_atomic_load_ordered(g->awaited[k].word), g->awaited[k].clock))
            return true;
    }
    return false;
}

/* One round of loads; whether the goal is reached. */
static bool spin(const struct goal *g, int spins)
{
    for (int i = 0; i < spins; i += g->n) {
        if (is_reached(g))
            return true;
        nc_atomic_pause();
    }
    return false;
}

/* Calls progress, unless it has failed, until it has no more to do or the wait is over: others may
 * give it more and more to do. */
static void look_after_mpich(struct nc_waiter *w, const struct goal *g)
{
    do {
        w->busy = false;
        if (w->progress && w->error == 0)
            w->error = w->progress(w->context);
    } while (w->busy && w->error == 0 && !is_reached(g));
}

/* Parks, looks once more at the clocks and at MPICH's queues, and sleeps (Q1 to Q7). */
static void sleep_for(const struct goal *g, struct nc_waiter *w, struct nc_patience *p)
{
    uint32_t heard = w->bell ? nc_bell_listen(w->bell) : 0; /* Q1 */

    if (w->parking)
        nc_parking_enter(w->parking, g->awaited, g->n);       /* Q2, Q3 */
    if (!is_reached_ordered(g)) {                             /* Q4 */
        look_after_mpich(w, g);                               /* Q5 */
        if (nc_wait_sleep(w, p, heard, w->parking != NULL) && /* Q6 */
            w->parking && is_reached(g))
            w->missed++;
    }
    if (w->parking)
        nc_parking_leave(w->parking, g->awaited, g->n); /* Q7 */
}

void nc_wait_any(const struct nc_awaited *awaited, int n, struct nc_waiter *w)
{
    const struct goal goal = {awaited, n};
    int spins = w->yield || w->sleep ? OVERSUBSCRIBED_SPINS : w->spins ? w->spins : NC_WAIT_SPINS;
    unsigned yields = !w->yield                        ? 1
                      : w->ranks > YIELDS_PER_PROGRESS ? w->ranks
                                                       : YIELDS_PER_PROGRESS;
    struct nc_patience patience = {0};
    uint64_t *ended = &w->ended_spinning;

    for (unsigned round = 0; !spin(&goal, spins); round++) {
        enum nc_stage stage = nc_wait_stage(w, &patience);

        if (stage == NC_STAGE_SLEEP) {
            sleep_for(&goal, w, &patience);
            ended = &w->ended_asleep;
            continue;
        }
        if (stage == NC_STAGE_YIELD)
            nc_wait_yield(w, &patience);
        if (ended != &w->ended_asleep)
            ended = stage == NC_STAGE_YIELD ? &w->ended_yielding : &w->ended_in_progress;
        if (stage == NC_STAGE_SPIN || round % yields == yields - 1)
            look_after_mpich(w, &goal);
    }
    ++*ended;
}

void nc_release_and_wake(struct nc_atomic *word, nc_clock clock, struct nc_parking *parking)
{
    nc_atomic_store_ordered(word, clock);  /* W1; the caller says which release it is */
    nc_parking_wake(parking, word, clock); /* W2, W3 */
}
