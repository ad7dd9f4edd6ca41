/* Alltoall of short blocks inside a node. The NUMA nodes are the rows of a table, as in an
 * allreduce by slices; a column has, of each row, the rank with one index. Numbers are those of
 * PROTOCOLS.md, section 3.9:
 *
 *   T1  inside its row a rank gives each mate the blocks for the ranks of that mate's column
 *   T2  it sorts what it has got, from its mates and itself, by the rows that it is for
 *   T3  inside its column it gives each rank the blocks for that rank's row
 *
 * Each message has several blocks, so p - 1 exchanges become as many as a row and a column have
 * ranks, and few messages cross between NUMA nodes. alltoall.c calls it. */

#include "alltoall_rows.h"

/* A call. The blocks of the table's ranks have numbers by row and index, or by index and row. */
struct table {
    const struct nc_blocks *sent, *received;
    const struct nc_groups *groups; /* the rows */
    int rows, mates;                /* rows, and ranks of a row */
    size_t bytes;                   /* of a block */
    int *rank;                      /* [rows * mates] of the communicator, as a step needs it */
    /* [mates][rows] T1: blocks by mate, for the ranks of my column */
    char near[NC_ALLTOALL_ROWS_BYTES];
    char far[NC_ALLTOALL_ROWS_BYTES]; /* [rows][mates] T2: the same by row */
    struct nc_row packed, unpacked;   /* the blocks behind the streams of T1, and of T3 */
};

bool MPIDI_NUMACOLL_goes_by_rows(const struct nc_call *call, const struct nc_blocks *sent)
{
    return !sent->counts && nc_select_alltoall_rows(call->state->column.size, call->state->row.size,
                                                    MPIDI_NUMACOLL_block_bytes(sent, 0), NULL);
}

int MPIDI_NUMACOLL_exchange_end(struct nc_exchange *x)
{
    int mpi_errno = MPIDI_NUMACOLL_error(nc_exchange_end(x));

    if (x->too_long > x->room)
        nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal(x->too_long, x->room));
    return mpi_errno;
}

/* ---- T1 ---- */

static size_t column_bytes(const struct table *t)
{
    return (size_t) t->rows * t->bytes;
}

static void sent_to_mate(void *context, int local_rank, struct nc_stream *stream)
{
    struct table *t = context;
    int index = t->groups->place[0][local_rank];

    MPIDI_NUMACOLL_row_init(
        stream, &t->packed, t->sent,
        (struct nc_round){t->rank, t->rows * t->mates, index * t->rows, t->rows});
}

static char *near_of(struct table *t, int local_rank)
{
    return t->near + (size_t) t->groups->place[0][local_rank] * column_bytes(t);
}

static void received_from_mate(void *context, int local_rank, struct nc_stream *stream)
{
    struct table *t = context;

    *stream = (struct nc_stream){.bytes = near_of(t, local_rank), .length = column_bytes(t)};
}

/* ---- T2 ---- */

static void sort(struct table *t)
{
    for (int i = 0; i < t->mates; i++) {
        for (int k = 0; k < t->rows; k++)
            memcpy(t->far + (size_t) (k * t->mates + i) * t->bytes,
                   t->near + (size_t) (i * t->rows + k) * t->bytes, t->bytes);
    }
}

/* ---- T3 ---- */

static size_t row_bytes(const struct table *t)
{
    return (size_t) t->mates * t->bytes;
}

static char *far_of(struct table *t, int local_rank)
{
    return t->far + (size_t) t->groups->of[0][local_rank] * row_bytes(t);
}

static void sent_to_row(void *context, int local_rank, struct nc_stream *stream)
{
    struct table *t = context;

    *stream = (struct nc_stream){.bytes = far_of(t, local_rank), .length = row_bytes(t)};
}

static void received_from_row(void *context, int local_rank, struct nc_stream *stream)
{
    struct table *t = context;
    int row = t->groups->of[0][local_rank];

    MPIDI_NUMACOLL_row_init(
        stream, &t->unpacked, t->received,
        (struct nc_round){t->rank, t->rows * t->mates, row * t->mates, t->mates});
}

/* ---- the call ---- */

/* Lists the ranks of the communicator by index and row, or by row and index. */
static void list_ranks(struct table *t, const int *member, bool by_row)
{
    for (int k = 0; k < t->rows; k++) {
        for (int i = 0; i < t->mates; i++)
            t->rank[by_row ? k * t->mates + i : i * t->rows + k] =
                member[t->groups->member[k * t->mates + i]];
    }
}

/* A rank is a mate of itself, and in its own column. */
static int keep_own_near(struct table *t, int local_rank)
{
    struct nc_stream own;

    sent_to_mate(t, local_rank, &own);
    return MPIDI_NUMACOLL_error(nc_copy_in(&own, near_of(t, local_rank), column_bytes(t), 0, NULL));
}

static int keep_own_far(struct table *t, int local_rank)
{
    struct nc_stream own;

    received_from_row(t, local_rank, &own);
    return MPIDI_NUMACOLL_error(nc_copy_out(&own, far_of(t, local_rank), row_bytes(t), 0, NULL));
}

int MPIDI_NUMACOLL_alltoall_rows(const struct nc_call *call, const struct nc_blocks *sent,
                                 const struct nc_blocks *received)
{
    struct MPIDI_NUMACOLL_comm *state = call->state;
    const int *member = MPIDI_NUMACOLL_members(call);
    struct nc_transfer *transfer = MPIDI_NUMACOLL_transfer(call);
    struct table t;
    const struct nc_exchange_blocks near = {sent_to_mate, received_from_mate, &t};
    const struct nc_exchange_blocks far = {sent_to_row, received_from_row, &t};
    struct nc_exchange x;
    int mpi_errno;

    t.sent = sent;
    t.received = received;
    t.groups = &state->groups;
    t.rows = state->column.size;
    t.mates = state->row.size;
    t.bytes = MPIDI_NUMACOLL_block_bytes(sent, 0);
    t.rank = state->list;
    list_ranks(&t, member, false);
    mpi_errno = keep_own_near(&t, state->rank); /* before the exchange needs t.packed */
    nc_exchange_begin(&x, transfer, &state->row, &near);
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_exchange_end(&x));
    sort(&t);
    list_ranks(&t, member, true);
    nc_exchange_begin(&x, transfer, &state->column, &far);
    nc_keep_first(&mpi_errno, keep_own_far(&t, state->rank));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_exchange_end(&x));
    return mpi_errno;
}
