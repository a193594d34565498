/* Vectors of lanes for one instruction set, chosen by the compiler's flags: AVX-512,
 * AVX2 with FMA, or whatever the compiler makes of 16-byte vectors. For each lane kind K
 * in i16 i32 f32 f64: K_vec, K_WIDTH lanes, K_load, K_store (any alignment), K_set, K_zero
 * and K_fma(w, x, acc) = w*x + acc (rounded once for f32 and f64, modulo 2^n for integers);
 * and f64_load_f32, which widens. */
#ifndef GPUFILT_SRC_CPU_SIMD_H
#define GPUFILT_SRC_CPU_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__)

#include <immintrin.h>
#define GF_SIMD_FUSED 1
#define GF_SIMD_REGISTERS 32
typedef __m512i i16_vec;
typedef __m512i i32_vec;
typedef __m512 f32_vec;
typedef __m512d f64_vec;
enum { i16_WIDTH = 32, i32_WIDTH = 16, f32_WIDTH = 16, f64_WIDTH = 8 };
static inline i16_vec i16_load(const uint16_t *p) { return _mm512_loadu_si512(p); }
static inline void i16_store(uint16_t *p, i16_vec v) { _mm512_storeu_si512(p, v); }
static inline i16_vec i16_set(uint16_t t) { return _mm512_set1_epi16((short)t); }
static inline i16_vec i16_zero(void) { return _mm512_setzero_si512(); }
static inline i16_vec i16_fma(i16_vec w, i16_vec x, i16_vec a)
{
    return _mm512_add_epi16(_mm512_mullo_epi16(w, x), a);
}
static inline i32_vec i32_load(const int32_t *p) { return _mm512_loadu_si512(p); }
static inline void i32_store(int32_t *p, i32_vec v) { _mm512_storeu_si512(p, v); }
static inline i32_vec i32_set(int32_t t) { return _mm512_set1_epi32(t); }
static inline i32_vec i32_zero(void) { return _mm512_setzero_si512(); }
static inline i32_vec i32_fma(i32_vec w, i32_vec x, i32_vec a)
{
    return _mm512_add_epi32(_mm512_mullo_epi32(w, x), a);
}
static inline f32_vec f32_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void f32_store(float *p, f32_vec v) { _mm512_storeu_ps(p, v); }
static inline f32_vec f32_set(float t) { return _mm512_set1_ps(t); }
static inline f32_vec f32_zero(void) { return _mm512_setzero_ps(); }
static inline f32_vec f32_fma(f32_vec w, f32_vec x, f32_vec a) { return _mm512_fmadd_ps(w, x, a); }
static inline f64_vec f64_load(const double *p) { return _mm512_loadu_pd(p); }
static inline f64_vec f64_load_f32(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
static inline void f64_store(double *p, f64_vec v) { _mm512_storeu_pd(p, v); }
static inline f64_vec f64_set(double t) { return _mm512_set1_pd(t); }
static inline f64_vec f64_zero(void) { return _mm512_setzero_pd(); }
static inline f64_vec f64_fma(f64_vec w, f64_vec x, f64_vec a) { return _mm512_fmadd_pd(w, x, a); }

#elif defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>
#define GF_SIMD_FUSED 1
#define GF_SIMD_REGISTERS 16
typedef __m256i i16_vec;
typedef __m256i i32_vec;
typedef __m256 f32_vec;
typedef __m256d f64_vec;
enum { i16_WIDTH = 16, i32_WIDTH = 8, f32_WIDTH = 8, f64_WIDTH = 4 };
static inline i16_vec i16_load(const uint16_t *p) { return _mm256_loadu_si256((const void *)p); }
static inline void i16_store(uint16_t *p, i16_vec v) { _mm256_storeu_si256((void *)p, v); }
static inline i16_vec i16_set(uint16_t t) { return _mm256_set1_epi16((short)t); }
static inline i16_vec i16_zero(void) { return _mm256_setzero_si256(); }
static inline i16_vec i16_fma(i16_vec w, i16_vec x, i16_vec a)
{
    return _mm256_add_epi16(_mm256_mullo_epi16(w, x), a);
}
static inline i32_vec i32_load(const int32_t *p) { return _mm256_loadu_si256((const void *)p); }
static inline void i32_store(int32_t *p, i32_vec v) { _mm256_storeu_si256((void *)p, v); }
static inline i32_vec i32_set(int32_t t) { return _mm256_set1_epi32(t); }
static inline i32_vec i32_zero(void) { return _mm256_setzero_si256(); }
static inline i32_vec i32_fma(i32_vec w, i32_vec x, i32_vec a)
{
    return _mm256_add_epi32(_mm256_mullo_epi32(w, x), a);
}
static inline f32_vec f32_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void f32_store(float *p, f32_vec v) { _mm256_storeu_ps(p, v); }
static inline f32_vec f32_set(float t) { return _mm256_set1_ps(t); }
static inline f32_vec f32_zero(void) { return _mm256_setzero_ps(); }
static inline f32_vec f32_fma(f32_vec w, f32_vec x, f32_vec a) { return _mm256_fmadd_ps(w, x, a); }
static inline f64_vec f64_load(const double *p) { return _mm256_loadu_pd(p); }
static inline f64_vec f64_load_f32(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
static inline void f64_store(double *p, f64_vec v) { _mm256_storeu_pd(p, v); }
static inline f64_vec f64_set(double t) { return _mm256_set1_pd(t); }
static inline f64_vec f64_zero(void) { return _mm256_setzero_pd(); }
static inline f64_vec f64_fma(f64_vec w, f64_vec x, f64_vec a) { return _mm256_fmadd_pd(w, x, a); }

#else

#define GF_SIMD_FUSED 0
#define GF_SIMD_REGISTERS 16
typedef uint16_t i16_vec __attribute__((vector_size(16)));
typedef uint32_t i32_vec __attribute__((vector_size(16)));
typedef float f32_vec __attribute__((vector_size(16)));
typedef double f64_vec __attribute__((vector_size(16)));
enum { i16_WIDTH = 8, i32_WIDTH = 4, f32_WIDTH = 4, f64_WIDTH = 2 };
#define GF_SIMD_PLAIN(K, T)                                                            \
    static inline K##_vec K##_load(const T *p)                                         \
    {                                                                                  \
        K##_vec v;                                                                     \
        memcpy(&v, p, sizeof v);                                                       \
        return v;                                                                      \
    }                                                                                  \
    static inline void K##_store(T *p, K##_vec v) { memcpy(p, &v, sizeof v); }         \
    static inline K##_vec K##_zero(void) { return (K##_vec){0}; }
GF_SIMD_PLAIN(i16, uint16_t)
GF_SIMD_PLAIN(i32, int32_t)
GF_SIMD_PLAIN(f32, float)
GF_SIMD_PLAIN(f64, double)
#undef GF_SIMD_PLAIN
static inline f64_vec f64_load_f32(const float *p) { return (f64_vec){(double)p[0], (double)p[1]}; }
static inline i16_vec i16_set(uint16_t t) { return (i16_vec){t, t, t, t, t, t, t, t}; }
static inline i32_vec i32_set(int32_t s)
{
    uint32_t t = (uint32_t)s;
    return (i32_vec){t, t, t, t};
}
static inline f32_vec f32_set(float t) { return (f32_vec){t, t, t, t}; }
static inline f64_vec f64_set(double t) { return (f64_vec){t, t}; }
static inline i16_vec i16_fma(i16_vec w, i16_vec x, i16_vec a) { return w * x + a; }
static inline i32_vec i32_fma(i32_vec w, i32_vec x, i32_vec a) { return w * x + a; }

/* Two lanes of fmaf without the instruction. The product of two floats is exact in a
 * double; the sum with `a` is rounded to double with its last bit made odd when anything
 * was lost (rounding to odd), which keeps enough for the second rounding, to float, to be
 * the only one that shows: 53 >= 24 + 2 bits, and fewer are kept for a subnormal result.
 * The error of the sum is Knuth's two-sum, exact because nothing here can overflow or
 * underflow in double. Infinities and NaN make the error NaN, which is neither above nor
 * below 0, so they pass through untouched. */
typedef int64_t i64_pair __attribute__((vector_size(16)));
static inline f64_vec f32_fma_odd(f64_vec w, f64_vec x, f64_vec a)
{
    f64_vec p = w * x;
    f64_vec s = p + a;
    f64_vec b = s - p;
    f64_vec error = (p - (s - b)) + (a - b);
    i64_pair bits = (i64_pair)s;
    i64_pair inexact = (i64_pair)(error > 0) | (i64_pair)(error < 0);
    i64_pair even = (bits & 1) - 1;
    /* One step away from 0 when the lost part has the sign of the sum, else towards it. */
    i64_pair opposite = (i64_pair)(error < 0) ^ (i64_pair)(s < 0);
    return (f64_vec)(bits + ((opposite | 1) & inexact & even));
}
static inline f32_vec f32_fma(f32_vec w, f32_vec x, f32_vec a)
{
    f64_vec lo = f32_fma_odd((f64_vec){w[0], w[1]}, (f64_vec){x[0], x[1]},
                             (f64_vec){a[0], a[1]});
    f64_vec hi = f32_fma_odd((f64_vec){w[2], w[3]}, (f64_vec){x[2], x[3]},
                             (f64_vec){a[2], a[3]});
    return (f32_vec){(float)lo[0], (float)lo[1], (float)hi[0], (float)hi[1]};
}
static inline f64_vec f64_fma(f64_vec w, f64_vec x, f64_vec a)
{
    return (f64_vec){fma(w[0], x[0], a[0]), fma(w[1], x[1], a[1])};
}

#endif
#endif
