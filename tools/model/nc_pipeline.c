/* The time of pipelines. See nc_pipeline.h. */

#include "nc_pipeline.h"

void nc_pipeline_push(struct nc_pipeline_stages *p, struct nc_model_link latency,
                      struct nc_model_link period)
{
    if (p->count < NC_PIPELINE_STAGES)
        p->stage[p->count++] = (struct nc_pipeline_stage){latency, period};
}

void nc_pipeline_add(struct nc_pipeline_stages *p, struct nc_model_link step, double latency,
                     double period)
{
    nc_pipeline_push(p, (struct nc_model_link){latency * step.alpha, latency * step.beta},
                     (struct nc_model_link){period * step.alpha, period * step.beta});
}

struct nc_pipeline_tree nc_pipeline_go_through(const struct nc_tree *tree, int *memory)
{
    struct nc_pipeline_tree t = {.busiest = tree->first[1]};
    int *steps = memory, *depth = memory + tree->size;

    steps[0] = depth[0] = 0;
    for (int i = 0; i < tree->size; i++) { /* a parent is a lower rank than its children */
        for (int c = tree->first[i]; c < tree->first[i + 1]; c++) {
            int child = tree->child[c];
            steps[child] = steps[i] + c - tree->first[i] + 1;
            depth[child] = depth[i] + 1;
        }
        t.steps = steps[i] > t.steps ? steps[i] : t.steps;
        t.height = depth[i] > t.height ? depth[i] : t.height;
    }
    return t;
}

/* Of the slowest stage, for a chunk of c bytes. */
static double slowest(const struct nc_pipeline_stages *p, uint64_t c)
{
    double most = 0;

    for (int i = 0; i < p->count; i++) {
        double period = nc_model_message(p->stage[i].period, c);
        most = period > most ? period : most;
    }
    return most;
}

double nc_pipeline_seconds(const struct nc_pipeline_stages *p, uint64_t m, uint64_t c)
{
    uint64_t chunk = m < c ? m : c;
    double first = 0;

    for (int i = 0; i < p->count; i++)
        first += nc_model_message(p->stage[i].latency, chunk);
    return first + (double) (nc_frag_count(m, c) - 1) * slowest(p, chunk);
}

double nc_pipeline_pace(const struct nc_pipeline_stages *p, uint64_t m, uint64_t c)
{
    return (double) nc_frag_count(m, c) * slowest(p, m < c ? m : c);
}
