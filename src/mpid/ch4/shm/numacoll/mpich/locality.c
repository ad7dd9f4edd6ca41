/* Where the launcher has put the ranks of this node, by PMIx, if MPICH uses PMIx to talk to the
 * launcher. See locality.h. */

#include "locality.h"

#include "mpidimpl.h"
#include "../core/nc_locality.h"
#include "compat.h"

#if NC_PMIX

bool MPIDI_NUMACOLL_locality_get(int local_rank, int *unit)
{
    pmix_proc_t proc;
    pmix_info_t here;
    pmix_value_t *value = NULL;
    bool known;

    if (!PMIx_Initialized()) /* from 4.2 it is chosen at MPI_Init */
        return false;
    PMIX_PROC_CONSTRUCT(&proc);
    MPL_strncpy(proc.nspace, MPIR_pmi_job_id(), sizeof proc.nspace);
    proc.rank = (pmix_rank_t) MPIR_Process.node_local_map[local_rank];
    /* optional: take only what came with the job, do not wait for a launcher that does not say
     * it */
    PMIX_INFO_CONSTRUCT(&here);
    PMIX_INFO_LOAD(&here, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    if (PMIx_Get(&proc, PMIX_LOCALITY_STRING, &here, 1, &value) != PMIX_SUCCESS || !value)
        return false;
    known = value->type == PMIX_STRING && value->data.string &&
            nc_locality_parse(value->data.string, unit);
    PMIX_VALUE_RELEASE(value);
    return known;
}

#else

bool MPIDI_NUMACOLL_locality_get(int local_rank, int *unit)
{
    (void) local_rank, (void) unit;
    return false;
}

#endif
