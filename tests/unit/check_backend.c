/* The CPU backend against the reference, byte for byte, for every instruction set this
 * machine has, several thread counts and random slabs, blocks and strides; and the
 * reference, for exact plans, against integer arithmetic and a border walker of its own.
 *
 *   check_backend [--seed N] [--iterations N] [--seconds N] [--bench]
 *
 * (or GPUFILT_CHECK_SEED, GPUFILT_CHECK_ITERATIONS in the environment). A failure prints
 * the parameters and the seed that repeats it. NaN is compared as bits too: backends store
 * one NaN whatever the sum made of it. */
#include "alloc.h"
#include "backend.h"
#include "cpu/kernels.h"
#include "make_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_backend.h"

/* ---- random numbers ---- */

static uint64_t rng;

static uint64_t next(void)
{
    uint64_t z = (rng += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t n) { return next() % n; }
static bool one_in(uint64_t n) { return below(n) == 0; }
static double uniform(void) { return (double)(next() >> 11) * 0x1p-53; }

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
        double c = v < row->lowest ? row->lowest : v > row->highest ? row->highest : v;
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
    if (one_in(8))
        return row->lowest + (row->is_float ? row->highest * 1e-3 * uniform() : (double)below(3));
    if (one_in(8))
        return row->highest - (row->is_float ? row->highest * 1e-3 * uniform() : (double)below(3));
    switch (pattern) {
    case LOW: return row->lowest + (double)below(3);
    case HIGH: return row->highest - (double)below(3);
    case CONSTANT: return constant;
    case ONE_HOT: return one_in(30) ? row->highest : 0;
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

    /* Which part of the output is wanted. */
    uint64_t *out[3] = {&p->out.width, &p->out.height, &p->out.depth};
    for (int a = 0; a < 3; a++) {
        if (border == GF_BORDER_VALID) {
            *out[a] = shape[a] - size[a] + 1;
            p->shift[a] = p->origin[a];
        }
        if (one_in(4)) {
            uint64_t begin = below(*out[a]);
            p->shift[a] += (int64_t)begin;
            *out[a] = 1 + below(*out[a] - begin);
        }
    }
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

/* ---- the third opinion, exact plans only ---- */

typedef __int128 wide;

/* Walks from the edge one step at a time instead of dividing by a period. */
static int64_t walk(enum gf_border border, int64_t i, int64_t n)
{
    int64_t at, direction;

    if (i >= 0 && i < n)
        return i;
    if (border == GF_BORDER_CONSTANT || border == GF_BORDER_NORMALIZE)
        return -1;
    at = i < 0 ? 0 : n - 1;
    direction = i < 0 ? -1 : 1;
    for (int64_t steps = i < 0 ? -i : i - (n - 1); steps > 0; steps--) {
        if (at + direction >= 0 && at + direction < n)
            at += direction;
        else if (border == GF_BORDER_WRAP)
            at = direction < 0 ? n - 1 : 0;
        else if (border == GF_BORDER_SYMMETRIC)
            direction = -direction;
        else if (border == GF_BORDER_REFLECT101 && n > 1) {
            direction = -direction;
            at += direction;
        }
    }
    return at;
}

static wide exact_tap(const struct gf_plan *p, uint32_t i, uint32_t j, uint32_t k)
{
    if (!p->separable)
        return ((const int32_t *)p->taps)[((size_t)k * p->size[1] + j) * p->size[0] + i];
    return (wide)((const int32_t *)p->factor[0])[i] * ((const int32_t *)p->factor[1])[j] *
           ((const int32_t *)p->factor[2])[k];
}

static void exact_sums(const struct gf_plan *p, const struct buffer *in, const int64_t at[3],
                       wide *sum, wide *weight, wide *total)
{
    uint32_t channels = p->in.channels;
    unsigned bytes = gf_type_bytes(p->in.type);

    for (uint32_t c = 0; c < channels; c++)
        sum[c] = 0;
    *weight = *total = 0;
    for (uint32_t k = 0; k < p->size[2]; k++)
        for (uint32_t j = 0; j < p->size[1]; j++)
            for (uint32_t i = 0; i < p->size[0]; i++) {
                wide t = exact_tap(p, i, j, k);
                int64_t x = walk(p->border, at[0] + p->shift[0] - p->origin[0] + i,
                                 (int64_t)p->in.width);
                int64_t y = walk(p->border, at[1] + p->shift[1] - p->origin[1] + j,
                                 (int64_t)p->in.height);
                int64_t z = walk(p->border, at[2] + p->shift[2] - p->origin[2] + k,
                                 (int64_t)p->in.depth);
                bool outside = x < 0 || y < 0 || z < 0;
                *total += t;
                if (outside && p->border == GF_BORDER_NORMALIZE)
                    continue;
                *weight += t;
                const unsigned char *pixel =
                    outside ? NULL : buffer_row(in, (uint64_t)y, (uint64_t)z) +
                                         (size_t)x * channels * bytes;
                for (uint32_t c = 0; c < channels; c++) {
                    double v = outside ? p->fill : get(p->in.type, pixel + c * bytes);
                    double a = outside || p->in.alpha < 0
                                   ? p->fill
                                   : get(p->in.type, pixel + (size_t)p->in.alpha * bytes);
                    if (!p->alpha_multiply || (int)c == p->in.alpha)
                        a = 1;
                    sum[c] += t * (wide)v * (wide)a;
                }
            }
}

/* Half-even by comparing doubled distances with the floor. */
static wide half_even(wide n, wide d)
{
    if (d < 0) {
        n = -n;
        d = -d;
    }
    wide floor = n / d - (n % d < 0);
    wide twice = 2 * (n - floor * d);
    return floor + (twice > d || (twice == d && (floor & 1) != 0));
}

static bool third_opinion(const struct gf_plan *p, const struct buffer *in,
                          const struct buffer *out, const struct gf_counts *counts)
{
    const struct gf_type_row *row = gf_type_row(p->out.type);
    struct gf_counts mine = {0};
    wide sum[8], weight, total;

    for (uint64_t z = 0; z < p->out.depth; z++)
        for (uint64_t y = 0; y < p->out.height; y++)
            for (uint64_t x = 0; x < p->out.width; x++) {
                int64_t at[3] = {(int64_t)x, (int64_t)y, (int64_t)z};
                exact_sums(p, in, at, sum, &weight, &total);
                for (uint32_t c = 0; c < p->out.channels; c++) {
                    const unsigned char *got = buffer_row(out, y, z) +
                                               (x * p->out.channels + c) * row->bytes;
                    bool is_alpha = (int)c == p->in.alpha;
                    wide n = sum[c], d = p->divisor;
                    unsigned char want[8];
                    if (p->alpha_keep && is_alpha) {
                        n = (wide)get(p->in.type,
                                      buffer_row(in, (uint64_t)(at[1] + p->shift[1]),
                                                 (uint64_t)(at[2] + p->shift[2])) +
                                          ((uint64_t)(at[0] + p->shift[0]) * p->in.channels + c) *
                                              gf_type_bytes(p->in.type));
                        d = 1;
                    } else if (p->alpha_divide && !is_alpha) {
                        n *= (wide)p->tap_total * (wide)p->alpha_scale;
                        d *= sum[p->in.alpha];
                        if (sum[p->in.alpha] <= 0) {
                            n = 0;
                            d = 1;
                        }
                    } else {
                        if (p->alpha_divide)
                            d = p->tap_total;
                        if (p->border == GF_BORDER_NORMALIZE) {
                            n *= total;
                            d *= weight;
                        }
                    }
                    if (row->is_float || d == 0) {
                        double v = (double)n / (double)d;
                        if (row->is_float) {
                            put(p->out.type, want, isnan(v) ? (double)NAN : v);
                            double back = get(p->out.type, want);
                            mine.clipped_low += back < 0 && isinf(back) && !isinf(v);
                            mine.clipped_high += back > 0 && isinf(back) && !isinf(v);
                        } else {
                            mine.nan += isnan(v);
                            mine.clipped_low += v < 0;
                            mine.clipped_high += v > 0;
                            put(p->out.type, want, isnan(v) ? 0 : v > 0 ? 1e30 : -1e30);
                        }
                    } else {
                        wide v = half_even(n, d);
                        if (v < (wide)row->lowest) {
                            v = (wide)row->lowest;
                            mine.clipped_low++;
                        }
                        if (v > (wide)row->highest) {
                            v = (wide)row->highest;
                            mine.clipped_high++;
                        }
                        put(p->out.type, want, (double)v);
                    }
                    if (memcmp(want, got, row->bytes) != 0) {
                        fprintf(stderr, "integer arithmetic: %g, reference %g at %" PRIu64
                                ",%" PRIu64 ",%" PRIu64 ",%u\n", get(p->out.type, want),
                                get(p->out.type, got), x, y, z, c);
                        return false;
                    }
                }
            }
    if (memcmp(&mine, counts, sizeof mine) != 0) {
        fprintf(stderr, "integer arithmetic: counts differ\n");
        return false;
    }
    return true;
}

/* ---- running ---- */

/* A copy of exactly the input that output rows and planes [.., ..) reach, so that reading
 * one sample more is seen by the sanitizer or as painted data. */
static void slab_of(const struct gf_plan *p, const struct buffer *in, uint64_t y, uint64_t rows,
                    uint64_t z, uint64_t planes, struct buffer *copy, struct gf_slab *slab)
{
    uint64_t y0, y1, z0, z1;

    gf_plan_reach(p, 1, y, y + rows, &y0, &y1);
    gf_plan_reach(p, 2, z, z + planes, &z0, &z1);
    buffer_make(copy, in->row, y1 - y0, z1 - z0, gf_type_bytes(p->in.type), one_in(2));
    for (uint64_t k = z0; k < z1; k++)
        for (uint64_t j = y0; j < y1; j++)
            memcpy(buffer_row(copy, j - y0, k - z0), buffer_row(in, j, k), in->row);
    *slab = (struct gf_slab){.data = copy->data, .row_stride = copy->row_stride,
                             .plane_stride = copy->plane_stride, .y = y0, .z = z0,
                             .rows = y1 - y0, .planes = z1 - z0};
}

static bool run_backend(const struct gf_backend *backend, const struct gf_plan *p,
                        const struct buffer *in, const struct buffer *out, bool split,
                        struct gf_counts *counts)
{
    struct gf_error e = {{0}};
    void *state = NULL;
    bool fine = true;

    memset(counts, 0, sizeof *counts);
    if (backend->open(p, &state, &e) != GF_OK) {
        fprintf(stderr, "%s: open: %s\n", backend->name, e.text);
        return false;
    }
    for (uint64_t z = 0, planes; z < p->out.depth; z += planes) {
        planes = split ? 1 + below(p->out.depth - z) : p->out.depth;
        for (uint64_t y = 0, rows; y < p->out.height; y += rows) {
            struct buffer copy;
            struct gf_slab from, to;
            rows = split ? 1 + below(p->out.height - y) : p->out.height;
            slab_of(p, in, y, rows, z, planes, &copy, &from);
            to = (struct gf_slab){.data = buffer_row(out, y, z), .row_stride = out->row_stride,
                                  .plane_stride = out->plane_stride, .y = y, .z = z,
                                  .rows = rows, .planes = planes};
            fine = fine && backend->run(state, &from, &to, counts, &e) == GF_OK;
            free(copy.block);
        }
    }
    backend->close(state);
    return fine;
}

static bool same(const struct gf_plan *p, const struct buffer *a, const struct buffer *b)
{
    unsigned bytes = gf_type_bytes(p->out.type);
    for (uint64_t z = 0; z < a->planes; z++)
        for (uint64_t y = 0; y < a->rows; y++)
            for (size_t i = 0; i < a->row; i += bytes) {
                const unsigned char *q = buffer_row(a, y, z) + i, *r = buffer_row(b, y, z) + i;
                if (memcmp(q, r, bytes) != 0) {
                    uint64_t m = 0, n = 0;
                    memcpy(&m, q, bytes);
                    memcpy(&n, r, bytes);
                    fprintf(stderr, "reference %.17g (%" PRIx64 "), cpu %.17g (%" PRIx64
                            ") at %zu,%" PRIu64 ",%" PRIu64 "\n",
                            get(p->out.type, q), m, get(p->out.type, r), n,
                            i / bytes, y, z);
                    return false;
                }
            }
    return true;
}

static const char *levels[3];
static size_t level_count;

static void find_levels(void)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    const struct gf_kernels *k;

    for (size_t i = 0; i < 3; i++) {
        setenv("GPUFILT_CPU", names[i], 1);
        if (gf_kernels_choose(&k, NULL) == GF_OK && strcmp(k->name, names[i]) == 0)
            levels[level_count++] = names[i];
    }
    unsetenv("GPUFILT_CPU");
    if (level_count == 0) /* built without hooks: the machine's own */
        levels[level_count++] = "";
    fprintf(stderr, "levels:");
    for (size_t i = 0; i < level_count; i++)
        fprintf(stderr, " %s", levels[i]);
    fprintf(stderr, "\n");
}

static bool check_one(uint64_t seed)
{
    static const unsigned threads[] = {1, 2, 5};
    struct gf_plan p;
    struct buffer in, want, got;
    struct gf_counts expected, counts;
    char block[32] = "";
    bool fine;

    rng = seed;
    enum pattern pattern = (enum pattern)below(PATTERNS);
    if (one_in(16))
        identity_plan(&p);
    else if (one_in(40))
        wide_tie_plan(&p);
    else
        random_plan(&p);
    unsigned ib = gf_type_bytes(p.in.type), ob = gf_type_bytes(p.out.type);
    double constant = sample(p.in.type, UNIFORM, 0);
    buffer_make(&in, gf_row_bytes(&p.in), p.in.height, p.in.depth, ib, false);
    for (size_t i = 0; i < in.size - 2 * GUARD; i += ib)
        put(p.in.type, in.data + i, sample(p.in.type, pattern, constant));
    /* A bare NaN payload and a signalling one, where there is room. */
    if (p.in.type == GF_F32 && pattern == SPECIAL)
        memcpy(in.data, &(uint32_t){one_in(2) ? 0xffabcdefu : 0x7f812345u}, 4);
    buffer_make(&want, gf_row_bytes(&p.out), p.out.height, p.out.depth, ob, false);
    unsetenv("GPUFILT_TEST_BLOCK");
    fine = run_backend(&gf_backend_reference, &p, &in, &want, one_in(4), &expected) &&
           buffer_intact(&want);
    if (p.arith == GF_EXACT)
        fine = fine && third_opinion(&p, &in, &want, &expected);
    for (size_t l = 0; l < level_count && fine; l++) {
        setenv("GPUFILT_CPU", levels[l], 1);
        if (one_in(2)) {
            snprintf(block, sizeof block, "%ux%u", 1 + (unsigned)below(70),
                     1 + (unsigned)below(20));
            setenv("GPUFILT_TEST_BLOCK", block, 1);
        } else {
            block[0] = '\0';
            unsetenv("GPUFILT_TEST_BLOCK");
        }
        p.threads = threads[below(3)];
        buffer_make(&got, gf_row_bytes(&p.out), p.out.height, p.out.depth, ob, true);
        fine = run_backend(&gf_backend_cpu, &p, &in, &got, one_in(2), &counts) &&
               same(&p, &want, &got);
        if (fine && !buffer_intact(&got)) {
            fprintf(stderr, "bytes outside the rows were changed\n");
            fine = false;
        }
        if (fine && memcmp(&counts, &expected, sizeof counts) != 0) {
            fprintf(stderr, "counts: low %" PRIu64 " %" PRIu64 " high %" PRIu64 " %" PRIu64
                    " nan %" PRIu64 " %" PRIu64 "\n", expected.clipped_low, counts.clipped_low,
                    expected.clipped_high, counts.clipped_high, expected.nan, counts.nan);
            fine = false;
        }
        free(got.block);
        if (!fine)
            fprintf(stderr, "  level %s threads %u block %s\n", levels[l], p.threads, block);
    }
    if (!fine) {
        fprintf(stderr, "  pattern %d seed %" PRIu64 "\n", (int)pattern, seed);
        describe(&p);
    }
    free(in.block);
    free(want.block);
    plan_end(&p);
    return fine;
}

/* ---- fused multiply-add without the instruction ---- */

static float random_float(void)
{
    uint32_t bits = (uint32_t)next();
    float f;

    switch (below(5)) {
    case 0: bits = (bits & 0x80ffffff) | 0x3f000000; break; /* near 1 */
    case 1: bits &= 0x807fffff; break;                      /* subnormal */
    case 2: bits &= 0xfff00000; break;                      /* few bits: ties */
    case 3: bits = (bits & 0x807fffff) | (uint32_t)below(60) << 23; break;
    default: break;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The chain of two taps 1 and a over rows c and x is fmaf(a, x, c). */
static bool check_fma(size_t rounds)
{
    enum { N = 1024 };
    static float row[2 * N + GF_LANE_SLACK], to[N + GF_LANE_SLACK];
    const void *rows[] = {row};
    void *const tos[] = {to};

    for (size_t round = 0; round < rounds; round++) {
        float taps[2] = {1.0f, random_float()};
        for (size_t i = 0; i < N; i++) {
            row[i] = random_float();
            row[N + i] = random_float();
            /* The sum nearly cancels, or lies just beside a tie. */
            if (one_in(4))
                row[i] = -taps[1] * row[N + i];
            else if (one_in(4))
                row[i] = ldexpf(row[N + i] * taps[1], (int)below(60) - 30);
        }
        gf_kernels_baseline.chain[GF_LANE_F32](&(struct gf_chain){
            .rows = rows, .nz = 1, .ny = 1, .nx = 2, .step = N, .taps = taps, .to = tos,
            .outputs = 1, .lanes = N});
        for (size_t i = 0; i < N; i++) {
            float want = fmaf(taps[1], row[N + i], fmaf(1.0f, row[i], 0.0f));
            if (memcmp(&want, &to[i], 4) != 0 && !(isnan(want) && isnan(to[i]))) {
                fprintf(stderr, "fmaf(%a, %a, %a) = %a, not %a\n", (double)taps[1],
                        (double)row[N + i], (double)row[i], (double)want, (double)to[i]);
                return false;
            }
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *text = getenv("GPUFILT_CHECK_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1, iterations = 3000, done = 0;
    double limit = 40.0;
    struct timespec begin, now;

    if ((text = getenv("GPUFILT_CHECK_ITERATIONS")) != NULL)
        iterations = strtoull(text, NULL, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0)
            return bench();
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--iterations") == 0)
            iterations = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--seconds") == 0)
            limit = strtod(argv[++i], NULL);
        else {
            fprintf(stderr, "usage: check_backend [--seed N] [--iterations N] [--seconds N] "
                            "[--bench]\n");
            return 2;
        }
    }
    find_levels();
    rng = seed;
    if (!check_fma(4000))
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; done < iterations; done++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((double)(now.tv_sec - begin.tv_sec) > limit)
            break;
        if (!check_one(seed + done))
            return 1;
    }
    if (gf_memory_used() != 0) {
        fprintf(stderr, "%" PRIu64 " bytes were not freed\n", gf_memory_used());
        return 1;
    }
    fprintf(stderr, "%" PRIu64 " plans, all the same\n", done);
    return done > 0 ? 0 : 1;
}
