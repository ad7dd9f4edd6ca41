/* A table of corner cases, for programs that run them one after the other with every root
 * (all_corners, all_reduce). Without a name on the command line all cases run that are not
 * only_by_name; with a name, only the case of that name. */

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
