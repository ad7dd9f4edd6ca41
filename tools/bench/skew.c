/* Arrival patterns. See skew.h. */

#include "skew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [SKEW_LINEAR] = "linear:", [SKEW_RANDOM] = "random:", [SKEW_LATE] = "late:"};

bool skew_parse(const char *text, struct skew *skew)
{
    char *end;

    *skew = (struct skew){SKEW_NONE, 0};
    if (!strcmp(text, "none"))
        return true;
    for (enum skew_kind kind = SKEW_LINEAR; kind <= SKEW_LATE; kind++) {
        size_t n = strlen(names[kind]);
        if (strncmp(text, names[kind], n))
            continue;
        *skew = (struct skew){kind, strtod(text + n, &end)};
        return end != text + n && *end == 0 && skew->us > 0 && skew->us <= 1e6;
    }
    return false;
}

void skew_text(const struct skew *skew, char *text, size_t n)
{
    if (skew->kind == SKEW_NONE)
        snprintf(text, n, "none");
    else
        snprintf(text, n, "%s%g", names[skew->kind], skew->us);
}

/* 0 to 1, of a call and a rank; the same on all ranks. The mixing function is that of splitmix64
 * (Steele, Lea and Flood 2014). */
static double drawn(uint64_t call, int rank)
{
    uint64_t x = call * 65536 + (uint64_t) rank + 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double) (x >> 11) / (double) ((uint64_t) 1 << 53);
}

double skew_delay(const struct skew *skew, uint64_t call, int rank, int ranks)
{
    switch (skew->kind) {
        case SKEW_LINEAR:
            return skew->us * rank / (ranks - 1);
        case SKEW_RANDOM:
            return skew->us * drawn(call, rank);
        case SKEW_LATE:
            /* its distance from a root that moves on by one in each call changes every `ranks`
             * calls */
            return (call + call / (uint64_t) ranks) % (uint64_t) ranks == (uint64_t) rank ? skew->us
                                                                                          : 0;
        default:
            return 0;
    }
}

double skew_last(const struct skew *skew, uint64_t call, int ranks)
{
    double last = 0;

    for (int rank = 0; rank < ranks && skew->kind != SKEW_NONE; rank++) {
        double delay = skew_delay(skew, call, rank, ranks);
        last = delay > last ? delay : last;
    }
    return last;
}
