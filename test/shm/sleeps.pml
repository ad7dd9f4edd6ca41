/* A model of how a rank sleeps while it waits for a word in shared memory, and of how it is woken, for Spin: every interleaving
 * of the steps, and of the moments at which plain stores take effect. ./spin runs it.
 *
 * What is in the model, and what it is in the code (src/mpid/ch4/shm/numacoll/shm: nc_bell.c, nc_parking.c, nc_wait.c). Steps
 * S, W and B are numbered as there.
 *   CLOCK          any word that ranks wait for: the clock of a control slot, an ack, a line, a counter or a gate of a barrier
 *   BELL           the futex word of a process. Bit 0: a thread sleeps on it, or is about to; the other bits: number of rings
 *   MASK           the mask of a bucket of clocks; the bit of a rank: it is parked for a clock of this bucket
 *   AT, WANTED     what a rank is parked for: the clock (0: none) and the value
 *   QUEUE          the number of messages in MPICH's queue of a process (the terminal of genq); taken: how many are taken out
 *   CELL           a cell that has come back to the pool of MPICH, for the message of a process whose send is postponed
 *   wait_for       Q1 to Q7, the sleeper
 *   leave          Q7: nc_parking_leave
 *   move           W1 to W3, the releaser
 *   wake_waiters   W2, W3: nc_parking_wake
 *   ring           U1 to U3
 *   send           MPICH: to put a message into the queue of another process
 *   poll           MPICH: one call of the progress engine. It takes one message, no more (MPIDI_POSIX_progress_recv)
 *   futex_wait     the kernel's: compares the word and queues the thread in one step. A sleep has no limit in the model, but
 *                  see TIMEOUTS
 *   futex_wake     the kernel's: wakes all threads that are queued on the word
 *
 * The order of memory. A plain store (STORE) goes to the store buffer of its processor and takes effect at any later time; two
 * stores to different words take effect in any order, as relaxed stores do in C. An atomic change of a word, and FENCE, first
 * wait until the buffer is empty; so does the kernel. A sequentially consistent store is a STORE and a FENCE. No process loads
 * a word that is in its own buffer. With STRONG each store takes effect at once. Loads are not delayed, and no load comes
 * early. That the loads of the poll (Q5) come after Q1 needs a fence in the code, because MPICH's loads are not sequentially
 * consistent: see MUTANT_POLLS_EARLY.
 *
 * When no process can take a step any more, and some thread sleeps, then one of these is false:
 *   !slept_through_clock      no thread sleeps although its clock has reached the value that it wants
 *   !slept_through_message    no thread sleeps although a message is in the queue of its process
 *   !slept_through_cell       no thread sleeps although the postponed send of its process could be made
 *
 * Who is there; one of
 *   (no define)      one sleeper, which waits three times, for two clocks in turn; one releaser, which sends MESSAGES messages
 *                    (1 or 2) to the sleeper after its first release, and waits until they are taken
 *   TWO              two sleepers, which want different values of one clock; a releaser, which moves it three times, and
 *                    waits in between until one of them has taken a message
 *   COUNTER          two sleepers, as of TWO; two releasers, which add to the clock and ring the same bells
 *   THREADS          one process with two threads on its one bell. They use different communicators, each of which has its own
 *                    masks and its own AT and WANTED; a releaser for each, one of which sends the process a message first
 *   MUTUAL           two processes, each a sleeper and a releaser, which wait for each other in turn
 *   CROWD=n          n sleepers for one clock, 2 or 3; a releaser, which sends MESSAGES messages (0 or 1) to sleeper 0 and
 *                    moves the clock once. With HIGHER sleeper 0 wants a second value, with OTHER another clock; the releaser
 *                    moves to that when the other sleepers have gone
 *   ANY=c            sleeper 0 waits for either of two clocks (nc_wait_any with two words), sleeper 1 for clock c: 0 is one of
 *                    these two, 2 is another. A releaser moves clock c if it is 2, then one of the two, waits until sleeper 0
 *                    has gone, and moves the other
 *   TEAM             two processes. Sleepers 0 and 1 are threads of the first, in different communicators; sleeper 2 is the
 *                    other process and wants the clock of sleeper 1. A releaser of both, in either order
 * and besides
 *   AT_ONCE=n        W3 stops after so many rings that found bit 0 of the bell set
 *   TIMEOUTS=n       so many sleeps may end by themselves. Who rings cannot tell such a thread from one that sleeps, because
 *                    its bit in the bell stays; so in the model it does not begin to sleep at all
 *   BUCKETS=n        into so many buckets are the two clocks hashed: 1 or 2
 *   POSTPONED        the process of the sleeper has a send that is postponed until the releaser gives back a cell. That rings
 *                    no bell; so the process does not sleep before it has made the send. The releaser waits for the send
 *   COUNTS=n         number of rings after which the count in a bell is 0 again
 *   MARKS_STAY       Q7 takes nothing back, so that a mark may be of an earlier sleep. That is wrong if W3 rings fewer than
 *                    all: the ring may be spent on a rank that has left
 *   PLACES_STAY      Q7 takes the bit back, but not AT
 *   COUNTS_VAIN      W3 counts rings that found bit 0 clear, too
 * MUTANT_...         breaks one rule; Spin must find an error. What may surprise:
 *   MUTANT_PARK_LATE           Q2 comes between Q3 and Q4. It is wrong only because the stores of Q2 may take effect late
 *   MUTANT_POLLS_EARLY         Q5 comes before Q1; or its loads do, in the processor, if there is no fence between
 *   MUTANT_POLLS_ONCE          the thread sleeps after one poll, though that poll has taken a message and there is another one
 *   MUTANT_SHARED_BIT          two ranks have one bit in the masks: the first to wake takes it back from the other
 *   MUTANT_PARKED_OF_PROCESS   masks, AT and WANTED are one for all communicators, so that two threads of a process share them
 *   MUTANT_LEAVING_CLEARS_BELL Q7 clears bit 0 of the bell, on which another thread may sleep
 *   MUTANT_PASSES_NOTHING      Q7 wakes nobody
 *   MUTANT_PASSES_OLD          Q7 wakes others with a value of the clock that it has loaded before it takes its bit back
 *   MUTANT_PASSES_EARLY        Q7 wakes others first (not itself), and takes its bit back after that
 *   MUTANT_SEER_PASSES_NOTHING, MUTANT_TIMED_OUT_PASSES_NOTHING   a rank that has seen the clock in Q4, or whose sleep has
 *                              ended by itself, wakes nobody in Q7; but the releaser may have counted it as woken
 *   MUTANT_ANY_MARKS_ONE, MUTANT_ANY_LOOKS_AT_ONE      who waits for several words does Q3, or Q4, for the first of them only
 *   MUTANT_COUNTS_ANY          W3 counts a ring to who waits for several words, of which the clock that was moved may be none
 *   MUTANT_COUNTS_HIGHER, MUTANT_COUNTS_OTHERS         W3 counts ranks that it does not ring: they want a higher value, or
 *                              another clock of the bucket */

#if defined(CROWD)
#define SLEEPERS CROWD
#elif defined(TEAM)
#define SLEEPERS 3
#elif defined(TWO) || defined(ANY) || defined(THREADS) || defined(COUNTER) || defined(MUTUAL)
#define SLEEPERS 2
#else
#define SLEEPERS 1
#endif
#if defined(THREADS) || defined(COUNTER)
#define RELEASERS 2
#elif defined(MUTUAL)
#define RELEASERS 0
#else
#define RELEASERS 1
#endif

#ifndef BUCKETS
#define BUCKETS 2
#endif
#ifndef MESSAGES
#ifdef CROWD
#define MESSAGES 0
#else
#define MESSAGES 1
#endif
#endif
#ifndef AT_ONCE
#define AT_ONCE 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif
#ifndef COUNTS
#define COUNTS 8                /* more than the rings of a run */
#endif

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

#define CLOCK(c) ((c) == 2 -> 18 : (c))         /* 3 clocks; the third only for ANY */
#define BELL(process) (2 + (process))   /* one more than sleepers: a releaser's process, which never sleeps */
#define MASK(bucket) (6 + (bucket))
#define AT(entry) (8 + (entry))
#define WANTED(entry) (11 + (entry))
#define QUEUE(process) (14 + (process))
#define CELL 17
#define WORDS 19

byte memory[WORDS];

chan buffer[SLEEPERS + RELEASERS] = [3] of { byte, byte };      /* store buffers: word, value */

#define FENCE empty(buffer[_pid])

#ifdef STRONG
#define STORE(word, value) memory[word] = value
#else
#define STORE(word, value) buffer[_pid]!word, value
#endif

/* Sleeper t: its process; the entry (AT, WANTED) and the bit in a mask of its rank. The masks of a communicator of THREADS
 * are those of its clock. */
#if defined(THREADS)
#define PROCESS(t) 0
#elif defined(TEAM)
#define PROCESS(t) ((t) / 2)
#else
#define PROCESS(t) (t)
#endif

#ifdef MUTANT_PARKED_OF_PROCESS
#define ENTRY(t) 0
#define BUCKET(c) 0
#else
#define ENTRY(t) (t)
#define BUCKET(c) ((c) % BUCKETS)
#endif

#ifdef MUTANT_SHARED_BIT
#define BIT(entry) 1
#else
#define BIT(entry) (1 << (entry))
#endif

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

byte asleep[SLEEPERS];          /* 0: awake; otherwise one plus the clock that the thread waits for */
byte wants[SLEEPERS];           /* the value that the thread waits for */

/* futex_wait queues the thread, or returns at once */
#define WAITS(process, expected) (FENCE && memory[BELL(process)] == expected)
#define RETURNS(process, expected) (FENCE && memory[BELL(process)] != expected)

inline futex_wake(process)
{
    d_step {
#ifdef MUTANT_WAKES_ONE
        if
        :: asleep[0] != 0 -> asleep[0] = 0
        :: asleep[1] != 0 -> asleep[1] = 0
        :: else
        fi;
#else
        if
        :: PROCESS(0) == process -> asleep[0] = 0
        :: else
        fi;
#if SLEEPERS >= 2
        if
        :: PROCESS(1) == process -> asleep[1] = 0
        :: else
        fi;
#endif
#if SLEEPERS >= 3
        if
        :: PROCESS(2) == process -> asleep[2] = 0
        :: else
        fi;
#endif
#endif
    }
}

/* ---- ring -------------------------------------------------------------------------------------------------------- */

#define RUNG(b) ((((b) + 2) & 254) % (2 * COUNTS))

#ifdef MUTANT_WRONG_BELL
#define RINGS_AT(process) ((process) + 1)
#else
#define RINGS_AT(process) (process)
#endif

/* W3 looks at one entry after the other. mask: what is still to be done; woken: how many rings count. */
#define NOBODY 7
#define NEXT(entry) ((mask & ((2 << (entry)) - 1)) == (1 << (entry)))   /* W3 has come to this one */
#define REST(entry) (mask & (255 - (1 << (entry))))
#define PASS_BY(entry) mask = REST(entry); woken = (mask -> woken : 0)
#define COUNT_IF(counts, entry) woken = woken + (counts); mask = (woken < AT_ONCE -> REST(entry) : 0); woken = (mask -> woken : 0)
#define COUNT(entry) COUNT_IF(1, entry)
#ifdef COUNTS_VAIN
#define ON_VAIN(entry) COUNT(entry)
#else
#define ON_VAIN(entry) PASS_BY(entry)
#endif
#ifdef MUTANT_COUNTS_HIGHER
#define ON_HIGHER(entry) COUNT(entry)
#else
#define ON_HIGHER(entry) PASS_BY(entry)
#endif
#ifdef MUTANT_COUNTS_OTHERS
#define ON_OTHER(entry) COUNT(entry)
#else
#define ON_OTHER(entry) PASS_BY(entry)
#endif

/* entry: whom W3 wakes, or NOBODY; counts: 1 if a ring that finds it asleep counts */
inline ring(process, entry, counts)
{
    do
    :: d_step { !(memory[BELL(RINGS_AT(process))] & 1) -> ON_VAIN(entry) };             /* U1 */
        break
    :: d_step { memory[BELL(RINGS_AT(process))] & 1 -> bell = memory[BELL(RINGS_AT(process))] };
        if
        :: d_step {
                FENCE && memory[BELL(RINGS_AT(process))] == bell ->             /* U2 */
                memory[BELL(RINGS_AT(process))] = RUNG(bell);
                bell = 0;
                COUNT_IF(counts, entry)
            };
#ifndef MUTANT_NO_WAKE
            futex_wake(RINGS_AT(process));                                      /* U3 */
#endif
            break
        :: d_step { FENCE && memory[BELL(RINGS_AT(process))] != bell -> bell = 0 }
        fi
    od
}

/* ---- the releaser ------------------------------------------------------------------------------------------------ */

#ifdef MUTANT_WRONG_BUCKET
#define LOOKS_INTO(c) ((BUCKET(c) + 1) % 2)
#else
#define LOOKS_INTO(c) BUCKET(c)
#endif

/* What W2 finds in the mask: the entries of the ranks that W3 looks at. Who wakes others has taken its own bit back; if it has
 * not, it leaves itself out. */
#if defined(MUTANT_SHARED_BIT)
#define PARKED(c) (memory[MASK(LOOKS_INTO(c))] -> 3 & (255 - (1 << _pid)) : 0)
#elif defined(MARKS_STAY) || defined(MUTANT_PASSES_EARLY)
#define PARKED(c) (memory[MASK(LOOKS_INTO(c))] & (255 - BIT(ENTRY(_pid))))
#else
#define PARKED(c) memory[MASK(LOOKS_INTO(c))]
#endif

#define SEVERAL 9               /* NC_PLACE_ANY */
#ifdef MUTANT_COUNTS_ANY
#define COUNTS_ANY 1
#else
#define COUNTS_ANY 0
#endif
#ifdef ANY
#define WAKE_ANY(entry) :: NEXT(entry) && memory[AT(entry)] == SEVERAL -> ring(PROCESS(entry), entry, COUNTS_ANY)
#else
#define WAKE_ANY(entry)
#endif

/* W3 for one rank: one branch of a loop, in which `mask` is what is still to be done */
#define WAKE_WAITER(entry, c, v) \
    :: NEXT(entry) && memory[AT(entry)] == c + 1 -> \
        if \
        :: v >= memory[WANTED(entry)] -> ring(PROCESS(entry), entry, 1) \
        :: d_step { v < memory[WANTED(entry)] -> ON_HIGHER(entry) } \
        fi \
    WAKE_ANY(entry) \
    :: d_step { NEXT(entry) && memory[AT(entry)] != c + 1 && memory[AT(entry)] != SEVERAL -> ON_OTHER(entry) }

/* W2, W3: after clock c has been moved to v */
inline wake_waiters(c, v)
{
    mask = PARKED(c);
    do
    :: mask == 0 -> break
    WAKE_WAITER(0, c, v)
#if SLEEPERS >= 2
    WAKE_WAITER(1, c, v)
#endif
#if SLEEPERS >= 3
    WAKE_WAITER(2, c, v)
#endif
    od
}

inline move(c, v)
{
    /* W1 */
    STORE(CLOCK(c), v);
#ifndef MUTANT_RELEASER_NO_FENCE
    FENCE;
#endif
    wake_waiters(c, v)
}

/* Another releaser may add to the clock, too. */
inline add(c)
{
    d_step {
        FENCE ->
        memory[CLOCK(c)]++;
        sum = memory[CLOCK(c)];
    }
    wake_waiters(c, sum);
    sum = 0
}

/* ---- MPICH ------------------------------------------------------------------------------------------------------- */

byte taken[SLEEPERS];                  /* by process */
#ifdef POSTPONED
bool postponed = true;          /* process 0 has a send that is postponed */
#else
#define postponed false
#endif

/* The n-th message to the process. */
inline send(process, n)
{
    STORE(QUEUE(process), n);
#ifndef MUTANT_SENDER_NO_FENCE
    FENCE;
#endif
#ifndef MUTANT_SENDER_SILENT
    ring(process, NOBODY, 1)
#endif
}

inline poll(process)
{
    d_step {
        if
        :: memory[QUEUE(process)] > taken[process] -> taken[process]++; found = true
        :: else
        fi;
#ifdef POSTPONED
        if
        :: process == 0 && postponed && memory[CELL] -> postponed = false; found = true
        :: else
        fi;
#ifndef MUTANT_SLEEPS_POSTPONED
        if
        :: process == 0 && postponed -> found = true
        :: else
        fi;
#endif
#endif
#ifdef MUTANT_POLLS_ONCE
        found = false
#endif
    }
}

/* ---- the sleeper ------------------------------------------------------------------------------------------------- */

#define REACHED(c, w) (memory[CLOCK(c)] >= (w))

#ifdef MUTANT_NO_LOOK
#define REACHED_AFTER_MARK(c, w) false
#else
#define REACHED_AFTER_MARK(c, w) REACHED(c, w)
#endif

inline hear(process)
{
    d_step {
        FENCE ->
        memory[BELL(process)] = memory[BELL(process)] | 1;
        heard = memory[BELL(process)];
    }
}

inline park(c, w)
{
#ifdef STRONG
    STORE(WANTED(ENTRY(_pid)), w);
    STORE(AT(ENTRY(_pid)), c + 1)
#else
    d_step { STORE(WANTED(ENTRY(_pid)), w); STORE(AT(ENTRY(_pid)), c + 1) }    /* nobody sees them go to the buffer */
#endif
}

inline mark(c)
{
    d_step {
        FENCE ->
        memory[MASK(BUCKET(c))] = memory[MASK(BUCKET(c))] | BIT(ENTRY(_pid));
    }
}

/* W2, W3 with the value that the clock has now */
inline pass_on(c)
{
    now = memory[CLOCK(c)];
    wake_waiters(c, now);
    now = 0
}

/* The bit first: who has moved the clock and still found the bit relies on this rank to see that clock, or a later one, and to
 * wake others. */
inline leave(c, process)
{
#ifdef MUTANT_LEAVING_CLEARS_BELL
    d_step {
        FENCE ->
        memory[BELL(process)] = memory[BELL(process)] & 254;
    }
#endif
#ifdef MUTANT_PASSES_OLD
    now = memory[CLOCK(c)];
#endif
#ifdef MUTANT_PASSES_EARLY
    pass_on(c);
#endif
    atomic {
        FENCE ->
#ifndef MARKS_STAY
        memory[MASK(BUCKET(c))] = memory[MASK(BUCKET(c))] & (255 - BIT(ENTRY(_pid)));
#ifndef PLACES_STAY
        STORE(AT(ENTRY(_pid)), 0);
#endif
#endif
        found = false;
        heard = 0
    }
#ifdef MUTANT_PASSES_OLD
    wake_waiters(c, now);
    now = 0
#elif defined(MUTANT_SEER_PASSES_NOTHING) || defined(MUTANT_TIMED_OUT_PASSES_NOTHING)
    if
    :: silent -> silent = false
    :: else -> pass_on(c)
    fi
#elif !defined(MUTANT_PASSES_NOTHING) && !defined(MUTANT_PASSES_EARLY)
    pass_on(c)
#endif
}

byte timeouts = TIMEOUTS;

inline wait_for(c, w, process)
{
    do
    :: REACHED(c, w) -> break
    :: else ->
#ifdef MUTANT_POLLS_EARLY
        poll(process);
#endif
#ifndef MUTANT_HEARD_LATE
        /* Q1 */
        hear(process);
#endif
#ifndef MUTANT_PARK_LATE
        /* Q2 */
        park(c, w);
#endif
#ifndef MUTANT_MARK_LATE
        /* Q3 */
        mark(c);
#endif
#ifdef MUTANT_PARK_LATE
        park(c, w);
#endif
        if
        :: REACHED_AFTER_MARK(c, w)     /* Q4 */
#ifdef MUTANT_SEER_PASSES_NOTHING
            -> silent = true
#endif
        :: else ->
#ifdef MUTANT_MARK_LATE
            mark(c);
#endif
#ifdef MUTANT_HEARD_LATE
            hear(process);
#endif
#if !defined(MUTANT_NO_POLL) && !defined(MUTANT_POLLS_EARLY)
            /* Q5 */
            poll(process);
#endif
            if
            :: found                    /* perhaps there is more */
            /* Q6 */
            :: d_step { !found && WAITS(process, heard) -> asleep[_pid] = c + 1; wants[_pid] = w };
                d_step { asleep[_pid] == 0 -> wants[_pid] = 0 }
            :: !found && RETURNS(process, heard)
#if TIMEOUTS > 0
            :: d_step {
                    !found && timeouts > 0 -> timeouts--;
#ifdef MUTANT_TIMED_OUT_PASSES_NOTHING
                    silent = true
#endif
                }
#endif
            fi
        fi;
        /* Q7 */
        leave(c, process)
    od
}

#ifdef ANY

#define REACHED_ANY(w) (REACHED(0, w) || REACHED(1, w))
#ifdef MUTANT_ANY_LOOKS_AT_ONE
#define REACHED_ANY_AFTER_MARK(w) REACHED(0, w)
#else
#define REACHED_ANY_AFTER_MARK(w) REACHED_ANY(w)
#endif

bool through;                   /* sleeper 0 has done everything */

/* As wait_for, until clock 0 or clock 1 has reached w. */
inline wait_for_any(w, process)
{
    do
    :: REACHED_ANY(w) -> break
    :: else ->
        hear(process);                  /* Q1 */
        STORE(AT(ENTRY(_pid)), SEVERAL);        /* Q2 */
        mark(0);                        /* Q3 */
#ifndef MUTANT_ANY_MARKS_ONE
        mark(1);
#endif
        if
        :: REACHED_ANY_AFTER_MARK(w)    /* Q4 */
        :: else ->
            poll(process);              /* Q5 */
            if
            :: found
            :: d_step { !found && WAITS(process, heard) -> asleep[_pid] = SEVERAL; wants[_pid] = w };   /* Q6 */
                d_step { asleep[_pid] == 0 -> wants[_pid] = 0 }
            :: !found && RETURNS(process, heard)
            fi
        fi;
        atomic {                        /* Q7 */
            FENCE ->
            memory[MASK(BUCKET(0))] = memory[MASK(BUCKET(0))] & (255 - BIT(ENTRY(_pid)));
            found = false;
            heard = 0
        };
        atomic {
            FENCE ->
            memory[MASK(BUCKET(1))] = memory[MASK(BUCKET(1))] & (255 - BIT(ENTRY(_pid)));
            STORE(AT(ENTRY(_pid)), 0)
        };
        pass_on(0);
        pass_on(1)
    od
}

#endif

/* ---- the processes ----------------------------------------------------------------------------------------------- */

byte over;                      /* sleepers and releasers that have done everything */

#ifdef MUTUAL

active [SLEEPERS] proctype sleeper()
{
    byte n, heard, mask, bell, woken, now;
    bool found, silent;

    do
    :: n < 3 ->
        n++;
        if
        :: _pid == 0 ->
            move(0, n);
            wait_for(1, n, 0)
        :: else ->
            wait_for(0, n, 1);
            move(1, n)
        fi
    :: else -> break
    od;
    over++
}

#else

active [SLEEPERS] proctype sleeper()
{
    byte heard, mask, bell, woken, now;
    bool found, silent;

#if defined(TWO)
    wait_for(0, 1 + _pid, _pid);
    wait_for(0, 3, _pid);
#elif defined(COUNTER)
    if
    :: _pid == 0 -> wait_for(0, 1, 0)
    :: else
    fi;
    wait_for(0, 2, _pid);
#elif defined(THREADS)
    wait_for(_pid, 1, 0);
#elif defined(ANY)
    if
    :: _pid == 0 -> wait_for_any(1, 0); through = true
    :: else -> wait_for(ANY, 1, 1)
    fi;
#elif defined(TEAM)
    wait_for((_pid != 0), 1, PROCESS(_pid));
#elif defined(CROWD)
#if defined(HIGHER)
    wait_for(0, (_pid == 0 -> 2 : 1), _pid);
#elif defined(OTHER)
    wait_for((_pid == 0), 1, _pid);
#else
    wait_for(0, 1, _pid);
#endif
#else
    wait_for(0, 1, 0);
    wait_for(1, 1, 0);
    wait_for(0, 2, 0);
#endif
    over++
}

active [RELEASERS] proctype releaser()
{
    byte mask, bell, woken, sum;

#ifdef TWO
    move(0, 1);
    send(1, 1);
    taken[1] == 1;
    move(0, 2);
    move(0, 3);
#elif defined(COUNTER)
    add(0);
#elif defined(THREADS)
    if
    :: _pid == SLEEPERS ->
        send(0, 1);
        taken[0] == 1;
        move(0, 1)
    :: else -> move(1, 1)
    fi;
#elif defined(ANY)
#if ANY == 2
    move(2, 1);
#endif
    if
    :: move(0, 1);
        through;
        move(1, 1)
    :: move(1, 1);
        through;
        move(0, 1)
    fi;
#elif defined(TEAM)
    if
    :: move(0, 1);
        move(1, 1)
    :: move(1, 1);
        move(0, 1)
    fi;
#elif defined(CROWD)
#if MESSAGES == 1
    send(0, 1);
#endif
    move(0, 1);
#if defined(HIGHER)
    over == SLEEPERS - 1;
    move(0, 2);
#elif defined(OTHER)
    over == SLEEPERS - 1;
    move(1, 1);
#endif
#else
    move(0, 1);
    send(0, 1);
#if MESSAGES == 2
    send(0, 2);
#endif
    taken[0] == MESSAGES;
#ifdef POSTPONED
    STORE(CELL, 1);
    !postponed;
#endif
    move(1, 1);
    move(0, 2);
#endif
    over++
}

#endif

/* ---- store buffers, and what is wrong when nothing moves any more ------------------------------------------------ */

bool slept_through_clock, slept_through_message, slept_through_cell;

#define DRAIN(processor, word) d_step { buffer[processor]??eval(word), value -> memory[word] = value; value = 0 }

inline judge(t)
{
    if
    :: asleep[t] != 0 ->
#ifdef ANY
        slept_through_clock = slept_through_clock ||
                              (asleep[t] == SEVERAL -> REACHED_ANY(wants[t]) : REACHED(asleep[t] - 1, wants[t]));
#else
        slept_through_clock = slept_through_clock || REACHED(asleep[t] - 1, wants[t]);
#endif
        slept_through_message = slept_through_message || memory[QUEUE(PROCESS(t))] > taken[PROCESS(t)];
        slept_through_cell = slept_through_cell || (PROCESS(t) == 0 && postponed && memory[CELL])
    :: else
    fi
}

active proctype store_buffers()
{
    byte value;

    do
    :: DRAIN(0, AT(ENTRY(0)))
    :: DRAIN(0, WANTED(ENTRY(0)))
#ifdef MUTUAL
    :: DRAIN(0, CLOCK(0))
    :: DRAIN(1, CLOCK(1))
#endif
#if SLEEPERS >= 2
    :: DRAIN(1, AT(ENTRY(1)))
    :: DRAIN(1, WANTED(ENTRY(1)))
#endif
#if SLEEPERS >= 3
    :: DRAIN(2, AT(ENTRY(2)))
    :: DRAIN(2, WANTED(ENTRY(2)))
#endif
#if RELEASERS >= 1
    :: DRAIN(SLEEPERS, CLOCK(0))
    :: DRAIN(SLEEPERS, CLOCK(1))
    :: DRAIN(SLEEPERS, QUEUE(0))
    :: DRAIN(SLEEPERS, QUEUE(1))
    :: DRAIN(SLEEPERS, CELL)
#endif
#ifdef ANY
    :: DRAIN(SLEEPERS, CLOCK(2))
#endif
#if RELEASERS == 2
    :: DRAIN(SLEEPERS + 1, CLOCK(1))
#endif
    :: timeout -> break         /* not a time-out of a sleep: Spin's word for "no other process can take a step" */
    od;
    atomic {
        judge(0);
#if SLEEPERS >= 2
        judge(1);
#endif
#if SLEEPERS >= 3
        judge(2)
#endif
    }
    assert(!slept_through_clock);
    assert(!slept_through_message);
    assert(!slept_through_cell);
    assert(over == SLEEPERS + RELEASERS)
}
