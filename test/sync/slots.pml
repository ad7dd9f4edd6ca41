/* The slot protocol, for Spin: three ranks, four kinds of operations, every interleaving. Run by ./spin.
 *
 * What is mirrored (src/mpid/ch4/shm/numacoll):
 *   AT, clocks            core/nc_clock.h    nc_clock_at, nc_clock_reached; (operation, fragments) in one number
 *   region                core/nc_layout.h   one region per process: `done`, post ring, OUT ring
 *   write_slot            sync/nc_queue.c    nc_queue_take_slot, then the copy into the slot
 *   write_post            sync/nc_queue.c    nc_queue_take_post, then header and payload
 *   announce              sync/nc_queue.h    nc_queue_announce
 *   GIVE_BACK, step 40    sync/nc_queue.h    nc_queue_give_back, nc_queue_end
 *   bcast_write           coll/bcast_node.c  write_inline, write_fragments, tell_first, tell (flat tree)
 *   bcast_relay           coll/bcast_node.c  relay_fragment: the leader of another NUMA node, with RELAY
 *   read_message          coll/bcast_node.c  read_message, read_fragments
 *   scatter, gather, barrier, and the `out` line they use: the design, which has no code yet
 *
 * What is not: trees deeper than one level, sets of slots, the wrap of clocks, nc_queue.seen (`done` only grows, so
 * a remembered value only waits longer), and the order of memory: steps are sequentially consistent here, and
 * ThreadSanitizer looks at acquire and release in test_node.c.
 *
 * One step touches one shared location. A wait is part of the step it licenses: clocks only grow (asserted), so
 * nothing another rank does between the two could take the licence away. A copy is one step as well: if somebody
 * may overwrite a slot while it is read, then in some interleaving that comes before the read.
 *
 * Contents are tags, (operation, fragment), and each read asserts the tag it expects: so it notices a slot, a post
 * or a line that is not yet written, and one that is already written again.
 *
 * Which operations: broadcast, scatter, gather, barrier, twice; or
 *   DENSE                 no barrier. With one in each round no rank is ever far enough ahead of another to write a
 *                         post or a line again too early, and a wait that is missing there is not noticed
 *   GATHER_FRAGMENTS=n    n fragments of each sender of a gather, at most 3
 *   CHOICE                the writer of a broadcast may also choose to send it inline
 *   RELAY                 the broadcast goes through the ring of a leader to the third rank; with READERS_ONLY
 * Whom a slot waits for: every other rank; or, as in the code
 *   READERS_ONLY          who reads the slot's last contents
 * Mutants: see MUTANT_. Each breaks one rule. */

#define RANKS 3
#define SLOTS 2
#define POSTS 2                 /* NC_POSTS */
#define FRAGMENTS 3             /* of a broadcast; more than slots, so that the ring wraps within an operation */
#ifndef GATHER_FRAGMENTS
#define GATHER_FRAGMENTS 1
#endif

#define AT(operation, fragments) ((operation) * 4 + (fragments))
#define TAG(operation, what) (((operation) + 1) * 8 + (what))      /* never 0: that is a place not yet written */
#define OPERATION_OF(tag) ((tag) / 8 - 1)
#define WHAT_OF(tag) ((tag) % 8)
#define INLINE 4                /* in a header, instead of the first slot: the message is in the payload */

#define BCAST_ROOT 1
#define SCATTER_ROOT 2
#define GATHER_ROOT 0
#define BARRIER_ROOT 0

mtype = { BCAST, SCATTER, GATHER, BARRIER };

#ifdef DENSE
/* broadcast, three scatters (more than POSTS), two gathers; and again */
#define OPERATIONS 12
#define KIND(o) ((o) % 6 == 0 -> BCAST : ((o) % 6 <= 3 -> SCATTER : GATHER))
#else
/* broadcast, scatter, gather, barrier; and again */
#define OPERATIONS 8
#define KIND(o) ((o) % 4 == 0 -> BCAST : ((o) % 4 == 1 -> SCATTER : ((o) % 4 == 2 -> GATHER : BARRIER)))
#endif

typedef post_t {
    short clock;                /* (operation, fragments announced) */
    byte header;                /* tag: INLINE or the first slot */
    byte payload;               /* tag */
}

typedef region_t {
    short done;                 /* writer: the owner */
    post_t post[POSTS];         /* writer: whoever writes to the owner in the operation */
    byte slot[SLOTS];           /* OUT ring. writer: the owner. tags */
    short out;                  /* (operation, fragments I have written, or: I have entered). writer: the owner */
    byte position;              /* tag: the slot of fragment 0, beside `out`. writer: the owner */
}

region_t region[RANKS];
byte entered[RANKS];            /* barriers entered; for the assertion only */

#define ME region[_pid]
#define POST(r) region[r].post[operation % POSTS]

#define RAISE(clock, value) assert((clock) < (value)); clock = value

/* ---- waiting and writing -------------------------------------------------------------------------------------- */

#ifdef MUTANT_SLOT_SHORT
#define USED(slot) (used[slot] - 1)
#else
#define USED(slot) used[slot]
#endif

#ifdef READERS_ONLY
#define READS(r, slot) ((readers[slot] >> (r)) & 1)
#else
#define READS(r, slot) true
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

#ifdef MUTANT_LINE_REUSED
#define LINE_FREE true
#else
#define LINE_FREE (region[GATHER_ROOT].done >= line_used)
#endif

/* step 1: once the next slot of my ring is given back, fragment i is in it. Its readers, a set of bits, finish it
 * at (operation, i + 1) */
inline write_slot(set)
{
    d_step {
        SLOT_FREE(head) ->
        ME.slot[head] = TAG(operation, i);
        used[head] = AT(operation, i + 1);
#ifdef READERS_ONLY
        readers[head] = set;
#endif
        head = (head + 1) % SLOTS;
    }
}

/* step 2: once the post of r is free, its header says where the message is;
 * step 3: and if it is in the post, there it is */
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

#define GIVE_BACK(n) d_step { RAISE(ME.done, AT(operation, n)) }

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
            GIVE_BACK(i)
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
            GIVE_BACK(i + 1);
#endif
            /* step 15: into a slot of mine, from its slot */
            write_slot(1 << reader);
            d_step { assert(region[writer].slot[(where + i) % SLOTS] == TAG(operation, i)) }
#ifndef MUTANT_RELAY_TELLS_EARLY
            tell_one(reader);
#endif
#ifndef MUTANT_RELAY_GIVES_BACK_EARLY
            /* step 16 */
            GIVE_BACK(i + 1);
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

/* ---- gather ---------------------------------------------------------------------------------------------------- */

/* A sender. The root has two writers in this operation, but a post has one; so each tells of its slots in a line of
 * its own. */
inline gather_write()
{
    start = head;
    do
    :: i < GATHER_FRAGMENTS ->
#ifndef MUTANT_OUT_EARLY
        write_slot(1 << GATHER_ROOT);
#endif
        if
        :: i == 0 ->
            /* step 20: once the root has read what the line said last, it says where fragment 0 is. The slot that
             * is free now does not tell that: it may be another one than last time. */
            d_step {
                LINE_FREE ->
                ME.position = TAG(operation, start);
                line_used = AT(operation, 1);
            }
        :: else
        fi;
        /* step 21: i + 1 fragments are there */
        d_step { RAISE(ME.out, AT(operation, i + 1)) }
#ifdef MUTANT_OUT_EARLY
        write_slot(1 << GATHER_ROOT);
#endif
        i++
    :: else -> break
    od;
    i = 0;
    start = 0
}

/* The root. Its one `done` clock says n fragments of every sender, so it takes one of each in turn. */
inline gather_fragment(sender, from)
{
    if
    :: i == 0 ->
        /* step 22: the line is of this operation */
        d_step {
            region[sender].out >= AT(operation, 1) ->
            assert(OPERATION_OF(region[sender].position) == operation);
            from = WHAT_OF(region[sender].position);
        }
    :: else
    fi;
    /* step 23: fragment i is announced, and in its slot */
    d_step {
        region[sender].out >= AT(operation, i + 1) ->
        assert(region[sender].slot[(from + i) % SLOTS] == TAG(operation, i));
    }
}

inline gather_read(sender, another)
{
    do
    :: i < GATHER_FRAGMENTS ->
#ifdef MUTANT_GATHER_ONE_SENDER
        gather_fragment(sender, where);
        GIVE_BACK(i + 1);
        gather_fragment(another, start);
#else
        gather_fragment(sender, where);
        gather_fragment(another, start);
        /* step 24 */
        GIVE_BACK(i + 1);
#endif
        i++
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
    /* step 30: I have entered. The position beside the clock stays: the root may not have read it yet. */
    d_step { entered[_pid]++; RAISE(ME.out, AT(operation, 1)) }
    /* step 31: all have */
    d_step { POST(_pid).clock >= AT(operation, 1) -> ALL_ENTERED }
}

inline barrier_root(member, another)
{
    entered[_pid]++;
    /* step 32: all have entered */
    region[member].out >= AT(operation, 1);
#ifndef MUTANT_BARRIER_EARLY
    region[another].out >= AT(operation, 1);
#endif
    /* step 33, for each: its post is free, and is told. There is neither header nor payload. */
    d_step { POST_FREE(member) -> RAISE(POST(member).clock, AT(operation, 1)) }
    d_step { POST_FREE(another) -> RAISE(POST(another).clock, AT(operation, 1)) }
    d_step { ALL_ENTERED }
}

/* ---- a rank ---------------------------------------------------------------------------------------------------- */

active [RANKS] proctype rank()
{
    byte operation;             /* struct nc_queue */
    byte head;
    short used[SLOTS];
#ifdef READERS_ONLY
    byte readers[SLOTS];
#endif
    short line_used;            /* what `done` of the gather's root must reach before I write my line again */
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
            /* one fragment for each, inline in its post; its tag has the rank it is for */
            if
            :: _pid == SCATTER_ROOT ->
                first(0, INLINE, 0);
                first(1, INLINE, 1)
            :: else -> read_message(SCATTER_ROOT, _pid)
            fi
        :: KIND(operation) == GATHER ->
            if
            :: _pid == GATHER_ROOT -> gather_read(1, 2)
            :: else -> gather_write()
            fi
        :: KIND(operation) == BARRIER ->
            if
            :: _pid == BARRIER_ROOT -> barrier_root(1, 2)
            :: else -> barrier_member()
            fi
        fi;
        /* step 40: the operation is over for me: my post of it, and all slots I have read, may be used again */
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
