/* A model of how ranks agree to go on with a segment that they have kept (PROTOCOLS.md, section 6.2, K1 to K4), for Spin: every
 * interleaving of the steps of two ranks with two threads each. ./spin runs it. Each step takes effect at once.
 *
 * A thread of each rank makes communicators with the thread of the other rank that has the same number, thread 0 MAKES of them, thread 1
 * one: all of the same ranks, so that what one thread has freed the other may take. A rank may free a communicator long after the other
 * rank has. It keeps what it has freed or drops it, and offers any of what it keeps, or nothing.
 *
 * What is in the model, and what it is in the code (src/mpid/ch4/shm/numacoll: mpich/kept.c, `agree` in mpich/comm.c)
 *   where    of a rank's segment: not there, kept in the set, taken out of it as a candidate or just made, used by a communicator
 *   user     the communicator that uses it
 *   said     what a rank has said in a reduction; reductions of a pair of threads are numbered
 *   next     nc_segment.number of the next segment; local rank 0 numbers
 *
 *   MAKES=n (2) */

#ifndef MAKES
#define MAKES 2
#endif
#define THREADS 2
#define SEGMENTS (MAKES + 1) /* at most, numbered from 1 */
#define REDUCTIONS (3 * MAKES)

#define GONE 0
#define KEPT 1
#define TAKEN 2
#define USED 3

byte where[2 * (SEGMENTS + 1)], user[2 * (SEGMENTS + 1)];
byte said[2 * THREADS * REDUCTIONS];
bool has_said[2 * THREADS * REDUCTIONS];
byte next = 1;

#define MAKES_OF(thread) (thread == 0 -> MAKES : 1)
#define RANK (_pid / THREADS)
#define THREAD (_pid % THREADS)
#define OF(r, s) ((r) * (SEGMENTS + 1) + (s))
#define MINE(s) OF(RANK, s)
#define THEIRS(s) OF(1 - RANK, s)
#define SAYS(r) (((r) * THREADS + THREAD) * REDUCTIONS + reduction)

/* Says `mine`, waits for what the other rank says. */
inline reduce(mine) {
    d_step { said[SAYS(RANK)] = mine; has_said[SAYS(RANK)] = true }
    atomic { has_said[SAYS(1 - RANK)] -> theirs = said[SAYS(1 - RANK)]; reduction++ }
}

#ifdef MUTANT_OFFERS_USED
#define MAY_OFFER(s) (where[MINE(s)] == KEPT || where[MINE(s)] == USED)
#else
#define MAY_OFFER(s) (where[MINE(s)] == KEPT)
#endif
#define OFFER(s) :: MAY_OFFER(s) -> candidate = s

/* K1 */
inline take() {
    atomic {
        candidate = 0;
        if
        :: true
        OFFER(1) OFFER(2) OFFER(3)
#if MAKES > 2
        OFFER(4)
#endif
        fi;
#ifndef MUTANT_NOT_TAKEN_OUT
        if
        :: candidate != 0 -> where[MINE(candidate)] = TAKEN
        :: else
        fi
#endif
    }
}

inline keep_or_drop(s) {
    if
    :: where[MINE(s)] = KEPT
    :: where[MINE(s)] = GONE
    fi
}

#if defined(MUTANT_ONE_IS_ENOUGH)
#define GO_ON (candidate != 0 || theirs != 0)
#elif defined(MUTANT_NUMBERS_NOT_COMPARED)
#define GO_ON (candidate != 0 && theirs != 0)
#else
#define GO_ON (candidate != 0 && theirs == candidate)
#endif
#ifdef MUTANT_AGREES_ONCE
#define AGREE_AGAIN (candidate != 0)
#else
#define AGREE_AGAIN (candidate != 0 || theirs != 0)
#endif

/* The steps 1 to 5: one exchange is enough here. */
inline make() {
    atomic {
        segment = 0;
        if
        :: RANK == 0 -> segment = next; next++
        :: else
        fi
    }
    reduce(segment);
    segment = (RANK == 0 -> segment : theirs);
    where[MINE(segment)] = TAKEN
}

active [2 * THREADS] proctype thread() {
    byte makes, reduction, candidate, theirs, segment;
    bool again;

    do
    :: makes == MAKES_OF(THREAD) -> break
    :: makes < MAKES_OF(THREAD) ->
        take();
        reduce(candidate); /* K2 */
        if
        :: GO_ON -> segment = (candidate != 0 -> candidate : theirs) /* K3 */
        :: else -> /* K4 */
            again = AGREE_AGAIN;
            if
            :: candidate != 0 -> where[MINE(candidate)] = KEPT
            :: else
            fi;
            if
            :: again -> reduce(0)
            :: else
            fi;
            make()
        fi;
        d_step {
            assert(segment != 0);
            where[MINE(segment)] = USED;
            user[MINE(segment)] = THREAD * MAKES + makes;
            assert(where[THEIRS(segment)] != USED || user[THEIRS(segment)] == user[MINE(segment)])
        }
        atomic {
            keep_or_drop(segment); /* the communicator is freed */
            makes++;
            candidate = 0; theirs = 0; segment = 0; again = false
        }
    od
}
