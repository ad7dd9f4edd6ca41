/* Programs of several corners, each tried with every root: PROGRAM [NAME], all that are not
 * only_by_name or one. */

#ifndef CORNERS_H_INCLUDED
#define CORNERS_H_INCLUDED

#include "nctest.h"

struct corner {
    const char *name;
    void (*run)(int root);
    int only_by_name;
};

static inline void run_corners(const struct corner *corners, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (name ? strcmp(name, corners[i].name) : corners[i].only_by_name)
            continue;
        double started = MPI_Wtime();
        for (int root = 0; root < nc_size; root++)
            corners[i].run(root);
        if (nc_rank == 0)
            printf("%s %.2f s\n", corners[i].name, MPI_Wtime() - started);
    }
}

#endif
