/* The specification: every output sample by itself, straight from the comment over
 * struct gf_plan, one thread, nothing remembered. Every other backend is compared with
 * this one byte for byte, so it must stay plain enough to be believed by reading it.
 *
 * A lane is carried in a double whatever the arithmetic: int32_t and float values are
 * exact in it, and multiply_add() rounds as the arithmetic demands. */
#include "../alloc.h"
#include "../backend.h"

#include <math.h>
#include <string.h>

struct reference {
    const struct gf_plan *plan;
    const struct gf_slab *in;
};

/* An output sample's place: pixel and channel. */
struct place {
    int64_t x, y, z;
    uint32_t c;
};

static double read_sample(enum gf_type type, const void *from)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        float f32;
        double f64;
    } s;

    memcpy(&s, from, gf_type_bytes(type));
    switch (type) {
    case GF_U8: return s.u8;
    case GF_I8: return s.i8;
    case GF_U16: return s.u16;
    case GF_I16: return s.i16;
    case GF_U32: return s.u32;
    case GF_I32: return s.i32;
    case GF_F16: return gf_f16_to_f32(s.u16);
    case GF_F32: return s.f32;
    case GF_F64: return s.f64;
    default: return 0.0;
    }
}

/* The value rounded to the type the arithmetic works in. */
static double in_arithmetic(const struct gf_plan *plan, double value)
{
    return plan->arith == GF_FLOAT ? (double)(float)value : value;
}

static double tap_at(const struct gf_plan *plan, const void *taps, uint64_t i)
{
    switch (plan->arith) {
    case GF_EXACT: return ((const int32_t *)taps)[i];
    case GF_FLOAT: return ((const float *)taps)[i];
    default: return ((const double *)taps)[i];
    }
}

/* acc + tap * value, rounded once in the arithmetic's type. */
static double multiply_add(const struct gf_plan *plan, double tap, double value, double acc)
{
    switch (plan->arith) {
    case GF_EXACT: return acc + tap * value; /* integers below 2^31: exact */
    case GF_FLOAT: return fmaf((float)tap, (float)value, (float)acc);
    default: return fma(tap, value, acc);
    }
}

/* Where the sample of an index inside the image lies in the slab. */
static const unsigned char *sample_at(const struct reference *r, int64_t x, int64_t y, int64_t z,
                                      uint32_t c)
{
    const struct gf_image *image = &r->plan->in;

    return (const unsigned char *)r->in->data + ((uint64_t)z - r->in->z) * r->in->plane_stride +
           ((uint64_t)y - r->in->y) * r->in->row_stride +
           ((uint64_t)x * image->channels + c) * gf_type_bytes(image->type);
}

/* Loading: the accumulator lane of any index, inside the image or not. */
static double load(const struct reference *r, struct place p)
{
    const struct gf_plan *plan = r->plan;
    int64_t x = gf_border_index(plan->border, p.x, (int64_t)plan->in.width);
    int64_t y = gf_border_index(plan->border, p.y, (int64_t)plan->in.height);
    int64_t z = gf_border_index(plan->border, p.z, (int64_t)plan->in.depth);
    bool color = plan->alpha_multiply && (int64_t)p.c != plan->in.alpha;
    double value, alpha = 1.0;

    if (x < 0 || y < 0 || z < 0) {
        if (plan->border == GF_BORDER_NORMALIZE)
            return 0.0;
        value = alpha = in_arithmetic(plan, plan->fill);
    } else {
        value = in_arithmetic(plan, read_sample(plan->in.type, sample_at(r, x, y, z, p.c)));
        if (color)
            alpha = in_arithmetic(plan, read_sample(plan->in.type,
                                                    sample_at(r, x, y, z,
                                                              (uint32_t)plan->in.alpha)));
    }
    /* The product of two floats is exact in a double, so this rounds once. */
    return color ? in_arithmetic(plan, value * alpha) : value;
}

/* The separable sum of the axes 0 .. axis over the input index p. */
static double pass(const struct reference *r, int axis, struct place p)
{
    const struct gf_plan *plan = r->plan;
    const void *taps;
    double acc = 0.0;

    if (axis < 0)
        return load(r, p);
    taps = plan->factor[axis];
    int64_t *index = axis == 0 ? &p.x : axis == 1 ? &p.y : &p.z;
    *index -= plan->origin[axis];
    if (plan->size[axis] == 1 && (taps == NULL || tap_at(plan, taps, 0) == 1.0))
        return pass(r, axis - 1, p);
    for (uint32_t i = 0; i < plan->size[axis]; i++) {
        acc = multiply_add(plan, tap_at(plan, taps, i), pass(r, axis - 1, p), acc);
        ++*index;
    }
    return acc;
}

static double direct(const struct reference *r, struct place p)
{
    const struct gf_plan *plan = r->plan;
    uint64_t tap = 0;
    double acc = 0.0;

    for (uint32_t k = 0; k < plan->size[2]; k++)
        for (uint32_t j = 0; j < plan->size[1]; j++)
            for (uint32_t i = 0; i < plan->size[0]; i++) {
                struct place q = {p.x - plan->origin[0] + i, p.y - plan->origin[1] + j,
                                  p.z - plan->origin[2] + k, p.c};
                acc = multiply_add(plan, tap_at(plan, plan->taps, tap++), load(r, q), acc);
            }
    return acc;
}

/* The sum for channel c at output sample o. */
static double sum(const struct reference *r, struct place o, uint32_t c)
{
    const int64_t *shift = r->plan->shift;
    struct place centre = {o.x + shift[0], o.y + shift[1], o.z + shift[2], c};

    return r->plan->separable ? pass(r, 2, centre) : direct(r, centre);
}

/* numerator / denominator to the nearest integer, ties to even, by the remainder. */
static double divide_exactly(int64_t numerator, int64_t denominator)
{
    bool negative = (numerator < 0) != (denominator < 0);
    uint64_t n = numerator < 0 ? -(uint64_t)numerator : (uint64_t)numerator;
    uint64_t d = denominator < 0 ? -(uint64_t)denominator : (uint64_t)denominator;
    uint64_t quotient = n / d, rest = n % d;

    if (rest > d - rest || (rest == d - rest && quotient % 2 == 1))
        quotient++;
    return negative ? -(double)quotient : (double)quotient;
}

/* The value of an exact plan; without a denominator it is what division in double gives. */
static double exact_value(const struct gf_plan *plan, int64_t numerator, int64_t denominator)
{
    if (denominator == 0 || gf_type_row(plan->out.type)->is_float)
        return (double)numerator / (double)denominator;
    return divide_exactly(numerator, denominator);
}

static double finish_exact(const struct gf_plan *plan, struct place o, double acc,
                           double alpha_acc)
{
    int64_t numerator = (int64_t)acc, denominator = plan->divisor;

    if (plan->alpha_divide && (int64_t)o.c != plan->in.alpha) {
        if (!(alpha_acc > 0))
            return 0.0;
        return exact_value(plan, numerator * plan->tap_total * (int64_t)plan->alpha_scale,
                           denominator * (int64_t)alpha_acc);
    }
    if (plan->alpha_divide)
        denominator = plan->tap_total; /* divisor * gain */
    if (plan->border == GF_BORDER_NORMALIZE) {
        numerator *= (int64_t)gf_plan_total(plan);
        denominator *= (int64_t)gf_plan_inside(plan, (uint64_t)o.x, (uint64_t)o.y, (uint64_t)o.z);
    }
    return exact_value(plan, numerator, denominator);
}

static float finish_float(const struct gf_plan *plan, struct place o, float acc, float alpha_acc)
{
    if (plan->alpha_divide && (int64_t)o.c != plan->in.alpha) {
        if (!(alpha_acc > 0))
            return 0.0f;
        float quotient = acc / alpha_acc;
        return quotient * (float)(plan->gain * plan->alpha_scale);
    }
    if (plan->border == GF_BORDER_NORMALIZE)
        acc *= (float)(gf_plan_total(plan) /
                       gf_plan_inside(plan, (uint64_t)o.x, (uint64_t)o.y, (uint64_t)o.z));
    return plan->alpha_divide ? acc / (float)plan->gain : acc;
}

static double finish_double(const struct gf_plan *plan, struct place o, double acc,
                            double alpha_acc)
{
    if (plan->alpha_divide && (int64_t)o.c != plan->in.alpha) {
        if (!(alpha_acc > 0))
            return 0.0;
        double quotient = acc / alpha_acc;
        return quotient * (plan->gain * plan->alpha_scale);
    }
    if (plan->border == GF_BORDER_NORMALIZE)
        acc *= gf_plan_total(plan) /
               gf_plan_inside(plan, (uint64_t)o.x, (uint64_t)o.y, (uint64_t)o.z);
    return plan->alpha_divide ? acc / plan->gain : acc;
}

static void store_integer(enum gf_type type, double v, void *to, struct gf_counts *counts)
{
    const struct gf_type_row *row = gf_type_row(type);
    uint64_t bits;

    if (isnan(v)) {
        counts->nan++;
        v = 0.0;
    }
    v = rint(v); /* to nearest, ties to even */
    if (v < row->lowest) {
        counts->clipped_low++;
        v = row->lowest;
    }
    if (v > row->highest) {
        counts->clipped_high++;
        v = row->highest;
    }
    bits = (uint64_t)(int64_t)v;
    switch (row->bytes) {
    case 1: *(uint8_t *)to = (uint8_t)bits; break;
    case 2: memcpy(to, &(uint16_t){(uint16_t)bits}, 2); break;
    default: memcpy(to, &(uint32_t){(uint32_t)bits}, 4); break;
    }
}

static void store_float(enum gf_type type, double v, void *to, struct gf_counts *counts)
{
    bool infinite;

    if (isnan(v))
        v = (double)NAN; /* one NaN for all: which one the sum gave depends on the machine */
    if (type == GF_F16) {
        uint16_t half = gf_f64_to_f16(v);
        infinite = (half & 0x7fff) == 0x7c00;
        memcpy(to, &half, sizeof half);
    } else if (type == GF_F32) {
        float single = (float)v;
        infinite = isinf(single);
        memcpy(to, &single, sizeof single);
    } else {
        infinite = isinf(v);
        memcpy(to, &v, sizeof v);
    }
    if (infinite && !isinf(v)) {
        if (v < 0)
            counts->clipped_low++;
        else
            counts->clipped_high++;
    }
}

static void store(enum gf_type type, double v, void *to, struct gf_counts *counts)
{
    if (gf_type_row(type)->is_float)
        store_float(type, v, to, counts);
    else
        store_integer(type, v, to, counts);
}

/* alpha_keep: the input's alpha at the centre; its very bits where the type stays. */
static void keep_alpha(const struct reference *r, struct place o, void *to,
                       struct gf_counts *counts)
{
    const struct gf_plan *plan = r->plan;
    const void *from = sample_at(r, o.x + plan->shift[0], o.y + plan->shift[1],
                                 o.z + plan->shift[2], o.c);

    if (plan->in.type == plan->out.type)
        memcpy(to, from, gf_type_bytes(plan->in.type));
    else
        store(plan->out.type, read_sample(plan->in.type, from), to, counts);
}

static void output_sample(const struct reference *r, struct place o, void *to,
                          struct gf_counts *counts)
{
    const struct gf_plan *plan = r->plan;
    double acc, alpha_acc = 0.0, v;

    if (plan->alpha_keep && (int64_t)o.c == plan->in.alpha) {
        keep_alpha(r, o, to, counts);
        return;
    }
    acc = sum(r, o, o.c);
    if (plan->alpha_divide)
        alpha_acc = sum(r, o, (uint32_t)plan->in.alpha);
    switch (plan->arith) {
    case GF_EXACT: v = finish_exact(plan, o, acc, alpha_acc); break;
    case GF_FLOAT: v = finish_float(plan, o, (float)acc, (float)alpha_acc); break;
    default: v = finish_double(plan, o, acc, alpha_acc); break;
    }
    store(plan->out.type, v, to, counts);
}

static enum gf_status reference_open(const struct gf_plan *plan, void **state,
                                     struct gf_error *e)
{
    GF_TRY(gf_allocate(state, 1, sizeof(struct reference), "the reference backend", e));
    *(struct reference *)*state = (struct reference){.plan = plan};
    return GF_OK;
}

static enum gf_status reference_run(void *state, const struct gf_slab *in, struct gf_slab *out,
                                    struct gf_counts *counts, struct gf_error *e)
{
    struct reference *r = state;
    const struct gf_image *image = &r->plan->out;

    (void)e;
    r->in = in;
    for (uint64_t z = 0; z < out->planes; z++)
        for (uint64_t y = 0; y < out->rows; y++) {
            unsigned char *to = (unsigned char *)out->data + z * out->plane_stride +
                                y * out->row_stride;
            for (uint64_t x = 0; x < image->width; x++)
                for (uint32_t c = 0; c < image->channels; c++) {
                    struct place o = {(int64_t)x, (int64_t)(y + out->y), (int64_t)(z + out->z),
                                      c};
                    output_sample(r, o, to, counts);
                    to += gf_type_bytes(image->type);
                }
        }
    return GF_OK;
}

static void reference_close(void *state) { gf_free(state); }

const struct gf_backend gf_backend_reference = {
    .name = "reference",
    .open = reference_open,
    .run = reference_run,
    .close = reference_close,
};
