/* Topologies as strings and mappings (mpich/machine.c, through hwloc): an input is a value of
 * TOPOLOGY and, after a line "--", one of MAPPING. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "machine_use.h"

/* hwloc loses some memory of strings that it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhwloc\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *mapping = fuzz_cut(text), error[1024] = "";
    struct nc_machine *m;

    text[strcspn(text, "\n")] = '\0';
    mapping[strcspn(mapping, "\n")] = '\0';
    /* XML is another target; "" is this machine */
    if (*text && strncmp(text, "xml:", 4) && machine_most(text) <= 1024) {
        m = nc_machine_load(text, error, sizeof error);
        if (m)
            machine_use(m, mapping, 7);
        else
            assert(*error);
        nc_machine_free(m);
    }
    free(text);
    return 0;
}
