/* Keeps the pace of both kinds of stores; see nc_pace.h. */

#include "nc_pace.h"

/* Whether streaming stores are so much faster, as far as is known. */
static bool is_faster(const struct nc_pace *p)
{
    return p->cost[true] > 0 &&
           (uint64_t) p->cost[true] * NC_PACE_GAIN < (uint64_t) p->cost[false] * 8;
}

bool nc_pace_streams(const struct nc_pace *p)
{
    return p->left > 0 ? is_faster(p) : !is_faster(p);
}

/* A cost with another sample of it. A sample that is much larger was interrupted: of that only a
 * part counts. A smaller one in a trial counts alone, for there are few trials. */
static uint32_t smoothed(uint32_t cost, uint64_t sample, bool trial)
{
    static const uint64_t most = UINT32_MAX / 8;

    if (cost > 0 && !(trial && sample < cost)) {
        if (sample > 4 * (uint64_t) cost)
            sample = 4 * (uint64_t) cost;
        sample = (3 * (uint64_t) cost + sample) / 4;
    }
    return (uint32_t) (sample < most ? sample : most) + 1;
}

/* After a trial: the longer trials have changed nothing, the rarer they get. */
static void wait_for_trial(struct nc_pace *p, bool changed)
{
    if (changed || p->interval < NC_PACE_SOON)
        p->interval = NC_PACE_SOON;
    else if (p->interval < NC_PACE_MOST)
        p->interval *= 2;
    p->left = p->interval;
}

void nc_pace_note(struct nc_pace *p, bool streamed, size_t bytes, uint64_t time)
{
    bool trial = p->left == 0, before = is_faster(p);

    p->cost[streamed] = smoothed(p->cost[streamed], time * 16 * 64 / bytes, trial);
    if (!trial)
        p->left--;
    else if (p->cost[!streamed] == 0)
        p->left = 1; /* the very first one: there is nothing to compare yet */
    else
        wait_for_trial(p, is_faster(p) != before);
}
