/* Tests settings by info keys, given to the calls that make a communicator with keys and to
 * MPI_Comm_set_info: they are seen in MPI_Comm_get_info and in the performance variables; wrong and
 * unequal values are refused on all ranks.
 *
 *   bcast_info              all that
 *   bcast_info in-force     prints the keys of the segment that a communicator in use shows: its
 *                           slots, their bytes and the slots given back at a time
 *   bcast_info unequal      only ranks that give different keys to a new communicator, which all
 *                           fall back; the runner must allow a fall-back */
#include "nctest.h"

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static MPI_Comm dup_with(const char *key, const char *value)
{
    MPI_Info info = info_of(key, value);
    MPI_Comm comm = MPI_COMM_NULL;

    if (MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm))
        nc_fail("no communicator", 0, 0);
    MPI_Info_free(&info);
    return comm;
}

static int set(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info = info_of(key, value);
    int error = MPI_Comm_set_info(comm, info), class = MPI_SUCCESS;

    if (error)
        MPI_Error_class(error, &class);
    MPI_Info_free(&info);
    return class;
}

static void expect_key(MPI_Comm comm, const char *key, const char *wanted)
{
    MPI_Info info;
    char value[64] = "";
    int flag;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, sizeof value - 1, value, &flag);
    if (flag != (wanted != NULL) || (wanted && strcmp(value, wanted))) {
        fprintf(stderr, "%s is %s, not %s\n", key, flag ? value : "absent",
                wanted ? wanted : "absent");
        nc_fail("info key", flag, 0);
    }
    MPI_Info_free(&info);
}

/* Makes n broadcasts and checks their data; this performance variable must have counted n. */
static void expect_calls(MPI_Comm comm, const char *pvar, int n)
{
    struct nc_pvar p;
    unsigned char buffer[3000];

    nc_pvar_open(&p, pvar);
    for (int i = 0; i < n; i++) {
        int root = (i + 1) % nc_size;
        for (size_t k = 0; k < sizeof buffer; k++)
            buffer[k] = nc_rank == root ? nc_byte(k, i) : 0;
        nc_bcast(buffer, sizeof buffer, MPI_BYTE, root, comm);
        for (size_t k = 0; k < sizeof buffer; k++)
            nc_errors += buffer[k] != nc_byte(k, i);
    }
    if (nc_size > 1 && nc_pvar_read(&p) != (unsigned long long) n)
        nc_fail(pvar, (long) nc_pvar_read(&p), n);
}

/* Keys that are accepted. */
static void right(void)
{
    MPI_Comm kary = dup_with("numacoll_bcast_tree", "kary"), plain, queue;

    expect_key(kary, "numacoll_bcast_tree", "kary");
    expect_key(kary, "numacoll_bcast_tree_k", NULL);
    expect_calls(kary, "numacoll_bcast_kary_calls", 5);
    /* a communicator in use: its segment stays, its tree changes */
    if (set(kary, "numacoll_bcast_tree", "chain"))
        nc_fail("set_info", 0, 0);
    expect_key(kary, "numacoll_bcast_tree", "chain");
    expect_calls(kary, "numacoll_bcast_chain_calls", 5);
    if (set(kary, "numacoll_fragment_size", "64"))
        nc_fail("set_info", 1, 0);
    expect_calls(kary, "numacoll_bcast_chain_calls", 5);
    /* slots may still have readers of the route before the change */
    if (set(kary, "numacoll_bcast_group", "*:chain"))
        nc_fail("set_info", 2, 0);
    expect_calls(kary, "numacoll_bcast_chain_calls", 20);
    if (set(kary, "numacoll_bcast_group", "*:kary/2"))
        nc_fail("set_info", 3, 0);
    expect_calls(kary, "numacoll_bcast_chain_calls", 20);
    /* keys are not inherited */
    MPI_Comm_dup(kary, &plain);
    expect_key(plain, "numacoll_bcast_tree", NULL);
    expect_calls(plain, "numacoll_bcast_knomial_calls", 5);
    queue = dup_with("numacoll_queue_length", "1");
    expect_calls(queue, "numacoll_bcast_calls", 50);
    /* the segment is made: the key has no effect any more */
    if (set(queue, "numacoll_queue_length", "3") || set(queue, "numacoll_placement", "none"))
        nc_fail("set_info", 4, 0);
    expect_key(queue, "numacoll_queue_length", nc_size > 1 ? "1" : "3");
    expect_key(queue, "numacoll_placement", nc_size > 1 ? NULL : "none");
    expect_calls(queue, "numacoll_bcast_calls", 5);
    MPI_Comm_free(&queue);
    MPI_Comm_free(&plain);
    MPI_Comm_free(&kary);
}

/* The three calls that make a communicator with keys. */
enum { DUP, IDUP, FROM_GROUP, MAKERS };

static int make_with(int maker, MPI_Info info, MPI_Comm *comm)
{
    MPI_Request request;
    MPI_Group group;
    int error;

    if (maker == DUP)
        return MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, comm);
    if (maker == IDUP) {
        error = MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, comm, &request);
        return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    error = MPI_Comm_create_from_group(group, "bcast_info", info, MPI_ERRORS_RETURN, comm);
    MPI_Group_free(&group);
    return error;
}

static void makers(void)
{
    MPI_Info good = info_of("numacoll_bcast_tree", "flat");
    MPI_Info bad = info_of("numacoll_bcast_tree", "oak");
    MPI_Comm comm = MPI_COMM_NULL;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int maker = 0; maker < MAKERS; maker++) {
        if (make_with(maker, bad, &comm) == MPI_SUCCESS)
            nc_fail("a wrong key made a communicator, by way", maker, 0);
        if (make_with(maker, good, &comm)) {
            nc_fail("no communicator, by way", maker, 0);
            continue;
        }
        expect_key(comm, "numacoll_bcast_tree", "flat");
        expect_calls(comm, "numacoll_bcast_flat_calls", 3);
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&good);
    MPI_Info_free(&bad);
}

/* Keys that are refused: every rank gets an error, and the communicator stays as it was. */
static void wrong(void)
{
    MPI_Comm comm, none = MPI_COMM_NULL;
    MPI_Info info = info_of("numacoll_bcast_tree", "oak");

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    expect_calls(comm, "numacoll_bcast_knomial_calls", 3);
    if (set(comm, "numacoll_queue_length", "-1") == MPI_SUCCESS ||
        set(comm, "numacoll_bcast_tree", "oak") == MPI_SUCCESS ||
        set(comm, "numacoll_links", "top:1,5/2") == MPI_SUCCESS ||
        set(comm, "numacoll_mapping", "list:99999") == MPI_SUCCESS)
        nc_fail("a wrong key was taken", 0, 0);
    if (nc_size > 1 && set(comm, "numacoll_bcast_tree", nc_rank ? "flat" : "kary") == MPI_SUCCESS)
        nc_fail("unequal keys were taken", 0, 0);
    /* a refused key has changed nothing */
    expect_key(comm, "numacoll_bcast_tree", NULL);
    expect_calls(comm, "numacoll_bcast_knomial_calls", 3);
    /* on a communicator in use a wrong key on one rank is an error on all ranks */
    if (nc_size > 1 &&
        set(comm, "numacoll_bcast_tree", nc_rank == nc_size - 1 ? "oak" : "flat") == MPI_SUCCESS)
        nc_fail("a rank's wrong key was taken", 0, 0);
    if (set(comm, "numacoll_bcast_tree", "flat"))
        nc_fail("a right key was refused", 0, 0);
    expect_calls(comm, "numacoll_bcast_flat_calls", 3);
    /* a refused communicator must free its context id: MPICH has about 2000 of them */
    for (int i = 0; i < 3000; i++)
        nc_errors += MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &none) == MPI_SUCCESS;
    if (set(comm, "numacoll_no_such_thing", "1") || set(comm, "numacoll_create_after", "1"))
        nc_fail("an unknown key is an error", 0, 0);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

/* What MPI_Comm_get_info shows of a segment that may be smaller than its keys want. */
static void in_force(void)
{
    static const char *const keys[] = {"numacoll_queue_length", "numacoll_fragment_size",
                                       "numacoll_queue_sets"};
    char value[3][16];
    MPI_Info info = info_of(keys[0], "16");
    MPI_Comm comm;
    int flag;

    MPI_Info_set(info, keys[1], "8192");
    MPI_Info_set(info, keys[2], "4");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    expect_key(comm, keys[0], "16");
    expect_calls(comm, "numacoll_bcast_calls", 5);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    for (int i = 0; i < 3; i++)
        MPI_Info_get(info, keys[i], 15, value[i], &flag);
    if (nc_rank == 0)
        printf("in force: %s slots of %s bytes, %d given back at a time\n", value[0], value[1],
               atoi(value[0]) / atoi(value[2]));
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

static void unequal(void)
{
    MPI_Comm comm = dup_with("numacoll_queue_length", nc_rank ? "2" : "3");
    struct nc_pvar p;
    int value = nc_rank == 1 ? 7 : 0, made = nc_calls[NC_BCAST];

    nc_pvar_open(&p, "numacoll_bcast_fell_back_unequal-settings");
    for (int i = 0; i < 3; i++)
        nc_bcast(&value, 1, MPI_INT, 1, comm);
    if (value != 7 || nc_pvar_read(&p) != 3)
        nc_fail("unequal settings", value, (long) nc_pvar_read(&p));
    nc_calls[NC_BCAST] = made;
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    /* what `auto` stands for depends on how many processors there are */
    setenv("MPIR_CVAR_NUMACOLL_BCAST_TREE", "knomial", 0);
    nc_init(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "unequal")) {
        unequal();
    } else if (argc > 1 && !strcmp(argv[1], "in-force")) {
        in_force();
    } else {
        right();
        makers();
        wrong();
    }
    return nc_finish();
}
