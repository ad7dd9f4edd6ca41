/* MPICH's own blocking waits. MPICH calls these functions at the places that maint/graft edits: at
 * the start of a wait, before each poll of its progress engine in a wait, and after a message has
 * been put into another process's queue. MPI_Test, MPI_Iprobe and the progress engine itself never
 * come here. PROTOCOLS.md, section 5.3. Always built; without MPICH's posix shared-memory module
 * nobody turns it on. */

#include "mpiimpl.h"
#include "numacoll_mpir.h"
#include "numacoll_waits.h"
#include "rest.h"

bool MPIR_numacoll_resting;
unsigned MPIR_numacoll_moved;

static struct nc_bell *bells; /* [local ranks]; NULL: nobody rings */
static struct nc_waiter manner;

/* A wait of this thread. */
static _Thread_local struct {
    struct nc_waiter waiter;
    struct nc_patience patience;
    int polls;
    /* The bell is listened to since before the last poll: nothing came by then that it would not
     * announce, so the thread may sleep. */
    bool listening;
    uint32_t heard;
    unsigned moved; /* cells taken and sent until the last call */
    bool rung;
} wait;

void MPIR_numacoll_rests_start(struct nc_bell *bell, int mine, const struct nc_waiter *like)
{
    bells = bell;
    manner = *like;
    manner.bell = bells ? &bells[mine] : NULL;
    MPIR_numacoll_set_rests(true);
}

void MPIR_numacoll_rests_stop(void)
{
    MPIR_numacoll_set_rests(false);
}

void MPIR_numacoll_step_aside(void *unused, bool aside)
{
    (void) unused;
    if (aside)
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    else
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

void MPIR_numacoll_wait_begins(bool rung)
{
    struct nc_atomic until = wait.waiter.until_own;
    uint64_t late = wait.waiter.late, yields = wait.waiter.yields,
             shared_until = wait.waiter.shared_until;

    wait.waiter = manner;
    /* what earlier waits have learnt about yields still counts */
    wait.waiter.until_own = until;
    wait.waiter.late = late;
    wait.waiter.yields = yields;
    wait.waiter.shared_until = shared_until;
    wait.patience = (struct nc_patience){0};
    wait.polls = 0;
    wait.listening = false;
    wait.rung = rung;
}

/* Begins to listen; the caller polls after that. */
static void begin_to_listen(void)
{
    wait.heard = wait.waiter.bell ? nc_bell_listen(wait.waiter.bell) : 0;
    wait.listening = true;
}

/* Sleeps. Another thread of this process may end the wait without a ring (a message of the process
 * to itself), and so may a poll that finishes one step of a nonblocking collective and begins the
 * next; so the first sleeps are short even where all else rings. */
static void sleep_a_while(void)
{
    enum { SHORT_SLEEPS = 5 };

    nc_wait_sleep(&wait.waiter, &wait.patience, wait.heard,
                  bells && wait.rung && !MPIR_IS_THREADED && wait.patience.sleeps >= SHORT_SLEEPS);
}

/* The order is: listen (Q1), poll MPICH's queues (Q5), let the caller look at its request, sleep
 * (Q6). So the sleep is one call later than the decision. A poll that has taken or sent a cell
 * says nothing about the next one, and where cells move, a wait is not in vain: it begins anew. */
void MPIR_numacoll_wait_goes_on(void)
{
    enum { POLLS = 4 }; /* the first polls follow each other at once */

    unsigned moved = MPIR_numacoll_cells_moved();

    if (wait.moved != moved) {
        wait.moved = moved;
        MPIR_numacoll_wait_begins(wait.rung);
    } else if (wait.listening) {
        wait.listening = false;
        sleep_a_while();
    } else if (++wait.polls > POLLS) {
        switch (nc_wait_stage(&wait.waiter, &wait.patience)) {
            case NC_STAGE_SPIN:
                break;
            case NC_STAGE_YIELD:
                nc_wait_yield(&wait.waiter, &wait.patience);
                break;
            case NC_STAGE_SLEEP:
                begin_to_listen();
        }
    }
}

void MPIR_numacoll_ring(int local_rank)
{
    if (!bells)
        return;
    nc_atomic_fence(); /* the message is in the queue before the bell is looked at */
    if (nc_bell_is_awaited(&bells[local_rank]))
        nc_bell_ring(&bells[local_rank]);
}

/* One thread of a process makes these barriers, one after the other; `old` changes from each to the
 * next. */
bool MPIR_numacoll_start_sleep(const void *word, int old)
{
    enum { YIELDS = 50 };
    static int yields, last = -1;

    if (MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_off)
        return false;
    yields = old == last ? yields + 1 : 0;
    last = old;
    if (yields < YIELDS)
        return false;
    nc_futex_sleep(word, (uint32_t) old, 1000000);
    return true;
}

void MPIR_numacoll_start_wake(const void *word)
{
    if (MPIR_CVAR_NUMACOLL_YIELD != MPIR_CVAR_NUMACOLL_YIELD_off)
        nc_futex_wake(word);
}
