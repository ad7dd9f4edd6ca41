/* What the files of the command predict share: predict.c, and, for collectives with rows of their
 * own, predict_exchange.c and predict_scan.c. See model.h. */

#ifndef PREDICT_H_INCLUDED
#define PREDICT_H_INCLUDED

#include "model.h"
#include "model/nc_pipeline.h"

typedef struct nc_pipeline_stages stages;

struct predicted {
    uint64_t fragment, chunk; /* bytes; chunk 0: there is one node */
    double seconds;
};

/* ---- predict.c ---- */

/* What a line costs across a level of `data`; and a copy in a rank's own memory. */
struct nc_model_link predict_line(const struct job *job, int level);
struct nc_model_link predict_own_copy(const struct job *job);

/* The same with elements that are combined. */
struct nc_model_link predict_combining(const struct job *job, struct nc_model_link link);

/* A time that is linear in bytes, known for 0 and for a MiB. */
struct nc_model_link predict_linear(double none, double mib);

/* Bytes of the fragments of a message of m bytes. */
uint64_t predict_fragment(const struct job *job, uint64_t m);

/* Append what a Reduce, or a Bcast, of m bytes takes inside the node as the library makes it, as
 * one stage. */
void predict_reduce_inside(stages *s, const struct job *job, uint64_t m);
void predict_bcast_inside(stages *s, const struct job *job, uint64_t m);

/* Adds what the call takes beside. */
void predict_row(const struct job *job, struct table *table, const char *between,
                 const char *inside, const struct predicted *predicted, bool is_auto);

/* ---- predict_exchange.c, predict_scan.c: all rows of a collective ---- */

void predict_alltoall(const struct job *job, struct table *table);
void predict_reduce_scatter(const struct job *job, struct table *table);
void predict_scan(const struct job *job, struct table *table);

#endif
