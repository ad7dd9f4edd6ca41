/* A model of reduces and allreduces out of shared buffers (PROTOCOLS.md, section 3.8, Z1 to Z7, Y3 and Y4), for Spin: every
 * interleaving of the steps. ./spin runs it. Each step takes effect at once.
 *
 * G rows of M ranks (NUMA nodes) make OPERATIONS operations, each of any kind:
 *   ALLREDUCE   every rank has a result
 *   REDUCE      ROOT has a result
 *   ELSEWHERE   some buffer is not shared, so all end the operation after Z2
 * With IN_PLACE the elements of a rank are in the place of its result.
 *
 * What is in the model, and what it is in the code (src/mpid/ch4/shm/numacoll/shm/nc_reduce_shared.c)
 *   AT(o, n)     a clock: the operation, from 1, and the step that is announced in it
 *   said[]       the clocks of the send control slots: CONTROLS of each rank
 *   posted[]     their payload: the operation whose post it is
 *   ended[]      the acks: operations ended
 *   result[]     the results: messages of as many cells as there are ranks, cell (j, k) is slice k of slice j. In a cell are, as
 *                bits, the ranks whose elements have been combined there
 *   inside[]     the operation in which a rank is with its buffers; 0: nobody may touch these now */

#ifndef G
#define G 2
#endif
#ifndef M
#define M 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 2
#endif
#ifndef CONTROLS
#define CONTROLS 2
#endif
#ifndef ROOT
#define ROOT 0
#endif
#define RANKS (G * M)
#define MOST 4 /* ranks */

#define ALLREDUCE 1
#define REDUCE 2
#define ELSEWHERE 3

#define AT(o, n) ((o) * 8 + (n))
#define RANK(k, j) ((k) * M + (j))
#define ROW (_pid / M)
#define PLACE (_pid % M)
#define CELL(j, k) ((j) * G + (k))
#define RESULT(q, c) result[(q) * RANKS + (c)]
#define BIT(q) (1 << (q))
#define ALL_BITS ((1 << RANKS) - 1)
#define ROW_BITS(k) (((1 << M) - 1) << ((k) * M))
#ifdef IN_PLACE
#define OPERAND(q, c) RESULT(q, c)
#define AT_FIRST BIT(_pid)
#else
#define OPERAND(q, c) BIT(q)
#define AT_FIRST 0
#endif

byte kind[OPERATIONS + 1]; /* 0: nobody has begun it */
byte said[MOST * CONTROLS], posted[MOST * CONTROLS];
byte ended[MOST], inside[MOST];
byte result[RANKS * RANKS];

#define SLOT(q) ((q) * CONTROLS + operation % CONTROLS)
#define HAS_SAID(q, n) (said[SLOT(q)] >= AT(operation, n))
/* of a rank, if it is one of those that count */
#define POSTED(q) (q >= RANKS || HAS_SAID(q, 1))
#define POST_IS_THERE(q) (q >= RANKS || posted[SLOT(q)] == operation)
#define MADE(q) (q >= RANKS || HAS_SAID(q, steps))
#define MADE_IN_ROW(q) (q / M != ROW || MADE(q))
#define MADE_IN_COLUMN(q) (q % M != PLACE || MADE(q))
#define ENDED(q) (q >= RANKS || ended[q] >= operation)
#define ENDED_EARLIER(q) (q >= RANKS || ended[q] + CONTROLS >= operation)
#define EACH(is) (is(0) && is(1) && is(2) && is(3))

inline made() {
    d_step { steps++; said[SLOT(_pid)] = AT(operation, steps) }
}

/* The buffers of a rank may be touched, and its post says where they are. */
inline use(q) {
    assert(inside[q] == operation && posted[SLOT(q)] == operation)
}

/* Combines the elements of this rank's row in a cell of the result of `holder`, with those of the holder (fresh) or with what is
 * in the cell. The holder's own are combined only in the first way. */
inline combine_row(holder, with_result, cell) {
    d_step {
        use(holder);
        fresh = !(with_result);
        assert(!fresh || OPERAND(holder, cell) == BIT(holder));
        do
        :: i < M ->
            mate = RANK(ROW, i);
            if
            :: mate != holder ->
                use(mate);
                assert(OPERAND(mate, cell) == BIT(mate));
                assert(fresh || !(RESULT(holder, cell) & BIT(mate)));
                RESULT(holder, cell) = (fresh -> BIT(holder) : RESULT(holder, cell)) | BIT(mate);
                fresh = false
            :: else
            fi;
            i++
        :: else -> break
        od;
        if
        :: fresh -> RESULT(holder, cell) = BIT(holder); fresh = false
        :: else
        fi;
        mate = 0;
        i = 0
    }
}

/* Combines in a cell of this rank what its column has there. */
inline combine_column(cell) {
    d_step {
        do
        :: i < G ->
            mate = RANK(i, PLACE);
            use(mate);
            assert(mate == _pid || RESULT(mate, cell) == ROW_BITS(i));
            RESULT(_pid, cell) = RESULT(_pid, cell) | RESULT(mate, cell);
            i++
        :: else -> break
        od;
        mate = 0;
        i = 0
    }
}

inline copy(cell) {
    assert(RESULT(mate, cell) == ALL_BITS);
    RESULT(_pid, cell) = RESULT(mate, cell)
}

#ifdef MUTANT_ROW_NOT_AWAITED
#define ROW_IS_READY true
#else
#define ROW_IS_READY HAS_SAID(RANK(ROW, (PLACE + c) % M), steps)
#endif
#ifdef MUTANT_ANNOUNCES_UNCOPIED
#define COPIED(n) n - 1
#else
#define COPIED(n) n
#endif

inline allreduce() {
    /* Z3 */
#ifdef MUTANT_ANNOUNCES_EARLY
    made();
#endif
    do
    :: c < G -> combine_row(_pid, false, CELL(PLACE, c)); c++
    :: else -> break
    od;
#ifndef MUTANT_ANNOUNCES_EARLY
    made();
#endif
    if
    :: G > 1 ->
        /* Z4 */
#ifndef MUTANT_COLUMN_NOT_AWAITED
        EACH(MADE_IN_COLUMN);
#endif
        combine_column(CELL(PLACE, ROW));
        made();
        /* Z5 */
#ifdef MUTANT_ANNOUNCES_UNCOPIED
        made();
#endif
        c = 1;
        do
        :: c < G ->
            d_step {
                HAS_SAID(RANK((ROW + c) % G, PLACE), COPIED(steps)) ->
                mate = RANK((ROW + c) % G, PLACE);
                use(mate);
                copy(CELL(PLACE, (ROW + c) % G));
                mate = 0;
                c++
            }
        :: else -> break
        od;
#ifndef MUTANT_ANNOUNCES_UNCOPIED
        made()
#endif
    :: else
    fi;
    /* Z6 */
    c = 1;
    do
    :: c < M ->
        d_step {
            ROW_IS_READY ->
            mate = RANK(ROW, (PLACE + c) % M);
            use(mate);
            do
            :: i < G -> copy(CELL((PLACE + c) % M, i)); i++
            :: else -> break
            od;
            mate = 0;
            i = 0;
            c++
        }
    :: else -> break
    od;
    c = 0
}

/* The slice of its row's slice that a rank is at in step c. */
#ifdef MUTANT_ROWS_BEGIN_ALIKE
#define PART c
#else
#define PART ((ROW + c) % G)
#endif
#ifdef MUTANT_NEIGHBOUR_NOT_AWAITED
#define NEIGHBOUR_WAS_THERE true
#else
#define NEIGHBOUR_WAS_THERE (c == 0 || HAS_SAID(RANK((ROW + 1) % G, PLACE), steps))
#endif
#ifdef MUTANT_ROOT_AWAITS_ITS_ROW
#define AWAITS_ALL false
#else
#define AWAITS_ALL (_pid == ROOT)
#endif
#ifdef MUTANT_LEAVES_ITS_ROW
#define MAY_LEAVE true
#else
#define MAY_LEAVE EACH(MADE_IN_ROW)
#endif

inline reduce() {
    /* Y3 */
    do
    :: c < G ->
        NEIGHBOUR_WAS_THERE;
        combine_row(ROOT, c > 0, CELL(PLACE, PART));
        made();
        c++
    :: else -> break
    od;
    c = 0;
    /* Y4 */
    if
    :: AWAITS_ALL -> EACH(MADE)
    :: else -> MAY_LEAVE
    fi
}

/* Begins a call: its buffers are in use. */
inline enter() {
    atomic {
        if
        :: kind[operation] == 0 ->
            if
            :: kind[operation] = ALLREDUCE
            :: kind[operation] = REDUCE
            :: kind[operation] = ELSEWHERE
            fi
        :: else
        fi;
        inside[_pid] = operation;
        do
        :: c < RANKS -> RESULT(_pid, c) = AT_FIRST; c++
        :: else -> c = 0; break
        od
    }
}

#define HAS_RESULT (kind[operation] == ALLREDUCE || (kind[operation] == REDUCE && _pid == ROOT))

/* Leaves it: the result is there, and the buffers are the program's. */
inline leave() {
    d_step {
        do
        :: c < RANKS -> assert(!HAS_RESULT || RESULT(_pid, c) == ALL_BITS); RESULT(_pid, c) = 0; c++
        :: else -> c = 0; break
        od;
        inside[_pid] = 0
    }
}

active [RANKS] proctype rank() {
    byte operation = 1, steps, c, i, mate;
    bool fresh;

    do
    :: operation > OPERATIONS -> break
    :: else ->
        enter();
        /* Z1: nobody reads any more what was in the slot before */
#ifndef MUTANT_POST_REUSED
        EACH(ENDED_EARLIER);
#endif
        posted[SLOT(_pid)] = operation;
        made();
        /* Z2 */
        d_step { EACH(POSTED) -> assert(EACH(POST_IS_THERE)) }
        if
        :: kind[operation] == ALLREDUCE -> allreduce()
        :: kind[operation] == REDUCE -> reduce()
        :: kind[operation] == ELSEWHERE
        fi;
        ended[_pid] = operation;
#ifndef MUTANT_LEAVES_EARLY
        kind[operation] != ALLREDUCE || EACH(ENDED); /* Z7 */
#endif
        leave();
        d_step { steps = 0; operation++ }
    od
    /* Every rank must get here: Spin reports an end anywhere else as an invalid end state. */
}
