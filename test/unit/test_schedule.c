/* core/nc_schedule.c: the schedules of all members of a group are executed with simulated messages,
 * for every algorithm and many sizes. The results must be complete and equal, the execution must
 * not hang, and the number of messages and bytes must be that of the table in nc_schedule.h. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_schedule.h"

enum { LARGEST = 100, PARTS = 128, STEPS = 4 * (LARGEST - 1), NOTHING = -1 };

typedef void make_fn(struct nc_schedule *, enum nc_algorithm, int, int, int);

static const struct way {
    make_fn *make;
    enum nc_algorithm a;
    int k;
} ways[] = {{nc_schedule_reduce, NC_FLAT, 2},         {nc_schedule_reduce, NC_CHAIN, 2},
            {nc_schedule_reduce, NC_KARY, 2},         {nc_schedule_reduce, NC_KARY, 3},
            {nc_schedule_reduce, NC_KARY, 4},         {nc_schedule_reduce, NC_KARY, 8},
            {nc_schedule_reduce, NC_BALANCED, 2},     {nc_schedule_reduce, NC_BALANCED, 3},
            {nc_schedule_reduce, NC_BALANCED, 8},     {nc_schedule_reduce, NC_KNOMIAL, 2},
            {nc_schedule_reduce, NC_KNOMIAL, 3},      {nc_schedule_reduce, NC_KNOMIAL, 4},
            {nc_schedule_reduce, NC_KNOMIAL, 8},      {nc_schedule_reduce, NC_RSG, 2},
            {nc_schedule_bcast, NC_FLAT, 2},          {nc_schedule_bcast, NC_CHAIN, 2},
            {nc_schedule_bcast, NC_KARY, 2},          {nc_schedule_bcast, NC_KARY, 3},
            {nc_schedule_bcast, NC_KARY, 4},          {nc_schedule_bcast, NC_KARY, 8},
            {nc_schedule_bcast, NC_BALANCED, 2},      {nc_schedule_bcast, NC_BALANCED, 3},
            {nc_schedule_bcast, NC_BALANCED, 8},      {nc_schedule_bcast, NC_KNOMIAL, 2},
            {nc_schedule_bcast, NC_KNOMIAL, 3},       {nc_schedule_bcast, NC_KNOMIAL, 4},
            {nc_schedule_bcast, NC_KNOMIAL, 8},       {nc_schedule_bcast, NC_SAG, 2},
            {nc_schedule_allreduce, NC_RD, 2},        {nc_schedule_allreduce, NC_RSAG, 2},
            {nc_schedule_reduce_scatter, NC_RSAG, 2}, {nc_schedule_reduce_scatter, NC_RING, 2},
            {nc_schedule_allreduce, NC_RING, 2}};

enum { WAYS = sizeof ways / sizeof *ways };

/* All members' schedules of one way. */
struct group {
    const struct way *way;
    int p;
    struct nc_schedule s[LARGEST];
};

static int sends(const struct nc_schedule *s)
{
    int n = 0;

    for (int i = 0; i < s->count; i++) {
        n += s->step[i].kind == NC_STEP_SEND;
        assert_int_equal(s->step[i].parts, s->parts);
    }
    return n;
}

/* Memory is of the exact size: AddressSanitizer sees what goes beyond. */
static void make_group(struct group *g, const struct way *way, int p)
{
    g->way = way;
    g->p = p;
    for (int me = 0; me < p; me++) {
        g->s[me].step = malloc(sizeof *g->s[me].step * (size_t) nc_schedule_most(p));
        way->make(&g->s[me], way->a, way->k, p, me);
        assert_in_range(g->s[me].count, 0, nc_schedule_most(p));
        assert_in_range(sends(&g->s[me]), 0, nc_schedule_most_sends(p));
        assert_int_equal(g->s[me].parts, g->s[0].parts);
    }
}

static void free_group(struct group *g)
{
    for (int me = 0; me < g->p; me++)
        free(g->s[me].step);
}

/* 1 .. 40, and some beyond */
static int next_size(int p)
{
    static const int beyond[] = {63, 64, 65, LARGEST, 0};
    int i = 0;

    if (p < 40)
        return p + 1;
    while (beyond[i] > 0 && beyond[i] <= p)
        i++;
    return beyond[i];
}

static void for_all(void (*check)(struct group *))
{
    static struct group g;

    for (int w = 0; w < WAYS; w++)
        for (int p = 1; p > 0; p = next_size(p)) {
            make_group(&g, &ways[w], p);
            check(&g);
            free_group(&g);
        }
}

/* ---- what was combined with what: a op b is a pair of which both sides matter, each made once, so
 * that equal expressions have equal numbers; members' contributions are 0 .. LARGEST - 1 ---- */

enum { PAIRS = 1 << 14, TABLE = 1 << 15 };

static struct {
    int count;
    int left[PAIRS], right[PAIRS];
    int at[TABLE]; /* pair + 1; 0: free */
} pairs;

static int combined(int a, int b)
{
    uint32_t place = ((uint32_t) a * 2654435761u ^ (uint32_t) b * 2246822519u) >> 17;

    for (; pairs.at[place] > 0; place = (place + 1) % TABLE) {
        int i = pairs.at[place] - 1;
        if (pairs.left[i] == a && pairs.right[i] == b)
            return LARGEST + i;
    }
    assert_true(pairs.count < PAIRS);
    pairs.left[pairs.count] = a;
    pairs.right[pairs.count] = b;
    pairs.at[place] = ++pairs.count;
    return LARGEST + pairs.count - 1;
}

static void count_contributions(int value, int *times)
{
    assert_int_not_equal(value, NOTHING);
    for (; value >= LARGEST; value = pairs.right[value - LARGEST])
        count_contributions(pairs.left[value - LARGEST], times);
    times[value]++;
}

static void assert_complete(int value, int p)
{
    int times[LARGEST] = {0};

    count_contributions(value, times);
    for (int i = 0; i < LARGEST; i++)
        assert_int_equal(times[i], i < p);
}

/* ---- a run: the steps of all members, taken as nc_schedule.h says, on n elements. A send is over
 * when its receive is begun, and not a moment before ---- */

struct message {
    int other; /* the step of the peer's that this one meets; NOTHING: empty */
    bool begun;
    int *data; /* of a receive, when it has come */
};

static struct run {
    struct group *g;
    size_t n;
    struct message message[LARGEST][STEPS];
    int value[LARGEST][PARTS]; /* of a member's parts */
    int done[LARGEST];         /* steps */
    int open[LARGEST];         /* sends that are not over */
    long events;
    int used, pool[1 << 15];
} run;

static struct nc_step *step_of(int me, int i)
{
    return &run.g->s[me].step[i];
}

static size_t start_of(int part)
{
    return nc_schedule_part(run.n, run.g->s[0].parts, part);
}

static size_t length(const struct nc_step *step)
{
    return start_of(step->end) - start_of(step->first);
}

static bool is_message(int me, int i, int peer, bool send)
{
    struct nc_step *step = step_of(me, i);

    return step->peer == peer && (step->kind == NC_STEP_SEND) == send && length(step) > 0;
}

static int next_message(int me, int i, int peer, bool send)
{
    while (i < run.g->s[me].count && !is_message(me, i, peer, send))
        i++;
    return i;
}

/* What `from` sends to `to` is what `to` receives from `from`, in the same order. */
static void match_pair(int from, int to)
{
    int i = next_message(from, 0, to, true), j = next_message(to, 0, from, false);

    for (; i < run.g->s[from].count && j < run.g->s[to].count;
         i = next_message(from, i + 1, to, true), j = next_message(to, j + 1, from, false)) {
        assert_int_equal(step_of(from, i)->first, step_of(to, j)->first);
        assert_int_equal(step_of(from, i)->end, step_of(to, j)->end);
        run.message[from][i].other = j;
        run.message[to][j].other = i;
    }
    assert_int_equal(i, run.g->s[from].count);
    assert_int_equal(j, run.g->s[to].count);
}

static void match_all(void)
{
    for (int me = 0; me < run.g->p; me++)
        for (int i = 0; i < run.g->s[me].count; i++) {
            struct nc_step *step = step_of(me, i);
            assert_in_range(step->peer, 0, run.g->p - 1);
            assert_int_not_equal(step->peer, me);
            assert_true(0 <= step->first && step->first < step->end);
            assert_true(step->end <= run.g->s[0].parts);
            run.message[me][i] = (struct message){.other = NOTHING};
        }
    for (int from = 0; from < run.g->p; from++)
        for (int to = 0; to < run.g->p; to++)
            match_pair(from, to);
}

static void start_run(struct group *g, size_t n)
{
    run.g = g;
    run.n = n;
    run.events = run.used = pairs.count = 0;
    memset(pairs.at, 0, sizeof pairs.at);
    for (int me = 0; me < g->p; me++) {
        run.done[me] = run.open[me] = 0;
        for (int part = 0; part < g->s[0].parts; part++)
            run.value[me][part] = me == 0 || g->way->make != nc_schedule_bcast ? me : NOTHING;
    }
    match_all();
}

static void deliver(int from, int i, int to, int j)
{
    struct nc_step *step = step_of(from, i);

    run.message[to][j].data = &run.pool[run.used];
    for (int part = step->first; part < step->end; part++) {
        if (start_of(part) < start_of(part + 1))
            assert_int_not_equal(run.value[from][part], NOTHING);
        assert_true(run.used < (int) (sizeof run.pool / sizeof *run.pool));
        run.pool[run.used++] = run.value[from][part];
    }
    run.open[from]--;
}

static void start_message(int me, int i)
{
    struct message *mine = &run.message[me][i];
    struct nc_step *step = step_of(me, i);
    bool send = step->kind == NC_STEP_SEND;

    mine->begun = true;
    run.events++;
    run.open[me] += send;
    if (!run.message[step->peer][mine->other].begun)
        return;
    if (send)
        deliver(me, i, step->peer, mine->other);
    else
        deliver(step->peer, mine->other, me, i);
}

static bool is_open(int me, int i)
{
    struct nc_step *step = step_of(me, i);
    struct message *m = &run.message[me][i];

    return step->kind == NC_STEP_SEND && m->begun && !run.message[step->peer][m->other].begun;
}

/* No send that goes on is of these elements. */
static void assert_free(int me, const struct nc_step *step)
{
    for (int i = 0; run.open[me] > 0 && i < run.done[me]; i++) {
        struct nc_step *sent = step_of(me, i);
        if (is_open(me, i))
            assert_true(start_of(sent->end) <= start_of(step->first) ||
                        start_of(sent->first) >= start_of(step->end));
    }
}

static void change(int me, const struct nc_step *step, const int *theirs)
{
    int *mine = run.value[me];

    for (int part = step->first; part < step->end; part++, theirs++) {
        if (start_of(part) == start_of(part + 1))
            continue;
        if (step->kind == NC_STEP_RECV)
            mine[part] = *theirs;
        else if (step->kind == NC_STEP_REDUCE)
            mine[part] = combined(*theirs, mine[part]);
        else
            mine[part] = combined(mine[part], *theirs);
    }
}

/* Whether the step that the member is at is done. */
static bool receive(int me, const struct nc_step *step, struct message *m)
{
    bool join = step->kind != NC_STEP_RECV, expected = m->other != NOTHING;

    if (join && expected && !m->begun)
        start_message(me, run.done[me]);
    if (step->wait_sends && run.open[me] > 0)
        return false;
    if (!expected)
        return true;
    if (!m->begun) {
        assert_free(me, step);
        start_message(me, run.done[me]);
    }
    if (m->data == NULL)
        return false;
    assert_free(me, step);
    change(me, step, m->data);
    return true;
}

static bool advance(int me)
{
    int i = run.done[me];
    struct nc_step *step = step_of(me, i);

    if (step->kind != NC_STEP_SEND) {
        if (!receive(me, step, &run.message[me][i]))
            return false;
    } else if (run.message[me][i].other != NOTHING) {
        start_message(me, i);
    }
    run.done[me]++;
    run.events++;
    return true;
}

/* Until nobody gets any further; then all are at the end, unless it hangs. */
static void go(void)
{
    long before;

    do {
        before = run.events;
        for (int me = 0; me < run.g->p; me++)
            while (run.done[me] < run.g->s[me].count && advance(me)) {
            }
    } while (run.events > before);
    for (int me = 0; me < run.g->p; me++) {
        assert_int_equal(run.done[me], run.g->s[me].count);
        assert_int_equal(run.open[me], 0);
    }
}

/* A reduce-scatter: the owner has the part. A part of nobody may be left anywhere. */
static void check_owned(int part)
{
    int owner = nc_schedule_owner(run.g->way->a, run.g->p, part);

    if (owner != -1)
        assert_complete(run.value[owner][part], run.g->p);
}

static void check_part(int part)
{
    bool reduce = run.g->way->make == nc_schedule_reduce;
    int result = run.value[0][part];

    if (run.g->way->make == nc_schedule_reduce_scatter) {
        check_owned(part);
        return;
    }

    if (run.g->way->make == nc_schedule_bcast)
        assert_int_equal(result, 0);
    else
        assert_complete(result, run.g->p);
    for (int me = 1; me < run.g->p && !reduce; me++)
        assert_int_equal(run.value[me][part], result);
}

static void check_runs(struct group *g)
{
    size_t parts = (size_t) g->s[0].parts;
    const size_t n[] = {0, 1, parts / 2, parts - 1, parts, 6 * parts + 5};

    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        start_run(g, n[i]);
        go();
        for (int part = 0; part < g->s[0].parts; part++)
            if (start_of(part) < start_of(part + 1))
                check_part(part);
    }
}

static void results(void **state)
{
    (void) state;
    for_all(check_runs);
}

/* ---- settling, as nc_schedule.h says, worked out anew from what the steps move ---- */

/* The last step before i that combines, or NOTHING. */
static int last_join(const struct nc_schedule *s, int i)
{
    while (--i >= 0 && (s->step[i].kind == NC_STEP_SEND || s->step[i].kind == NC_STEP_RECV)) {
    }
    return i;
}

static int who_settles(const struct nc_schedule *s, int i, int sent)
{
    int join = last_join(s, i);

    if (s->step[i].kind == NC_STEP_RECV && s->step[i - 1].kind == NC_STEP_SEND && join > sent)
        return join;
    return i;
}

static void check_settles(const struct nc_schedule *s)
{
    bool expected[STEPS] = {false};
    int sent[PARTS], settled = NOTHING;

    memset(sent, NOTHING, sizeof sent);
    for (int i = 0; i < s->count; i++) {
        struct nc_step *step = &s->step[i];
        int last = NOTHING;
        for (int part = step->first; part < step->end; part++) {
            last = sent[part] > last ? sent[part] : last;
            if (step->kind == NC_STEP_SEND)
                sent[part] = i;
        }
        if (step->kind != NC_STEP_SEND && last > settled) {
            settled = who_settles(s, i, last);
            expected[settled] = true;
        }
    }
    for (int i = 0; i < s->count; i++)
        assert_int_equal(s->step[i].wait_sends, expected[i]);
}

static void check_settles_of_all(struct group *g)
{
    for (int me = 0; me < g->p; me++)
        check_settles(&g->s[me]);
}

static void settles(void **state)
{
    (void) state;
    for_all(check_settles_of_all);
}

/* ---- how much is sent ---- */

struct amount {
    long messages, elements;
};

static struct amount sent_by(const struct nc_schedule *s, size_t n)
{
    struct amount sent = {0};

    for (int i = 0; i < s->count; i++) {
        struct nc_step *step = &s->step[i];
        if (step->kind != NC_STEP_SEND)
            continue;
        sent.messages++;
        sent.elements += (long) (nc_schedule_part(n, s->parts, step->end) -
                                 nc_schedule_part(n, s->parts, step->first));
    }
    return sent;
}

static int log2_of(int p)
{
    return 31 - __builtin_clz((unsigned) p);
}

static long depths(int p)
{
    long sum = 0;

    for (int i = 0; i < p; i++)
        sum += __builtin_popcount((unsigned) i);
    return sum;
}

/* The table of nc_schedule.h; n is a multiple of 2 p and of 2 q. */
static struct amount expected_of(const struct way *way, long p, long n)
{
    enum nc_algorithm a = way->a;
    long log = log2_of((int) p), q = 1L << log, f = p - q;

    if (way->make == nc_schedule_reduce_scatter)
        return a == NC_RING ? (struct amount){p * (p - 1), (p - 1) * n}
                            : (struct amount){q * log + 2 * f, (q - 1 + f) * n + f * n / (2 * q)};

    switch (a) {
        case NC_SAG:
            return (struct amount){p * p - 1 - depths((int) p), (p - 1) * n};
        case NC_RSG:
            return (struct amount){q * log + q - 1 + f, (q - 1 + f) * n + n / 2 * log};
        case NC_RD:
            return (struct amount){q * log + 2 * f, (q * log + 2 * f) * n};
        case NC_RSAG:
            return (struct amount){2 * q * log + 2 * f, (2 * (q - 1) + 2 * f) * n};
        case NC_RING:
            return (struct amount){2 * p * (p - 1), 2 * (p - 1) * n};
        default:
            return (struct amount){p - 1, (p - 1) * n};
    }
}

static void check_amounts(struct group *g)
{
    size_t n = 2 * (size_t) g->p * (size_t) g->s[0].parts;
    struct amount sum = {0}, expected = expected_of(g->way, g->p, (long) n);
    bool even = g->way->make == nc_schedule_allreduce &&
                (g->way->a == NC_RING || 1 << log2_of(g->p) == g->p);

    for (int me = 0; me < g->p; me++) {
        struct amount sent = sent_by(&g->s[me], n);
        sum.messages += sent.messages;
        sum.elements += sent.elements;
        if (even) {
            assert_int_equal(sent.messages * g->p, expected.messages);
            assert_int_equal(sent.elements * g->p, expected.elements);
        }
    }
    assert_int_equal(sum.messages, expected.messages);
    assert_int_equal(sum.elements, expected.elements);
}

static void amounts(void **state)
{
    (void) state;
    for_all(check_amounts);
}

/* ---- owners ---- */

/* Every member owns one part, every part has one owner or none. */
static void owners(void **state)
{
    const enum nc_algorithm a[] = {NC_RSAG, NC_RING};

    (void) state;
    for (int p = 1; p > 0; p = next_size(p)) {
        for (int i = 0; i < 2; i++) {
            int owned[LARGEST] = {0};
            for (int part = 0; part < nc_schedule_parts(a[i], p); part++) {
                int owner = nc_schedule_owner(a[i], p, part);
                assert_in_range(owner + 1, 0, p);
                if (owner >= 0)
                    owned[owner]++;
            }
            for (int me = 0; me < p; me++)
                assert_int_equal(owned[me], 1);
        }
    }
}

/* ---- shapes ---- */

static int ascending(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

static void check_tree(struct group *g)
{
    struct nc_tree t;

    if (g->way->a > NC_CHAIN)
        return;
    nc_tree_make(&t, malloc(nc_tree_bytes(g->p)), (enum nc_tree_kind) g->way->a, g->way->k, g->p);
    for (int me = 0; me < g->p; me++) {
        int children = t.first[me + 1] - t.first[me], *child = t.child + t.first[me];
        int (*order)(const void *, const void *) =
            nc_tree_larger_last((enum nc_tree_kind) g->way->a) ? descending : ascending;
        struct nc_step *step = g->s[me].step, *parent = step;
        bool up = g->way->make == nc_schedule_reduce;
        assert_int_equal(g->s[me].count, children + (me > 0));
        if (up)
            parent += children;
        else
            step += me > 0;
        qsort(child, (size_t) children, sizeof *child, order);
        for (int i = 0; i < children; i++) {
            assert_int_equal(step[i].peer, child[up ? children - 1 - i : i]);
            assert_int_equal(step[i].kind, up ? NC_STEP_REDUCE : NC_STEP_SEND);
        }
        if (me > 0) {
            assert_int_equal(parent->peer, t.parent[me]);
            assert_int_equal(parent->kind, up ? NC_STEP_SEND : NC_STEP_RECV);
        }
    }
    free(t.parent);
}

/* The children that the tables have; in a bcast from the larger subtrees on as far as ranks tell,
 * in a reduce the other way round. */
static void trees(void **state)
{
    (void) state;
    for_all(check_tree);
}

/* As many as nc_schedule.c says. */
static void steps_of_a_ring(void **state)
{
    static struct group g;

    (void) state;
    for (int p = 1; p > 0; p = next_size(p)) {
        make_group(&g, &ways[WAYS - 1], p);
        assert_int_equal(g.s[0].count, 4 * (p - 1));
        free_group(&g);
    }
    assert_int_equal(nc_schedule_most(1), 0);
}

/* A reduce and a bcast of any ways, as an allreduce makes them, fit together; so does each
 * allreduce. */
static void most(void **state)
{
    static struct group up, down;

    (void) state;
    for (int p = 1; p > 0; p = next_size(p)) {
        for (int i = 0; i < WAYS; i++) {
            make_group(&up, &ways[i], p);
            for (int me = 0; me < p; me++)
                assert_in_range(up.s[me].count, 0, nc_schedule_most(p));
            for (int j = 0; j < WAYS && ways[i].make == nc_schedule_reduce; j++) {
                if (ways[j].make != nc_schedule_bcast)
                    continue;
                make_group(&down, &ways[j], p);
                for (int me = 0; me < p; me++)
                    assert_in_range(up.s[me].count + down.s[me].count, 0, nc_schedule_most(p));
                free_group(&down);
            }
            free_group(&up);
        }
    }
}

static void assert_steps(const struct nc_schedule *s, int count, const struct nc_step *expected)
{
    assert_int_equal(s->count, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(s->step[i].peer, expected[i].peer);
        assert_int_equal(s->step[i].first, expected[i].first);
        assert_int_equal(s->step[i].end, expected[i].end);
        assert_int_equal(s->step[i].kind, expected[i].kind);
        assert_int_equal(s->step[i].wait_sends, expected[i].wait_sends);
        assert_int_equal(s->step[i].parts, expected[i].parts);
    }
}

/* To be read by eye. */
static void examples(void **state)
{
    struct nc_step step[16];
    struct nc_schedule s = {.step = step};

    (void) state;
    nc_schedule_allreduce(&s, NC_RD, 0, 5, 0);
    assert_steps(&s, 6,
                 (struct nc_step[]){{1, 0, 1, NC_STEP_REDUCE, false, 1},
                                    {2, 0, 1, NC_STEP_SEND, false, 1},
                                    {2, 0, 1, NC_STEP_REDUCE_BEHIND, true, 1},
                                    {3, 0, 1, NC_STEP_SEND, false, 1},
                                    {3, 0, 1, NC_STEP_REDUCE_BEHIND, true, 1},
                                    {1, 0, 1, NC_STEP_SEND, false, 1}});
    nc_schedule_allreduce(&s, NC_RSAG, 0, 4, 2);
    assert_steps(&s, 8,
                 (struct nc_step[]){{3, 2, 4, NC_STEP_SEND, false, 4},
                                    {3, 0, 2, NC_STEP_REDUCE, false, 4},
                                    {0, 0, 1, NC_STEP_SEND, false, 4},
                                    {0, 1, 2, NC_STEP_REDUCE, true, 4},
                                    {0, 1, 2, NC_STEP_SEND, false, 4},
                                    {0, 0, 1, NC_STEP_RECV, false, 4},
                                    {3, 0, 2, NC_STEP_SEND, false, 4},
                                    {3, 2, 4, NC_STEP_RECV, false, 4}});
    nc_schedule_bcast(&s, NC_SAG, 0, 4, 2);
    assert_steps(&s, 7,
                 (struct nc_step[]){{0, 2, 4, NC_STEP_RECV, false, 4},
                                    {3, 3, 4, NC_STEP_SEND, false, 4},
                                    {3, 2, 3, NC_STEP_SEND, false, 4},
                                    {1, 1, 2, NC_STEP_RECV, false, 4},
                                    {3, 1, 2, NC_STEP_SEND, false, 4},
                                    {1, 0, 1, NC_STEP_RECV, false, 4},
                                    {3, 0, 1, NC_STEP_SEND, false, 4}});
}

static void parts(void **state)
{
    const size_t n[] = {0, 1, 99, 100, 101, 12345678901, SIZE_MAX};

    (void) state;
    for (size_t j = 0; j < sizeof n / sizeof *n; j++)
        for (int count = 1; count <= LARGEST; count++)
            for (int i = 0; i <= count; i++)
                assert_true(nc_schedule_part(n[j], count, i) ==
                            (unsigned __int128) n[j] * (unsigned) i / (unsigned) count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples), cmocka_unit_test(parts),   cmocka_unit_test(steps_of_a_ring),
        cmocka_unit_test(most),     cmocka_unit_test(trees),   cmocka_unit_test(settles),
        cmocka_unit_test(amounts),  cmocka_unit_test(results), cmocka_unit_test(owners)};
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
