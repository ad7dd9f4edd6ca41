/* Tests collectives whose buffers are malloc's, with SHARED_BUFFERS=malloc and jemalloc preloaded:
 * blocks of all lengths that come, grow and go between calls; and children that are forked, which
 * use malloc and write into what they have of their parents, who must not notice, and have children
 * themselves; also while another thread makes and frees shared buffers. At the end rank 0 prints
 * how many bytes it has copied straight out of shared buffers, if any: pvar NAME VALUE.
 *
 *   shared_malloc [ROUNDS] */

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nctest.h"

enum { BLOCKS = 12, LONGEST = 5 << 20, LONG = 2 << 20 }; /* bytes; LONG: longer than a queue */

static struct nc_pvar copied_shared;
static unsigned long drawn;

static int draw(int below)
{
    drawn = drawn * 6364136223846793005ul + 1442695040888963407ul;
    return (int) ((drawn >> 33) % (unsigned) below);
}

/* ---- blocks of this rank ---- */

static struct block {
    unsigned char *at;
    int bytes, seed;
} blocks[BLOCKS];

static void fill(const struct block *b, int from)
{
    for (int i = from; i < b->bytes; i++)
        b->at[i] = nc_byte((size_t) i, b->seed);
}

static void expect(const struct block *b, int bytes, const char *what)
{
    for (int i = 0; i < bytes; i++) {
        if (b->at[i] != nc_byte((size_t) i, b->seed)) {
            nc_fail(what, i, b->seed);
            return;
        }
    }
}

static void renew(struct block *b, int round)
{
    int before = b->bytes, bytes = 1 + draw(draw(3) ? LONGEST : 100000);

    if (before > 0 && draw(2)) { /* keeps what there is */
        b->at = realloc(b->at, (size_t) bytes);
        b->bytes = bytes;
        expect(b, before < bytes ? before : bytes, "a block that was made longer or shorter");
        fill(b, before);
        return;
    }
    free(b->at);
    *b = (struct block){calloc(1, (size_t) bytes), bytes, round * BLOCKS + (int) (b - blocks)};
    for (int i = 0; i < bytes; i++) {
        if (b->at[i] != 0) {
            nc_fail("not zero", i, b->seed);
            break;
        }
    }
    fill(b, 0);
}

/* ---- a child ---- */

/* A child's child has what the child has written. */
static void live_as_grandchild(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < blocks[i].bytes; k++) {
            if (blocks[i].at[k] != 0xee)
                _exit(1);
        }
    }
    _exit(0);
}

/* Writes over all blocks, has a child, gives them back and makes others, which must be zero. */
static void live_as_child(void)
{
    enum { BYTES = 1 << 20 };
    static const char zero[BYTES];

    int status = -1;
    pid_t child;

    for (int i = 0; i < BLOCKS; i++)
        memset(blocks[i].at, 0xee, (size_t) blocks[i].bytes);
    child = fork();
    if (child == 0)
        live_as_grandchild();
    waitpid(child, &status, 0);
    if (status != 0)
        _exit(2);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i].at);
    for (int i = 0; i < BLOCKS; i++) {
        void *other = calloc(1, BYTES);
        if (memcmp(other, zero, BYTES))
            _exit(1);
        memset(other, 0xdd, BYTES);
    }
    _exit(0);
}

static void fork_child(void)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        live_as_child();
    waitpid(child, &status, 0);
    if (status != 0)
        nc_fail("a child", status, 0);
    for (int i = 0; i < BLOCKS; i++)
        expect(&blocks[i], blocks[i].bytes, "after a child");
}

/* Makes and frees long shared buffers, which takes long where no child may come in between. */
static void *make_buffers(void *stop)
{
    enum { BYTES = 128 << 20 };

    while (!__atomic_load_n((int *) stop, __ATOMIC_ACQUIRE)) {
        char *buffer;
        MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &buffer);
        memset(buffer, 1, BYTES);
        MPI_Free_mem(buffer);
    }
    return NULL;
}

/* Children that need memory of malloc at once, beside a thread that does that; one that waits for
 * ever ends itself. */
static void fork_beside_thread(void)
{
    enum { CHILDREN = 30, BYTES = 8 << 20, PARTS = 40 };
    int stop = 0, status;
    pthread_t thread;

    pthread_create(&thread, NULL, make_buffers, &stop);
    for (int i = 0; i < CHILDREN; i++) {
        usleep((useconds_t) (2000 + 1313 * i));
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            for (int k = 0; k < PARTS; k++) {
                char *part = malloc(BYTES);
                *part = 1;
            }
            _exit(0);
        }
        status = -1;
        waitpid(child, &status, 0);
        if (status != 0) {
            nc_fail("a child beside a thread", status, 0);
            break;
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

/* ---- calls ---- */

static void call(int round)
{
    int bytes = LONG + round * 4096, root = round % nc_size, n = bytes / (int) sizeof(int);
    struct block b = {malloc((size_t) bytes), bytes, round};
    int *all = malloc((size_t) bytes * (size_t) nc_size), *sum = malloc((size_t) bytes);

    if (nc_rank == root)
        fill(&b, 0);
    nc_bcast(b.at, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    expect(&b, bytes, "bcast");
    for (int i = 0; i < n; i++)
        sum[i] = nc_rank + i;
    nc_count(NC_GATHER, MPI_COMM_WORLD);
    MPI_Gather(sum, n, MPI_INT, all, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n * nc_size && nc_rank == root; i++) {
        if (all[i] != i / n + i % n) {
            nc_fail("gather", i, round);
            break;
        }
    }
    nc_count(NC_ALLREDUCE, MPI_COMM_WORLD);
    MPI_Allreduce(sum, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        if (all[i] != nc_size * i + nc_size * (nc_size - 1) / 2) {
            nc_fail("allreduce", i, round);
            break;
        }
    }
    free(b.at);
    free(all);
    free(sum);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;

    nc_init_threads(&argc, &argv);
    nc_pvar_open(&copied_shared, "numacoll_copied_shared_bytes");
    drawn = (unsigned long) nc_rank + 1;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            if (round == 0 || draw(3) == 0)
                renew(&blocks[i], round);
        }
        call(round);
        for (int i = 0; i < BLOCKS; i++)
            expect(&blocks[i], blocks[i].bytes, "a block");
        if (round % 5 == 2)
            fork_child();
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i].at);
    if (nc_rank == 0)
        fork_beside_thread();
    nc_pvars_print(&copied_shared, 1);
    return nc_finish();
}
