/* Pipelines: a message goes through stages in chunks. The formulas of time of the papers are
 * pipelines of one or two stages (test/unit/test_model_papers.c); numacoll-model composes those of
 * an algorithm that goes through the levels of a machine. */

#ifndef NC_PIPELINE_H_INCLUDED
#define NC_PIPELINE_H_INCLUDED

#include "core/nc_model.h"
#include "core/nc_tree.h"

/* What a stage takes for a chunk of c bytes: a + b c seconds. */
struct nc_pipeline_stage {
    struct nc_model_link latency; /* until the last process of the stage has the chunk */
    struct nc_model_link period;  /* how long its busiest process has to do with the chunk */
};

/* More than all levels need, once up and once down; further ones are not added. */
enum { NC_PIPELINE_STAGES = 64 };

struct nc_pipeline_stages {
    int count;
    struct nc_pipeline_stage stage[NC_PIPELINE_STAGES];
};

void nc_pipeline_push(struct nc_pipeline_stages *pipeline, struct nc_model_link latency,
                      struct nc_model_link period);

/* Appends a stage of `latency` steps, one after the other, of which the busiest process makes
 * `period`; each step takes what a message takes. */
void nc_pipeline_add(struct nc_pipeline_stages *pipeline, struct nc_model_link step, double latency,
                     double period);

/* How a tree works in which each process serves its children one after the other, in their order.
 */
struct nc_pipeline_tree {
    int steps;   /* that follow each other until the last process has been served */
    int busiest; /* steps of the root, which has more children than any other process, or as many */
    int height;  /* edges from the root to the last level */
};

/* Goes through a tree. memory: for 2 * tree->size ints. O(p). */
struct nc_pipeline_tree nc_pipeline_go_through(const struct nc_tree *tree, int *memory);

/* Seconds for m bytes in chunks of c > 0 bytes: the first chunk goes through all stages, the others
 * follow at the pace of the slowest. */
double nc_pipeline_seconds(const struct nc_pipeline_stages *pipeline, uint64_t m, uint64_t c);

/* Seconds from one message of m bytes to the next, if many follow each other. */
double nc_pipeline_pace(const struct nc_pipeline_stages *pipeline, uint64_t m, uint64_t c);

#endif
