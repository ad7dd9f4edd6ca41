/* The report: how a communicator was set up, and, at MPI_Finalize, what was served. The words of
 * its lines are published: users' scripts read them. */

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "crowding.h"
#include "diag.h"
#include "settings.h"
#include "single_copy.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static char *home; /* the folder at MPI_Init, to which REPORT_FILE is relative; NULL: unknown */

void MPIDI_NUMACOLL_report_init(void)
{
    home = getcwd(NULL, 0);
}

void MPIDI_NUMACOLL_report_finalize(void)
{
    free(home);
    home = NULL;
}

/* Says once why REPORT_FILE is not written. */
static void say_why_not(int error)
{
    static bool told;

    if (!told)
        MPIDI_NUMACOLL_complain(0,
                                "MPIR_CVAR_NUMACOLL_REPORT_FILE=%s: %s: must be a file that can "
                                "be written, told here",
                                MPIR_CVAR_NUMACOLL_REPORT_FILE, strerror(error));
    told = true;
}

/* A descriptor of REPORT_FILE, or -1: write to stderr. The file is opened for each line, so that a
 * program may close descriptors that it does not know. */
static int open_report_file(void)
{
    const char *name = MPIR_CVAR_NUMACOLL_REPORT_FILE;
    char path[PATH_MAX];

    if (!name || !*name)
        return -1;
    snprintf(path, sizeof path, "%s%s%s", *name != '/' && home ? home : "",
             *name != '/' && home ? "/" : "", name);
    /* without O_NONBLOCK, open would wait for a reader of a FIFO */
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0)
        say_why_not(errno);
    return fd;
}

/* Writes the text by one call of write: several processes may write at the same time, and their
 * lines must not mix. */
static void tell(const char *text, size_t length)
{
    int fd;
    ssize_t written = -1;

    pthread_mutex_lock(&lock);
    fd = open_report_file();
    if (fd >= 0) {
        written = write(fd, text, length);
        if (written < (ssize_t) length)
            say_why_not(written < 0 ? errno : ENOSPC);
        close(fd);
    }
    if (written < 0)
        written = write(STDERR_FILENO, text, length);
    (void) written; /* a report that cannot be written is no reason to fail */
    pthread_mutex_unlock(&lock);
}

/* The pages of each rank, ranks with the same numbers together: "0-3 20/0/0, 4 18/2/0". */
static void print_placement(FILE *out, const struct nc_placement *p, int ranks)
{
    fprintf(out, ", pages of ranks right/wrong/unverified:");
    for (int first = 0, next; first < ranks; first = next) {
        for (next = first + 1; next < ranks && !memcmp(&p[next], &p[first], sizeof *p); next++)
            ;
        fprintf(out, "%s %d", first ? "," : "", first);
        if (next > first + 1)
            fprintf(out, "-%d", next - 1);
        fprintf(out, " %d/%d/%d", p[first].right, p[first].wrong, p[first].unverified);
    }
}

/* The algorithm of one level in a level spec: "knomial/2". */
static void print_algorithm(FILE *out, enum nc_setting setting, const struct nc_level_spec *spec,
                            enum nc_level level)
{
    const char *word = MPIDI_NUMACOLL_variables[setting].values;
    int n;

    for (int i = 0; i < spec->algorithm[level]; i++)
        word += strcspn(word, " ") + 1;
    n = (int) strcspn(word, " ");
    fprintf(out, "%.*s", n, word);
    if (word[n - 1] == '/')
        fprintf(out, "%d", spec->degree[level]);
}

/* The algorithms of the levels: those inside the node, if `inside`, then those of the nodes from
 * level `lowest` on: "bcast_group numa:flat,top:knomial/2". */
static void print_spec(FILE *out, enum nc_setting setting, const struct nc_level_spec *spec,
                       const struct MPIDI_NUMACOLL_comm *state, bool inside, int lowest)
{
    const char *before = " ";

    fprintf(out, ", %s", MPIDI_NUMACOLL_variables[setting].name);
    for (int l = inside && state->size > 1 ? 0 : state->data.groups.levels;
         l < state->data.groups.levels; l++, before = ",") {
        fprintf(out, "%s%s:", before, nc_level_name(state->data.name[l]));
        print_algorithm(out, setting, spec, state->data.name[l]);
    }
    for (int l = lowest; l < state->all.nodes.groups.levels; l++, before = ",") {
        fprintf(out, "%s%s:", before, nc_level_name(state->all.nodes.name[l]));
        print_algorithm(out, setting, spec, state->all.nodes.name[l]);
    }
}

static void print_specs(FILE *out, const struct MPIDI_NUMACOLL_comm *state)
{
    const struct nc_choice *c = &state->choice[0];
    int levels = state->all.nodes.groups.levels;

    print_spec(out, NC_VAR_BCAST_GROUP, &c->spec[NC_BCAST], state, true, 0);
    print_spec(out, NC_VAR_REDUCE_GROUP, &c->spec[NC_REDUCE], state, true, 0);
    if (state->all.nodes.count == 1)
        return;
    print_spec(out, NC_VAR_ALLREDUCE_GROUP, &c->spec[NC_ALLREDUCE], state, false, levels - 1);
    fprintf(out, ", windows of %s%d bytes between nodes", c->chunk_bytes ? "" : "at most ",
            c->chunk_bytes ? c->chunk_bytes : NC_CHUNK);
}

/* How many groups each level has, the lowest level first: "numa 4, package 2, node 1". */
static void print_levels(FILE *out, const struct nc_hierarchy *h)
{
    const struct nc_groups *groups = &h->nodes.groups;
    const char *before = "";

    fputs(", groups:", out);
    for (int level = 0; level <= NC_LEVEL_NODE; level++) {
        if (h->below >> level & 1) {
            fprintf(out, "%s %s %d", before, nc_level_name(level), h->below_groups[level]);
            before = ",";
        }
    }
    for (int l = 0; l < groups->levels; l++, before = ",")
        fprintf(out, "%s %s %d", before, nc_level_name(h->nodes.name[l]),
                groups->level[l + 1] - groups->level[l]);
}

static void print_segment(FILE *out, const struct MPIDI_NUMACOLL_comm *state, int wanted)
{
    static const char *const backings[] = {[NC_BACKING_HUGETLB] = "a memfd of huge pages",
                                           [NC_BACKING_MEMFD] = "a memfd",
                                           [NC_BACKING_UNNAMED_FILE] = "/dev/shm",
                                           [NC_BACKING_NAMED_FILE] = "a named file in /dev/shm"};
    const struct nc_segment *s = &state->segment;

    fprintf(out, "%zu bytes in %s", s->bytes, backings[s->backing]);
    if (wanted != MPIR_CVAR_NUMACOLL_HUGE_PAGES_off && s->backing != NC_BACKING_HUGETLB)
        fprintf(out, " (huge pages wanted: %zu bytes in them)", s->huge_bytes);
}

/* How ranks wait, and why. */
static void print_waits(FILE *out, const struct MPIDI_NUMACOLL_comm *state)
{
    static const char *const crowded[] = {[NC_CROWDING_NONE] = "more ranks than processors",
                                          [NC_CROWDING_MASKS] = "more ranks than processors",
                                          [NC_CROWDING_QUOTA] = "more ranks than the CPU quota"};
    const struct nc_waiter *w = &state->waiter;

    if (w->sleep)
        fputs(", waits sleep (YIELD)", out);
    else if (w->yield)
        fprintf(out, ", waits yield, then sleep (%s)",
                state->oversubscribed ? crowded[MPIDI_NUMACOLL_crowding()] : "YIELD");
    else
        fputs(w->among_others
                  ? ", waits spin briefly, then yield (more ranks on the node than processors)"
                  : ", waits spin",
              out);
}

/* The segment, its slots, and how ranks wait. */
static void print_sharing(FILE *out, const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm)
{
    const struct nc_geometry *g = &state->queue.geometry;
    char text[80];

    print_segment(out, state, MPIDI_NUMACOLL_setting(comm, -1, NC_VAR_HUGE_PAGES));
    fprintf(out, ", %u slots of %u bytes, %u given back at a time", g->slots, g->slot_bytes,
            g->set_slots);
    print_waits(out, state);
    if (MPIDI_NUMACOLL_setting(comm, -1, NC_VAR_SINGLE_COPY) != MPIR_CVAR_NUMACOLL_SINGLE_COPY_off)
        fprintf(out, ", %s", MPIDI_NUMACOLL_single_copy_state(state, text, sizeof text));
    if (MPIDI_NUMACOLL_setting(comm, -1, NC_VAR_SHARED_BUFFERS) !=
        MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_off)
        fprintf(out, ", shared buffers%s", state->direct.shared ? "" : " refused");
    fputs(", ", out);
}

static void print_setup(FILE *out, const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm)
{
    const struct nc_choice *c = &state->choice[0];
    char tree[32], barrier[32], version[32];

    fprintf(out, "numacoll: communicator of %d ranks, %d on this node: ", comm->local_size,
            state->size);
    if (state->segment.base)
        print_sharing(out, state, comm);
    MPIDI_NUMACOLL_format(NC_VAR_BCAST_TREE, (int) c->bcast_tree, tree, sizeof tree);
    MPIDI_NUMACOLL_format(NC_VAR_BARRIER, 1 + (int) c->barrier_kind, barrier, sizeof barrier);
    MPIDI_NUMACOLL_format(NC_VAR_ALLREDUCE_VERSION, c->allreduce_version, version, sizeof version);
    fprintf(out, "bcast_tree %s, barrier %s, allreduce_version %s", tree, barrier, version);
    print_specs(out, state);
    print_levels(out, &state->all);
    if (state->segment.base && state->segment.reported)
        print_placement(out, state->placement, state->size);
    if (state->unbound)
        fprintf(out, ", NUMA nodes not used: ranks are not bound to one (mpiexec -bind-to core)");
    fputc('\n', out);
}

void MPIDI_NUMACOLL_report_growth(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm)
{
    const struct nc_geometry *g = &state->queue.geometry;
    char line[240], text[80];
    int n;

    if (MPIR_CVAR_NUMACOLL_REPORT < 1 || comm->rank != 0)
        return;
    n = snprintf(
        line, sizeof line,
        "numacoll: communicator of %d ranks, %d on this node: now %zu bytes, %u slots of "
        "%u bytes%s%s\n",
        comm->local_size, state->size, state->segment.bytes, g->slots, g->slot_bytes,
        state->single_copy_timed ? ", " : "",
        state->single_copy_timed ? MPIDI_NUMACOLL_single_copy_state(state, text, sizeof text) : "");
    tell(line, (size_t) n);
}

void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm)
{
    char *text = NULL;
    size_t length;
    FILE *out;

    if (MPIR_CVAR_NUMACOLL_REPORT < 1 || comm->rank != 0 || !(out = open_memstream(&text, &length)))
        return;
    if (!state->agreed)
        fprintf(out, "numacoll: communicator of %d ranks: unusable: %s\n", comm->local_size,
                MPIDI_NUMACOLL_reason_name(state->reason));
    else
        print_setup(out, state, comm);
    if (fclose(out) == 0 && length)
        tell(text, length);
    free(text);
}

void MPIDI_NUMACOLL_report_tuned(const char *folder)
{
    char *line;
    int n;

    if (MPIR_CVAR_NUMACOLL_REPORT < 1 || MPIR_Process.rank != 0)
        return;
    n = asprintf(&line, "numacoll: tuned files of %s\n", folder);
    if (n < 0)
        return;
    tell(line, (size_t) n);
    free(line);
}

static uint64_t sum(const uint64_t *counts, int n)
{
    uint64_t all = 0;

    for (int i = 0; i < n; i++)
        all += counts[i];
    return all;
}

static void print_totals(FILE *out, enum nc_coll c, const struct nc_stats *t)
{
    uint64_t served = sum(t->served[c], NC_MOST_ALGORITHMS),
             fell_back = sum(t->fell_back[c], NC_REASON_COUNT);

    if (served + t->inner[c] + t->deferred[c] + fell_back == 0)
        return;
    fprintf(out, "numacoll: %s served %llu fell_back %llu", MPIDI_NUMACOLL_coll_name(c),
            (unsigned long long) served, (unsigned long long) fell_back);
    for (int r = 0; r < NC_REASON_COUNT; r++) {
        if (t->fell_back[c][r])
            fprintf(out, " %s=%llu", MPIDI_NUMACOLL_reason_name(r),
                    (unsigned long long) t->fell_back[c][r]);
    }
    if (t->inner[c])
        fprintf(out, " inner=%llu", (unsigned long long) t->inner[c]);
    if (t->deferred[c])
        fprintf(out, " deferred=%llu", (unsigned long long) t->deferred[c]);
    fputc('\n', out);
}

static void print_nonblocking(FILE *out, enum nc_nonblocking_coll c, const struct nc_stats *t)
{
    if (t->started[c] + t->elsewhere[c])
        fprintf(out, "numacoll: %s served %llu fell_back %llu\n",
                MPIDI_NUMACOLL_nonblocking_name(c), (unsigned long long) t->started[c],
                (unsigned long long) t->elsewhere[c]);
}

void MPIDI_NUMACOLL_report_totals(void)
{
    /* MPI may be initialised again in a process, whose counts go on: subtract what was reported
     * before */
    static struct nc_stats told;
    struct nc_stats totals, since;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return;
    MPIDI_NUMACOLL_stats_sum(&totals);
    for (size_t i = 0; i < sizeof since / sizeof(uint64_t); i++)
        ((uint64_t *) &since)[i] = ((uint64_t *) &totals)[i] - ((uint64_t *) &told)[i];
    told = totals;
    for (int c = 0; c < NC_COLL_COUNT; c++)
        print_totals(out, c, &since);
    for (int c = 0; c < NC_NONBLOCKING_COUNT; c++)
        print_nonblocking(out, c, &since);
    if (fclose(out) == 0 && length)
        tell(text, length);
    free(text);
}
