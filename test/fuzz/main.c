/* Gives files to a fuzz target, each as an input, where it is not built with libFuzzer:
 *
 *   TARGET FILE ..
 */

#include "fuzz.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static void give(const char *path)
{
    FILE *f = fopen(path, "r");
    long size;
    uint8_t *data;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
        err(1, "%s", path);
    rewind(f);
    data = malloc((size_t) size + !size);
    if (!data || fread(data, 1, (size_t) size, f) != (size_t) size)
        err(1, "%s", path);
    fclose(f);
    /* what a crash leaves as the last line is the file that it came from */
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t) size);
    free(data);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        give(argv[i]);
    return 0;
}
