#include "slots.h"

namespace GF_DEVICE {
namespace {

/* Input indices [low, high) that the mask lies over, border included, in an image of n. */
struct window {
    int64_t low, high, n;
};

struct window window_of(const struct gf_plan *plan, int axis, uint64_t begin, uint32_t outputs)
{
    struct window w;
    w.n = static_cast<int64_t>(axis == 1 ? plan->in.height : plan->in.depth);
    w.low = static_cast<int64_t>(begin) + plan->shift[axis] - plan->origin[axis];
    w.high = w.low + outputs + plan->size[axis] - 1;
    return w;
}

void include(int64_t index, int64_t *first, int64_t *last)
{
    if (index < *first)
        *first = index;
    if (index > *last)
        *last = index;
}

/* Modes without a jump: the least and the greatest index. */
void find_interval(gf_border border, struct window w, struct slots *slots)
{
    int64_t first = w.low > 0 ? w.low : 0, last = (w.high < w.n ? w.high : w.n) - 1;

    if (gf_border_index(border, -1, w.n) >= 0) {
        /* No mode has a period above 2n. */
        int64_t left = w.high < 0 ? w.high : 0, right = w.low > w.n ? w.low : w.n;
        if (first > last) {
            first = w.n - 1;
            last = 0;
        }
        for (int64_t i = left - 1; i >= w.low && i >= left - 2 * w.n; i--)
            include(gf_border_index(border, i, w.n), &first, &last);
        for (int64_t i = right; i < w.high && i < right + 2 * w.n; i++)
            include(gf_border_index(border, i, w.n), &first, &last);
    }
    if (first <= last) {
        slots->first[0] = static_cast<uint64_t>(first);
        slots->count[0] = static_cast<uint64_t>(last - first + 1);
    }
}

void find_wrapped(struct window w, struct slots *slots)
{
    int64_t count = w.high - w.low, start = gf_border_index(GF_BORDER_WRAP, w.low, w.n);

    if (count >= w.n) {
        start = 0;
        count = w.n;
    }
    slots->first[0] = static_cast<uint64_t>(start);
    slots->count[0] = gf_min(static_cast<uint64_t>(count), static_cast<uint64_t>(w.n - start));
    slots->count[1] = static_cast<uint64_t>(count) - slots->count[0];
}

/* The slot of what stands for index `i` of the window, or -1. */
int32_t slot_of(const struct gf_plan *plan, const struct window &w, const struct slots *slots,
                int64_t i)
{
    int64_t index = gf_border_index(plan->border, i, w.n), slot;

    if (index < 0)
        return -1;
    slots_piece(slots, static_cast<uint64_t>(index), 1, &slot);
    return static_cast<int32_t>(slot);
}

}

void slots_find(const struct gf_plan *plan, int axis, uint64_t begin, uint32_t outputs,
                struct slots *slots)
{
    struct window w = window_of(plan, axis, begin, outputs);

    *slots = {};
    if (plan->border == GF_BORDER_WRAP)
        find_wrapped(w, slots);
    else
        find_interval(plan->border, w, slots);
}

void slots_fill(const struct gf_plan *plan, int axis, uint64_t begin, uint32_t outputs,
                const struct slots *slots, int32_t *window, int32_t *center)
{
    struct window w = window_of(plan, axis, begin, outputs);

    for (int64_t i = w.low, count; i < w.high; i += count) {
        int64_t slot;
        count = 1;
        if (i < 0 || i >= w.n) {
            window[i - w.low] = slot_of(plan, w, slots, i);
            continue;
        }
        count = (w.high < w.n ? w.high : w.n) - i;
        count = static_cast<int64_t>(slots_piece(slots, static_cast<uint64_t>(i),
                                                 static_cast<uint64_t>(count), &slot));
        for (int64_t k = 0; k < count; k++)
            window[i + k - w.low] = static_cast<int32_t>(slot + k);
    }
    for (uint32_t o = 0; center != nullptr && o < outputs; o++)
        center[o] = window[o + plan->origin[axis]];
}

uint32_t slots_count(const struct slots *slots)
{
    return static_cast<uint32_t>(slots->count[0] + slots->count[1]);
}

uint64_t slots_piece(const struct slots *slots, uint64_t index, uint64_t most, int64_t *slot)
{
    uint64_t base = 0;

    *slot = -1;
    for (int r = 0; r < 2; r++) {
        uint64_t first = slots->first[r], count = slots->count[r];
        if (index >= first && index - first < count) {
            *slot = static_cast<int64_t>(base + index - first);
            return gf_min(most, first + count - index);
        }
        if (index < first && count > 0)
            most = gf_min(most, first - index);
        base += count;
    }
    return most;
}

}
