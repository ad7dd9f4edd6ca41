/* numacoll-model: what the formulas of the papers say, and what the library chooses by them, for
 * machines that need not be there. main.c calls options.c, then the file of the command, which
 * fills a table, and then table.c or picture.c, which write it.
 *
 * Wrong arguments end the process with one line and status 2, by errx. Memory is freed when the
 * process ends. */

#ifndef MODEL_H_INCLUDED
#define MODEL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "common/cluster.h"
#include "core/nc_level_spec.h"
#include "core/nc_nodes.h"
#include "core/nc_route.h"
#include "core/nc_scan.h"
#include "core/nc_select.h"
#include "model/nc_model_papers.h"

enum { WRONG_ARGUMENTS = 2 }; /* exit status */

/* ---- options.c ---- */

enum command { QUEUE, TREE, BARRIER, MESSAGES, PREDICT, WHY, COMMANDS };
enum output { OUTPUT_TEXT, OUTPUT_CSV, OUTPUT_JSON };

/* What a table has a row for each value of. */
enum over {
    OVER_NOTHING,
    OVER_FRAGMENT,
    OVER_SLOTS,
    OVER_MESSAGE,
    OVER_SEGMENT,
    OVER_DEGREE,
    OVER_RANKS
};

/* The collectives: X(NAME, name). messages knows those up to ALLREDUCE; why and predict take one
 * that they do not mention for one with nothing to choose. */
#define COLLECTIVE_ROWS(X) \
    X(BCAST, bcast) \
    X(REDUCE, reduce) \
    X(ALLREDUCE, allreduce) \
    X(SCATTER, scatter) \
    X(SCATTERV, scatterv) \
    X(GATHER, gather) \
    X(GATHERV, gatherv) \
    X(ALLGATHER, allgather) \
    X(ALLGATHERV, allgatherv) \
    X(ALLTOALL, alltoall) \
    X(ALLTOALLV, alltoallv) \
    X(ALLTOALLW, alltoallw) \
    X(REDUCE_SCATTER, reduce_scatter) \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block) \
    X(SCAN, scan) \
    X(EXSCAN, exscan) \
    X(BARRIERS, barrier)

enum collective {
#define NUMBER(NAME, name) NAME,
    COLLECTIVE_ROWS(NUMBER)
#undef NUMBER
        COLLECTIVES
};

/* The algorithms of tree, a bit each. */
enum tree {
    TREE_LINEAR,
    TREE_KARY,
    TREE_BALANCED,
    TREE_KNOMIAL,
    TREE_CHAIN,
    TREE_PIPELINED_BINARY,
    TREE_PIPELINED_BINOMIAL,
    TREE_SCATTER_ALLGATHER,
    TREES
};

struct options {
    enum command command;
    enum output output;
    const char *plot; /* a file, or NULL */
    enum over over;
    uint64_t given;          /* a bit for each option that is given */
    uint64_t from, to, step; /* of what a table is over; step 0: the next is the double */
    uint64_t message;        /* bytes */
    /* queue: 0 where not given */
    uint64_t fragment, slots, queue, sets;
    bool table;
    struct nc_model_costs costs;
    /* tree */
    int ranks, degree; /* degree 0: the best; of predict: no rows beside those of degree 2 */
    unsigned trees;
    struct nc_model_link link;
    /* barrier, messages, predict, why */
    struct cluster_options cluster;
    enum collective collective;
    struct nc_links lines; /* inside a node: seconds to fetch a line, and to copy a byte */
    struct nc_links links; /* between nodes */
    double turn;           /* seconds that a line is busy with each rank that fetches it */
    double combine;        /* seconds to combine a byte */
    double memory;         /* seconds that a NUMA node's memory takes for a byte */
    double call;           /* seconds of a call, beside what is predicted */
    double cached;         /* seconds more to copy a byte that streaming stores did not write */
    uint64_t streaming; /* bytes above which messages are written by streaming stores; 0: never */
    enum nc_frag_rule rule;
};

/* Parses the command line. Ends the process if a word is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/* What follows x in the rows of a table. */
static inline uint64_t options_next(const struct options *options, uint64_t x)
{
    return options->step ? x + options->step : 2 * x;
}

extern const char *const tree_names[TREES];
extern const char *const collective_names[COLLECTIVES];

/* ---- table.c ---- */

/* What a command has to say: facts, each with a name, and rows of equal columns. The text and JSON
 * have both; CSV and a picture have the rows. */
struct table;

struct table *table_make(const char *command);

/* A fact of the text or of a number. */
void table_fact(struct table *table, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_fact_number(struct table *table, const char *name, double value);

/* Appends a column. A curve is drawn in a picture, over the first column. */
void table_column(struct table *table, const char *name, bool curve);

/* Append cells, row by row. A labelled number is written as its label in the text. */
void table_text(struct table *table, const char *text);
void table_number(struct table *table, double value);
void table_labelled(struct table *table, double value, const char *label);

/* How a picture shows the table: curves over the first column, with logarithmic axes or not; or a
 * bar for each row, the first column its name. */
struct table_picture {
    bool bars, log_x, log_y, bytes; /* bytes: what x counts */
    const char *title, *x, *y;
};

void table_draw_as(struct table *table, const struct table_picture *picture);

int table_rows(const struct table *table);

/* Writes to standard output. */
void table_write(const struct table *table, enum output output);

/* What picture.c asks: a number, or the text of a cell. */
const struct table_picture *table_picture(const struct table *table);
int table_columns(const struct table *table);
const char *table_name(const struct table *table, int column);
bool table_is_curve(const struct table *table, int column);
double table_value(const struct table *table, int row, int column);
const char *table_label(const struct table *table, int row, int column);

/* Writes the first short facts, as far as there is room, to text[size]. */
void table_facts(const struct table *table, char *text, size_t size);

/* ---- picture.c ---- */

/* Draws the table. Ends the process if that is not possible. */
void picture_draw(const struct table *table, const char *file);

/* ---- job.c: what the library would set up ---- */

struct job {
    const struct options *options;
    struct cluster cluster;
    struct nc_locations here; /* of the ranks of the first node */
    struct nc_situation situation;
    struct nc_levels numa, data, signals; /* the groups of these ranks */
    struct nc_geometry geometry;          /* of the first communicator's segment, once it is used */
    struct nc_nodes nodes;
};

/* The trees by enum nc_tree_kind, as the settings call them, and which of them take a degree. */
extern const char *const job_trees[];
static inline bool job_has_degree(enum nc_tree_kind kind)
{
    return kind != NC_TREE_FLAT && kind != NC_TREE_CHAIN;
}

void job_make(struct job *job, const struct options *options);

/* Groups the ranks of the first node by a set of levels. */
void job_group(const struct job *job, unsigned levels, struct nc_levels *made);

/* The steps of a scan of one of these ranks, as the library makes them. */
struct nc_scan_plan job_scan(const struct job *job, bool exclusive, int rank);

/* What a message between two units of a level above the node costs. */
struct nc_model_link job_link(const struct job *job, int level);

/* Whether the job is a Scatter(v), whose fragments are longer. */
bool job_scatters(const struct job *job);

/* Bytes of a fragment of a message of m bytes, by the rule of the options: as in all but chains;
 * and along a chain of these ranks, as coll/reduce.c and coll/scan.c have it. */
uint64_t job_fragment(const struct job *job, uint64_t m);
uint64_t job_chain_fragment(const struct job *job, uint64_t m);

/* The NUMA nodes of these ranks if they are the rows of a table, all with the same number of ranks;
 * else 0. And the ranks of a row. */
int job_rows(const struct job *job);
int job_mates(const struct job *job);

/* Whether a chunk of a Reduce_scatter between nodes has room for a number, of 8 bytes, of each
 * block. */
bool job_has_room_for_blocks(const struct job *job);

/* The level of `data` that a line crosses on its way from one of these ranks to another. */
int job_level(const struct job *job, int from, int to);

/* Adds the facts that say which ranks and nodes there are. */
void job_describe(const struct job *job, struct table *table);

/* ---- the commands ---- */

void queue_fill(const struct options *options, struct table *table);
void tree_fill(const struct options *options, struct table *table);
void barrier_fill(const struct options *options, struct table *table);
void messages_fill(const struct options *options, struct table *table);
void predict_fill(const struct options *options, struct table *table);
void why_fill(const struct options *options, struct table *table);

#endif
