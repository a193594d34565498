/* Samples side by side in 32-bit words: turned into lanes of the arithmetic's type, and sums
 * turned into samples again, rounded, saturated and counted as the comment over struct gf_plan
 * says. Types u8, u16, i16 and f32. */
#ifndef GPUFILT_CUDA_LANES_CUH
#define GPUFILT_CUDA_LANES_CUH

#include "sample.cuh"

#include <type_traits>

namespace GF_DEVICE {

/* Samples of a 32-bit word. */
template <gf_type TYPE> constexpr int word_samples = 4 / static_cast<int>(stored<TYPE>::bytes);

/* ---- samples to lanes ---- */

/* Unsigned samples become lanes with one byte permutation: the bits of an integer v are those of
 * the subnormal float v * 2^-149, which fmaf takes like any other. The taps of the first pass are
 * scaled up for that (scale_taps), the last operation scales the sums; both by powers of 2, so
 * that every rounding in between is the one that the plan asks for. */

/* 2^23 has a last mantissa bit of 1: an integer below 2^23 put into its mantissa adds to it. */
constexpr uint32_t MANTISSA_BITS = 0x4b000000u;
constexpr float MANTISSA = 8388608.0f;

/* Sample i of the words as a lane. i is a constant where loops are unrolled. */
template <gf_type TYPE> __device__ inline float float_lane(const uint32_t *words, int i)
{
    if constexpr (TYPE == GF_F32) {
        return __uint_as_float(words[i]);
    } else if constexpr (TYPE == GF_U8) {
        return __uint_as_float(__byte_perm(words[i / 4], 0, 0x4440u | (i % 4)));
    } else if constexpr (TYPE == GF_U16) {
        return __uint_as_float(__byte_perm(words[i / 2], 0, i % 2 == 0 ? 0x4410u : 0x4432u));
    } else {
        uint32_t bits = __byte_perm(words[i / 2] ^ 0x80008000u, MANTISSA_BITS,
                                    i % 2 == 0 ? 0x7410u : 0x7432u);
        return __uint_as_float(bits) - (MANTISSA + 32768.0f);
    }
}

template <gf_type TYPE> __device__ inline int32_t int_lane(const uint32_t *words, int i)
{
    static_assert(TYPE == GF_U16, "the others fit a float's 24 bits where they are taken");
    return static_cast<int32_t>(i % 2 == 0 ? words[i / 2] & 0xffffu : words[i / 2] >> 16);
}

template <gf_type TYPE, typename Acc> __device__ inline Acc lane_of(const uint32_t *words, int i)
{
    if constexpr (stored<TYPE>::is_float || !std::is_same_v<Acc, int32_t>)
        return float_lane<TYPE>(words, i);
    else
        return int_lane<TYPE>(words, i);
}

/* ---- sums to samples ---- */

enum finish_kind {
    FINISH_FITS,    /* the sample is in the range whatever the input */
    FINISH_CLIPS,   /* v = acc * scale, an exact product, may be outside the range or NaN */
    FINISH_DIVIDES  /* v = acc * unit / divisor, of integers, may be outside the range */
};

/* From a sum to its sample. A float sum is acc * unit, a power of 2; scale is unit / divisor,
 * rounded, or 1 / divisor for FINISH_DIVIDES.
 * FINISH_FITS of a float rounds acc * scale: the divisor is a power of 2; or it is odd and the
 * sum an integer below 2^23, so that the quotient is at least 1 / (2 divisor) away from any tie,
 * and the product less than that from the quotient.
 * FINISH_FITS of an int32_t: the divisor is 2^shift; bias is 2^shift / 2 - 1, odd 1, but both are
 * 0 for shift 0. */
struct finish {
    enum finish_kind kind;
    float scale, unit;
    int32_t divisor, shift, bias, odd;
};

/* 1.5 * 2^23: adding it rounds any |v| < 2^22 to an integer, ties to even, and leaves that
 * integer modulo 2^22 in the last bits of the sum, in two's complement. */
constexpr float ROUNDING = 12582912.0f;

/* v rounded, saturated and counted; its last bits are the sample's. */
template <gf_type TYPE> __device__ inline uint32_t clipped(float v, struct tally &t)
{
    constexpr float lowest = static_cast<float>(stored<TYPE>::lowest);
    constexpr float highest = static_cast<float>(stored<TYPE>::highest);
    bool number = v == v;

    t.nan += !number;
    v = number ? v : 0.0f;
    v = fminf(fmaxf(v, lowest - 1.0f), highest + 1.0f) + ROUNDING;
    t.low += v < ROUNDING + lowest;
    t.high += v > ROUNDING + highest;
    return __float_as_uint(fminf(fmaxf(v, ROUNDING + lowest), ROUNDING + highest));
}

/* n / divisor to the nearest integer, ties to even, saturated and counted. The estimate of the
 * quotient is wrong by less than its 2^-22nd part: at most one off where it fits 16 bits, and
 * otherwise far enough outside to be saturated all the same. The rest says which. */
template <gf_type TYPE>
__device__ inline uint32_t quotient(int32_t n, struct finish f, struct tally &t)
{
    constexpr int32_t lowest = static_cast<int32_t>(stored<TYPE>::lowest);
    constexpr int32_t highest = static_cast<int32_t>(stored<TYPE>::highest);
    int32_t q = __float2int_rn(static_cast<float>(n) * f.scale);
    uint32_t divisor = static_cast<uint32_t>(f.divisor);
    int32_t rest = static_cast<int32_t>(static_cast<uint32_t>(n) -
                                        static_cast<uint32_t>(q) * divisor);
    uint32_t twice = 2 * static_cast<uint32_t>(rest < 0 ? -rest : rest);

    if (twice > divisor || (twice == divisor && q % 2 != 0))
        q += rest > 0 ? 1 : -1;
    t.low += q < lowest;
    t.high += q > highest;
    return static_cast<uint32_t>(min(max(q, lowest), highest));
}

/* A sum that fits, as an integer whose last bits are the sample's. */
__device__ inline uint32_t fitting(float acc, struct finish f)
{
    return __float_as_uint(fmaf(acc, f.scale, ROUNDING));
}
__device__ inline uint32_t fitting(int32_t acc, struct finish f)
{
    return static_cast<uint32_t>((acc + f.bias + (acc >> f.shift & f.odd)) >> f.shift);
}

/* The last bytes or halves of integers, packed. */
template <gf_type TYPE> __device__ inline uint32_t packed(const uint32_t *values)
{
    if constexpr (stored<TYPE>::bytes == 2)
        return __byte_perm(values[0], values[1], 0x5410);
    else
        return __byte_perm(__byte_perm(values[0], values[1], 0x0040),
                           __byte_perm(values[2], values[3], 0x0040), 0x5410);
}

/* N sums to the words of N samples; FITS where that is what f says. Returns whether they hold
 * NaN, which canonical_lanes then turns into the one that all backends store. */
template <gf_type TYPE, bool FITS, int N, typename Acc>
__device__ inline bool finish_lanes(const Acc *acc, struct finish f, uint32_t *words,
                                    struct tally &t)
{
    if constexpr (TYPE == GF_F32) {
        bool numbers = true;
        GF_UNROLL
        for (int i = 0; i < N; i++)
            words[i] = __float_as_uint(acc[i]);
        GF_UNROLL
        for (int i = 0; i < N; i += 2) /* a comparison that tells it of two */
            numbers = numbers && (acc[i] < acc[i + 1] || acc[i] >= acc[i + 1]);
        return !numbers;
    } else {
        constexpr bool is_float = std::is_same_v<Acc, float>;
        constexpr int samples = word_samples<TYPE>;
        uint32_t values[N];
        if constexpr (FITS) {
            GF_UNROLL
            for (int i = 0; i < N; i++)
                values[i] = fitting(acc[i], f);
        } else if (is_float && f.kind == FINISH_CLIPS) {
            GF_UNROLL
            for (int i = 0; i < N; i++)
                values[i] = clipped<TYPE>(static_cast<float>(acc[i]) * f.scale, t);
        } else {
            GF_UNROLL
            for (int i = 0; i < N; i++)
                values[i] = quotient<TYPE>(is_float ? static_cast<int32_t>(acc[i] * f.unit)
                                                    : static_cast<int32_t>(acc[i]), f, t);
        }
        GF_UNROLL
        for (int i = 0; i < N; i += samples)
            words[i / samples] = packed<TYPE>(values + i);
        return false;
    }
}

/* Words of floats; the others hold no NaN. */
template <int N> __device__ inline void canonical_lanes(uint32_t *words)
{
    GF_UNROLL
    for (int i = 0; i < N; i++)
        if ((words[i] & 0x7fffffffu) > 0x7f800000u)
            words[i] = 0x7fc00000u;
}

}

#endif
