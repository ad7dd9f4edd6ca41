/* The pairs of a tournament: rounds in which every member meets every other one exactly once, each
 * round as many pairs as possible. shm/nc_exchange.c and coll/alltoall.c exchange blocks in these
 * rounds, so that never two members send to the same one in a round.
 *
 * The circle method: members i and j of an odd number p meet in round (i + j) mod p. One member of
 * each round, with 2 i = round (mod p), has no partner; if p is even, the last member stays outside
 * the circle and is the partner of that one. */

#ifndef NC_PAIRS_H_INCLUDED
#define NC_PAIRS_H_INCLUDED

/* Rounds of a tournament of so many members, at least one. */
static inline int nc_pairs_rounds(int members)
{
    return members % 2 ? members : members - 1;
}

/* Whom a member meets in a round; itself: nobody. */
static inline int nc_pairs_partner(int members, int member, int round)
{
    int circle = nc_pairs_rounds(members);
    int alone = round % 2 ? (round + circle) / 2 : round / 2; /* in the circle */
    int partner = round - member;

    if (member == alone)
        return members - 1 >= circle ? members - 1 : member;
    if (member == circle)
        return alone;
    return partner < 0 ? partner + circle : partner;
}

#endif
