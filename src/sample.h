/* Sample types: one table, and the conversions every backend must agree on.
 * Written in the common subset of C17 and C++17, so that CUDA reads it too. */
#ifndef GPUFILT_SRC_SAMPLE_H
#define GPUFILT_SRC_SAMPLE_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GF_HD __host__ __device__
#else
#define GF_HD
#endif

/* X(NAME, name, C type, bytes, is float, lowest, highest): lowest and highest are
 * the finite range a rounded value is saturated to. f16 is kept as its bits. */
#define GF_TYPES(X)                                                          \
    X(U8, u8, uint8_t, 1, 0, 0.0, 255.0)                                     \
    X(I8, i8, int8_t, 1, 0, -128.0, 127.0)                                   \
    X(U16, u16, uint16_t, 2, 0, 0.0, 65535.0)                                \
    X(I16, i16, int16_t, 2, 0, -32768.0, 32767.0)                            \
    X(U32, u32, uint32_t, 4, 0, 0.0, 4294967295.0)                           \
    X(I32, i32, int32_t, 4, 0, -2147483648.0, 2147483647.0)                  \
    X(F16, f16, uint16_t, 2, 1, -65504.0, 65504.0)                           \
    X(F32, f32, float, 4, 1, -3.4028234663852886e38, 3.4028234663852886e38)  \
    X(F64, f64, double, 8, 1, -1.7976931348623157e308, 1.7976931348623157e308)

/* "u8 i8 u16 ...", in the order of the enum. */
#define GF_TYPE_NAMES "u8 i8 u16 i16 u32 i32 f16 f32 f64"

enum gf_type {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) GF_##NAME,
    GF_TYPES(X)
#undef X
    GF_TYPE_COUNT
};

struct gf_type_row {
    const char *name; /* as on the command line: "u16" */
    unsigned bytes;
    int is_float;
    double lowest, highest;
};

/* The row of a type; `type` must be one of the enum. */
static inline const struct gf_type_row *gf_type_row(enum gf_type type)
{
    static const struct gf_type_row rows[] = {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    {#name, bytes, is_float, lowest, highest},
        GF_TYPES(X)
#undef X
    };
    return &rows[type];
}

static inline unsigned gf_type_bytes(enum gf_type type) { return gf_type_row(type)->bytes; }
static inline const char *gf_type_name(enum gf_type type) { return gf_type_row(type)->name; }

/* IEEE 754 binary16 to binary32, exact; NaN keeps its payload's top bits. */
static inline GF_HD float gf_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t rest = h & 0x7fffu;
    uint32_t bits;
    float value;
    if (rest >= 0x7c00u) {
        bits = sign | 0x7f800000u | ((rest & 0x3ffu) << 13);
    } else if (rest >= 0x0400u) {
        bits = sign | ((rest << 13) + 0x38000000u);
    } else {
        /* Subnormal: the integer times 2^-24, exact in binary32. */
        value = (float)rest * 5.9604644775390625e-8f;
        memcpy(&bits, &value, sizeof bits);
        bits |= sign;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* binary64 to binary16, rounded once to nearest even; beyond 65520 it is infinite.
 * From binary32 the widening before the call is exact, so that is right too. */
static inline GF_HD uint16_t gf_f64_to_f16(double value)
{
    uint64_t bits;
    uint64_t mantissa, rounded;
    uint16_t sign;
    int exponent, drop;
    memcpy(&bits, &value, sizeof bits);
    sign = (uint16_t)((bits >> 48) & 0x8000u);
    bits &= 0x7fffffffffffffffu;
    if (bits > 0x7ff0000000000000u)
        return (uint16_t)(sign | 0x7e00u);
    exponent = (int)(bits >> 52) - 1023;
    if (exponent > 15)
        return (uint16_t)(sign | 0x7c00u);
    if (exponent < -25)
        return sign;
    mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    /* Bits below the last one kept: 42 for a normal result, more for a subnormal. */
    drop = exponent < -14 ? 42 + (-14 - exponent) : 42;
    rounded = mantissa >> drop;
    {
        uint64_t remainder = mantissa & ((UINT64_C(1) << drop) - 1);
        uint64_t half = UINT64_C(1) << (drop - 1);
        if (remainder > half || (remainder == half && (rounded & 1)))
            rounded++;
    }
    /* A carry out of the mantissa runs into the exponent field, as it should. */
    if (exponent >= -14)
        rounded += (uint64_t)(exponent + 14) << 10;
    return (uint16_t)(sign | rounded);
}

#endif
