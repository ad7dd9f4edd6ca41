/* A model of the exchange of blocks between all pairs of ranks (PROTOCOLS.md, section 3.9, X1 to X5), for Spin: three ranks, every
 * interleaving of their steps. ./spin runs it. Each step takes effect at once.
 *
 * A call is three rounds, which are three operations; in each of them two ranks meet and the third is alone. A rank sends in the
 * order of the rounds, and receives in the order of the rounds, and the two go on side by side. The wait for either (X5) is the
 * choice of the loop: it is blocked only if nothing can be done.
 *
 * What is in the model, and what it is in the code (src/mpid/ch4/shm/numacoll/shm: nc_exchange.c, nc_queue.c)
 *   AT(o, n)           a clock: the operation, and fragments
 *   PARTNER            nc_pairs_partner
 *   control, header, payload   the send control slots of all ranks
 *   slot               their send rings; contents are tags, (operation, fragment)
 *   sending, sent      nc_exchange.sending, as an operation, and out.next; `begun`: out.control is there
 *   receiving, read    nc_exchange.receiving, as an operation, and in.next
 *
 *   CALLS=n            so many calls (2)
 *   SLOTS=n            of a ring (2)
 *   CONTROLS=n         send control slots (1)
 *   FRAGMENTS=n        of a block (3); more than a ring has slots
 *   INLINE_FROM=r      the blocks of this rank are inline
 *   IN_PLACE           a block takes the place of the one that goes the other way */

#ifndef CALLS
#define CALLS 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef CONTROLS
#define CONTROLS 1
#endif
#ifndef FRAGMENTS
#define FRAGMENTS 3
#endif
#ifndef INLINE_FROM
#define INLINE_FROM 3
#endif

#define RANKS 3
#define OPERATIONS (CALLS * RANKS)
#define AT(operation, fragments) ((operation) * 8 + (fragments))
#define TAG(operation, what) (((operation) + 1) * 8 + (what)) /* never 0: 0 is a place that is not yet written */
#define INLINE 7                                             /* in a header, instead of the slot of fragment 0 */
#define PARTNER(rank, operation) (((operation) + RANKS - (rank)) % RANKS)
#define IS_INLINE(rank) ((rank) == INLINE_FROM)
#define PARTS(rank) (IS_INLINE(rank) -> 1 : FRAGMENTS)

typedef region_t {
    short ack;
    short control[CONTROLS];
    byte header[CONTROLS], payload[CONTROLS];
    byte slot[SLOTS];
}
region_t region[RANKS];

#define ME region[_pid]
#define RAISE(clock, value) assert((clock) < (value)); clock = value

#ifdef MUTANT_SLOT_REUSED
#define SLOT_FREE true
#else
#define SLOT_FREE (region[reader[head]].ack >= used[head])
#endif
#ifdef MUTANT_CONTROL_REUSED
#define CONTROL_FREE true
#else
#define CONTROL_FREE (region[control_reader[sending % CONTROLS]].ack >= control_used[sending % CONTROLS])
#endif

#define MAY_SEND (sending < (receiving / RANKS + 1) * RANKS && sending < OPERATIONS)
#define ALONE(operation) (PARTNER(_pid, operation) == _pid)

#if defined(MUTANT_NO_DRAIN)
#define HAS_SENT (sending > receiving)
#elif defined(MUTANT_OVERWRITES)
#define HAS_SENT true
#else
#define HAS_SENT (sending > receiving || (sending == receiving && sent > read))
#endif
#define OTHER PARTNER(_pid, receiving)
#define IS_THERE (region[OTHER].control[receiving % CONTROLS] >= AT(receiving, read + 1))

#ifdef MUTANT_LEAVES
#define MAY_END true
#else
#define MAY_END (sending > receiving)
#endif

inline announce(n)
{
    d_step { RAISE(ME.control[sending % CONTROLS], AT(sending, n)) }
}

inline next_round()
{
    d_step { sending++; sent = 0; begun = false }
}

inline write_slot()
{
    d_step {
#ifdef IN_PLACE
        assert(sending > receiving || read <= sent); /* what is sent here has not been overwritten */
#endif
        ME.slot[head] = TAG(sending, sent);
        used[head] = AT(sending, sent + 1);
        reader[head] = PARTNER(_pid, sending);
        head = (head + 1) % SLOTS
    }
}

inline give_back(n)
{
#ifndef MUTANT_GIVE_BACK_NEVER
    d_step {
        if
        :: n < PARTS(OTHER) -> RAISE(ME.ack, AT(receiving, n))
        :: else
        fi
    }
#else
    skip
#endif
}

inline read_part()
{
    d_step {
        assert(region[OTHER].header[receiving % CONTROLS] / 8 == receiving + 1);
        where = region[OTHER].header[receiving % CONTROLS] % 8;
        if
        :: where == INLINE -> assert(region[OTHER].payload[receiving % CONTROLS] == TAG(receiving, OTHER))
        :: else -> assert(region[OTHER].slot[(where + read) % SLOTS] == TAG(receiving, read))
        fi;
        where = 0
    }
}

active [RANKS] proctype rank()
{
    byte sending, sent, receiving, read, head, where;
    bool begun;
    short used[SLOTS], control_used[CONTROLS];
    byte reader[SLOTS], control_reader[CONTROLS];

    do
    :: receiving == OPERATIONS -> break
    :: MAY_SEND && ALONE(sending) -> next_round()
    :: MAY_SEND && !ALONE(sending) && !begun && CONTROL_FREE ->
        /* X1 */
        d_step {
            control_used[sending % CONTROLS] = AT(sending + 1, 0);
            control_reader[sending % CONTROLS] = PARTNER(_pid, sending);
            ME.header[sending % CONTROLS] = TAG(sending, (IS_INLINE(_pid) -> INLINE : head));
            begun = true
        }
        if
        :: IS_INLINE(_pid) ->
            ME.payload[sending % CONTROLS] = TAG(sending, _pid);
            announce(1);
            next_round()
        :: else
        fi
    :: MAY_SEND && begun && SLOT_FREE ->
        /* X2 */
#ifdef MUTANT_ANNOUNCES_EARLY
        announce(sent + 1);
        write_slot();
#else
        write_slot();
        announce(sent + 1);
#endif
        sent++;
        if
        :: sent == FRAGMENTS -> next_round()
        :: else
        fi
    :: receiving < OPERATIONS && !ALONE(receiving) && read < PARTS(OTHER) && HAS_SENT && IS_THERE ->
        /* X3 */
#ifdef MUTANT_GIVE_BACK_EARLY
        give_back(read + 1);
        read_part();
        read++
#else
        read_part();
        read++;
        give_back(read)
#endif
    :: receiving < OPERATIONS && (ALONE(receiving) || read == PARTS(OTHER)) && MAY_END ->
        /* X4 */
        d_step { receiving++; read = 0; RAISE(ME.ack, AT(receiving, 0)) }
    od;
    assert(sending == OPERATIONS)
}
