/* A model of the slot protocol (PROTOCOLS.md, sections 1 to 4) for Spin: three ranks, five kinds of operations, every
 * interleaving of their steps. ./spin runs it.
 *
 * What is in the model, and where it is in the code (src/mpid/ch4/shm/numacoll):
 *   AT, clocks            core/nc_clock.h     nc_clock_at, nc_clock_reached; (operation, fragments) in one number
 *   region                core/nc_layout.h    one region per process: `ack`, control slots of both kinds, send ring, receive ring
 *   write_slot            shm/nc_queue.c      nc_queue_take_slot, then the copy into the slot
 *   write_recv_control    shm/nc_queue.c      nc_queue_take_recv_control, then header and payload
 *   write_send_control    shm/nc_queue.c      nc_queue_take_send_control, then header and payload
 *   write_recv_slot       shm/nc_queue.c      nc_queue_recv_slot_is_free, then the copy into the slot
 *   announce, first       shm/nc_transfer.h   nc_transfer_announce; inline: nc_transfer_put
 *   GIVE_BACK             shm/nc_transfer.h   nc_transfer_acknowledge, with sets of one slot
 *   step 40               shm/nc_queue.c      nc_queue_end
 *   bcast_write           shm/nc_bcast.c      write_inline, write_fragments: nc_transfer_inline_to_children, nc_transfer_send (flat tree)
 *   bcast_relay           shm/nc_bcast.c      relay_fragment: a leader, or a rank in a chain; with RELAY
 *   read_message          shm/nc_bcast.c      read_message, read_fragments
 *   scatter_write         shm/nc_scatter.c    send_first: nc_transfer_inline; send_fragments: nc_transfer_write
 *   scatter_read          shm/nc_scatter.c    receive
 *   send_first            shm/nc_gather.c     send_first: nc_transfer_inline, nc_transfer_send
 *   send_in_round         shm/nc_transfer.h   nc_transfer_sends; shm/nc_gather.c: send_ahead; shm/nc_reduce.c: ordered_round
 *   read_own              shm/nc_reduce.c     reduce_in_order: this rank's own fragment
 *   receive_fragment      shm/nc_gather.c     receive_first, receive_round; allgather
 *   gather_write          shm/nc_gather.c     send: take_slot
 *   gather_take           shm/nc_gather.c     receive_what_is_there, release_slots; of either sender, whichever is there
 *   point, fetch          shm/nc_transfer.c   nc_transfer_point, nc_transfer_fetch; with DIRECT
 *   step 41               shm/nc_queue.c      nc_queue_await_ended, then the program writes its buffer again; with DIRECT
 *   barrier               shm/nc_barrier.h    any algorithm, as other operations see it; barriers.pml has the algorithms
 *
 * What is not in the model: trees deeper than one level, sets of several slots, the wrap of clocks, nc_queue.seen (`ack` only
 * grows, so a remembered value only makes a rank wait longer), and the order of memory. Steps are sequentially consistent
 * here; ThreadSanitizer checks acquire and release in test_node.c.
 *
 * One step touches one shared location. A wait and the access that it permits are one step: clocks only grow (asserted), so
 * no step of another rank in between could make the access wrong. A copy is one step too: if a rank may overwrite a slot
 * while another rank reads it, then in some interleaving the write comes before the read.
 *
 * Contents are tags, (operation, fragment). Each read asserts the tag that it expects. So it notices a slot or a control slot
 * that is not yet written, and one that is already written again.
 *
 * The operations are broadcast, scatter, gather, allgather, barrier, and all again. Defines change that:
 *   DENSE                 broadcasts, scatters and gathers only. In an allgather or a barrier no rank gets far enough ahead of
 *                         another to write a control slot again too early, so a missing wait would not be noticed
 *   ALLGATHERS            allgathers, scatters and gathers only
 *   GATHER_FRAGMENTS=n    each sender of a gather sends n fragments, at most 3; 0: inline
 *   AHEAD                 in an allgather a rank may send fragments of later rounds, and reads its own fragments as well, as in a
 *                         reduce in order
 *   EQUAL                 two ranks of an allgather send three fragments each; otherwise three and two
 *   UNEQUAL               the second sender of a gather sends inline, whatever the first one does
 *   SCATTER_BOTH          both messages of a scatter go through receive rings; otherwise one of them is inline
 *   ROOTS                 scatters have two roots in turn
 *   CHOICE                the writer of a broadcast may also send it inline
 *   DIRECT                what is inline says where the message is, in the sender's buffer, and the readers read it there
 *   RELAY                 the broadcast reaches the third rank through the send ring of the second, a leader or a rank in a chain
 * MUTANT_...              breaks one rule; Spin must find an error. */

#define RANKS 3
#define SLOTS 2
#define RECV_CONTROLS 2         /* geometry.recv_controls */
#define SEND_CONTROLS 1         /* NC_SEND_CONTROLS */
#define RECV_SLOTS 1
#define FRAGMENTS 3             /* of a broadcast; more than SLOTS, so that the ring wraps within an operation */
#ifndef GATHER_FRAGMENTS
#define GATHER_FRAGMENTS 1
#endif

#define SCATTER_FRAGMENTS 2     /* more than RECV_SLOTS */

#define AT(operation, fragments) ((operation) * 4 + (fragments))
#define TAG(operation, what) (((operation) + 1) * 8 + (what))      /* never 0: 0 is a place that is not yet written */
#define OPERATION_OF(tag) ((tag) / 8 - 1)
#define WHAT_OF(tag) ((tag) % 8)
#define INLINE 4                /* in a header, instead of first_slot: the message is in the payload */

#define BCAST_ROOT 1
#ifdef ROOTS
#define SCATTER_ROOT (operation % 2 -> 2 : 1)   /* rank 0 always reads */
#else
#define SCATTER_ROOT 2
#endif
#define GATHER_ROOT 0
#define BARRIER_ROOT 0

mtype = { BCAST, SCATTER, GATHER, ALLGATHER, BARRIER };

#ifdef DENSE
/* broadcast, three scatters (more than RECV_CONTROLS), two gathers; and again */
#define OPERATIONS 12
#define KIND(o) ((o) % 6 == 0 -> BCAST : ((o) % 6 <= 3 -> SCATTER : GATHER))
#elif defined(ALLGATHERS)
/* two allgathers, scatter, gather, scatter; and again */
#define OPERATIONS 10
#define KIND(o) ((o) % 5 < 2 -> ALLGATHER : ((o) % 5 == 3 -> GATHER : SCATTER))
#else
/* broadcast, scatter, gather, allgather, barrier; and again */
#define OPERATIONS 10
#define KIND(o) ((o) % 5 == 0 -> BCAST : ((o) % 5 == 1 -> SCATTER : ((o) % 5 == 2 -> GATHER : \
                 ((o) % 5 == 3 -> ALLGATHER : BARRIER))))
#endif

/* How many fragments rank r sends; 0: inline */
#ifdef UNEQUAL
#define GATHER_SENDS(r) ((r) == 1 -> GATHER_FRAGMENTS : 0)
#else
#define GATHER_SENDS(r) GATHER_FRAGMENTS
#endif
#ifdef EQUAL
#define ALLGATHER_SENDS(r) ((r) == 2 -> 0 : 3)
#else
#define ALLGATHER_SENDS(r) ((r) == 0 -> 3 : ((r) == 1 -> 2 : 0))
#endif
#define SENDS(r) (KIND(operation) == GATHER -> GATHER_SENDS(r) : ALLGATHER_SENDS(r))

typedef control_t {
    short clock;                /* (operation, fragments announced) */
    byte header;                /* tag: INLINE, or the index of the first slot */
    byte payload;               /* tag */
}

typedef region_t {
    short ack;                  /* writer: the owner */
    control_t recv_control[RECV_CONTROLS];  /* writer: the parent of the owner in the operation */
    control_t send_control[SEND_CONTROLS];  /* writer: the owner */
    byte slot[SLOTS];           /* send ring: tags. writer: the owner */
    byte recv_slot[RECV_SLOTS]; /* receive ring: tags. writer: the root of a scatter */
#ifdef DIRECT
    byte buffer;                /* of the user: a tag. writer: the owner's program */
#endif
    byte arrived, gate;         /* the last barrier that the rank has entered, and that is over. writer: the owner */
}

region_t region[RANKS];
byte entered[RANKS];            /* how many barriers a rank has entered; for the assertion only */

#define ME region[_pid]
#define RECV_CONTROL(r) region[r].recv_control[operation % RECV_CONTROLS]
#define SEND_CONTROL(r) region[r].send_control[operation % SEND_CONTROLS]

#define RAISE(clock, value) assert((clock) < (value)); clock = value

/* ---- waiting and writing -------------------------------------------------------------------------------------- */

#ifdef MUTANT_SLOT_SHORT
#define USED(slot) (used[slot] - 1)
#else
#define USED(slot) used[slot]
#endif

#define READS(r, slot) ((readers[slot] >> (r)) & 1)

#define BACK(r, slot) (_pid == (r) || !READS(r, slot) || region[r].ack >= USED(slot))

#ifdef MUTANT_SLOT_REUSED
#define SLOT_FREE(slot) true
#else
#define SLOT_FREE(slot) (BACK(0, slot) && BACK(1, slot) && BACK(2, slot))
#endif

#ifdef MUTANT_RECV_CONTROL_REUSED
#define RECV_CONTROL_FREE(r) true
#elif defined(MUTANT_RECV_CONTROL_SHORT)
#define RECV_CONTROL_FREE(r) (region[r].ack >= AT(operation - RECV_CONTROLS, 0))
#else
#define RECV_CONTROL_FREE(r) (region[r].ack >= AT(operation + 1 - RECV_CONTROLS, 0))
#endif

#define CONTROL_BACK(r) (_pid == (r) || !((control_readers >> (r)) & 1) || region[r].ack >= control_used)

#ifdef MUTANT_SEND_CONTROL_REUSED
#define SEND_CONTROL_FREE true
#else
#define SEND_CONTROL_FREE (CONTROL_BACK(0) && CONTROL_BACK(1) && CONTROL_BACK(2))
#endif

#ifdef MUTANT_SEND_CONTROL_SHORT
#define SEND_CONTROL_OVER AT(operation, 0)
#else
#define SEND_CONTROL_OVER AT(operation + 1, 0)
#endif

#ifdef MUTANT_RECV_SLOT_REUSED
#define RECV_FREE(r, n) true
#elif defined(MUTANT_RECV_SLOT_SHORT)
#define RECV_FREE(r, n) (region[r].ack >= AT(operation, ((n) < RECV_SLOTS -> 0 : (n) - RECV_SLOTS)))
#elif defined(MUTANT_RECV_OPERATION_EARLY)
#define RECV_FREE(r, n) (region[r].ack >= ((n) < RECV_SLOTS -> AT(operation - 1, 0) : AT(operation, (n) - RECV_SLOTS + 1)))
#else
#define RECV_FREE(r, n) (region[r].ack >= AT(operation, ((n) < RECV_SLOTS -> 0 : (n) - RECV_SLOTS + 1)))
#endif

#ifdef MUTANT_ALLGATHER_ONE_READER
#define ALL_READERS 1
#else
#define ALL_READERS 7
#endif

/* step 1: waits until the last readers of the next slot of my send ring have acknowledged it, and writes fragment n into it.
 * `set`, one bit for each rank, are its readers; they have finished it when their `ack` is (operation, n + 1) */
inline write_slot(set, n)
{
    d_step {
        SLOT_FREE(head) ->
        ME.slot[head] = TAG(operation, n);
        used[head] = AT(operation, (n) + 1);
        readers[head] = set;
        head = (head + 1) % SLOTS;
    }
}

/* step 2: waits until the receive control slot of r is free, and writes the header: where the message is;
 * step 3: writes the payload, if the message is inline */
inline write_recv_control(r, where, content)
{
    d_step {
        RECV_CONTROL_FREE(r) ->
        RECV_CONTROL(r).header = TAG(operation, where);
    }
    if
    :: where == INLINE -> RECV_CONTROL(r).payload = TAG(operation, content)
    :: else
    fi
}

/* step 5: waits until the readers of the last use of my send control slot have ended that operation, and writes the header:
 * where the message is;
 * step 6: writes the payload, if the message is inline */
inline write_send_control(set, where)
{
    d_step {
        SEND_CONTROL_FREE ->
        SEND_CONTROL(_pid).header = TAG(operation, where);
        control_used = SEND_CONTROL_OVER;
        control_readers = set;
    }
    if
    :: where == INLINE -> SEND_CONTROL(_pid).payload = TAG(operation, _pid)
    :: else
    fi
}

/* step 7: waits until the slot of r's receive ring for fragment n is acknowledged, and writes fragment n into it */
inline write_recv_slot(r, n)
{
    d_step {
        RECV_FREE(r, n) ->
        region[r].recv_slot[(n) % RECV_SLOTS] = TAG(operation, n);
    }
}

/* step 4: announces n fragments to r */
inline announce(r, n)
{
    d_step { RAISE(RECV_CONTROL(r).clock, AT(operation, n)) }
}

/* Header and payload for r, and the first announcement. */
inline first(r, where, content)
{
#ifdef MUTANT_HEADER_LATE
    announce(r, 1);
    write_recv_control(r, where, content)
#else
    write_recv_control(r, where, content);
    announce(r, 1)
#endif
}

/* The message of this operation is in my buffer, for a set of readers; the payload says so. A reader reads it there. */
#ifdef DIRECT
#define POINT(set, content) d_step { ME.buffer = TAG(operation, content); direct_readers = set }
#define FETCH(writer, content) d_step { assert(region[writer].buffer == TAG(operation, content)) }
#else
#define POINT(set, content) skip
#define FETCH(writer, content) skip
#endif

#ifdef MUTANT_LEAVES_EARLY
#define THROUGH(r) true
#elif defined(MUTANT_LEAVES_SHORT)
#define THROUGH(r) (_pid == (r) || !((direct_readers >> (r)) & 1) || region[r].ack >= AT(operation - 1, 0))
#else
#define THROUGH(r) (_pid == (r) || !((direct_readers >> (r)) & 1) || region[r].ack >= AT(operation, 0))
#endif

/* Acknowledges n fragments if `more` are to be read; step 40 acknowledges the last ones. */
#ifdef MUTANT_GIVE_BACK_NEVER
#define GIVE_BACK(n, more) skip
#else
#define GIVE_BACK(n, more) \
    d_step { \
        if \
        :: more -> RAISE(ME.ack, AT(operation, n)) \
        :: else \
        fi \
    }
#endif

/* ---- reading a message ---------------------------------------------------------------------------------------- */

/* Reads a message out of the send ring of `writer`, or inline, with the tag `content`. The header says which of the two. */
inline read_message(writer, content)
{
    /* step 10: the first fragment is announced, so the header is of this operation */
    d_step {
        RECV_CONTROL(_pid).clock >= AT(operation, 1) ->
        assert(OPERATION_OF(RECV_CONTROL(_pid).header) == operation);
        where = WHAT_OF(RECV_CONTROL(_pid).header);
    }
    if
    :: where == INLINE ->
        /* step 11: the payload must not change before this rank has ended the operation */
#ifdef MUTANT_END_EARLY
        d_step { RAISE(ME.ack, AT(operation + 1, 0)) }
#endif
        d_step { assert(RECV_CONTROL(_pid).payload == TAG(operation, content)); where = 0 }
        FETCH(BCAST_ROOT, content)
    :: else ->
        do
        :: i < FRAGMENTS ->
#ifdef MUTANT_GIVE_BACK_EARLY
            d_step { RECV_CONTROL(_pid).clock >= AT(operation, i + 1) -> RAISE(ME.ack, AT(operation, i + 1)) }
            d_step { assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i)); i++ }
#else
            /* step 12: fragment i is announced, so it is in its slot */
            d_step {
                RECV_CONTROL(_pid).clock >= AT(operation, i + 1) ->
                assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i));
                i++;
            }
            /* step 13: the slot may be overwritten */
            GIVE_BACK(i, i < FRAGMENTS)
#endif
        :: else -> break
        od;
        i = 0;
        where = 0
    fi
}

/* ---- broadcast ------------------------------------------------------------------------------------------------- */

inline bcast_fragment(other, another)
{
    if
    :: i == 0 ->
        first(other, start, 0);
        first(another, start, 0)
    :: else ->
        announce(other, i + 1);
        announce(another, i + 1)
    fi
}

inline bcast_write(other, another)
{
    if
#ifdef CHOICE
    :: true ->
        POINT(7, 0);
        first(other, INLINE, 0);
        first(another, INLINE, 0)
#endif
    :: true ->
        start = head;
        do
        :: i < FRAGMENTS ->
#ifdef MUTANT_ANNOUNCE_EARLY
            bcast_fragment(other, another);
            write_slot((1 << other) | (1 << another), i);
#else
            write_slot((1 << other) | (1 << another), i);
            bcast_fragment(other, another);
#endif
            i++
        :: else -> break
        od;
        i = 0;
        start = 0
    fi
}

#ifdef RELAY
inline tell_one(reader)
{
    if
    :: i == 0 -> first(reader, start, 0)
    :: else -> announce(reader, i + 1)
    fi
}

/* The root, when only one rank reads its ring, the leader of another NUMA node. */
inline bcast_write_to(leader)
{
    if
#ifdef CHOICE
    :: true -> POINT(7, 0); first(leader, INLINE, 0)
#endif
    :: true ->
        start = head;
        do
        :: i < FRAGMENTS ->
            write_slot(1 << leader, i);
            tell_one(leader);
            i++
        :: else -> break
        od;
        i = 0;
        start = 0
    fi
}

/* A leader: copies each fragment once into its own send ring, for the ranks of its NUMA node. */
inline bcast_relay(writer, reader)
{
    d_step {
        RECV_CONTROL(_pid).clock >= AT(operation, 1) ->
        assert(OPERATION_OF(RECV_CONTROL(_pid).header) == operation);
        where = WHAT_OF(RECV_CONTROL(_pid).header);
    }
    if
    :: where == INLINE ->
        first(reader, INLINE, 0);
        d_step { assert(RECV_CONTROL(_pid).payload == TAG(operation, 0)); where = 0 }
        FETCH(BCAST_ROOT, 0)
    :: else ->
        start = head;
        do
        :: i < FRAGMENTS ->
            /* step 14: fragment i is announced */
            RECV_CONTROL(_pid).clock >= AT(operation, i + 1);
#ifdef MUTANT_RELAY_TELLS_EARLY
            tell_one(reader);
#endif
#ifdef MUTANT_RELAY_GIVES_BACK_EARLY
            GIVE_BACK(i + 1, i + 1 < FRAGMENTS);
#endif
            /* step 15: copied from its slot into a slot of mine */
            write_slot(1 << reader, i);
            d_step { assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i)) }
#ifndef MUTANT_RELAY_TELLS_EARLY
            tell_one(reader);
#endif
#ifndef MUTANT_RELAY_GIVES_BACK_EARLY
            /* step 16: the slot it was in may be overwritten */
            GIVE_BACK(i + 1, i + 1 < FRAGMENTS);
#endif
            i++
        :: else -> break
        od;
        i = 0;
        start = 0;
        where = 0
    fi
}
#endif

/* ---- scatter --------------------------------------------------------------------------------------------------- */

/* Writes and announces fragment n for r, and counts it. */
inline scatter_fragment(r, n)
{
#ifdef MUTANT_RECV_EARLY
    if
    :: n == 0 -> first(r, 0, 0)
    :: else -> announce(r, n + 1)
    fi;
    write_recv_slot(r, n);
#else
    write_recv_slot(r, n);
    if
    :: n == 0 -> first(r, 0, 0)
    :: else -> announce(r, n + 1)
    fi;
#endif
    n++
}

/* The root: first the inline message; then fragments for both readers in any order. Spin also tries orders in which the root
 * waits for one reader while the ring of the other has a free slot. */
inline scatter_write(other, another)
{
#ifdef SCATTER_BOTH
    start = 0;
#else
    POINT(1 << another, another);
    first(another, INLINE, another);
    start = SCATTER_FRAGMENTS;
#endif
    do
    :: i < SCATTER_FRAGMENTS -> scatter_fragment(other, i)
    :: start < SCATTER_FRAGMENTS -> scatter_fragment(another, start)
    :: i == SCATTER_FRAGMENTS && start == SCATTER_FRAGMENTS -> break
    od;
    i = 0;
    start = 0
}

inline scatter_read()
{
    d_step {
        RECV_CONTROL(_pid).clock >= AT(operation, 1) ->
        assert(OPERATION_OF(RECV_CONTROL(_pid).header) == operation);
        where = WHAT_OF(RECV_CONTROL(_pid).header);
    }
    if
    :: where == INLINE ->
#ifdef MUTANT_END_EARLY
        d_step { RAISE(ME.ack, AT(operation + 1, 0)) }
#endif
        d_step { assert(RECV_CONTROL(_pid).payload == TAG(operation, _pid)); where = 0 }
        FETCH(SCATTER_ROOT, _pid)
    :: else ->
        do
        :: i < SCATTER_FRAGMENTS ->
#ifdef MUTANT_RECV_GIVES_BACK_EARLY
            d_step { RECV_CONTROL(_pid).clock >= AT(operation, i + 1) -> RAISE(ME.ack, AT(operation, i + 1)) }
            d_step { assert(ME.recv_slot[i % RECV_SLOTS] == TAG(operation, i)); i++ }
#else
            /* step 17: fragment i is announced, so it is in its slot */
            d_step {
                RECV_CONTROL(_pid).clock >= AT(operation, i + 1) ->
                assert(ME.recv_slot[i % RECV_SLOTS] == TAG(operation, i));
                i++;
            }
            /* step 18: the slot may be overwritten */
            GIVE_BACK(i, i < SCATTER_FRAGMENTS)
#endif
        :: else -> break
        od;
        i = 0
    fi
}

/* ---- gather and allgather -------------------------------------------------------------------------------------- */

#define ANNOUNCE_SEND(n) d_step { RAISE(SEND_CONTROL(_pid).clock, AT(operation, n)) }

/* Sends fragment n of this rank. */
inline send_fragment(set, n)
{
#ifdef MUTANT_SEND_EARLY
    ANNOUNCE_SEND((n) + 1);
#endif
    write_slot(set, n);
#ifndef MUTANT_SEND_EARLY
    /* step 21: announces n + 1 fragments */
    ANNOUNCE_SEND((n) + 1)
#endif
}

/* Sends the header, and the inline message or fragment 0, to a set of readers. */
inline send_first(set)
{
    if
    :: SENDS(_pid) == 0 ->
        POINT(set, _pid);
        write_send_control(set, INLINE);
        ANNOUNCE_SEND(1)
    :: else ->
        start = head;
        write_send_control(set, start);
        start = 0;
        send_fragment(set, 0)
    fi
}

/* Allgather: receives fragment i of a sender, if it has one. `from`: what its header says, kept by the caller. */
inline receive_fragment(sender, from)
{
    if
    :: i == 0 ->
        /* step 22: the first announcement is there, so the header is of this operation */
        d_step {
            SEND_CONTROL(sender).clock >= AT(operation, 1) ->
            assert(OPERATION_OF(SEND_CONTROL(sender).header) == operation);
            from = WHAT_OF(SEND_CONTROL(sender).header);
        }
        if
        :: from == INLINE ->
            d_step { assert(SEND_CONTROL(sender).payload == TAG(operation, sender)) }
            FETCH(sender, sender)
        :: else
        fi
    :: else
    fi;
    if
    :: i < SENDS(sender) ->
        /* step 23: fragment i is announced, so it is in its slot */
        d_step {
            SEND_CONTROL(sender).clock >= AT(operation, i + 1) ->
            assert(region[sender].slot[(from + i) % SLOTS] == TAG(operation, i));
        }
    :: else
    fi
}

#define MORE_OF(r) (i + 1 < SENDS(r))

/* A rank has one `ack`, which means n fragments of every sender. So it reads one fragment of each in turn. */
inline receive_round(sender, another)
{
    receive_fragment(sender, where);
#ifdef MUTANT_ALLGATHER_ONE_SENDER
    GIVE_BACK(i + 1, MORE_OF(sender) || MORE_OF(another));
    receive_fragment(another, start)
#else
    receive_fragment(another, start);
    /* step 24: the slots of both may be overwritten */
    GIVE_BACK(i + 1, MORE_OF(sender) || MORE_OF(another))
#endif
}

#ifdef MUTANT_GATHER_SENDS_EARLY
#define HAS_READ true
#else
#define HAS_READ (RECV_CONTROL(_pid).clock >= AT(operation, i - SLOTS + 1))
#endif

#ifdef MUTANT_LEAVES_EARLY
#define HAS_READ_BUFFER true
#else
#define HAS_READ_BUFFER (RECV_CONTROL(_pid).clock >= AT(operation, 1))
#endif

/* Sends fragment i >= SLOTS of a gather: its slot has a fragment of the same message. */
inline gather_fragment()
{
#ifdef MUTANT_GATHER_AWAITS_ACK
    write_slot(1 << GATHER_ROOT, i);
#else
    /* step 25: the root has announced that it has read the fragment in the slot */
    d_step {
        HAS_READ ->
        ME.slot[head] = TAG(operation, i);
        head = (head + 1) % SLOTS;
    }
#endif
    ANNOUNCE_SEND(i + 1)
}

inline gather_write()
{
    send_first(1 << GATHER_ROOT);
#ifdef DIRECT
    if
    :: SENDS(_pid) == 0 ->
        /* step 28: the root has announced that it has read the buffer */
        d_step { HAS_READ_BUFFER -> direct_readers = 0 }
    :: else
    fi;
#endif
    i = 1;
    do
    :: i < SENDS(_pid) ->
        if
        :: i < SLOTS -> send_fragment(1 << GATHER_ROOT, i)
        :: else -> gather_fragment()
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

#ifdef MUTANT_GATHER_RELEASES_ALL
#define IS_AWAITED(sender, n) true
#else
#define IS_AWAITED(sender, n) ((n) + SLOTS <= SENDS(sender))
#endif
#define PARTS(r) (SENDS(r) == 0 -> 1 : SENDS(r))
#define IS_THERE(r, n) (n < PARTS(r) && SEND_CONTROL(r).clock >= AT(operation, n + 1))

#ifdef DIRECT
#define IS_RELEASED(sender, n, from) (from == INLINE || IS_AWAITED(sender, n))
#else
#define IS_RELEASED(sender, n, from) (from != INLINE && IS_AWAITED(sender, n))
#endif

inline gather_fetch(sender, from)
{
    if
    :: from == INLINE -> FETCH(sender, sender)
    :: else
    fi
}

/* step 27: the slot, or the buffer, may be overwritten, if the sender waits for that; so it is still in the operation */
inline gather_release(sender, n, from)
{
    d_step {
        if
        :: IS_RELEASED(sender, n, from) ->
            assert(RECV_CONTROL_FREE(sender) && region[sender].ack < AT(operation + 1, 0));
            RAISE(RECV_CONTROL(sender).clock, AT(operation, n))
        :: else
        fi
    }
}

/* Reads fragment n of a sender, or its inline message, which is announced; n becomes the next. */
inline gather_take(sender, n, from)
{
    /* step 26: the fragment is in its slot, and the header is of this operation */
    d_step {
        if
        :: n == 0 ->
            assert(OPERATION_OF(SEND_CONTROL(sender).header) == operation);
            from = WHAT_OF(SEND_CONTROL(sender).header)
        :: else
        fi;
        if
        :: from == INLINE -> assert(SEND_CONTROL(sender).payload == TAG(operation, sender))
        :: else -> assert(region[sender].slot[(from + n) % SLOTS] == TAG(operation, n))
        fi;
        n++
    }
#ifdef MUTANT_GATHER_RELEASES_BUFFER_EARLY
    gather_release(sender, n, from);
    gather_fetch(sender, from)
#else
    gather_fetch(sender, from);
    gather_release(sender, n, from)
#endif
}

inline gather_read(sender, another)
{
    do
    :: IS_THERE(sender, i) -> gather_take(sender, i, where)
    :: IS_THERE(another, j) -> gather_take(another, j, start)
    :: i == PARTS(sender) && j == PARTS(another) -> break
    od;
    i = 0;
    j = 0;
    where = 0;
    start = 0
}

#ifdef MUTANT_AHEAD_OF_ITSELF
#define MAY_GO_AHEAD SLOT_FREE(head)
#else
#define MAY_GO_AHEAD (j < i + SLOTS && SLOT_FREE(head))
#endif

/* Allgather: what this rank sends in round i before it reads; j fragments are sent. It may always stop ahead of the round, as if
 * the next slot were not free. */
inline send_in_round()
{
    do
    :: j < SENDS(_pid) && j <= i -> send_fragment(ALL_READERS, j); j++
#ifdef AHEAD
    :: j < SENDS(_pid) && j > i && MAY_GO_AHEAD -> send_fragment(ALL_READERS, j); j++
#endif
    :: j >= SENDS(_pid) || j > i -> break
    od
}

/* Reads fragment i of this rank itself out of its slot. */
inline read_own()
{
#ifdef AHEAD
    d_step { assert(i >= SENDS(_pid) || ME.slot[(own + i) % SLOTS] == TAG(operation, i)) }
#else
    skip
#endif
}

inline allgather(sender, another)
{
#ifdef AHEAD
    own = head;
#endif
    send_first(ALL_READERS);
    j = 1;
    send_in_round();
    read_own();
    receive_round(sender, another);
    do
    :: MORE_OF(_pid) || MORE_OF(sender) || MORE_OF(another) ->
        i++;
        send_in_round();
        read_own();
        receive_round(sender, another)
    :: else -> break
    od;
    i = 0;
    j = 0;
    where = 0;
    start = 0
#ifdef AHEAD
    ;
    own = 0
#endif
}

/* ---- barrier --------------------------------------------------------------------------------------------------- */

/* A rank counts `entered` before it signals its arrival. When a rank leaves, no rank may have entered fewer barriers. */
#define ALL_ENTERED \
    assert(entered[0] >= entered[_pid] && entered[1] >= entered[_pid] && entered[2] >= entered[_pid])

inline barrier_member()
{
    /* step 30: this rank has entered */
    d_step { entered[_pid]++; RAISE(ME.arrived, operation + 1) }
    /* step 31: all ranks have entered */
    d_step { region[BARRIER_ROOT].gate >= operation + 1 -> ALL_ENTERED }
}

inline barrier_root(member, another)
{
    entered[_pid]++;
    /* step 32: waits until all ranks have entered */
    region[member].arrived >= operation + 1;
#ifndef MUTANT_BARRIER_EARLY
    region[another].arrived >= operation + 1;
#endif
    /* step 33: all ranks may leave */
    d_step { RAISE(ME.gate, operation + 1) }
    d_step { ALL_ENTERED }
}

/* ---- a rank ---------------------------------------------------------------------------------------------------- */

active [RANKS] proctype rank()
{
    byte operation;             /* as the fields of struct nc_queue, down to control_readers */
    byte head;
    short used[SLOTS];
    byte readers[SLOTS];
    short control_used;         /* of my send control slot, as struct nc_use */
    byte control_readers;
    byte i, j, where, start;
#ifdef DIRECT
    byte direct_readers;        /* who reads my buffer in this operation */
#endif
#ifdef AHEAD
    byte own;                   /* index of the slot of this rank's fragment 0 */
#endif

    do
    :: operation < OPERATIONS ->
        if
        :: KIND(operation) == BCAST ->
            if
#ifdef RELAY
            :: _pid == BCAST_ROOT -> bcast_write_to(2)
            :: _pid == 2 -> bcast_relay(BCAST_ROOT, 0)
            :: else -> read_message(2, 0)
#else
            :: _pid == BCAST_ROOT -> bcast_write(0, 2)
            :: else -> read_message(BCAST_ROOT, 0)
#endif
            fi
        :: KIND(operation) == SCATTER ->
            if
            :: _pid == SCATTER_ROOT -> scatter_write(0, 3 - SCATTER_ROOT)
            :: else -> scatter_read()
            fi
        :: KIND(operation) == GATHER ->
            if
            :: _pid == GATHER_ROOT -> gather_read(1, 2)
            :: else -> gather_write()
            fi
        :: KIND(operation) == ALLGATHER ->
            if
            :: _pid == 0 -> allgather(1, 2)
            :: _pid == 1 -> allgather(2, 0)
            :: else -> allgather(0, 1)
            fi
        :: KIND(operation) == BARRIER ->
            if
            :: _pid == BARRIER_ROOT -> barrier_root(1, 2)
            :: else -> barrier_member()
            fi
        fi;
        /* step 40: this rank ends the operation: its receive control slot and all slots it has read may be used again */
#ifdef MUTANT_END_EARLY
        d_step { operation++; ME.ack = AT(operation, 0) }
#else
        d_step { operation++; RAISE(ME.ack, AT(operation, 0)) }
#endif
#ifdef DIRECT
        /* step 41: nobody reads my buffer any more, so the program may write it */
        d_step { THROUGH(0) && THROUGH(1) && THROUGH(2) -> direct_readers = 0; ME.buffer = 0 }
#endif
    :: else -> break
    od;
    /* Every rank must get here: Spin reports an end anywhere else as an invalid end state. There is no cycle: clocks grow. */
    assert(ME.ack == AT(OPERATIONS, 0))
}
