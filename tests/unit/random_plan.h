/* Random samples, guarded buffers and random plans for check_backend. */
#ifndef GPUFILT_TESTS_UNIT_RANDOM_PLAN_H
#define GPUFILT_TESTS_UNIT_RANDOM_PLAN_H

#include "make_plan.h"
#include "random.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ---- */

#define GUARD 64
#define PAINT 0xa5

struct buffer {
    unsigned char *block, *data;
    size_t size, row, row_stride, plane_stride;
    uint64_t rows, planes;
};

static void buffer_make(struct buffer *b, size_t row, uint64_t rows, uint64_t planes,
                        unsigned align, bool slack)
{
    b->row = row;
    b->rows = rows;
    b->planes = planes;
    b->row_stride = row + (slack ? align * below(9) : 0);
    b->plane_stride = b->row_stride * rows + (slack ? align * below(9) : 0);
    b->size = (size_t)planes * b->plane_stride + 2 * GUARD;
    b->block = malloc(b->size);
    memset(b->block, PAINT, b->size);
    b->data = b->block + GUARD;
}

static unsigned char *buffer_row(const struct buffer *b, uint64_t y, uint64_t z)
{
    return b->data + z * b->plane_stride + y * b->row_stride;
}

/* Every byte that is not of a row still painted. */
static bool buffer_intact(const struct buffer *b)
{
    size_t at = 0;

    for (uint64_t z = 0; z <= b->planes; z++)
        for (uint64_t y = 0; y <= (z < b->planes ? b->rows - 1 : 0); y++) {
            size_t row = z < b->planes ? (size_t)(buffer_row(b, y, z) - b->block) : b->size;
            for (; at < row; at++)
                if (b->block[at] != PAINT)
                    return false;
            at = row + b->row;
        }
    return true;
}

/* ---- samples ---- */

static void put(enum gf_type type, void *to, double v)
{
    const struct gf_type_row *row = gf_type_row(type);
    if (!row->is_float) {
        double c = isnan(v)           ? 0
                   : v < row->lowest  ? row->lowest
                   : v > row->highest ? row->highest
                                      : v;
        int64_t i = (int64_t)c;
        memcpy(to, &i, row->bytes);
    } else if (type == GF_F64) {
        memcpy(to, &v, 8);
    } else if (type == GF_F32) {
        float f = (float)v;
        memcpy(to, &f, 4);
    } else {
        uint16_t h = gf_f64_to_f16(v);
        memcpy(to, &h, 2);
    }
}

static double get(enum gf_type type, const void *from)
{
    int64_t i = 0;
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)      \
    case GF_##NAME: {                                               \
        ctype v;                                                    \
        memcpy(&v, from, bytes);                                    \
        if (GF_##NAME == GF_F16) {                                  \
            memcpy(&i, from, 2);                                    \
            return gf_f16_to_f32((uint16_t)i);                      \
        }                                                           \
        return (double)v;                                           \
    }
        GF_TYPES(X)
#undef X
    default: return 0;
    }
}

enum pattern { UNIFORM, LOW, HIGH, CONSTANT, ONE_HOT, SPECIAL, SMALL, PATTERNS };

static double sample(enum gf_type type, enum pattern pattern, double constant)
{
    const struct gf_type_row *row = gf_type_row(type);
    static const double odd[] = {0.0, -0.0, 1.0, -1.0, 1e-45, -3e-41, 6e-8, 65504, -65504, 65520,
                                 3.4e38, -3.4e38, 0.5, 1.5, 2.5, 1e-310, 1e300, -1e305,
                                 65519, 65519.99, 65520.25, -65520.5, 5.9e-8, 2.98e-8, -0.5,
                                 -0.500001, 127.5, 126.5, -128.5, 254.5, 255.5, 255.49, 32767.5,
                                 -32768.5, 65534.5, 65535.5, 2147483647.5, -2147483648.5,
                                 4294967295.5, 4294967294.5, 3.402823466e38};
    bool calm = pattern == CONSTANT || pattern == ONE_HOT;
    if (!calm && one_in(8))
        return row->lowest + (row->is_float ? row->highest * 1e-3 * uniform() : (double)below(3));
    if (!calm && one_in(8))
        return row->highest - (row->is_float ? row->highest * 1e-3 * uniform() : (double)below(3));
    switch (pattern) {
    case LOW: return row->lowest + (double)below(3);
    case HIGH: return row->highest - (double)below(3);
    case CONSTANT: return constant;
    case ONE_HOT: return one_in(30) ? one_in(2) ? row->highest : 65520.25 : 0;
    case SPECIAL:
        if (one_in(20))
            return one_in(2) ? (double)INFINITY : -(double)INFINITY;
        if (one_in(30))
            return one_in(2) ? (double)NAN : -(double)NAN;
        return odd[below(sizeof odd / sizeof odd[0])];
    case SMALL: return row->is_float ? (uniform() - 0.3) * 300 : (double)below(5);
    default:
        return row->is_float ? (uniform() - 0.5) * 2000
                             : row->lowest + floor(uniform() * (row->highest - row->lowest + 1));
    }
}

/* ---- plans ---- */

static uint64_t size_axis(void)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 31, 32, 33, 37, 63, 64,
                                     65, 100, 101, 127};
    return sizes[below(sizeof sizes / sizeof sizes[0])];
}

static uint32_t mask_axis(void)
{
    static const uint32_t sizes[] = {1, 1, 2, 3, 3, 4, 5, 5, 7, 8, 9, 13, 17};
    return sizes[below(sizeof sizes / sizeof sizes[0])];
}

static double random_tap(const struct gf_plan *p, int style)
{
    if (p->arith == GF_EXACT)
        switch (style) {
        case 0: return (double)below(4);
        case 1: return (double)below(7) - 3;
        case 2: return 1;
        default: return (double)below(200) - 20;
        }
    switch (style) {
    case 0: return uniform();
    case 1: return one_in(4) ? 0 : uniform() - 0.5;
    case 2: return 1;
    default: return ldexp(uniform() - 0.25, (int)below(20) - 10);
    }
}

static const enum gf_type small[] = {GF_U8, GF_I8, GF_U16, GF_I16};
static const enum gf_type floats_in[] = {GF_U8, GF_I8, GF_U16, GF_I16, GF_F16, GF_F32};

/* One tap of 1: what is loaded is stored, so every edge of every type is met. */
static void identity_plan(struct gf_plan *p)
{
    static const double one[] = {1};
    static const double *const taps[3] = {one, one, one};
    static const uint32_t size[3] = {1, 1, 1};
    enum gf_arith arith = (enum gf_arith)below(GF_ARITH_COUNT);

    plan_begin(p, arith, GF_BORDER_CLAMP, size_axis(), size_axis(), 1, 1 + (uint32_t)below(4),
               arith == GF_EXACT   ? small[below(4)]
               : arith == GF_FLOAT ? floats_in[below(6)]
                                   : (enum gf_type)below(GF_TYPE_COUNT),
               (enum gf_type)below(GF_TYPE_COUNT));
    if (one_in(2))
        plan_separable(p, size, taps);
    else
        plan_direct(p, size, one);
}

/* Colour over opaque alpha so large that its numerator has no double, half of them ties:
 * tap^2 * value * 65535 / (2 * tap * 65535). */
static void wide_tie_plan(struct gf_plan *p)
{
    static const uint32_t size[3] = {1, 1, 1};
    double tap = 32767 - 2 * (double)below(100);

    plan_begin(p, GF_EXACT, GF_BORDER_CLAMP, size_axis(), size_axis(), 1, 2, GF_U16,
               one_in(2) ? GF_U32 : GF_I32);
    plan_direct(p, size, &tap);
    p->divisor = 2;
    p->gain = tap / 2;
    p->in.alpha = p->out.alpha = 1;
    p->alpha_divide = true;
    p->alpha_scale = 65535;
}

/* Which part of the output is wanted. */
static void draw_part(struct gf_plan *p)
{
    const uint64_t shape[3] = {p->in.width, p->in.height, p->in.depth};
    uint64_t *out[3] = {&p->out.width, &p->out.height, &p->out.depth};

    for (int a = 0; a < 3; a++) {
        if (p->border == GF_BORDER_VALID) {
            *out[a] = shape[a] - p->size[a] + 1;
            p->shift[a] = p->origin[a];
        }
        if (one_in(4)) {
            uint64_t begin = below(*out[a]);
            p->shift[a] += (int64_t)begin;
            *out[a] = 1 + below(*out[a] - begin);
        }
    }
}

/* The filters people use, for which backends have their fastest loops: square masks and cubes
 * of odd size over one channel, the type kept. */
static void common_plan(struct gf_plan *p)
{
    static const uint32_t widths[] = {3, 3, 5, 5, 7, 9, 13, 17};
    static const enum gf_type types[] = {GF_U8, GF_U16, GF_I16, GF_F32};
    enum gf_type type = types[below(4)];
    enum gf_border border = (enum gf_border)below(GF_BORDER_COUNT);
    bool exact = type != GF_F32 && !one_in(4), separable = one_in(2), volume = one_in(2);
    bool symmetric = one_in(2);
    /* The reference computes every tap of a separable cube. */
    bool few = volume && (!separable || border == GF_BORDER_VALID);
    uint32_t w = widths[below(few ? 5 : separable ? 8 : 6)];
    uint32_t size[3] = {w, w, volume ? w : 1};
    uint64_t shape[3], taps = (uint64_t)w * w * size[2];
    unsigned most = 9;
    double factor[3][17], *box = malloc(taps * sizeof *box), sum, highest;
    const double *const factors[3] = {factor[0], factor[1], factor[2]};

    do {
        shape[0] = 1 + below(300);
        shape[1] = 1 + below(40);
        shape[2] = volume ? 1 + below(24) : 1 + below(2);
    } while (shape[0] * shape[1] * shape[2] * taps > 6000000 ||
             (border == GF_BORDER_VALID && (shape[0] < w || shape[1] < w || shape[2] < size[2])));
    plan_begin(p, exact ? GF_EXACT : GF_FLOAT, border, shape[0], shape[1], shape[2], 1, type, type);
    highest = fmax(-gf_type_row(type)->lowest, gf_type_row(type)->highest);
    do {
        double product = 1;
        for (int a = 0; a < 3; a++) {
            sum = 0;
            for (uint32_t i = 0; i < size[a]; i++) {
                double tap = exact ? (double)(1 + below(most)) : (0.5 + uniform()) / size[a];
                if (symmetric && i > w / 2)
                    tap = factor[a][w - 1 - i];
                sum += factor[a][i] = size[a] == 1 ? 1 : tap;
            }
            product *= sum;
        }
        sum = 0;
        for (uint64_t i = 0; i < taps; i++)
            sum += box[i] = exact ? (double)below(most) : (0.5 + uniform()) / (double)taps;
        sum = fmax(sum, product);
        most = most > 1 ? most - 1 : 1;
    } while (exact && sum * highest >= 2147483648.0);
    if (separable)
        plan_separable(p, size, factors);
    else
        plan_direct(p, size, box);
    free(box);
    if (exact) {
        p->divisor = p->tap_total > 0 && one_in(2) ? p->tap_total : INT64_C(1) << below(16);
        p->gain = (double)p->tap_total / (double)p->divisor;
    }
    draw_part(p);
}

/* A plan of random everything whose reference takes not too long. */
static void random_plan(struct gf_plan *p)
{
    double *taps[3] = {NULL, NULL, NULL}, *all, abs_sum, highest;
    enum gf_arith arith = (enum gf_arith)below(GF_ARITH_COUNT);
    enum gf_type in = arith == GF_EXACT   ? small[below(4)]
                      : arith == GF_FLOAT ? floats_in[below(6)]
                                          : (enum gf_type)below(GF_TYPE_COUNT);
    enum gf_border border = (enum gf_border)below(GF_BORDER_COUNT);
    uint32_t channels = one_in(2) ? 1 : 1 + (uint32_t)below(5), size[3];
    bool separable = one_in(2);
    int style = (int)below(4);
    uint64_t shape[3], cost;

    do {
        bool volume = one_in(2);
        for (int a = 0; a < 3; a++) {
            shape[a] = size_axis();
            size[a] = mask_axis();
        }
        if (one_in(8)) { /* long rows, for blocks along x */
            shape[0] = 300 + below(2500);
            shape[1] = 1 + below(4);
            shape[2] = 1;
        }
        if (!volume) {
            size[2] = 1;
            shape[2] = one_in(3) ? 1 + below(3) : 1;
        }
        cost = shape[0] * shape[1] * shape[2] * channels * size[0] * size[1] * size[2];
    } while (cost > 400000 || (border == GF_BORDER_VALID && (size[0] > shape[0] ||
                               size[1] > shape[1] || size[2] > shape[2])));
    plan_begin(p, arith, border, shape[0], shape[1], shape[2], channels, in,
               one_in(3) ? in : (enum gf_type)below(GF_TYPE_COUNT));

    /* Taps whose sums fit what EXACT promises. */
    highest = fmax(-gf_type_row(in)->lowest, gf_type_row(in)->highest);
    bool multiply = channels > 1 && one_in(4) && (arith != GF_EXACT || gf_type_bytes(in) == 1);
    if (multiply)
        highest *= highest;
    size_t n = (size_t)size[0] * size[1] * size[2];
    all = malloc(n * sizeof *all);
    do {
        if (separable) {
            abs_sum = 1;
            for (int a = 0; a < 3; a++) {
                double s = 0;
                free(taps[a]);
                taps[a] = malloc(size[a] * sizeof *taps[a]);
                for (uint32_t i = 0; i < size[a]; i++)
                    s += fabs(taps[a][i] = size[a] == 1 && one_in(2) ? 1 : random_tap(p, style));
                abs_sum *= s;
            }
        } else {
            abs_sum = 0;
            for (size_t i = 0; i < n; i++)
                abs_sum += fabs(all[i] = random_tap(p, style));
        }
        if (abs_sum * highest >= 2147483648.0)
            style = style == 3 ? 0 : 2; /* smaller taps */
    } while (arith == GF_EXACT && abs_sum * highest >= 2147483648.0 && (style != 2 || n < 30000));
    if (separable)
        plan_separable(p, size, (const double *const *)taps);
    else
        plan_direct(p, size, all);
    for (int a = 0; a < 3; a++)
        free(taps[a]);
    free(all);

    for (int a = 0; a < 3; a++)
        if (one_in(3))
            p->origin[a] = (uint32_t)below(size[a]);
    if (border == GF_BORDER_CONSTANT && one_in(2))
        p->fill = (double)(below(100) % (arith == GF_EXACT ? 100 : 1000));
    if (arith == GF_EXACT) {
        static const int64_t divisors[] = {1, 2, 3, 9, 16, 25, 256, 1024, 6, 100, 4096, 65536, 7};
        p->divisor = divisors[below(13)];
        if (one_in(3) && p->tap_total > 0)
            p->divisor = p->tap_total;
        p->gain = (double)p->tap_total / (double)p->divisor;
    } else {
        p->gain = one_in(2) ? 1.0 : uniform() * 2;
    }

    /* Alpha, where the plan could ask for it. */
    if (channels > 1 && (multiply || one_in(4))) {
        p->in.alpha = p->out.alpha = (int)below(channels);
        if (multiply) {
            p->alpha_multiply = true;
            p->alpha_divide = !one_in(4);
        } else if (one_in(2)) {
            p->alpha_keep = true;
        } else {
            p->alpha_divide = true;
            p->alpha_scale = gf_type_row(in)->is_float ? 1.0 : gf_type_row(in)->highest;
        }
        if (arith == GF_EXACT && p->tap_total <= 0)
            p->alpha_divide = p->alpha_multiply = false;
    }

    draw_part(p);
}

static void describe(const struct gf_plan *p)
{
    static const char *const ariths[] = {"exact", "float", "double"};
    static const char *const borders[] = {
#define X(NAME, name, aliases, picture) name,
        GF_BORDERS(X)
#undef X
    };
    fprintf(stderr,
            "  %s %s %s->%s %" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%u mask %ux%ux%u %s origin "
            "%u,%u,%u shift %" PRId64 ",%" PRId64 ",%" PRId64 " out %" PRIu64 "x%" PRIu64
            "x%" PRIu64 " divisor %" PRId64 " total %" PRId64 " fill %g gain %g alpha %d%s%s%s\n",
            ariths[p->arith], borders[p->border], gf_type_name(p->in.type),
            gf_type_name(p->out.type), p->in.width, p->in.height, p->in.depth, p->in.channels,
            p->size[0], p->size[1], p->size[2], p->separable ? "separable" : "direct",
            p->origin[0], p->origin[1], p->origin[2], p->shift[0], p->shift[1], p->shift[2],
            p->out.width, p->out.height, p->out.depth, p->divisor, p->tap_total, p->fill,
            p->gain, p->in.alpha, p->alpha_multiply ? " multiply" : "",
            p->alpha_divide ? " divide" : "", p->alpha_keep ? " keep" : "");
}

#endif
