/* Q1 to Q4 and W1 to W3, U1 to U3, with R7: rank 0 moves a clock, rank 1 parks for it. If rank 1
 * goes to sleep, its bell is rung after it has listened. PROTOCOLS.md, 5.2: "Nothing is lost". With
 * WORDS=2 rank 1 waits for one of two words, of which rank 0 moves the second. */
#include "litmus.h"

#ifndef BY_ADD
#define BY_ADD 0
#endif
#ifndef WORDS
#define WORDS 1
#endif

static _Alignas(NC_LINE) char segment[NC_HEADER_BYTES + NC_BUCKETS_BYTES + 2 * NC_PLACE_BYTES +
                                      WORDS * NC_LINE];
static struct nc_bell bell[2];
static uint32_t heard;
static int sleeps;

static struct nc_bell *bells[2];
static struct nc_parking parking[2];

static void *rank(void *number)
{
    struct nc_atomic *clock = (struct nc_atomic *) (segment + sizeof segment - NC_LINE);
    struct nc_awaited awaited[WORDS];
    struct nc_parking *p = &parking[*(int *) number];

    if (*(int *) number == 0) {
        if (BY_ADD)
            nc_atomic_add_ordered(clock, 1);
        else
            nc_atomic_store_ordered(clock, 1); /* W1 */
        nc_parking_wake(p, clock, 1);          /* W2, W3 */
    } else {
        for (int k = 0; k < WORDS; k++) { /* the clock is the last */
            awaited[k].word = clock - (WORDS - 1 - k) * (NC_LINE / sizeof *clock);
            awaited[k].clock = 1;
        }
        heard = nc_bell_listen(&bell[1]);                             /* Q1 */
        nc_parking_enter(p, awaited, WORDS);                          /* Q2, Q3 */
        sleeps = !nc_clock_reached(nc_atomic_load_ordered(clock), 1); /* Q4 */
    }
    return NULL;
}

/* nc_parking_init, field by field: GenMC copies no structs */
static void init(int r)
{
    bells[r] = &bell[r];
    parking[r].base = segment;
    parking[r].mask = (struct nc_atomic *) (segment + NC_HEADER_BYTES);
    parking[r].place = (struct nc_place *) (segment + NC_HEADER_BYTES + NC_BUCKETS_BYTES);
    parking[r].bell = bells;
    parking[r].rank = r;
    parking[r].ranks = 2;
}

int main(void)
{
    init(0);
    init(1);
    run(2, rank);
    assert(!sleeps || bell[1].word.value != heard);
    return 0;
}
