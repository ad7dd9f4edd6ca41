/* The set of what is kept. See nc_kept.h. */

#include "nc_kept.h"

#include <string.h>

bool nc_kept_has_room(const struct nc_kept_set *s, size_t bytes, int most, size_t most_bytes)
{
    return s->count < most && s->count < NC_KEPT_MOST && bytes <= most_bytes &&
           s->bytes <= most_bytes - bytes;
}

void nc_kept_add(struct nc_kept_set *s, const struct nc_kept *kept)
{
    s->kept[s->count++] = *kept;
    s->bytes += kept->bytes;
}

/* Takes number i of the set; none if i is the count. */
static void *take(struct nc_kept_set *s, int i)
{
    void *thing;

    if (i == s->count)
        return NULL;
    thing = s->kept[i].thing;
    s->bytes -= s->kept[i].bytes;
    s->count--;
    memmove(&s->kept[i], &s->kept[i + 1], (size_t) (s->count - i) * sizeof *s->kept);
    return thing;
}

static bool has_key(const struct nc_kept *k, const int *key, int ints)
{
    return k->ints == ints && memcmp(k->key, key, (size_t) ints * sizeof *key) == 0;
}

/* Whether one is to be taken rather than another one. It does not matter which was added first. */
static bool is_better(const struct nc_kept *a, const struct nc_kept *b, int context)
{
    if ((a->context == context) != (b->context == context))
        return a->context == context;
    return a->number < b->number;
}

void *nc_kept_take(struct nc_kept_set *s, const int *key, int ints, int context)
{
    int best = s->count;

    for (int i = 0; i < s->count; i++) {
        if (has_key(&s->kept[i], key, ints) &&
            (best == s->count || is_better(&s->kept[i], &s->kept[best], context)))
            best = i;
    }
    return take(s, best);
}

void *nc_kept_take_first(struct nc_kept_set *s, bool (*is)(const void *thing))
{
    int i = 0;

    while (i < s->count && is && !is(s->kept[i].thing))
        i++;
    return take(s, i);
}
