/* A bounded set of things that are kept to be used again. Each has a key, which says what it can be
 * used for. mpich/kept.c keeps the states of freed communicators in one. Private memory, no lock.
 *
 * Several processes have a set each, and want to take the same thing out of all of them. They do if
 * all have the same things in their sets, in whatever order, or if only one thing has the context
 * that they ask for, and all have that; otherwise they may take different ones, and have to find
 * out. */

#ifndef NC_KEPT_H_INCLUDED
#define NC_KEPT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum { NC_KEPT_MOST = 64 };

struct nc_kept {
    const int *key; /* [ints]; must stay in place as long as the thing is in the set */
    int ints;
    int context; /* what it was used for last; the same in all processes that have it */
    int number;  /* another one for each thing with this key; the same in all processes */
    size_t bytes;
    void *thing;
};

/* Empty if all zero. */
struct nc_kept_set {
    int count;
    size_t bytes;                      /* of all things in the set */
    struct nc_kept kept[NC_KEPT_MOST]; /* in the order in which they were added */
};

/* Whether one more of `bytes` bytes can be added without exceeding `most` things, at most
 * NC_KEPT_MOST, or most_bytes. */
bool nc_kept_has_room(const struct nc_kept_set *set, size_t bytes, int most, size_t most_bytes);

/* Adds one, for which there is room. */
void nc_kept_add(struct nc_kept_set *set, const struct nc_kept *kept);

/* Takes one with this key out of the set: of those with this context, or else of all, the one with
 * the lowest number. NULL: there is none. */
void *nc_kept_take(struct nc_kept_set *set, const int *key, int ints, int context);

/* Takes the oldest one out for which `is` is true, of all if it is NULL. NULL: there is none. */
void *nc_kept_take_first(struct nc_kept_set *set, bool (*is)(const void *thing));

#endif
