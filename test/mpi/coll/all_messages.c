/* Tests how much the leaders of nodes send with each algorithm above the node: messages and bytes
 * of all leaders together must be what core/nc_schedule.h says, for each chunk of the message.
 *
 *   all_messages NODES      NODES: as MPIR_CVAR_NUM_CLIQUES; all are one group, under no switch
 *
 * A short Bcast is one message to each leader, along the tree that an info key names now. In a
 * Scatter of short blocks nothing but these is copied inside nodes. */
#include "nctest.h"

enum { WINDOW = 4800, WINDOWS = 10, DOUBLES = WINDOWS * WINDOW / 8, HEAD = 8, SHORT = 344 };

static int p, q, log_q; /* nodes; the largest power of two not above p; its logarithm */
static double *mine, *all;

/* Of all leaders together: messages per chunk, and bytes sent as a multiple of the chunk. */
struct cost {
    double messages, times;
};

static struct cost tree(void)
{
    return (struct cost){p - 1, p - 1};
}

static struct cost rsg(void)
{
    return (struct cost){q * log_q + q - 1 + (p - q), q - 1 + log_q / 2.0 + (p - q)};
}

static struct cost sag(void)
{
    int depths = 0;

    for (int i = 1; i < p; i++)
        depths += __builtin_popcount((unsigned) i);
    return (struct cost){p * p - 1 - depths, p - 1};
}

static struct cost rd(void)
{
    return (struct cost){q * log_q + 2 * (p - q), q * log_q + 2 * (p - q)};
}

static struct cost rsag(void)
{
    return (struct cost){2 * q * log_q + 2 * (p - q), 2 * (q - 1) + 2 * (p - q)};
}

static struct cost ring(void)
{
    return (struct cost){2 * p * (p - 1), 2 * (p - 1)};
}

static struct cost up_and_down(void)
{
    return (struct cost){2 * (p - 1), 2 * (p - 1)};
}

/* Of reduce-scatters to parts of equal lengths. */
static struct cost halves(void)
{
    int f = p - q;

    return (struct cost){q * log_q + 2 * f, q - 1 + f + (double) f / p};
}

static struct cost half_a_ring(void)
{
    return (struct cost){p * (p - 1), p - 1};
}

static void bcast(MPI_Comm comm)
{
    nc_bcast(mine, DOUBLES, MPI_DOUBLE, nc_size - 1, comm);
}

static void reduce(MPI_Comm comm)
{
    nc_count(NC_REDUCE, comm);
    MPI_Reduce(mine, all, DOUBLES, MPI_DOUBLE, MPI_SUM, nc_size - 1, comm);
}

static void allreduce(MPI_Comm comm)
{
    nc_count(NC_ALLREDUCE, comm);
    MPI_Allreduce(mine, all, DOUBLES, MPI_DOUBLE, MPI_SUM, comm);
}

static void reduce_scatter(MPI_Comm comm)
{
    nc_count(NC_REDUCE_SCATTER_BLOCK, comm);
    MPI_Reduce_scatter_block(mine, all, DOUBLES / nc_size, MPI_DOUBLE, MPI_SUM, comm);
}

/* heads_alone: the preamble of a Bcast goes in messages of its own; otherwise with the first chunk.
 */
static const struct row {
    const char *name, *key, *value;
    void (*call)(MPI_Comm comm);
    struct cost (*cost)(void);
    int heads_alone;
} rows[] = {
    {"bcast flat", "numacoll_bcast_group", "*:flat", bcast, tree, 0},
    {"bcast kary", "numacoll_bcast_group", "*:kary/2", bcast, tree, 0},
    {"bcast balanced", "numacoll_bcast_group", "*:balanced/2", bcast, tree, 0},
    {"bcast knomial", "numacoll_bcast_group", "*:knomial/2", bcast, tree, 0},
    {"bcast chain", "numacoll_bcast_group", "*:chain", bcast, tree, 0},
    {"bcast auto", "numacoll_bcast_group", "*:auto", bcast, tree, 0},
    {"bcast sag", "numacoll_bcast_group", "*:sag", bcast, sag, 1},
    {"reduce flat", "numacoll_reduce_group", "*:flat", reduce, tree, 0},
    {"reduce kary", "numacoll_reduce_group", "*:kary/3", reduce, tree, 0},
    {"reduce balanced", "numacoll_reduce_group", "*:balanced/3", reduce, tree, 0},
    {"reduce knomial", "numacoll_reduce_group", "*:knomial/2", reduce, tree, 0},
    {"reduce chain", "numacoll_reduce_group", "*:chain", reduce, tree, 0},
    {"reduce auto", "numacoll_reduce_group", "*:auto", reduce, tree, 0},
    {"reduce rsg", "numacoll_reduce_group", "*:rsg", reduce, rsg, 0},
    {"allreduce rd", "numacoll_allreduce_group", "*:rd", allreduce, rd, 0},
    {"allreduce rsag", "numacoll_allreduce_group", "*:rsag", allreduce, rsag, 0},
    {"allreduce ring", "numacoll_allreduce_group", "*:ring", allreduce, ring, 0},
    {"allreduce rb", "numacoll_allreduce_version", "rb", allreduce, up_and_down, 0},
    {"reduce_scatter rsag", "numacoll_allreduce_group", "*:rsag", reduce_scatter, halves, 0},
    {"reduce_scatter ring", "numacoll_allreduce_group", "*:ring", reduce_scatter, half_a_ring, 0},
};

/* The operands of call i of a row. */
static void fill(const struct row *row, int i)
{
    for (int k = 0; k < DOUBLES; k++) {
        mine[k] = row->call == bcast && nc_rank != nc_size - 1 ? 0 : nc_rank + k % 100 + i;
        all[k] = 0;
    }
}

static void check(const struct row *row, int i)
{
    const double *result = row->call == bcast ? mine : all;
    int n = row->call == bcast ? 1 : nc_size, first = row->call == bcast ? nc_size - 1 : 0;
    int numbers = row->call == reduce_scatter ? DOUBLES / nc_size : DOUBLES;
    int before = row->call == reduce_scatter ? numbers * nc_rank : 0;

    if (row->call == reduce && nc_rank != nc_size - 1)
        return;
    for (int k = 0; k < numbers; k++)
        nc_errors += result[k] != n * ((before + k) % 100 + i) +
                                      (row->call == bcast ? first : nc_size * (nc_size - 1) / 2);
}

static MPI_Comm comm_of(const struct row *row)
{
    char window[16];
    MPI_Comm comm;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, row->key, row->value);
    snprintf(window, sizeof window, "%d", WINDOW);
    MPI_Info_set(info, "numacoll_window", window);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* The parts of a reduce-scatter are equal, and so are the pieces of blocks in all windows. */
static int is_counted(const struct row *row)
{
    return row->call != reduce_scatter || (nc_size % p == 0 && WINDOW / 8 % nc_size == 0);
}

static void run(const struct row *row, struct nc_pvar *messages, struct nc_pvar *bytes)
{
    MPI_Comm comm = comm_of(row);
    struct cost cost = row->cost();
    double head = row->call == bcast ? HEAD * (p - 1) : 0;
    double wanted = cost.messages * WINDOWS + row->heads_alone * (p - 1),
           wanted_bytes = cost.times * DOUBLES * 8 + head;

    for (int i = 0; i < 3; i++) {
        unsigned long long m = nc_pvar_read(messages), b = nc_pvar_read(bytes);
        fill(row, i);
        row->call(comm);
        m = nc_sum(nc_pvar_read(messages) - m);
        b = nc_sum(nc_pvar_read(bytes) - b);
        check(row, i);
        /* the first call may be deferred, and then MPICH serves it */
        if (nc_rank == 0 && i > 0 && is_counted(row) &&
            ((double) m != wanted || (double) b != wanted_bytes)) {
            nc_errors++;
            fprintf(stderr, "%s: %llu messages of %llu bytes, not %.0f of %.0f\n", row->name, m, b,
                    wanted, wanted_bytes);
        }
    }
    MPI_Comm_free(&comm);
}

/* ---- short messages ---- */

static int no_tree(void)
{
    return log_q + (p > q);
}

static int flat(void)
{
    return p - 1;
}

static int one(void)
{
    return p > 1;
}

static int two(void)
{
    return p - 1 < 2 ? p - 1 : 2;
}

/* What the root sends in a short Bcast: in a binomial tree where the setting names no tree. */
static const struct {
    const char *group;
    int (*root_sends)(void);
} short_rows[] = {{"*:chain", one},        {"*:flat", flat},    {"*:sag", no_tree},
                  {"*:kary/2", two},       {"*:auto", no_tree}, {"*:balanced/2", two},
                  {"*:knomial/2", no_tree}};

static void set_group(MPI_Comm comm, const char *group)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "numacoll_bcast_group", group);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* One Bcast of so many bytes from the last rank. */
static void short_bcast(MPI_Comm comm, int n, const char *group, int root_sends,
                        struct nc_pvar *messages, struct nc_pvar *bytes)
{
    unsigned long long m = nc_pvar_read(messages), b = nc_pvar_read(bytes), all_m, all_b;
    int root = nc_size - 1;
    char data[SHORT + 1];

    for (int i = 0; i <= SHORT; i++)
        data[i] = (char) (nc_rank == root ? i + n : -1);
    nc_bcast(data, n, MPI_CHAR, root, comm);
    for (int i = 0; i <= SHORT; i++)
        nc_errors += data[i] != (char) (i < n || nc_rank == root ? i + n : -1);
    m = nc_pvar_read(messages) - m;
    b = nc_pvar_read(bytes) - b;
    all_m = nc_sum(m);
    all_b = nc_sum(b);
    if ((nc_rank == root && m != (unsigned) root_sends) ||
        (nc_rank == 0 && (all_m != (unsigned) p - 1 || all_b != (unsigned) (p - 1) * (HEAD + n)))) {
        nc_errors++;
        fprintf(stderr, "%s, %d bytes: rank %d sent %llu messages, all %llu of %llu bytes\n", group,
                n, nc_rank, m, all_m, all_b);
    }
}

static void short_messages(struct nc_pvar *messages, struct nc_pvar *bytes)
{
    static const int lengths[] = {1, 8, SHORT - 1, SHORT};
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2; i++) /* the first call may be deferred */
        bcast(comm);
    for (size_t i = 0; i < sizeof short_rows / sizeof *short_rows; i++) {
        set_group(comm, short_rows[i].group);
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            short_bcast(comm, lengths[k], short_rows[i].group, short_rows[i].root_sends(), messages,
                        bytes);
    }
    MPI_Comm_free(&comm);
}

/* A Scatter from the last rank. On its node each block is copied in and out, except that of the
 * root and those of leaders that take it out of a message. */
static void short_scatter(void)
{
    struct nc_pvar local, remote;
    unsigned long long copied, wanted = 2 * sizeof(long) * (unsigned) (nc_size - p);
    long blocks[nc_size], block = 0;

    for (int i = 0; i < nc_size; i++)
        blocks[i] = i + 1;
    nc_bcast(&block, 1, MPI_LONG, 0, MPI_COMM_WORLD); /* the first call may be deferred */
    nc_pvar_open(&local, "numacoll_copied_local_bytes");
    nc_pvar_open(&remote, "numacoll_copied_remote_bytes");
    nc_count(NC_SCATTER, MPI_COMM_WORLD);
    MPI_Scatter(blocks, 1, MPI_LONG, &block, 1, MPI_LONG, nc_size - 1, MPI_COMM_WORLD);
    nc_errors += block != nc_rank + 1;
    copied = nc_sum(nc_pvar_read(&local) + nc_pvar_read(&remote));
    if (nc_rank == 0 && copied != wanted)
        nc_fail("a short scatter has copied bytes, not so many", (long) copied, (long) wanted);
}

int main(int argc, char **argv)
{
    struct nc_pvar messages, bytes;

    mine = malloc(DOUBLES * sizeof *mine);
    all = malloc(DOUBLES * sizeof *all);
    nc_init(&argc, &argv);
    p = argc > 1 ? atoi(argv[1]) : 1;
    for (q = 1, log_q = 0; 2 * q <= p; q *= 2)
        log_q++;
    nc_pvar_open(&messages, "numacoll_messages");
    nc_pvar_open(&bytes, "numacoll_message_bytes");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run(&rows[i], &messages, &bytes);
    short_messages(&messages, &bytes);
    short_scatter();
    free(mine);
    free(all);
    return nc_finish();
}
