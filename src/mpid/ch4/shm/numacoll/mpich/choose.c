/* Makes the choices of a communicator: turns its settings, and those of each csel entry, into
 * trees, algorithms and sizes. See choose.h. */

#include "choose.h"

#include <unistd.h>

#include "settings.h"
#include "world.h"
#include "../core/nc_arena.h"
#include "../core/nc_select.h"

uint64_t MPIDI_NUMACOLL_budget_bytes(MPIR_Comm *parent)
{
    int budget = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_QUEUE_BUDGET);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE),
         processors = sysconf(_SC_NPROCESSORS_CONF);

    if (budget >= 0)
        return (uint64_t) budget;
    return pages > 0 && page > 0 && processors > 0
               ? nc_model_budget((uint64_t) pages * (uint64_t) page, (uint64_t) processors) / 1024 *
                     1024
               : 0;
}

/* ---- trees ---- */

_Static_assert(MPIR_CVAR_NUMACOLL_BCAST_TREE_flat == (int) NC_TREE_FLAT &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_kary == (int) NC_TREE_KARY &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_balanced == (int) NC_TREE_BALANCED &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_knomial == (int) NC_TREE_KNOMIAL &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_chain == (int) NC_TREE_CHAIN &&
                   MPIR_CVAR_NUMACOLL_BCAST_TREE_auto > (int) NC_TREE_CHAIN,
               "cvars.yaml lists them as nc_tree.h does");

/* The tree inside a node for each word of a setting. */
static const struct nc_tree_spec bcast_trees[NC_WORDS_BCAST_GROUP] = {
    [NC_WORD_BCAST_GROUP_auto] = {NC_TREE_FLAT, 0},
    [NC_WORD_BCAST_GROUP_flat] = {NC_TREE_FLAT, 0},
    [NC_WORD_BCAST_GROUP_kary] = {NC_TREE_KARY, 0},
    [NC_WORD_BCAST_GROUP_balanced] = {NC_TREE_BALANCED, 0},
    [NC_WORD_BCAST_GROUP_knomial] = {NC_TREE_KNOMIAL, 0},
    [NC_WORD_BCAST_GROUP_chain] = {NC_TREE_CHAIN, 0},
    [NC_WORD_BCAST_GROUP_sag] = {NC_TREE_FLAT, 0}};
static const struct nc_tree_spec reduce_trees[NC_WORDS_REDUCE_GROUP] = {
    [NC_WORD_REDUCE_GROUP_auto] = {NC_TREE_FLAT, 0},
    [NC_WORD_REDUCE_GROUP_flat] = {NC_TREE_FLAT, 0},
    [NC_WORD_REDUCE_GROUP_kary] = {NC_TREE_KARY, 0},
    [NC_WORD_REDUCE_GROUP_balanced] = {NC_TREE_BALANCED, 0},
    [NC_WORD_REDUCE_GROUP_knomial] = {NC_TREE_KNOMIAL, 0},
    [NC_WORD_REDUCE_GROUP_chain] = {NC_TREE_CHAIN, 0},
    [NC_WORD_REDUCE_GROUP_rsg] = {NC_TREE_FLAT, 0},
    [NC_WORD_REDUCE_GROUP_chain_all] = {NC_TREE_CHAIN, 0}};

/* The tree for the groups of each level, as a level spec says. word: the tree that each word of the
 * spec stands for; degree 0 there: the degree is in the spec. */
static void choose_trees(enum nc_setting setting, int value, const struct nc_levels *levels,
                         const struct nc_tree_spec *word, struct nc_tree_spec *tree)
{
    struct nc_level_spec spec;

    MPIDI_NUMACOLL_level_spec(setting, value, &spec);
    for (int l = 0; l < levels->groups.levels; l++) {
        tree[l] = word[spec.algorithm[levels->name[l]]];
        if (tree[l].k == 0)
            tree[l].k = spec.degree[levels->name[l]];
    }
}

/* Memory of the trees of one choice. */
struct trees {
    void *bcast, *bcast_below, *reduce, *reduce_below, *reduce_short, *reduce_chain_all, *barrier,
        *scan[2];
};

/* Bytes for a scan's steps, whatever the radix. */
static size_t scan_bytes(int ranks)
{
    size_t most = 0;

    for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        struct nc_situation s = {.ranks = ranks, .oversubscribed = oversubscribed};
        size_t bytes = nc_scan_bytes(ranks, nc_select_scan_radix(&s, NULL));
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void take_trees(struct trees *trees, int ranks, struct nc_arena *arena)
{
    size_t route = nc_route_bytes(ranks, NC_ROUTE_LEVELS);

    trees->bcast = nc_arena_take(arena, route, 1, 8);
    trees->bcast_below = nc_arena_take(arena, route, 1, 8);
    trees->reduce = nc_arena_take(arena, route, 1, 8);
    trees->reduce_below = nc_arena_take(arena, route, 1, 8);
    trees->reduce_short = nc_arena_take(arena, route, 1, 8);
    trees->reduce_chain_all = nc_arena_take(arena, route, 1, 8);
    trees->barrier = nc_arena_take(arena, nc_barrier_private_bytes(ranks), 1, 8);
    for (int i = 0; i < 2; i++)
        trees->scan[i] = nc_arena_take(arena, scan_bytes(ranks), 1, 8);
    nc_arena_take(arena, 0, 1, 8);
}

size_t MPIDI_NUMACOLL_choice_tree_bytes(int ranks)
{
    struct nc_arena measured = {.base = NULL};
    struct trees trees;

    take_trees(&trees, ranks, &measured);
    return measured.bytes;
}

/* ---- one choice ---- */

struct nc_situation MPIDI_NUMACOLL_situation(const struct MPIDI_NUMACOLL_comm *state)
{
    /* only what is the same on all ranks of the node: not whether this process yields */
    return (struct nc_situation){.ranks = state->size,
                                 .oversubscribed = state->oversubscribed,
                                 .numa_nodes = state->groups.levels > 1};
}

/* The largest fragment that an entry wants, bytes; 0: the square-root rule decides per message; a
 * whole slot where FRAGMENT_SIZE leaves it open.
 * With QUEUE_BUDGET the slots do not come from FRAGMENT_SIZE, so FRAGMENT_SIZE limits fragments
 * only where the entry itself sets it. */
static uint32_t wanted_fragment(MPIR_Comm *parent, int entry, uint32_t slot)
{
    int f = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_FRAGMENT_SIZE);

    if (MPIDI_NUMACOLL_budget_bytes(parent) &&
        f == MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_FRAGMENT_SIZE))
        return slot;
    return f < 0 ? slot : (uint32_t) f;
}

_Static_assert(MPIR_CVAR_NUMACOLL_FRAGMENT_RULE_quarter == (int) NC_FRAG_QUARTER &&
                   MPIR_CVAR_NUMACOLL_FRAGMENT_RULE_fixed == (int) NC_FRAG_FIXED &&
                   MPIR_CVAR_NUMACOLL_FRAGMENT_RULE_sqrt == (int) NC_FRAG_SQRT,
               "cvars.yaml lists them as nc_frag.h does");

/* This rank's share of the last-level cache, bytes. Ranks whose caches are unknown are believed to
 * share one. */
static size_t cache_share(const struct MPIDI_NUMACOLL_comm *state)
{
    const struct nc_caches *caches = &state->caches;
    size_t bytes = caches->last ? caches->last : MPIDI_NUMACOLL_world.cache_bytes;
    int mine = state->units[state->rank * NC_LEVELS + NC_LEVEL_L3], ranks = 0;

    for (int i = 0; i < state->size; i++)
        ranks += state->units[i * NC_LEVELS + NC_LEVEL_L3] == mine;
    return nc_select_cache_share(bytes, caches->processors, ranks);
}

/* The threshold for streaming stores, bytes; `open`: where STREAMING leaves it open. */
static size_t streaming_above(MPIR_Comm *parent, int entry, size_t open)
{
    int bytes = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_STREAMING);

    return bytes < 0 ? open : bytes == 0 ? SIZE_MAX : (size_t) bytes;
}

/* The longest message that this rank demotes, bytes. */
static size_t demotes_most(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent, int entry)
{
    int bytes = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_DEMOTE), ranks = 0;
    int mine = state->units[state->rank * NC_LEVELS + NC_LEVEL_L2];
    struct nc_situation situation = MPIDI_NUMACOLL_situation(state);

    if (!nc_copy_can_demote())
        return 0;
    if (bytes >= 0)
        return (size_t) bytes;
    for (int i = 0; i < state->size; i++)
        ranks += state->units[i * NC_LEVELS + NC_LEVEL_L2] == mine;
    return nc_select_demotes_most(&situation, mine < 0 ? 1 : ranks);
}

static void choose_bcast(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent, int entry,
                         const struct trees *memory, struct nc_choice *c)
{
    uint32_t slot = state->size > 1 ? state->queue.geometry.slot_bytes : INT_MAX;
    uint32_t f = wanted_fragment(parent, entry, slot);
    int spec = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_BCAST_GROUP);
    struct nc_tree_spec inside[NC_ROUTE_LEVELS], notice;
    struct nc_situation situation = MPIDI_NUMACOLL_situation(state);
    int tree = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_BCAST_TREE);
    size_t demotes = demotes_most(state, parent, entry);

    c->bcast_tree = tree == MPIR_CVAR_NUMACOLL_BCAST_TREE_auto ? nc_select_notice(&situation, NULL)
                                                               : (enum nc_tree_kind) tree;
    notice.kind = c->bcast_tree;
    notice.k = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_BCAST_TREE_K);
    choose_trees(NC_VAR_BCAST_GROUP, spec, &state->data, bcast_trees, inside);
    nc_route_make(&c->bcast, memory->bcast, &state->data.groups, inside, &notice, state->rank);
    nc_route_make(&c->bcast_below, memory->bcast_below, &state->below, inside, &notice,
                  state->rank);
    c->transfer = (struct nc_transfer){
        .queue = &state->queue,
        .rule = f == 0 ? NC_FRAG_SQRT
                       : (enum nc_frag_rule) MPIDI_NUMACOLL_setting(parent, entry,
                                                                    NC_VAR_FRAGMENT_RULE),
        .largest_fragment = f && f < slot ? f : slot,
        .streams_above = streaming_above(parent, entry, cache_share(state)),
        .paces_above = streaming_above(parent, entry, NC_PACES_ABOVE),
        .demotes_most = demotes,
        .sibling = demotes ? &state->sibling : NULL,
        .pace = state->pace,
        .numa = state->numa,
        .direct = state->single_copy || state->direct.shared ? &state->direct : NULL,
        .traffic = &state->traffic,
        .flow = state->flow,
        .joint = state->joint,
        .awaited = state->awaited};
}

static void choose_reduce(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent, int entry,
                          const struct trees *memory, struct nc_choice *c)
{
    int value = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_REDUCE_GROUP);
    struct nc_situation situation = MPIDI_NUMACOLL_situation(state);
    struct nc_tree_spec word[NC_WORDS_REDUCE_GROUP], inside[NC_ROUTE_LEVELS];
    struct nc_level_spec spec;
    int levels_of[NC_WORDS_REDUCE_GROUP] = {0};

    memcpy(word, reduce_trees, sizeof word);
    for (int inlined = 1; inlined >= 0; inlined--) {
        if (nc_select_reduce(&situation, 1, inlined, NULL) != NC_REDUCE_FLAT)
            word[NC_WORD_REDUCE_GROUP_auto] = (struct nc_tree_spec){
                inlined ? NC_TREE_KNOMIAL : NC_TREE_KARY, 2};
        choose_trees(NC_VAR_REDUCE_GROUP, value, &state->data, word, inside);
        nc_route_make(inlined ? &c->reduce_short : &c->reduce,
                      inlined ? memory->reduce_short : memory->reduce, &state->data.groups, inside,
                      NULL, state->rank);
    }
    MPIDI_NUMACOLL_level_spec(NC_VAR_REDUCE_GROUP, value, &spec);
    for (int l = 0; l < state->data.groups.levels; l++)
        levels_of[spec.algorithm[state->data.name[l]]]++;
    c->chain_all = NC_CHAIN_ALL_NEVER;
    if (levels_of[NC_WORD_REDUCE_GROUP_chain_all] == state->data.groups.levels)
        c->chain_all = NC_CHAIN_ALL_ALWAYS;
    else if (levels_of[NC_WORD_REDUCE_GROUP_auto] == state->data.groups.levels)
        c->chain_all = NC_CHAIN_ALL_IF_LONG;
    nc_route_make(&c->reduce_chain_all, memory->reduce_chain_all, &state->one_group,
                  &(struct nc_tree_spec){NC_TREE_CHAIN, 0}, NULL, state->rank);
    nc_route_make(&c->reduce_below, memory->reduce_below, &state->below, inside, NULL, state->rank);
    c->allreduce_version = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_ALLREDUCE_VERSION);
}

/* The steps of scans, by the NUMA nodes of LEVELS. */
static void choose_scan(const struct MPIDI_NUMACOLL_comm *state, const struct trees *memory,
                        struct nc_choice *c)
{
    struct nc_situation situation = MPIDI_NUMACOLL_situation(state);

    for (int exclusive = 0; exclusive < 2 && state->size > 1; exclusive++)
        nc_scan_make(&c->scan[exclusive], memory->scan[exclusive], state->groups.of[0], state->size,
                     nc_select_scan_radix(&situation, NULL), exclusive, state->rank);
}

/* The settings of Reduce, Bcast and Allreduce above the node. coll/above.c makes the choice from
 * them in each call, because it depends on the bytes. */
static void choose_above(MPIR_Comm *parent, int entry, struct nc_choice *c)
{
    static const enum nc_setting specs[NC_DIRECTIONS] = {[NC_REDUCE] = NC_VAR_REDUCE_GROUP,
                                                         [NC_BCAST] = NC_VAR_BCAST_GROUP,
                                                         [NC_ALLREDUCE] = NC_VAR_ALLREDUCE_GROUP};

    for (int i = 0; i < NC_DIRECTIONS; i++)
        MPIDI_NUMACOLL_level_spec(specs[i], MPIDI_NUMACOLL_setting(parent, entry, specs[i]),
                                  &c->spec[i]);
    /* cannot fail: what a text means depends on nothing but the text, and only texts that were
     * parsed are kept */
    nc_links_parse(&c->links,
                   MPIDI_NUMACOLL_text(MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_LINKS)));
    c->chunk_bytes = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_WINDOW);
}

#define NC_SAME(NAME, word, ...) \
    _Static_assert(MPIR_CVAR_NUMACOLL_BARRIER_##word == 1 + (int) NC_BARRIER_##NAME, \
                   "cvars.yaml lists them as nc_select.h does, behind auto");
NC_BARRIERS(NC_SAME)
#undef NC_SAME

/* The tree for each word of BARRIER_GROUP. */
static const struct nc_tree_spec barrier_trees[NC_WORDS_BARRIER_GROUP] = {
    [NC_WORD_BARRIER_GROUP_flat] = {NC_TREE_FLAT, 2},
    [NC_WORD_BARRIER_GROUP_combining] = {NC_TREE_KARY, 2},
    [NC_WORD_BARRIER_GROUP_mcs] = {NC_TREE_KARY, 4},
    [NC_WORD_BARRIER_GROUP_tournament] = {NC_TREE_KNOMIAL, 2}};

static enum nc_barrier_kind barrier_kind_of(const struct MPIDI_NUMACOLL_comm *state,
                                            MPIR_Comm *parent, int entry)
{
    int value = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_BARRIER);
    struct nc_situation situation = MPIDI_NUMACOLL_situation(state);

    return value == MPIR_CVAR_NUMACOLL_BARRIER_auto ? nc_select_barrier(&situation, NULL)
                                                    : (enum nc_barrier_kind)(value - 1);
}

static void choose_barrier(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent, int entry,
                           const struct trees *memory, struct nc_choice *c)
{
    struct nc_tree_spec inside[NC_ROUTE_LEVELS];
    struct nc_barrier_levels levels = {.groups = &state->signals.groups, .inside = inside};
    int spec = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_BARRIER_GROUP);
    char *base = state->segment.base;

    choose_trees(NC_VAR_BARRIER_GROUP, spec, &state->signals, barrier_trees, inside);
    levels.flag = MPIDI_NUMACOLL_setting(parent, entry, NC_VAR_BARRIER_RELEASE) ==
                  MPIR_CVAR_NUMACOLL_BARRIER_RELEASE_flag;
    c->barrier_kind = barrier_kind_of(state, parent, entry);
    c->barrier = (struct nc_barrier){.region = state->region,
                                     .offset = state->queue.layout.flags,
                                     .row = base ? base + nc_layout_row((uint32_t) state->size)
                                                 : NULL,
                                     .rank = state->rank,
                                     .ranks = state->size,
                                     .waiter = &state->waiter};
    nc_barrier_shape(&c->barrier, memory->barrier, &nc_barrier_algorithms[c->barrier_kind],
                     &levels);
}

/* ---- all ---- */

void MPIDI_NUMACOLL_choose(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    state->in_rank_order = MPIDI_NUMACOLL_in_rank_order(parent);
    /* The writer of what fits a full ring does not have to wait for its readers. A direct message
     * is worth such a ring, see should_grow. */
    state->direct.above = (size_t) state->full.slots * state->full.slot_bytes;
    if (state->direct.above < NC_INLINE_BYTES)
        state->direct.above = NC_INLINE_BYTES;
    for (int entry = -1; entry < state->entries; entry++) {
        struct nc_choice *c = &state->choice[entry + 1];
        struct nc_arena arena = {.base = state->trees + (size_t) (entry + 1) * state->tree_bytes};
        struct trees memory;

        take_trees(&memory, state->size, &arena);
        choose_bcast(state, parent, entry, &memory, c);
        choose_reduce(state, parent, entry, &memory, c);
        choose_scan(state, &memory, c);
        choose_above(parent, entry, c);
        choose_barrier(state, parent, entry, &memory, c);
    }
}

int MPIDI_NUMACOLL_in_force(MPIR_Comm *comm, enum nc_setting setting, int value)
{
    const struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);
    const struct nc_transfer *t;

    if (!state || state->phase != NC_PHASE_READY || !state->segment.base)
        return value;
    t = &state->choice[0].transfer;
    switch (setting) {
        case NC_VAR_QUEUE_LENGTH:
            return (int) t->queue->geometry.slots;
        case NC_VAR_QUEUE_SETS:
            return (int) (t->queue->geometry.slots / t->queue->geometry.set_slots);
        case NC_VAR_FRAGMENT_SIZE:
            return value == 0 ? 0 : (int) t->largest_fragment;
        default:
            return value;
    }
}
