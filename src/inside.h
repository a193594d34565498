/* How much of a mask's weight lies inside the image: what NORMALIZE divides by. One definition
 * for the plan, every backend and the device; the order of operations is part of it. */
#ifndef GPUFILT_SRC_INSIDE_H
#define GPUFILT_SRC_INSIDE_H

#include "sample.h"

#include <stdbool.h>
#include <stddef.h>

/* The prefix sums of struct gf_plan and the geometry they are read with. The arrays are where
 * the caller computes: on the host or on a device. */
struct gf_inside {
    bool separable;
    uint32_t size[3], origin[3];
    int64_t shift[3];
    int64_t n[3];               /* width, height, depth of the input */
    const double *sum[3];       /* separable: size[a] + 1 values; NULL counts as weight 1 */
    const double *box;          /* direct: (size[0] + 1)(size[1] + 1)(size[2] + 1) values */
};

static inline GF_HD double gf_inside_box(const struct gf_inside *in, int64_t i, int64_t j,
                                         int64_t k)
{
    return in->box[(k * ((int64_t)in->size[1] + 1) + j) * ((int64_t)in->size[0] + 1) + i];
}

/* The weight of the taps [lo, hi). */
static inline GF_HD double gf_inside_weight(const struct gf_inside *in, const int64_t lo[3],
                                            const int64_t hi[3])
{
    if (in->separable) {
        double product = 1.0;
        for (int axis = 0; axis < 3; axis++)
            if (in->sum[axis] != NULL)
                product *= in->sum[axis][hi[axis]] - in->sum[axis][lo[axis]];
        return product;
    }
    double sum = gf_inside_box(in, hi[0], hi[1], hi[2]);
    sum -= gf_inside_box(in, lo[0], hi[1], hi[2]);
    sum -= gf_inside_box(in, hi[0], lo[1], hi[2]);
    sum += gf_inside_box(in, lo[0], lo[1], hi[2]);
    sum -= gf_inside_box(in, hi[0], hi[1], lo[2]);
    sum += gf_inside_box(in, lo[0], hi[1], lo[2]);
    sum += gf_inside_box(in, hi[0], lo[1], lo[2]);
    sum -= gf_inside_box(in, lo[0], lo[1], lo[2]);
    return sum;
}

/* The weight inside for the output sample at `place` (x, y, z). */
static inline GF_HD double gf_inside_at(const struct gf_inside *in, const int64_t place[3])
{
    int64_t lo[3], hi[3];
    for (int axis = 0; axis < 3; axis++) {
        int64_t base = place[axis] + in->shift[axis] - in->origin[axis];
        int64_t size = in->size[axis], last = in->n[axis] - base;
        last = last < 0 ? 0 : last > size ? size : last;
        hi[axis] = last;
        lo[axis] = base >= 0 ? 0 : -base < last ? -base : last;
    }
    return gf_inside_weight(in, lo, hi);
}

/* The weight when no tap is outside. */
static inline GF_HD double gf_inside_total(const struct gf_inside *in)
{
    const int64_t lo[3] = {0, 0, 0};
    const int64_t hi[3] = {in->size[0], in->size[1], in->size[2]};
    return gf_inside_weight(in, lo, hi);
}

#endif
