/* Histograms over a range of values: as many counters as shared memory takes without asking, else
 * counters in global memory. */
#include "counting.cuh"

namespace GF_DEVICE {
namespace {

constexpr unsigned THREADS = 256;
constexpr uint32_t MOST_SHARED = 8192; /* bins */

struct edges {
    double low, high, step;
    uint32_t bins;
};

/* Its bin, one of two more for what is below and above the range, or none. */
template <gf_type TYPE>
__device__ __forceinline__ uint32_t bin_of(typename stored<TYPE>::type s, const struct edges &e)
{
    if (!asked<TYPE>::finite(s))
        return NO_BIN;
    int64_t bin = gf_range_bin(asked<TYPE>::value(s), e.low, e.high, e.step, e.bins);
    if (bin < 0)
        return e.bins;
    return bin < static_cast<int64_t>(e.bins) ? static_cast<uint32_t>(bin) : e.bins + 1;
}

template <gf_type TYPE, typename Counters>
__device__ __forceinline__ void count_all(const typename stored<TYPE>::type *samples,
                                          uint64_t count, const struct edges &e,
                                          Counters &counters)
{
    constexpr unsigned N = vector_of<TYPE>::size;

    each_vector<TYPE>(samples, count, [&](const struct vector_of<TYPE> &v, unsigned here) {
        uint32_t bin[N];
        GF_UNROLL
        for (unsigned i = 0; i < N; i++)
            bin[i] = i < here ? bin_of<TYPE>(v.at[i], e) : NO_BIN;
        count_bins<N>(bin, counters);
    });
}

template <gf_type TYPE>
__global__ void __launch_bounds__(THREADS)
    count_range(const typename stored<TYPE>::type *samples, uint64_t count, struct edges e,
                unsigned long long *counts)
{
    struct shared_counters shared = {shared_memory<unsigned>()};
    struct global_counters global = {counts};

    if (e.bins > MOST_SHARED) {
        count_all<TYPE>(samples, count, e, global);
        return;
    }
    for (unsigned i = threadIdx.x; i < e.bins + 2; i += THREADS)
        shared.count[i] = 0;
    __syncthreads();
    count_all<TYPE>(samples, count, e, shared);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < e.bins + 2; i += THREADS)
        if (shared.count[i] > 0)
            global.add(i, shared.count[i]);
}

}

cudaError_t launch_range(const struct key_device *device, enum gf_type type,
                         const struct gf_range_count *range, const void *samples, uint64_t count,
                         unsigned long long *counts, cudaStream_t stream)
{
    const struct edges e = {range->low, range->high, (range->high - range->low) / range->bins,
                            range->bins};
    const size_t shared = range->bins > MOST_SHARED ? 0 : (range->bins + 2) * sizeof(unsigned);

    return with_type(type, [=](auto of) {
        constexpr gf_type TYPE = decltype(of)::value;
        uint64_t most = gf_ceil_div(count, THREADS * vector_of<TYPE>::size);
        return launch(count_range<TYPE>,
                      dim3(static_cast<unsigned>(gf_min(device->processors * UINT64_C(4), most))),
                      dim3(THREADS), shared, stream,
                      static_cast<const typename stored<TYPE>::type *>(samples), count, e, counts);
    });
}

}
