/* What MPICH's selection files have answered. See answers.h. */

#include "answers.h"

#include "selection_file.h"

MPI_Aint MPIDI_NUMACOLL_asked_sum(const MPI_Aint *counts, const MPIR_Comm *comm)
{
    MPI_Aint sum = 0;

    for (int i = 0; i < comm->local_size; i++)
        sum += counts[i];
    return sum;
}

bool MPIDI_NUMACOLL_asked_alike(const MPI_Aint *counts, const MPIR_Comm *comm)
{
    for (int i = 1; i < comm->local_size; i++) {
        if (counts[i] != counts[0])
            return false;
    }
    return true;
}

bool MPIDI_NUMACOLL_files_answer(void)
{
    return MPIDI_NUMACOLL_files_are_given() || MPIDI_NUMACOLL_tuned;
}

void MPIDI_NUMACOLL_remember(MPIR_Comm *comm, enum nc_coll coll, struct nc_asked asked, int entry)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    if (!state->agreed || (asked.op != MPI_OP_NULL && !HANDLE_IS_BUILTIN(asked.op)) ||
        MPIDI_POSIX_COMM(comm, release_gather).num_collective_calls > 0)
        return;
    *MPIDI_NUMACOLL_answer_place(state->answers, coll, &asked) = (struct nc_answer){.asked = asked,
                                                                                    .entry = entry};
}
