/* Compares what the processes of a communicator must have alike. See agree.h. */

#include "agree.h"

#include "choose.h"
#include "diag.h"
#include "report.h"
#include "selection_file.h"

/* The name of what differs: a setting, or NC_SETTING_COUNT + a selection file. */
static const char *name_of(int different)
{
    return different < NC_SETTING_COUNT
               ? MPIDI_NUMACOLL_variables[different].name
               : MPIDI_NUMACOLL_file_variable(different - NC_SETTING_COUNT);
}

/* The places of what is compared; before these the settings and the selection files. */
enum {
    PREPARED = 2 * NC_SETTING_COUNT + NC_SELECTION_FILES,
    NUMBER,
    OPERATIONS,
    NONBLOCKING,
    VALUES
};

static enum nc_keepers keepers_of(const int *highest, const int *lowest_negative)
{
    if (highest[NUMBER] == 0)
        return NC_KEPT_BY_NONE;
    if (highest[NUMBER] != -lowest_negative[NUMBER])
        return NC_KEPT_BY_SOME;
    if (highest[OPERATIONS] != -lowest_negative[OPERATIONS] ||
        highest[NONBLOCKING] != -lowest_negative[NONBLOCKING])
        return NC_KEPT_UNEQUALLY;
    return NC_KEPT_BY_ALL;
}

int MPIDI_NUMACOLL_agree_on_settings(MPIR_Comm *parent, MPIR_Comm *comm, enum nc_compared compared,
                                     struct nc_agreement *agreement)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    int both[2 * VALUES], *highest = both, *lowest_negative = both + VALUES;

    for (int i = 0; i < NC_SETTING_COUNT; i++) {
        bool counts = compared == NC_COMPARED_OF_CALLS
                          ? MPIDI_NUMACOLL_is_of_calls(i)
                          : MPIDI_NUMACOLL_variables[i].scope != NC_PER_PROCESS;
        both[2 * i] = counts ? MPIDI_NUMACOLL_comparable(i, MPIDI_NUMACOLL_setting(parent, -1, i))
                             : 0;
        both[2 * i + 1] = counts && MPIDI_NUMACOLL_setting_is_info(parent, i);
    }
    /* QUEUE_BUDGET=-1 stands for a share of each process's own memory, so the budget itself is
     * compared, in KiB. Each process has already allocated private memory by its budget. */
    if (both[2 * NC_VAR_QUEUE_BUDGET] < 0)
        both[2 * NC_VAR_QUEUE_BUDGET] = -(int) (MPIDI_NUMACOLL_budget_bytes(parent) / 1024);
    for (int f = 0; f < NC_SELECTION_FILES; f++)
        both[2 * NC_SETTING_COUNT + f] = (int) (MPIDI_NUMACOLL_file_checksum(f) >> 1);
    both[PREPARED] = agreement->prepared;
    both[NUMBER] = agreement->number;
    both[OPERATIONS] = agreement->operations[0];
    both[NONBLOCKING] = agreement->operations[1];
    for (int i = 0; i < VALUES; i++)
        lowest_negative[i] = -highest[i];
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, both, 2 * VALUES, NC_TYPE_INT,
                                                        MPI_MAX, comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    agreement->prepared = -lowest_negative[PREPARED];
    agreement->keepers = keepers_of(highest, lowest_negative);
    agreement->different = -1;
    for (int i = PREPARED - 1; i >= 0; i--) {
        if (highest[i] != -lowest_negative[i])
            agreement->different = i < 2 * NC_SETTING_COUNT ? i / 2 : i - NC_SETTING_COUNT;
    }
    if (agreement->prepared && agreement->different >= 0)
        MPIDI_NUMACOLL_complain(comm->rank,
                                "communicator of %d ranks: %s: must be the same on all ranks, as a "
                                "variable and as an info key, a file with the same text",
                                parent->local_size, name_of(agreement->different));

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* See agree.h. The reduction takes the highest reason, and the lowest slot as the highest of the
 * negative ones. */
int MPIDI_NUMACOLL_agree_on_nodes(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    int most[2] = {(int) state->reason, 0};
    struct nc_agreement a = {.prepared = true, .different = -1};
    const int *units;

    if (NC_NODES(parent) > 1) {
        /* the trees and chunks between nodes follow from these settings */
        mpi_errno = MPIDI_NUMACOLL_agree_on_settings(parent, parent, NC_COMPARED_OF_CALLS, &a);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (a.different >= 0 && state->reason == NC_REASON_NONE)
        state->reason = NC_REASON_SETTINGS;
    /* not there if the node's ranks could not set up */
    units = state->reason == NC_REASON_NONE ? state->units + state->rank * NC_LEVELS : NULL;
    if (state->reason == NC_REASON_NONE) {
        most[0] = MPIDI_NUMACOLL_hierarchy_reserve(&state->all, units, parent) ? NC_REASON_NONE
                                                                               : NC_REASON_PAGES;
        most[1] = -(int) state->choice[0].transfer.largest_fragment;
    }
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, most, 2, NC_TYPE_INT, MPI_MAX,
                                                        parent, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    state->asked = true;
    state->reason = (enum nc_reason) most[0];
    if (state->reason == NC_REASON_NONE) {
        state->smallest_slot = (size_t) -most[1];
        mpi_errno = MPIDI_NUMACOLL_hierarchy_make(
            &state->all, units, &state->inside,
            (unsigned) MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_LEVELS), parent);
        MPIR_ERR_CHECK(mpi_errno);
        state->agreed = true;
    } else {
        MPIDI_NUMACOLL_hierarchy_free(&state->all);
    }
    MPIDI_NUMACOLL_report_setup(state, parent);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
