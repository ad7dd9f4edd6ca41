/* The steps of a scan, as windows over the places of ranks in a list. See nc_scan.h. */

#include "nc_scan.h"

#include "nc_arena.h"

/* The ranks that scan among themselves: those of a block, or the last ranks of all blocks. */
struct line {
    const int *rank;
    int ranks;
    int place;      /* of this rank; -1: it is not one of them */
    bool exclusive; /* the first step leaves out what a rank has itself */
};

/* The steps until a window of radix^steps has n ranks. */
static int steps_for(int n, int radix)
{
    int steps = 0;

    for (long window = 1; window < n; window *= radix)
        steps++;
    return steps;
}

/* The steps of a line of n ranks: of an exclusive scan the first rank takes part in the first step
 * only, which is like the first step of the others among themselves. */
static int steps_of(int n, int radix, bool exclusive)
{
    if (!exclusive)
        return steps_for(n, radix);
    return n < 2 ? 0 : n == 2 ? 1 : steps_for(n - 1, radix);
}

/* ---- memory ---- */

struct memory {
    struct nc_scan_step *step;
    int *rank, *last; /* all ranks; the last ranks of the blocks */
    int *list;        /* what the steps point into */
};

static void take(struct memory *m, int ranks, int radix, struct nc_arena *arena)
{
    size_t steps = 2 * (size_t) steps_for(ranks, radix) + 2;

    m->step = NC_ARENA_TAKE(arena, steps, struct nc_scan_step);
    m->rank = NC_ARENA_TAKE(arena, (size_t) ranks, int);
    m->last = NC_ARENA_TAKE(arena, (size_t) ranks, int);
    m->list = NC_ARENA_TAKE(arena, steps * 2 * (size_t) radix, int);
}

size_t nc_scan_bytes(int ranks, int radix)
{
    struct nc_arena measured = {.base = NULL};
    struct memory m;

    take(&m, ranks, radix, &measured);
    return measured.bytes;
}

/* ---- steps ---- */

/* Appends the ranks at places place + distance, place + 2 distance, .., at most `window` of them,
 * that are in the line from place `from` on; a negative distance: the farthest one first. */
static int append(int **list, const struct line *line, int from, int distance, int window)
{
    int n = 0;

    for (int i = distance < 0 ? window : 1; i >= 1 && i <= window; i += distance < 0 ? -1 : 1) {
        int place = line->place + i * distance;
        if (place >= from && place < line->ranks)
            (*list)[n++] = line->rank[place];
    }
    *list += n;
    return n;
}

/* Step number s of the line. A rank without a result of its own has nothing for the steps after the
 * first. */
static struct nc_scan_step step_of(const struct line *line, int s, int radix, int distance,
                                   int **list)
{
    bool leaves_out = line->exclusive && s == 0;
    int from = line->exclusive && s > 0 ? 1 : 0, window = leaves_out ? radix : radix - 1;
    struct nc_scan_step step = {.joins = !leaves_out};

    if (line->place < from)
        return step;
    step.source = *list;
    step.sources = append(list, line, from, -distance, window);
    step.reader = *list;
    step.readers = append(list, line, from, distance, window);
    return step;
}

static void add_steps(struct nc_scan_step *step, const struct line *line, int steps, int radix,
                      int **list)
{
    int distance = 1;

    for (int s = 0; s < steps; s++, distance *= radix)
        step[s] = step_of(line, s, radix, distance, list);
}

/* ---- blocks ---- */

struct blocks {
    int number, largest; /* of all */
    int first, last;     /* ranks of this rank's block */
    int mine;            /* its number */
};

/* Finds the blocks, and fills last[]. */
static struct blocks find_blocks(const int *numa, int ranks, int rank, int *last)
{
    struct blocks b = {.number = 0};
    int first = 0;

    for (int r = 0; r < ranks; r++) {
        if (r + 1 < ranks && numa[r + 1] == numa[r])
            continue;
        if (first <= rank && rank <= r) {
            b.first = first;
            b.last = r;
            b.mine = b.number;
        }
        if (r + 1 - first > b.largest)
            b.largest = r + 1 - first;
        last[b.number++] = r;
        first = r + 1;
    }
    if (b.largest > 1)
        return b;
    return (struct blocks){.number = 1, .largest = ranks, .last = ranks - 1};
}

void nc_scan_make(struct nc_scan_plan *plan, void *memory, const int *numa, int ranks, int radix,
                  bool exclusive, int rank)
{
    struct memory m;
    struct line near, far;
    struct blocks b;

    take(&m, ranks, radix, &(struct nc_arena){.base = memory});
    for (int r = 0; r < ranks; r++)
        m.rank[r] = r;
    b = find_blocks(numa, ranks, rank, m.last);
    near = (struct line){m.rank + b.first, b.last - b.first + 1, rank - b.first, exclusive};
    far = (struct line){m.last, b.number, rank == b.last ? b.mine : -1, true};
    *plan = (struct nc_scan_plan){.up = steps_of(b.largest, radix, exclusive),
                                  .across = steps_of(b.number, radix, true),
                                  .down = b.number > 1,
                                  .step = m.step,
                                  .is_last = rank == b.last,
                                  .joins = !exclusive || rank > b.first};
    add_steps(m.step, &near, plan->up, radix, &m.list);
    add_steps(m.step + plan->up, &far, plan->across, radix, &m.list);
    if (!plan->down)
        return;
    m.step[plan->up + plan->across] = (struct nc_scan_step){.joins = plan->joins};
    if (b.mine > 0) {
        struct nc_scan_step *down = &m.step[plan->up + plan->across];
        down->source = m.rank + b.last;
        down->sources = 1;
        down->reader = m.rank + b.first;
        down->readers = plan->is_last ? near.ranks : 0;
    }
}
