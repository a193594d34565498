/* Plans made straight from taps, for tests of the backends: no request, no mask, no
 * planner between the test and the arithmetic. */
#ifndef GPUFILT_TESTS_UNIT_MAKE_PLAN_H
#define GPUFILT_TESTS_UNIT_MAKE_PLAN_H

#include "plan.h"

#include <stdlib.h>
#include <string.h>

static inline void plan_tap(const struct gf_plan *p, void *taps, size_t i, double value)
{
    switch (p->arith) {
    case GF_EXACT: ((int32_t *)taps)[i] = (int32_t)value; break;
    case GF_FLOAT: ((float *)taps)[i] = (float)value; break;
    default: ((double *)taps)[i] = value; break;
    }
}

static inline double plan_get(const struct gf_plan *p, const void *taps, size_t i)
{
    switch (p->arith) {
    case GF_EXACT: return ((const int32_t *)taps)[i];
    case GF_FLOAT: return ((const float *)taps)[i];
    default: return ((const double *)taps)[i];
    }
}

/* An image of the same shape in and out; everything else is for the caller to change. */
static inline void plan_begin(struct gf_plan *p, enum gf_arith arith, enum gf_border border,
                              uint64_t width, uint64_t height, uint64_t depth,
                              uint32_t channels, enum gf_type in, enum gf_type out)
{
    memset(p, 0, sizeof *p);
    p->in = (struct gf_image){.width = width, .height = height, .depth = depth,
                              .channels = channels, .type = in, .color = GF_OTHER, .alpha = -1};
    p->out = p->in;
    p->out.type = out;
    p->border = border;
    p->arith = arith;
    p->divisor = 1;
    p->gain = 1;
    p->alpha_scale = 1;
    p->threads = 1;
    p->dimensions = 2;
    for (int a = 0; a < 3; a++)
        p->size[a] = 1;
}

/* Taps are given as doubles; integers when EXACT. */
static inline void plan_separable(struct gf_plan *p, const uint32_t size[3],
                                  const double *const taps[3])
{
    p->separable = true;
    p->tap_total = 1;
    for (int a = 0; a < 3; a++) {
        double sum = 0;
        p->size[a] = size[a];
        p->origin[a] = size[a] / 2;
        p->factor[a] = calloc(size[a], 8);
        p->inside_sum[a] = calloc(size[a] + 1, sizeof(double));
        for (uint32_t i = 0; i < size[a]; i++) {
            plan_tap(p, p->factor[a], i, taps[a][i]);
            sum += taps[a][i];
            p->inside_sum[a][i + 1] = sum;
        }
        p->tap_total *= p->arith == GF_EXACT ? (int64_t)sum : 0;
    }
    p->dimensions = size[2] > 1 ? 3 : 2;
}

static inline void plan_direct(struct gf_plan *p, const uint32_t size[3], const double *taps)
{
    size_t nx = size[0] + 1, ny = size[1] + 1, nz = size[2] + 1, n;
    double sum = 0;

    for (int a = 0; a < 3; a++) {
        p->size[a] = size[a];
        p->origin[a] = size[a] / 2;
    }
    n = (size_t)size[0] * size[1] * size[2];
    p->taps = calloc(n, 8);
    for (size_t i = 0; i < n; i++) {
        plan_tap(p, p->taps, i, taps[i]);
        sum += taps[i];
    }
    p->tap_total = p->arith == GF_EXACT ? (int64_t)sum : 0;
    p->inside_box = calloc(nx * ny * nz, sizeof(double));
    for (size_t k = 1; k < nz; k++)
        for (size_t j = 1; j < ny; j++) {
            double row = 0;
            for (size_t i = 1; i < nx; i++) {
                row += taps[((k - 1) * size[1] + j - 1) * size[0] + i - 1];
                p->inside_box[(k * ny + j) * nx + i] =
                    row + p->inside_box[(k * ny + j - 1) * nx + i] +
                    p->inside_box[((k - 1) * ny + j) * nx + i] -
                    p->inside_box[((k - 1) * ny + j - 1) * nx + i];
            }
        }
    p->dimensions = size[2] > 1 ? 3 : 2;
}

static inline void plan_end(struct gf_plan *p)
{
    for (int a = 0; a < 3; a++) {
        free(p->factor[a]);
        free(p->inside_sum[a]);
    }
    free(p->taps);
    free(p->inside_box);
    memset(p, 0, sizeof *p);
}

#endif
