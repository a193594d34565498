/* The parts of a plan that are computed per output sample or per slab. */
#include "plan.h"

#include "util.h"

/* The taps [*lo, *hi) of an axis that lie over the image for output index `index`. */
static void taps_inside(const struct gf_plan *plan, int axis, uint64_t index, uint64_t n,
                        uint64_t *lo, uint64_t *hi)
{
    int64_t size = plan->size[axis];
    int64_t base = (int64_t)index + plan->shift[axis] - plan->origin[axis];
    int64_t first = base < 0 ? -base : 0;
    int64_t last = (int64_t)n - base;

    if (last < 0)
        last = 0;
    if (last > size)
        last = size;
    if (first > last)
        first = last;
    *lo = (uint64_t)first;
    *hi = (uint64_t)last;
}

static double box_at(const struct gf_plan *plan, uint64_t i, uint64_t j, uint64_t k)
{
    uint64_t nx = (uint64_t)plan->size[0] + 1, ny = (uint64_t)plan->size[1] + 1;

    return plan->inside_box[(k * ny + j) * nx + i];
}

/* The weight of the taps [lo, hi): the order of operations is part of the definition. */
static double weight(const struct gf_plan *plan, const uint64_t lo[3], const uint64_t hi[3])
{
    if (plan->separable) {
        double product = 1.0;
        for (int axis = 0; axis < 3; axis++) {
            const double *sum = plan->inside_sum[axis];
            if (sum != NULL)
                product *= sum[hi[axis]] - sum[lo[axis]];
        }
        return product;
    }
    double sum = box_at(plan, hi[0], hi[1], hi[2]);
    sum -= box_at(plan, lo[0], hi[1], hi[2]);
    sum -= box_at(plan, hi[0], lo[1], hi[2]);
    sum += box_at(plan, lo[0], lo[1], hi[2]);
    sum -= box_at(plan, hi[0], hi[1], lo[2]);
    sum += box_at(plan, lo[0], hi[1], lo[2]);
    sum += box_at(plan, hi[0], lo[1], lo[2]);
    sum -= box_at(plan, lo[0], lo[1], lo[2]);
    return sum;
}

double gf_plan_inside(const struct gf_plan *plan, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t lo[3], hi[3];

    taps_inside(plan, 0, x, plan->in.width, &lo[0], &hi[0]);
    taps_inside(plan, 1, y, plan->in.height, &lo[1], &hi[1]);
    taps_inside(plan, 2, z, plan->in.depth, &lo[2], &hi[2]);
    return weight(plan, lo, hi);
}

double gf_plan_total(const struct gf_plan *plan)
{
    const uint64_t lo[3] = {0, 0, 0};
    const uint64_t hi[3] = {plan->size[0], plan->size[1], plan->size[2]};

    return weight(plan, lo, hi);
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
