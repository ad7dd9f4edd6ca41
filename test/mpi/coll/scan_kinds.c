/* Scan of every kind of element, on three communicators; see scans.h. */

#include "scans.h"

int main(int argc, char **argv)
{
    return nc_scans(argc, argv, NC_SCAN);
}
