/* Finishing and storing a sample in every way a plan can ask for: the device's twin of
 * src/cpu/reference.c. */
#ifndef GPUFILT_CUDA_GENERAL_FINISH_CUH
#define GPUFILT_CUDA_GENERAL_FINISH_CUH

#include "general_params.cuh"
#include "sample.cuh"

#include <type_traits>

namespace GF_DEVICE {

/* A sample of any type as the arithmetic's type. */
template <typename Acc> __device__ inline Acc load_sample(gf_type type, const void *from)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    case GF_##NAME:                                            \
        return value_of<GF_##NAME, Acc>(*static_cast<const ctype *>(from));
        GF_TYPES(X)
#undef X
    default: return 0;
    }
}

/* Rounds `v` to the type and stores it. */
__device__ inline void store_sample(gf_type type, double v, void *to, struct tally &t)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)    \
    case GF_##NAME:                                               \
        *static_cast<ctype *>(to) = rounded<GF_##NAME>(v, t);     \
        break;
        GF_TYPES(X)
#undef X
    default: break;
    }
}

/* Stores an integer, saturated. */
__device__ inline void store_integer(gf_type type, int64_t v, void *to, struct tally &t)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)        \
    case GF_##NAME:                                                   \
        if constexpr (!is_float)                                      \
            *static_cast<ctype *>(to) = saturated<GF_##NAME>(v, t);   \
        break;
        GF_TYPES(X)
#undef X
    default: break;
    }
}

__device__ inline bool is_float_type(gf_type type) { return type >= GF_F16; }
static_assert(GF_F16 + 3 == GF_TYPE_COUNT, "the float types are the last three");

/* Stores the exact rational, rounded once; without a denominator what division gives. */
__device__ inline void store_ratio(const struct finishing &f, int64_t numerator,
                                   int64_t denominator, void *to, struct tally &t)
{
    if (denominator == 0 || is_float_type(f.type))
        store_sample(f.type, static_cast<double>(numerator) / static_cast<double>(denominator),
                     to, t);
    else
        store_integer(f.type, divided(numerator, denominator), to, t);
}

__device__ inline double weight_inside(const struct finishing &f, int64_t x, uint32_t row,
                                       uint32_t plane)
{
    const int64_t place[3] = {x, static_cast<int64_t>(f.y + row),
                              static_cast<int64_t>(f.z + plane)};
    return gf_inside_at(&f.inside, place);
}

__device__ inline void finish_sum(const struct finishing &f, int32_t acc, int32_t alpha_acc,
                                  bool color, int64_t x, uint32_t row, uint32_t plane, void *to,
                                  struct tally &t)
{
    int64_t numerator = acc, denominator = f.divisor;

    if (f.alpha_divide && color) {
        if (alpha_acc <= 0)
            store_integer(f.type, 0, to, t);
        if (alpha_acc <= 0 && is_float_type(f.type))
            store_sample(f.type, 0.0, to, t);
        if (alpha_acc > 0)
            store_ratio(f, numerator * f.tap_total * static_cast<int64_t>(f.alpha_scale),
                        denominator * alpha_acc, to, t);
        return;
    }
    if (f.alpha_divide)
        denominator = f.tap_total; /* divisor * gain */
    if (f.normalize) {
        numerator *= static_cast<int64_t>(gf_inside_total(&f.inside));
        denominator *= static_cast<int64_t>(weight_inside(f, x, row, plane));
    }
    store_ratio(f, numerator, denominator, to, t);
}

/* float and double: every operation rounded in the type. */
template <typename Acc>
__device__ inline void finish_sum(const struct finishing &f, Acc acc, Acc alpha_acc, bool color,
                                  int64_t x, uint32_t row, uint32_t plane, void *to,
                                  struct tally &t)
{
    if (f.alpha_divide && color) {
        acc = alpha_acc > 0 ? acc / alpha_acc * static_cast<Acc>(f.gain * f.alpha_scale) : 0;
    } else {
        if (f.normalize)
            acc *= static_cast<Acc>(gf_inside_total(&f.inside) / weight_inside(f, x, row, plane));
        if (f.alpha_divide)
            acc /= static_cast<Acc>(f.gain);
    }
    store_sample(f.type, static_cast<double>(acc), to, t);
}

/* alpha_keep: the input's alpha under the output sample; its very bits where the type stays. */
__device__ inline void keep_alpha(const struct finishing &f, int64_t lane, uint32_t row,
                                  uint32_t plane, void *to, struct tally &t)
{
    int64_t at = lane + f.shift_x * f.channels;
    const char *from = static_cast<const char *>(f.in) +
                       static_cast<size_t>(f.center_plane[plane]) * f.in_plane +
                       static_cast<size_t>(f.center_row[row]) * f.in_row;

    switch (f.in_type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)                        \
    case GF_##NAME:                                                                   \
        if (f.in_type == f.type)                                                      \
            *static_cast<ctype *>(to) = reinterpret_cast<const ctype *>(from)[at];    \
        else                                                                          \
            store_sample(f.type,                                                      \
                         value_of<GF_##NAME, double>(                                 \
                             reinterpret_cast<const ctype *>(from)[at]), to, t);      \
        break;
        GF_TYPES(X)
#undef X
    default: break;
    }
}

__device__ inline unsigned type_bytes(gf_type type)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    case GF_##NAME: return bytes;
        GF_TYPES(X)
#undef X
    default: return 0;
    }
}

/* Finishes lane `lane` of a row in any way. Not inlined: it is large, and kernels call it for
 * each of several outputs. */
template <typename Acc>
__device__ __noinline__ void finish_any(const struct finishing &f, Acc acc, Acc alpha_acc,
                                        int64_t lane, uint32_t row, uint32_t plane, void *to,
                                        struct tally &t)
{
    int64_t x = lane / f.channels;
    bool color = static_cast<int>(lane - x * f.channels) != f.alpha;

    if (f.alpha_keep && !color)
        keep_alpha(f, lane, row, plane, to, t);
    else
        finish_sum(f, acc, alpha_acc, color, x, row, plane, to, t);
}

/* Finishes lane `lane` of a row; alpha_acc is looked at with alpha_divide only. What is stored
 * as it was summed goes a short way. */
template <typename Acc>
__device__ inline void finish_lane(const struct finishing &f, Acc acc, Acc alpha_acc,
                                   int64_t lane, uint32_t row, uint32_t plane, struct tally &t)
{
    void *to = static_cast<char *>(f.out) + plane * f.out_plane + row * f.out_row +
               static_cast<size_t>(lane) * type_bytes(f.type);

    if constexpr (!std::is_integral_v<Acc>)
        if (f.as_summed) {
            *static_cast<Acc *>(to) = one_nan(acc);
            return;
        }
    finish_any(f, acc, alpha_acc, lane, row, plane, to, t);
}

}

#endif
