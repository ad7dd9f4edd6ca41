/* Tests collectives in memory of MPI_Alloc_mem that the ranks of a node share: buffers that are
 * freed right after the call and allocated anew, some of malloc, with gaps, in windows. At the end
 * rank 0 prints the performance variables that counted something: pvar NAME VALUE. Without a node
 * that has all ranks, or where sharing is refused, the data must be right as well.
 *
 *   shared_buffers [ROUNDS [shares]]     shares: long allreduces must go through shared buffers */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nctest.h"

enum { LONGEST = 3 << 20, GAP = 3, LONG = 2 << 20 }; /* bytes; LONG: longer than a queue */

static int shares;
static struct nc_pvar copied_shared;

static unsigned long drawn = 1; /* alike on all ranks */

static int draw(int below)
{
    drawn = drawn * 6364136223846793005ul + 1442695040888963407ul;
    return (int) ((drawn >> 33) % (unsigned) below);
}

static void fill(unsigned char *at, int bytes, int seed)
{
    for (int i = 0; i < bytes; i++)
        at[i] = nc_byte((size_t) i, seed);
}

/* stride: from one byte of the message to the next */
static void expect(const unsigned char *at, int bytes, int stride, int seed, const char *what)
{
    for (int i = 0; i < bytes; i++) {
        if (at[(size_t) i * (size_t) stride] != nc_byte((size_t) i, seed)) {
            nc_fail(what, i, seed);
            return;
        }
    }
}

/* The root frees its buffer, or fills it with something else, as soon as it may. Readers have gaps
 * now and then. */
static void broadcast(int round)
{
    int bytes = 1 + draw(LONGEST), root = draw(nc_size), freed = draw(2), gaps = draw(2);
    int stride = gaps && nc_rank != root ? GAP : 1;
    unsigned char *buffer = nc_memory_alloc((size_t) bytes * (size_t) stride);
    MPI_Datatype type = MPI_BYTE;

    if (stride > 1) {
        MPI_Type_create_resized(MPI_BYTE, 0, stride, &type);
        MPI_Type_commit(&type);
    }
    if (nc_rank == root)
        fill(buffer, bytes, round);
    nc_bcast(buffer, bytes, type, root, MPI_COMM_WORLD);
    if (nc_rank == root && !freed)
        memset(buffer, 0x55, (size_t) bytes);
    else if (nc_rank != root)
        expect(buffer, bytes, stride, round, "bcast");
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
    nc_memory_free(buffer);
}

/* Blocks of different lengths; what has been sent is overwritten at once. */
static void blocks(int round)
{
    int counts[nc_size], displs[nc_size], all = 0, root = draw(nc_size), most = LONGEST / nc_size;
    unsigned char *mine, *whole;

    for (int r = 0; r < nc_size; r++) {
        counts[r] = draw(most);
        displs[r] = all;
        all += counts[r];
    }
    mine = nc_memory_alloc((size_t) most);
    whole = nc_memory_alloc((size_t) all + 1);

    fill(mine, counts[nc_rank], round + nc_rank);
    nc_count(NC_GATHERV, MPI_COMM_WORLD);
    MPI_Gatherv(mine, counts[nc_rank], MPI_BYTE, whole, counts, displs, MPI_BYTE, root,
                MPI_COMM_WORLD);
    memset(mine, 0x55, (size_t) most);
    for (int r = 0; r < nc_size && nc_rank == root; r++)
        expect(whole + displs[r], counts[r], 1, round + r, "gatherv");

    for (int r = 0; r < nc_size && nc_rank == root; r++)
        fill(whole + displs[r], counts[r], round + 2 * r);
    nc_count(NC_SCATTERV, MPI_COMM_WORLD);
    MPI_Scatterv(whole, counts, displs, MPI_BYTE, mine, counts[nc_rank], MPI_BYTE, root,
                 MPI_COMM_WORLD);
    memset(whole, 0x55, (size_t) all);
    expect(mine, counts[nc_rank], 1, round + 2 * nc_rank, "scatterv");

    fill(whole + displs[nc_rank], counts[nc_rank], round + 3 * nc_rank);
    nc_count(NC_ALLGATHERV, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, whole, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < nc_size; r++)
        expect(whole + displs[r], counts[r], 1, round + 3 * r, "allgatherv in place");
    memset(whole, 0x55, (size_t) all);
    nc_memory_free(mine);
    nc_memory_free(whole);
}

/* An allreduce, or a reduce to `root` if that is not -1. */
static void reduce(const int *mine, int *result, int count, bool in_place, int root)
{
    if (root < 0) {
        nc_count(NC_ALLREDUCE, MPI_COMM_WORLD);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, result, count, MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
        return;
    }
    nc_count(NC_REDUCE, MPI_COMM_WORLD);
    MPI_Reduce(in_place ? MPI_IN_PLACE : mine, result, count, MPI_INT, MPI_SUM, root,
               MPI_COMM_WORLD);
}

/* Operands and results are all of MPI_Alloc_mem, or of malloc or MPI_Alloc_mem as is drawn on each
 * rank; or on each rank one buffer. */
static void reduction(int round)
{
    int count = 1 + draw(LONGEST / (int) sizeof(int)), alike = draw(2);
    int root = draw(2) ? draw(nc_size) : -1;
    bool has_result = root < 0 || root == nc_rank, in_place = draw(3) == 0 && has_result;
    size_t bytes = (size_t) count * sizeof(int);
    unsigned long long before = nc_pvar_read(&copied_shared);
    int *mine, *result = NULL;

    if (alike) {
        MPI_Alloc_mem((MPI_Aint) bytes, MPI_INFO_NULL, &mine);
        MPI_Alloc_mem((MPI_Aint) bytes, MPI_INFO_NULL, &result);
    } else {
        mine = nc_memory_alloc(bytes);
        result = nc_memory_alloc(bytes);
    }
    for (int i = 0; i < count; i++)
        (in_place ? result : mine)[i] = round + nc_rank * i;
    reduce(mine, has_result ? result : NULL, count, in_place, root);
    if (shares && alike && bytes > LONG && nc_pvar_read(&copied_shared) == before)
        nc_fail("a long reduction did not go through shared buffers", count, round);
    memset(mine, 0x55, bytes);
    for (int i = 0; i < count && has_result; i++) {
        if (result[i] != nc_size * round + nc_size * (nc_size - 1) / 2 * i) {
            nc_fail(root < 0 ? "allreduce" : "reduce", i, round);
            break;
        }
    }
    if (alike) {
        MPI_Free_mem(mine);
        MPI_Free_mem(result);
    } else {
        nc_memory_free(mine);
        nc_memory_free(result);
    }
}

/* A neighbour puts the message into the root's window, from where it is broadcast. */
static void window(int round)
{
    int bytes = 1 + draw(LONGEST), root = draw(nc_size), putter = (root + 1) % nc_size;
    int created = draw(2);
    unsigned char *buffer, *message = malloc((size_t) bytes);
    struct nc_pvar inside[NC_COLLECTIVE_COUNT];
    MPI_Win win;

    fill(message, bytes, round);
    nc_inside_begins(inside);
    if (created) {
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &buffer);
        MPI_Win_create(buffer, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &buffer, &win);
    }
    MPI_Win_fence(0, win);
    if (nc_rank == putter)
        MPI_Put(message, bytes, MPI_BYTE, root, 0, bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    nc_inside_ends(inside);
    nc_bcast(buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    expect(buffer, bytes, 1, round, "out of a window");
    nc_inside_begins(inside);
    MPI_Win_free(&win);
    nc_inside_ends(inside);
    if (created)
        MPI_Free_mem(buffer);
    free(message);
}

/* KiB of memory in the files of this process that others map: those behind its descriptors. */
static long shared_kib(void)
{
    char path[64], target[PATH_MAX];
    long kib = 0;
    DIR *all = opendir("/proc/self/fd");

    for (struct dirent *e; all && (e = readdir(all));) {
        struct stat st;
        ssize_t n;
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", e->d_name);
        n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (strstr(target, "memfd:numacoll") && stat(path, &st) == 0)
            kib += st.st_blocks / 2;
    }
    if (all)
        closedir(all);
    return kib;
}

/* Mappings of files in memory of numacoll; none that is so long that no buffer can be may be part
 * of a core dump, for which the kernel would fill it with memory. */
static int mappings(void)
{
    FILE *all = fopen("/proc/self/smaps", "r");
    char line[4096];
    int n = 0, ours = 0;
    unsigned long from, to, bytes = 0;

    while (all && fgets(line, sizeof line, all)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            ours = strstr(line, "/memfd:numacoll") != NULL;
            n += ours;
            bytes = to - from;
        }
        if (ours && bytes > 1ul << 30 && !strncmp(line, "VmFlags:", 8) && !strstr(line, " dd"))
            nc_fail("so many KiB may be dumped", (long) (bytes >> 10), 0);
    }
    if (all)
        fclose(all);
    return n;
}

/* Communicators map nothing for each of them that stays, but the segment of the first, which the
 * others go on with; after MPI_Finalize nothing is there, see main. */
static void communicators(void)
{
    int before = 0;

    for (int i = 0; i < 10; i++) {
        int n = 100000;
        unsigned char *buffer = nc_memory_alloc((size_t) n);
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        fill(buffer, n, i);
        for (int k = 0; k < 3; k++)
            nc_bcast(buffer, n, MPI_BYTE, k % nc_size, comm);
        expect(buffer, n, 1, i, "on a duplicate");
        MPI_Comm_free(&comm);
        nc_memory_free(buffer);
        if (i == 0)
            before = mappings();
    }
    if (mappings() > before)
        nc_fail("mappings, of once", mappings(), before);
}

/* A program may close descriptors that it does not know, and open a file, which gets the number of
 * one of them. Nothing may happen to that file when a buffer is freed. Returns that number, -1:
 * this process has no such descriptor. */
static int closed_descriptors(void)
{
    char path[64], target[PATH_MAX], name[] = "/tmp/shared_buffers.XXXXXX";
    static char text[1 << 20], found[1 << 20];
    void *buffer;
    int file;

    MPI_Alloc_mem(sizeof text, MPI_INFO_NULL, &buffer);
    memset(buffer, 1, sizeof text);
    memset(text, 'x', sizeof text);
    for (int fd = 3; fd < 1024; fd++) {
        ssize_t n;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (!strstr(target, "memfd:numacoll"))
            continue;
        file = mkstemp(name);
        dup2(file, fd);
        close(file);
        if (write(fd, text, sizeof text) != sizeof text)
            nc_fail("cannot write", fd, 0);
        MPI_Free_mem(buffer);
        if (pread(fd, found, sizeof found, 0) != sizeof found || memcmp(text, found, sizeof text))
            nc_fail("somebody else's file has changed", fd, 0);
        unlink(name);
        return fd;
    }
    MPI_Free_mem(buffer);
    return -1;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    static struct nc_pvar all[256];
    int pvars, descriptor, status;
    long before;

    nc_init(&argc, &argv);
    shares = argc > 2;
    nc_pvar_open(&copied_shared, "numacoll_copied_shared_bytes");
    pvars = nc_pvars_open(all, 256);
    for (int i = 0; i < 2; i++) /* what is made once: segments, this process's own file */
        broadcast(i);
    before = shared_kib();
    for (int i = 0; i < rounds; i++) {
        broadcast(i);
        blocks(i);
        reduction(i);
        if (i % 8 == 0)
            window(i);
    }
    if (shared_kib() > before + 64)
        nc_fail("KiB of freed buffers are still there, of KiB", before, shared_kib());
    communicators();
    nc_pvars_print(all, pvars);
    descriptor = closed_descriptors();
    status = nc_finish();
    if (descriptor >= 0 && fcntl(descriptor, F_GETFD) < 0) {
        fprintf(stderr, "MPI_Finalize has closed somebody else's descriptor\n");
        status = 1;
    }
    if (mappings() > 0) {
        fprintf(stderr, "files in memory are mapped after MPI_Finalize: %d\n", mappings());
        status = 1;
    }
    return status;
}
