/* What the programs of this folder share: two or three ranks as threads, for a model checker that
 * tries all executions which the memory model of C11 allows. The ranks use the component's own
 * functions; run compiles each program with these, and with mutants of them.
 *
 * A wait is an assumption: executions in which a load would find too old a value, so that the wait
 * would go on, are left out. */

#ifndef LITMUS_H_INCLUDED
#define LITMUS_H_INCLUDED

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

void __VERIFIER_assume(bool condition);

/* the futexes are modelled by the programs */
#define syscall(...)   0
#define nanosleep(...) 0

#include "shm/nc_bell.c"
#include "shm/nc_parking.c"

static inline void await(const struct nc_atomic *at, nc_clock wanted)
{
    __VERIFIER_assume(nc_clock_reached(nc_atomic_acquire(at), wanted));
}

/* Runs two ranks, or three, each in a thread. */
static inline void run(int ranks, void *(*rank)(void *) )
{
    static int number[3] = {0, 1, 2};
    pthread_t thread[3];

    for (int i = 0; i < ranks; i++)
        pthread_create(&thread[i], NULL, rank, &number[i]);
    for (int i = 0; i < ranks; i++)
        pthread_join(thread[i], NULL);
}

#endif
