/* Direct masks: a thread keeps the sums of SIZE rows of outputs, and each input row is added
 * to all of them. */
#include "sweep2d.cuh"

namespace GF_DEVICE {
namespace {

__constant__ float float_taps[SWEEP_MOST_DIRECT * SWEEP_MOST_DIRECT];
__constant__ int32_t int_taps[SWEEP_MOST_DIRECT * SWEEP_MOST_DIRECT];

template <typename Acc> __device__ inline Acc tap(int i)
{
    if constexpr (std::is_same_v<Acc, float>)
        return float_taps[i];
    else
        return int_taps[i];
}

#ifndef DIRECT_ROWS
#define DIRECT_ROWS 4
#define DIRECT_STAGES 3
#endif
#ifndef DIRECT_MIN
#define DIRECT_MIN 4
#endif
#ifndef DIRECT_GROUPS
#define DIRECT_GROUPS 2
#endif
template <gf_type TYPE> constexpr int direct_vx = stored<TYPE>::bytes == 4 ? 4 : 8;
template <gf_type TYPE, int SIZE> constexpr int direct_groups = stored<TYPE>::bytes == 4 ? DIRECT_GROUPS : 1;
template <gf_type TYPE, int SIZE>
using direct_strip = strip<typename stored<TYPE>::type, WARP * direct_vx<TYPE> * direct_groups<TYPE, SIZE>, SIZE / 2,
                           DIRECT_ROWS, DIRECT_STAGES>;

template <gf_type TYPE, typename Acc, bool FITS, int SIZE>
__global__ void __launch_bounds__(SWEEP_WARPS *WARP, DIRECT_MIN) direct_kernel(const struct sweep2d_params p)
{
    constexpr int vx = direct_vx<TYPE>, groups = direct_groups<TYPE, SIZE>;
    using view = struct window<TYPE, vx, SIZE>;
    /* acc[k]: of the output row that is k + 1 rows away from its last. */
    Acc acc[groups][SIZE][vx] = {};
    struct tally t = {};

    sweep2d_walk<TYPE, direct_strip<TYPE, SIZE>, vx, SIZE>(
        p,
        [&](const unsigned char *row) {
            Acc v[groups][vx + SIZE - 1];
            GF_UNROLL
            for (int g = 0; g < groups; g++) {
                view w;
                window_read(w, row + g * WARP * 16);
                GF_UNROLL
                for (int i = 0; i < vx + SIZE - 1; i++)
                    v[g][i] = lane_of<TYPE, Acc>(w.words, w.aside + i);
            }
            GF_UNROLL
            for (int k = 0; k < SIZE; k++)
                GF_UNROLL
                for (int g = 0; g < groups; g++)
                GF_UNROLL
                for (int o = 0; o < vx; o++) {
                    Acc sum = k + 1 < SIZE ? acc[g][k + 1 < SIZE ? k + 1 : 0][o] : Acc(0);
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
    using shape = direct_strip<TYPE, SIZE>;
    return {direct_kernel<TYPE, Acc, FITS, SIZE>, shape::columns, SWEEP_WARPS * shape::bytes};
}

template <gf_type TYPE, typename Acc, bool FITS> struct sweep2d_kernel of_size(int size)
{
    switch (size) {
    case 3: return kernel_of<TYPE, Acc, FITS, 3>();
    case 5: return kernel_of<TYPE, Acc, FITS, 5>();
    case 7: return kernel_of<TYPE, Acc, FITS, 7>();
    case 9: return kernel_of<TYPE, Acc, FITS, 9>();
    default: return {};
    }
}

template <gf_type TYPE> struct sweep2d_kernel of_floats(bool fits, int size)
{
    return fits ? of_size<TYPE, float, true>(size) : of_size<TYPE, float, false>(size);
}

}

struct sweep2d_kernel sweep2d_direct(gf_type type, bool wide, bool fits, int size)
{
    if (wide)
        return type == GF_U16 ? of_size<GF_U16, int32_t, false>(size) : sweep2d_kernel{};
    switch (type) {
    case GF_U8: return of_floats<GF_U8>(fits, size);
    case GF_U16: return of_floats<GF_U16>(fits, size);
    case GF_I16: return of_floats<GF_I16>(fits, size);
    case GF_F32: return of_size<GF_F32, float, true>(size);
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
