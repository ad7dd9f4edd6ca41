/* The choice of the size of fragments. shm/nc_transfer.c asks for each message; nc_model.c applies
 * the square root rule to a whole queue. See nc_frag.h. */

#include "nc_frag.h"

/* Bytes of a fragment, at least. A message of 8 KiB to 2 ranks took 0.77 of the time of MPICH's own
 * algorithm with fragments of 4096 bytes, and 1.12 with 2048. */
#define SMALLEST 4096

static uint64_t square_root(uint64_t n)
{
    uint64_t low = 0, high = UINT32_MAX;

    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (middle * middle <= n)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

uint64_t nc_frag_sqrt_rule(uint64_t m)
{
    uint64_t root = square_root(m);

    if (root * root < m)
        root++;
    return root ? round_up(root, NC_FRAG_UNIT) : NC_FRAG_UNIT;
}

static uint64_t part(uint64_t m, uint64_t parts)
{
    uint64_t f = round_up(m / parts, 64);

    return f < SMALLEST ? SMALLEST : f;
}

/* parts: into how many NC_FRAG_QUARTER divides the message. */
static uint64_t choose(uint64_t m, uint64_t parts, uint64_t slot, enum nc_frag_rule rule)
{
    uint64_t f = rule == NC_FRAG_SQRT ? nc_frag_sqrt_rule(m) : part(m, parts);

    return rule != NC_FRAG_FIXED && f < slot ? f : slot;
}

uint64_t nc_frag_choose(uint64_t m, uint64_t slot, enum nc_frag_rule rule)
{
    return choose(m, 4, slot, rule);
}

uint64_t nc_frag_choose_scatter(uint64_t m, uint64_t slot, enum nc_frag_rule rule)
{
    return choose(m, 2, slot, rule);
}
