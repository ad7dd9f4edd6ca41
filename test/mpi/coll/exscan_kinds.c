/* Exscan of every kind of element, on three communicators; see scans.h. Rank 0 has no result: what
 * is in its buffer must stay. */

#include "scans.h"

int main(int argc, char **argv)
{
    return nc_scans(argc, argv, NC_EXSCAN);
}
