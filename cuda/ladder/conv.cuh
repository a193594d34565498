/* What the convolution ladders share: sizes, the step that runs the kernels of the filters, and
 * theory. */
#ifndef GPUFILT_CUDA_LADDER_CONV_CUH
#define GPUFILT_CUDA_LADDER_CONV_CUH

#include "version.h"

#include <cstdlib>
#include <type_traits>

extern "C" {
#include "bench/expect.h"
}

namespace GF_DEVICE {

/* Blocks of a grid along y and z; kernels go on from there in strides of the grid. With test hooks
 * GPUFILT_TEST_GRID=N lowers it, so that small images show whether they do. */
inline uint64_t most_grid()
{
#ifdef GPUFILT_TEST_HOOKS
    const char *most = getenv("GPUFILT_TEST_GRID");
    if (most != nullptr)
        return strtoull(most, nullptr, 10);
#endif
    return 65535;
}

/* Samples along an axis: coordinates are 32-bit integers, the places of rows in memory 64-bit. */
constexpr uint64_t MOST_SIDE = UINT64_C(1) << 30;

/* Blocks along an axis, each for `tile` outputs; along y and z. */
inline unsigned grid_side(uint64_t outputs, unsigned tile)
{
    return static_cast<unsigned>(gf_min(gf_ceil_div(outputs, tile), most_grid()));
}

__device__ inline bool within(int at, int size)
{
    return static_cast<unsigned>(at) < static_cast<unsigned>(size);
}

/* The coordinate of a thread in a grid of blocks of `size`, and the way to the next one of its
 * own. */
__device__ inline int coordinate(unsigned block, int size, unsigned thread)
{
    return static_cast<int>(block) * size + static_cast<int>(thread);
}
__device__ inline int stride(unsigned blocks, int size) { return static_cast<int>(blocks) * size; }

/* Calls then(M) with the mask's side as a constant of the compiler: its loops are unrolled and
 * every weight is an operand of its multiply-add, in all steps alike. */
template <int MOST, typename Then> cudaError_t with_side(uint32_t taps, Then then)
{
    switch (taps) {
    case 3: return then(std::integral_constant<int, 3>());
    case 5: return then(std::integral_constant<int, 5>());
    case 7: return then(std::integral_constant<int, 7>());
    case 9:
        if constexpr (MOST >= 9)
            return then(std::integral_constant<int, 9>());
        break;
    default: break;
    }
    return cudaErrorInvalidValue;
}

/* Why no step can do this work, or NULL. */
inline const char *conv_cannot(const struct gf_ladder_work *work)
{
    uint32_t most = work->ladder == GF_CONV2D ? 9 : 7;
    uint64_t size[3];

    if (work->taps < 3 || work->taps > most || work->taps % 2 == 0)
        return most == 9 ? "masks have 3, 5, 7 or 9 taps along an axis"
                         : "masks have 3, 5 or 7 taps along an axis";
    for (int a = 0; a < 3; a++)
        if (work->size[a] == 0 || work->size[a] > MOST_SIDE)
            return "an axis is longer than 1073741824 samples";
    gf_expect_size(work, size);
    return size[0] == 0 ? "no outputs: the mask is larger than the input" : nullptr;
}

/* ---- versions ---- */

using ladder_run = cudaError_t(const struct ladder_data *, cudaStream_t, struct launched *);
using ladder_prepare = cudaError_t(const struct ladder_data *, cudaStream_t);
using ladder_theory = double(const struct gf_ladder_work *);

constexpr struct ladder_version conv_version(enum gf_ladder_step_id step, ladder_run *run,
                                             ladder_prepare *prepare)
{
    struct ladder_version v = {};

    v.step = step;
    v.cannot = conv_cannot;
    v.run = run;
    v.prepare = prepare;
    return v;
}

/* The kernels of the filters, in filters.cu. */
struct ladder_version filters_version(enum gf_ladder_step_id step);

}

#endif
