/* The levels above the node: chooses algorithms and chunks, builds the pipelines of a leader from
 * schedules, and runs them chunk by chunk. See above.h. */

#include "above.h"

#include "numacoll_vars.h"

/* ---- which algorithms, and chunks of how many bytes ---- */

/* The algorithm of each word of BCAST_GROUP, REDUCE_GROUP and ALLREDUCE_GROUP. Entry 0 would be
 * that of `auto` and is not used: there the model chooses. */
static const enum nc_algorithm bcast_algorithms[NC_WORDS_BCAST_GROUP] = {
    [NC_WORD_BCAST_GROUP_flat] = NC_FLAT,         [NC_WORD_BCAST_GROUP_kary] = NC_KARY,
    [NC_WORD_BCAST_GROUP_balanced] = NC_BALANCED, [NC_WORD_BCAST_GROUP_knomial] = NC_KNOMIAL,
    [NC_WORD_BCAST_GROUP_chain] = NC_CHAIN,       [NC_WORD_BCAST_GROUP_sag] = NC_SAG};
static const enum nc_algorithm reduce_algorithms[NC_WORDS_REDUCE_GROUP] = {
    [NC_WORD_REDUCE_GROUP_flat] = NC_FLAT,         [NC_WORD_REDUCE_GROUP_kary] = NC_KARY,
    [NC_WORD_REDUCE_GROUP_balanced] = NC_BALANCED, [NC_WORD_REDUCE_GROUP_knomial] = NC_KNOMIAL,
    [NC_WORD_REDUCE_GROUP_chain] = NC_CHAIN,       [NC_WORD_REDUCE_GROUP_rsg] = NC_RSG,
    [NC_WORD_REDUCE_GROUP_chain_all] = NC_CHAIN};
static const enum nc_algorithm allreduce_algorithms[NC_WORDS_ALLREDUCE_GROUP] = {
    [NC_WORD_ALLREDUCE_GROUP_rd] = NC_RD,
    [NC_WORD_ALLREDUCE_GROUP_rsag] = NC_RSAG,
    [NC_WORD_ALLREDUCE_GROUP_ring] = NC_RING};
_Static_assert(NC_WORD_BCAST_GROUP_auto == 0 && NC_WORD_REDUCE_GROUP_auto == 0 &&
                   NC_WORD_ALLREDUCE_GROUP_auto == 0,
               "is_set says so");

/* The algorithm that the settings name for a level. Returns false if they say `auto`. */
static bool is_set(const struct nc_call *call, enum nc_direction direction, int level,
                   struct nc_group_algorithm *algorithm)
{
    static const enum nc_algorithm *const algorithms[] = {[NC_REDUCE] = reduce_algorithms,
                                                          [NC_BCAST] = bcast_algorithms,
                                                          [NC_ALLREDUCE] = allreduce_algorithms};
    const struct nc_level_spec *spec = &call->choice->spec[direction];
    enum nc_level name = call->state->all.nodes.name[level];
    int chosen = spec->algorithm[name];

    *algorithm = (struct nc_group_algorithm){algorithms[direction][chosen], spec->degree[name]};
    return chosen > 0;
}

/* The algorithm of a level: by the settings, or, if they say `auto`, by the model. */
static struct nc_group_algorithm algorithm_of(const struct nc_call *call,
                                              enum nc_direction direction, int level, size_t bytes,
                                              size_t element)
{
    const struct nc_hierarchy *h = &call->state->all;
    struct nc_model_link link = call->choice->links.link[h->nodes.name[level]];
    int p = h->nodes.largest[level];
    struct nc_group_algorithm set;

    if (is_set(call, direction, level, &set))
        return set;
    if (direction == NC_ALLREDUCE)
        return nc_select_exchange(link, p, bytes);
    return nc_select_tree(link, p, bytes, element);
}

void MPIDI_NUMACOLL_above_choose(const struct nc_call *call, enum nc_direction direction,
                                 size_t bytes, size_t element, struct nc_above_choice *choice)
{
    const struct nc_nodes *nodes = &call->state->all.nodes;
    struct nc_select_level level[NC_LEVELS + 1];
    int wanted = call->choice->chunk_bytes;

    for (int l = 0; l < nodes->groups.levels; l++) {
        choice->level[l] = algorithm_of(call, direction, l, bytes, element);
        level[l] = (struct nc_select_level){.link = call->choice->links.link[nodes->name[l]],
                                            .members = nodes->largest[l],
                                            .by = choice->level[l]};
    }
    choice->chunk = wanted ? nc_schedule_whole((size_t) wanted, element)
                           : nc_select_chunk(level, nodes->groups.levels, bytes, element);
}

void MPIDI_NUMACOLL_above_choose_first(const struct nc_call *call, struct nc_above_choice *choice)
{
    for (int l = 0; l < call->state->all.nodes.groups.levels; l++) {
        struct nc_group_algorithm *a = &choice->level[l];
        if (!is_set(call, NC_BCAST, l, a) || a->algorithm == NC_SAG)
            *a = (struct nc_group_algorithm){NC_KNOMIAL, 2};
    }
}

/* By ALLREDUCE_GROUP of the highest level: round the ring if it says so, or, if it says nothing,
 * where the model takes less time for it; else by halves. */
enum nc_algorithm MPIDI_NUMACOLL_above_scatters_by(const struct nc_call *call, size_t bytes)
{
    const struct nc_nodes *nodes = &call->state->all.nodes;
    enum nc_level top = nodes->name[nodes->groups.levels - 1];
    struct nc_model_link link = call->choice->links.link[top];
    int wanted = call->choice->spec[NC_ALLREDUCE].algorithm[top];

    if (!wanted)
        return nc_select_parts(link, nodes->count, bytes);
    return allreduce_algorithms[wanted] == NC_RING ? NC_RING : NC_RSAG;
}

/* ---- the messages of a pipeline ---- */

int MPIDI_NUMACOLL_local_leader(const struct nc_call *call, int root)
{
    const struct nc_hierarchy *h = &call->state->all;

    return MPIDI_NUMACOLL_node_of(h, call->comm, root) == h->nodes.mine
               ? MPIDI_NUMACOLL_local_rank(call, root)
               : 0;
}

void MPIDI_NUMACOLL_above_open(struct nc_above *a, const struct nc_call *call, int root)
{
    const struct nc_hierarchy *h = &call->state->all;

    *a = (struct nc_above){.net = {.call = call},
                           .root = root,
                           .element = 1,
                           .roots_node = MPIDI_NUMACOLL_node_of(h, call->comm, root),
                           .up = {.tag = MPIR_REDUCE_TAG, .message = h->message},
                           .down = {.tag = MPIR_BCAST_TAG, .message = h->message}};
    for (int i = 0; i < NC_CHUNKS; i++) {
        a->up.sent[i] = h->sent + i * h->sends;
        a->down.sent[i] = h->sent + (NC_CHUNKS + i) * h->sends;
    }
}

typedef void (*nc_schedule_function)(struct nc_schedule *, enum nc_algorithm, int, int, int);

/* The rank that leads a node in this call. */
static int leader_of(const struct nc_above *a, int node)
{
    return node == a->roots_node ? a->root : nc_nodes_leader(&a->net.call->state->all.nodes, node);
}

/* Appends the messages of a level, if this node is a member of a group of at least two there. */
static void add_level(struct nc_above *a, struct nc_pipeline *pipeline, int level,
                      struct nc_group_algorithm algorithm, nc_schedule_function schedule)
{
    const struct nc_nodes *nodes = &a->net.call->state->all.nodes;
    struct nc_group group = nc_group_at(&nodes->groups, level, nodes->mine, a->roots_node);
    struct nc_schedule s = {.step = pipeline->message + pipeline->messages};

    if (group.index < 0 || group.size == 1)
        return;
    schedule(&s, algorithm.algorithm, algorithm.k, group.size, group.index);
    for (int i = 0; i < s.count; i++)
        s.step[i].peer = leader_of(a, nc_group_member(&group, s.step[i].peer));
    pipeline->messages += s.count;
}

void MPIDI_NUMACOLL_above_up(struct nc_above *a, const struct nc_above_choice *choice, int but)
{
    const struct nc_hierarchy *h = &a->net.call->state->all;

    a->up.messages = 0;
    for (int l = 0; l < h->nodes.groups.levels - but; l++)
        add_level(a, &a->up, l, choice->level[l], nc_schedule_reduce);
}

void MPIDI_NUMACOLL_above_exchange(struct nc_above *a, const struct nc_above_choice *choice)
{
    int top = a->net.call->state->all.nodes.groups.levels - 1;

    add_level(a, &a->up, top, choice->level[top], nc_schedule_allreduce);
}

void MPIDI_NUMACOLL_above_down(struct nc_above *a, const struct nc_above_choice *choice, int but)
{
    const struct nc_hierarchy *h = &a->net.call->state->all;

    a->down.message = a->up.message + a->up.messages;
    a->down.messages = 0;
    for (int l = h->nodes.groups.levels - 1 - but; l >= 0; l--)
        add_level(a, &a->down, l, choice->level[l], nc_schedule_bcast);
}

void MPIDI_NUMACOLL_above_scatter(struct nc_above *a, enum nc_algorithm algorithm)
{
    const struct nc_nodes *nodes = &a->net.call->state->all.nodes;
    struct nc_schedule s = {.step = a->up.message};

    nc_schedule_reduce_scatter(&s, algorithm, 2, nodes->count, nodes->mine);
    for (int i = 0; i < s.count; i++)
        s.step[i].peer = leader_of(a, s.step[i].peer);
    a->up.messages = s.count;
}

/* ---- sending and receiving one message ---- */

static bool receives(const struct nc_step *m)
{
    return m->kind != NC_STEP_SEND;
}

/* Whether what comes is combined with the chunk (the receive then needs an operand buffer). */
static bool joins(const struct nc_step *m)
{
    return m->kind == NC_STEP_REDUCE || m->kind == NC_STEP_REDUCE_BEHIND;
}

/* How many of a chunk's n elements the message carries. *first: where they begin in the chunk,
 * bytes. */
static size_t elements_of(const struct nc_above *a, const struct nc_step *m, size_t n,
                          size_t *first)
{
    size_t begin = a->bound ? a->bound[m->first] : nc_schedule_part(n, m->parts, m->first);

    *first = begin * a->element;
    return (a->bound ? a->bound[m->end] : nc_schedule_part(n, m->parts, m->end)) - begin;
}

void MPIDI_NUMACOLL_above_wait_sends(struct nc_above *a, struct nc_pipeline *pipeline, uint64_t c)
{
    int *n = &pipeline->sends[c % NC_CHUNKS];

    while (*n > 0)
        MPIDI_NUMACOLL_net_await(&a->net, &pipeline->sent[c % NC_CHUNKS][--*n]);
}

static void send_message(struct nc_above *a, struct nc_pipeline *pipeline, uint64_t c,
                         const struct nc_step *m, const char *from, size_t bytes)
{
    int i = (int) (c % NC_CHUNKS);

    MPIDI_NUMACOLL_net_send(&a->net, from, bytes, m->peer, pipeline->tag,
                            &pipeline->sent[i][pipeline->sends[i]++]);
}

/* Posts the receive of message i. No other receive of the pipeline may be posted. */
static void expect(struct nc_above *a, struct nc_pipeline *pipeline, int i, char *place, size_t n)
{
    const struct nc_step *m = &pipeline->message[i];
    size_t first, bytes = elements_of(a, m, n, &first) * a->element;

    pipeline->to = joins(m) ? a->net.call->state->all.buffers.operand[a->turn ^= 1] : place + first;
    pipeline->expected = i;
    MPIDI_NUMACOLL_net_expect(&a->net, pipeline->to, bytes, m->peer, pipeline->tag,
                              &pipeline->coming);
}

/* The number of the first message from i on that is not empty; pipeline->messages if there is none.
 */
static int next_message(const struct nc_above *a, const struct nc_pipeline *pipeline, int i,
                        size_t n)
{
    size_t first;

    while (i < pipeline->messages && elements_of(a, &pipeline->message[i], n, &first) == 0)
        i++;
    return i;
}

/* Posts the next receive from message i on, if it is one whose operand is combined. Such a receive
 * can be posted early, because it goes to an operand buffer and not into the chunk. */
static void expect_operand(struct nc_above *a, struct nc_pipeline *pipeline, int i, char *place,
                           size_t n)
{
    i = next_message(a, pipeline, i, n);
    while (i < pipeline->messages && !receives(&pipeline->message[i]))
        i = next_message(a, pipeline, i + 1, n);
    if (i < pipeline->messages && joins(&pipeline->message[i]))
        expect(a, pipeline, i, place, n);
}

/* Combines a received operand with n elements of the chunk, in the order the schedule asks for. */
static void combine(struct nc_above *a, const struct nc_step *m, char *theirs, char *mine, size_t n)
{
    bool in_front = m->kind == NC_STEP_REDUCE;

    MPIDI_NUMACOLL_net_keep(&a->net,
                            MPIDI_NUMACOLL_reduce_elements(a->reduction, in_front ? theirs : mine,
                                                           in_front ? mine : theirs, mine, n));
}

/* Receives message i, and combines it if the schedule says so. Returns the elements of the chunk:
 * n, or if `learn` the length of the message. A receive into an operand buffer is posted before the
 * wait for sends, a receive into the chunk after it: there the sends still read the chunk. */
static size_t receive(struct nc_above *a, struct nc_pipeline *pipeline, uint64_t c, int i,
                      char *place, size_t n, bool learn)
{
    const struct nc_step *m = &pipeline->message[i];
    size_t first, wanted = elements_of(a, m, n, &first);
    bool posted = pipeline->coming && pipeline->expected == i;
    MPI_Aint bytes;
    char *theirs;

    if (!posted && joins(m))
        expect(a, pipeline, i, place, n);
    if (m->wait_sends)
        MPIDI_NUMACOLL_above_wait_sends(a, pipeline, c);
    if (!posted && !joins(m))
        expect(a, pipeline, i, place, n);
    bytes = MPIDI_NUMACOLL_net_await(&a->net, &pipeline->coming);
    theirs = pipeline->to;
    /* after an error the chunk has 1 byte, too short for a preamble: the ranks below wait for a
     * message, and must get one */
    if (learn)
        return bytes < 1 ? 1 : (size_t) bytes;
    expect_operand(a, pipeline, i + 1, place, n);
    if (bytes >= 0 && (size_t) bytes != wanted * a->element)
        MPIDI_NUMACOLL_net_keep(&a->net,
                                MPIDI_NUMACOLL_unequal((size_t) bytes, wanted * a->element));
    else if (bytes >= 0 && joins(m))
        combine(a, m, theirs, place + first, wanted);
    return n;
}

/* ---- chunks ---- */

size_t MPIDI_NUMACOLL_above_run(struct nc_above *a, struct nc_pipeline *pipeline, uint64_t c,
                                char *place, size_t n, bool learn)
{
    MPIDI_NUMACOLL_above_wait_sends(a, pipeline, c);
    for (int i = 0; i < pipeline->messages; i++) {
        const struct nc_step *m = &pipeline->message[i];
        size_t first, count = elements_of(a, m, n, &first);
        if (count > 0 && receives(m))
            n = receive(a, pipeline, c, i, place, n, learn);
        else if (count > 0)
            send_message(a, pipeline, c, m, place + first, count * a->element);
        else if (m->wait_sends)
            MPIDI_NUMACOLL_above_wait_sends(a, pipeline, c);
    }
    return n;
}

void MPIDI_NUMACOLL_above_expect(struct nc_above *a, struct nc_pipeline *pipeline, uint64_t c,
                                 char *place, size_t n)
{
    int i = next_message(a, pipeline, 0, n);

    if (i == pipeline->messages || !receives(&pipeline->message[i]) || pipeline->coming)
        return;
    MPIDI_NUMACOLL_above_wait_sends(a, pipeline, c);
    expect(a, pipeline, i, place, n);
}

int MPIDI_NUMACOLL_above_close(struct nc_above *a)
{
    for (uint64_t c = 0; c < NC_CHUNKS; c++) {
        MPIDI_NUMACOLL_above_wait_sends(a, &a->up, c);
        MPIDI_NUMACOLL_above_wait_sends(a, &a->down, c);
    }
    return a->net.mpi_errno;
}
