/* The parts of a plan that are computed per output sample or per slab. */
#include "plan.h"

#include "util.h"

bool gf_plan_skips(const struct gf_plan *plan, int axis)
{
    const void *tap = plan->factor[axis];

    if (plan->size[axis] != 1)
        return false;
    if (tap == NULL)
        return true;
    switch (plan->arith) {
    case GF_EXACT: return *(const int32_t *)tap == 1;
    case GF_FLOAT: return *(const float *)tap == 1.0f;
    default: return *(const double *)tap == 1.0;
    }
}

struct gf_inside gf_plan_inside_of(const struct gf_plan *plan)
{
    struct gf_inside in = {.separable = plan->separable, .box = plan->inside_box};
    const uint64_t n[3] = {plan->in.width, plan->in.height, plan->in.depth};

    for (int a = 0; a < 3; a++) {
        in.size[a] = plan->size[a];
        in.origin[a] = plan->origin[a];
        in.shift[a] = plan->shift[a];
        in.n[a] = (int64_t)n[a];
        in.sum[a] = plan->inside_sum[a];
    }
    return in;
}

double gf_plan_inside(const struct gf_plan *plan, uint64_t x, uint64_t y, uint64_t z)
{
    const struct gf_inside in = gf_plan_inside_of(plan);
    const int64_t place[3] = {(int64_t)x, (int64_t)y, (int64_t)z};

    return gf_inside_at(&in, place);
}

double gf_plan_total(const struct gf_plan *plan)
{
    const struct gf_inside in = gf_plan_inside_of(plan);

    return gf_inside_total(&in);
}

struct gf_unrolled gf_plan_unroll(const struct gf_plan *plan)
{
    struct gf_unrolled u = {.plan = *plan};
    const int axis = plan->dimensions == 3 ? 2 : 1;
    uint64_t *n = axis == 2 ? &u.plan.in.depth : &u.plan.in.height;
    int64_t count = (int64_t)(axis == 2 ? plan->out.depth : plan->out.height);
    int64_t low = plan->shift[axis] - plan->origin[axis];
    int64_t high = low + count - 1 + plan->size[axis];

    if (plan->border != GF_BORDER_WRAP)
        return u;
    u.before = low < 0 ? (uint64_t)-low : 0;
    u.after = high > (int64_t)*n ? (uint64_t)high - *n : 0;
    *n += u.before + u.after;
    u.plan.shift[axis] += (int64_t)u.before;
    return u;
}

static void include(int64_t i, int64_t *first, int64_t *last)
{
    if (i < 0)
        return;
    if (*first == *last) {
        *first = i;
        *last = i + 1;
        return;
    }
    if (i < *first)
        *first = i;
    if (i >= *last)
        *last = i + 1;
}

void gf_plan_reach(const struct gf_plan *plan, int axis, uint64_t begin, uint64_t end,
                   uint64_t *first, uint64_t *last)
{
    const uint64_t sizes[3] = {plan->in.width, plan->in.height, plan->in.depth};
    int64_t n = (int64_t)sizes[axis];
    /* Indices asked for, the border not yet looked at. */
    int64_t low = (int64_t)begin + plan->shift[axis] - plan->origin[axis];
    int64_t high = (int64_t)end - 1 + plan->shift[axis] - plan->origin[axis] + plan->size[axis];
    int64_t from = 0, to = 0;
    int64_t inside_low = low < 0 ? 0 : low, inside_high = high > n ? n : high;

    if (inside_low < inside_high) {
        from = inside_low;
        to = inside_high;
    }
    /* No mode has a period above 2n, so that many indices on a side say everything. */
    int64_t left_end = high < 0 ? high : 0, right_begin = low > n ? low : n;
    for (int64_t i = left_end - 1; i >= low && i >= left_end - 2 * n; i--)
        include(gf_border_index(plan->border, i, n), &from, &to);
    for (int64_t i = right_begin; i < high && i < right_begin + 2 * n; i++)
        include(gf_border_index(plan->border, i, n), &from, &to);
    if (plan->alpha_keep) {
        include(gf_border_index(plan->border, (int64_t)begin + plan->shift[axis], n), &from, &to);
        include(gf_border_index(plan->border, (int64_t)end - 1 + plan->shift[axis], n), &from,
                &to);
    }
    /* All outside and absent: one index all the same, so that no slab is empty. */
    if (from == to) {
        from = low < 0 ? 0 : n - 1;
        to = from + 1;
    }
    *first = (uint64_t)from;
    *last = (uint64_t)to;
}
