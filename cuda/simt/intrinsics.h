/* Device functions, as far as the kernels use them. */
#ifndef GPUFILT_SIMT_INTRINSICS_H
#define GPUFILT_SIMT_INTRINSICS_H

#include "machine.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <math.h>

/* In kernels calls of these are accesses too. Clang before 16 still makes calls of its own for
 * large structures, which pass unseen. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIMT_INSTRUMENTED 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define SIMT_INSTRUMENTED 1
#endif
#ifdef SIMT_INSTRUMENTED
extern "C" {
void *memcpy(void *, const void *, size_t) noexcept __asm__("__tsan_memcpy");
void *memmove(void *, const void *, size_t) noexcept __asm__("__tsan_memmove");
void *memset(void *, int, size_t) noexcept __asm__("__tsan_memset");
}
#endif

#define SIMT_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMT_INLINE __attribute__((always_inline)) inline

namespace simt {
namespace api {

constexpr int warpSize = warp_size;

/* threadIdx, blockIdx, blockDim, gridDim */
SIMT_INLINE uint3 simt_thread_index() { return own(&own_place()->thread); }
SIMT_INLINE uint3 simt_block_index() { return own(&own_place()->block); }
SIMT_INLINE uint3 simt_block_size() { return own(&own_place()->block_dim); }
SIMT_INLINE uint3 simt_grid_size() { return own(&own_place()->grid_dim); }

/* ---- barriers and fences ---- */
SIMT_INLINE void __syncthreads(SIMT_SITE) { barrier(BARRIER, 0, file, line); }
SIMT_INLINE int __syncthreads_count(int p, SIMT_SITE)
{
    return barrier(BARRIER_COUNT, p, file, line);
}
SIMT_INLINE int __syncthreads_and(int p, SIMT_SITE) { return barrier(BARRIER_AND, p, file, line); }
SIMT_INLINE int __syncthreads_or(int p, SIMT_SITE) { return barrier(BARRIER_OR, p, file, line); }
SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu, SIMT_SITE)
{
    warp(WARP_SYNC, mask, 0, 0, 32, file, line);
}
SIMT_INLINE void __threadfence() {}
SIMT_INLINE void __threadfence_block() {}
SIMT_INLINE void __threadfence_system() {}

/* ---- the warp ---- */
template <typename T> SIMT_INLINE uint64_t to_bits(T v)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(uint32_t, v);
    else
        return __builtin_bit_cast(uint64_t, v);
}
template <typename T> SIMT_INLINE T from_bits(uint64_t bits)
{
    if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(T, static_cast<uint32_t>(bits));
    else
        return __builtin_bit_cast(T, bits);
}
#define SIMT_SHUFFLE(name, kind, Argument)                                                     \
    template <typename T>                                                                      \
    SIMT_INLINE T name(unsigned mask, T v, Argument lane, int width = 32, SIMT_SITE)           \
    {                                                                                          \
        return from_bits<T>(                                                                   \
            warp(kind, mask, to_bits(v), static_cast<unsigned>(lane), width, file, line));     \
    }
SIMT_SHUFFLE(__shfl_sync, WARP_SHUFFLE, int)
SIMT_SHUFFLE(__shfl_up_sync, WARP_UP, unsigned)
SIMT_SHUFFLE(__shfl_down_sync, WARP_DOWN, unsigned)
SIMT_SHUFFLE(__shfl_xor_sync, WARP_XOR, int)
#undef SIMT_SHUFFLE

#define SIMT_WARP(name, kind, Result, Argument)                                                \
    SIMT_INLINE Result name(unsigned mask, Argument v, SIMT_SITE)                              \
    {                                                                                          \
        return static_cast<Result>(                                                            \
            warp(kind, mask, static_cast<uint64_t>(v), 0, 32, file, line));                    \
    }
SIMT_WARP(__ballot_sync, WARP_BALLOT, unsigned, int)
SIMT_WARP(__all_sync, WARP_ALL, int, int)
SIMT_WARP(__any_sync, WARP_ANY, int, int)
SIMT_WARP(__reduce_add_sync, WARP_ADD, unsigned, unsigned)
SIMT_WARP(__reduce_add_sync, WARP_ADD, int, int)
SIMT_WARP(__reduce_min_sync, WARP_MIN_UNSIGNED, unsigned, unsigned)
SIMT_WARP(__reduce_min_sync, WARP_MIN_INT, int, int)
SIMT_WARP(__reduce_max_sync, WARP_MAX_UNSIGNED, unsigned, unsigned)
SIMT_WARP(__reduce_max_sync, WARP_MAX_INT, int, int)
SIMT_WARP(__reduce_and_sync, WARP_BIT_AND, unsigned, unsigned)
SIMT_WARP(__reduce_or_sync, WARP_BIT_OR, unsigned, unsigned)
SIMT_WARP(__reduce_xor_sync, WARP_BIT_XOR, unsigned, unsigned)
#undef SIMT_WARP
template <typename T> SIMT_INLINE unsigned __match_any_sync(unsigned mask, T v, SIMT_SITE)
{
    return static_cast<unsigned>(warp(WARP_MATCH_ANY, mask, to_bits(v), 0, 32, file, line));
}
SIMT_INLINE unsigned __activemask() { return active_lanes(); }

/* ---- atomics ---- */
#define SIMT_ATOMIC(type)                                                                      \
    SIMT_INLINE type atomicAdd(type *p, type v) { return atomic_add(p, v); }                   \
    SIMT_INLINE type atomicExch(type *p, type v) { return atomic_exchange(p, v); }
SIMT_ATOMIC_TYPES(SIMT_ATOMIC)
#undef SIMT_ATOMIC
#define SIMT_ATOMIC(type)                                                                      \
    SIMT_INLINE type atomicMin(type *p, type v) { return atomic_min(p, v); }                   \
    SIMT_INLINE type atomicMax(type *p, type v) { return atomic_max(p, v); }                   \
    SIMT_INLINE type atomicAnd(type *p, type v) { return atomic_and(p, v); }                   \
    SIMT_INLINE type atomicOr(type *p, type v) { return atomic_or(p, v); }                     \
    SIMT_INLINE type atomicXor(type *p, type v) { return atomic_xor(p, v); }                   \
    SIMT_INLINE type atomicCAS(type *p, type expected, type v)                                 \
    {                                                                                          \
        return atomic_swap_if(p, expected, v);                                                 \
    }
SIMT_ATOMIC_BIT_TYPES(SIMT_ATOMIC)
#undef SIMT_ATOMIC
SIMT_INLINE int atomicSub(int *p, int v)
{
    return atomic_add(p, static_cast<int>(0u - static_cast<unsigned>(v)));
}
SIMT_INLINE unsigned atomicSub(unsigned *p, unsigned v) { return atomic_add(p, 0u - v); }
SIMT_INLINE unsigned atomicInc(unsigned *p, unsigned limit) { return atomic_increment(p, limit); }

/* ---- loads and stores with a cache policy, which means nothing here ---- */
#define SIMT_LOAD(name) \
    template <typename T> SIMT_INLINE T name(const T *p) { return *p; }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD
#define SIMT_STORE(name) \
    template <typename T> SIMT_INLINE void name(T *p, T v) { *p = v; }
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
#undef SIMT_STORE

/* ---- arithmetic ---- */
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SIMT_INLINE float __fadd_rn(float a, float b) { return a + b; }
SIMT_INLINE float __fsub_rn(float a, float b) { return a - b; }
SIMT_INLINE float __fmul_rn(float a, float b) { return a * b; }
SIMT_INLINE float __fdiv_rn(float a, float b) { return a / b; }
SIMT_INLINE float __fsqrt_rn(float a) { return sqrtf(a); }
SIMT_INLINE float __frcp_rn(float a) { return 1 / a; }
SIMT_INLINE double __dadd_rn(double a, double b) { return a + b; }
SIMT_INLINE double __dsub_rn(double a, double b) { return a - b; }
SIMT_INLINE double __dmul_rn(double a, double b) { return a * b; }
SIMT_INLINE double __ddiv_rn(double a, double b) { return a / b; }
SIMT_INLINE double __dsqrt_rn(double a) { return sqrt(a); }

#define SIMT_MIN_MAX(type)                                                                     \
    SIMT_INLINE type min(type a, type b) { return b < a ? b : a; }                             \
    SIMT_INLINE type max(type a, type b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX
SIMT_INLINE unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
SIMT_INLINE unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
SIMT_INLINE unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
SIMT_INLINE unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
SIMT_INLINE float min(float a, float b) { return fminf(a, b); }
SIMT_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIMT_INLINE double min(double a, double b) { return fmin(a, b); }
SIMT_INLINE double max(double a, double b) { return fmax(a, b); }

/* ---- conversions: too large saturates; NaN gives 0, or the top bit where one is 64 bits ---- */
template <typename To, typename From> SIMT_INLINE To saturating(From v)
{
    using limits = std::numeric_limits<To>;

    if (v != v)
        return sizeof(To) == 8 || sizeof(From) == 8
                   ? static_cast<To>(1ull << (8 * sizeof(To) - 1))
                   : To(0);
    if (v >= static_cast<From>(ldexp(1.0, limits::digits)))
        return limits::max();
    if (v <= static_cast<From>(limits::min()))
        return limits::min();
    return static_cast<To>(v);
}
#define SIMT_CONVERT(name, From, To)                                                           \
    SIMT_INLINE To __##name##_rn(From v) { return saturating<To>(rint(v)); }                   \
    SIMT_INLINE To __##name##_rz(From v) { return saturating<To>(trunc(v)); }                  \
    SIMT_INLINE To __##name##_rd(From v) { return saturating<To>(floor(v)); }                  \
    SIMT_INLINE To __##name##_ru(From v) { return saturating<To>(ceil(v)); }
SIMT_CONVERT(float2int, float, int)
SIMT_CONVERT(float2uint, float, unsigned)
SIMT_CONVERT(float2ll, float, long long)
SIMT_CONVERT(float2ull, float, unsigned long long)
SIMT_CONVERT(double2int, double, int)
SIMT_CONVERT(double2uint, double, unsigned)
SIMT_CONVERT(double2ll, double, long long)
SIMT_CONVERT(double2ull, double, unsigned long long)
#undef SIMT_CONVERT
SIMT_INLINE float __int2float_rn(int v) { return static_cast<float>(v); }
SIMT_INLINE float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
SIMT_INLINE double __int2double_rn(int v) { return v; }
SIMT_INLINE double __uint2double_rn(unsigned v) { return v; }
SIMT_INLINE double __ll2double_rn(long long v) { return static_cast<double>(v); }
SIMT_INLINE double __ull2double_rn(unsigned long long v) { return static_cast<double>(v); }
SIMT_INLINE float __ll2float_rn(long long v) { return static_cast<float>(v); }
SIMT_INLINE float __ull2float_rn(unsigned long long v) { return static_cast<float>(v); }
SIMT_INLINE float __double2float_rn(double v) { return static_cast<float>(v); }

SIMT_INLINE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
SIMT_INLINE unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
SIMT_INLINE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
SIMT_INLINE float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
SIMT_INLINE long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
SIMT_INLINE double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
SIMT_INLINE int __double2hiint(double v)
{
    return static_cast<int>(__double_as_longlong(v) >> 32);
}
SIMT_INLINE int __double2loint(double v) { return static_cast<int>(__double_as_longlong(v)); }
SIMT_INLINE double __hiloint2double(int high, int low)
{
    uint64_t bits = static_cast<uint64_t>(static_cast<unsigned>(high)) << 32;
    return __longlong_as_double(static_cast<long long>(bits | static_cast<unsigned>(low)));
}

/* ---- bits ---- */
SIMT_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
SIMT_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
SIMT_INLINE int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
SIMT_INLINE int __clzll(long long v)
{
    return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64;
}
SIMT_INLINE int __ffs(int v) { return __builtin_ffs(v); }
SIMT_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
SIMT_INLINE unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}
SIMT_INLINE int __mulhi(int a, int b)
{
    return static_cast<int>(static_cast<int64_t>(a) * b >> 32);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ using wide = unsigned __int128;
    return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
SIMT_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    unsigned r = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned s = selector >> (4 * i);
        unsigned byte = static_cast<unsigned>(bytes >> (8 * (s & 7))) & 0xff;
        if (s & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    uint64_t both = static_cast<uint64_t>(high) << 32 | low;
    return static_cast<unsigned>((both << (shift & 31)) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    uint64_t both = static_cast<uint64_t>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}
SIMT_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/* ---- dot products of bytes, and of halves with bytes ---- */
SIMT_INLINE int signed_byte(unsigned v, unsigned i)
{
    return static_cast<signed char>(v >> (8 * i));
}
SIMT_INLINE unsigned unsigned_byte(unsigned v, unsigned i) { return v >> (8 * i) & 0xff; }
SIMT_INLINE int __dp4a(int a, int b, int c)
{
    unsigned sum = static_cast<unsigned>(c);
    for (unsigned i = 0; i < 4; i++)
        sum += static_cast<unsigned>(signed_byte(static_cast<unsigned>(a), i) *
                                     signed_byte(static_cast<unsigned>(b), i));
    return static_cast<int>(sum);
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (unsigned i = 0; i < 4; i++)
        c += unsigned_byte(a, i) * unsigned_byte(b, i);
    return c;
}
SIMT_INLINE int dp2a(int a, int b, int c, unsigned first)
{
    unsigned sum = static_cast<unsigned>(c);
    for (unsigned i = 0; i < 2; i++)
        sum += static_cast<unsigned>(static_cast<short>(static_cast<unsigned>(a) >> (16 * i)) *
                                     signed_byte(static_cast<unsigned>(b), first + i));
    return static_cast<int>(sum);
}
SIMT_INLINE unsigned dp2a(unsigned a, unsigned b, unsigned c, unsigned first)
{
    for (unsigned i = 0; i < 2; i++)
        c += (a >> (16 * i) & 0xffff) * unsigned_byte(b, first + i);
    return c;
}
SIMT_INLINE int __dp2a_lo(int a, int b, int c) { return dp2a(a, b, c, 0); }
SIMT_INLINE int __dp2a_hi(int a, int b, int c) { return dp2a(a, b, c, 2); }
SIMT_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return dp2a(a, b, c, 0); }
SIMT_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return dp2a(a, b, c, 2); }

/* ---- two halves at a time ---- */
SIMT_INLINE unsigned __vminu2(unsigned a, unsigned b)
{
    return min(a & 0xffff, b & 0xffff) | min(a >> 16, b >> 16) << 16;
}
SIMT_INLINE unsigned __vmaxu2(unsigned a, unsigned b)
{
    return max(a & 0xffff, b & 0xffff) | max(a >> 16, b >> 16) << 16;
}

/* ---- others ---- */
SIMT_INLINE void __trap(SIMT_SITE) { trap("__trap()", file, line); }
SIMT_INLINE void __nanosleep(unsigned) {}
template <typename T> SIMT_INLINE T *__cvta_generic_to_global(T *p) { return p; }

}
}

#undef SIMT_SITE
#undef SIMT_INLINE

#endif
