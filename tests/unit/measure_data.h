/* Sequences of samples for check_measure: of every type, of kinds that each go some way of their
 * own through a measurer. */
#ifndef GPUFILT_TESTS_UNIT_MEASURE_DATA_H
#define GPUFILT_TESTS_UNIT_MEASURE_DATA_H

#include "sample.h"
#include "random.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- samples ---- */

/* Any bits go into any type; values are saturated and, in floats, rounded. */
static void put_bits(enum gf_type type, void *samples, uint64_t i, uint64_t bits)
{
    unsigned bytes = gf_type_bytes(type);
    memcpy((char *)samples + i * bytes, &bits, bytes);
}

static void put_value(enum gf_type type, void *samples, uint64_t i, double v)
{
    const struct gf_type_row *row = gf_type_row(type);
    float narrow = (float)v;

    if (type == GF_F64)
        memcpy((char *)samples + i * 8, &v, 8);
    else if (type == GF_F32)
        memcpy((char *)samples + i * 4, &narrow, 4);
    else if (type == GF_F16)
        put_bits(type, samples, i, gf_f64_to_f16(v));
    else
        put_bits(type, samples, i, (uint64_t)(int64_t)(isnan(v)           ? 0
                                                       : v < row->lowest  ? row->lowest
                                                       : v > row->highest ? row->highest
                                                                          : v));
}

/* X(NAME, the value of sample i of n): `u` is uniform in [0, 1), `low` and `high` the type's
 * finite range, `c` a constant of the sequence. */
#define DATA_KINDS(X)                                                              \
    X(UNIFORM, is_float ? u : low + u * (high - low + 1))                          \
    X(NORMAL, 100 + 25 * (u + uniform() + uniform() - 1.5))                        \
    X(CONSTANT, c)                                                                 \
    X(RAMP, (double)i)                                                             \
    X(FALL, c - (double)i * 0.25)                                                  \
    X(FEW, (double)(5 * below(3)))                                                 \
    X(BANDS, (double)(i / 700 % 5) + (i / 5000 % 2 == 1 ? u : 0))                  \
    X(SPRINKLED, one_in(200) ? strange() : u * 1000)                               \
    X(HOLES, one_in(3) ? u - 0.5 : (double)NAN)                                    \
    X(STRANGE, strange())                                                          \
    X(HALF_STRANGE, i / 1500 % 2 == 1 ? u : strange())                             \
    X(ZEROS, one_in(2) ? 0.0 : -0.0)                                               \
    X(HOT, i == n * 2 / 3 ? 1e5 : 0.0)                                             \
    X(HOT_CONSTANT, one_in(3000) ? c + 1 : c)                                      \
    X(DENORMAL, (u - 0.5) * tiny)                                                  \
    X(MIXED, one_in(2) ? 1e3 * u : 1e-3 * u)                                       \
    X(SCALES, ldexp(u + 1, (int)(i / 1000 % 12)))                                  \
    X(FAR_APART, (u - 0.5) * (one_in(2) ? 1e30 : 1e-30))                           \
    X(TINY_OR_HUGE, ldexp(u - 0.5, (int)below(2040) - 1020))                       \
    X(LARGE_MEAN, 1e6 + (u - 0.5) * 1e-3)                                          \
    X(NEGATIVE_MEAN, -3e4 - u)                                                     \
    X(EXTREMES, one_in(3) ? low : one_in(2) ? high : 0.0)                          \
    X(NEAR_LIMIT, high * (u - 0.5))                                                \
    X(DRIFT, 1e4 + (double)i * 1e-3 + u)

enum kind {
#define X(NAME, value) NAME,
    DATA_KINDS(X)
#undef X
    ANY_BITS,
    KINDS
};

static double strange(void)
{
    return one_in(3) ? (double)NAN : one_in(2) ? (double)INFINITY : -(double)INFINITY;
}

static double value_of(enum kind kind, const struct gf_type_row *row, uint64_t i, uint64_t n,
                       double c)
{
    double u = uniform(), low = row->lowest, high = row->highest;
    double tiny = row->bytes == 2 ? 1e-5 : row->bytes == 4 ? 1e-38 : 1e-307;
    bool is_float = row->is_float;

    switch (kind) {
#define X(NAME, value)  \
    case NAME:          \
        return value;
    DATA_KINDS(X)
#undef X
    default:
        return c;
    }
}

static const char *kind_name(enum kind kind)
{
    static const char *const names[] = {
#define X(NAME, value) #NAME,
        DATA_KINDS(X)
#undef X
        "ANY_BITS"};
    return names[kind];
}

static void make_samples(enum gf_type type, enum kind kind, void *samples, uint64_t n)
{
    const struct gf_type_row *row = gf_type_row(type);
    double c = row->is_float ? (uniform() - 0.5) * 1000 : row->lowest + (double)below(200);

    for (uint64_t i = 0; i < n; i++)
        if (kind == ANY_BITS)
            put_bits(type, samples, i, next());
        else
            put_value(type, samples, i, value_of(kind, row, i, n, c));
}

#endif
