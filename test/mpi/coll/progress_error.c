/* Tests that an error of MPICH's progress engine during a wait inside a collective is returned by
 * this call, on this rank only, and that the call is complete nevertheless: the other ranks have
 * its result, and so has the next call. On the last rank a progress hook fails once during each
 * call, to which rank 0 comes late.
 *
 *   progress_error REGISTER ACTIVATE     where in libmpi.so, in hexadecimal digits, the functions
 *                                        are by which MPICH registers hooks; it exports neither */

#define _GNU_SOURCE
#include "nctest.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { INTS = 5000 };

static bool armed;

static int fail_once(void)
{
    bool fails = armed;

    armed = false;
    return fails ? MPI_ERR_INTERN : MPI_SUCCESS;
}

/* Not all of MPICH's releases give the first of two parameters. */
static int hook(NC_HOOK_PARAMETERS)
{
    return fail_once();
}

static void start_to_fail(char **argv)
{
    Dl_info library;
    int id;

    dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &library);
    uintptr_t at = (uintptr_t) library.dli_fbase;
    ((nc_register_hook *) (at + strtoull(argv[1], NULL, 16)))(NC_HOOK_VCI hook, &id);
    ((void (*)(int))(at + strtoull(argv[2], NULL, 16)))(id);
}

/* Compares an error with the one that this rank should get. */
static void expect(const char *name, int error, bool fails)
{
    int class;

    MPI_Error_class(error, &class);
    if (class != (fails ? MPI_ERR_INTERN : MPI_SUCCESS))
        nc_fail(name, class, fails);
    if (armed)
        nc_fail("no progress during a call", 0, 0);
    armed = false;
}

/* Each collective once; with `fails` the last rank's hook fails during each. */
static void use(bool fails)
{
    static int mine[INTS], sums[INTS];
    bool last = nc_rank == nc_size - 1;

    for (int call = 0; call < 3; call++) {
        const char *name = "";
        int error = MPI_SUCCESS;

        armed = fails && last;
        if (fails && nc_rank == 0)
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        for (int i = 0; i < INTS; i++)
            mine[i] = call == 0 && nc_rank ? -1 : nc_rank + i;
        switch (call) {
            case 0:
                name = "bcast";
                error = nc_bcast(mine, INTS, MPI_INT, 0, MPI_COMM_WORLD);
                break;
            case 1:
                name = "barrier";
                error = nc_barrier(MPI_COMM_WORLD);
                break;
            case 2:
                name = "allreduce";
                nc_count(NC_ALLREDUCE, MPI_COMM_WORLD);
                error = MPI_Allreduce(mine, sums, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                break;
        }
        expect(name, error, fails && last);
        for (int i = 0; i < INTS; i++) {
            if (call == 0 && mine[i] != i)
                nc_fail("wrong value", mine[i], i);
            if (call == 2 && sums[i] != nc_size * i + nc_size * (nc_size - 1) / 2)
                nc_fail("wrong sum", sums[i], i);
        }
    }
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    use(false);
    if (nc_rank == nc_size - 1)
        start_to_fail(argv);
    use(true);
    use(false);
    use(true);
    return nc_finish();
}
