/* A model of nonblocking operations (PROTOCOLS.md, section 3.10, N1 to N4), for Spin: every interleaving of the steps of three ranks.
 * ./spin runs it. Each step takes effect at once.
 *
 * Each rank begins OPERATIONS operations, in one of which all ranks post, or one of them; and does what it can of those that are
 * open, in any order. It is blocked only if it can do nothing of any of them.
 *
 * What is in the model, and what it is in the code (src/mpid/ch4/shm/numacoll/shm: nc_nonblocking.c, nc_queue.c)
 *   kind[o]      nc_open.root; ALL: -1. Operations are numbered from 1
 *   clock, tag   the send control slots: the operation of the last announcement, and of the payload
 *   ack          operations ended, nc_nonblocking.ended
 *   used         nc_use.over of a send control slot
 *   over         nc_nonblocking.over, by slot; done: the same by operation, for the assertions
 *
 *   OPERATIONS=n (3), CONTROLS=n send control slots (2), RANKS=2 or 3 (3) */

#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#ifndef CONTROLS
#define CONTROLS 2
#endif
#ifndef RANKS
#define RANKS 3
#endif
#define ALL RANKS
#define SLOT(o) ((o) % CONTROLS)

typedef region_t {
    byte ack;
    byte clock[CONTROLS], tag[CONTROLS];
}
region_t region[RANKS];
byte kind[OPERATIONS + 1];
bool ready;

#define ME region[_pid]
#define POSTS(o) (kind[o] == ALL || kind[o] == _pid)
#define IS_OPEN(o) ((o) <= begun && !done[o])
#define IS_NEAR(o) ((o) - ME.ack <= CONTROLS)
#define ANNOUNCED(r, o) (region[r].clock[SLOT(o)] >= (o))

#ifdef MUTANT_SLOT_REUSED
#define FREE(o) true
#else
#define OTHER_ENDED(r, o) (r == _pid || region[r].ack >= used[SLOT(o)])
#if RANKS == 2
#define FREE(o) (OTHER_ENDED(0, o) && OTHER_ENDED(1, o))
#else
#define FREE(o) (OTHER_ENDED(0, o) && OTHER_ENDED(1, o) && OTHER_ENDED(2, o))
#endif
#endif
#ifdef MUTANT_OWN_REUSED
#define MAY_POST(o) FREE(o)
#else
#define MAY_POST(o) (IS_NEAR(o) && FREE(o))
#endif

#if defined(MUTANT_LAST_NOT_MET) || RANKS == 2
#define ALL_ANNOUNCED(o) (ANNOUNCED(0, o) && ANNOUNCED(1, o))
#else
#define ALL_ANNOUNCED(o) (ANNOUNCED(0, o) && ANNOUNCED(1, o) && ANNOUNCED(2, o))
#endif
#ifdef MUTANT_FAR
#define IS_MET(o) (kind[o] == ALL -> ALL_ANNOUNCED(o) : ANNOUNCED(kind[o], o))
#else
#define IS_MET(o) (IS_NEAR(o) && (kind[o] == ALL -> ALL_ANNOUNCED(o) : ANNOUNCED(kind[o], o)))
#endif

/* N2 */
inline post(o) {
#ifdef MUTANT_ANNOUNCES_EARLY
    ME.clock[SLOT(o)] = o;
#endif
    d_step { ME.tag[SLOT(o)] = o; used[SLOT(o)] = o; ME.clock[SLOT(o)] = o; posted[o] = true }
}

#define IS_THERE(r, o) ((kind[o] != ALL && kind[o] != r) || region[r].tag[SLOT(o)] == o)

/* N3, N4: reads what is there, then the ack goes on as far as it may. Whoever writes between two reads may do so before the first, too. */
inline finish(o) {
    d_step {
        assert(IS_THERE(0, o) && IS_THERE(1, o));
#if RANKS > 2
        assert(IS_THERE(2, o));
#endif
        done[o] = true;
#ifdef MUTANT_ENDS_EARLIER_ONES
        ME.ack = (o > ME.ack -> o : ME.ack)
#else
        over[SLOT(o)] = true;
        do
        :: over[SLOT(ME.ack + 1)] ->
            over[SLOT(ME.ack + 1)] = false;
            assert(ME.ack < OPERATIONS && done[ME.ack + 1]);
            ME.ack = ME.ack + 1
        :: else -> break
        od;
        assert(!over[SLOT(ME.ack + 1)])
#endif
    }
}

#define STEPS(o) \
    :: IS_OPEN(o) && POSTS(o) && !posted[o] && MAY_POST(o) -> post(o) \
    :: IS_OPEN(o) && (!POSTS(o) || posted[o]) && IS_MET(o) -> finish(o)

active [RANKS] proctype rank() {
    byte begun;
    byte used[CONTROLS];
    bool over[CONTROLS], done[OPERATIONS + 2], posted[OPERATIONS + 1];

    ready;
    do
    :: begun < OPERATIONS -> begun++ /* N1 */
    STEPS(1)
    STEPS(2)
#if OPERATIONS > 2
    STEPS(3)
#endif
#if OPERATIONS > 3
    STEPS(4)
#endif
#if OPERATIONS > 4
    STEPS(5)
#endif
    :: ME.ack == OPERATIONS -> break
    od
}

/* All sequences of kinds. Behind the ranks, which are processes 0 to RANKS - 1. */
active proctype starter() {
    byte o;

    atomic {
        for (o : 1 .. OPERATIONS) {
            if
            :: kind[o] = ALL
            :: kind[o] = 0
            :: kind[o] = 1
#if RANKS > 2
            :: kind[o] = 2
#endif
            fi
        }
        ready = true
    }
}
