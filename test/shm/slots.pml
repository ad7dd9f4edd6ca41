/* The slot protocol, for Spin: three ranks, five kinds of operations, every interleaving. Run by ./spin.
 *
 * What is mirrored (src/mpid/ch4/shm/numacoll):
 *   AT, clocks            core/nc_clock.h    nc_clock_at, nc_clock_reached; (operation, fragments) in one number
 *   region                core/nc_layout.h   one region per process: `ack`, control slots of both kinds, send ring, receive ring
 *   write_slot            shm/nc_queue.c    nc_queue_take_slot, then the copy into the slot
 *   write_post            shm/nc_queue.c    nc_queue_take_recv_control, then header and payload
 *   write_out_post        shm/nc_queue.c    nc_queue_take_send_control, then header and payload
 *   write_in              shm/nc_queue.c    nc_queue_recv_slot_is_free, nc_queue_await_recv_slot, then the copy into the slot
 *   announce, first       shm/nc_transfer.h nc_transfer_announce; inline: nc_transfer_put
 *   GIVE_BACK             shm/nc_transfer.h nc_transfer_acknowledge, with sets of one slot
 *   step 40               shm/nc_queue.c    nc_queue_end
 *   bcast_write           shm/nc_bcast.c  write_inline, write_fragments: nc_transfer_inline_to_children, nc_transfer_send (flat tree)
 *   bcast_relay           shm/nc_bcast.c  relay_fragment: who leads, or hands on, with RELAY
 *   read_message          shm/nc_bcast.c  read_message, read_fragments
 *   scatter_write         shm/nc_scatter.c    send_inline: nc_transfer_inline; send_fragments: nc_transfer_write
 *   scatter_read          shm/nc_scatter.c    receive
 *   send_first            shm/nc_gather.c send_first: nc_transfer_inline, nc_transfer_send
 *   send_fragment         shm/nc_gather.c rounds: nc_transfer_send
 *   receive_fragment      shm/nc_gather.c receive_first, receive_round
 *   barrier               any algorithm of shm/nc_barrier.h as the operations between see it; barriers.pml has those
 *
 * What is not: trees deeper than one level, sets of slots, the wrap of clocks, nc_queue.seen (`ack` only grows, so
 * a remembered value only waits longer), and the order of memory: steps are sequentially consistent here, and
 * ThreadSanitizer looks at acquire and release in test_node.c.
 *
 * One step touches one shared location. A wait is part of the step it licenses: clocks only grow (asserted), so
 * nothing another rank does between the two could take the licence away. A copy is one step as well: if somebody
 * may overwrite a slot while it is read, then in some interleaving that comes before the read.
 *
 * Contents are tags, (operation, fragment), and each read asserts the tag it expects: so it notices a slot, a control slot
 * or a line that is not yet written, and one that is already written again.
 *
 * Which operations: broadcast, scatter, gather, allgather, barrier, twice; or
 *   DENSE                 broadcasts, scatters and gathers only. An allgather or a barrier lets no rank be far enough
 *                         ahead of another to write a control slot again too early, and a wait that is missing there is not noticed
 *   ALLGATHERS            allgathers, scatters and gathers only
 *   GATHER_FRAGMENTS=n    n fragments of each sender of a gather, at most 3; 0: inline
 *   UNEQUAL               the second sender of a gather sends inline, whatever the first does
 *   SCATTER_BOTH          both messages of a scatter go through receive rings, and not one inline
 *   ROOTS                 scatters have two roots in turn
 *   CHOICE                the writer of a broadcast may also choose to send it inline
 *   RELAY                 the broadcast goes through the ring of a leader, or along a chain, to the third rank
 * Mutants: see MUTANT_. Each breaks one rule. */

#define RANKS 3
#define SLOTS 2
#define POSTS 2                 /* NC_RECV_CONTROLS */
#define OUT_POSTS 1             /* NC_SEND_CONTROLS */
#define IN_SLOTS 1
#define FRAGMENTS 3             /* of a broadcast; more than slots, so that the ring wraps within an operation */
#ifndef GATHER_FRAGMENTS
#define GATHER_FRAGMENTS 1
#endif

#define SCATTER_FRAGMENTS 2     /* more than slots of a receive ring */

#define AT(operation, fragments) ((operation) * 4 + (fragments))
#define TAG(operation, what) (((operation) + 1) * 8 + (what))      /* never 0: that is a place not yet written */
#define OPERATION_OF(tag) ((tag) / 8 - 1)
#define WHAT_OF(tag) ((tag) % 8)
#define INLINE 4                /* in a header, instead of the first slot: the message is in the payload */

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
/* broadcast, three scatters (more than POSTS), two gathers; and again */
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

/* Fragments that rank r sends; 0: inline */
#ifdef UNEQUAL
#define GATHER_SENDS(r) ((r) == 1 -> GATHER_FRAGMENTS : 0)
#else
#define GATHER_SENDS(r) GATHER_FRAGMENTS
#endif
#define ALLGATHER_SENDS(r) ((r) == 0 -> 3 : ((r) == 1 -> 2 : 0))
#define SENDS(r) (KIND(operation) == GATHER -> GATHER_SENDS(r) : ALLGATHER_SENDS(r))

typedef post_t {
    short clock;                /* (operation, fragments announced) */
    byte header;                /* tag: INLINE or the first slot */
    byte payload;               /* tag */
}

typedef region_t {
    short done;                 /* writer: the owner */
    post_t control[POSTS];         /* writer: whoever writes to the owner in the operation */
    post_t send_control[OUT_POSTS]; /* writer: the owner */
    byte slot[SLOTS];           /* send ring. writer: the owner. tags */
    byte in_slot[IN_SLOTS];     /* receive ring. writer: the root of a scatter. tags */
    byte arrived, gate;         /* last barrier the rank has entered, and that is over at it. writer: the owner */
}

region_t region[RANKS];
byte entered[RANKS];            /* barriers entered; for the assertion only */

#define ME region[_pid]
#define POST(r) region[r].control[operation % POSTS]
#define OUT_POST(r) region[r].send_control[operation % OUT_POSTS]

#define RAISE(clock, value) assert((clock) < (value)); clock = value

/* ---- waiting and writing -------------------------------------------------------------------------------------- */

#ifdef MUTANT_SLOT_SHORT
#define USED(slot) (used[slot] - 1)
#else
#define USED(slot) used[slot]
#endif

#ifdef MUTANT_SLOT_WAITS_FOR_ALL
#define READS(r, slot) true
#else
#define READS(r, slot) ((readers[slot] >> (r)) & 1)
#endif

#define BACK(r, slot) (_pid == (r) || !READS(r, slot) || region[r].done >= USED(slot))

#ifdef MUTANT_SLOT_REUSED
#define SLOT_FREE(slot) true
#else
#define SLOT_FREE(slot) (BACK(0, slot) && BACK(1, slot) && BACK(2, slot))
#endif

#ifdef MUTANT_POST_REUSED
#define POST_FREE(r) true
#elif defined(MUTANT_POST_SHORT)
#define POST_FREE(r) (region[r].done >= AT(operation - POSTS, 0))
#else
#define POST_FREE(r) (region[r].done >= AT(operation + 1 - POSTS, 0))
#endif

#define OUT_BACK(r) (_pid == (r) || !((post_readers >> (r)) & 1) || region[r].done >= post_used)

#ifdef MUTANT_OUT_POST_REUSED
#define OUT_POST_FREE true
#else
#define OUT_POST_FREE (OUT_BACK(0) && OUT_BACK(1) && OUT_BACK(2))
#endif

#ifdef MUTANT_OUT_POST_SHORT
#define OUT_POST_OVER AT(operation, 0)
#else
#define OUT_POST_OVER AT(operation + 1, 0)
#endif

#ifdef MUTANT_IN_REUSED
#define IN_FREE(r, n) true
#elif defined(MUTANT_IN_SHORT)
#define IN_FREE(r, n) (region[r].done >= AT(operation, ((n) < IN_SLOTS -> 0 : (n) - IN_SLOTS)))
#elif defined(MUTANT_IN_OPERATION_EARLY)
#define IN_FREE(r, n) (region[r].done >= ((n) < IN_SLOTS -> AT(operation - 1, 0) : AT(operation, (n) - IN_SLOTS + 1)))
#else
#define IN_FREE(r, n) (region[r].done >= AT(operation, ((n) < IN_SLOTS -> 0 : (n) - IN_SLOTS + 1)))
#endif

#ifdef MUTANT_ALLGATHER_ONE_READER
#define ALL_READERS 1
#else
#define ALL_READERS 7
#endif

/* step 1: once the next slot of my ring is acknowledged, fragment i is in it. Its readers, a set of bits, finish it
 * at (operation, i + 1) */
inline write_slot(set)
{
    d_step {
        SLOT_FREE(head) ->
        ME.slot[head] = TAG(operation, i);
        used[head] = AT(operation, i + 1);
        readers[head] = set;
        head = (head + 1) % SLOTS;
    }
}

/* step 2: once the control slot of r is free, its header says where the message is;
 * step 3: and if it is in the control slot, there it is */
inline write_post(r, where, content)
{
    d_step {
        POST_FREE(r) ->
        POST(r).header = TAG(operation, where);
    }
    if
    :: where == INLINE -> POST(r).payload = TAG(operation, content)
    :: else
    fi
}

/* step 5: once the readers of my send control slot are through with its last use, its header says where the message is;
 * step 6: and if it is in the control slot, there it is */
inline write_out_post(set, where)
{
    d_step {
        OUT_POST_FREE ->
        OUT_POST(_pid).header = TAG(operation, where);
        post_used = OUT_POST_OVER;
        post_readers = set;
    }
    if
    :: where == INLINE -> OUT_POST(_pid).payload = TAG(operation, _pid)
    :: else
    fi
}

/* step 7: once it is acknowledged, fragment n is in a slot of r's receive ring */
inline write_in(r, n)
{
    d_step {
        IN_FREE(r, n) ->
        region[r].in_slot[(n) % IN_SLOTS] = TAG(operation, n);
    }
}

/* step 4: n fragments are there for r */
inline announce(r, n)
{
    d_step { RAISE(POST(r).clock, AT(operation, n)) }
}

inline first(r, where, content)
{
#ifdef MUTANT_HEADER_LATE
    announce(r, 1);
    write_post(r, where, content)
#else
    write_post(r, where, content);
    announce(r, 1)
#endif
}

/* n fragments are read, and `more` says whether others are to be read; the last ones step 40 acknowledges */
#ifdef MUTANT_GIVE_BACK_NEVER
#define GIVE_BACK(n, more) skip
#else
#define GIVE_BACK(n, more) \
    d_step { \
        if \
        :: more -> RAISE(ME.done, AT(operation, n)) \
        :: else \
        fi \
    }
#endif

/* ---- reading a message ---------------------------------------------------------------------------------------- */

/* From the ring of `writer`; `content` is the tag of an inline message. Nobody but the writer has decided which. */
inline read_message(writer, content)
{
    /* step 10: the first fragment is announced: the header is of this operation */
    d_step {
        POST(_pid).clock >= AT(operation, 1) ->
        assert(OPERATION_OF(POST(_pid).header) == operation);
        where = WHAT_OF(POST(_pid).header);
    }
    if
    :: where == INLINE ->
        /* step 11: the payload is mine until the operation is over for me */
#ifdef MUTANT_END_EARLY
        d_step { RAISE(ME.done, AT(operation + 1, 0)) }
#endif
        d_step { assert(POST(_pid).payload == TAG(operation, content)); where = 0 }
    :: else ->
        do
        :: i < FRAGMENTS ->
#ifdef MUTANT_GIVE_BACK_EARLY
            d_step { POST(_pid).clock >= AT(operation, i + 1) -> RAISE(ME.done, AT(operation, i + 1)) }
            d_step { assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i)); i++ }
#else
            /* step 12: fragment i is announced, and in its slot */
            d_step {
                POST(_pid).clock >= AT(operation, i + 1) ->
                assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i));
                i++;
            }
            /* step 13: it may be overwritten */
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
        first(other, INLINE, 0);
        first(another, INLINE, 0)
#endif
    :: true ->
        start = head;
        do
        :: i < FRAGMENTS ->
#ifdef MUTANT_ANNOUNCE_EARLY
            bcast_fragment(other, another);
            write_slot((1 << other) | (1 << another));
#else
            write_slot((1 << other) | (1 << another));
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

/* The root, when the only other rank of another NUMA node that reads its ring is that node's leader. */
inline bcast_write_to(leader)
{
    if
#ifdef CHOICE
    :: true -> first(leader, INLINE, 0)
#endif
    :: true ->
        start = head;
        do
        :: i < FRAGMENTS ->
            write_slot(1 << leader);
            tell_one(leader);
            i++
        :: else -> break
        od;
        i = 0;
        start = 0
    fi
}

/* A leader: each fragment once into its own ring, for its node. */
inline bcast_relay(writer, reader)
{
    d_step {
        POST(_pid).clock >= AT(operation, 1) ->
        assert(OPERATION_OF(POST(_pid).header) == operation);
        where = WHAT_OF(POST(_pid).header);
    }
    if
    :: where == INLINE ->
        first(reader, INLINE, 0);
        d_step { assert(POST(_pid).payload == TAG(operation, 0)); where = 0 }
    :: else ->
        start = head;
        do
        :: i < FRAGMENTS ->
            /* step 14: fragment i is announced */
            POST(_pid).clock >= AT(operation, i + 1);
#ifdef MUTANT_RELAY_TELLS_EARLY
            tell_one(reader);
#endif
#ifdef MUTANT_RELAY_GIVES_BACK_EARLY
            GIVE_BACK(i + 1, i + 1 < FRAGMENTS);
#endif
            /* step 15: into a slot of mine, from its slot */
            write_slot(1 << reader);
            d_step { assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i)) }
#ifndef MUTANT_RELAY_TELLS_EARLY
            tell_one(reader);
#endif
#ifndef MUTANT_RELAY_GIVES_BACK_EARLY
            /* step 16 */
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

/* One fragment, which is there: the next for r. */
inline scatter_fragment(r, n)
{
#ifdef MUTANT_IN_EARLY
    if
    :: n == 0 -> first(r, 0, 0)
    :: else -> announce(r, n + 1)
    fi;
    write_in(r, n);
#else
    write_in(r, n);
    if
    :: n == 0 -> first(r, 0, 0)
    :: else -> announce(r, n + 1)
    fi;
#endif
    n++
}

/* The root: what is inline first; then in any order, also waiting for one where another ring is free. */
inline scatter_write(other, another)
{
#ifdef SCATTER_BOTH
    start = 0;
#else
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
        POST(_pid).clock >= AT(operation, 1) ->
        assert(OPERATION_OF(POST(_pid).header) == operation);
        where = WHAT_OF(POST(_pid).header);
    }
    if
    :: where == INLINE ->
#ifdef MUTANT_END_EARLY
        d_step { RAISE(ME.done, AT(operation + 1, 0)) }
#endif
        d_step { assert(POST(_pid).payload == TAG(operation, _pid)); where = 0 }
    :: else ->
        do
        :: i < SCATTER_FRAGMENTS ->
#ifdef MUTANT_IN_GIVES_BACK_EARLY
            d_step { POST(_pid).clock >= AT(operation, i + 1) -> RAISE(ME.done, AT(operation, i + 1)) }
            d_step { assert(ME.in_slot[i % IN_SLOTS] == TAG(operation, i)); i++ }
#else
            /* step 17: fragment i is announced, and in its slot */
            d_step {
                POST(_pid).clock >= AT(operation, i + 1) ->
                assert(ME.in_slot[i % IN_SLOTS] == TAG(operation, i));
                i++;
            }
            /* step 18: it may be overwritten */
            GIVE_BACK(i, i < SCATTER_FRAGMENTS)
#endif
        :: else -> break
        od;
        i = 0
    fi
}

/* ---- gather and allgather -------------------------------------------------------------------------------------- */

#define ANNOUNCE_OUT(n) d_step { RAISE(OUT_POST(_pid).clock, AT(operation, n)) }

/* Fragment i of mine. */
inline send_fragment(set)
{
#ifdef MUTANT_OUT_EARLY
    ANNOUNCE_OUT(i + 1);
#endif
    write_slot(set);
#ifndef MUTANT_OUT_EARLY
    /* step 21: i + 1 fragments are there */
    ANNOUNCE_OUT(i + 1)
#endif
}

/* The first of mine, to a set of readers. */
inline send_first(set)
{
    if
    :: SENDS(_pid) == 0 ->
        write_out_post(set, INLINE);
        ANNOUNCE_OUT(1)
    :: else ->
        start = head;
        write_out_post(set, start);
        start = 0;
        send_fragment(set)
    fi
}

/* Fragment i of a sender, if it has one; `from` is where its fragment 0 is. */
inline receive_fragment(sender, from)
{
    if
    :: i == 0 ->
        /* step 22: the control slot is of this operation */
        d_step {
            OUT_POST(sender).clock >= AT(operation, 1) ->
            assert(OPERATION_OF(OUT_POST(sender).header) == operation);
            from = WHAT_OF(OUT_POST(sender).header);
        }
        if
        :: from == INLINE -> d_step { assert(OUT_POST(sender).payload == TAG(operation, sender)) }
        :: else
        fi
    :: else
    fi;
    if
    :: i < SENDS(sender) ->
        /* step 23: fragment i is announced, and in its slot */
        d_step {
            OUT_POST(sender).clock >= AT(operation, i + 1) ->
            assert(region[sender].slot[(from + i) % SLOTS] == TAG(operation, i));
        }
    :: else
    fi
}

#define MORE_OF(r) (i + 1 < SENDS(r))

/* My one `ack` says n fragments of every sender, so it takes one of each in turn. */
inline receive_round(sender, another)
{
    receive_fragment(sender, where);
#ifdef MUTANT_GATHER_ONE_SENDER
    GIVE_BACK(i + 1, MORE_OF(sender) || MORE_OF(another));
    receive_fragment(another, start)
#else
    receive_fragment(another, start);
    /* step 24 */
    GIVE_BACK(i + 1, MORE_OF(sender) || MORE_OF(another))
#endif
}

inline gather_write()
{
    send_first(1 << GATHER_ROOT);
    i = 1;
    do
    :: i < SENDS(_pid) -> send_fragment(1 << GATHER_ROOT); i++
    :: else -> break
    od;
    i = 0
}

inline gather_read(sender, another)
{
    receive_round(sender, another);
    do
    :: MORE_OF(sender) || MORE_OF(another) -> i++; receive_round(sender, another)
    :: else -> break
    od;
    i = 0;
    where = 0;
    start = 0
}

inline allgather(sender, another)
{
    send_first(ALL_READERS);
    receive_round(sender, another);
    do
    :: MORE_OF(_pid) || MORE_OF(sender) || MORE_OF(another) ->
        i++;
        if
        :: i < SENDS(_pid) -> send_fragment(ALL_READERS)
        :: else
        fi;
        receive_round(sender, another)
    :: else -> break
    od;
    i = 0;
    where = 0;
    start = 0
}

/* ---- barrier --------------------------------------------------------------------------------------------------- */

/* `entered` of a rank counts before its clock says so; once somebody leaves, nobody may be behind him. */
#define ALL_ENTERED \
    assert(entered[0] >= entered[_pid] && entered[1] >= entered[_pid] && entered[2] >= entered[_pid])

inline barrier_member()
{
    /* step 30: I have entered */
    d_step { entered[_pid]++; RAISE(ME.arrived, operation + 1) }
    /* step 31: all have */
    d_step { region[BARRIER_ROOT].gate >= operation + 1 -> ALL_ENTERED }
}

inline barrier_root(member, another)
{
    entered[_pid]++;
    /* step 32: all have entered */
    region[member].arrived >= operation + 1;
#ifndef MUTANT_BARRIER_EARLY
    region[another].arrived >= operation + 1;
#endif
    /* step 33: all may leave */
    d_step { RAISE(ME.gate, operation + 1) }
    d_step { ALL_ENTERED }
}

/* ---- a rank ---------------------------------------------------------------------------------------------------- */

active [RANKS] proctype rank()
{
    byte operation;             /* struct nc_queue */
    byte head;
    short used[SLOTS];
    byte readers[SLOTS];
    short post_used;            /* of my send control slot: struct nc_use */
    byte post_readers;
    byte i, where, start;

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
        /* step 40: the operation is over for me: my control slot of it, and all slots I have read, may be used again */
#ifdef MUTANT_END_EARLY
        d_step { operation++; ME.done = AT(operation, 0) }
#else
        d_step { operation++; RAISE(ME.done, AT(operation, 0)) }
#endif
    :: else -> break
    od;
    /* Reached by every rank: an end anywhere else is an invalid end state, and there is no cycle: clocks grow. */
    assert(ME.done == AT(OPERATIONS, 0))
}
