/* Tests random sequences of collectives on random communicators, while point-to-point messages are
 * under way. All ranks draw the same random numbers, so each knows what must arrive without
 * communication. Guard bytes are around every buffer and in the gaps of every datatype.
 *
 *   all_random [drawn] [CALLS [SEED]]
 *
 * drawn: how often each kind of call comes is random, and now and then a communicator gets random
 * settings by info keys: algorithms on each level, and WINDOW. The seed is printed; a run with it
 * makes the same calls again. */

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "core/nc_variable.h"
#include "numacoll_vars.h" /* made by maint/gencvars */
#include "alltoall.h"
#include "reductions.h"

/* ---- dice ---- */

static uint64_t common, own; /* random states: the same on all ranks; this rank's own */

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (*state >> 33);
}

/* A random number from 0 to n - 1, the same on all ranks. */
static int below(int n)
{
    return (int) (next(&common) % (uint32_t) n);
}

/* ---- buffers ---- */

/* An int, with no, one or two unused ints behind it. */
static struct nc_layout layouts[3];

static void make_layouts(void)
{
    for (int i = 0; i < 3; i++)
        layouts[i] = nc_layout_ints("ints", (i + 1) * (MPI_Aint) sizeof(int));
}

static void free_layouts(void)
{
    for (int i = 0; i < 3; i++)
        MPI_Type_free(&layouts[i].type);
}

/* A random order of blocks, and a random gap for each. */
static void shuffle(int blocks, int *order, int *gaps)
{
    for (int i = 0; i < blocks; i++) {
        order[i] = i;
        gaps[i] = (int) (next(&own) % 4);
    }
    for (int i = blocks - 1; i > 0; i--) {
        int k = (int) (next(&own) % (uint32_t) (i + 1)), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

/* Displacements for blocks in a random order with random gaps. */
static void scatter_blocks(int blocks, const MPI_Count *counts, MPI_Aint *displs)
{
    int order[NC_MOST_RANKS], gaps[NC_MOST_RANKS];

    shuffle(blocks, order, gaps);
    nc_place(blocks, counts, order, gaps, displs);
}

/* A buffer of a random layout. scattered (v forms only): blocks in a random order with random gaps;
 * otherwise one behind the other. */
static struct nc_blocks make(int blocks, const MPI_Count *counts, int scattered)
{
    MPI_Aint displs[NC_MOST_RANKS];

    if (scattered)
        scatter_blocks(blocks, counts, displs);
    return nc_blocks_make(&layouts[next(&own) % 3], blocks, counts, scattered ? displs : NULL);
}

/* ---- the calls: comm, rank and size are those of the call's communicator ---- */

static int rank, size;
static MPI_Comm comm;

static int random_count(void)
{
    switch (below(8)) {
        case 0:
            return 0;
        case 1:
        case 2:
        case 3:
            return below(4);
        case 4:
        case 5:
            return below(100);
        case 6:
            return below(3000);
        default:
            return below(20000);
    }
}

static void do_barrier(int call)
{
    (void) call;
    nc_barrier(comm);
}

static void do_bcast(int call)
{
    MPI_Count count = random_count();
    int root = below(size), seed = nc_seed(call, root, 0);
    struct nc_blocks b = make(1, &count, 0);

    nc_say("call %d: bcast", call);
    if (rank == root)
        nc_fill(&b, 0, seed);
    nc_bcast(b.base, (int) count, b.type, root, comm);
    nc_expect(&b, 0, seed);
    nc_blocks_release(&b);
}

/* The counts of all ranks: equal, or, for a v form, one for each rank. */
static void random_counts(int v, MPI_Count *counts)
{
    int all = random_count();

    for (int i = 0; i < size; i++)
        counts[i] = v ? random_count() / 2 : all;
}

static void do_move(int call)
{
    struct nc_call c = {.move = &nc_moves[below(NC_MOVES)], .comm = comm};
    int v = c.move->is_v;
    MPI_Count counts[NC_MOST_RANKS];

    c.root = below(size);
    c.in_place = below(4) == 0;
    random_counts(v, counts);
    nc_say("call %d: %s", call, nc_names[c.move->collective]);
    /* MPICH 4.0.2 ignores displs[0] if there is one rank only */
    struct nc_blocks all = make(nc_has_all(&c, rank) ? size : 0, counts, v && size > 1),
                     mine = make(1, &counts[rank], 0);
    nc_exchange(&c, &all, &mine, call);
    nc_blocks_release(&all);
    nc_blocks_release(&mine);
}

static void do_reduction(int call)
{
    struct nc_reduction r = {.comm = comm, .kind = &nc_kinds[below(NC_KINDS)]};

    r.how = &nc_reducers[below(NC_REDUCERS)];
    r.root = below(size);
    r.count = random_count();
    r.in_place = below(4) == 0;
    nc_say("call %d: %s, %s of %ld", call, nc_reducer_name(&r), r.kind->name, (long) r.count);
    nc_reduce(&r, call);
}

/* One side of an alltoall, with these counts. */
static void make_side(const struct nc_alltoall *a, struct nc_side *side, const MPI_Count *counts)
{
    const struct nc_layout *layout[NC_MOST_RANKS];
    int order[NC_MOST_RANKS], gaps[NC_MOST_RANKS];
    MPI_Aint displs[NC_MOST_RANKS];

    if (a->collective == NC_ALLTOALLW) {
        for (int i = 0; i < size; i++)
            layout[i] = &layouts[next(&own) % 3];
        shuffle(size, order, gaps);
        nc_side_make_w(side, layout, size, counts, order, gaps);
        return;
    }
    scatter_blocks(size, counts, displs);
    nc_side_make(side, &layouts[next(&own) % 3], size, counts,
                 a->collective == NC_ALLTOALLV ? displs : NULL);
}

/* Draws how long the block of each pair of ranks is, in place the same in both directions. */
static void random_pairs(const struct nc_alltoall *a, MPI_Count *sent, MPI_Count *received)
{
    int all = random_count() / 2;

    for (int from = 0; from < size; from++) {
        for (int to = 0; to < size; to++) {
            MPI_Count count = a->collective == NC_ALLTOALL ? all : random_count() / 2;
            if (from == rank)
                sent[to] = count;
            if (to == rank && (!a->in_place || from <= to))
                received[from] = count;
            if (from == rank && a->in_place && to > from)
                received[to] = count;
        }
    }
}

static void do_alltoall(int call)
{
    static const int collectives[] = {NC_ALLTOALL, NC_ALLTOALLV, NC_ALLTOALLW};
    static struct nc_alltoall a;
    MPI_Count sent[NC_MOST_RANKS], received[NC_MOST_RANKS];

    a.collective = collectives[below(3)];
    a.comm = comm;
    a.in_place = below(4) == 0;
    a.large = below(4) == 0;
    nc_say("call %d: %s%s", call, nc_names[a.collective], a.in_place ? ", in place" : "");
    random_pairs(&a, sent, received);
    if (!a.in_place)
        make_side(&a, &a.sent, sent);
    make_side(&a, &a.received, received);
    nc_exchange_pairs(&a, call);
}

/* What a call is drawn from: the more weight, the more often. A new collective is a row at the end.
 */
static struct {
    int weight;
    void (*function)(int call);
} kinds_of_calls[] = {
    {1, do_barrier}, {1, do_bcast}, {6, do_move}, {3, do_reduction}, {3, do_alltoall},
};

enum { ROWS = sizeof kinds_of_calls / sizeof *kinds_of_calls };

static void draw_weights(void)
{
    for (int i = 0; i < ROWS; i++)
        kinds_of_calls[i].weight = 1 + below(8);
}

static void do_one(int call)
{
    int all = 0, row = 0, left;

    for (int i = 0; i < ROWS; i++)
        all += kinds_of_calls[i].weight;
    for (left = below(all); left >= kinds_of_calls[row].weight; row++)
        left -= kinds_of_calls[row].weight;
    kinds_of_calls[row].function(call);
}

/* ---- settings ---- */

/* All variables of cvars.yaml. Drawn are those that are read per call and whose values are words.
 */
static const struct nc_variable variables[] = {
#define NC_ROW(NAME, name, kind, scope, low, high, unit, values) \
    {name, kind, scope, low, high, unit, values},
    NC_VARIABLES(NC_ROW)
#undef NC_ROW
};

static int is_drawn(const struct nc_variable *v)
{
    return v->scope == NC_PER_CALL && (v->kind == NC_KIND_ENUM || v->kind == NC_KIND_LEVEL_SPEC);
}

/* Writes a random one of `words` into text; a word that ends with a slash gets a random degree.
 * Returns the length of the text. */
static int draw_word(const char *words, char *text, size_t room)
{
    int n = 1, length, degree = 2 + below(3);

    for (const char *c = words; *c; c++)
        n += *c == ' ';
    for (int skipped = below(n); skipped > 0; skipped--)
        words += strcspn(words, " ") + 1;
    length = (int) strcspn(words, " ");
    if (words[length - 1] == '/')
        return snprintf(text, room, "%.*s%d", length, words, degree);
    return snprintf(text, room, "%.*s", length, words);
}

/* A random level spec: a word for each of some levels. */
static void draw_level_spec(const char *words, char *text, size_t room)
{
    static const char *const levels[] = {"numa", "package", "node", "top", "*"};
    size_t length = 0;

    for (int i = 0; i < 5; i++) {
        length += (size_t) snprintf(text + length, room - length, "%s%s:", i ? "," : "", levels[i]);
        length += (size_t) draw_word(words, text + length, room - length);
    }
}

static void set_key(MPI_Info info, const char *name, const char *text, int call)
{
    char key[MPI_MAX_INFO_KEY];

    snprintf(key, sizeof key, "numacoll_%s", name);
    MPI_Info_set(info, key, text);
    nc_say("call %d: %s=%s", call, key, text);
}

/* Sets random info keys on the communicator of the call. */
static void draw_settings(int call)
{
    char text[200];
    MPI_Info info;

    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const struct nc_variable *v = &variables[i];
        if (!is_drawn(v))
            continue;
        if (v->kind == NC_KIND_LEVEL_SPEC)
            draw_level_spec(v->values, text, sizeof text);
        else
            draw_word(v->values, text, sizeof text);
        set_key(info, v->name, text, call);
    }
    draw_word("0 1001 4093 30011 65536", text, sizeof text);
    set_key(info, "window", text, call);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* ---- delays and messages between the calls ---- */

static void delay(void)
{
    uint32_t d = next(&own);

    if (d % 16 == 0)
        usleep((useconds_t) (d / 16 % 200));
    else if (d % 16 == 1)
        sched_yield();
}

static int value_of(int call, int from, int to, int i)
{
    return (int) ((unsigned) call * 1000003u) / 2 + from * 10007 + to * 101 + i;
}

/* A message to the next rank of MPI_COMM_WORLD and one from the rank before, under way during some
 * calls. */
struct traffic {
    MPI_Request request[2];
    int *data, *received, n, call;
    int open;
};

static void finish_traffic(struct traffic *t)
{
    int before = (nc_rank + nc_size - 1) % nc_size;

    if (!t->open)
        return;
    MPI_Waitall(2, t->request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < t->n; i++) {
        if (t->received[i] != value_of(t->call, before, nc_rank, i)) {
            nc_fail("wrong message: call, element", t->call, i);
            break;
        }
    }
    free(t->data);
    free(t->received);
    t->open = 0;
}

static void start_traffic(struct traffic *t, int call)
{
    int after = (nc_rank + 1) % nc_size, before = (nc_rank + nc_size - 1) % nc_size;

    t->n = random_count() * 2;
    t->call = call;
    t->data = malloc((size_t) t->n * sizeof(int) + 1);
    t->received = malloc((size_t) t->n * sizeof(int) + 1);
    for (int i = 0; i < t->n; i++)
        t->data[i] = value_of(call, nc_rank, after, i);
    MPI_Irecv(t->received, t->n, MPI_INT, before, 1, MPI_COMM_WORLD, &t->request[0]);
    MPI_Isend(t->data, t->n, MPI_INT, after, 1, MPI_COMM_WORLD, &t->request[1]);
    t->open = 1;
}

/* ---- the program ---- */

enum { COMMUNICATORS = 4, CALLS = 1000 };

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMUNICATORS] = {MPI_COMM_WORLD};
    struct traffic traffic = {0};
    int drawn = argc > 1 && strcmp(argv[1], "drawn") == 0;
    argc -= drawn;
    argv += drawn;
    int calls = argc > 1 ? atoi(argv[1]) : CALLS,
        seed = argc > 2 ? atoi(argv[2]) : (int) (time(NULL) % 1000000);
    uint64_t world;

    nc_init(&argc, &argv);
    MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (nc_rank == 0)
        printf("seed %d\n", seed);
    nc_calls[NC_BCAST] += nc_size > 1;
    make_layouts();
    nc_kinds_make();
    nc_memory_begins();
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -nc_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, nc_rank, &comms[3]);
    /* MPI_Comm_split begins with an allgather, and numacoll serves it */
    nc_calls[NC_ALLGATHER] += nc_size > 1 ? 2 : 0;
    world = (uint64_t) seed;
    own = (uint64_t) seed * 31 + (uint64_t) nc_rank;
    common = world;
    if (drawn)
        draw_weights();
    for (int call = 0; call < calls; call++) {
        /* `common` starts anew for each call: comms[3] are two halves, which may draw different
         * numbers of random numbers in a call */
        common = world;
        int which = below(COMMUNICATORS), plan = below(16);
        world = common;
        comm = comms[which];
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        if (plan == 0 && !traffic.open)
            start_traffic(&traffic, call);
        if (plan == 1)
            finish_traffic(&traffic);
        common = world * 2862933555777941757u + (uint64_t) call;
        delay();
        if (drawn && below(16) == 0)
            draw_settings(call);
        do_one(call);
    }
    finish_traffic(&traffic);
    for (int i = 1; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comms[i]);
    free_layouts();
    nc_kinds_free();
    nc_memory_ends();
    return nc_finish();
}
