/* See meeting.h. By MPIDU_Init_shm where MPICH has it at MPI_Init; otherwise by messages on the
 * node_comm of the first communicator, and memory of a process that the others can open. */

#define _GNU_SOURCE
#include "meeting.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../core/nc_layout.h"
#include "backing.h"
#include "compat.h"

#if NC_MEET_BY_COMM
static MPIR_Comm *node_comm;
static size_t shared_bytes;

void MPIDI_NUMACOLL_meeting_begin(MPIR_Comm *comm)
{
    node_comm = comm->node_comm;
}

int MPIDI_NUMACOLL_meeting_exchange(const void *mine, size_t bytes, void *all, size_t stride)
{
    NC_ERRFLAG_LOCAL(errflag);
    struct letter {
        int from; /* local rank: the ranks of node_comm may be in another order */
        char text[NC_MEETING_BYTES];
    } letter = {.from = MPIR_Process.local_rank}, *letters;
    int mpi_errno = MPI_SUCCESS, n = MPIR_Process.local_size;

    letters = MPL_malloc((size_t) n * sizeof *letters, MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!letters, mpi_errno, MPI_ERR_OTHER, "**nomem");
    memcpy(letter.text, mine, bytes);
    mpi_errno = MPIR_Allgather_intra_brucks(&letter, sizeof letter, NC_TYPE_BYTE, letters,
                                            sizeof letter, NC_TYPE_BYTE, node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < n; i++)
        memcpy((char *) all + (size_t) letters[i].from * stride, letters[i].text, bytes);

fn_exit:
    MPL_free(letters);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_meeting_wait(void)
{
    NC_ERRFLAG_LOCAL(errflag);

    return node_comm ? MPIR_Barrier_intra_dissemination(node_comm, errflag) : MPI_SUCCESS;
}

/* fd -1: memory of this process. NULL: refused. */
static void *map(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Shares a file of local rank 0, which the others open. *memory: NULL on all processes if one of
 * them cannot. */
static int share_file(enum nc_backing kind, size_t bytes, void **memory)
{
    struct place {
        int pid, fd;
        bool mapped;
        char path[NC_PATH_BYTES];
    } mine = {.pid = getpid(), .fd = -1}, *all;
    int mpi_errno = MPI_SUCCESS, fd = -1, n = MPIR_Process.local_size;
    const char *path = mine.path;
    _Static_assert(sizeof mine <= NC_MEETING_BYTES, "one exchange");
    bool everywhere = true;

    *memory = NULL;
    all = MPL_malloc((size_t) n * sizeof *all, MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!all, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (MPIR_Process.local_rank == 0) {
        fd = MPIDI_NUMACOLL_backing_make(kind, mine.path);
        if (fd >= 0 && MPIDI_NUMACOLL_backing_set_size(kind, fd, bytes))
            mine.fd = fd;
        else if (fd >= 0 && kind == NC_BACKING_NAMED_FILE)
            MPIDI_NUMACOLL_backing_unname(fd, mine.path);
    }
    mpi_errno = MPIDI_NUMACOLL_meeting_exchange(&mine, sizeof mine, all, sizeof *all);
    MPIR_ERR_CHECK(mpi_errno);
    path = all[0].path;
    if (MPIR_Process.local_rank != 0 && all[0].fd >= 0)
        fd = MPIDI_NUMACOLL_backing_open(kind, all[0].pid, all[0].fd, path, bytes);
    if (fd >= 0 && all[0].fd >= 0)
        *memory = map(fd, bytes);
    mine.mapped = *memory;
    mpi_errno = MPIDI_NUMACOLL_meeting_exchange(&mine, sizeof mine, all, sizeof *all);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < n; i++)
        everywhere = everywhere && all[i].mapped;
    if (*memory && !everywhere) {
        munmap(*memory, bytes);
        *memory = NULL;
    }

fn_exit:
    /* every process removes the name, see make_and_attach in segment.c */
    if (fd >= 0 && kind == NC_BACKING_NAMED_FILE)
        MPIDI_NUMACOLL_backing_unname(fd, path);
    if (fd >= 0)
        close(fd);
    MPL_free(all);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_meeting_share(size_t bytes, void **memory)
{
    int mpi_errno = MPI_SUCCESS;

    shared_bytes = bytes;
    if (!node_comm) {
        *memory = map(-1, bytes);
        goto fn_exit;
    }
    *memory = NULL;
    for (int kind = NC_BACKING_MEMFD; kind < NC_BACKING_COUNT && !*memory; kind++) {
        mpi_errno = share_file(kind, bytes, memory);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_meeting_unshare(void *memory)
{
    munmap(memory, shared_bytes);
}
#else
_Static_assert(NC_MEETING_BYTES <= MPIDU_INIT_SHM_BLOCK_SIZE, "one exchange of MPICH's");

void MPIDI_NUMACOLL_meeting_begin(MPIR_Comm *comm)
{
    (void) comm;
}

int MPIDI_NUMACOLL_meeting_exchange(const void *mine, size_t bytes, void *all, size_t stride)
{
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = MPIDU_Init_shm_put((void *) mine, bytes);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDU_Init_shm_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    for (int r = 0; r < MPIR_Process.local_size; r++) {
        mpi_errno = MPIDU_Init_shm_get(r, bytes, (char *) all + (size_t) r * stride);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = MPIDU_Init_shm_barrier();
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_meeting_wait(void)
{
    return MPIDU_Init_shm_barrier();
}

/* To a process that is alone on its node MPICH gives memory that is neither zeroed nor at a line.
 */
static bool is_alone(void)
{
    return MPIR_Process.local_size == 1;
}

int MPIDI_NUMACOLL_meeting_share(size_t bytes, void **memory)
{
    int mpi_errno = MPI_SUCCESS;

    if (!is_alone())
        return MPIDU_Init_shm_alloc(bytes, memory);
    *memory = aligned_alloc(NC_LINE, bytes);
    MPIR_ERR_CHKANDJUMP(!*memory, mpi_errno, MPI_ERR_OTHER, "**nomem");
    memset(*memory, 0, bytes);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_meeting_unshare(void *memory)
{
    if (is_alone())
        free(memory);
    else
        MPIDU_Init_shm_free(memory);
}
#endif
