/* The collectives: one row each, and the functions that make a call, fill its inputs and verify its outputs. */

#include "bench.h"

#include <stdio.h>
#include <string.h>

static unsigned char pattern(size_t i, unsigned seed)
{
    return (unsigned char) (i * 31 + (i >> 8) + seed);
}

static void fill_block(unsigned char *block, size_t m, unsigned seed)
{
    for (size_t i = 0; i < m; i++)
        block[i] = pattern(i, seed);
}

static bool block_is(const unsigned char *block, size_t m, unsigned seed)
{
    for (size_t i = 0; i < m; i++) {
        if (block[i] != pattern(i, seed))
            return false;
    }
    return true;
}

/* ---- bcast ---- */

static int bcast(const struct call *c)
{
    return MPI_Bcast(c->in, (int) c->m, MPI_BYTE, c->root, c->comm);
}

static void bcast_fill(const struct call *c)
{
    fill_block(c->in, c->m, c->rank == c->root ? c->seed : c->seed + 1);
}

static bool bcast_verify(const struct call *c)
{
    return block_is(c->in, c->m, c->seed);
}

/* ---- barrier ---- */

static int barrier(const struct call *c)
{
    return MPI_Barrier(c->comm);
}

/* ---- the table ---- */

static const struct collective table[] = {
    {"bcast", true, ONE_BLOCK, NO_BLOCK, bcast, bcast_fill, bcast_verify},
    {"barrier", false, NO_BLOCK, NO_BLOCK, barrier, NULL, NULL},
};
static const int table_rows = sizeof table / sizeof table[0];

const struct collective *collective_find(const char *name)
{
    for (int i = 0; i < table_rows; i++) {
        if (!strcmp(table[i].name, name))
            return &table[i];
    }
    return NULL;
}

void collective_names(char *text, size_t n)
{
    size_t used = 0;

    for (int i = 0; i < table_rows && used < n; i++)
        used += (size_t) snprintf(text + used, n - used, "%s%s", i ? ", " : "", table[i].name);
}

bool collective_has_size(const struct collective *collective)
{
    return collective->in != NO_BLOCK || collective->out != NO_BLOCK;
}
