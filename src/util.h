/* Checked arithmetic on sizes and small helpers, all inline. */
#ifndef GPUFILT_SRC_UTIL_H
#define GPUFILT_SRC_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *product = a * b; false when it does not fit. */
static inline bool gf_mul(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* *sum = a + b; false when it does not fit. */
static inline bool gf_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline uint64_t gf_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t gf_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* a / b rounded up, b > 0. */
static inline uint64_t gf_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

#define GF_BIG_ENDIAN_MACHINE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

#define GF_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
