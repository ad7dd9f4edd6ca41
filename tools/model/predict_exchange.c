/* Of the command predict: Alltoall(v, w), whose ranks exchange blocks in pairs, and
 * Reduce_scatter(_block), whose ranks each combine their own block of what all have. See
 * predict.h. */

#include <err.h>

#include "predict.h"

/* A number of messages, one after the other. */
static double messages(double count, struct nc_model_link link, uint64_t m)
{
    return count * nc_model_message(link, m);
}

static struct nc_model_link far_line(const struct job *j)
{
    return predict_line(j, j->data.groups.levels - 1);
}

/* ---- alltoall ---- */

/* Each block by itself: a rank writes and reads one in each round. */
static double pairs(const struct job *j, uint64_t m)
{
    double seconds = nc_model_message(predict_own_copy(j), m);

    for (int rank = 1; rank < j->here.ranks; rank++)
        seconds += nc_model_message(predict_own_copy(j), m) +
                   nc_model_message(predict_line(j, job_level(j, 0, rank)), m);
    return seconds;
}

/* By rows: inside a NUMA node messages with a block for each row, then, sorted, between NUMA nodes
 * messages with a block for each rank of a row. */
static double rows_of_blocks(const struct job *j, uint64_t m)
{
    uint64_t rows = (uint64_t) job_rows(j), mates = (uint64_t) job_mates(j);
    struct nc_model_link own = predict_own_copy(j);

    return messages((double) (mates - 1), own, rows * m) +
           messages((double) (mates - 1), predict_line(j, 0), rows * m) +
           messages(1, own, rows * mates * m) + messages((double) (rows - 1), own, mates * m) +
           messages((double) (rows - 1), far_line(j), mates * m);
}

/* What a rank exchanges with ranks of other nodes. */
static double with_other_nodes(const struct job *j, uint64_t m)
{
    if (j->nodes.count < 2)
        return 0;
    return messages(j->cluster.locations.ranks - j->here.ranks,
                    job_link(j, j->nodes.groups.levels - 1), m);
}

void predict_alltoall(const struct job *j, struct table *t)
{
    uint64_t m = j->options->message;
    int rows = job_rows(j), mates = job_mates(j);
    bool equal = j->options->collective == ALLTOALL,
         possible = equal && rows > 1 && mates > 1 &&
                    m <= NC_ALLTOALL_ROWS_BYTES / (uint64_t) j->here.ranks,
         by_rows = equal && nc_select_alltoall_rows(rows, mates, m, NULL);
    const char *between = j->nodes.count > 1 ? "pairs" : "-";
    struct predicted p = {.fragment = predict_fragment(j, m),
                          .seconds = pairs(j, m) + with_other_nodes(j, m)};

    predict_row(j, t, between, "each block by itself", &p, !by_rows);
    if (possible) {
        p.seconds = rows_of_blocks(j, m) + with_other_nodes(j, m);
        predict_row(j, t, between, "by rows", &p, by_rows);
    }
}

/* ---- reduce_scatter ---- */

/* How often all ranks combine a piece of each block, so long that the pieces fill a ring. */
static double pieces(const struct job *j, uint64_t m)
{
    uint64_t ring = (uint64_t) j->geometry.slots * j->geometry.slot_bytes,
             piece = ring / (uint64_t) j->here.ranks;

    return (double) nc_frag_count(m, piece ? piece : 1);
}

/* To combine m bytes out of the slots of a rank beyond the line. */
static double combined(const struct job *j, struct nc_model_link line, double times, uint64_t m)
{
    struct nc_model_link both = predict_combining(j, line);

    return times * both.alpha + (double) m * both.beta;
}

static double own_blocks(const struct job *j, uint64_t m)
{
    double times = pieces(j, m), seconds;
    uint64_t others = (uint64_t) j->here.ranks - 1;

    seconds = nc_model_message(predict_own_copy(j), others * m);
    for (int rank = 1; rank < j->here.ranks; rank++)
        seconds += combined(j, predict_line(j, job_level(j, 0, rank)), times, m);
    return seconds;
}

static double rows_of_numbers(const struct job *j, uint64_t m)
{
    uint64_t rows = (uint64_t) job_rows(j), mates = (uint64_t) job_mates(j);
    struct nc_model_link own = predict_own_copy(j);
    double times = pieces(j, m);

    return messages(1, own, rows * mates * m) +
           (double) (mates - 1) * combined(j, predict_line(j, 0), times, rows * m) +
           messages(1, own, rows * m) + (double) (rows - 1) * combined(j, far_line(j), times, m);
}

/* The leader writes the node's part of a chunk, of which the last rank then reads its piece. */
static void add_scatter(stages *s, const struct job *j, uint64_t chunk)
{
    uint64_t part = chunk / (uint64_t) j->nodes.count, piece = part / (uint64_t) j->here.ranks;
    double seconds = nc_model_message(predict_own_copy(j), part) +
                     nc_model_message(far_line(j), piece);

    nc_pipeline_push(s, (struct nc_model_link){seconds, 0}, (struct nc_model_link){seconds, 0});
}

/* Several nodes, by chunks: up inside each node, to parts among the leaders, down. */
static struct predicted by_parts(const struct job *j, enum nc_algorithm algorithm, uint64_t vector)
{
    const uint64_t mib = 1 << 20;
    struct nc_model_link both = predict_combining(j, job_link(j, j->nodes.groups.levels - 1));
    double (*model)(struct nc_model_link, int, uint64_t) = algorithm == NC_RING ? nc_model_ring
                                                                                : nc_model_halves;
    uint64_t chunk = vector < NC_CHUNK ? vector : NC_CHUNK;
    stages all = {0};

    if (j->here.ranks > 1)
        predict_reduce_inside(&all, j, chunk);
    nc_pipeline_add(
        &all, predict_linear(model(both, j->nodes.count, 0), model(both, j->nodes.count, mib)), 1,
        1);
    if (j->here.ranks > 1)
        add_scatter(&all, j, chunk);
    return (struct predicted){.fragment = predict_fragment(j, chunk),
                              .chunk = NC_CHUNK,
                              .seconds = nc_pipeline_seconds(&all, vector, NC_CHUNK)};
}

static void add_across(const struct job *j, struct table *t, uint64_t vector)
{
    static const struct {
        const char *name;
        enum nc_algorithm algorithm;
    } ways[] = {{"rsag", NC_RSAG}, {"ring", NC_RING}};
    enum nc_algorithm own = nc_select_parts(job_link(j, j->nodes.groups.levels - 1), j->nodes.count,
                                            vector < NC_CHUNK ? vector : NC_CHUNK);

    if (!job_has_room_for_blocks(j))
        errx(WRONG_ARGUMENTS,
             "COLLECTIVE %s: must be of fewer ranks: a chunk has no room for a number of each "
             "block, so it is a Reduce and a Scatterv: predict reduce, predict scatterv",
             collective_names[j->options->collective]);
    for (int i = 0; i < 2; i++) {
        struct predicted p = by_parts(j, ways[i].algorithm, vector);
        predict_row(j, t, ways[i].name, "reduce, scatter", &p, ways[i].algorithm == own);
    }
}

void predict_reduce_scatter(const struct job *j, struct table *t)
{
    uint64_t m = j->options->message, vector = m * (uint64_t) j->cluster.locations.ranks;
    bool by_rows = nc_select_reduce_scatter_rows(job_rows(j), job_mates(j), NULL);
    struct predicted p = {.fragment = predict_fragment(j, vector), .seconds = own_blocks(j, m)};

    if (j->nodes.count > 1) {
        add_across(j, t, vector);
        return;
    }
    predict_row(j, t, "-", "each rank its own block", &p, !by_rows);
    if (by_rows) {
        p.seconds = rows_of_numbers(j, m);
        predict_row(j, t, "-", "by rows", &p, true);
    }
}
