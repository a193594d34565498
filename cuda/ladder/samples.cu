/* The data of the ladders, made where they are needed, and a look at results where they are. */
#include "run.h"

extern "C" {
#include "bench/sums.h"
}

namespace GF_DEVICE {
namespace {

constexpr unsigned THREADS = 256, MOST_BLOCKS = 4096;

dim3 grid_for(uint64_t samples)
{
    uint64_t blocks = gf_ceil_div(samples, 4 * THREADS);

    return dim3(static_cast<unsigned>(gf_min(gf_max(blocks, 1), MOST_BLOCKS)));
}

__device__ __forceinline__ uint64_t first_index()
{
    return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64_t index_step()
{
    return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

__device__ __forceinline__ uint64_t place_of(const struct block_of_rows &rows, uint64_t i)
{
    uint64_t row = i / rows.size[0], x = i % rows.size[0];

    return row / rows.size[1] * rows.plane + row % rows.size[1] * rows.pitch + x;
}

__global__ void make_samples(const __grid_constant__ struct block_of_rows rows, uint64_t n,
                             bool stress)
{
    for (uint64_t i = first_index(); i < n; i += index_step())
        rows.data[place_of(rows, i)] = gf_ladder_sample(i, stress);
}

__global__ void make_marks(float *to, uint64_t n, unsigned bits)
{
    for (uint64_t i = first_index(); i < n; i += index_step())
        to[i] = gf_ladder_mark(i, n, bits);
}

/* The sum of products of an odd number that belongs to the index and one of the sample's bits. */
__global__ void add_print(const __grid_constant__ struct block_of_rows rows, uint64_t n,
                          unsigned long long *print)
{
    unsigned long long sum = 0;

    for (uint64_t i = first_index(); i < n; i += index_step()) {
        uint64_t place = (2 * i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t value = __float_as_uint(rows.data[place_of(rows, i)]);
        value = (value + 1) * UINT64_C(0xbf58476d1ce4e5b9);
        sum += ((place ^ place >> 32) | 1) * (value ^ value >> 29);
    }
    atomicAdd(print, sum);
}

}

cudaError_t fill_samples(const struct block_of_rows *rows, bool stress, cudaStream_t stream)
{
    uint64_t n = count_of(rows->size);

    return launch(make_samples, grid_for(n), dim3(THREADS), 0, stream, *rows, n, stress);
}

cudaError_t fill_marks(float *to, uint64_t n, cudaStream_t stream)
{
    return launch(make_marks, grid_for(n), dim3(THREADS), 0, stream, to, n, gf_mark_bits(n));
}

cudaError_t fingerprint(const struct block_of_rows *rows, unsigned long long *print,
                        cudaStream_t stream)
{
    uint64_t n = count_of(rows->size);

    GF_CALL(cudaMemsetAsync(print, 0, sizeof *print, stream));
    return launch(add_print, grid_for(n), dim3(THREADS), 0, stream, *rows, n, print);
}

}
