/* Tuned files. See tuned.h.
 *
 * MPICH reads selection files before processes can talk to each other. So it starts with its own
 * choices, and the files come in their place when all have agreed. MPI_COMM_WORLD and MPI_COMM_SELF
 * are there by then; each communicator has a selection of its own for each level, made of the
 * level's, and these are made again. */

#define _GNU_SOURCE
#include "tuned.h"

#include <errno.h>
#include <json.h>
#include <stdarg.h>
#include <unistd.h>

#include "mpir_csel.h"
#include "../core/nc_sha256.h"
#include "collectives.h"
#include "crowding.h"
#include "diag.h"
#include "machine.h"
#include "numacoll_paths.h" /* made by Makefile.mk */
#include "report.h"
#include "selection_file.h"
#include "text_file.h"

enum { NAME = 256, FOLDER = 3840, PATH = FOLDER + 32 }; /* bytes */

/* What all ranks must have alike: compared as memory. */
struct common {
    char machine[NAME];
    unsigned file[NC_SELECTION_FILES]; /* checksums */
    unsigned chosen;                   /* bit per collective: the files choose for it */
    unsigned wanted;                   /* MPIDI_NUMACOLL_tuned */
};

static bool started;        /* between tuned_read and tuned_forget */
static char folder[FOLDER]; /* where the files are */
static struct common mine;
static char problem[NC_SELECTION_PROBLEM]; /* why this process cannot use them; "": it can */
/* What is made of the files, until it is taken; then what it has replaced, to which a communicator
 * may still point that was not made again. */
static void *other[NC_SELECTION_FILES];

static const char *const names[NC_SELECTION_FILES] = {
    [MPIR_NUMACOLL_CSEL_MPIR] = "mpir.json",
    [MPIR_NUMACOLL_CSEL_CH4] = "ch4.json",
    [MPIR_NUMACOLL_CSEL_POSIX] = "posix.json",
};

/* ---- this process ---- */

/* Sets what is wrong; always false. */
static bool wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool wrong(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(problem, sizeof problem, format, values);
    va_end(values);
    return false;
}

/* The machine that the process is on, whatever TOPOLOGY assumes: times are this one's. */
static void name_machine(void)
{
    char none[256], name[NAME - 64] = "unknown";
    struct nc_machine *machine = MPIR_numacoll_hwloc() ? nc_machine_borrow(MPIR_numacoll_hwloc())
                                                       : nc_machine_load("", none, sizeof none);

    if (machine)
        nc_machine_name(machine, name, sizeof name);
    nc_machine_free(machine);
    snprintf(mine.machine, sizeof mine.machine, "%s_mpich-%.32s%s", name, MPICH_VERSION,
             MPIDI_NUMACOLL_crowding() == NC_CROWDING_NONE ? "" : "_crowded");
}

const char *MPIDI_NUMACOLL_tuned_machine(void)
{
    if (!started)
        return NULL;
    if (!*mine.machine)
        name_machine();
    return mine.machine;
}

/* The text of a file of the folder, for MPL_free. NULL: it cannot be read. *path: its path. */
static char *read_file(const char *name, char path[PATH])
{
    char *text;

    snprintf(path, PATH, "%s/%s", folder, name);
    text = MPIDI_NUMACOLL_text_file_read(path);
    if (!text)
        wrong("%s: must be a regular file that can be read: %s", path, strerror(errno));
    return text;
}

static struct json_object *member(struct json_object *object, const char *key, json_type type)
{
    struct json_object *value = NULL;

    return json_object_object_get_ex(object, key, &value) && json_object_is_type(value, type)
               ? value
               : NULL;
}

/* Reads a level's file. sums: what machine.json says of checksums. */
static bool read_level(int level, struct json_object *sums)
{
    char path[PATH], sum[NC_SHA256_TEXT];
    struct json_object *expected = member(sums, names[level], json_type_string);
    char *text = read_file(names[level], path);
    bool good = text != NULL;

    if (good) {
        nc_sha256(text, strlen(text), sum);
        if (!expected || strcmp(json_object_get_string(expected), sum))
            good = wrong("%s: must be the file that machine.json beside it has the SHA-256 of: "
                         "its own is %s",
                         path, sum);
    }
    if (good)
        good = MPIDI_NUMACOLL_file_check(level, path, text, problem, sizeof problem);
    if (good && MPIDI_NUMACOLL_file_make(level, text, &other[level]) != MPI_SUCCESS)
        good = wrong("%s: no memory", path);
    if (good)
        mine.file[level] = MPIDI_NUMACOLL_text_checksum(text);
    MPL_free(text);
    return good;
}

/* The collectives of an array of names, as bits. Those that this library does not serve do not
 * count. */
static unsigned bits_of(struct json_object *array)
{
    unsigned bits = 0;

    for (size_t i = 0; i < (size_t) json_object_array_length(array); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(array, i));
        bits |= name ? MPIDI_NUMACOLL_coll_bit(name) : 0;
    }
    return bits;
}

/* Reads the files that machine.json describes. */
static bool read_described(struct json_object *about, const char *path)
{
    struct json_object *machine = member(about, "machine", json_type_string);
    struct json_object *sums = member(about, "sha256", json_type_object);
    struct json_object *chosen = member(about, "chosen", json_type_array);

    if (!machine || !sums || !chosen)
        return wrong("%s: must be an object with \"machine\", \"chosen\" and \"sha256\", as "
                     "numacoll-tune writes it",
                     path);
    if (strcmp(json_object_get_string(machine), mine.machine))
        return wrong("%s: \"machine\" must be the name of its folder, not %s", path,
                     json_object_get_string(machine));
    mine.chosen = bits_of(chosen);
    for (int level = 0; level < NC_SELECTION_FILES; level++) {
        if (!read_level(level, sums))
            return false;
    }
    return true;
}

static void read_all(void)
{
    char path[PATH], *text = read_file("machine.json", path);
    struct json_object *about = text ? json_tokener_parse(text) : NULL;

    if (text)
        read_described(about, path);
    json_object_put(about);
    MPL_free(text);
}

void MPIDI_NUMACOLL_tuned_read(void)
{
    const char *above = MPIR_CVAR_NUMACOLL_TUNED_FOLDER;

    started = true;
    if (!MPIDI_NUMACOLL_tuned)
        return;
    memset(&mine, 0, sizeof mine);
    name_machine();
    mine.wanted = MPIDI_NUMACOLL_tuned;
    snprintf(folder, sizeof folder, "%s/%s", *above ? above : NUMACOLL_TUNED, mine.machine);
    read_all();
}

/* ---- all processes ---- */

/* Finds in comm what is wrong with a rank, if anything is: with the lowest such rank. Then the
 * problem of every rank is that one's. Collective. */
static int share_problem(MPIR_Comm *comm)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, first = *problem ? comm->rank : comm->local_size;

    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, &first, 1, NC_TYPE_INT,
                                                        MPI_MIN, comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (first < comm->local_size) {
        mpi_errno = MPIR_Bcast_intra_binomial(problem, sizeof problem, NC_TYPE_BYTE, first, comm,
                                              errflag);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Sets what is wrong if this rank has other files than rank 0. Collective. */
static int compare_with_first(MPIR_Comm *comm)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    struct common first = mine;

    mpi_errno = MPIR_Bcast_intra_binomial(&first, sizeof first, NC_TYPE_BYTE, 0, comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (*problem || !memcmp(&first, &mine, sizeof mine))
        goto fn_exit;
    if (strcmp(first.machine, mine.machine))
        wrong("%s: this machine is another one than rank 0's, %s", folder, first.machine);
    else if (memcmp(first.file, mine.file, sizeof mine.file) || first.chosen != mine.chosen)
        wrong("%s: must be the same files as rank 0 has", folder);
    else
        wrong("%s: beside `tuned` there must be the same collectives as on rank 0", folder);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Adds this host to what is wrong. */
static void name_host(void)
{
    char host[256] = "", text[sizeof problem];

    gethostname(host, sizeof host - 1);
    memcpy(text, problem, sizeof text);
    wrong("on %s: %s", host, text);
}

/* Makes a communicator's own selections anew. comm NULL: there is none. */
static int select_anew(MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;
    void **own[NC_SELECTION_FILES] = {0};

    if (!comm)
        goto fn_exit;
    own[MPIR_NUMACOLL_CSEL_MPIR] = &comm->csel_comm;
    own[MPIR_NUMACOLL_CSEL_CH4] = &MPIDI_COMM(comm, csel_comm);
    own[MPIR_NUMACOLL_CSEL_POSIX] = &MPIDI_POSIX_COMM(comm, csel_comm);
    for (int level = 0; level < NC_SELECTION_FILES; level++) {
        if (!*own[level])
            continue;
        mpi_errno = MPIR_Csel_free(*own[level]);
        *own[level] = NULL;
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIR_Csel_prune(*MPIDI_NUMACOLL_file_default(level), comm, own[level]);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Puts the files in the place of MPICH's own choices. */
static int take(void)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *const made[] = {MPIR_Process.comm_world, MPIR_Process.comm_self};

    for (int level = 0; level < NC_SELECTION_FILES; level++) {
        void **place = MPIDI_NUMACOLL_file_default(level), *before = *place;
        *place = other[level];
        other[level] = before;
    }
    for (int i = 0; i < 2; i++) {
        MPIR_Comm *const parts[] = {made[i], made[i] ? made[i]->node_comm : NULL,
                                    made[i] ? made[i]->node_roots_comm : NULL};
        for (int k = 0; k < 3; k++) {
            mpi_errno = select_anew(parts[k]);
            MPIR_ERR_CHECK(mpi_errno);
        }
    }
    MPIDI_NUMACOLL_listed &= ~(MPIDI_NUMACOLL_tuned & mine.chosen);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_tuned_agree(MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;

    if (!MPIDI_NUMACOLL_tuned)
        goto fn_exit;
    mpi_errno = compare_with_first(comm);
    MPIR_ERR_CHECK(mpi_errno);
    if (*problem)
        name_host();
    mpi_errno = share_problem(comm);
    MPIR_ERR_CHECK(mpi_errno);
    if (*problem) {
        MPIDI_NUMACOLL_complain(comm->rank,
                                "MPIR_CVAR_NUMACOLL_COLLECTIVES=tuned: taken as all by all ranks: "
                                "%s",
                                problem);
    } else {
        mpi_errno = take();
        MPIR_ERR_CHECK(mpi_errno);
        MPIDI_NUMACOLL_report_tuned(folder);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_tuned_forget(void)
{
    for (int level = 0; level < NC_SELECTION_FILES; level++) {
        if (other[level])
            MPIR_Csel_free(other[level]);
        other[level] = NULL;
    }
    problem[0] = 0;
    memset(&mine, 0, sizeof mine);
    started = false;
}
