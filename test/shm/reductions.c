/* The operations of test_node.c that reduce, up the trees and in order, with an op kernel of their
 * own. Each rank computes the expected result itself, and compares. See operations.h. */

#include "operations.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/nc_reduce.h"
#include "shm/nc_reduce_shared.h"

/* ---- operations on an element: b := a op b ---- */

typedef void operator(size_t element, const unsigned char *a, unsigned char *b);

static void add(size_t element, const unsigned char *a, unsigned char *b)
{
    for (size_t i = 0; i < element; i++)
        b[i] = (unsigned char) (a[i] + b[i]);
}

/* Each two bytes (f, c) are a map x -> f x + c mod 256, and maps are composed: associative, but not
 * commutative. Factors are made odd, because products of even ones would soon be 0. A single last
 * byte becomes that of a. */
static void compose(size_t element, const unsigned char *a, unsigned char *b)
{
    for (size_t i = 0; i + 1 < element; i += 2) {
        unsigned factor = a[i] | 1u;
        b[i] = (unsigned char) (factor * (b[i] | 1u));
        b[i + 1] = (unsigned char) (factor * b[i + 1] + a[i + 1]);
    }
    if (element % 2)
        b[element - 1] = a[element - 1];
}

/* ---- the op kernel (struct nc_op_kernel in shm/nc_reduce.h) ---- */

enum { MISALIGNED = 1, BROKEN };

/* The kernel's context. */
struct reduction {
    const struct run *run;
    size_t element;
    operator* operate;
    unsigned char *mine, *result; /* user buffers */
    size_t before;                /* elements: the result of this one is first in its buffer */
    unsigned char *temporary;     /* room for an element */
    bool breaks;                  /* take, join and reduce_packed fail */
    bool in_place;                /* result == mine */
    int error;                    /* the first error returned */
};

/* What a function of the kernel returns: BROKEN if it is to fail, MISALIGNED if elements of a
 * multiple of 16 bytes are not at an address that malloc could have returned. */
static int verdict(struct reduction *c, const void *packed)
{
    int error = c->breaks                                              ? BROKEN
                : c->element % 16 == 0 && (uintptr_t) packed % 16 != 0 ? MISALIGNED
                                                                       : 0;

    if (!c->error)
        c->error = error;
    return error;
}

/* get and put: an element out of a user buffer and into it. */
static void get(const struct reduction *c, unsigned char *from, size_t element,
                unsigned char *packed)
{
    for (size_t i = 0; i < c->element; i++)
        packed[i] = *user_byte(c->run->typed, from, element * c->element + i);
}

static void put(const struct reduction *c, unsigned char *to, size_t element,
                const unsigned char *packed)
{
    for (size_t i = 0; i < c->element; i++)
        *user_byte(c->run->typed, to, element * c->element + i) = packed[i];
}

static int own(void *context, size_t first, size_t n)
{
    const struct reduction *c = context;

    for (size_t e = first; e < first + n && !c->in_place; e++) {
        get(c, c->mine, e, c->temporary);
        put(c, c->result, e, c->temporary);
    }
    return 0;
}

static int take(void *context, size_t first, const void *packed, size_t n)
{
    struct reduction *c = context;

    for (size_t e = 0; e < n; e++)
        put(c, c->result, first - c->before + e, (const unsigned char *) packed + e * c->element);
    return verdict(c, packed);
}

static int join(void *context, size_t first, const void *packed, size_t n)
{
    struct reduction *c = context;

    for (size_t e = 0; e < n; e++) {
        get(c, c->result, first - c->before + e, c->temporary);
        c->operate(c->element, (const unsigned char *) packed + e * c->element, c->temporary);
        put(c, c->result, first - c->before + e, c->temporary);
    }
    return verdict(c, packed);
}

static int reduce_packed(void *context, const void *packed, void *other, size_t n)
{
    struct reduction *c = context;

    for (size_t e = 0; e < n; e++)
        c->operate(c->element, (const unsigned char *) packed + e * c->element,
                   (unsigned char *) other + e * c->element);
    return verdict(c, packed) | verdict(c, other);
}

/* The kernel's `numbers`, which gets no context: without gaps elements are also combined in the way
 * of numbers. */
static _Thread_local const struct reduction *current;

static void numbers(void *result, const void *a, const void *b, size_t n)
{
    const struct reduction *c = current;

    for (size_t at = 0; at < n * c->element; at += c->element) {
        memcpy(c->temporary, (const unsigned char *) b + at, c->element);
        c->operate(c->element, (const unsigned char *) a + at, c->temporary);
        memcpy((unsigned char *) result + at, c->temporary, c->element);
    }
}

/* The kernel's `numbers_streaming`. */
static atomic_int *streamed_calls; /* in memory that ranks that are processes share */

static void streamed(void *result, const void *a, const void *b, size_t n)
{
    if (streamed_calls)
        atomic_fetch_add_explicit(streamed_calls, 1, memory_order_relaxed);
    numbers(result, a, b, n);
}

bool has_streamed_results(void)
{
    if (!streamed_calls)
        streamed_calls = mmap(NULL, sizeof *streamed_calls, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return atomic_exchange_explicit(streamed_calls, 0, memory_order_relaxed) > 0;
}

/* ---- the expected result ---- */

/* Element e of the result: the operands of the ranks in `joined`, combined in the order of ranks.
 */
static void expect(const struct rank *r, const struct reduction *c, const bool *joined, size_t e,
                   unsigned char *result)
{
    bool taken = false;

    for (int rank = (int) r->run->geometry.ranks - 1; rank >= 0; rank--) {
        if (!joined[rank])
            continue;
        unsigned char *at = taken ? c->temporary : result;
        for (size_t i = 0; i < c->element; i++)
            at[i] = byte_at(r->operation, rank, e * c->element + i);
        if (taken)
            c->operate(c->element, c->temporary, result);
        taken = true;
    }
}

/* Element e of a result buffer that nothing was written to. */
static void untouched(const struct rank *r, const struct reduction *c, size_t e,
                      unsigned char *bytes)
{
    for (size_t i = 0; i < c->element; i++)
        bytes[i] = c->in_place ? byte_at(r->operation, r->queue->rank, e * c->element + i) : 0xee;
}

/* The wrong elements of the result buffer: it has the result of `range`, the first of it c->before
 * elements before its place, and is as it was outside. */
static int wrong_in(const struct rank *r, const struct reduction *c, const bool *joined,
                    const struct nc_range *range)
{
    size_t elements = r->length[r->queue->rank] / c->element;
    unsigned char *expected = malloc(c->element), *found = malloc(c->element);
    int wrong = 0;

    for (size_t e = 0; e < elements; e++) {
        if (e >= range->first - c->before && e - (range->first - c->before) < range->count)
            expect(r, c, joined, e + c->before, expected);
        else
            untouched(r, c, e, expected);
        get(c, c->result, e, found);
        wrong += memcmp(expected, found, c->element) != 0;
    }
    free(expected);
    free(found);
    return wrong;
}

/* Makes this rank's operand, in the last stream, and room for the result, in the first one or in
 * place. breaker: the rank whose kernel fails, or -1. */
static struct reduction prepare(struct rank *r, operator* operate, int breaker, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank;
    struct reduction c = {.run = r->run,
                          .element = r->element,
                          .operate = operate,
                          .temporary = malloc(r->element),
                          .breaks = breaker == me,
                          .in_place = (choice >> 12) % 3 == 0};

    r->other[me] = r->length[me];
    to_send(r, ranks, me);
    to_receive(r, 0, me);
    c.mine = r->typed[ranks].memory;
    c.result = c.in_place ? c.mine : r->typed[0].memory;
    return c;
}

/* The rank whose kernel fails; -1: none. */
static int breaker_of(const struct run *run, uint64_t choice)
{
    return run->breaks && choice % 2 ? (int) (choice / 2 % run->geometry.ranks) : -1;
}

/* Whether the kernel combines as numbers differs from rank to rank: the protocol must not depend on
 * it. */
static struct nc_op_kernel kernel_of(const struct rank *r, struct reduction *c, uint64_t choice)
{
    bool as_numbers = !r->run->typed && !c->breaks &&
                      (choice >> 8 & 3) != (uint64_t) r->queue->rank % 4;

    current = c;
    return (struct nc_op_kernel){.element = c->element,
                                 .context = c,
                                 .own = own,
                                 .take = take,
                                 .join = join,
                                 .reduce_packed = reduce_packed,
                                 .numbers = as_numbers ? numbers : NULL,
                                 .numbers_streaming = as_numbers && choice >> 14 & 1 ? streamed
                                                                                     : NULL,
                                 .mine = (const char *) c->mine,
                                 .result = (char *) c->result};
}

/* ---- up the trees ---- */

static int parent_of(const struct rank *r, int rank)
{
    struct nc_position p;

    nc_position_find(&p, &r->place->route[rank], r->root);
    return p.parent;
}

/* Whether a rank's operand is part of the result: a source of another length is left out (J3), so
 * all ranks on its way to the root must have operands of its length. */
static bool comes_to_root(const struct rank *r, int rank)
{
    while (rank != r->root && r->length[rank] == r->length[parent_of(r, rank)])
        rank = parent_of(r, rank);
    return rank == r->root;
}

static bool is_below(const struct rank *r, int rank, int above)
{
    while (rank != r->root && rank != above)
        rank = parent_of(r, rank);
    return rank == above;
}

/* Whether a rank learns that an operand is missing: a source below it was left out, by itself or by
 * a rank between. */
static bool is_incomplete(const struct rank *r, int above)
{
    for (int i = 0; i < (int) r->run->geometry.ranks; i++) {
        if (i != above && is_below(r, i, above) && r->length[i] != r->length[parent_of(r, i)])
            return true;
    }
    return false;
}

int reduce_up(struct rank *r, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank,
        breaker = breaker_of(r->run, choice), wrong = 0;
    struct reduction c = prepare(r, add, breaker, choice);
    struct nc_op_kernel kernel = kernel_of(r, &c, choice);
    struct nc_range all = {.first = 0, .count = me == r->root ? r->length[me] / r->element : 0};
    bool joined[ranks], unequal;

    for (int i = 0; i < ranks; i++)
        joined[i] = comes_to_root(r, i);
    wrong += nc_reduce_tree_node(r->transfer, &r->route, r->root, &kernel, &r->stream[ranks],
                                 &unequal) != (c.breaks ? c.error : 0);
    wrong += unequal != is_incomplete(r, me);
    if (breaker < 0)
        wrong += wrong_in(r, &c, joined, &all);
    free(c.temporary);
    return wrong;
}

/* ---- in order ---- */

/* The range for which a rank wants a result: all n elements, its share, or a random range. */
static struct nc_range range_of(const struct rank *r, size_t n, uint64_t choice)
{
    size_t ranks = r->run->geometry.ranks, me = (size_t) r->queue->rank;
    size_t first = n * me / ranks, end = n * (me + 1) / ranks;

    if (choice % 3 == 0) {
        first = 0;
        end = n;
    } else if (choice % 3 == 1) {
        uint64_t own = choice + me;
        first = random_next(&own) % (n + 1);
        end = first + random_next(&own) % (n - first + 1);
    }
    return (struct nc_range){first, end - first};
}

int reduce_in_order(struct rank *r, int to, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    int teams = to < 0 && choice >> 16 & 1 ? 1 + (int) (choice >> 17) % ranks : 1;
    struct nc_team team = team_of(r, teams);
    bool receives = to < 0 || to == me, joined[ranks], differs = false, unequal;
    struct reduction c = prepare(r, compose, breaker_of(r->run, choice), choice);
    struct nc_op_kernel kernel = kernel_of(r, &c, choice);
    struct nc_range range = range_of(r, r->length[me] / r->element, choice), none = {0, 0};

    for (int i = 0; i < ranks; i++) {
        joined[i] = is_mate(r, teams, i) && r->length[i] == r->length[me];
        differs |= receives && is_mate(r, teams, i) && !joined[i];
    }
    wrong += nc_reduce_ordered_node(r->transfer, &team, to, &kernel, &r->stream[ranks], &range,
                                    &unequal) != (c.breaks ? c.error : 0);
    wrong += unequal != differs;
    if (!c.breaks)
        wrong += wrong_in(r, &c, joined, receives ? &range : &none);
    free(c.temporary);
    return wrong;
}

/* ---- to parts ---- */

/* The elements of n that member i of a team gets: parts of all kinds of lengths, one behind the
 * other. */
static struct nc_range part_of(const struct nc_team *team, int i, size_t n, uint64_t choice)
{
    size_t weights = 0, before = 0, own = 0;

    for (int k = 0; k < team->size; k++) {
        uint64_t own_choice = choice + (uint64_t) k;
        size_t weight = random_next(&own_choice) % 4;
        before += k < i ? weight : 0;
        own = k == i ? weight : own;
        weights += weight;
    }
    if (weights == 0)
        return (struct nc_range){n, 0};
    return (struct nc_range){n * before / weights,
                             n * (before + own) / weights - n * before / weights};
}

/* This rank's operand without its part, as a stream: in two pieces, and so not contiguous. */
struct rest {
    const struct nc_stream *operand;
    size_t first, count; /* bytes that are left out */
};

static int pack_rest(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    const struct rest *rest = user;

    (void) how;
    for (*moved = 0; *moved < max && offset < rest->operand->length - rest->count; offset++)
        ((char *) packed)[(*moved)++] =
            rest->operand->bytes[offset < rest->first ? offset : offset + rest->count];
    return 0;
}

/* A part of this rank's operand, as a stream. */
struct part {
    const struct reduction *c;
    size_t first, length; /* bytes */
};

static int pack_part(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    const struct part *p = user;

    (void) how;
    for (*moved = 0; *moved < max && offset < p->length; offset++)
        ((unsigned char *) packed)[(*moved)++] = *user_byte(p->c->run->typed, p->c->mine,
                                                            p->first + offset);
    return 0;
}

/* Contiguous if there are no gaps; for numbers the own part must be. */
static struct nc_stream stream_of_part(struct part *p, const struct reduction *c,
                                       const struct nc_range *range)
{
    *p = (struct part){c, range->first * c->element, range->count * c->element};
    return (struct nc_stream){.bytes = c->run->typed ? NULL : (char *) c->mine + p->first,
                              .pack = pack_part,
                              .user = p,
                              .length = p->length};
}

/* Whether two ranks, of which one has n elements, make a pair by its operand. */
static bool makes_pair(const struct rank *r, const struct nc_team *team, size_t n, uint64_t choice)
{
    return team->size == 2 && nc_reduce_fits_pair(part_of(team, 0, n, choice).count * r->element,
                                                  part_of(team, 1, n, choice).count * r->element);
}

/* Two ranks with short parts. One that gets a part of the right length of the other's operand does
 * not notice if that is longer or shorter than its own; what its result is then does not matter. */
static int reduce_in_pair(struct rank *r, const struct nc_team *team, struct reduction *c,
                          const struct nc_op_kernel *kernel, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    int other = team->rank[1 - team->index];
    size_t n = r->length[me] / c->element, others = r->length[other] / c->element;
    struct nc_range part = part_of(team, team->index, n, choice),
                    their_part = part_of(team, 1 - team->index, n, choice);
    bool differs = !makes_pair(r, team, others, choice) ||
                   part_of(team, team->index, others, choice).count != part.count;
    bool joined[ranks], unequal;
    struct part kept, given;
    struct nc_stream own = stream_of_part(&kept, c, &part),
                     theirs = stream_of_part(&given, c, &their_part);

    for (int i = 0; i < ranks; i++)
        joined[i] = i == me || (i == other && !differs);
    wrong += nc_reduce_pair_node(r->transfer, team, kernel, &theirs, &own, &part, &unequal) !=
             (c->breaks ? c->error : 0);
    wrong += unequal != differs;
    if (!c->breaks && (differs || n == others))
        wrong += wrong_in(r, c, joined, &part);
    return wrong;
}

/* Not in place a rank may keep its part. */
static int reduce_in_team(struct rank *r, const struct nc_team *team, struct reduction *c,
                          const struct nc_op_kernel *kernel, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    struct nc_range part = part_of(team, team->index, r->length[me] / c->element, choice);
    struct rest rest = {&r->stream[ranks], part.first * r->element, part.count * r->element};
    struct nc_stream others = {
        .pack = pack_rest, .user = &rest, .length = r->length[me] - rest.count};
    bool keeps = !r->run->typed && !c->in_place && nc_reduce_keeps(r->length[me]) &&
                 (choice >> 25 & 3) != (uint64_t) me % 4;
    bool joined[ranks], differs = false, unequal;

    memset(joined, 0, sizeof joined);
    for (int i = 0; i < team->size; i++) {
        joined[team->rank[i]] = r->length[team->rank[i]] == r->length[me];
        differs |= !joined[team->rank[i]];
    }
    wrong += nc_reduce_scatter_node(r->transfer, team, kernel, keeps ? &others : &r->stream[ranks],
                                    &part, keeps, &unequal) != (c->breaks ? c->error : 0);
    wrong += unequal != differs;
    if (!c->breaks)
        wrong += wrong_in(r, c, joined, &part);
    return wrong;
}

int reduce_to_parts(struct rank *r, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong;
    int teams = choice >> 16 & 1 ? 1 + (int) (choice >> 17) % ranks : 1;
    struct nc_team team = team_of(r, teams);
    struct reduction c = prepare(r, compose, breaker_of(r->run, choice), choice);
    struct nc_op_kernel kernel = kernel_of(r, &c, choice);
    size_t n = r->length[me] / r->element;

    c.before = part_of(&team, team.index, n, choice).first;
    kernel.result -= c.before * c.element;
    wrong = (makes_pair(r, &team, n, choice) ? reduce_in_pair : reduce_in_team)(r, &team, &c,
                                                                                &kernel, choice);
    free(c.temporary);
    return wrong;
}

/* ---- out of shared buffers ---- */

/* The ranks of this rank's block of `columns` neighbours, in block[]: with the team of every rank
 * that has this one's place in its block, rows and columns of a table. */
static struct nc_team block_of(const struct rank *r, int columns, int *block)
{
    int me = r->queue->rank;

    for (int i = 0; i < columns; i++)
        block[i] = me / columns * columns + i;
    return (struct nc_team){block, columns, me % columns};
}

/* A number that divides the ranks. */
static int divisor_of(int ranks, uint64_t choice)
{
    int d = 1 + (int) (choice % (unsigned) ranks);

    while (ranks % d)
        d--;
    return d;
}

/* Now and then the elements of one rank are not plain, or, with `mismatch`, it names another root.
 * Then, if not all buffers are shared, and if not all lengths are equal, nothing may be done. */
int reduce_shared(struct rank *r, int to, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, block[ranks],
        breaker = breaker_of(r->run, choice),
        odd = choice >> 20 & 7 ? -1 : (int) (choice >> 23) % ranks,
        astray = r->run->mismatch && to >= 0 && !(choice >> 5 & 7) ? (int) (choice >> 8) % ranks
                                                                   : -1;
    int columns = divisor_of(ranks, choice >> 16);
    struct nc_team neighbours = block_of(r, columns, block), others = team_of(r, columns), row,
                   column;
    bool turned = choice >> 9 & 1, joined[ranks], equal = astray < 0, reduced;
    enum nc_shared_outcome outcome;
    struct reduction c = prepare(r, add, breaker, choice);
    struct nc_op_kernel kernel = kernel_of(r, &c, choice);
    size_t count = r->length[me] / r->element;
    struct nc_range all = {.first = 0, .count = count}, none = {0, 0};
    int error, wrong = 0;

    for (int i = 0; i < ranks; i++) {
        joined[i] = true;
        equal = equal && r->length[i] == r->length[me];
    }
    row = turned ? others : neighbours;
    column = turned ? neighbours : others;
    error = nc_reduce_shared_node(r->transfer, me == astray ? (to + 1) % ranks : to, &row, &column,
                                  &kernel, count, me != odd, &outcome);
    reduced = outcome == NC_SHARED_REDUCED;
    wrong += outcome != (!equal                                ? NC_SHARED_UNEQUAL
                         : r->run->direct == SHARED && odd < 0 ? NC_SHARED_REDUCED
                                                               : NC_SHARED_ELSEWHERE);
    wrong += error != (reduced && c.breaks ? c.error : 0);
    if (breaker < 0)
        wrong += wrong_in(r, &c, joined, reduced && (to < 0 || to == me) ? &all : &none);
    free(c.temporary);
    return wrong;
}

/* ---- scans ---- */

/* The ranks that are `near` to `far` places before a rank, as a list in place; near <= far, and a
 * rank after it has a negative place. */
static int before(const struct rank *r, int near, int far, const int **list)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank;
    int first = me - far > 0 ? me - far : 0, end = me - near + 1 < ranks ? me - near + 1 : ranks;

    *list = r->queue->everybody + first;
    return end > first ? end - first : 0;
}

int scan_step(struct rank *r, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    int near = (int) (choice >> 16) % (ranks + 1) - ranks / 3, far = near + (int) (choice >> 8) % 6;
    struct nc_scan_step step = {.joins = near > 0 && choice >> 5 & 1};
    bool joined[ranks], any = false, differs = false, unequal;
    struct reduction c = prepare(r, compose, breaker_of(r->run, choice), choice);
    struct nc_op_kernel kernel = kernel_of(r, &c, choice);
    struct nc_range all = {.first = 0, .count = r->length[me] / r->element}, none = {0, 0};

    step.sources = before(r, near, far, &step.source);
    step.readers = before(r, -far, -near, &step.reader);
    for (int i = 0; i < ranks; i++) {
        bool source = me - far <= i && i <= me - near;
        joined[i] = (source || (step.joins && i == me)) && r->length[i] == r->length[me];
        differs |= source && !joined[i];
        any |= joined[i];
    }
    wrong += nc_scan_step_node(r->transfer, &step, &kernel, &r->stream[ranks], &unequal) !=
             (c.breaks ? c.error : 0);
    wrong += unequal != differs;
    if (!c.breaks)
        wrong += wrong_in(r, &c, joined, any ? &all : &none);
    free(c.temporary);
    return wrong;
}

int scan_chain(struct rank *r, uint64_t choice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank,
        breaker = breaker_of(r->run, choice), wrong = 0;
    bool exclusive = choice >> 5 & 1, joined[ranks], differs = false, unequal;
    struct reduction c = prepare(r, compose, breaker, choice);
    struct nc_op_kernel kernel = kernel_of(r, &c, choice);
    struct nc_range all = {.first = 0, .count = r->length[me] / r->element}, none = {0, 0};

    /* what is before a rank of another length does not come further */
    for (int i = ranks - 1, mate = me; i >= 0; i--) {
        bool is_before = i < me || (i == me && !exclusive);
        joined[i] = is_before && mate == me && r->length[i] == r->length[me];
        mate = i < me && !joined[i] ? i : mate;
        differs |= i < me && r->length[i] != r->length[i + 1];
    }
    wrong += nc_scan_chain_node(r->transfer, exclusive, &kernel, &r->stream[ranks], &unequal) !=
             (c.breaks ? c.error : 0);
    wrong += unequal != differs;
    if (breaker < 0)
        wrong += wrong_in(r, &c, joined, exclusive && (me == 0 || !joined[me - 1]) ? &none : &all);
    free(c.temporary);
    return wrong;
}
