/* Tests lengths that do not match, in scatter, gather, allgather and their v forms: the rank that
 * is sent too much gets MPI_ERR_TRUNCATE, too little is no error, the data that fits arrives,
 * nothing is written behind a buffer, and the next call on the communicator works. */

#include "blocks.h"

/* Ints that a block's sender sends, and that its receiver expects. */
struct pair {
    int sent, expected;
};

/* Both inline (up to 88 ints), both in fragments, and mixed; with and without a part of a fragment
 * at the end; with as much as fills packed messages between nodes (64 KiB). */
static const struct pair pairs[] = {{1, 10},      {10, 1},      {88, 89},       {89, 88},
                                    {25, 5000},   {5000, 25},   {5000, 4999},   {4999, 5000},
                                    {4096, 6000}, {6000, 4096}, {16384, 16000}, {16000, 16384}};

/* One length is 0. Only for v forms: in the others MPICH calls no algorithm on the side with 0, and
 * the other side waits for it. */
static const struct pair pairs_of_v[] = {{0, 2}, {2, 0}, {0, 5000}, {5000, 0}};

enum { EVERYBODY = -1 };

static int number;

/* ---- one wrong call ---- */

struct mistake {
    struct nc_call call;
    struct pair pair;
    int who; /* makes the mistake: a rank, or EVERYBODY */
    const struct nc_layout *all, *mine;
};

static int is_wrong(const struct mistake *m, int rank)
{
    return m->who == EVERYBODY || m->who == rank;
}

/* The length of a rank's block in the buffer with all blocks; the mistake is in the lengths of the
 * own blocks, see own_length. */
static int length_in_all(const struct mistake *m, int rank)
{
    if (m->call.move->is_v && !is_wrong(m, rank))
        return 40 + rank * 50;
    return m->call.move->direction == NC_FROM_ROOT ? m->pair.sent : m->pair.expected;
}

static int own_length(const struct mistake *m, int rank)
{
    if (!is_wrong(m, rank))
        return length_in_all(m, rank);
    return m->call.move->direction == NC_FROM_ROOT ? m->pair.expected : m->pair.sent;
}

static struct nc_blocks all_blocks(const struct mistake *m)
{
    MPI_Count counts[NC_MOST_RANKS];

    if (!nc_has_all(&m->call, nc_rank))
        return nc_blocks_none();
    for (int i = 0; i < nc_size; i++)
        counts[i] = length_in_all(m, i);
    return nc_blocks_make(m->all, nc_size, counts, NULL);
}

static struct nc_blocks own_block(const struct mistake *m)
{
    MPI_Count count = own_length(m, nc_rank);

    return nc_blocks_make(m->mine, 1, &count, NULL);
}

/* Checks the data: what was sent has arrived as far as there is room, the rest of the receive
 * buffer is untouched, and the send buffer has not changed. */
static void expect_data(const struct mistake *m, const struct nc_blocks *all,
                        const struct nc_blocks *mine)
{
    int scatter = m->call.move->direction == NC_FROM_ROOT;

    for (int i = 0; i < all->blocks; i++) {
        int length = scatter ? length_in_all(m, i) : own_length(m, i);
        nc_expect_bytes(all, i, nc_block_seed(&m->call, number, i), (size_t) length * sizeof(int));
    }
    int length = scatter ? length_in_all(m, nc_rank) : own_length(m, nc_rank);
    nc_expect_bytes(mine, 0, nc_block_seed(&m->call, number, nc_rank),
                    (size_t) length * sizeof(int));
}

/* *another: this rank receives a block of the wrong length from another rank; *own: it copies one
 * to itself. */
static void meets(const struct mistake *m, int *another, int *own)
{
    int scatter = m->call.move->direction == NC_FROM_ROOT, has_all = nc_has_all(&m->call, nc_rank);

    *own = has_all && is_wrong(m, nc_rank);
    *another = scatter && !has_all && is_wrong(m, nc_rank);
    for (int i = 0; i < nc_size && has_all && !scatter; i++)
        *another |= i != nc_rank && is_wrong(m, i);
}

/* On several nodes a wrong length in an allgather is seen on the node of the wrong rank only: the
 * leader of that node sends a block of the expected length to the other nodes. */
static int seen_here(const struct mistake *m)
{
    return !nc_several_nodes() || m->call.move->direction != NC_TO_ALL;
}

static void expect_error(const struct mistake *m, int error)
{
    int class = MPI_SUCCESS, another, own, more = m->pair.sent > m->pair.expected;

    if (nc_size == 1)
        return; /* MPICH serves a single rank itself */
    if (error)
        MPI_Error_class(error, &class);
    meets(m, &another, &own);
    if ((another || own) && more && seen_here(m) && class != MPI_ERR_TRUNCATE)
        nc_fail_now("no MPI_ERR_TRUNCATE: class, another's", class, another);
    if (!((another || own) && more) && error)
        nc_fail_now("error where no message is too long: class", class, nc_rank);
}

static void wrong_call(const struct mistake *m)
{
    struct nc_blocks all = all_blocks(m), mine = own_block(m);

    nc_say("%s sent %d expected %d, root %d, by %d, %s to %s", nc_names[m->call.move->collective],
           m->pair.sent, m->pair.expected, m->call.root, m->who, m->mine->name, m->all->name);
    nc_fill_sent(&m->call, &all, &mine, nc_rank, number);
    expect_error(m, nc_call_blocks(&m->call, &all, &mine));
    expect_data(m, &all, &mine);
    nc_blocks_release(&all);
    nc_blocks_release(&mine);
    number++;
}

/* The same collective without a mistake, with the expected length, but at least 1. */
static void right_call(const struct mistake *wrong)
{
    struct mistake m = *wrong;

    if (m.pair.expected == 0)
        m.pair.expected = 1;
    m.pair.sent = m.pair.expected;
    struct nc_blocks all = all_blocks(&m), mine = own_block(&m);
    strncat(nc_now, "; then", sizeof nc_now - strlen(nc_now) - 1);
    nc_exchange(&m.call, &all, &mine, number++);
    nc_blocks_release(&all);
    nc_blocks_release(&mine);
}

/* ---- all mistakes ---- */

static struct nc_layout layouts[2]; /* contiguous; with gaps, packed by the datatype engine */

static void by_one_and_by_all(struct mistake m)
{
    int who[2] = {(m.call.root + 1) % nc_size, EVERYBODY};

    for (int w = 0; w < 2; w++) {
        m.who = who[w];
        m.all = &layouts[(number / 2 + w) % 2];
        m.mine = &layouts[number / 4 % 2];
        wrong_call(&m);
        right_call(&m);
    }
}

/* Half of `pairs`, the other half with the next root; for a v form also all of `pairs_of_v`. */
static void each_pair(const struct nc_move *move, int root)
{
    struct mistake m = {.call = {.move = move, .root = root, .comm = MPI_COMM_WORLD}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        m.pair = pairs[i];
        if ((i / 2 + (size_t) root) % 2 == 0)
            by_one_and_by_all(m);
    }
    for (size_t i = 0; i < sizeof pairs_of_v / sizeof *pairs_of_v && move->is_v; i++) {
        m.pair = pairs_of_v[i];
        by_one_and_by_all(m);
    }
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    layouts[0] = nc_layout_ints("plain", sizeof(int));
    layouts[1] = nc_layout_ints("gapped", 2 * sizeof(int));
    for (int root = 0; root < nc_size; root++) {
        for (int m = 0; m < NC_MOVES; m++) {
            if (root < 2 || nc_moves[m].direction != NC_TO_ALL)
                each_pair(&nc_moves[m], root);
        }
    }
    MPI_Type_free(&layouts[0].type);
    MPI_Type_free(&layouts[1].type);
    return nc_finish();
}
