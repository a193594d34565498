/* Direct masks: a thread keeps the sums of SIZE rows of outputs, and adds every row of input to all
 * of them. */
#include "sweep2d.cuh"

namespace GF_DEVICE {
namespace {

/* Rows one after the other. */
__constant__ float float_taps[SWEEP_MOST_DIRECT * SWEEP_MOST_DIRECT];
__constant__ int32_t int_taps[SWEEP_MOST_DIRECT * SWEEP_MOST_DIRECT];

template <typename Acc> __device__ inline Acc tap(int i)
{
    if constexpr (std::is_same_v<Acc, float>)
        return float_taps[i];
    else
        return int_taps[i];
}

/* A thread has 8 columns, floats in two groups. The sums and the windows of 9 x 9 taps need more
 * registers than 16 warps may have. Rows ahead, by measurement: long stages where memory binds,
 * few rows where arithmetic does. */
template <gf_type TYPE, int SIZE> struct direct_shape {
    static constexpr int vx = TYPE == GF_F32 ? 4 : 8, groups = 8 / vx;
    static constexpr int blocks = SIZE < 9 ? 4 : 3; /* resident, at least */
    static constexpr int rows = TYPE == GF_F32 && SIZE <= 5 ? 8 : 4;
    static constexpr int stages = TYPE == GF_F32 || SIZE >= 7 ? 2 : 3;
    using strip = GF_DEVICE::strip<typename stored<TYPE>::type, WARP * 8, SIZE / 2, rows, stages>;
};

template <gf_type TYPE, typename Acc, bool FITS, int SIZE>
__global__ void __launch_bounds__(SWEEP_WARPS *WARP, direct_shape<TYPE, SIZE>::blocks)
direct_kernel(const struct sweep2d_params p)
{
    using shape = direct_shape<TYPE, SIZE>;
    constexpr int vx = shape::vx, groups = shape::groups;
    /* acc[][k]: of the output row that is k + 1 rows away from its last. */
    Acc acc[groups][SIZE][vx] = {};
    struct tally t = {};

    sweep2d_walk<TYPE, typename shape::strip, vx, SIZE>(
        p,
        [&](const unsigned char *row, int lane) {
            Acc v[groups][vx + SIZE - 1];
            GF_UNROLL
            for (int g = 0; g < groups; g++) {
                struct window<TYPE, vx, SIZE> w;
                window_read<typename shape::strip>(w, row, g, lane);
                GF_UNROLL
                for (int i = 0; i < vx + SIZE - 1; i++)
                    v[g][i] = lane_of<TYPE, Acc>(w.words, w.aside + i);
            }
            GF_UNROLL
            for (int n = 0; n < SIZE * groups * vx; n++) {
                int k = n / (groups * vx), g = n / vx % groups, o = n % vx;
                Acc sum = k + 1 < SIZE ? acc[g][(k + 1) % SIZE][o] : Acc(0);
                GF_UNROLL
                for (int i = 0; i < SIZE; i++)
                    sum = multiply_add(tap<Acc>((SIZE - 1 - k) * SIZE + i), v[g][o + i], sum);
                acc[g][k][o] = sum;
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
    using shape = direct_shape<TYPE, SIZE>;
    return {direct_kernel<TYPE, Acc, FITS, SIZE>, shape::strip::columns, shape::strip::bytes};
}

template <gf_type TYPE, typename Acc, bool FITS> struct sweep2d_kernel of_small(int size)
{
    switch (size) {
    case 3: return kernel_of<TYPE, Acc, FITS, 3>();
    case 5: return kernel_of<TYPE, Acc, FITS, 5>();
    default: return {};
    }
}

template <gf_type TYPE, typename Acc, bool FITS> struct sweep2d_kernel of_any(int size)
{
    switch (size) {
    case 7: return kernel_of<TYPE, Acc, FITS, 7>();
    case 9: return kernel_of<TYPE, Acc, FITS, 9>();
    default: return of_small<TYPE, Acc, FITS>(size);
    }
}

}

/* Large masks of signed or wide sums are rare: not worth their compilation. */
struct sweep2d_kernel sweep2d_direct(gf_type type, bool wide, bool fits, int size)
{
    if (wide && type != GF_U16)
        return {};
    if (wide)
        return fits ? of_small<GF_U16, int32_t, true>(size) : of_any<GF_U16, int32_t, false>(size);
    switch (type) {
    case GF_U8: return fits ? of_any<GF_U8, float, true>(size) : of_any<GF_U8, float, false>(size);
    case GF_U16:
        return fits ? of_any<GF_U16, float, true>(size) : of_any<GF_U16, float, false>(size);
    case GF_I16:
        return fits ? of_small<GF_I16, float, true>(size) : of_small<GF_I16, float, false>(size);
    case GF_F32: return of_any<GF_F32, float, true>(size);
    default: return {};
    }
}

cudaError_t sweep2d_direct_taps(const void *taps, bool wide, int size, cudaStream_t stream)
{
    size_t bytes = static_cast<size_t>(size * size) * 4;

    return wide ? cudaMemcpyToSymbolAsync(int_taps, taps, bytes, 0, cudaMemcpyHostToDevice, stream)
                : cudaMemcpyToSymbolAsync(float_taps, taps, bytes, 0, cudaMemcpyHostToDevice,
                                          stream);
}

}
