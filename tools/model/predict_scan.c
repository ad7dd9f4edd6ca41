/* Of the command predict: Scan and Exscan, by the steps of core/nc_scan.h or along chains. See
 * predict.h. */

#include "predict.h"
#include "shm/nc_queue.h"

/* ---- inside a node ---- */

/* One step of a rank: its readers read what it copies in, and it combines what its sources have.
 * Where it only writes, its readers combine. */
static double step(const struct job *j, const struct nc_scan_step *s, int rank, uint64_t m)
{
    struct nc_model_link read = {0, 0};
    int sources = s->sources ? s->sources : s->readers > 0;
    stages all = {0};

    if (sources == 0)
        return 0;
    for (int i = 0; i < sources; i++) {
        int from = s->sources ? s->source[i] : s->reader[i];
        struct nc_model_link one = predict_combining(j, predict_line(j, job_level(j, from, rank)));
        read.alpha += one.alpha;
        read.beta += one.beta;
    }
    nc_pipeline_add(&all, predict_own_copy(j), 1, 1);
    nc_pipeline_push(&all, read, read);
    return nc_pipeline_seconds(&all, m, predict_fragment(j, m));
}

/* By the steps of the last rank, which is the last of its block and has as many sources as any. */
static double by_steps(const struct job *j, uint64_t m)
{
    int last = j->here.ranks - 1;
    struct nc_scan_plan plan = job_scan(j, j->options->collective == EXSCAN, last);
    double seconds = 0;

    for (int i = 0; i < plan.up + plan.across + plan.down; i++)
        seconds += step(j, &plan.step[i], last, m);
    return seconds;
}

/* Along the chain of all ranks in their order. Each but the last one copies its result out, too, if
 * it has one: the first one has none if `exclusive`, and the last one then combines nothing. */
static double along_chain(const struct job *j, uint64_t m)
{
    bool exclusive = j->options->collective == EXSCAN;
    struct nc_model_link own = predict_own_copy(j), last;
    int steps[NC_LEVELS + 1] = {0}, ranks = j->here.ranks;
    stages all = {0};

    for (int rank = 1; rank < ranks - 1; rank++)
        steps[job_level(j, rank - 1, rank)]++;
    nc_pipeline_add(&all, own, 1, exclusive ? 1 : 2);
    for (int l = 0; l < j->data.groups.levels; l++) {
        struct nc_model_link one = predict_combining(j, predict_line(j, l));
        struct nc_model_link period = {one.alpha, one.beta + own.beta};
        if (steps[l])
            nc_pipeline_push(
                &all, (struct nc_model_link){steps[l] * one.alpha, steps[l] * one.beta}, period);
    }
    last = predict_line(j, job_level(j, ranks - 2, ranks - 1));
    nc_pipeline_add(&all, exclusive ? last : predict_combining(j, last), 1, 1);
    return nc_pipeline_seconds(&all, m, job_chain_fragment(j, m));
}

static bool is_chain(const struct job *j, uint64_t m)
{
    return nc_select_scan(&j->situation, m, m <= NC_INLINE_BYTES, NULL) == NC_SCAN_CHAIN;
}

static double inside(const struct job *j, uint64_t m, bool chain)
{
    return j->here.ranks == 1 ? 0 : chain ? along_chain(j, m) : by_steps(j, m);
}

static void add_inside(const struct job *j, struct table *t, uint64_t m)
{
    static const char *const names[] = {[NC_SCAN_STEPS] = "steps", [NC_SCAN_CHAIN] = "chain"};

    for (int chain = 0; chain < 2; chain++) {
        struct predicted p = {.fragment = chain ? job_chain_fragment(j, m) : predict_fragment(j, m),
                              .seconds = inside(j, m, chain)};
        if (!chain || m > NC_INLINE_BYTES) /* inline messages have no chain */
            predict_row(j, t, "-", names[chain], &p, chain == is_chain(j, m));
    }
}

/* ---- between nodes ---- */

static struct nc_model_link between(const struct job *j)
{
    return predict_combining(j, job_link(j, j->nodes.groups.levels - 1));
}

/* Rounds of a scan by doubling. */
static int rounds(int members)
{
    int n = 0;

    while (1 << n < members)
        n++;
    return n;
}

/* Node by node: the ranks of each node scan a chunk, the last one of each the totals, of which it
 * then tells its node. A leader does all of it before the next chunk. */
static struct predicted by_nodes(const struct job *j, uint64_t m, bool chain)
{
    uint64_t chunk = m < NC_CHUNK ? m : NC_CHUNK;
    int nodes = j->nodes.count, first = chain ? nodes - 1 : rounds(nodes),
        other = chain ? 1 : rounds(nodes);
    bool has_chain = is_chain(j, chunk);
    double here = inside(j, chunk, has_chain), message = nc_model_message(between(j), chunk);
    stages all = {0}, told = {0};

    if (j->here.ranks > 1) {
        predict_bcast_inside(&told, j, chunk);
        here += nc_pipeline_seconds(&told, chunk, chunk ? chunk : 1);
    }
    nc_pipeline_push(&all, (struct nc_model_link){here + first * message, 0},
                     (struct nc_model_link){here + other * message, 0});
    return (struct predicted){.fragment = has_chain ? job_chain_fragment(j, chunk)
                                                    : predict_fragment(j, chunk),
                              .chunk = NC_CHUNK,
                              .seconds = nc_pipeline_seconds(&all, m, NC_CHUNK)};
}

static void add_by_nodes(const struct job *j, struct table *t, uint64_t m)
{
    static const char *const names[] = {[NC_SCAN_STEPS] = "doubling", [NC_SCAN_CHAIN] = "chain"};
    enum nc_scan_way own = nc_select_scan_nodes(j->nodes.count, nc_frag_count(m, NC_CHUNK), NULL);

    for (int way = 0; way < 2; way++) {
        struct predicted p = by_nodes(j, m, way == NC_SCAN_CHAIN);
        predict_row(j, t, names[way], "auto", &p, way == (int) own);
    }
}

/* All ranks among themselves, where those of a node do not follow each other. */
static void add_by_ranks(const struct job *j, struct table *t, uint64_t m)
{
    stages all = {0};
    struct predicted p = {.fragment = predict_fragment(j, m), .chunk = NC_CHUNK};

    nc_pipeline_add(&all, between(j), rounds(j->cluster.locations.ranks),
                    rounds(j->cluster.locations.ranks));
    p.seconds = nc_pipeline_seconds(&all, m, NC_CHUNK);
    predict_row(j, t, "doubling, of all ranks", "-", &p, true);
}

void predict_scan(const struct job *j, struct table *t)
{
    uint64_t m = j->options->message;

    if (j->nodes.count == 1)
        add_inside(j, t, m);
    else if (j->nodes.consecutive)
        add_by_nodes(j, t, m);
    else
        add_by_ranks(j, t, m);
}
