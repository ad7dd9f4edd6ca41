/* Gather and allgather inside a node: each sender writes into its own send control slot and send
 * ring, and receivers read from there. The bodies in coll/ call the functions of nc_gather.h; the
 * steps are nc_transfer's. Numbers are those of PROTOCOLS.md, section 3.4. In round i the senders
 * that have a fragment i write it, and the receivers read it. */

#include "nc_gather.h"

/* A rank's part in a call: as a sender, as a receiver, or (in an allgather) as both. */
struct gather {
    struct nc_transfer *transfer;
    const struct nc_team *team; /* receiver: the ranks it receives from, and itself */
    struct nc_readers told;     /* sender: who reads its send control slot */
    struct nc_readers readers;  /* sender: who reads its slots */
    const int *group;    /* [ranks] group of each rank; slots are read in the sender's group only.
                            NULL: all who read the control slot read the slots */
    struct nc_flow mine; /* sender: its message; 0 fragments: nothing goes through slots */
    int open;            /* receiver: transfer->flow[0 .. open - 1] have fragments left to read */
    int copied;          /* 0, or the first error of a copy */
};

/* ---- sending ---- */

/* Round 0 of a sender: G1; and G2 and G3 of fragment 0, if the message does not fit a control slot.
 */
static void send_first(struct gather *g, struct nc_stream *mine)
{
    struct nc_transfer *t = g->transfer;
    struct nc_control *control = nc_queue_take_send_control(t->queue, &g->told);

    if (nc_transfer_is_inline(mine)) {
        g->copied = nc_transfer_inline(t, control, 0, mine, 0);
        return;
    }
    nc_transfer_begin(t, &g->mine, mine, t->queue->rank);
    g->mine.control = control;
    if (g->told.count[0] > 1)
        nc_transfer_fill_slots(t, &g->mine);
    if (g->group && g->readers.count[0] == 1) {
        /* alone in the group: nobody reads its slots, so only the length is announced */
        g->mine.fragments = 0;
        nc_transfer_announce(t, control, &g->mine.header, 0);
        return;
    }
    nc_transfer_send(t, &g->mine, &g->readers, 0);
}

/* ---- receiving ---- */

/* G6: n fragments of every sender are read. */
static void acknowledge(const struct gather *g, uint64_t n)
{
    nc_transfer_acknowledge(g->transfer, n, g->open > 0, g->transfer->queue->geometry.set_slots);
}

/* G5: copies fragment i, which is announced. Returns whether the message has more fragments. */
static bool receive_fragment(struct gather *g, struct nc_flow *flow, uint64_t i)
{
    nc_transfer_out(g->transfer, flow, i, nc_transfer_source(g->transfer, flow, i));
    if (i + 1 < flow->fragments)
        return true;
    nc_transfer_keep_first(&g->copied, flow->copied);
    return false;
}

/* Whether this rank reads the slots of `rank`. */
static bool is_near(const struct gather *g, int rank)
{
    return !g->group || g->group[rank] == g->group[g->transfer->queue->rank];
}

/* Round 0 of a receiver, G4 and G5: from every other rank of the team the header, and the inline
 * message or fragment 0. Messages with more fragments become flows. */
static void receive_first(struct gather *g, struct nc_stream *from, size_t *sent)
{
    struct nc_transfer *t = g->transfer;
    struct nc_queue *q = t->queue;

    for (int k = 1; k < g->team->size; k++) {
        struct nc_flow *flow = &t->flow[g->open];
        int r = nc_team_after(g->team, k);

        nc_copy_prefetch_out(&from[r]);
        nc_transfer_meet(t, flow, nc_queue_send_control(q, r), &from[r], r, g->team->size);
        sent[r] = flow->header.total;
        if (flow->fragments == 0) {
            nc_transfer_payload(t, flow, flow->how);
            nc_transfer_keep_first(&g->copied, flow->copied);
        } else if (is_near(g, r) && receive_fragment(g, flow, 0)) {
            g->open++;
        }
    }
    acknowledge(g, 1);
}

/* G5: fragment i of each flow. Flows that are complete leave the list. */
static void receive_round(struct gather *g, uint64_t i)
{
    struct nc_flow *flow = g->transfer->flow;
    int kept = 0;

    for (int k = 0; k < g->open; k++) {
        nc_queue_await(g->transfer->queue, flow[k].control, i + 1);
        if (receive_fragment(g, &flow[k], i))
            flow[kept++] = flow[k];
    }
    g->open = kept;
    acknowledge(g, i + 1);
}

/* ---- both ---- */

/* Rounds 1, 2, ...: sends fragment i if there is one, then receives those of the flows. */
static void rounds(struct gather *g)
{
    for (uint64_t i = 1; i < g->mine.fragments || g->open > 0; i++) {
        if (i < g->mine.fragments)
            nc_transfer_send(g->transfer, &g->mine, &g->readers, i);
        receive_round(g, i);
    }
    nc_transfer_keep_first(&g->copied, g->mine.copied);
}

static int end(struct gather *g)
{
    nc_queue_end(g->transfer->queue);
    return g->copied;
}

int nc_gather_node(struct nc_transfer *t, int root, struct nc_stream *mine, struct nc_stream *from,
                   size_t *sent)
{
    struct nc_readers reader = nc_queue_one(t->queue, root);
    struct nc_team all = nc_queue_everybody(t->queue);
    struct gather g = {.transfer = t, .team = &all, .told = reader, .readers = reader};

    if (t->queue->rank == root)
        receive_first(&g, from, sent);
    else
        send_first(&g, mine);
    rounds(&g);
    return end(&g);
}

static int allgather(struct gather *g, struct nc_stream *mine, struct nc_stream *from, size_t *sent)
{
    sent[g->transfer->queue->rank] = nc_stream_rest(mine);
    send_first(g, mine);
    receive_first(g, from, sent);
    rounds(g);
    return end(g);
}

int nc_allgather_node(struct nc_transfer *t, const struct nc_groups *groups, struct nc_stream *mine,
                      struct nc_stream *from, size_t *sent)
{
    struct nc_team all = nc_queue_everybody(t->queue);
    struct nc_group near = nc_group_at(groups, 0, t->queue->rank, 0);
    struct gather g = {.transfer = t,
                       .team = &all,
                       .told = nc_queue_team(&all),
                       .group = groups->of[0],
                       .readers = {.rank = {near.member, NULL}, .count = {near.size, 0}}};

    return allgather(&g, mine, from, sent);
}

int nc_allgather_team(struct nc_transfer *t, const struct nc_team *team, struct nc_stream *mine,
                      struct nc_stream *from, size_t *sent)
{
    struct nc_readers readers = nc_queue_team(team);
    struct gather g = {.transfer = t, .team = team, .told = readers, .readers = readers};

    return allgather(&g, mine, from, sent);
}
