/* A model of the barriers (PROTOCOLS.md, section 8, from which the step numbers are) for Spin: three ranks, three barriers,
 * every interleaving of their steps. ./spin runs it.
 *
 * What is in the model, and where it is in the code (src/mpid/ch4/shm/numacoll/shm):
 *   LINE, counter, gate   nc_barrier.h                nc_barrier_line, nc_barrier_counter, nc_barrier_gate
 *   tree                  nc_barrier_tree.c           arrival along the chain 2 1 0; release from 0 to 2 and 1, or by the gate
 *   central               nc_barrier_central.c
 *   combining             nc_barrier_combining.c      node 1 joins ranks 0 and 1, node 2 joins these two and rank 2
 *   dissemination         nc_barrier_dissemination.c  distances 1 and 2
 *
 * Each barrier is made by a random algorithm of those in ALGORITHMS, a set of bits; it is the same on all ranks. BETWEEN says
 * whether it has something to do between arrival and release: 0 no, 1 yes, 2 at random in each barrier. So any algorithm
 * follows any other.
 *
 * Asserted: no rank leaves, and rank 0 does nothing between, before all have entered; no rank leaves before rank 0 has done
 * it; lines and gates only grow. That no rank waits for ever is Spin's search for invalid end states.
 *
 * One step touches one shared location; a wait and the step that it permits are one step (what is waited for only grows).
 * Numbers of barriers are consecutive. The order of memory is not in the model: ThreadSanitizer checks it in test_barrier.c.
 *
 * MUTANT_... breaks one rule; Spin must find an error. */

#define RANKS 3
#define ROUNDS 2
#ifndef BARRIERS
#define BARRIERS 3
#endif

#define TREE 0
#define TREE_GATE 1
#define CENTRAL 2
#define COMBINING 3
#define DISSEMINATION 4

#ifndef ALGORITHMS
#define ALGORITHMS 31
#endif
#ifndef BETWEEN
#define BETWEEN 2
#endif

byte line[RANKS * ROUNDS];      /* [writer][signal] */
byte counter[RANKS];
byte gate[RANKS];

byte chosen[BARRIERS + 1];      /* the algorithm, by the number of the barrier */
bool with[BARRIERS + 1];        /* whether there is something between */
byte entered[RANKS];            /* the last barrier a rank has entered; for the assertions only, as done_between */
byte done_between;

#define LINE(writer, signal) line[(writer) * ROUNDS + (signal)]

#define RAISE(word) assert(word < n); word = n

#define ALL_ENTERED assert(entered[0] >= n && entered[1] >= n && entered[2] >= n)

/* ---- nc_barrier.h ---- */

inline signal(number)
{
    d_step { RAISE(LINE(_pid, number)) }
}

#define await(writer, number) LINE(writer, number) >= n

inline open(owner)
{
    d_step { RAISE(gate[owner]) }
}

#define pass(owner) gate[owner] >= n

inline between()
{
    if
    :: with[n] -> d_step { ALL_ENTERED; done_between = n }
    :: else
    fi
}

/* ---- tree ---- */

inline tell_children()
{
    /* step 4 */
    if
    :: chosen[n] == TREE_GATE -> open(0)
    :: else ->
        open(2);
#if !defined(MUTANT_CHILD_NOT_TOLD) && !defined(MUTANT_LINE_TWICE)
        open(1)
#endif
    fi
}

inline tree()
{
    if
    :: _pid == 0 ->
#ifdef MUTANT_TREE_BETWEEN_EARLY
        between();
        await(1, 0);
#else
        /* steps 1, 3 */
        await(1, 0);
#ifdef MUTANT_GATE_BEFORE_BETWEEN
        tell_children();
        between();
#else
        between();
#endif
#endif
#ifndef MUTANT_GATE_BEFORE_BETWEEN
        tell_children()
#endif
    :: else ->
        if
        :: _pid == 1 ->
#ifdef MUTANT_TREE_REPORTS_EARLY
            signal(0);
            await(2, 0)
#else
            /* steps 1, 2 */
            await(2, 0);
            signal(0)
#endif
        :: else -> signal(0)
        fi;
        /* step 5 */
        if
        :: chosen[n] == TREE_GATE -> pass(0)
#ifdef MUTANT_LINE_TWICE
        /* rank 1 is released by its child, in the line in which the child has reported its arrival */
        :: chosen[n] == TREE && _pid == 1 -> await(2, 0)
        :: chosen[n] == TREE && _pid == 2 -> pass(2)
#else
        :: else -> pass(_pid)
#endif
        fi
    fi
}

/* ---- central ---- */

#ifdef MUTANT_CENTRAL_MISCOUNTS
#define LAST(before, all) ((before) + 2 >= (all))
#else
#define LAST(before, all) ((before) + 1 == (all))
#endif

inline central()
{
    /* step 1 */
    d_step {
        before = counter[0];
        counter[0]++;
    }
    if
    :: (with[n] && _pid != 0) || (!with[n] && !LAST(before, before - before % RANKS + RANKS)) -> pass(0)
    :: else ->
#ifndef MUTANT_CENTRAL_BETWEEN_EARLY
        /* step 2 */
        if
        :: with[n] -> counter[0] >= before - before % RANKS + RANKS
        :: else
        fi;
#endif
        between();
        /* step 3 */
        open(0)
    fi;
    before = 0
}

/* ---- combining ---- */

#ifdef MUTANT_SHARED_COUNTER
#define NODE_1 0
#else
#define NODE_1 1
#endif

#ifdef MUTANT_COMBINING_BOTH_CLIMB
#define SECOND(before) true
#else
#define SECOND(before) ((before) % 2 == 1)
#endif

inline climb()
{
    /* step 1 */
    half = 1;
    if
    :: _pid < 2 ->
        d_step {
            before = counter[NODE_1];
            counter[NODE_1]++;
        }
        if
        :: SECOND(before) -> half = 2
        :: else
        fi
    :: else -> half = 2
    fi;
    if
    :: half == 2 ->
        d_step {
            before = counter[2];
            counter[2]++;
        }
        if
        :: SECOND(before) -> half = 4
        :: else
        fi
    :: else
    fi;
    before = 0
}

/* Opens the nodes below `half`: node 1, of ranks 0 and 1; and before it, with top_too, node 2 if this rank has climbed it. */
inline descend(top_too)
{
    /* step 4 */
    if
    :: half == 4 && top_too -> open(2)
    :: else
    fi;
    if
    :: half >= 2 && _pid < 2 -> open(1)
    :: else
    fi
}

inline combining()
{
    climb();
    if
    :: !with[n] ->
        /* step 5 */
        if
        :: half == 1 -> pass(1)
        :: half == 2 -> pass(2)
        :: else
        fi;
        descend(true)
    :: with[n] && _pid == 0 ->
#ifndef MUTANT_COMBINING_BETWEEN_EARLY
        if
        :: half < 4 -> pass(0)
        :: else
        fi;
#endif
        between();
        /* step 3 */
        open(2);
        descend(false)
    :: else ->
        if
        :: half == 4 ->
            /* step 2 */
            open(0);
            pass(2)
        :: half == 2 -> pass(2)
        :: else -> pass(1)
        fi;
        descend(false)
    fi;
    half = 0
}

/* ---- dissemination ---- */

inline dissemination()
{
#ifdef MUTANT_DISSEMINATION_BETWEEN_EARLY
    if
    :: _pid == 0 -> between()
    :: else
    fi;
#endif
    /* steps 1, 2 */
    signal(0);
    await((_pid + 2) % RANKS, 0);
#ifndef MUTANT_DISSEMINATION_SHORT
    signal(1);
    await((_pid + 1) % RANKS, 1);
#endif
    /* steps 3, 4 */
    if
    :: with[n] && _pid == 0 ->
        between();
        open(0)
    :: with[n] && _pid != 0 -> pass(0)
    :: else
    fi
}

/* ---- a rank ---- */

#define MAY(algorithm) ((ALGORITHMS >> (algorithm)) & 1)

bool ready;                     /* the algorithms of all barriers are chosen */

active [RANKS] proctype rank()
{
    byte n, before, half;

    ready;
    do
    :: n < BARRIERS ->
        d_step {
            n++;
            entered[_pid] = n;
        }
        if
        :: chosen[n] <= TREE_GATE -> tree()
        :: chosen[n] == CENTRAL -> central()
        :: chosen[n] == COMBINING -> combining()
        :: chosen[n] == DISSEMINATION -> dissemination()
        fi;
        d_step { ALL_ENTERED; assert(!with[n] || done_between >= n) }
    :: else -> break
    od
}

#define MAY(algorithm) ((ALGORITHMS >> (algorithm)) & 1)

active proctype choice()
{
    byte i;

    atomic {
        for (i : 1 .. BARRIERS) {
            if
            :: MAY(TREE) -> chosen[i] = TREE
            :: MAY(TREE_GATE) -> chosen[i] = TREE_GATE
            :: MAY(CENTRAL) -> chosen[i] = CENTRAL
            :: MAY(COMBINING) -> chosen[i] = COMBINING
            :: MAY(DISSEMINATION) -> chosen[i] = DISSEMINATION
            fi;
            if
            :: BETWEEN != 1 -> with[i] = false
            :: BETWEEN != 0 -> with[i] = true
            fi
        }
        i = 0;
        ready = true
    }
}
