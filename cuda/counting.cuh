/* Counting into bins: what histograms of keys and of ranges share. Equal samples beside each other
 * are common, and many atomic additions to one place are slow, so they are joined before. */
#ifndef GPUFILT_CUDA_COUNTING_CUH
#define GPUFILT_CUDA_COUNTING_CUH

#include "types.cuh"
#include "warp.cuh"

namespace GF_DEVICE {

constexpr uint32_t NO_BIN = 0xffffffffu;

/* Counters have add(bin, n), and add_each<N>(bin), which adds 1 to each. */
template <unsigned N, typename Counters>
__device__ __forceinline__ void add_one_by_one(const uint32_t bin[N], Counters &counters)
{
    GF_UNROLL
    for (unsigned i = 0; i < N; i++)
        counters.add(bin[i], 1);
}

/* Counters of 32 bits in shared memory: for fewer than 2^32 samples. */
struct shared_counters {
    unsigned *count;

    __device__ void add(uint32_t bin, uint32_t n) { atomicAdd(&count[bin], n); }
    template <unsigned N> __device__ void add_each(const uint32_t bin[N])
    {
        add_one_by_one<N>(bin, *this);
    }
};

/* Counters in global memory. */
struct global_counters {
    unsigned long long *count;

    __device__ void add(uint32_t bin, uint32_t n)
    {
        atomicAdd(&count[bin], static_cast<unsigned long long>(n));
    }
    template <unsigned N> __device__ void add_each(const uint32_t bin[N])
    {
        add_one_by_one<N>(bin, *this);
    }
};

/* Whether all samples of the warp's threads are of one bin. All lanes of the warp call it. */
template <unsigned N> __device__ __forceinline__ bool are_one_bin(const uint32_t bin[N])
{
    bool same = bin[0] == __shfl_sync(ALL_LANES, bin[0], 0);

    GF_UNROLL
    for (unsigned i = 1; i < N; i++)
        same = same && bin[i] == bin[0];
    return __all_sync(ALL_LANES, same);
}

/* Adds the bins of a thread's N samples, NO_BIN for none. All lanes of the warp call it. */
template <unsigned N, typename Counters>
__device__ __forceinline__ void count_bins(const uint32_t bin[N], Counters &counters)
{
    bool runs = bin[0] == NO_BIN;
    uint32_t n = 1;

    if (are_one_bin<N>(bin)) {
        if (lane_number() == 0 && bin[0] != NO_BIN)
            counters.add(bin[0], 32 * N);
        return;
    }
    GF_UNROLL
    for (unsigned i = 1; i < N; i++)
        runs = runs || bin[i] == bin[i - 1] || bin[i] == NO_BIN;
    if (!__any_sync(ALL_LANES, runs)) {
        counters.template add_each<N>(bin);
        return;
    }
    GF_UNROLL
    for (unsigned i = 0; i < N; i++) {
        if (i + 1 < N && bin[i + 1] == bin[i]) {
            n++;
            continue;
        }
        if (bin[i] != NO_BIN)
            counters.add(bin[i], n);
        n = 1;
    }
}

/* The vectors of `count` samples that a block takes: every grid's worth, the same number of
 * turns for all its threads. take(vector, samples in it) is called by all lanes of a warp. */
template <gf_type TYPE, typename Take>
__device__ __forceinline__ void each_vector(const typename stored<TYPE>::type *samples,
                                            uint64_t count, Take take)
{
    constexpr unsigned N = vector_of<TYPE>::size;
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x * N;
    const uint64_t block = static_cast<uint64_t>(blockIdx.x) * blockDim.x * N;

    for (uint64_t first = block; first < count; first += step) {
        uint64_t at = first + threadIdx.x * N;
        unsigned here = at >= count ? 0 : static_cast<unsigned>(count - at < N ? count - at : N);
        struct vector_of<TYPE> v = {};
        load_vector(samples + at, here, &v);
        take(v, here);
    }
}

}

#endif
