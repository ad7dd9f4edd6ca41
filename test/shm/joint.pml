/* A model of messages that their writer and their reader copy together (PROTOCOLS.md, section 3.8, H1 to H4), for Spin: every
 * interleaving of the steps. ./spin runs it. Each step takes effect at once.
 *
 * A writer and a reader make OPERATIONS operations, each of one kind, which both know:
 *   TOGETHER   a message of PIECES pieces stays in the writer's buffer; the reader makes an offer, or, in any of them, copies
 *              alone. As in a scatter: the offer is in the reader's send control slot
 *   ASKED      the same, the offer as in a gather: in the writer's receive control slot, where the reader also says that it is
 *              through
 *   BACK       a short message from the reader to the writer, in the reader's send control slot. The reader does not wait
 *
 * What is in the model, and what it is in the code (src/mpid/ch4/shm/numacoll/shm: nc_joint.c, nc_queue.c, nc_gather.c)
 *   AT(o, n)     a clock: the operation, from 1, and what is announced in it
 *   told         the clock of the control slot in which the writer announces the message, and then its pieces
 *   said         the clock of the reader's send control slot; `claimed` and `offered` are the payload of an offer there
 *   asked        the clock of the writer's receive control slot, with the same payload
 *   ended[]      the acks: operations ended
 *   to[]         the reader's buffer: the operation in which a piece was written; copiers[]: how many times in this operation
 *   from         the writer's buffer: the operation whose message is in it
 *   inside       the operation in which the reader is with its buffer; 0: others must not touch that now */

#ifndef PIECES
#define PIECES 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#define AT(o, n) ((o) * 16 + (n))
#define WRITER 0
#define READER 1
#define READ 2 /* of nc_gather.c */

mtype = { TOGETHER, ASKED, BACK };
mtype kind[OPERATIONS + 1];
byte told, said, asked;
byte claimed[2], offered[2]; /* of said, of asked */
byte ended[2];
byte to[PIECES], copiers[PIECES];
byte from, inside;
bool ready;

/* Takes the next piece into `i`. slot: 0, the offer in `said`; 1, in `asked`. */
#ifdef MUTANT_CLAIMS_IN_TWO_STEPS
#define CLAIM(slot) i = claimed[slot]; claimed[slot] = i + 1
#else
#define CLAIM(slot) d_step { i = claimed[slot]; claimed[slot] = claimed[slot] + 1 }
#endif

/* Copies piece i of the message of `operation`. */
inline copy(i) {
    d_step {
        assert(inside == operation); /* the reader's buffer is in use */
        assert(from == operation);   /* and the writer's */
        to[i] = operation;
        copiers[i]++
    }
}

/* H2 of the writer: `theirs` is the slot of the offer. */
inline help(theirs) {
    assert(offered[theirs] == operation);
    do
    :: CLAIM(theirs);
        if
        :: i >= PIECES -> break
        :: else
        fi;
#ifdef MUTANT_ANNOUNCES_EARLY
        told = AT(operation, 2 + mine);
#endif
        copy(i);
        mine++;
        told = AT(operation, 1 + mine)
    od
}

#ifdef MUTANT_LATER_IS_AN_OFFER
#define OFFERED(clock) ((clock) >= AT(operation, 1))
#else
#define OFFERED(clock) ((clock) == AT(operation, 1))
#endif

proctype writer() {
    byte operation = 1, i, mine, seen;

    ready;
    do
    :: operation > OPERATIONS -> break
    :: else ->
        mine = 0;
        if
        :: kind[operation] == TOGETHER ->
            from = operation;
            told = AT(operation, 1);
            do
            :: ended[READER] >= operation -> break
            :: else ->
                seen = said;
                if
                :: seen < AT(operation, 1) /* looks again */
                :: OFFERED(seen) -> help(0); break
                :: else -> break
                fi
            od;
            ended[WRITER] = operation;
            ended[READER] >= operation; /* D1 */
            from = 0
        :: kind[operation] == ASKED ->
            from = operation;
            told = AT(operation, 1);
            asked >= AT(operation, 1);
            if
            :: asked == AT(operation, 1) -> help(1)
            :: else
            fi;
#ifndef MUTANT_LEAVES_UNREAD
            asked >= AT(operation, READ); /* G6 */
#endif
            ended[WRITER] = operation;
            from = 0
        :: kind[operation] == BACK ->
            said >= AT(operation, 1);
            ended[WRITER] = operation
        fi;
        operation++
    od
}

/* H1 to H3: makes an offer in a slot that is taken, copies, and awaits the writer's pieces. */
inline receive(slot, clock) {
    d_step { claimed[slot] = 0; offered[slot] = operation };
    clock = AT(operation, 1);
    do
    :: CLAIM(slot);
        if
        :: i >= PIECES -> break
        :: else
        fi;
        copy(i);
        mine++
    od;
#ifndef MUTANT_LEAVES_BEFORE_PIECES
    told >= AT(operation, 1 + PIECES - mine)
#endif
}

/* Copies all pieces alone. */
inline receive_alone() {
    for (i : 0 .. PIECES - 1) {
        copy(i)
    }
}

/* The reader leaves the call, or is through with the message. */
inline check_all() {
    d_step {
        i = 0;
        do
        :: i == PIECES -> break
        :: else -> assert(to[i] == operation && copiers[i] == 1); copiers[i] = 0; i++
        od;
        inside = 0
    }
}

proctype reader() {
    byte operation = 1, i, mine, used; /* used: the last operation for which the send control slot was taken for the writer */

    ready;
    do
    :: operation > OPERATIONS -> break
    :: else ->
        mine = 0;
        if
        :: kind[operation] != BACK ->
            inside = operation;
            told >= AT(operation, 1)
        :: else
        fi;
        if
        :: kind[operation] == TOGETHER ->
            if
            :: ended[WRITER] >= used -> /* its buffer is shared */
                used = operation;
                receive(0, said)
            :: receive_alone()
            fi;
            check_all()
        :: kind[operation] == ASKED ->
            if
            :: ended[WRITER] >= operation - 1 -> receive(1, asked) /* 1: recv_controls */
            :: receive_alone()
            fi;
            check_all();
            asked = AT(operation, READ)
        :: kind[operation] == BACK ->
#ifndef MUTANT_SLOT_NOT_AWAITED
            ended[WRITER] >= used;
#endif
            used = operation;
            d_step { claimed[0] = 0; offered[0] = 0 }; /* the payload is another one */
            said = AT(operation, 1)
        fi;
        ended[READER] = operation;
        operation++
    od
}

/* All sequences of kinds. */
init {
    byte o;

    atomic {
        for (o : 1 .. OPERATIONS) {
            if
            :: kind[o] = TOGETHER
            :: kind[o] = ASKED
            :: kind[o] = BACK
            fi
        }
        o = 0;
        run writer();
        run reader();
        ready = true
    }
}
