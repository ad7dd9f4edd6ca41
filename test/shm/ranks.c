/* The ranks of a test, see ranks.h. */
#include "ranks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static bool left_out[RANKS_KINDS];

struct thread {
    pthread_t id;
    int (*main)(const void *run, int rank);
    const void *run;
    int rank, wrong;
};

static void *thread_main(void *argument)
{
    struct thread *t = argument;

    t->wrong = t->main(t->run, t->rank);
    return NULL;
}

static int run_threads(int ranks, int (*main)(const void *run, int rank), const void *run)
{
    struct thread *t = calloc((size_t) ranks, sizeof *t);
    int wrong = 0;

    for (int r = 0; r < ranks; r++) {
        t[r] = (struct thread){.main = main, .run = run, .rank = r};
        int error = pthread_create(&t[r].id, NULL, thread_main, &t[r]);
        if (error) {
            fprintf(stderr, "no thread for rank %d: %s\n", r,
                    strerror(error)); /* the others would wait for it */
            exit(1);
        }
    }
    for (int r = 0; r < ranks; r++) {
        pthread_join(t[r].id, NULL);
        wrong += t[r].wrong;
    }
    free(t);
    return wrong;
}

static int run_processes(int ranks, int (*main)(const void *run, int rank), const void *run,
                         unsigned seconds)
{
    int wrong = 0, status;

    for (int r = 0; r < ranks; r++) {
        if (fork() == 0) {
            alarm(seconds);
            _exit(main(run, r) != 0);
        }
    }
    while (wait(&status) > 0)
        wrong += status != 0;
    return wrong;
}

int run_ranks(enum ranks_kind kind, int ranks, int (*main)(const void *run, int rank),
              const void *run, unsigned seconds)
{
    return kind == THREADS ? run_threads(ranks, main, run)
                           : run_processes(ranks, main, run, seconds);
}

bool ranks_arguments(int argc, char **argv, int *scale)
{
    if (argc > 1)
        *scale = atoi(argv[1]);
    if (argc > 2 && argv[2][0] == '!')
        cmocka_set_skip_filter(argv[2] + 1);
    else if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    if (argc > 3) {
        left_out[THREADS] = strcmp(argv[3], "threads") != 0;
        left_out[PROCESSES] = strcmp(argv[3], "processes") != 0;
    }
    return argc <= 3 || left_out[THREADS] != left_out[PROCESSES];
}

bool ranks_run(enum ranks_kind kind)
{
    return !left_out[kind];
}
