/* MPI_Reduce_scatter, MPI_Reduce_scatter_block. entry.c calls the bodies on every rank. Inside a
 * node every rank combines its own block of what all ranks have, in the order of ranks
 * (shm/nc_reduce.h). On several nodes, and for elements larger than a slot, rank 0 gets chunks of
 * the whole vector, reduced (reduce.h), and scatters them (scatter.h). */

#include "bcast.h"
#include "bodies.h"
#include "reduce.h"
#include "scatter.h"

/* How the vector, the operand of every rank, is divided into blocks: one for each rank. */
struct parts {
    const MPI_Aint *counts; /* elements of each block; NULL: `count` each */
    size_t count;
};

/* A call. */
struct reduce_scatter {
    struct nc_reduction *r; /* of the whole vector; its result is this rank's block */
    const struct parts *parts;
    size_t before; /* elements of the vector before this rank's block */
};

/* Elements of a rank's block. */
static size_t block_of(const struct parts *p, int rank)
{
    return p->counts ? (size_t) p->counts[rank] : p->count;
}

/* Elements of the first `ranks` blocks. */
static size_t sum_of(const struct parts *p, int ranks)
{
    size_t sum = 0;

    if (!p->counts)
        return p->count * (size_t) ranks;
    for (int i = 0; i < ranks; i++)
        sum += (size_t) p->counts[i];
    return sum;
}

/* ---- inside a node ---- */

/* The result of element `before` is to be the first of recvbuf. In place it overwrites only
 * elements that are in slots already: PROTOCOLS.md, section 3.5. */
static int inside(const struct reduce_scatter *c)
{
    struct nc_reduction *r = c->r;
    struct nc_range own = {.first = c->before, .count = (size_t) r->result.count};
    struct nc_team all = nc_queue_everybody(&r->call->state->queue);
    struct nc_stream mine;
    bool unequal;
    int mpi_errno;

    MPIDI_NUMACOLL_stream_init(&mine, &r->mine);
    MPIDI_NUMACOLL_operands_from(r, &r->mine, 0,
                                 (char *) r->result.buffer - (MPI_Aint) c->before * r->extent);
    mpi_errno = MPIDI_NUMACOLL_error(nc_reduce_ordered_node(MPIDI_NUMACOLL_transfer(r->call), &all,
                                                            -1, &r->kernel, &mine, &own, &unequal));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(unequal));
    return mpi_errno;
}

/* ---- by rank 0, in chunks of the vector ---- */

/* What rank 0 has of a chunk. */
struct chunk {
    size_t most; /* elements of a chunk */
    void *memory;
    void *result;              /* the reduced elements, from the first on */
    MPI_Aint *counts, *displs; /* [ranks] the elements of each rank's block that are in the chunk */
};

/* Takes rank 0's memory. All ranks learn whether there was enough; without, nobody goes on. */
static int chunk_open(struct chunk *k, const struct reduce_scatter *c)
{
    const struct nc_reduction *r = c->r;
    size_t ranks = (size_t) r->call->comm->local_size;
    MPI_Aint lb, true_extent, step = r->extent < 0 ? -r->extent : r->extent;
    char enough = 1;
    struct nc_typed told = {&enough, 1, NC_TYPE_BYTE};
    int mpi_errno = MPI_SUCCESS;

    *k = (struct chunk){.most = r->element < NC_CHUNK ? NC_CHUNK / r->element : 1};
    if (r->call->comm->rank == 0) {
        MPIR_Type_get_true_extent_impl(r->mine.datatype, &lb, &true_extent);
        k->memory = MPL_malloc((size_t) (true_extent + (MPI_Aint) k->most * step), MPL_MEM_COLL);
        k->counts = MPL_malloc(2 * ranks * sizeof *k->counts, MPL_MEM_COLL);
        k->displs = k->counts + ranks;
        k->result = (char *) k->memory - lb;
        if (r->extent < 0)
            k->result = (char *) k->result + (MPI_Aint) (k->most - 1) * step;
        enough = k->memory && k->counts;
    }
    mpi_errno = MPIDI_NUMACOLL_bcast_typed(r->call, &told, 0);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP(!enough, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_fail:
    return mpi_errno;
}

static void chunk_close(struct chunk *k)
{
    MPL_free(k->memory);
    MPL_free(k->counts);
}

/* Reduces elements first .. first + n - 1 of the vector to rank 0. */
static int reduce_chunk(const struct chunk *k, const struct reduce_scatter *c, size_t first,
                        size_t n)
{
    const struct nc_call *call = c->r->call;
    struct nc_typed mine = MPIDI_NUMACOLL_elements(c->r, &c->r->mine, first, n);
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, mine.buffer, k->result,
                                                  call->comm->rank == 0, mine.count, mine.datatype,
                                                  c->r->op);

    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_reduce_to(&r, 0, MPIR_REDUCE_SCATTER_TAG));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}

/* The elements of both ranges. */
static struct nc_range common(struct nc_range a, struct nc_range b)
{
    size_t first = a.first > b.first ? a.first : b.first;
    size_t end_a = a.first + a.count, end_b = b.first + b.count,
           end = end_a < end_b ? end_a : end_b;

    return (struct nc_range){first, first < end ? end - first : 0};
}

/* Scatters a chunk. In place the result overwrites what this chunk, and those before, have sent. */
static int scatter_chunk(struct chunk *k, const struct reduce_scatter *c, struct nc_range chunk)
{
    const struct nc_reduction *r = c->r;
    struct nc_range block = {0, 0},
                    own = common((struct nc_range){c->before, (size_t) r->result.count}, chunk);
    struct nc_typed mine = MPIDI_NUMACOLL_elements(
        r, &r->result, own.count ? own.first - c->before : 0, own.count);
    struct nc_blocks blocks = {
        .buffer = k->result, .counts = k->counts, .displs = k->displs, .datatype = mine.datatype};

    for (int i = 0; i < r->call->comm->local_size && k->counts; i++) {
        struct nc_range here;
        block = (struct nc_range){block.first + block.count, block_of(c->parts, i)};
        here = common(block, chunk);
        k->counts[i] = (MPI_Aint) here.count;
        k->displs[i] = here.count ? (MPI_Aint) (here.first - chunk.first) : 0;
    }
    return MPIDI_NUMACOLL_scatter_blocks(r->call, &blocks, &mine, 0, MPIR_REDUCE_SCATTER_TAG);
}

static int by_rank_0(const struct reduce_scatter *c)
{
    size_t count = (size_t) c->r->mine.count;
    struct chunk k;
    int mpi_errno = chunk_open(&k, c);

    MPIR_ERR_CHECK(mpi_errno);
    for (size_t first = 0; first < count; first += k.most) {
        struct nc_range chunk = {first, count - first < k.most ? count - first : k.most};
        MPIDI_NUMACOLL_keep_first(&mpi_errno, reduce_chunk(&k, c, first, chunk.count));
        MPIDI_NUMACOLL_keep_first(&mpi_errno, scatter_chunk(&k, c, chunk));
    }

fn_fail:
    chunk_close(&k);
    return mpi_errno;
}

/* ---- the calls ---- */

static int reduce_scatter(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                          struct parts parts, MPI_Datatype datatype, MPI_Op op)
{
    int rank = call->comm->rank;
    struct nc_reduction r;
    int mpi_errno = MPIDI_NUMACOLL_reduction_init(&r, call, sendbuf, recvbuf, true,
                                                  (MPI_Aint) sum_of(&parts, call->comm->local_size),
                                                  datatype, op);
    struct reduce_scatter c = {&r, &parts, 0};

    if (r.mine.count == 0) /* also if elements have no bytes */
        parts = (struct parts){NULL, 0};
    c.before = sum_of(&parts, rank);
    r.result.count = (MPI_Aint) block_of(&parts, rank);
    MPIDI_NUMACOLL_count_typed(call, &r.result);
    if (r.mine.count > 0)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, r.fits && !call->across ? inside(&c) : by_rank_0(&c));
    MPIDI_NUMACOLL_reduction_free(&r);
    return mpi_errno;
}

int MPIDI_NUMACOLL_reduce_scatter(const struct nc_call *call, const void *sendbuf, void *recvbuf,
                                  const MPI_Aint *recvcounts, MPI_Datatype datatype, MPI_Op op)
{
    return reduce_scatter(call, sendbuf, recvbuf, (struct parts){recvcounts, 0}, datatype, op);
}

int MPIDI_NUMACOLL_reduce_scatter_block(const struct nc_call *call, const void *sendbuf,
                                        void *recvbuf, MPI_Aint recvcount, MPI_Datatype datatype,
                                        MPI_Op op)
{
    return reduce_scatter(call, sendbuf, recvbuf, (struct parts){NULL, (size_t) recvcount},
                          datatype, op);
}
