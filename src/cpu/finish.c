/* From a row of sums to samples of the output. */
#include "work.h"

#include "../util.h"

#include <string.h>

/* Whether no tap of output rows y, z hangs over an edge along y or z. */
static bool inner_row(const struct gf_plan *plan, uint64_t y, uint64_t z)
{
    int64_t j = (int64_t)y + plan->shift[1] - plan->origin[1];
    int64_t k = (int64_t)z + plan->shift[2] - plan->origin[2];

    return j >= 0 && j + plan->size[1] <= (int64_t)plan->in.height && k >= 0 &&
           k + plan->size[2] <= (int64_t)plan->in.depth;
}

/* NORMALIZE: the weight inside for every lane of the row, and the factor floats want. */
static void row_inside(const struct gf_cpu *cpu, struct gf_worker *w, uint64_t x,
                       uint64_t pixels, uint64_t y, uint64_t z)
{
    const struct gf_plan *plan = cpu->plan;
    bool inner = inner_row(plan, y, z);
    double total = gf_plan_total(plan), inner_weight = 0.0;
    bool known = false;
    uint32_t channels = plan->in.channels;

    /* All inner rows are alike. */
    if (inner && w->inside_x == (int64_t)x)
        return;
    for (uint64_t p = 0; p < pixels; p++) {
        int64_t i = (int64_t)(x + p) + plan->shift[0] - plan->origin[0];
        bool inner_pixel = i >= 0 && i + plan->size[0] <= (int64_t)plan->in.width;
        double weight = inner_pixel && known ? inner_weight : gf_plan_inside(plan, x + p, y, z);
        if (inner_pixel) {
            inner_weight = weight;
            known = true;
        }
        for (uint64_t l = p * channels; l < (p + 1) * channels; l++)
            w->inside[l] = weight;
    }
    for (uint64_t l = 0; l < pixels * channels; l++)
        if (cpu->lane == GF_LANE_F32)
            ((float *)w->factor)[l] = (float)(total / w->inside[l]);
        else if (cpu->lane == GF_LANE_F64)
            ((double *)w->factor)[l] = total / w->inside[l];
    w->inside_x = inner ? (int64_t)x : -1;
}

static const int32_t *as_i32(const struct gf_cpu *cpu, struct gf_worker *w, const void *sums,
                             size_t n)
{
    if (cpu->lane == GF_LANE_I16)
        cpu->kernels->i16_to_i32(sums, cpu->lanes_signed, w->sums, n);
    else if (cpu->lane == GF_LANE_F32)
        cpu->kernels->f32_to_i32(sums, w->sums, n);
    else
        return sums;
    return w->sums;
}

/* The alpha lanes' own sums are of no use with alpha_keep, and must not be counted. */
#define CLEAR_ALPHA(v)                                                              \
    do {                                                                            \
        if (plan->alpha_keep)                                                       \
            for (size_t l = (size_t)plan->in.alpha; l < n; l += plan->in.channels)  \
                (v)[l] = 0;                                                         \
    } while (0)

static void keep_alpha(const struct gf_cpu *cpu, struct gf_worker *w, uint64_t x,
                       uint64_t pixels, uint64_t y, uint64_t z, char *to)
{
    const struct gf_plan *plan = cpu->plan;
    size_t ib = gf_type_bytes(plan->in.type), ob = gf_type_bytes(plan->out.type);
    uint32_t channels = plan->in.channels;
    const char *from = (const char *)cpu->in->data +
                       (z + (uint64_t)plan->shift[2] - cpu->in->z) * cpu->in->plane_stride +
                       (y + (uint64_t)plan->shift[1] - cpu->in->y) * cpu->in->row_stride +
                       ((x + (uint64_t)plan->shift[0]) * channels + (uint64_t)plan->in.alpha) * ib;

    to += (size_t)plan->in.alpha * ob;
    if (plan->in.type == plan->out.type) {
        for (uint64_t p = 0; p < pixels; p++)
            memcpy(to + p * channels * ob, from + p * channels * ib, ib);
        return;
    }
    for (uint64_t p = 0; p < pixels; p++)
        cpu->kernels->load[GF_LANE_F64][plan->in.type](from + p * channels * ib, w->values + p,
                                                       1);
    cpu->kernels->store_f64[plan->out.type](w->values, w->bits, pixels, &w->counts);
    for (uint64_t p = 0; p < pixels; p++)
        memcpy(to + p * channels * ob, w->bits + p * ob, ob);
}

static void finish_f32(const struct gf_cpu *cpu, struct gf_worker *w, float *v, uint64_t pixels,
                       void *to)
{
    const struct gf_plan *plan = cpu->plan;
    const struct gf_kernels *k = cpu->kernels;
    const float *r = plan->border == GF_BORDER_NORMALIZE ? w->factor : NULL;
    size_t n = pixels * plan->in.channels;

    if (plan->alpha_divide)
        k->alpha_f32(v, pixels, plan->in.channels, (unsigned)plan->in.alpha,
                     (float)(plan->gain * plan->alpha_scale), (float)plan->gain,
                     (float *)w->spread, r);
    else if (r != NULL)
        k->scale_f32(v, r, n);
    CLEAR_ALPHA(v);
    if (k->store_f32[plan->out.type] != NULL) {
        k->store_f32[plan->out.type](v, to, n, &w->counts);
        return;
    }
    k->f32_to_f64(v, w->values, n);
    k->store_f64[plan->out.type](w->values, to, n, &w->counts);
}

static void finish_f64(const struct gf_cpu *cpu, struct gf_worker *w, double *v,
                       uint64_t pixels, void *to)
{
    const struct gf_plan *plan = cpu->plan;
    const struct gf_kernels *k = cpu->kernels;
    const double *r = plan->border == GF_BORDER_NORMALIZE ? w->factor : NULL;
    size_t n = pixels * plan->in.channels;

    if (plan->alpha_divide)
        k->alpha_f64(v, pixels, plan->in.channels, (unsigned)plan->in.alpha,
                     plan->gain * plan->alpha_scale, plan->gain, w->spread, r);
    else if (r != NULL)
        k->scale_f64(v, r, n);
    CLEAR_ALPHA(v);
    k->store_f64[plan->out.type](v, to, n, &w->counts);
}

void gf_cpu_finish(const struct gf_cpu *cpu, struct gf_worker *w, void *sums, uint64_t x,
                   uint64_t pixels, uint64_t y, uint64_t z)
{
    const struct gf_plan *plan = cpu->plan;
    const struct gf_kernels *k = cpu->kernels;
    enum gf_type type = plan->out.type;
    size_t n = pixels * plan->in.channels;
    char *to = (char *)cpu->out->data + (z - cpu->out->z) * cpu->out->plane_stride +
               (y - cpu->out->y) * cpu->out->row_stride +
               x * plan->in.channels * gf_type_bytes(type);
    const double *inside = plan->border == GF_BORDER_NORMALIZE ? w->inside : NULL;

    if (inside != NULL)
        row_inside(cpu, w, x, pixels, y, z);
    switch (cpu->finish) {
    case GF_FINISH_SHIFT_I16:
        CLEAR_ALPHA((uint16_t *)sums);
        k->store_i16[cpu->lanes_signed][type](sums, cpu->shift, to, n, &w->counts);
        break;
    case GF_FINISH_SHIFT_I32:
    case GF_FINISH_DIVIDE_F32:
    case GF_FINISH_DIVIDE_F64: {
        int32_t *s = (int32_t *)as_i32(cpu, w, sums, n);
        CLEAR_ALPHA(s);
        if (cpu->finish == GF_FINISH_SHIFT_I32) {
            k->store_i32[type](s, cpu->shift, to, n, &w->counts);
        } else if (cpu->finish == GF_FINISH_DIVIDE_F32) {
            k->divide_f32(s, plan->divisor, (float *)w->values, n);
            k->store_f32[type]((const float *)w->values, to, n, &w->counts);
        } else {
            k->divide_f64(s, plan->divisor, w->values, n);
            k->store_f64[type](w->values, to, n, &w->counts);
        }
        break;
    }
    case GF_FINISH_RATIO:
        k->ratio(&cpu->ratio, as_i32(cpu, w, sums, n), inside, w->values, pixels);
        CLEAR_ALPHA(w->values);
        k->store_f64[type](w->values, to, n, &w->counts);
        break;
    case GF_FINISH_F32:
        finish_f32(cpu, w, sums, pixels, to);
        break;
    case GF_FINISH_F64:
        finish_f64(cpu, w, sums, pixels, to);
        break;
    }
    if (plan->alpha_keep)
        keep_alpha(cpu, w, x, pixels, y, z, to);
}
