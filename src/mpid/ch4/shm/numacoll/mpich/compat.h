/* Differences between the MPICH versions 4.0 to 5.0, hidden behind macros. The only file that tests
 * the version (MPICH_NUMVERSION of mpi.h). */

#ifndef NUMACOLL_COMPAT_H_INCLUDED
#define NUMACOLL_COMPAT_H_INCLUDED

/* ---- the error flag of a collective ---- */

#if MPICH_NUMVERSION < 40200000
/* by address */
#define NC_ERRFLAG_T MPIR_Errflag_t *
#define NC_ERRFLAG_LOCAL(name) \
    MPIR_Errflag_t name##_value = MPIR_ERR_NONE; \
    MPIR_Errflag_t *name = &name##_value
#define NC_WAITALL(n, requests, statuses, errflag) MPIC_Waitall(n, requests, statuses, errflag)
#else
#if MPICH_NUMVERSION < 50000000
#define NC_ERRFLAG_T           MPIR_Errflag_t
#define NC_ERRFLAG_LOCAL(name) MPIR_Errflag_t name = MPIR_ERR_NONE
#else
/* attributes of the call instead */
#define NC_ERRFLAG_T           int
#define NC_ERRFLAG_LOCAL(name) int name = 0
#endif
#define NC_WAITALL(n, requests, statuses, errflag) \
    ((void) (errflag), MPIC_Waitall(n, requests, statuses))
#endif

/* ---- packing ---- */

#if MPICH_NUMVERSION < 40100000
#define NC_TYPEREP_PACK(in, count, type, offset, out, max, actual) \
    MPIR_Typerep_pack(in, count, type, offset, out, max, actual)
#define NC_TYPEREP_UNPACK(in, size, out, count, type, offset, actual) \
    MPIR_Typerep_unpack(in, size, out, count, type, offset, actual)
#else
#define NC_TYPEREP_PACK(in, count, type, offset, out, max, actual) \
    MPIR_Typerep_pack(in, count, type, offset, out, max, actual, MPIR_TYPEREP_FLAG_NONE)
#define NC_TYPEREP_UNPACK(in, size, out, count, type, offset, actual) \
    MPIR_Typerep_unpack(in, size, out, count, type, offset, actual, MPIR_TYPEREP_FLAG_NONE)
#endif

/* ---- PMIx ----
 *
 * Whether MPICH may talk to the launcher by OpenPMIx. 4.2 and 4.3 say ENABLE_PMIX for a small
 * client of their own too, which has no PMIX_INFO_LOAD. */

#if defined USE_PMIX_API || (defined ENABLE_PMIX && defined PMIX_INFO_LOAD)
#define NC_PMIX 1
#else
#define NC_PMIX 0
#endif

/* ---- schedules ----
 *
 * Adds a vertex to a schedule (MPIR_TSP) that calls function(communicator, tag, data) when vertex
 * `after` is complete; an error that it returns is the request's. 4.0 returns the new vertex, later
 * versions an error. */

#if MPICH_NUMVERSION < 40100000
#define NC_SCHEDULE_CALL(function, data, schedule, after) \
    ((void) MPIR_TSP_sched_cb(function, data, schedule, 1, &(after)), MPI_SUCCESS)
#else
#define NC_SCHEDULE_CALL(function, data, schedule, after) \
    MPIR_TSP_sched_cb(function, data, schedule, 1, &(after), &(int){0})
#endif

/* ---- progress ---- */

/* Whether the shared-memory module has a message that waits for a free cell. Another thread may be
 * about to change that. */
#if MPICH_NUMVERSION < 40100000
#define NC_QUEUES MPIDI_POSIX_global.num_vsis
#define NC_POSTPONED(i) \
    (__atomic_load_n(&MPIDI_POSIX_global.per_vsi[i].postponed_queue, __ATOMIC_RELAXED) != NULL)
#else
#define NC_QUEUES MPIDI_global.n_vcis
#define NC_POSTPONED(i) \
    (__atomic_load_n(&MPIDI_POSIX_global.per_vci[i].postponed_queue, __ATOMIC_RELAXED) != NULL)
#endif

/* how many requests have completed on a VCI, at least so far that it changes when one does;
 * from 4.2 nobody counts them */
#if MPICH_NUMVERSION < 40200000
#define NC_COMPLETED(vci) MPL_atomic_relaxed_load_int(&MPIDI_VCI(vci).progress_count)
#else
#define NC_COMPLETED(vci) 0
#endif

/* whether MPI_Bcast and MPI_Ibcast of count 0 return before MPICH asks for an algorithm */
#define NC_EMPTY_BCAST_RETURNS (MPICH_NUMVERSION >= 40100000)

/* whether MPICH asks MPI_COMM_SELF's error handler where a communicator has none, before
 * MPI_COMM_WORLD's */
#define NC_ERRORS_OF_SELF (MPICH_NUMVERSION >= 40200000)

#if MPICH_NUMVERSION < 40300000
#define NC_PROGRESS_HOOK_PARAMS                 int *made_progress
#define NC_PROGRESS_HOOK_REGISTER(function, id) MPIR_Progress_hook_register(function, id)
#else
#define NC_PROGRESS_HOOK_PARAMS                 int vci, int *made_progress
#define NC_PROGRESS_HOOK_REGISTER(function, id) MPIR_Progress_hook_register(-1, function, id)
#endif

/* ---- start ----
 *
 * From 5.0 the processes of a node cannot meet at MPI_Init by MPIDU_Init_shm: they do when the
 * first communicator is made that all of them are in. is_first: whether it is that one. */

#if MPICH_NUMVERSION < 50000000
#define NC_MEET_BY_COMM   0
#define NC_IS_FIRST(comm) false
#define NC_SELECTS(comm)  true
#else
#define NC_MEET_BY_COMM 1
#define NC_IS_FIRST(comm) \
    ((comm)->attr & MPIR_COMM_ATTR__BOOTSTRAP && (comm)->num_local == MPIR_Process.local_size)
/* while a communicator is made, it has no algorithms to select from */
#define NC_SELECTS(comm) ((comm)->csel_comm != NULL)
#endif

/* ---- the exchange of addresses at the start ----
 *
 * How many nodes take part, a barrier of the processes of each node, and the communicator of the
 * nodes' roots, NULL in other processes. */

#if MPICH_NUMVERSION < 50000000
#define NC_START_NODES(comm)                 MPIR_Process.num_nodes
#define NC_START_NODE_BARRIER(comm, errflag) MPIDU_Init_shm_barrier()
#define NC_START_ROOTS(comm)                 (comm)
#else
#define NC_START_NODES(comm) ((comm)->num_external)
#define NC_START_NODE_BARRIER(comm, errflag) \
    MPIR_Barrier_fallback(MPIR_Comm_get_node_comm(comm), errflag)
#define NC_START_ROOTS(comm) ((comm)->local_rank == 0 ? MPIR_Comm_get_node_roots_comm(comm) : NULL)
#endif

/* ---- communicators and their nodes ----
 *
 * leaders: the communicator of the nodes' leaders, NULL in other processes; if each process is on a
 * node of its own, MPICH makes none. may_lack_nodes: MPICH has looked for the nodes of this
 * communicator's processes, and may not know those of another MPI_COMM_WORLD. nodes: how many
 * nodes; node_of: the number of a rank's node. numbered: MPICH ends the making of the communicator
 * by a broadcast of its sequence number, `seq`, which is 0 until then. get_world: which
 * MPI_COMM_WORLD a rank is of, 0 for this process's own; get_process: which process there. */

#if MPICH_NUMVERSION < 50000000
#define NC_NODES(comm) ((comm)->node_count)
#define NC_LEADERS(comm) \
    ((comm)->node_count == (comm)->local_size ? (comm) : (comm)->node_roots_comm)
#define NC_NODE_OF(comm, rank) ((comm)->internode_table[rank])
#define NC_IS_NUMBERED(comm)   (!HANDLE_IS_BUILTIN((comm)->handle) && !(comm)->tainted)

/* If every process is on a node of its own, MPICH makes no node_comm and leaves the hierarchy FLAT,
 * but it fills the tables of nodes. */
#define NC_KNOWS_NODES(comm) \
    ((comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__PARENT || \
     ((comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__FLAT && (comm)->internode_table && \
      (comm)->intranode_table && (comm)->node_count == (comm)->local_size))

#define NC_MAY_LACK_NODES(comm) ((comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__FLAT)

#define NC_GET_WORLD(comm, rank, world) \
    do { \
        int number; \
        MPIDIU_comm_rank_to_pid(comm, rank, &number, &(world)); \
    } while (0)
#define NC_GET_PROCESS(comm, rank, process) \
    do { \
        int world; \
        MPIDIU_comm_rank_to_pid(comm, rank, &(process), &world); \
    } while (0)
#else
#define NC_NODES(comm)          ((comm)->num_external)
#define NC_LEADERS(comm)        NC_START_ROOTS(comm)
/* which only reads */
#define NC_NODE_OF(comm, rank)  MPIR_Get_internode_rank((MPIR_Comm *) (comm), rank)
#define NC_IS_NUMBERED(comm)    (!HANDLE_IS_BUILTIN((comm)->handle) && (comm)->vcis_enabled)
#define NC_KNOWS_NODES(comm)    (((comm)->attr & MPIR_COMM_ATTR__HIERARCHY) != 0)
#define NC_MAY_LACK_NODES(comm) false
#define NC_GET_WORLD(comm, rank, world) \
    ((world) = (int) MPIR_LPID_WORLD_INDEX(MPIR_comm_rank_to_lpid(comm, rank)))
#define NC_GET_PROCESS(comm, rank, process) \
    ((process) = (int) MPIR_LPID_WORLD_RANK(MPIR_comm_rank_to_lpid(comm, rank)))
#endif

/* ---- datatypes ----
 *
 * From 5.0 MPICH's functions want types of its own where an application has MPI_INT and MPI_BYTE,
 * and a type that an application has given comes as one of them. X(type, C type) for those whose
 * numbers nc_combine knows; a type is looked up by NC_RAW_TYPE. */

#if MPICH_NUMVERSION < 50000000
#define NC_TYPE_INT           MPI_INT
#define NC_TYPE_BYTE          MPI_BYTE
#define NC_RAW_TYPE(datatype) (datatype)
#ifdef HAVE_FORTRAN_BINDING
#define NC_FORTRAN_INTEGERS(X) X(MPI_INTEGER, MPI_Fint)
#define NC_FORTRAN_REALS(X)    X(MPI_REAL) X(MPI_DOUBLE_PRECISION)
#else
#define NC_FORTRAN_INTEGERS(X)
#define NC_FORTRAN_REALS(X)
#endif
#define NC_SIGNED_TYPES(X) \
    X(MPI_SIGNED_CHAR, signed char) \
    X(MPI_SHORT, short) \
    X(MPI_INT, int) \
    X(MPI_LONG, long) \
    X(MPI_LONG_LONG, long long) \
    X(MPI_INT8_T, int8_t) \
    X(MPI_INT16_T, int16_t) \
    X(MPI_INT32_T, int32_t) \
    X(MPI_INT64_T, int64_t) \
    X(MPI_AINT, MPI_Aint) \
    X(MPI_OFFSET, MPI_Offset) \
    X(MPI_COUNT, MPI_Count) \
    NC_FORTRAN_INTEGERS(X)
#define NC_UNSIGNED_TYPES(X) \
    X(MPI_UNSIGNED_CHAR, unsigned char) \
    X(MPI_UNSIGNED_SHORT, unsigned short) \
    X(MPI_UNSIGNED, unsigned) \
    X(MPI_UNSIGNED_LONG, unsigned long) \
    X(MPI_UNSIGNED_LONG_LONG, unsigned long long) \
    X(MPI_UINT8_T, uint8_t) \
    X(MPI_UINT16_T, uint16_t) \
    X(MPI_UINT32_T, uint32_t) \
    X(MPI_UINT64_T, uint64_t)
#define NC_FLOATING_TYPES(X) X(MPI_FLOAT) X(MPI_DOUBLE) NC_FORTRAN_REALS(X)
#else
#define NC_TYPE_INT           MPIR_INT_INTERNAL
#define NC_TYPE_BYTE          MPIR_BYTE_INTERNAL
#define NC_RAW_TYPE(datatype) MPIR_DATATYPE_GET_RAW_INTERNAL(datatype)
#define NC_SIGNED_TYPES(X) \
    X(MPIR_INT8, int8_t) X(MPIR_INT16, int16_t) X(MPIR_INT32, int32_t) X(MPIR_INT64, int64_t)
#define NC_UNSIGNED_TYPES(X) \
    X(MPIR_UINT8, uint8_t) \
    X(MPIR_UINT16, uint16_t) \
    X(MPIR_UINT32, uint32_t) \
    X(MPIR_UINT64, uint64_t)
#define NC_FLOATING_TYPES(X) X(MPIR_FLOAT32) X(MPIR_FLOAT64)
#endif

#endif
