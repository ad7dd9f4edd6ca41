/* The buffers of calls: a pair for messages of the largest size, or, with --off-cache, a pool of
 * pairs that is larger than the cache. See measure.h. */

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 4096, /* of buffers; not the kernel's page, so that figures compare */
    LINE = 64
};

/* Bytes of so many blocks of m bytes, at most. */
static size_t bytes_of(const struct bench *b, enum blocks blocks, size_t m)
{
    enum counts counts = collective_counts(b->collective, b->options->counts);

    return blocks == ONE_BLOCK  ? counts_longest(counts, m, b->ranks)
           : blocks == NO_BLOCK ? 0
                                : m * (size_t) b->ranks;
}

/* Bytes of a buffer for messages of m bytes. */
static size_t aligned(const struct bench *b, enum blocks blocks, size_t m)
{
    /* only the root has a block of each rank */
    bool has = blocks != BLOCK_PER_RANK || !b->collective->rooted || b->options->rotate_root ||
               b->rank == 0;
    size_t bytes = has ? bytes_of(b, blocks, m) : 0;

    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Bytes of the buffer that --memcpy and --streamed copy to: of the result. */
static size_t copied(const struct bench *b, size_t m)
{
    const struct collective *is = b->collective;
    bool needed = b->options->memcpy || b->options->streamed;

    return needed ? aligned(b, is->out == NO_BLOCK ? is->in : is->out, m) : 0;
}

/* Bytes from the buffers of one place to those of the next. With one ALIGNMENT more, they can begin
 * at any line. */
static size_t step(const struct bench *b, size_t m)
{
    return aligned(b, b->collective->in, m) + aligned(b, b->collective->out, m) + copied(b, m) +
           ALIGNMENT;
}

/* Whether what all ranks of the node allocate fits its memory. What is wrong, or NULL. */
static const char *pools_fit(const struct bench *b, size_t more)
{
    static char problem[256];
    unsigned long long mine = b->pool.size + more, all, memory = machine_available();
    MPI_Comm node;
    int n;

    MPI_Comm_split_type(b->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, node);
    MPI_Comm_free(&node);
    snprintf(problem, sizeof problem,
             "%s, %d ranks: buffers of %d ranks of a node need %llu MiB, %llu MiB are available",
             b->collective->name, b->ranks, n, all >> 20, memory >> 20);
    return memory && all > memory ? problem : NULL;
}

static void size_pool(struct bench *b)
{
    const struct options *o = b->options;
    const struct machine *machine = machine_get();
    size_t cache = machine->l3   ? machine->l3
                   : machine->l2 ? machine->l2
                                 : 32 << 20,
           largest = step(b, 0);

    for (int s = 0; s < o->size_count; s++) {
        if (largest < step(b, o->sizes[s]))
            largest = step(b, o->sizes[s]);
    }
    b->pool.size = (largest + 2 * ALIGNMENT + (o->off_cache ? 2 * cache : 0)) / ALIGNMENT *
                   ALIGNMENT;
}

/* The info key asks numacoll for a shared buffer, whatever its variable says; other MPI libraries
 * ignore it. */
static void *alloc_mem(size_t bytes)
{
    void *memory = NULL;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "numacoll_shared_buffers", "on");
    if (MPI_Alloc_mem((MPI_Aint) bytes, info, &memory) != MPI_SUCCESS)
        memory = NULL;
    MPI_Info_free(&info);
    return memory;
}

bool buffers_make(struct bench *b, size_t more)
{
    struct pool *pool = &b->pool;

    size_pool(b);
    if (!all_well(b->comm, pools_fit(b, more)))
        return false;
    pool->memory = b->options->alloc_mem ? alloc_mem(pool->size + ALIGNMENT)
                                         : malloc(pool->size + ALIGNMENT);
    if (pool->memory) {
        uintptr_t at = (uintptr_t) pool->memory + ALIGNMENT - 1;
        pool->bytes = (unsigned char *) (at - at % ALIGNMENT);
        memset(pool->bytes, 1, pool->size);
    }
    return all_well(b->comm, pool->memory ? NULL : "no memory for the buffers");
}

void buffers_free(struct bench *b)
{
    if (b->pool.memory && b->options->alloc_mem)
        MPI_Free_mem(b->pool.memory);
    else
        free(b->pool.memory);
}

/* With --off-cache they are picked at random from many,
 * because prefetchers would foresee a regular order, for some algorithms and not for others. */
void buffers_place(struct bench *b, struct call *c)
{
    struct pool *pool = &b->pool;

    c->in = pool->bytes;
    if (b->options->off_cache) {
        size_t places = (pool->size - ALIGNMENT) / step(b, c->m);
        pool->state = pool->state * 6364136223846793005u + 1442695040888963407u;
        c->in += (pool->state >> 33) % places * step(b, c->m) +
                 (pool->state >> 20) % (ALIGNMENT / LINE) * LINE;
    }
    c->out = c->in + aligned(b, b->collective->in, c->m);
    c->copy = c->out + aligned(b, b->collective->out, c->m);
}

void buffers_touch(const struct bench *b, const struct call *c)
{
    const struct collective *is = b->collective;
    bool of_root = is->rooted && (is->in == BLOCK_PER_RANK || is->out == NO_BLOCK);

    if (!of_root || c->rank == c->root)
        memset(c->in, 1 + (int) (b->call % 2), bytes_of(b, is->in, c->m));
}
