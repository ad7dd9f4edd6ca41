/* The statistics as performance variables of MPI_T, category NUMACOLL: registered at MPI_Init,
 * computed from stats.c when a tool reads them. */

#include "mpidimpl.h"
#include "pvars.h"
#include "stats.h"

/* A performance variable: the sum of n numbers of struct nc_stats, from `offset` on, bytes. */
struct row {
    char name[64];
    size_t offset;
    int n;
};

#define NC_AT(field) (offsetof(struct nc_stats, field))

/* The variables of the process as a whole. The first one is a level, see `registered`. */
static const struct {
    bool counter;
    size_t offset;
    const char *name, *description;
} of_process[] = {
    {false, NC_AT(segment_bytes), "numacoll_segment_bytes",
     "bytes of the shared segments this process uses"},
    {false, NC_AT(shortened_segments), "numacoll_shortened_segments",
     "segments with fewer or smaller slots than asked for, to fit the node's budget"},
    {true, NC_AT(segments_made), "numacoll_segments_made",
     "shared segments made, also larger ones later"},
    {true, NC_AT(segments_reused), "numacoll_segments_reused",
     "communicators that went on with the segment of a freed one"},
    {false, NC_AT(kept_bytes), "numacoll_kept_bytes",
     "bytes of the segments of freed communicators that this process keeps"},
    {false, NC_AT(start_microseconds), "numacoll_start_microseconds",
     "microseconds of MPI_Init that numacoll took"},
    {false, NC_AT(huge_bytes), "numacoll_huge_bytes", "bytes of the shared segments in huge pages"},
    {false, NC_AT(pages_right), "numacoll_pages_right",
     "pages of this process's regions on its NUMA node"},
    {false, NC_AT(pages_misplaced), "numacoll_pages_misplaced",
     "pages of this process's regions on another NUMA node"},
    {false, NC_AT(pages_unverified), "numacoll_pages_unverified",
     "pages whose NUMA node the kernel did not tell"},
    {true, NC_AT(waits_spinning), "numacoll_waits_spinning",
     "waits that ended while spinning, after a first look in vain"},
    {true, NC_AT(waits_in_progress), "numacoll_waits_in_progress",
     "waits that went on to MPICH's progress engine"},
    {true, NC_AT(waits_yielding), "numacoll_waits_yielding", "waits that gave the processor away"},
    {true, NC_AT(waits_asleep), "numacoll_waits_asleep", "waits that slept in the kernel"},
    {true, NC_AT(wake_ups), "numacoll_wake_ups", "ranks that this process has woken"},
    {true, NC_AT(asleep_microseconds), "numacoll_asleep_microseconds",
     "microseconds that waits slept"},
    {true, NC_AT(copied_local), "numacoll_copied_local_bytes",
     "bytes copied to or from shared memory of this process's NUMA node"},
    {true, NC_AT(copied_remote), "numacoll_copied_remote_bytes",
     "bytes copied to or from shared memory of another NUMA node"},
    {true, NC_AT(copied_shared), "numacoll_copied_shared_bytes",
     "bytes copied out of the shared buffer of another process of the node"},
    {true, NC_AT(copied_cma), "numacoll_copied_cma_bytes",
     "bytes copied by the kernel out of the buffer of another process of the node"},
    {true, NC_AT(copied_xpmem), "numacoll_copied_xpmem_bytes",
     "bytes copied out of the mapped buffer of another process of the node (XPMEM)"},
    {true, NC_AT(demoted), "numacoll_demoted_bytes",
     "bytes in shared memory that this process has moved into the cache of all processors"},
    {true, NC_AT(answered), "numacoll_remembered_calls",
     "calls for which selection files had chosen numacoll before and were not asked again"},
    {true, NC_AT(messages), "numacoll_messages",
     "messages this process sent to other nodes for numacoll"},
    {true, NC_AT(message_bytes), "numacoll_message_bytes", "bytes of these messages"},
};

enum {
    OF_PROCESS = sizeof of_process / sizeof *of_process,
    ROWS = OF_PROCESS + NC_COLL_COUNT * (4 + 2 * NC_MOST_ALGORITHMS + NC_REASON_COUNT) +
           2 * NC_NONBLOCKING_COUNT
};
static struct row rows[ROWS];

/* MPICH calls this when a tool reads the variable. */
static void get(void *address, void *object, int count, void *buffer)
{
    const struct row *row = address;
    unsigned long long value = MPIDI_NUMACOLL_stats_sum_of(row->offset, row->n);

    (void) object;
    (void) count;
    memcpy(buffer, &value, sizeof value);
}

/* Registers one variable. counter: MPI_T gives what was counted since the tool's handle was made;
 * else a level, what there is at the moment. */
static void add(int *used, bool counter, size_t offset, int n, const char *description,
                const char *format, ...)
{
    struct row *row = &rows[(*used)++];
    int flags = MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS |
                (counter ? MPIR_T_PVAR_FLAG_SUM : 0);
    va_list values;

    va_start(values, format);
    vsnprintf(row->name, sizeof row->name, format, values);
    va_end(values);
    row->offset = offset;
    row->n = n;
    MPIR_T_PVAR_REGISTER_impl(counter ? MPI_T_PVAR_CLASS_COUNTER : MPI_T_PVAR_CLASS_LEVEL,
                              MPI_UNSIGNED_LONG_LONG, row->name, row, 1, MPI_T_ENUM_NULL,
                              MPI_T_VERBOSITY_USER_BASIC, MPI_T_BIND_NO_OBJECT, flags, get, NULL,
                              "NUMACOLL", description);
}

static void add_collective(int *used, enum nc_coll c)
{
    const char *name = MPIDI_NUMACOLL_coll_name(c), *word = MPIDI_NUMACOLL_coll_algorithms(c);

    add(used, true, NC_AT(served[0]) + c * sizeof(((struct nc_stats *) 0)->served[0]),
        NC_MOST_ALGORITHMS, "calls of the program served by numacoll", "numacoll_%s_calls", name);
    add(used, true, NC_AT(bytes[0]) + c * sizeof(((struct nc_stats *) 0)->bytes[0]),
        NC_MOST_ALGORITHMS, "bytes of the messages of these calls", "numacoll_%s_bytes", name);
    for (int way = 0; *word; way++, word += strcspn(word, " "), word += *word == ' ') {
        int n = (int) strcspn(word, " ");
        size_t at = (c * NC_MOST_ALGORITHMS + (size_t) way) * sizeof(uint64_t);
        add(used, true, NC_AT(served) + at, 1, "calls served by this algorithm",
            "numacoll_%s_%.*s_calls", name, n, word);
        add(used, true, NC_AT(bytes) + at, 1, "bytes of the messages of these calls",
            "numacoll_%s_%.*s_bytes", name, n, word);
    }
    add(used, true, NC_AT(inner) + c * sizeof(uint64_t), 1,
        "calls MPICH made itself inside another collective", "numacoll_%s_inner_calls", name);
    add(used, true, NC_AT(deferred) + c * sizeof(uint64_t), 1,
        "calls before the shared segment was made", "numacoll_%s_deferred_calls", name);
    for (int reason = NC_REASON_NONE + 1; reason < NC_REASON_COUNT; reason++)
        add(used, true,
            NC_AT(fell_back) + (c * NC_REASON_COUNT + (size_t) reason) * sizeof(uint64_t), 1,
            "calls that fell back to MPICH for this reason", "numacoll_%s_fell_back_%s", name,
            MPIDI_NUMACOLL_reason_name(reason));
}

static void add_nonblocking(int *used, enum nc_nonblocking_coll c)
{
    const char *name = MPIDI_NUMACOLL_nonblocking_name(c);

    add(used, true, NC_AT(started) + c * sizeof(uint64_t), 1,
        "calls and starts of the program served by numacoll", "numacoll_%s_calls", name);
    add(used, true, NC_AT(elsewhere) + c * sizeof(uint64_t), 1,
        "calls that were left to MPICH, though numacoll is selected", "numacoll_%s_fell_back",
        name);
}

/* Whether MPI_T knows the first variable already. */
static bool registered(void)
{
    name2index_hash_t *entry;
    const char *first = of_process[0].name;

    HASH_FIND_STR(pvar_hashs[MPI_T_PVAR_CLASS_LEVEL - MPIR_T_PVAR_CLASS_FIRST], first, entry);
    return entry != NULL;
}

void MPIDI_NUMACOLL_pvars_register(void)
{
    int used = 0;

    /* MPI may be initialised several times while MPI_T lives */
    if (registered())
        return;
    for (int i = 0; i < OF_PROCESS; i++)
        add(&used, of_process[i].counter, of_process[i].offset, 1, of_process[i].description, "%s",
            of_process[i].name);
    for (int c = 0; c < NC_COLL_COUNT; c++)
        add_collective(&used, c);
    for (int c = 0; c < NC_NONBLOCKING_COUNT; c++)
        add_nonblocking(&used, c);
}
