/* Several launches of numacoll-bench, whose results differ more than those of one launch do: memory
 * lies elsewhere, ranks run elsewhere. A launch is a process of a launcher that writes JSON. Each
 * party has one in each round of launches, in an order that turns: this numacoll-bench, once for
 * all algorithms that can share a launch, and those of --other. The result is the median of the
 * launches' medians. */

#include "bench.h"

#include <json-c/json.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    char *command;
    int algorithm_count;
    struct document *launch; /* [launches] */
} party[MAX_ALGORITHMS];
static int parties, own_parties, launches;

/* Where the algorithms of all parties are, in the order in which they are shown: first those of
 * this numacoll-bench. */
static struct {
    int party, index; /* among the party's algorithms */
} place[MAX_ALGORITHMS];
static int algorithm_count;

/* ---- commands ---- */

/* Writes a word for the shell. */
static void put_word(FILE *f, const char *word)
{
    fputs(" '", f);
    for (const char *c = word; *c; c++)
        fputs(*c == '\'' ? "'\\''" : (char[]){*c, 0}, f);
    fputc('\'', f);
}

/* Whether party p is told a word. One of several of this numacoll-bench is told by put_algorithms
 * which algorithms are its own. */
static bool is_told(int p, const struct word *word)
{
    switch (word->kind) {
        case WORD_FOR_OWN:
            return p < own_parties;
        case WORD_OF_COPIES:
            return p == 0;
        case WORD_OF_CHOICE:
            return p < own_parties && own_parties == 1;
        default:
            return true;
    }
}

/* Writes the word that chooses the algorithms of party p. */
static void put_algorithms(FILE *f, const struct options *o, int p)
{
    char *word = NULL;
    size_t length;
    FILE *w = open_memstream(&word, &length);

    if (!w)
        return;
    fputs("--algorithms=", w);
    for (int a = 0; a < o->algorithm_count; a++) {
        if (place[a].party == p && o->algorithms[a].kind == KIND_ALGORITHM)
            fprintf(w, "%s%s", place[a].index ? "," : "", o->algorithms[a].label);
    }
    if (fclose(w) == 0)
        put_word(f, word);
    free(word);
}

/* The command of party p. start: how it begins, as the user gave it; program: what it starts, or
 * NULL if it says so itself, and is of another MPI. */
static char *command_of(const struct options *o, int p, const char *start, const char *program)
{
    char *command = NULL;
    size_t length;
    FILE *f = open_memstream(&command, &length);

    if (!f)
        return NULL;
    fputs(start, f);
    if (program)
        put_word(f, program);
    for (int i = 0; i < o->word_count; i++) {
        if (is_told(p, &o->words[i]))
            put_word(f, o->words[i].text);
    }
    if (p < own_parties && own_parties > 1)
        put_algorithms(f, o, p);
    return fclose(f) ? NULL : command;
}

/* Writes the word that names the file of --raw of party p's launch k: with -K before the suffix. */
static void put_raw(FILE *f, const char *raw, int p, int k)
{
    const char *slash = strrchr(raw, '/'), *dot = strrchr(slash ? slash : raw, '.');
    size_t stem = dot ? (size_t) (dot - raw) : strlen(raw);
    char other[24] = "", *word;

    if (p >= own_parties)
        snprintf(other, sizeof other, "-other%d", p - own_parties + 1);
    else if (p)
        snprintf(other, sizeof other, "-variant%d", p);
    if (asprintf(&word, "--raw=%.*s-%d%s%s", (int) stem, raw, k + 1, other, raw + stem) < 0)
        return;
    put_word(f, word);
    free(word);
}

/* The command of party p's launch k. Without input, which a launcher would take. The caller frees
 * it. */
static char *command_of_launch(const struct options *o, int p, int k)
{
    char *command = NULL;
    size_t length;
    FILE *f = open_memstream(&command, &length);

    if (!f)
        return NULL;
    fprintf(f, "%s --format=json", party[p].command);
    if (o->raw)
        put_raw(f, o->raw, p, k);
    fputs(" </dev/null", f);
    return fclose(f) ? NULL : command;
}

/* Divides the algorithms among parties: those that ask the same of MPI_Init share one. */
static void find_places(const struct options *o)
{
    int first[MAX_ALGORITHMS] = {0}; /* algorithm of each party */

    switch_load();
    for (int a = 0; a < o->algorithm_count; a++) {
        int p = 0;
        while (p < own_parties && !switch_share_launch(&o->algorithms[first[p]], &o->algorithms[a]))
            p++;
        if (p == own_parties)
            first[own_parties++] = a;
        place[a].party = p;
        place[a].index = party[p].algorithm_count++;
    }
    algorithm_count = o->algorithm_count;
    for (int i = 0; i < o->other_count; i++) {
        int p = own_parties + i;
        place[algorithm_count].party = p;
        place[algorithm_count++].index = party[p].algorithm_count++;
    }
    parties = own_parties + o->other_count;
}

/* What is wrong, or NULL. */
static const char *make_parties(const struct options *o)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n < 0)
        return "cannot read /proc/self/exe";
    self[n] = 0;
    launches = o->launches;
    find_places(o);
    for (int p = 0; p < parties; p++) {
        party[p].command = p < own_parties ? command_of(o, p, o->launcher, self)
                                           : command_of(o, p, o->others[p - own_parties], NULL);
        party[p].launch = calloc((size_t) launches, sizeof *party[p].launch);
        if (!party[p].command || !party[p].launch)
            return "no memory for the launches";
    }
    return NULL;
}

static void free_parties(void)
{
    for (int p = 0; p < parties; p++) {
        for (int k = 0; k < launches && party[p].launch; k++)
            document_free(&party[p].launch[k]);
        free(party[p].launch);
        free(party[p].command);
    }
}

/* ---- launching ---- */

static pid_t running; /* the launch, and its group of processes; 0: there is none */

/* Ends the launch by a signal. Ranks may catch a signal that their launcher hands on, as libfabric
 * does in MPICH's, and go on; a launcher that is killed takes its ranks along. */
static void end_launch(int by)
{
    enum { TIMES = 20, MILLISECONDS = 100 };

    if (running > 0)
        kill(-running, by);
    for (int i = 0; i < TIMES && running > 0 && !kill(-running, 0); i++) {
        poll(NULL, 0, MILLISECONDS);
        waitpid(running, NULL, WNOHANG);
    }
    if (running > 0)
        kill(-running, SIGKILL);
}

/* Ends the launch as this process is ended. */
static void end(int by)
{
    end_launch(by);
    signal(by, SIG_DFL);
    raise(by);
}

/* Lets the launch end with this process. What nohup, or a shell for its background, has this
 * process ignore stays ignored. */
static void end_together(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

    for (int i = 0; i < 3; i++) {
        if (signal(signals[i], SIG_IGN) != SIG_IGN)
            signal(signals[i], end);
    }
}

/* Starts a command, in a group of its own. Returns the end of a pipe from its stdout, or -1. */
static int start(const char *command)
{
    int ends[2];

    if (pipe(ends))
        return -1;
    running = fork();
    if (running == 0) {
        setpgid(0, 0);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", command, (char *) NULL);
        _exit(127);
    }
    if (running > 0)
        setpgid(running, running); /* whichever of the two is first */
    close(ends[1]);
    return ends[0];
}

/* Milliseconds for poll() up to a moment of gate_now(), at most as many. */
static int milliseconds_until(double moment, int most)
{
    double left = 1000 * (moment - gate_now());

    return left <= 0 ? 0 : left < most ? (int) left + 1 : most;
}

/* What a pipe brings until its end, or until a moment of gate_now(). The caller frees it; NULL: no
 * memory. */
static char *read_until(int from, double moment)
{
    struct pollfd source = {.fd = from, .events = POLLIN};
    char *text = NULL, part[4096];
    size_t length;
    ssize_t n = 1;
    FILE *f = open_memstream(&text, &length);

    if (!f)
        return NULL;
    while (n > 0 && gate_now() < moment) {
        if (poll(&source, 1, milliseconds_until(moment, 1000)) <= 0)
            continue;
        n = read(from, part, sizeof part);
        if (n > 0)
            fwrite(part, 1, (size_t) n, f);
    }
    return fclose(f) ? NULL : text;
}

enum { NOT_STARTED = -1, TOO_LATE = -2 };

/* Waits until the launch ends, and ends it at a moment of gate_now(). Returns what waitpid() says
 * of it, or TOO_LATE. */
static int wait_until(double moment)
{
    int ended;

    for (;;) {
        pid_t pid = waitpid(running, &ended, WNOHANG);
        if (pid)
            return pid > 0 ? ended : NOT_STARTED;
        if (gate_now() >= moment)
            break;
        poll(NULL, 0, milliseconds_until(moment, 10));
    }
    end_launch(SIGTERM);
    return TOO_LATE;
}

/* Runs a command for so many seconds at most, and reads JSON from its stdout. Returns what
 * waitpid() says of it, NOT_STARTED or TOO_LATE. */
static int run(const char *command, double seconds, struct json_object **json)
{
    double moment = gate_now() + seconds;
    int from = start(command), ended = NOT_STARTED;
    char *text = from >= 0 ? read_until(from, moment) : NULL;

    if (from >= 0)
        close(from);
    if (running > 0)
        ended = wait_until(moment);
    running = 0;
    *json = text ? json_tokener_parse(text) : NULL;
    free(text);
    return ended;
}

static void say(int p, int k, const char *what)
{
    fprintf(stderr, "numacoll-bench: launch %d: %s: %s\n", k + 1, party[p].command, what);
}

/* Whether two documents have the same cells; if same_algorithms, of the same algorithms in the same
 * order. */
static bool alike(const struct document *a, const struct document *b, bool same_algorithms)
{
    const struct options *oa = &a->options, *ob = &b->options;

    if (a->count != b->count || oa->size_count != ob->size_count ||
        memcmp(oa->sizes, ob->sizes, sizeof oa->sizes[0] * (size_t) oa->size_count) ||
        (same_algorithms && oa->algorithm_count != ob->algorithm_count))
        return false;
    for (int i = 0; i < a->count; i++) {
        if (a->all[i].collective != b->all[i].collective || a->all[i].ranks != b->all[i].ranks)
            return false;
    }
    for (int i = 0; i < oa->algorithm_count && same_algorithms; i++) {
        if (strcmp(oa->algorithms[i].label, ob->algorithms[i].label))
            return false;
    }
    return true;
}

/* What is wrong with the document of party p's launch k, or NULL. */
static const char *check_document(int p, int k, struct json_object *j)
{
    struct document *d = &party[p].launch[k];
    const char *problem = j ? document_read(j, d) : "its output is no JSON";

    if (problem)
        return problem;
    if (p >= own_parties && d->options.algorithm_count != 1)
        return "must be a plain numacoll-bench, which measures one algorithm";
    if (d->options.algorithm_count != party[p].algorithm_count)
        return "measured other algorithms than it was told";
    if (!alike(d, &party[p].launch[0], true) || (p > 0 && !alike(d, &party[0].launch[0], false)))
        return "measured other collectives, ranks, sizes or algorithms than the launches before";
    return NULL;
}

/* Returns the exit status. A numacoll-bench that refuses its words has said why; but a shell that
 * does not understand the command has the same exit status. */
static int launch(const struct options *o, int p, int k)
{
    char *command = command_of_launch(o, p, k);
    struct json_object *j = NULL;
    int ended = command ? run(command, o->timeout, &j) : NOT_STARTED;
    int status = ended >= 0 && WIFEXITED(ended) ? WEXITSTATUS(ended) : EXIT_FAILURE;
    const char *problem = status == 0 ? check_document(p, k, j) : NULL;
    char text[64];

    free(command);
    json_object_put(j);
    if (status) {
        if (ended == TOO_LATE)
            snprintf(text, sizeof text, "ended, because it took more than %g s", o->timeout);
        else if (ended < 0)
            snprintf(text, sizeof text, "cannot be started");
        else if (WIFSIGNALED(ended))
            snprintf(text, sizeof text, "ended by signal %d", WTERMSIG(ended));
        else
            snprintf(text, sizeof text, "exit status %d", status);
        say(p, k, text);
        status = status == WRONG_INPUT ? WRONG_INPUT : EXIT_FAILURE;
    }
    if (problem) {
        say(p, k, problem);
        status = EXIT_FAILURE;
    }
    return status;
}

static int launch_all(const struct options *o)
{
    int status = EXIT_SUCCESS;

    for (int k = 0; k < launches; k++) {
        for (int i = 0; i < parties && !status; i++)
            status = launch(o, (i + k) % parties, k);
    }
    return status;
}

/* ---- the result of all launches ---- */

/* Of a cell: the result of algorithm a in launch k. */
static const struct result *result_of(int k, int m, int s, int a)
{
    return &party[place[a].party].launch[k].all[m].cell[s][place[a].index];
}

/* The median over the launches of a number, which is at this offset in struct result. */
static double median_of(int m, int s, int a, size_t offset)
{
    double values[MAX_UNITS];

    for (int k = 0; k < launches; k++)
        values[k] = *(const double *) ((const char *) result_of(k, m, s, a) + offset);
    return order_quantile(values, launches, 0.5);
}

/* Of these numbers the result of all launches has the median. */
static const size_t numbers[] = {
    offsetof(struct result, p90),      offsetof(struct result, p99),
    offsetof(struct result, cv),       offsetof(struct result, mean.min),
    offsetof(struct result, mean.avg), offsetof(struct result, mean.max)};
static const int number_count = sizeof numbers / sizeof numbers[0];

static void merge(struct result *r, const struct options *o, int m, int s, int a)
{
    double medians[MAX_UNITS], baseline[MAX_UNITS];

    *r = (struct result){.min = INFINITY};
    for (int k = 0; k < launches; k++) {
        const struct result *of = result_of(k, m, s, a);
        medians[k] = of->time.median;
        baseline[k] = result_of(k, m, s, o->baseline)->time.median;
        r->min = fmin(r->min, of->min);
        r->rounds += of->rounds;
        r->calls += of->calls;
        r->late += of->late;
        r->copies |= of->copies;
    }
    r->launches = launches;
    for (int i = 0; i < number_count; i++)
        *(double *) ((char *) r + numbers[i]) = median_of(m, s, a, numbers[i]);
    stats_of_medians(r, medians, baseline, launches);
}

/* The cells of all parties. */
static void merge_measurement(struct measurement *to, const struct options *o, int m)
{
    const struct document *own = &party[0].launch[0];

    *to = (struct measurement){.collective = own->all[m].collective,
                               .ranks = own->all[m].ranks,
                               .common_start = true,
                               .start_window = INFINITY};
    for (int p = 0; p < parties; p++) {
        for (int k = 0; k < launches; k++) {
            const struct measurement *of = &party[p].launch[k].all[m];
            to->common_start = to->common_start && of->common_start;
            to->start_window = fmin(to->start_window, of->start_window);
        }
    }
    for (int s = 0; s < options_sizes_of(o, to->collective); s++) {
        for (int a = 0; a < algorithm_count; a++)
            merge(&to->cell[s][a], o, m, s, a);
    }
}

static int write_all(const struct options *asked)
{
    const struct document *own = &party[0].launch[0];
    struct options o = results_options(&own->options, asked);
    struct measurement *all = calloc((size_t) own->count, sizeof *all);
    int status;

    if (!all) {
        fprintf(stderr, "numacoll-bench: no memory for the results\n");
        return EXIT_FAILURE;
    }
    o.launches = launches;
    for (int a = 0; a < algorithm_count; a++)
        o.algorithms[a] = party[place[a].party].launch[0].options.algorithms[place[a].index];
    o.algorithm_count = algorithm_count;
    o.baseline = asked->baseline;
    for (int m = 0; m < own->count; m++)
        merge_measurement(&all[m], &o, m);
    machine_is(&own->machine);
    json_environment_is(own->environment);
    status = results_write(&o, all, own->count);
    measurements_free(all, own->count);
    return status;
}

int launches_run(const struct options *o)
{
    struct options checked = *o;
    const char *problem;
    int status = WRONG_INPUT;

    /* of the names of pictures: one for each collective */
    if (checked.rank_count_count == 0)
        checked.rank_count_count = 1;
    problem = files_check(&checked);
    if (!problem)
        problem = compare_open(o);
    if (!problem)
        problem = make_parties(o);
    if (problem)
        fprintf(stderr, "numacoll-bench: %s\n", problem);
    else {
        end_together();
        status = launch_all(o);
    }
    if (!problem && status == EXIT_SUCCESS)
        status = write_all(o);
    free_parties();
    return status;
}
