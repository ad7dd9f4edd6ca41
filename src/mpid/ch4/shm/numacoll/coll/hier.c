#include "hier.h"

#include "../core/nc_model.h"

enum { NC_WINDOW_LEAST = 1024 }; /* bytes that the model's choice is not to fall below */

/* ---- which algorithms, and windows of how many bytes ---- */

/* Words of BCAST_GROUP and REDUCE_GROUP, and of ALLREDUCE_GROUP, in their order; the first leaves
 * it to the model. */
static const enum nc_algorithm bcast_words[] = {NC_FLAT,    NC_FLAT,  NC_KARY,
                                                NC_KNOMIAL, NC_CHAIN, NC_SAG};
static const enum nc_algorithm reduce_words[] = {NC_FLAT,    NC_FLAT,  NC_KARY,
                                                 NC_KNOMIAL, NC_CHAIN, NC_RSG};
static const enum nc_algorithm allreduce_words[] = {NC_RD, NC_RD, NC_RSAG, NC_RING};

/* The tree of least time for a group of p. */
static struct nc_way model_tree(struct nc_model_link link, int p, size_t bytes, size_t element)
{
    static const struct nc_way ways[NC_MODEL_TREES] = {[NC_MODEL_BINOMIAL] = {NC_KNOMIAL, 2},
                                                       [NC_MODEL_CHAIN] = {NC_CHAIN, 2},
                                                       [NC_MODEL_PIPELINED_BINARY] = {NC_KARY, 2}};
    struct nc_model_limits limits = {.element = element,
                                     .lowest = NC_WINDOW_LEAST,
                                     .highest = NC_WINDOW,
                                     .trees = 1u << NC_MODEL_CHAIN |
                                              1u << NC_MODEL_PIPELINED_BINARY};

    return ways[nc_model_choose(link, p, bytes, &limits).tree];
}

/* For the exchange of a window among p: whole to each in turn, or by parts. */
static struct nc_way model_exchange(struct nc_model_link link, int p, size_t bytes)
{
    return (struct nc_way){
        nc_model_doubling(link, p, bytes) <= nc_model_rabenseifner(link, p, bytes) ? NC_RD
                                                                                   : NC_RSAG,
        2};
}

static struct nc_way way_of(const struct MPIDI_NUMACOLL_comm *state, enum nc_direction direction,
                            int level, size_t bytes, size_t element)
{
    static const enum nc_algorithm *const words[] = {
        [NC_REDUCE] = reduce_words, [NC_BCAST] = bcast_words, [NC_ALLREDUCE] = allreduce_words};
    const struct nc_across_choice *c = &state->across[state->leaf + 1];
    enum nc_level name = state->all.name[level];
    const struct nc_plan *plan = &c->plan[direction];
    int p = state->all.largest[level], word = plan->algorithm[name];

    if (word > 0)
        return (struct nc_way){words[direction][word], plan->degree[name]};
    if (direction == NC_ALLREDUCE)
        return model_exchange(c->links.link[name], p, bytes < NC_WINDOW ? bytes : NC_WINDOW);
    return model_tree(c->links.link[name], p, bytes, element);
}

/* Bytes: a window for the level, as the model has it; all there can be where windows do not
 * overlap. */
static uint64_t segment_of(const struct MPIDI_NUMACOLL_comm *state, const struct nc_ways *ways,
                           int level, size_t bytes)
{
    struct nc_model_link link = state->across[state->leaf + 1].links.link[state->all.name[level]];
    int p = state->all.largest[level];

    switch (ways->way[level].algorithm) {
        case NC_CHAIN:
            return nc_model_segment(link, NC_MODEL_CHAIN, p, bytes);
        case NC_KARY:
            return nc_model_segment(link, NC_MODEL_PIPELINED_BINARY, p, bytes);
        default:
            return NC_WINDOW;
    }
}

static size_t whole_elements(size_t bytes, size_t element)
{
    return bytes < element ? element : bytes - bytes % element;
}

void MPIDI_NUMACOLL_ways(const struct MPIDI_NUMACOLL_comm *state, enum nc_direction direction,
                         size_t bytes, size_t element, struct nc_ways *ways)
{
    const struct nc_across_choice *c = &state->across[state->leaf + 1];
    uint64_t window = NC_WINDOW;

    for (int l = state->all.above; l < state->all.groups.levels; l++) {
        uint64_t segment;
        ways->way[l] = way_of(state, direction, l, bytes, element);
        segment = segment_of(state, ways, l, bytes);
        window = segment < window ? segment : window;
    }
    window = window < NC_WINDOW_LEAST ? NC_WINDOW_LEAST : window;
    ways->window = whole_elements(c->window ? (size_t) c->window : window, element);
}

/* ---- legs ---- */

int MPIDI_NUMACOLL_local_speaker(const struct MPIDI_NUMACOLL_comm *state, const MPIR_Comm *comm,
                                 int root)
{
    return state->all.node_of[root] == state->all.node
               ? MPIR_Get_intranode_rank((MPIR_Comm *) comm, root)
               : 0;
}

void MPIDI_NUMACOLL_hier_open(struct nc_hier *x, struct MPIDI_NUMACOLL_comm *state, int root,
                              MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    const struct nc_hierarchy *h = &state->all;

    *x = (struct nc_hier){.state = state,
                          .comm = comm,
                          .errflag = errflag,
                          .root = root,
                          .element = 1,
                          .up = {.tag = MPIR_REDUCE_TAG, .leg = h->leg},
                          .down = {.tag = MPIR_BCAST_TAG, .leg = h->leg + h->legs}};
    for (int i = 0; i < NC_PLACES; i++) {
        x->up.sent[i] = h->sent + i * h->legs;
        x->down.sent[i] = h->sent + (NC_PLACES + i) * h->legs;
    }
}

typedef void (*nc_schedule_function)(struct nc_schedule *, enum nc_algorithm, int, int, int);

/* The legs of a level, if I am in a group there and not alone. */
static void add_level(struct nc_hier *x, struct nc_lane *lane, int level, struct nc_way way,
                      nc_schedule_function schedule)
{
    const struct nc_hierarchy *h = &x->state->all;
    struct nc_group group = nc_group_at(&h->groups, level, x->comm->rank, x->root);
    struct nc_schedule s = {.step = h->step};

    if (group.index < 0 || group.size == 1)
        return;
    schedule(&s, way.algorithm, way.k, group.size, group.index);
    for (int i = 0; i < s.count; i++)
        lane->leg[lane->legs++] = (struct nc_leg){nc_group_member(&group, s.step[i].peer), s.parts,
                                                  s.step[i]};
}

void MPIDI_NUMACOLL_hier_up(struct nc_hier *x, const struct nc_ways *ways, int but)
{
    const struct nc_hierarchy *h = &x->state->all;

    x->up.legs = 0;
    for (int l = h->above; l < h->groups.levels - but; l++)
        add_level(x, &x->up, l, ways->way[l], nc_schedule_reduce);
}

void MPIDI_NUMACOLL_hier_across(struct nc_hier *x, const struct nc_ways *ways)
{
    int top = x->state->all.groups.levels - 1;

    add_level(x, &x->up, top, ways->way[top], nc_schedule_allreduce);
}

void MPIDI_NUMACOLL_hier_down(struct nc_hier *x, const struct nc_ways *ways, int but)
{
    const struct nc_hierarchy *h = &x->state->all;

    x->down.legs = 0;
    for (int l = h->groups.levels - 1 - but; l >= h->above; l--)
        add_level(x, &x->down, l, ways->way[l], nc_schedule_bcast);
}

/* ---- messages ---- */

static bool receives(const struct nc_leg *leg)
{
    return leg->step.kind != NC_STEP_SEND;
}

static bool joins(const struct nc_leg *leg)
{
    return leg->step.kind == NC_STEP_JOIN || leg->step.kind == NC_STEP_JOIN_BEHIND;
}

/* Of a window of n elements those of a leg; *first: bytes before them. */
static size_t elements_of(const struct nc_hier *x, const struct nc_leg *leg, size_t n,
                          size_t *first)
{
    size_t begin = nc_schedule_part(n, leg->parts, leg->step.first),
           end = nc_schedule_part(n, leg->parts, leg->step.end);

    *first = begin * x->element;
    return end - begin;
}

void MPIDI_NUMACOLL_hier_settle(struct nc_hier *x, struct nc_lane *lane, uint64_t w)
{
    int *n = &lane->sends[w % NC_PLACES];

    while (*n > 0) {
        MPI_Status status;
        MPIDI_NUMACOLL_keep_first(
            &x->mpi_errno, NC_WAITALL(1, &lane->sent[w % NC_PLACES][--*n], &status, x->errflag));
    }
}

static void send_leg(struct nc_hier *x, struct nc_lane *lane, uint64_t w, const struct nc_leg *leg,
                     const char *from, size_t bytes)
{
    MPIR_Request *request = NULL;
    int mpi_errno = MPIDI_NUMACOLL_send(x->state, from, bytes, leg->peer, lane->tag, x->comm,
                                        x->errflag, &request);

    MPIDI_NUMACOLL_keep_first(&x->mpi_errno, mpi_errno);
    if (request)
        lane->sent[w % NC_PLACES][lane->sends[w % NC_PLACES]++] = request;
}

/* Posts the receive of leg i, which nothing before it on the lane is awaited for. */
static void expect(struct nc_hier *x, struct nc_lane *lane, int i, char *place, size_t n)
{
    const struct nc_leg *leg = &lane->leg[i];
    size_t first, bytes = elements_of(x, leg, n, &first) * x->element;

    lane->to = joins(leg) ? x->state->all.window[NC_PLACES + (x->turn ^= 1)] : place + first;
    lane->expected = i;
    lane->coming = NULL;
    MPIDI_NUMACOLL_keep_first(&x->mpi_errno,
                              MPIC_Irecv(lane->to, (MPI_Aint) bytes, MPI_BYTE, leg->peer, lane->tag,
                                         x->comm, &lane->coming));
}

/* The bytes that have come, -1 after an error. */
static MPI_Aint await(struct nc_hier *x, struct nc_lane *lane)
{
    MPI_Status status;
    MPIR_Request *request = lane->coming;
    int mpi_errno;

    lane->coming = NULL;
    if (!request)
        return -1;
    mpi_errno = NC_WAITALL(1, &request, &status, x->errflag);
    MPIDI_NUMACOLL_keep_first(&x->mpi_errno, mpi_errno);
    return mpi_errno == MPI_SUCCESS ? MPIR_STATUS_GET_COUNT(status) : -1;
}

/* From leg i on, of a window, the next one that is a message; legs at the end. */
static int next_leg(const struct nc_hier *x, const struct nc_lane *lane, int i, size_t n)
{
    size_t first;

    while (i < lane->legs && elements_of(x, &lane->leg[i], n, &first) == 0)
        i++;
    return i;
}

/* What is to be combined can come already: it has a buffer of its own. */
static void expect_next(struct nc_hier *x, struct nc_lane *lane, int i, char *place, size_t n)
{
    i = next_leg(x, lane, i, n);
    while (i < lane->legs && !receives(&lane->leg[i]))
        i = next_leg(x, lane, i + 1, n);
    if (i < lane->legs && joins(&lane->leg[i]))
        expect(x, lane, i, place, n);
}

static void combine(struct nc_hier *x, const struct nc_leg *leg, char *theirs, char *mine, size_t n)
{
    bool in_front = leg->step.kind == NC_STEP_JOIN;

    MPIDI_NUMACOLL_keep_first(&x->mpi_errno,
                              MPIDI_NUMACOLL_join(x->reduction, in_front ? theirs : mine,
                                                  in_front ? mine : theirs, mine, n));
}

/* Leg i; elements that are the window's, if they are learnt. */
static size_t receive(struct nc_hier *x, struct nc_lane *lane, uint64_t w, int i, char *place,
                      size_t n, bool learn)
{
    const struct nc_leg *leg = &lane->leg[i];
    size_t first, wanted = elements_of(x, leg, n, &first);
    bool posted = lane->coming && lane->expected == i;
    MPI_Aint bytes;
    char *theirs;

    if (!posted && joins(leg))
        expect(x, lane, i, place, n);
    if (leg->step.settle)
        MPIDI_NUMACOLL_hier_settle(x, lane, w);
    if (!posted && !joins(leg))
        expect(x, lane, i, place, n);
    bytes = await(x, lane);
    theirs = lane->to;
    /* after an error a word goes on, too short for anything: those below wait */
    if (learn)
        return bytes < 1 ? 1 : (size_t) bytes;
    expect_next(x, lane, i + 1, place, n);
    if (bytes >= 0 && (size_t) bytes != wanted * x->element)
        MPIDI_NUMACOLL_keep_first(&x->mpi_errno,
                                  MPIDI_NUMACOLL_unequal((size_t) bytes, wanted * x->element));
    else if (bytes >= 0 && joins(leg))
        combine(x, leg, theirs, place + first, wanted);
    return n;
}

/* ---- windows ---- */

size_t MPIDI_NUMACOLL_hier_run(struct nc_hier *x, struct nc_lane *lane, uint64_t w, char *place,
                               size_t n, bool learn)
{
    MPIDI_NUMACOLL_hier_settle(x, lane, w);
    for (int i = 0; i < lane->legs; i++) {
        const struct nc_leg *leg = &lane->leg[i];
        size_t first, count = elements_of(x, leg, n, &first);
        if (count > 0 && receives(leg))
            n = receive(x, lane, w, i, place, n, learn);
        else if (count > 0)
            send_leg(x, lane, w, leg, place + first, count * x->element);
        else if (leg->step.settle)
            MPIDI_NUMACOLL_hier_settle(x, lane, w);
    }
    return n;
}

void MPIDI_NUMACOLL_hier_expect(struct nc_hier *x, struct nc_lane *lane, uint64_t w, char *place,
                                size_t n)
{
    int i = next_leg(x, lane, 0, n);

    if (i == lane->legs || !receives(&lane->leg[i]) || lane->coming)
        return;
    MPIDI_NUMACOLL_hier_settle(x, lane, w);
    expect(x, lane, i, place, n);
}

int MPIDI_NUMACOLL_hier_close(struct nc_hier *x)
{
    for (uint64_t w = 0; w < NC_PLACES; w++) {
        MPIDI_NUMACOLL_hier_settle(x, &x->up, w);
        MPIDI_NUMACOLL_hier_settle(x, &x->down, w);
    }
    return x->mpi_errno;
}
