/* Parking and waking. See nc_parking.h; numbers are those of PROTOCOLS.md, section 5.2. */

#include "nc_parking.h"

void nc_parking_init(struct nc_parking *p, char *base, struct nc_bell **bell, int rank, int ranks)
{
    char *at = base + NC_HEADER_BYTES;

    *p = (struct nc_parking){.base = base,
                             .mask = (struct nc_atomic *) at,
                             .place = (struct nc_place *) (at + NC_BUCKETS_BYTES),
                             .bell = bell,
                             .rank = rank,
                             .ranks = ranks};
}

static uint64_t offset_of(const struct nc_parking *p, const struct nc_atomic *word)
{
    return (uint64_t) ((const char *) word - p->base);
}

/* The bucket of a word: all words of a line have the same. */
static struct nc_atomic *bucket_of(const struct nc_parking *p, const struct nc_atomic *word)
{
    uint64_t line = offset_of(p, word) / NC_LINE;

    /* Fibonacci hashing: equal words of the regions are some pages apart, whose size is a power of
     * 2, so the lowest bits of `line` are equal for them all */
    return p->mask + (line * 0x9e3779b97f4a7c15u >> 32) % NC_BUCKETS * NC_BUCKET_WORDS;
}

void nc_parking_enter(struct nc_parking *p, const struct nc_awaited *awaited, int n)
{
    struct nc_place *mine = &p->place[p->rank];

    /* Q2. release R7: who finds my bit finds the word and the clock; partner: nc_parking_wake */
    nc_atomic_release(&mine->wanted, awaited[0].clock);
    nc_atomic_release(&mine->word, n > 1 ? NC_PLACE_ANY : offset_of(p, awaited[0].word));
    for (int k = 0; k < n; k++) /* Q3 */
        nc_atomic_set_bits(bucket_of(p, awaited[k].word) + p->rank / 64, 1ull << p->rank % 64);
}

/* W3: wakes one rank, if it is parked for that word and the clock is what it wants, or if it is
 * parked for several words. Returns whether it slept, and passes the ring on when it wakes: who is
 * parked for several words may have none that others are parked for. */
static bool wake(struct nc_parking *p, int rank, uint64_t word, nc_clock clock)
{
    const struct nc_place *place = &p->place[rank];
    uint64_t parked = nc_atomic_acquire(&place->word); /* acquire of R7 */

    if (parked == NC_PLACE_ANY)
        nc_bell_ring(p->bell[rank]);
    return parked == word && nc_clock_reached(clock, nc_atomic_acquire(&place->wanted)) &&
           nc_bell_ring(p->bell[rank]);
}

void nc_parking_wake(struct nc_parking *p, const struct nc_atomic *word, nc_clock clock)
{
    enum { AT_ONCE = 2 };
    const struct nc_atomic *bucket = bucket_of(p, word);
    int woken = 0;

    for (int first = 0; first < p->ranks; first += 64) {
        uint64_t parked = nc_atomic_load_ordered(bucket + first / 64); /* W2 */
        for (; parked && woken < AT_ONCE; parked &= parked - 1)
            woken += wake(p, first + __builtin_ctzll(parked), offset_of(p, word), clock);
    }
    p->rings += (uint64_t) woken;
}

void nc_parking_leave(struct nc_parking *p, const struct nc_awaited *awaited, int n)
{
    for (int k = 0; k < n; k++)
        nc_atomic_clear_bits(bucket_of(p, awaited[k].word) + p->rank / 64, 1ull << p->rank % 64);
    /* nobody relies on it: whoever still finds the word rings a bell that nobody awaits */
    nc_atomic_release(&p->place[p->rank].word, 0);
    for (int k = 0; k < n; k++)
        nc_parking_wake(p, awaited[k].word, nc_atomic_load_ordered(awaited[k].word));
}
