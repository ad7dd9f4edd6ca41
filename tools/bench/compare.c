/* Compares results with those of a file: what is slower or faster beyond the noise (order_change()
 * says when). */

#include "bench.h"

#include <stdio.h>
#include <string.h>

static struct document before;

const char *compare_open(const struct options *o)
{
    return o->compare ? document_read_file("compare", o->compare, &before) : NULL;
}

/* The result of before for the same cell, or NULL. */
static const struct result *find(const struct measurement *m, size_t bytes, const char *algorithm)
{
    const struct options *o = &before.options;

    for (int i = 0; i < before.count; i++) {
        const struct measurement *b = &before.all[i];
        if (b->collective != m->collective || b->ranks != m->ranks)
            continue;
        for (int s = 0; s < options_sizes_of(o, b->collective); s++) {
            for (int a = 0; a < o->algorithm_count; a++) {
                if (measurement_bytes(o, b, s) == bytes &&
                    !strcmp(o->algorithms[a].label, algorithm))
                    return &b->cell[s][a];
            }
        }
    }
    return NULL;
}

static void write_change(enum change change, const struct measurement *m, size_t bytes,
                         const char *algorithm, const struct result *old, const struct result *new)
{
    char size[32];

    size_text(bytes, size, sizeof size);
    printf("%s: %s, %d ranks, %s%s%s: %.2f us [%.2f..%.2f], before %.2f us [%.2f..%.2f]: %.3f "
           "times\n",
           change == CHANGE_SLOWER ? "slower" : "faster", m->collective->name, m->ranks,
           collective_has_size(m->collective) ? size : "",
           collective_has_size(m->collective) ? ", " : "", algorithm, new->time.median,
           new->time.low, new->time.high, old->time.median, old->time.low, old->time.high,
           new->time.median / old->time.median);
}

struct changes {
    int found, missing, slower, faster;
};

static void compare_measurement(const struct options *o, const struct measurement *m,
                                struct changes *changes)
{
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        for (int a = 0; a < o->algorithm_count; a++) {
            const struct result *new = &m->cell[s][a];
            const char *algorithm = o->algorithms[a].label;
            size_t bytes = measurement_bytes(o, m, s);
            const struct result *old = find(m, bytes, algorithm);
            enum change change = old ? order_change(&old->time, &new->time, o->tolerance)
                                     : CHANGE_NONE;
            changes->found += old != NULL;
            changes->missing += !old;
            changes->slower += change == CHANGE_SLOWER;
            changes->faster += change == CHANGE_FASTER;
            if (change != CHANGE_NONE)
                write_change(change, m, bytes, algorithm, old, new);
        }
    }
}

/* Lines that say what makes a comparison doubtful. */
static void write_doubts(const struct options *o, const struct changes *changes)
{
    const struct options *b = &before.options;
    const struct machine *now = machine_get(), *then = &before.machine;

    if (strcmp(now->cpu, then->cpu) || now->processors != then->processors ||
        strcmp(now->mpi, then->mpi))
        printf("# %s is of another machine or MPI: %d processors (%s), %s\n", o->compare,
               then->processors, then->cpu, then->mpi);
    if (b->off_cache != o->off_cache || b->rotate_root != o->rotate_root ||
        b->alloc_mem != o->alloc_mem || b->touch != o->touch || b->skew.kind != o->skew.kind ||
        b->skew.us != o->skew.us || b->counts != o->counts || b->use != o->use ||
        b->selection_files != o->selection_files)
        printf("# %s was measured with other options\n", o->compare);
    if (b->launches < 2 || o->launches < 2)
        printf("# one launch does not show how launches differ: --launches\n");
    else if (!order_interval_rank(b->launches) || !order_interval_rank(o->launches))
        printf("# of fewer than 6 launches there is no confidence interval: two times of the same "
               "thing often do not overlap\n");
    if (changes->missing)
        printf("# not in %s: %d results\n", o->compare, changes->missing);
}

bool compare(const struct options *o, const struct measurement *all, int n)
{
    struct changes changes = {.found = 0};

    for (int i = 0; i < n; i++)
        compare_measurement(o, &all[i], &changes);
    if (changes.found == 0)
        fprintf(stderr, "numacoll-bench: --compare=%s: has none of these results\n", o->compare);
    else if (changes.slower + changes.faster == 0)
        printf("nothing is slower or faster than in %s by more than %g %%, with intervals that do "
               "not overlap: %d results\n",
               o->compare, 100 * o->tolerance, changes.found);
    write_doubts(o, &changes);
    document_free(&before);
    return changes.found > 0 && changes.slower == 0;
}
