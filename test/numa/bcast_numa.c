/* Broadcasts from every root, and then the question where the pages of the segment are. It is put
 * twice, to numacoll's performance variables and to the kernel, over the mapping that
 * /proc/self/maps names; each rank asks for its own region, and the answers must agree.
 *
 *   bcast_numa PLACEMENT:POLICY:VERDICT[:HUGE] ...      each on a communicator of its own
 *
 * - PLACEMENT: a value of MPIR_CVAR_NUMACOLL_PLACEMENT; where the variable has another, by info key
 * - POLICY: local: pages come from the node of who touches them, as is usual; elsewhere: this
 *   process's memory policy prefers another node
 * - VERDICT: placed: every page of every region must be on its owner's node; misplaced: at least
 *   half must not
 * - HUGE: a value of MPIR_CVAR_NUMACOLL_HUGE_PAGES: the segment must then be one huge page for each
 *   node
 *
 * Rank 0 prints the ranks' nodes and a line for each case. */

#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../mpi/coll/nctest.h"

enum { SMALLEST = 4, STEP = 8, LARGEST = 1 << 20, PAGE = 4096, FRONT = 3 * PAGE, HUGE = 2 << 20 };

/* Pages of a region. absent: nobody had allocated them when we came. */
enum { PAGES, RIGHT, WRONG, ABSENT, SAID_RIGHT, SAID_WRONG, SAID_UNVERIFIED, ERRORS, NUMBERS };
typedef unsigned long long numbers[NUMBERS];

/* ---- data ---- */

static void broadcast_all(MPI_Comm comm)
{
    unsigned char *buffer = malloc(LARGEST), *pattern = malloc(LARGEST + 64);

    for (size_t i = 0; i < LARGEST + 64; i++)
        pattern[i] = nc_byte(i, 0);
    for (size_t m = SMALLEST; m <= LARGEST; m *= STEP) {
        for (int root = 0; root < nc_size; root++) {
            const unsigned char *message = pattern + root;
            memset(buffer, 0, m);
            if (nc_rank == root)
                memcpy(buffer, message, m);
            nc_bcast(buffer, (int) m, MPI_BYTE, root, comm);
            if (memcmp(buffer, message, m))
                nc_fail("wrong data: bytes, root", (long) m, root);
        }
    }
    free(pattern);
    free(buffer);
}

/* ---- pages ---- */

/* The node of the processor this rank is bound to. */
static int my_node(void)
{
    unsigned cpu, node;
    cpu_set_t mask;

    if (sched_getaffinity(0, sizeof mask, &mask) || CPU_COUNT(&mask) != 1)
        nc_fail("bound to so many processors", CPU_COUNT(&mask), 1);
    syscall(SYS_getcpu, &cpu, &node, NULL);
    return (int) node;
}

static void set_policy(const char *policy, int node)
{
    unsigned long other = 1ul << (node ^ 1);
    int elsewhere = !strcmp(policy, "elsewhere");

    if (syscall(SYS_set_mempolicy, elsewhere ? MPOL_PREFERRED : MPOL_DEFAULT,
                elsewhere ? &other : NULL, elsewhere ? 8 * sizeof other : 0))
        nc_fail("set_mempolicy", node, elsewhere);
}

/* The one segment: policies may divide it into several lines of the file, one behind the other. */
static char *find_segment(size_t *bytes)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long first = 0, end = 0, from, to;
    char line[512];

    while (maps && fgets(line, sizeof line, maps)) {
        if (!strstr(line, "/memfd:numacoll") || sscanf(line, "%lx-%lx", &from, &to) != 2)
            continue;
        if (first && from != end)
            nc_fail("a second segment", (long) from, (long) to);
        first = first ? first : from;
        end = to;
    }
    if (maps)
        fclose(maps);
    *bytes = end - first;
    return (char *) first;
}

static void look_at_pages(char *region, size_t pages, int node, numbers n)
{
    unsigned char *resident = calloc(pages, 1);

    n[PAGES] = pages;
    if (mincore(region, pages * PAGE, resident))
        nc_fail("mincore", (long) pages, 0);
    for (size_t i = 0; i < pages; i++) {
        void *page = region + i * PAGE;
        int where = -1;
        if (!(resident[i] & 1)) {
            n[ABSENT]++;
            continue;
        }
        /* move_pages only knows pages this process has used; its reading moves none that is there
         */
        (void) *(volatile char *) page;
        if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &where, 0) || where < 0)
            nc_fail("no node of page", (long) i, where);
        n[where == node ? RIGHT : WRONG]++;
    }
    free(resident);
}

/* Behind the header page and the parking, which for a few ranks has two pages, the regions follow
 * each other by rank (PROTOCOLS.md, section 2). */
static void look_at_region(char *segment, size_t bytes, int node, numbers n)
{
    size_t pages = (bytes - FRONT) / (size_t) nc_size / PAGE;

    look_at_pages(segment + FRONT + (size_t) nc_rank * pages * PAGE, pages, node, n);
}

/* Huge pages belong to nodes, in the order of the nodes' lowest ranks. */
static void look_at_huge_page(char *segment, size_t bytes, int node, numbers n)
{
    int *nodes = malloc((size_t) nc_size * sizeof *nodes), before = 0, all = 0;

    MPI_Allgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0, mine = 0; r < nc_size; r++) {
        bool first = true;
        for (int i = 0; i < r; i++)
            first = first && nodes[i] != nodes[r];
        mine = mine || nodes[r] == node;
        all += first;
        before += first && !mine;
    }
    if (bytes != (size_t) all * HUGE)
        nc_fail("bytes of the segment, huge pages", (long) bytes, all);
    else
        look_at_pages(segment + (size_t) before * HUGE, HUGE / PAGE, node, n);
    free(nodes);
}

static void read_pvars(numbers n)
{
    static const char *names[] = {"right", "misplaced", "unverified"};
    static struct nc_pvar all[256];
    int used = nc_pvars_open(all, 256), found = 0;

    for (int i = 0; i < used; i++) {
        for (int k = 0; k < 3; k++) {
            if (strncmp(all[i].name, "numacoll_pages_", 15) || strcmp(all[i].name + 15, names[k]))
                continue;
            n[SAID_RIGHT + k] = nc_pvar_read(&all[i]);
            found++;
        }
    }
    if (found != 3)
        nc_fail("performance variables numacoll_pages_*", found, 3);
}

/* ---- verdict ---- */

static void must_agree(const numbers n, bool huge)
{
    if (n[PAGES] == 0 || n[ABSENT])
        nc_fail("pages there, of", (long) (n[PAGES] - n[ABSENT]), (long) n[PAGES]);
    if (huge) {
        /* it looks at its own region, and we at all of the huge page */
        if (n[SAID_RIGHT] == 0 || n[SAID_WRONG] || n[SAID_UNVERIFIED])
            nc_fail("by numacoll: right, wrong", (long) n[SAID_RIGHT], (long) n[SAID_WRONG]);
    } else if (n[SAID_RIGHT] != n[RIGHT] || n[SAID_WRONG] != n[WRONG] || n[SAID_UNVERIFIED])
        nc_fail("by numacoll: right, wrong", (long) n[SAID_RIGHT], (long) n[SAID_WRONG]);
}

static bool judge(const char *verdict, const numbers sum)
{
    bool placed = sum[RIGHT] == sum[PAGES], misplaced = 2 * sum[WRONG] >= sum[PAGES];

    return sum[ERRORS] == 0 && (strcmp(verdict, "placed") ? misplaced : placed);
}

static void print(const char *text, bool good, const numbers sum)
{
    printf(
        "%s %s: of %llu pages right %llu wrong %llu absent %llu, by numacoll right %llu wrong %llu "
        "unverified %llu\n",
        good ? "right" : "WRONG", text, sum[PAGES], sum[RIGHT], sum[WRONG], sum[ABSENT],
        sum[SAID_RIGHT], sum[SAID_WRONG], sum[SAID_UNVERIFIED]);
}

/* ---- one case ---- */

/* Bytes that numacoll says are in huge pages: all, or what this process has touched. */
static void must_be_huge(const char *huge, size_t bytes)
{
    struct nc_pvar all[256];
    int used = nc_pvars_open(all, 256);

    for (int i = 0; i < used; i++) {
        if (!strcmp(all[i].name, "numacoll_huge_bytes")) {
            unsigned long long said = nc_pvar_read(&all[i]);
            if (said < HUGE || said > bytes || (!strcmp(huge, "hugetlb") && said != bytes))
                nc_fail("bytes in huge pages, of", (long) said, (long) bytes);
            return;
        }
    }
    nc_fail("no numacoll_huge_bytes", used, 0);
}

static MPI_Comm communicator(const char *placement, const char *huge)
{
    const char *variable = getenv("MPIR_CVAR_NUMACOLL_PLACEMENT");
    MPI_Comm comm;
    MPI_Info info;

    MPI_Info_create(&info);
    if (!variable || strcmp(variable, placement))
        MPI_Info_set(info, "numacoll_placement", placement);
    if (*huge)
        MPI_Info_set(info, "numacoll_huge_pages", huge);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static void one_case(const char *text, int node)
{
    char placement[32] = "", policy[32] = "", verdict[32] = "", huge[32] = "", *segment;
    int errors = nc_errors;
    numbers mine = {0}, sum = {0};
    size_t bytes;
    MPI_Comm comm;

    sscanf(text, "%31[^:]:%31[^:]:%31[^:]:%31s", placement, policy, verdict, huge);
    comm = communicator(placement, huge);
    set_policy(policy, node);
    broadcast_all(comm);
    segment = find_segment(&bytes);
    if (segment && *huge)
        look_at_huge_page(segment, bytes, node, mine);
    else if (segment)
        look_at_region(segment, bytes, node, mine);
    if (*huge)
        must_be_huge(huge, bytes);
    read_pvars(mine);
    must_agree(mine, *huge);
    set_policy("local", node);
    mine[ERRORS] = (unsigned long long) (nc_errors - errors);
    MPI_Reduce(mine, sum, NUMBERS, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (nc_rank == 0) {
        bool good = judge(verdict, sum);
        nc_errors += !good;
        print(text, good, sum);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int node, *nodes;

    nc_init(&argc, &argv);
    nodes = calloc((size_t) nc_size, sizeof *nodes);
    node = my_node();
    MPI_Gather(&node, 1, MPI_INT, nodes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < nc_size && nc_rank == 0; r++)
        printf(r ? " %d" : "nodes %d", nodes[r]);
    if (nc_rank == 0)
        printf("\n");
    free(nodes);
    for (int i = 1; i < argc; i++)
        one_case(argv[i], node);
    return nc_finish();
}
