/* What MPICH's selection files have answered: numacoll remembers, per communicator, that they chose
 * it for a call, and with which csel entry. Such a call again does not have to be looked up in the
 * files, which takes 150 instructions in each of two of them. A file's answer depends on the
 * communicator and on what is asked about a call here, and on nothing else that all ranks agree on;
 * what MPICH itself is to serve is not remembered. */

#ifndef NUMACOLL_ANSWERS_H_INCLUDED
#define NUMACOLL_ANSWERS_H_INCLUDED

#include "state.h"
#include "collectives.h"

/* What is asked about a call, the column `asked` of collectives.yaml. */
struct nc_asked {
    MPI_Aint count;      /* elements */
    MPI_Aint type_bytes; /* of one of them */
    MPI_Op op;           /* MPI_OP_NULL: none */
    int flag;            /* whether in place; in Reduce_scatter, whether all blocks are as long */
};

/* At most so many calls of a collective are remembered, each of another length in bits. */
enum { NC_ANSWERS = 16 };

/* entry: the number of the csel entry, -1: one without parameters; plus 2, so that 0 is none. */
struct nc_answers {
    struct nc_answer {
        struct nc_asked asked;
        int entry_plus_2;
    } of[NC_COLL_COUNT][NC_ANSWERS];
};

enum { NC_NO_ANSWER = -2 };

static inline struct nc_asked MPIDI_NUMACOLL_ask(MPI_Aint count, MPI_Datatype datatype, MPI_Op op,
                                                 bool flag)
{
    struct nc_asked asked = {.count = count, .op = op, .flag = flag};

    MPIR_Datatype_get_size_macro(datatype, asked.type_bytes);
    return asked;
}

static inline struct nc_answer *MPIDI_NUMACOLL_answer_place(struct nc_answers *answers,
                                                            enum nc_coll coll,
                                                            const struct nc_asked *asked)
{
    uint64_t bytes = (uint64_t) asked->count * (uint64_t) asked->type_bytes;

    return &answers->of[coll][__builtin_clzll(bytes | 1) % NC_ANSWERS];
}

/* The csel entry that the files have chosen for such a call on comm; NC_NO_ANSWER: it has to be
 * looked up. comm: an intracommunicator. Inline, because calls of a few bytes pass here. */
static inline int MPIDI_NUMACOLL_answered(MPIR_Comm *comm, enum nc_coll coll, struct nc_asked asked)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);
    const struct nc_answer *a = MPIDI_NUMACOLL_answer_place(state->answers, coll, &asked);

    if (a->asked.count != asked.count || a->asked.type_bytes != asked.type_bytes ||
        a->asked.op != asked.op || a->asked.flag != asked.flag)
        return NC_NO_ANSWER;
    state->stats.counts.answered += a->entry_plus_2 > 0;
    return a->entry_plus_2 - 2;
}

/* Whether anything has been answered for this communicator. */
static inline bool MPIDI_NUMACOLL_has_answers(MPIR_Comm *comm)
{
    const struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    return state && state->answers;
}

/* Remembers an answer, once the communicator's calls are served. Operations of the program are not
 * remembered: another one may get the handle of a freed one. Without memory for it nothing is. */
void MPIDI_NUMACOLL_remember(MPIR_Comm *comm, enum nc_coll coll, struct nc_asked asked, int entry);

/* Of counts[], one for each rank of comm: their sum; whether they are all the same. */
MPI_Aint MPIDI_NUMACOLL_asked_sum(const MPI_Aint *counts, const MPIR_Comm *comm);
bool MPIDI_NUMACOLL_asked_alike(const MPI_Aint *counts, const MPIR_Comm *comm);

#endif
