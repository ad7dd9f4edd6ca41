/* What all programs of this folder share. test/mpi/run compiles and runs them; a program prints
 * " No Errors", as MPICH's own tests do, or the number of errors of all ranks. If NCTEST_CALLS is
 * set, rank 0 also prints `calls NAME NUMBER`: its calls that numacoll must have served, which the
 * runner compares with numacoll's report. */

#ifndef NCTEST_H_INCLUDED
#define NCTEST_H_INCLUDED

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "numacoll_table.h" /* made by maint/gencvars */

enum {
#define NC_NUMBER(name, Name, NAME, ...) NC_##NAME,
    NC_COLLECTIVES(NC_NUMBER)
#undef NC_NUMBER
        NC_COLLECTIVE_COUNT
};

static const char *const nc_names[NC_COLLECTIVE_COUNT] = {
#define NC_NAME(name, ...) #name,
    NC_COLLECTIVES(NC_NAME)
#undef NC_NAME
};
static int nc_rank, nc_size, nc_errors, nc_calls[NC_COLLECTIVE_COUNT];

/* Counts a call that is about to be made, unless numacoll does not serve it: one process only, or
 * an intercommunicator. */
static inline void nc_count(int collective, MPI_Comm comm)
{
    int size, inter;

    MPI_Comm_size(comm, &size);
    MPI_Comm_test_inter(comm, &inter);
    nc_calls[collective] += size > 1 && !inter;
}

static inline int nc_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int bytes = 0;

    if (count > 0)
        MPI_Type_size(type, &bytes);
    if (bytes > 0 || NC_EMPTY_BCAST_CALLS)
        nc_count(NC_BCAST, comm);
    return MPI_Bcast(buffer, count, type, root, comm);
}

static inline int nc_barrier(MPI_Comm comm)
{
    nc_count(NC_BARRIER, comm);
    return MPI_Barrier(comm);
}

/* Whether there are several nodes: simulated ones, or hosts (test/mpi/hosts). */
static inline int nc_several_nodes(void)
{
    return getenv("MPIR_CVAR_NUM_CLIQUES") || getenv("NCTEST_HOSTS");
}

/* Byte i of a message. */
static inline unsigned char nc_byte(size_t i, int seed)
{
    return (unsigned char) (i * 31 + (i >> 8) + (size_t) seed * 7);
}

/* Memory for messages. With SHARED_BUFFERS each piece is of malloc or of MPI_Alloc_mem, as is
 * drawn; then it is so long that it becomes a shared buffer. In a program that has called
 * nc_memory_begins some are this rank's part of a window; it has one thread. To be freed before
 * MPI_Finalize, or before nc_memory_ends. */
enum { NC_MEMORY_FRONT = 64, NC_MEMORY_SHARED = 65536, NC_MEMORY_WINDOW = 4 << 20 };

enum { NC_OF_MALLOC, NC_OF_ALLOC_MEM, NC_OF_WINDOW };

static struct {
    MPI_Win win;
    unsigned char *part; /* NULL: there is none */
    int taken;
} nc_memory_window;

static inline int nc_memory_is_shared(void)
{
    const char *on = getenv("MPIR_CVAR_NUMACOLL_SHARED_BUFFERS");

    return on && !strcmp(on, "on");
}

static inline int nc_memory_draw(size_t bytes)
{
    static _Thread_local unsigned drawn;

    drawn = drawn * 1103515245u + 12345u + (unsigned) nc_rank;
    if (!nc_memory_is_shared() || !(drawn >> 16 & 1))
        return NC_OF_MALLOC;
    return nc_memory_window.part && !nc_memory_window.taken && bytes <= NC_MEMORY_WINDOW &&
                   (drawn >> 17 & 1)
               ? NC_OF_WINDOW
               : NC_OF_ALLOC_MEM;
}

static inline void *nc_memory_alloc(size_t bytes)
{
    unsigned char *memory = NULL;
    int kind;

    bytes += NC_MEMORY_FRONT;
    kind = nc_memory_draw(bytes);
    if (kind == NC_OF_ALLOC_MEM) {
        MPI_Alloc_mem((MPI_Aint) (bytes < NC_MEMORY_SHARED ? NC_MEMORY_SHARED : bytes),
                      MPI_INFO_NULL, &memory);
    } else if (kind == NC_OF_WINDOW) {
        memory = nc_memory_window.part;
        nc_memory_window.taken = 1;
    } else {
        memory = malloc(bytes);
    }
    if (!memory)
        return NULL;
    memory[0] = (unsigned char) kind;
    return memory + NC_MEMORY_FRONT;
}

static inline void nc_memory_free(void *memory)
{
    unsigned char *front = (unsigned char *) memory - NC_MEMORY_FRONT;

    if (front[0] == NC_OF_ALLOC_MEM)
        MPI_Free_mem(front);
    else if (front[0] == NC_OF_WINDOW)
        nc_memory_window.taken = 0;
    else
        free(front);
}

/* Counts an error, and prints the first five of a rank. */
static inline void nc_fail(const char *what, long a, long b)
{
    if (nc_errors++ < 5)
        fprintf(stderr, "rank %d: %s (%ld, %ld)\n", nc_rank, what, a, b);
}

/* An open performance variable of numacoll. */
struct nc_pvar {
    char name[96];
    MPI_T_pvar_handle handle;
};

static MPI_T_pvar_session nc_pvar_session;

static inline void nc_pvars_start(void)
{
    int provided;

    if (nc_pvar_session)
        return;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&nc_pvar_session);
}

/* Opens all performance variables of numacoll, max at most. Returns how many. */
static inline int nc_pvars_open(struct nc_pvar *all, int max)
{
    int n, used = 0;

    nc_pvars_start();
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n && used < max; i++) {
        int length = sizeof all->name, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_pvar_get_info(i, all[used].name, &length, &verbosity, &class, &type, &names, NULL,
                            NULL, &bind, &readonly, &continuous, &atomic);
        if (!strncmp(all[used].name, "numacoll_", 9))
            MPI_T_pvar_handle_alloc(nc_pvar_session, i, NULL, &all[used++].handle, &count);
    }
    return used;
}

static inline void nc_pvar_open(struct nc_pvar *pvar, const char *name)
{
    int index = -1, count;

    nc_pvars_start();
    snprintf(pvar->name, sizeof pvar->name, "%s", name);
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) ||
        MPI_T_pvar_handle_alloc(nc_pvar_session, index, NULL, &pvar->handle, &count)) {
        fprintf(stderr, "no performance variable %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* What it has counted on this rank since it was opened. */
static inline unsigned long long nc_pvar_read(struct nc_pvar *pvar)
{
    unsigned long long value = 0;

    MPI_T_pvar_read(nc_pvar_session, pvar->handle, &value);
    return value;
}

/* The value that a performance variable of class level has on this rank at the moment. */
static inline unsigned long long nc_level(const char *name)
{
    MPI_T_pvar_handle handle;
    unsigned long long value = 0;
    int index, count;

    nc_pvars_start();
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index) ||
        MPI_T_pvar_handle_alloc(nc_pvar_session, index, NULL, &handle, &count)) {
        nc_fail("no performance variable", 0, 0);
        return 0;
    }
    MPI_T_pvar_read(nc_pvar_session, handle, &value);
    MPI_T_pvar_handle_free(nc_pvar_session, &handle);
    return value;
}

/* Between these two the calls that MPICH makes itself are counted, which numacoll serves as well as
 * the program's: how many, depends on MPICH's version and network module. The program makes none
 * there. */
static inline void nc_inside_begins(struct nc_pvar served[NC_COLLECTIVE_COUNT])
{
    for (int c = 0; c < NC_COLLECTIVE_COUNT; c++) {
        char name[sizeof served->name];
        snprintf(name, sizeof name, "numacoll_%s_calls", nc_names[c]);
        nc_pvar_open(&served[c], name);
    }
}

static inline void nc_inside_ends(struct nc_pvar served[NC_COLLECTIVE_COUNT])
{
    for (int c = 0; c < NC_COLLECTIVE_COUNT; c++) {
        nc_calls[c] += (int) nc_pvar_read(&served[c]);
        MPI_T_pvar_handle_free(nc_pvar_session, &served[c].handle);
    }
}

/* All ranks: nc_memory_alloc may use windows from the one to the other. */
static inline void nc_memory_begins(void)
{
    struct nc_pvar served[NC_COLLECTIVE_COUNT];

    if (!nc_memory_is_shared())
        return;
    nc_inside_begins(served);
    MPI_Win_allocate(NC_MEMORY_WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &nc_memory_window.part,
                     &nc_memory_window.win);
    nc_inside_ends(served);
}

static inline void nc_memory_ends(void)
{
    struct nc_pvar served[NC_COLLECTIVE_COUNT];

    if (!nc_memory_is_shared())
        return;
    nc_inside_begins(served);
    MPI_Win_free(&nc_memory_window.win);
    nc_inside_ends(served);
    nc_memory_window.part = NULL;
}

/* Prints on rank 0 those of n variables that are not 0: pvar NAME VALUE. */
static inline void nc_pvars_print(struct nc_pvar *all, int n)
{
    for (int i = 0; i < n && nc_rank == 0; i++) {
        unsigned long long value = nc_pvar_read(&all[i]);
        if (value)
            printf("pvar %s %llu\n", all[i].name, value);
    }
}

/* MPI_COMM_WORLD; if the program has the arguments KEY VALUE, a duplicate with this info key. */
static inline MPI_Comm nc_comm_with(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info info;

    if (argc > 2) {
        MPI_Info_create(&info);
        MPI_Info_set(info, argv[1], argv[2]);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
        MPI_Info_free(&info);
    }
    return comm;
}

static inline void nc_init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &nc_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nc_size);
}

/* For programs whose threads call MPI at the same time. */
static inline void nc_init_threads(int *argc, char ***argv)
{
    int provided;

    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &nc_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nc_size);
    if (provided < MPI_THREAD_MULTIPLE)
        nc_fail("no MPI_THREAD_MULTIPLE", provided, 0);
}

static inline void nc_print_calls(void)
{
    for (int c = 0; c < NC_COLLECTIVE_COUNT; c++) {
        if (nc_calls[c])
            printf("calls %s %d\n", nc_names[c], nc_calls[c]);
    }
}

/* The sum over all ranks, on rank 0 only. It uses messages, because numacoll may serve a reduction,
 * or a broadcast inside MPICH's own, and would count it. */
static inline unsigned long long nc_sum(unsigned long long mine)
{
    unsigned long long all = mine, other;

    if (nc_rank)
        MPI_Send(&mine, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    for (int r = 1; r < nc_size && nc_rank == 0; r++) {
        MPI_Recv(&other, 1, MPI_UNSIGNED_LONG_LONG, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        all += other;
    }
    return all;
}

/* Ends the program: prints the verdict and the calls. Returns the exit status. */
static inline int nc_finish(void)
{
    unsigned long long all = nc_sum((unsigned long long) nc_errors);

    if (nc_rank == 0) {
        if (all)
            printf(" Found %llu errors\n", all);
        else
            printf(" No Errors\n");
        if (getenv("NCTEST_CALLS"))
            nc_print_calls();
        fflush(stdout);
    }
    MPI_Finalize();
    return nc_errors != 0;
}

#endif
