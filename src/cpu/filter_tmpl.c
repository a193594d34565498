/* The inner loops, compiled once for each instruction set from a file that defines
 *   GF_KERNELS        the name of the table to define
 *   GF_KERNELS_NAME   its name as a string,
 * and is given the instruction set by the compiler's flags. Plain loops are left to the
 * compiler's vectoriser; only the sums (chain_tmpl.h) and binary16 are written out.
 * Everything is static: a function with a vector instruction must not be picked by the
 * linker for a machine without it. */
#include "kernels.h"
#include "simd.h"

#include <math.h>

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* ---- sums ---- */

#define K i16
#define T uint16_t
#define SKIP_ZERO 1
#include "chain_tmpl.h"
#define K i32
#define T int32_t
#define SKIP_ZERO 1
#include "chain_tmpl.h"
#define K f32
#define T float
#define SKIP_ZERO 0
#include "chain_tmpl.h"
#define K f64
#define T double
#define SKIP_ZERO 0
#include "chain_tmpl.h"

/* ---- loading ---- */

#define LOAD(lane, type, name, ctype, convert)                                     \
    static void load_##lane##_##name(const void *from, void *to, size_t n)         \
    {                                                                              \
        const ctype *restrict s = from;                                            \
        type *restrict d = to;                                                     \
        for (size_t i = 0; i < n; i++)                                             \
            d[i] = (type)convert(s[i]);                                            \
    }
#define SAME(x) (x)
#define LOAD_INTEGERS(lane, type)             \
    LOAD(lane, type, u8, uint8_t, SAME)       \
    LOAD(lane, type, i8, int8_t, SAME)        \
    LOAD(lane, type, u16, uint16_t, SAME)     \
    LOAD(lane, type, i16, int16_t, SAME)      \
    LOAD(lane, type, u32, uint32_t, SAME)     \
    LOAD(lane, type, i32, int32_t, SAME)
LOAD_INTEGERS(i16, uint16_t)
LOAD_INTEGERS(i32, int32_t)
LOAD_INTEGERS(f32, float)
LOAD_INTEGERS(f64, double)
LOAD(f32, float, f64, double, SAME)
LOAD(f64, double, f16, uint16_t, gf_f16_to_f32)
LOAD(f64, double, f32, float, SAME)

static void load_f32_f32(const void *from, void *to, size_t n) { memcpy(to, from, n * 4); }
static void load_f64_f64(const void *from, void *to, size_t n) { memcpy(to, from, n * 8); }

static void load_f32_f16(const void *from, void *to, size_t n)
{
    const uint16_t *s = from;
    float *d = to;
    size_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(s + i))));
#endif
    for (; i < n; i++)
        d[i] = gf_f16_to_f32(s[i]);
}

#define PREMULTIPLY(lane, type)                                                        \
    static void premultiply_##lane(void *lanes, size_t pixels, unsigned channels,      \
                                   unsigned alpha)                                     \
    {                                                                                  \
        type *v = lanes;                                                               \
        for (size_t p = 0; p < pixels; p++, v += channels) {                           \
            type a = v[alpha];                                                         \
            for (unsigned c = 0; c < channels; c++)                                    \
                v[c] = c == alpha ? a : (type)(v[c] * a);                              \
        }                                                                              \
    }
PREMULTIPLY(i32, int32_t)
PREMULTIPLY(f32, float)
PREMULTIPLY(f64, double)

/* ---- widening ---- */

static void i16_to_i32(const uint16_t *from, bool is_signed, int32_t *to, size_t n)
{
    if (is_signed)
        for (size_t i = 0; i < n; i++)
            to[i] = (int16_t)from[i];
    else
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
}

static void f32_to_i32(const float *from, int32_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (int32_t)from[i];
}

static void f32_to_f64(const float *from, double *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* ---- finishing ---- */

static void scale_f32(float *restrict v, const float *restrict r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] *= r[i];
}

static void scale_f64(double *restrict v, const double *restrict r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] *= r[i];
}

/* scratch: a lane each, the pixel's alpha sum beside every channel. */
#define SPREAD_ALPHA(scratch, v, pixels, channels, alpha)                  \
    do {                                                                   \
        if ((channels) == 4) {                                             \
            for (size_t p = 0; p < (pixels); p++)                          \
                for (unsigned c = 0; c < 4; c++)                           \
                    (scratch)[4 * p + c] = (v)[4 * p + (alpha)];           \
        } else {                                                           \
            for (size_t p = 0; p < (pixels); p++)                          \
                for (unsigned c = 0; c < (channels); c++)                  \
                    (scratch)[p * (channels) + c] = (v)[p * (channels) + (alpha)]; \
        }                                                                  \
    } while (0)

#define ALPHA(lane, type)                                                              \
    static void alpha_##lane(type *restrict v, size_t pixels, unsigned channels,       \
                             unsigned alpha, type scale, type gain,                    \
                             type *restrict scratch, const type *r)                    \
    {                                                                                  \
        size_t n = pixels * channels;                                                  \
        SPREAD_ALPHA(scratch, v, pixels, channels, alpha);                             \
        for (size_t i = 0; i < n; i++) {                                               \
            type quotient = v[i] / scratch[i];                                         \
            v[i] = scratch[i] > 0 ? quotient * scale : 0;                              \
        }                                                                              \
        for (size_t i = alpha; i < n; i += channels)                                   \
            v[i] = (r != NULL ? scratch[i] * r[i] : scratch[i]) / gain;                \
    }
ALPHA(f32, float)
ALPHA(f64, double)

/* Why a rounded quotient and a second rounding to an integer give the exact result.
 * Let N and D be integers, exact in a format of p bits, q = RN(N/D). A number half way
 * between two integers, t = k + 1/2 near N/D, is exact in the format, and RN is monotone, so q
 * is on the same side of t as N/D, or equals t. If N/D = t then q = t: the tie is seen. If
 * not, |N/D - t| >= 1/(2D) (both are multiples of it), while |q - N/D| <= |N/D| 2^-p, which is
 * less when |N| < 2^(p-1): then q != t. So rounding q to nearest even rounds N/D correctly
 * for |N| < 2^52 in double and |N| < 2^23 in float.
 * An odd D has no ties, and N * RN(1/D), off by at most |N/D| 2^(1-p) (1 + 2^-p), stays on
 * its side of t for |N| < 2^(p-2): that saves the division. */
static void divide_f32(const int32_t *restrict acc, int64_t divisor, float *restrict v, size_t n)
{
    float d = (float)divisor, inverse = 1.0f / d;
    if (divisor & 1)
        for (size_t i = 0; i < n; i++)
            v[i] = (float)acc[i] * inverse;
    else
        for (size_t i = 0; i < n; i++)
            v[i] = (float)acc[i] / d;
}

static void divide_f64(const int32_t *restrict acc, int64_t divisor, double *restrict v, size_t n)
{
    double d = (double)divisor;
    for (size_t i = 0; i < n; i++)
        v[i] = (double)acc[i] / d;
}

/* To the nearest integer, ties to even, for numerators that double cannot hold. */
static double divide_wide(int64_t numerator, int64_t denominator)
{
    bool negative = (numerator < 0) != (denominator < 0);
    uint64_t a = numerator < 0 ? 0 - (uint64_t)numerator : (uint64_t)numerator;
    uint64_t b = denominator < 0 ? 0 - (uint64_t)denominator : (uint64_t)denominator;
    uint64_t q = a / b, rest = a % b;

    q += rest > b - rest || (rest == b - rest && (q & 1));
    return negative ? -(double)q : (double)q;
}

static double quotient_of(int64_t numerator, int64_t denominator, bool to_integer)
{
    const int64_t limit = INT64_C(1) << 52;
    bool narrow = numerator < limit && numerator > -limit && denominator < limit &&
                  denominator > -limit;

    if (to_integer && !narrow && denominator != 0)
        return divide_wide(numerator, denominator);
    return (double)numerator / (double)denominator;
}

static void ratio_color(const struct gf_ratio *ratio, const int32_t *acc, double *v,
                        size_t pixels, unsigned channels)
{
    unsigned alpha = (unsigned)ratio->alpha;
    double factor = (double)ratio->color_factor, divisor = (double)ratio->color_divisor;

    for (size_t p = 0; p < pixels; p++) {
        const int32_t *a = acc + p * channels;
        double *d = v + p * channels;
        if (ratio->wide) {
            for (unsigned c = 0; c < channels; c++)
                d[c] = a[alpha] > 0 ? quotient_of(a[c] * ratio->color_factor,
                                                  a[alpha] * ratio->color_divisor,
                                                  ratio->to_integer)
                                    : 0.0;
            continue;
        }
        double below = (double)a[alpha] * divisor;
        bool some = a[alpha] > 0;
        for (unsigned c = 0; c < channels; c++) {
            double q = (double)a[c] * factor / below;
            d[c] = some ? q : 0.0;
        }
    }
}

static void ratio(const struct gf_ratio *ratio_, const int32_t *acc, const double *inside,
                  double *v, size_t pixels)
{
    const struct gf_ratio r = *ratio_;
    size_t n = pixels * r.channels, first = 0, step = 1;

    if (r.alpha >= 0) {
        if (r.channels == 4)
            ratio_color(&r, acc, v, pixels, 4);
        else
            ratio_color(&r, acc, v, pixels, r.channels);
        first = (size_t)r.alpha;
        step = r.channels;
    }
    if (r.wide)
        for (size_t i = first; i < n; i += step)
            v[i] = quotient_of(acc[i] * r.plain_factor,
                               r.plain_divisor * (inside ? (int64_t)inside[i] : 1),
                               r.to_integer);
    else
        for (size_t i = first; i < n; i += step)
            v[i] = (double)acc[i] * (double)r.plain_factor /
                   ((double)r.plain_divisor * (inside ? inside[i] : 1.0));
}

/* ---- storing ---- */

/* Sums through a shift: floor, then one up when the rest is above half, or half and the
 * floor odd: rest + (floor & 1) > half. */
#define STORE_SHIFT(lane, acc_type, wide, name, ctype, lowest, highest)                \
    static void store_##lane##_##name(const acc_type *restrict acc, unsigned shift,    \
                                      void *to, size_t n, struct gf_counts *counts)    \
    {                                                                                  \
        ctype *restrict d = to;                                                        \
        const wide mask = (wide)((UINT32_C(1) << shift) - 1);                          \
        const wide half = shift > 0 ? (wide)(UINT32_C(1) << (shift - 1)) : (wide)1;    \
        const wide least = (wide)(lowest), most = (wide)(highest);                     \
        uint64_t low = 0, high = 0;                                                    \
        while (n > 0) {                                                                \
            size_t m = n < 8192 ? n : 8192;                                            \
            wide below = 0, above = 0;                                                 \
            for (size_t i = 0; i < m; i++) {                                           \
                wide a = (wide)acc[i];                                                 \
                wide q = (wide)(a >> shift);                                           \
                wide rest = (wide)(a & mask);                                          \
                q = (wide)(q + ((wide)(rest + (q & 1)) > half));                       \
                below = (wide)(below + (q < least));                                   \
                above = (wide)(above + (q > most));                                    \
                q = q < least ? least : q;                                             \
                q = q > most ? most : q;                                               \
                d[i] = (ctype)q;                                                       \
            }                                                                          \
            low += (uint64_t)below;                                                    \
            high += (uint64_t)above;                                                   \
            acc += m, d += m, n -= m;                                                  \
        }                                                                              \
        counts->clipped_low += low;                                                    \
        counts->clipped_high += high;                                                  \
    }
STORE_SHIFT(i32, int32_t, int32_t, u8, uint8_t, 0, 255)
STORE_SHIFT(i32, int32_t, int32_t, i8, int8_t, -128, 127)
STORE_SHIFT(i32, int32_t, int32_t, u16, uint16_t, 0, 65535)
STORE_SHIFT(i32, int32_t, int32_t, i16, int16_t, -32768, 32767)
STORE_SHIFT(i16u, uint16_t, uint16_t, u8, uint8_t, 0, 255)
STORE_SHIFT(i16s, uint16_t, int16_t, u8, uint8_t, 0, 255)
STORE_SHIFT(i16s, uint16_t, int16_t, i8, int8_t, -128, 127)
STORE_SHIFT(i16s, uint16_t, int16_t, i16, int16_t, -32768, 32767)

/* Floats to integers: clamped to one beyond the range, so that a value outside is still
 * seen to be, then rounded to nearest even by adding 1.5 * 2^(p-1), after which the units
 * are the last bit of the mantissa and the difference of the bits is the integer. All
 * ranges are far inside 2^(p-2). NaN fails every comparison and is masked to 0. */
#define STORE_ROUND(lane, type, whole, magic, name, ctype, lowest, highest)            \
    static void store_##lane##_##name(const type *restrict v, void *to, size_t n,      \
                                      struct gf_counts *counts)                        \
    {                                                                                  \
        const type below = (type)(lowest) - 1, above = (type)(highest) + 1;            \
        const whole least = (whole)(lowest), most = (whole)(highest);                  \
        ctype *restrict d = to;                                                        \
        const type shifted = (magic);                                                  \
        whole base;                                                                    \
        memcpy(&base, &shifted, sizeof base);                                          \
        while (n > 0) {                                                                \
            size_t m = n < 8192 ? n : 8192;                                            \
            whole low = 0, high = 0, numbers = 0;                                      \
            for (size_t i = 0; i < m; i++) {                                           \
                type x = v[i], a;                                                      \
                whole q, number = -(whole)(x == x);                                    \
                a = x > below ? x : below;                                             \
                a = a < above ? a : above;                                             \
                a += shifted;                                                          \
                memcpy(&q, &a, sizeof q);                                              \
                q = (q - base) & number;                                               \
                numbers -= number;                                                     \
                low += q < least;                                                      \
                high += q > most;                                                      \
                q = q < least ? least : q;                                             \
                q = q > most ? most : q;                                               \
                d[i] = (ctype)q;                                                       \
            }                                                                          \
            counts->clipped_low += (uint64_t)low;                                      \
            counts->clipped_high += (uint64_t)high;                                    \
            counts->nan += m - (uint64_t)numbers;                                      \
            v += m, d += m, n -= m;                                                    \
        }                                                                              \
    }
#define MAGIC_F32 12582912.0f
#define MAGIC_F64 6755399441055744.0
STORE_ROUND(f32, float, int32_t, MAGIC_F32, u8, uint8_t, 0, 255)
STORE_ROUND(f32, float, int32_t, MAGIC_F32, i8, int8_t, -128, 127)
STORE_ROUND(f32, float, int32_t, MAGIC_F32, u16, uint16_t, 0, 65535)
STORE_ROUND(f32, float, int32_t, MAGIC_F32, i16, int16_t, -32768, 32767)
STORE_ROUND(f64, double, int64_t, MAGIC_F64, u8, uint8_t, 0, 255)
STORE_ROUND(f64, double, int64_t, MAGIC_F64, i8, int8_t, -128, 127)
STORE_ROUND(f64, double, int64_t, MAGIC_F64, u16, uint16_t, 0, 65535)
STORE_ROUND(f64, double, int64_t, MAGIC_F64, i16, int16_t, -32768, 32767)
STORE_ROUND(f64, double, int64_t, MAGIC_F64, u32, uint32_t, 0, 4294967295)
STORE_ROUND(f64, double, int64_t, MAGIC_F64, i32, int32_t, -2147483648.0, 2147483647)

static void store_f32_f32(const float *restrict v, void *to, size_t n, struct gf_counts *counts)
{
    float *restrict d = to;
    (void)counts;
    for (size_t i = 0; i < n; i++)
        d[i] = v[i] != v[i] ? NAN : v[i];
}

static void store_f64_f64(const double *restrict v, void *to, size_t n, struct gf_counts *counts)
{
    double *restrict d = to;
    (void)counts;
    for (size_t i = 0; i < n; i++)
        d[i] = v[i] != v[i] ? (double)NAN : v[i];
}

static void store_f64_f32(const double *restrict v, void *to, size_t n, struct gf_counts *counts)
{
    float *restrict d = to;
    uint64_t low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        float f = (float)v[i];
        low += (f == -INFINITY) & (v[i] >= -__DBL_MAX__);
        high += (f == INFINITY) & (v[i] <= __DBL_MAX__);
        d[i] = f != f ? NAN : f;
    }
    counts->clipped_low += low;
    counts->clipped_high += high;
}

static void store_half(double v, uint16_t *to, struct gf_counts *counts)
{
    uint16_t half = v != v ? 0x7e00 : gf_f64_to_f16(v);
    counts->clipped_low += half == 0xfc00 && v >= -__DBL_MAX__;
    counts->clipped_high += half == 0x7c00 && v <= __DBL_MAX__;
    *to = half;
}

static void store_f64_f16(const double *v, void *to, size_t n, struct gf_counts *counts)
{
    uint16_t *d = to;
    for (size_t i = 0; i < n; i++)
        store_half(v[i], d + i, counts);
}

static void store_f32_f16(const float *v, void *to, size_t n, struct gf_counts *counts)
{
    uint16_t *d = to;
    size_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8) {
        __m256 a = _mm256_loadu_ps(v + i);
        /* Magnitudes from 65520 and not infinite overflow; NaN needs its one form: rare, so
         * such a group is left to the scalar code. */
        __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
        __m256 odd = _mm256_cmp_ps(size, _mm256_set1_ps(65520.0f), _CMP_NLT_UQ);
        if (_mm256_movemask_ps(odd) == 0) {
            _mm_storeu_si128((void *)(d + i), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
            continue;
        }
        for (size_t l = 0; l < 8; l++)
            store_half((double)v[i + l], d + i + l, counts);
    }
#endif
    for (; i < n; i++)
        store_half((double)v[i], d + i, counts);
}

#define LOADS(lane)                                                            \
    [GF_U8] = load_##lane##_u8, [GF_I8] = load_##lane##_i8,                    \
    [GF_U16] = load_##lane##_u16, [GF_I16] = load_##lane##_i16,                \
    [GF_U32] = load_##lane##_u32, [GF_I32] = load_##lane##_i32
#define STORES(lane)                                                           \
    [GF_U8] = store_##lane##_u8, [GF_I8] = store_##lane##_i8,                  \
    [GF_U16] = store_##lane##_u16, [GF_I16] = store_##lane##_i16

const struct gf_kernels GF_KERNELS = {
    .name = GF_KERNELS_NAME,
    .fused = GF_SIMD_FUSED,
    .load = {
        [GF_LANE_I16] = {LOADS(i16)},
        [GF_LANE_I32] = {LOADS(i32)},
        [GF_LANE_F32] = {LOADS(f32), [GF_F16] = load_f32_f16, [GF_F32] = load_f32_f32,
                         [GF_F64] = load_f32_f64},
        [GF_LANE_F64] = {LOADS(f64), [GF_F16] = load_f64_f16, [GF_F32] = load_f64_f32,
                         [GF_F64] = load_f64_f64},
    },
    .premultiply = {[GF_LANE_I32] = premultiply_i32, [GF_LANE_F32] = premultiply_f32,
                    [GF_LANE_F64] = premultiply_f64},
    .chain = {i16_chain, i32_chain, f32_chain, f64_chain},
    .i16_to_i32 = i16_to_i32,
    .f32_to_i32 = f32_to_i32,
    .f32_to_f64 = f32_to_f64,
    .scale_f32 = scale_f32,
    .scale_f64 = scale_f64,
    .alpha_f32 = alpha_f32,
    .alpha_f64 = alpha_f64,
    .divide_f32 = divide_f32,
    .divide_f64 = divide_f64,
    .ratio = ratio,
    .store_i16 = {{[GF_U8] = store_i16u_u8},
                  {[GF_U8] = store_i16s_u8, [GF_I8] = store_i16s_i8, [GF_I16] = store_i16s_i16}},
    .store_i32 = {STORES(i32)},
    .store_f32 = {STORES(f32), [GF_F16] = store_f32_f16, [GF_F32] = store_f32_f32},
    .store_f64 = {STORES(f64), [GF_U32] = store_f64_u32, [GF_I32] = store_f64_i32,
                  [GF_F16] = store_f64_f16, [GF_F32] = store_f64_f32,
                  [GF_F64] = store_f64_f64},
};
