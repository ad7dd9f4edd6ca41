/* Tests Bcast with datatypes: structs with gaps, different datatypes at the root and elsewhere,
 * MPI_BOTTOM with absolute addresses, datatypes without bytes. */

#include "nctest.h"

#include <stddef.h>

struct mixed {
    char c;
    double d;
    short s;
};

static MPI_Datatype mixed_type(void)
{
    int lengths[3] = {1, 1, 1};
    MPI_Aint at[3] = {offsetof(struct mixed, c), offsetof(struct mixed, d),
                      offsetof(struct mixed, s)};
    MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, raw, type;

    MPI_Type_create_struct(3, lengths, at, parts, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct mixed), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&raw);
    return type;
}

static void structs(int count, int root)
{
    MPI_Datatype type = mixed_type();
    struct mixed *a = nc_memory_alloc(sizeof *a * (size_t) (count + 1));

    memset(a, 0x77, sizeof *a * (size_t) (count + 1));
    for (int i = 0; nc_rank == root && i < count; i++) {
        a[i].c = (char) i;
        a[i].d = i * 0.5 + root;
        a[i].s = (short) (3 * i);
    }
    nc_bcast(a, count, type, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        if (a[i].c != (char) i || a[i].d != i * 0.5 + root || a[i].s != (short) (3 * i)) {
            nc_fail("wrong struct", i, count);
            break;
        }
        if (((unsigned char *) &a[i])[1] != 0x77)
            nc_fail("gap touched", i, count);
    }
    if (((unsigned char *) &a[count])[0] != 0x77)
        nc_fail("end touched", count, 0);
    nc_memory_free(a);
    MPI_Type_free(&type);
}

/* sparse_root: the root sends every second element of an array, the others receive a contiguous
 * array; otherwise the other way round. */
static void pairs(int count, int root, int sparse_root)
{
    MPI_Datatype vector;
    int sparse = (nc_rank == root) == sparse_root;
    double *a = nc_memory_alloc(sizeof *a * 2 * (size_t) count + 8);

    MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < 2 * count; i++)
        a[i] = -1;
    for (int i = 0; nc_rank == root && i < count; i++)
        a[sparse ? 2 * i : i] = i + root;
    nc_bcast(a, sparse ? 1 : count, sparse ? vector : MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        if (a[sparse ? 2 * i : i] != i + root || (sparse && i < count - 1 && a[2 * i + 1] != -1)) {
            nc_fail("wrong pair", i, count);
            break;
        }
    }
    nc_memory_free(a);
    MPI_Type_free(&vector);
}

/* A stack variable and a static array in one datatype of absolute addresses. */
static void absolute(int root)
{
    static int far[40000];
    int x = nc_rank == root ? 17 : 0, lengths[2] = {1, 40000};
    MPI_Aint at[2];
    MPI_Datatype parts[2] = {MPI_INT, MPI_INT}, type;

    MPI_Get_address(&x, &at[0]);
    MPI_Get_address(far, &at[1]);
    MPI_Type_create_struct(2, lengths, at, parts, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 40000; i++)
        far[i] = nc_rank == root ? i ^ root : -1;
    nc_bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
    if (x != 17)
        nc_fail("wrong single", x, 17);
    for (int i = 0; i < 40000; i++) {
        if (far[i] != (i ^ root)) {
            nc_fail("wrong element", i, far[i]);
            break;
        }
    }
    MPI_Type_free(&type);
}

static void nothing(int root)
{
    MPI_Datatype empty;
    int x = 5;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    nc_bcast(&x, 3, empty, root, MPI_COMM_WORLD);
    nc_bcast(NULL, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
    if (x != 5)
        nc_fail("empty type wrote", x, 5);
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    for (int root = 0; root < nc_size; root++) {
        for (int count = 1; count <= 20000; count = count * 3 + 1)
            structs(count, root);
        for (int count = 1; count <= 100000; count *= 10) {
            pairs(count, root, 0);
            pairs(count, root, 1);
        }
        absolute(root);
        nothing(root);
    }
    return nc_finish();
}
