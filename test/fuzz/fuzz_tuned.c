/* machine.json of tuned files (mpich/tuned.c, with MPICH's headers): an input is that file, alone
 * in its folder, so whatever it says there is something wrong. */

#include "fuzz.h"

#include "mpich/tuned.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file("machine.json", data, size);
    snprintf(folder, sizeof folder, "%s", fuzz_folder());
    snprintf(mine.machine, sizeof mine.machine, "machine");
    problem[0] = 0;
    read_all();
    assert(!strncmp(problem, folder, strlen(folder)));
    assert(mine.chosen < 1u << NC_COLL_COUNT);
    return 0;
}
