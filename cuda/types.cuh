/* What a measure asks of one sample (src/stats/keys.h), with the type as a template parameter. */
#ifndef GPUFILT_CUDA_TYPES_CUH
#define GPUFILT_CUDA_TYPES_CUH

#include "measure.h"
#include "sample.cuh"

#include <type_traits>

namespace GF_DEVICE {

template <gf_type TYPE> struct asked;
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)                                   \
    template <> struct asked<GF_##NAME> {                                                        \
        using key_type = gf_key_##name;                                                          \
        __device__ static bool finite(ctype s) { return gf_is_finite_##name(s); }                \
        __device__ static double value(ctype s) { return gf_value_of_##name(s); }                \
        __device__ static key_type key(ctype s) { return gf_key_of_##name(s); }                  \
    };
GF_TYPES(X)
#undef X

/* piece_samples(), for the device. */
template <gf_type TYPE>
constexpr uint64_t in_piece = stored<TYPE>::is_float ? static_cast<uint64_t>(GF_LEAF)
                                                     : PIECE_BYTES / stored<TYPE>::bytes;

/* 16 bytes of samples. */
template <gf_type TYPE> struct alignas(16) vector_of {
    static constexpr unsigned size = 16 / stored<TYPE>::bytes;
    typename stored<TYPE>::type at[size];
};

/* The first `count` of a vector's samples; the others stay. */
template <gf_type TYPE>
__device__ inline void load_vector(const typename stored<TYPE>::type *from, unsigned count,
                                   struct vector_of<TYPE> *to)
{
    constexpr unsigned size = vector_of<TYPE>::size;

    if (count == size) {
        *to = *reinterpret_cast<const struct vector_of<TYPE> *>(from);
        return;
    }
    GF_UNROLL
    for (unsigned k = 0; k < size; k++)
        if (k < count)
            to->at[k] = from[k];
}

/* do_it(std::integral_constant<gf_type, type>()). */
template <typename F> auto with_type(enum gf_type type, F do_it)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    case GF_##NAME:                                            \
        return do_it(std::integral_constant<gf_type, GF_##NAME>());
        GF_TYPES(X)
#undef X
    default: return do_it(std::integral_constant<gf_type, GF_U8>());
    }
}

}

#endif
