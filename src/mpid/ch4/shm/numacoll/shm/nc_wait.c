/* The slow part of a wait. nc_wait_clock (nc_wait.h) calls it when its first look has failed. One
 * round spins, then calls MPICH's progress engine; after some time without success, or from the
 * first round on when ranks outnumber processors, a round also yields the CPU. PROTOCOLS.md,
 * section 5. */

#define _GNU_SOURCE
#include "nc_wait.h"

#include <sched.h>
#include <time.h>

/* After this time the CPU is yielded even if the affinity masks show a processor for every rank: a
 * container may have a quota that is smaller. */
#define FRUITLESS_NS 50000
/* Loads in a round when ranks outnumber processors, and what a small message then takes. */
#define OVERSUBSCRIBED_SPINS \
    5 /* 4 ranks on 2 processors, 4 bytes: 4.6 us; with 20: 5.3 us, 60: 7.4 us, 150: 11.7 us */

/* Where the CPU is yielded, the rank waited for needs it more than this rank's progress engine
 * does. So progress is called in one of this many rounds, or in one of waiter->ranks rounds if that
 * is more. Barriers of 64 ranks on 2 processors: 16 takes 0.7 of the time of 4; 64 about 0.93 of
 * the time of 16. */
#define YIELDS_PER_PROGRESS 16

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* One round of loads; whether `wanted` is reached. */
static bool spin(const struct nc_atomic *at, nc_clock wanted, int spins)
{
    for (int i = 0; i < spins; i++) {
        if (nc_clock_reached(nc_atomic_acquire(at), wanted))
            return true;
        nc_atomic_pause();
    }
    return false;
}

int nc_wait_slowly(const struct nc_atomic *at, nc_clock wanted, struct nc_waiter *waiter)
{
    int spins = waiter->yield ? OVERSUBSCRIBED_SPINS : NC_WAIT_SPINS;
    unsigned yields = waiter->ranks > YIELDS_PER_PROGRESS ? waiter->ranks : YIELDS_PER_PROGRESS;
    uint64_t start = 0, *ended = &waiter->ended_spinning;

    for (unsigned round = 0; !spin(at, wanted, spins); round++) {
        bool give_away = waiter->yield;

        if (!give_away) {
            if (start == 0)
                start = now_ns();
            give_away = now_ns() - start > FRUITLESS_NS;
        }
        if (give_away) {
            sched_yield();
            ended = &waiter->ended_yielding;
        } else {
            ended = &waiter->ended_in_progress;
        }
        if (waiter->progress && (!give_away || round % yields == yields - 1)) {
            int error = waiter->progress(waiter->context);
            if (error)
                return error;
        }
    }
    ++*ended;
    return 0;
}
