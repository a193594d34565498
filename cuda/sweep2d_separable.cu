/* Separable masks: a row is summed along x, and the sums are added to those of SIZE rows of
 * outputs that the thread keeps. */
#include "sweep2d.cuh"

namespace GF_DEVICE {
namespace {

/* Along x, then along y. */
__constant__ float float_taps[2 * SWEEP_MOST_SEPARABLE];
__constant__ int32_t int_taps[2 * SWEEP_MOST_SEPARABLE];

template <typename Acc> __device__ inline Acc tap(int i)
{
    if constexpr (std::is_same_v<Acc, float>)
        return float_taps[i];
    else
        return int_taps[i];
}

/* A thread has 8 columns, floats in two groups; with many taps 8 columns of sums are too many
 * registers for 16 warps, and floats have one group. Rows ahead as in sweep2d_direct.cu. */
template <gf_type TYPE, int SIZE> struct separable_shape {
    static constexpr int vx = TYPE == GF_F32 ? 4 : 8;
    static constexpr int groups = TYPE == GF_F32 && SIZE <= 7 ? 2 : 1;
    static constexpr int blocks = TYPE == GF_F32 || SIZE <= 9 ? 4 : 3; /* resident, at least */
    static constexpr bool much = SIZE >= (TYPE == GF_F32 ? 15 : 7);
    static constexpr int rows = groups == 2 ? 8 : 4, stages = groups == 2 || much ? 2 : 3;
    using strip = GF_DEVICE::strip<typename stored<TYPE>::type, WARP * vx * groups, SIZE / 2, rows,
                                   stages>;
};

template <gf_type TYPE, typename Acc, bool FITS, int SIZE>
__global__ void __launch_bounds__(SWEEP_WARPS *WARP, separable_shape<TYPE, SIZE>::blocks)
separable_kernel(const struct sweep2d_params p)
{
    using shape = separable_shape<TYPE, SIZE>;
    constexpr int vx = shape::vx, groups = shape::groups;
    /* acc[][k]: of the output row that is k + 1 rows away from its last. */
    Acc acc[groups][SIZE][vx] = {};
    struct tally t = {};

    sweep2d_walk<TYPE, typename shape::strip, vx, SIZE>(
        p,
        [&](const unsigned char *row, int lane) {
            GF_UNROLL
            for (int g = 0; g < groups; g++) {
                struct window<TYPE, vx, SIZE> w;
                Acc v[vx + SIZE - 1];
                window_read<typename shape::strip>(w, row, g, lane);
                GF_UNROLL
                for (int i = 0; i < vx + SIZE - 1; i++)
                    v[i] = lane_of<TYPE, Acc>(w.words, w.aside + i);
                GF_UNROLL
                for (int o = 0; o < vx; o++) {
                    Acc across = 0;
                    GF_UNROLL
                    for (int i = 0; i < SIZE; i++)
                        across = multiply_add(tap<Acc>(i), v[o + i], across);
                    GF_UNROLL
                    for (int k = 0; k + 1 < SIZE; k++)
                        acc[g][k][o] = multiply_add(tap<Acc>(2 * SIZE - 1 - k), across,
                                                    acc[g][k + 1][o]);
                    acc[g][SIZE - 1][o] = multiply_add(tap<Acc>(SIZE), across, Acc(0));
                }
            }
        },
        [&](uint32_t *words, uint32_t which) {
            Acc sums[groups * vx];
            GF_UNROLL
            for (int i = 0; i < groups * vx; i++)
                sums[i] = FITS || (which >> i & 1) ? acc[i / vx][0][i % vx] : Acc(0);
            return finish_lanes<TYPE, FITS, groups * vx>(sums, p.finish, words, t);
        });
    if constexpr (!FITS)
        add_tally(t, p.counts);
}

template <gf_type TYPE, typename Acc, bool FITS, int SIZE> struct sweep2d_kernel kernel_of()
{
    using shape = separable_shape<TYPE, SIZE>;
    return {separable_kernel<TYPE, Acc, FITS, SIZE>, shape::strip::columns, shape::strip::bytes};
}

/* Sums that may not fit, and wide ones, are rare with many taps: not worth their compilation. */
template <gf_type TYPE, typename Acc, bool FITS> struct sweep2d_kernel of_few(int size)
{
    switch (size) {
    case 3: return kernel_of<TYPE, Acc, FITS, 3>();
    case 5: return kernel_of<TYPE, Acc, FITS, 5>();
    case 7: return kernel_of<TYPE, Acc, FITS, 7>();
    case 9: return kernel_of<TYPE, Acc, FITS, 9>();
    default: return {};
    }
}

template <gf_type TYPE> struct sweep2d_kernel of_many(int size)
{
    switch (size) {
    case 11: return kernel_of<TYPE, float, true, 11>();
    case 13: return kernel_of<TYPE, float, true, 13>();
    case 15: return kernel_of<TYPE, float, true, 15>();
    case 17: return kernel_of<TYPE, float, true, 17>();
    default: return of_few<TYPE, float, true>(size);
    }
}

template <gf_type TYPE> struct sweep2d_kernel of_floats(bool fits, int size)
{
    return fits ? of_many<TYPE>(size) : of_few<TYPE, float, false>(size);
}

struct sweep2d_kernel of_wide(bool fits, int size)
{
    return fits ? of_few<GF_U16, int32_t, true>(size) : of_few<GF_U16, int32_t, false>(size);
}

}

struct sweep2d_kernel sweep2d_separable(gf_type type, bool wide, bool fits, int size)
{
    switch (type) {
    case GF_U8: return wide ? sweep2d_kernel{} : of_floats<GF_U8>(fits, size);
    case GF_U16: return wide ? of_wide(fits, size) : of_floats<GF_U16>(fits, size);
    case GF_I16: return wide ? sweep2d_kernel{} : of_floats<GF_I16>(fits, size);
    case GF_F32: return of_many<GF_F32>(size);
    default: return {};
    }
}

cudaError_t sweep2d_separable_taps(const void *taps, bool wide, int size, cudaStream_t stream)
{
    size_t bytes = static_cast<size_t>(2 * size) * 4;

    return wide ? cudaMemcpyToSymbolAsync(int_taps, taps, bytes, 0, cudaMemcpyHostToDevice, stream)
                : cudaMemcpyToSymbolAsync(float_taps, taps, bytes, 0, cudaMemcpyHostToDevice,
                                          stream);
}

}
