/* What a measure asks of one sample, for every sample type: gf_is_finite_TYPE, gf_value_of_TYPE
 * (the sample as a double, exact) and gf_key_of_TYPE (measure.h says what a key is; of finite
 * samples, in an unsigned integer of the sample's width, gf_key_TYPE).
 * Written in the common subset of C17 and C++17, so that CUDA reads it too. */
#ifndef GPUFILT_SRC_STATS_KEYS_H
#define GPUFILT_SRC_STATS_KEYS_H

#include "../sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* By the bytes of a sample: its key's type, and an infinite float's bits without the sign. */
#define GF_KEY_TYPE_1 uint8_t
#define GF_KEY_TYPE_2 uint16_t
#define GF_KEY_TYPE_4 uint32_t
#define GF_KEY_TYPE_8 uint64_t
#define GF_INFINITE_BITS_2 0x7c00u
#define GF_INFINITE_BITS_4 0x7f800000u
#define GF_INFINITE_BITS_8 UINT64_C(0x7ff0000000000000)

/* By whether it is a float. */
#define GF_KEYS_0(name, ctype, bytes, lowest)                                         \
    static inline GF_HD bool gf_is_finite_##name(ctype x)                             \
    {                                                                                 \
        (void)x;                                                                      \
        return true;                                                                  \
    }                                                                                 \
    static inline GF_HD gf_key_##name gf_key_of_##name(ctype x)                       \
    {                                                                                 \
        const gf_key_##name sign = (gf_key_##name)((gf_key_##name)1 << (8 * bytes - 1)); \
        return (gf_key_##name)((gf_key_##name)x ^ ((lowest) < 0 ? sign : 0));         \
    }
#define GF_KEYS_1(name, ctype, bytes, lowest)                                         \
    static inline GF_HD bool gf_is_finite_##name(ctype x)                             \
    {                                                                                 \
        gf_key_##name bits;                                                           \
        memcpy(&bits, &x, sizeof bits);                                               \
        return (bits & GF_INFINITE_BITS_##bytes) != GF_INFINITE_BITS_##bytes;         \
    }                                                                                 \
    static inline GF_HD gf_key_##name gf_key_of_##name(ctype x)                       \
    {                                                                                 \
        const gf_key_##name sign = (gf_key_##name)((gf_key_##name)1 << (8 * bytes - 1)); \
        gf_key_##name bits;                                                           \
        memcpy(&bits, &x, sizeof bits);                                               \
        if (bits == sign)                                                             \
            bits = 0;                                                                 \
        return (gf_key_##name)(bits & sign ? ~bits : bits | sign);                    \
    }
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    typedef GF_KEY_TYPE_##bytes gf_key_##name;                 \
    GF_KEYS_##is_float(name, ctype, bytes, lowest)
GF_TYPES(X)
#undef X

/* binary16 is kept as its bits; the others are what C takes them for. */
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)                              \
    static inline GF_HD double gf_value_of_##name(ctype x)                                  \
    {                                                                                       \
        return is_float && bytes == 2 ? (double)gf_f16_to_f32((uint16_t)x) : (double)x;     \
    }
GF_TYPES(X)
#undef X

#endif
