/* Prints the names that the installed library accepts and uses, for test/published to compare.
 *
 *   names                      the variables, their category, and the performance variables
 *   names info KEY VALUE...    those of these info keys that a communicator accepts
 *   names calls                makes calls on MPI_COMM_WORLD and a duplicate, for the report */

#include "nctest.h"

enum { NAME = 128, TEXT = 4096, CALLS = 4 };

static void print_default(int index, MPI_Datatype type, int count)
{
    MPI_T_cvar_handle handle;
    char text[TEXT] = "";
    int number = 0;

    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    MPI_T_cvar_read(handle, type == MPI_CHAR ? (void *) text : &number);
    MPI_T_cvar_handle_free(&handle);
    if (type == MPI_CHAR)
        printf("\t\"%s\"", text);
    else
        printf("\t%d", number);
}

/* Prints lines `cvar NAME TYPE DEFAULT DESCRIPTION`, separated by tabs. Called before MPI_Init,
 * which may change the variables from their defaults. */
static void print_variables(void)
{
    int n;

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[NAME], description[TEXT];
        int name_size = NAME, size = TEXT, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_cvar_get_info(i, name, &name_size, &verbosity, &type, &names, description, &size,
                            &bind, &scope);
        if (!strstr(name, "NUMACOLL") && !strstr(description, "numacoll"))
            continue;
        printf("cvar\t%s\t%s", name, type == MPI_CHAR ? "text" : "number");
        print_default(i, type, 1);
        printf("\t%s\n", description);
    }
}

static void print_categories(void)
{
    int n;

    MPI_T_category_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[NAME];
        int size = NAME, none = 0, cvars, pvars, categories;
        MPI_T_category_get_info(i, name, &size, NULL, &none, &cvars, &pvars, &categories);
        if (strstr(name, "NUMACOLL"))
            printf("category\t%s\n", name);
    }
}

static const char *class_name(int class)
{
    return class == MPI_T_PVAR_CLASS_COUNTER ? "counter"
           : class == MPI_T_PVAR_CLASS_LEVEL ? "level"
                                             : "other";
}

static void print_performance_variables(void)
{
    int n;

    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[NAME];
        int size = NAME, none = 0, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_pvar_get_info(i, name, &size, &verbosity, &class, &type, &names, NULL, &none, &bind,
                            &readonly, &continuous, &atomic);
        if (!strncmp(name, "numacoll_", 9))
            printf("pvar\t%s\t%s\n", name, class_name(class));
    }
}

/* Prints `info KEY` if MPI_Comm_get_info returns what MPI_Comm_set_info was given. */
static void print_info_key(const char *key, const char *value)
{
    MPI_Comm comm;
    MPI_Info info;
    char got[TEXT];
    int flag;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, TEXT - 1, got, &flag);
    if (flag && !strcmp(got, value))
        printf("info\t%s\n", key);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

static void make_calls(void)
{
    MPI_Comm comm;
    int mine = 1, all;

    for (int i = 0; i < CALLS; i++) {
        MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(&mine, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int provided, errors;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (argc < 2)
        print_variables();
    nc_init(&argc, &argv);
    if (argc < 2) {
        print_categories();
        print_performance_variables();
    } else if (!strcmp(argv[1], "calls")) {
        make_calls();
    }
    for (int i = 2; i + 1 < argc; i += 2)
        print_info_key(argv[i], argv[i + 1]);
    errors = nc_finish();
    MPI_T_finalize();
    return errors;
}
