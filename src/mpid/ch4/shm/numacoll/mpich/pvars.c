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

enum {
    ROWS = 24 + NC_COLL_COUNT * (4 + 2 * NC_MOST_ALGORITHMS + NC_REASON_COUNT) +
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

#define NC_AT(field) (offsetof(struct nc_stats, field))

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
    const char *first = "numacoll_segment_bytes";

    HASH_FIND_STR(pvar_hashs[MPI_T_PVAR_CLASS_LEVEL - MPIR_T_PVAR_CLASS_FIRST], first, entry);
    return entry != NULL;
}

void MPIDI_NUMACOLL_pvars_register(void)
{
    int used = 0;

    /* MPI may be initialised several times while MPI_T lives */
    if (registered())
        return;
    add(&used, false, NC_AT(segment_bytes), 1, "bytes of the shared segments this process uses",
        "numacoll_segment_bytes");
    add(&used, false, NC_AT(shortened_segments), 1,
        "segments with fewer or smaller slots than asked for, to fit the node's budget",
        "numacoll_shortened_segments");
    add(&used, true, NC_AT(segments_made), 1, "shared segments made, also larger ones later",
        "numacoll_segments_made");
    add(&used, true, NC_AT(segments_reused), 1,
        "communicators that went on with the segment of a freed one", "numacoll_segments_reused");
    add(&used, false, NC_AT(kept_bytes), 1,
        "bytes of the segments of freed communicators that this process keeps",
        "numacoll_kept_bytes");
    add(&used, false, NC_AT(start_microseconds), 1, "microseconds of MPI_Init that numacoll took",
        "numacoll_start_microseconds");
    add(&used, false, NC_AT(huge_bytes), 1, "bytes of the shared segments in huge pages",
        "numacoll_huge_bytes");
    add(&used, false, NC_AT(pages_right), 1, "pages of this process's regions on its NUMA node",
        "numacoll_pages_right");
    add(&used, false, NC_AT(pages_misplaced), 1,
        "pages of this process's regions on another NUMA node", "numacoll_pages_misplaced");
    add(&used, false, NC_AT(pages_unverified), 1, "pages whose NUMA node the kernel did not tell",
        "numacoll_pages_unverified");
    add(&used, true, NC_AT(waits_spinning), 1,
        "waits that ended while spinning, after a first look in vain", "numacoll_waits_spinning");
    add(&used, true, NC_AT(waits_in_progress), 1, "waits that went on to MPICH's progress engine",
        "numacoll_waits_in_progress");
    add(&used, true, NC_AT(waits_yielding), 1, "waits that gave the processor away",
        "numacoll_waits_yielding");
    add(&used, true, NC_AT(waits_asleep), 1, "waits that slept in the kernel",
        "numacoll_waits_asleep");
    add(&used, true, NC_AT(wake_ups), 1, "ranks that this process has woken", "numacoll_wake_ups");
    add(&used, true, NC_AT(asleep_microseconds), 1, "microseconds that waits slept",
        "numacoll_asleep_microseconds");
    add(&used, true, NC_AT(copied_local), 1,
        "bytes copied to or from shared memory of this process's NUMA node",
        "numacoll_copied_local_bytes");
    add(&used, true, NC_AT(copied_remote), 1,
        "bytes copied to or from shared memory of another NUMA node",
        "numacoll_copied_remote_bytes");
    add(&used, true, NC_AT(copied_shared), 1,
        "bytes copied out of the shared buffer of another process of the node",
        "numacoll_copied_shared_bytes");
    add(&used, true, NC_AT(copied_cma), 1,
        "bytes copied by the kernel out of the buffer of another process of the node",
        "numacoll_copied_cma_bytes");
    add(&used, true, NC_AT(copied_xpmem), 1,
        "bytes copied out of the mapped buffer of another process of the node (XPMEM)",
        "numacoll_copied_xpmem_bytes");
    add(&used, true, NC_AT(answered), 1,
        "calls for which selection files had chosen numacoll before and were not asked again",
        "numacoll_remembered_calls");
    add(&used, true, NC_AT(messages), 1, "messages this process sent to other nodes for numacoll",
        "numacoll_messages");
    add(&used, true, NC_AT(message_bytes), 1, "bytes of these messages", "numacoll_message_bytes");
    for (int c = 0; c < NC_COLL_COUNT; c++)
        add_collective(&used, c);
    for (int c = 0; c < NC_NONBLOCKING_COUNT; c++)
        add_nonblocking(&used, c);
}
