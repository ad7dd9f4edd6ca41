/* What MPICH's selection files have answered: numacoll remembers, per communicator, that they chose
 * it for a call, and with which csel entry. Such a call again does not have to be looked up in two
 * files. A file's answer depends on the communicator and on what is asked about a call here. What
 * MPICH itself is to serve is not remembered. Nor is any more remembered once MPICH's
 * release_gather has been called on the communicator: it hands its first calls on, but not those
 * that follow. */

#ifndef NUMACOLL_ANSWERS_H_INCLUDED
#define NUMACOLL_ANSWERS_H_INCLUDED

#include "collectives.h"
#include "state.h"

/* What is asked about a call, the column `asked` of collectives.yaml. */
struct nc_asked {
    /* Elements, and bytes of one of them. Without an operation ranks may have other elements for as
     * many bytes: then they are bytes, so that all ranks ask alike. */
    size_t count, type_bytes;
    MPI_Op op; /* MPI_OP_NULL: none; 0 only where no answer is */
    int flag;  /* whether in place; in Reduce_scatter, whether all blocks are as long */
};

/* At most so many calls of a collective are remembered, each of another length in bits. */
enum { NC_ANSWERS = 8 };

/* Private memory. entry: the number of the csel entry, -1: one without parameters. */
struct nc_answers {
    struct nc_answer {
        struct nc_asked asked;
        int entry;
    } of[NC_COLL_COUNT][NC_ANSWERS];
};

static inline struct nc_asked MPIDI_NUMACOLL_ask(MPI_Aint count, MPI_Datatype datatype, MPI_Op op,
                                                 bool flag)
{
    MPI_Aint type_bytes;

    MPIR_Datatype_get_size_macro(datatype, type_bytes);
    return op == MPI_OP_NULL ? (struct nc_asked){(size_t) count * (size_t) type_bytes, 1, op, flag}
                             : (struct nc_asked){(size_t) count, (size_t) type_bytes, op, flag};
}

static inline struct nc_answer *MPIDI_NUMACOLL_answer_place(struct nc_answers *answers,
                                                            enum nc_coll coll,
                                                            const struct nc_asked *asked)
{
    uint64_t bytes = asked->count * asked->type_bytes;

    return &answers->of[coll][__builtin_clzll(bytes | 1) % NC_ANSWERS];
}

/* The answer for such a call on comm, an intracommunicator that MPIDI_NUMACOLL_has_answers of;
 * NULL: it has to be looked up. Inline, because calls of a few bytes pass here. */
static inline const struct nc_answer *MPIDI_NUMACOLL_answered(MPIR_Comm *comm, enum nc_coll coll,
                                                              struct nc_asked asked)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);
    const struct nc_answer *a = MPIDI_NUMACOLL_answer_place(state->answers, coll, &asked);

    if (a->asked.count != asked.count || a->asked.type_bytes != asked.type_bytes ||
        a->asked.op != asked.op || a->asked.flag != asked.flag)
        return NULL;
    state->stats.counts.answered++;
    return a;
}

/* Whether answers for this communicator may be remembered. */
static inline bool MPIDI_NUMACOLL_has_answers(MPIR_Comm *comm)
{
    const struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    return state && state->answers;
}

/* Whether there are files that answer. */
bool MPIDI_NUMACOLL_files_answer(void);

/* Remembers an answer for a communicator that has_answers, once its calls are served. Operations of
 * the program are not remembered: another one may get the handle of a freed one. */
void MPIDI_NUMACOLL_remember(MPIR_Comm *comm, enum nc_coll coll, struct nc_asked asked, int entry);

/* Of counts[], one for each rank of comm: their sum; whether they are all the same. */
MPI_Aint MPIDI_NUMACOLL_asked_sum(const MPI_Aint *counts, const MPIR_Comm *comm);
bool MPIDI_NUMACOLL_asked_alike(const MPI_Aint *counts, const MPIR_Comm *comm);

#endif
