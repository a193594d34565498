/* Histograms of keys. The first 16 bits of all samples, a full histogram, are counted in shared
 * memory; the bits below a list of prefixes, which few samples have, in global memory. */
#include "counting.cuh"

#include <cstdlib>

namespace GF_DEVICE {
namespace {

/* A sample's key; what is not finite has a key outside those of finite samples. */
template <gf_type TYPE>
__device__ __forceinline__ typename asked<TYPE>::key_type key_of(typename stored<TYPE>::type s)
{
    return asked<TYPE>::key(s);
}

/* ---- all bins of 16 bits, in shared memory ---- */

/* Counters of 16 bits, two in a word: bin b of [first, first + 2 * words) and bin b + words. What
 * does not fit goes to global memory: whose addition takes a counter from below 0x8000 to 0x8000
 * or above takes 0x8000 away again. Between two barriers a block adds at most 0x8000 in all, and
 * at a barrier no counter is above 0x7fff; so none is ever above 0xffff, and no carry runs into
 * its neighbour. */
struct packed_counters {
    unsigned *count;
    uint32_t words;             /* a power of two */
    unsigned long long *global; /* of bin `first` */

    __device__ unsigned shift(uint32_t bin) const { return bin >= words ? 16 : 0; }
    /* The counter before. */
    __device__ uint32_t added(uint32_t bin, uint32_t n)
    {
        return atomicAdd(&count[bin & (words - 1)], n << shift(bin)) >> shift(bin) & 0xffff;
    }
    __device__ void move(uint32_t bin)
    {
        atomicSub(&count[bin & (words - 1)], 0x8000u << shift(bin));
        atomicAdd(&global[bin], 0x8000ull);
    }
    __device__ void add(uint32_t bin, uint32_t n)
    {
        uint32_t before = added(bin, n);
        if (before < 0x8000 && before + n >= 0x8000)
            move(bin);
    }
    /* All additions are on their way before the first one's result is looked at. */
    template <unsigned N> __device__ __forceinline__ void add_each(const uint32_t bin[N])
    {
        uint32_t before[N];
        bool full = false;

        GF_UNROLL
        for (unsigned i = 0; i < N; i++)
            before[i] = added(bin[i], 1);
        GF_UNROLL
        for (unsigned i = 0; i < N; i++)
            full = full || before[i] == 0x7fff;
        if (!full)
            return;
        GF_UNROLL
        for (unsigned i = 0; i < N; i++)
            if (before[i] == 0x7fff)
                move(bin[i]);
    }
};

constexpr unsigned FULL_THREADS = 1024;
constexpr unsigned BETWEEN_BARRIERS = 0x8000;
constexpr unsigned IN_FLIGHT = 4; /* vectors of a thread */

/* A batch is what the whole block counts at once: IN_FLIGHT vectors of each thread. */
template <gf_type TYPE> struct batch {
    static constexpr unsigned samples = IN_FLIGHT * FULL_THREADS * vector_of<TYPE>::size;
    static constexpr unsigned between_barriers = BETWEEN_BARRIERS / samples;
    static_assert(between_barriers >= 1, "a batch is counted between two barriers");
};

/* Where the thread's k-th vector of a batch is. */
template <gf_type TYPE> __device__ inline unsigned vector_at(unsigned k)
{
    return (k * FULL_THREADS + threadIdx.x) * vector_of<TYPE>::size;
}

template <gf_type TYPE>
__device__ __forceinline__ void count_vector(const struct vector_of<TYPE> &v, unsigned here,
                                             unsigned shift, uint32_t first_bin,
                                             struct packed_counters &counters)
{
    constexpr unsigned N = vector_of<TYPE>::size;
    uint32_t bin[N];

    GF_UNROLL
    for (unsigned i = 0; i < N; i++) {
        bin[i] = static_cast<uint32_t>(key_of<TYPE>(v.at[i]) >> shift) - first_bin;
        if (i >= here || bin[i] >= 2 * counters.words)
            bin[i] = NO_BIN;
    }
    count_bins<N>(bin, counters);
}

/* Counts the block's whole batches; `count` is what there is from `samples` on, and the batches
 * are `step` samples apart. Each vector's successor is loaded before it is counted. */
template <gf_type TYPE>
__device__ __forceinline__ void count_batches(const typename stored<TYPE>::type *samples,
                                              uint64_t count, uint64_t step, unsigned shift,
                                              uint32_t first_bin,
                                              struct packed_counters &counters)
{
    constexpr unsigned size = batch<TYPE>::samples;
    uint4 v[IN_FLIGHT] = {};
    unsigned turn = 0;

    if (count >= size) {
        GF_UNROLL
        for (unsigned k = 0; k < IN_FLIGHT; k++)
            v[k] = *reinterpret_cast<const uint4 *>(samples + vector_at<TYPE>(k));
    }
    for (; count >= size; samples += step, count -= step) {
        const bool more = count >= step + size;
        GF_UNROLL
        for (unsigned k = 0; k < IN_FLIGHT; k++) {
            struct vector_of<TYPE> now;
            memcpy(&now, &v[k], sizeof now);
            if (more)
                v[k] = *reinterpret_cast<const uint4 *>(samples + step + vector_at<TYPE>(k));
            count_vector<TYPE>(now, vector_of<TYPE>::size, shift, first_bin, counters);
        }
        if (++turn % batch<TYPE>::between_barriers == 0)
            __syncthreads();
        if (!more)
            break;
    }
    __syncthreads();
}

/* Counts the samples after the last whole batch, fewer than one. */
template <gf_type TYPE>
__device__ __forceinline__ void count_rest(const typename stored<TYPE>::type *samples,
                                           uint64_t count, unsigned shift, uint32_t first_bin,
                                           struct packed_counters &counters)
{
    constexpr unsigned N = vector_of<TYPE>::size;

    for (unsigned k = 0; k < IN_FLIGHT; k++) {
        struct vector_of<TYPE> v = {};
        uint64_t at = vector_at<TYPE>(k);
        unsigned here = at >= count ? 0 : static_cast<unsigned>(min(count - at, uint64_t{N}));
        load_vector(samples + at, here, &v);
        count_vector<TYPE>(v, here, shift, first_bin, counters);
    }
}

/* Counts the bins [first_bin, first_bin + 2 * words) of the highest 16 bits; shift is the width
 * of a key less 16. */
template <gf_type TYPE>
__global__ void __launch_bounds__(FULL_THREADS)
    count_full(const typename stored<TYPE>::type *samples, uint64_t count, unsigned shift,
               uint32_t first_bin, uint32_t words, unsigned long long *counts)
{
    constexpr uint64_t size = batch<TYPE>::samples;
    struct packed_counters counters = {shared_memory<unsigned>(), words, counts + first_bin};
    const uint64_t first = blockIdx.x * size, rest = count / size * size;

    for (unsigned i = threadIdx.x; i < words; i += FULL_THREADS)
        counters.count[i] = 0;
    __syncthreads();
    if (first < count)
        count_batches<TYPE>(samples + first, count - first, gridDim.x * size, shift, first_bin,
                            counters);
    if (blockIdx.x == count / size % gridDim.x)
        count_rest<TYPE>(samples + rest, count - rest, shift, first_bin, counters);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += FULL_THREADS) {
        unsigned n = counters.count[i];
        if (n & 0xffff)
            atomicAdd(&counters.global[i], static_cast<unsigned long long>(n & 0xffff));
        if (n >> 16)
            atomicAdd(&counters.global[i + words], static_cast<unsigned long long>(n >> 16));
    }
}

/* ---- 256 bins: a histogram for each warp ---- */

constexpr unsigned BYTE_THREADS = 512, BYTE_WARPS = BYTE_THREADS / 32, BYTE_BINS = 256;

template <gf_type TYPE>
__global__ void __launch_bounds__(BYTE_THREADS)
    count_bytes(const typename stored<TYPE>::type *samples, uint64_t count,
                unsigned long long *counts)
{
    constexpr unsigned N = vector_of<TYPE>::size;
    unsigned *all = shared_memory<unsigned>();
    struct shared_counters counters = {all + threadIdx.x / 32 * BYTE_BINS};

    for (unsigned i = threadIdx.x; i < BYTE_WARPS * BYTE_BINS; i += BYTE_THREADS)
        all[i] = 0;
    __syncthreads();
    each_vector<TYPE>(samples, count, [&](const struct vector_of<TYPE> &v, unsigned here) {
        uint32_t bin[N];
        GF_UNROLL
        for (unsigned i = 0; i < N; i++)
            bin[i] = i < here ? key_of<TYPE>(v.at[i]) : NO_BIN;
        count_bins<N>(bin, counters);
    });
    __syncthreads();
    if (threadIdx.x >= BYTE_BINS)
        return;
    unsigned long long n = 0;
    for (unsigned w = 0; w < BYTE_WARPS; w++)
        n += all[w * BYTE_BINS + threadIdx.x];
    if (n > 0)
        atomicAdd(&counts[threadIdx.x], n);
}

/* ---- below some prefixes ---- */

constexpr unsigned BELOW_THREADS = 256;
constexpr unsigned FILTER_BITS = 1 << 16;
/* So many lanes of a warp at one step are added one by one. */
constexpr int FEW = 4;

/* In shared memory. */
struct prefixes {
    uint64_t prefix[GF_KEY_PREFIXES];
    /* Bit p % FILTER_BITS of each prefix p: few samples pass that none of them have. */
    unsigned filter[FILTER_BITS / 32];
};

__device__ inline void take_prefixes(struct prefixes *p, const uint64_t *from, unsigned n)
{
    for (unsigned i = threadIdx.x; i < FILTER_BITS / 32; i += BELOW_THREADS)
        p->filter[i] = 0;
    __syncthreads();
    if (threadIdx.x < n) {
        unsigned bit = static_cast<unsigned>(from[threadIdx.x]) % FILTER_BITS;
        p->prefix[threadIdx.x] = from[threadIdx.x];
        atomicOr(&p->filter[bit / 32], 1u << bit % 32);
    }
    __syncthreads();
}

__device__ inline bool may_be_in(const struct prefixes *p, unsigned prefix)
{
    return p->filter[prefix % FILTER_BITS / 32] >> prefix % 32 & 1;
}

/* Its number, or n. */
__device__ inline unsigned number_of(const struct prefixes *p, unsigned n, uint64_t prefix)
{
    unsigned low = 0, high = n;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (p->prefix[middle] < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && p->prefix[low] == prefix ? low : n;
}

/* Adds 1 to a bin of each lane that has one; all lanes of the warp call it. */
__device__ inline void count_lanes(uint32_t bin, struct global_counters &counters)
{
    unsigned lanes = __ballot_sync(ALL_LANES, bin != NO_BIN);

    if (lanes == 0)
        return;
    unsigned same = __popc(lanes) > FEW ? __match_any_sync(ALL_LANES, bin)
                                        : 1u << lane_number();
    if (bin != NO_BIN && __ffs(static_cast<int>(same)) - 1 == static_cast<int>(lane_number()))
        counters.add(bin, static_cast<uint32_t>(__popc(same)));
}

/* A warp's run of vectors that are all of one bin. */
struct pending {
    uint32_t bin, n;
};

__device__ inline void flush(struct pending *run, struct global_counters &counters)
{
    if (run->n > 0 && lane_number() == 0)
        counters.add(run->bin, run->n);
    run->n = 0;
}

template <unsigned N>
__device__ __forceinline__ void count_some(const uint32_t bin[N], struct pending *run,
                                           struct global_counters &counters)
{
    if (are_one_bin<N>(bin)) {
        if (bin[0] == NO_BIN)
            return;
        if (run->bin != bin[0] || run->n > 0x7fffffff)
            flush(run, counters);
        run->bin = bin[0];
        run->n += 32 * N;
        return;
    }
    GF_UNROLL
    for (unsigned i = 0; i < N; i++)
        count_lanes(bin[i], counters);
}

template <gf_type TYPE>
__global__ void __launch_bounds__(BELOW_THREADS)
    count_below(const typename stored<TYPE>::type *samples, uint64_t count, unsigned shift,
                const uint64_t *prefix, unsigned n, unsigned long long *counts)
{
    constexpr unsigned N = vector_of<TYPE>::size;
    struct prefixes *list = shared_memory<struct prefixes>();
    struct global_counters counters = {counts};
    struct pending run = {NO_BIN, 0};

    take_prefixes(list, prefix, n);
    each_vector<TYPE>(samples, count, [&](const struct vector_of<TYPE> &v, unsigned here) {
        uint32_t bin[N];
        GF_UNROLL
        for (unsigned i = 0; i < N; i++) {
            auto rest = key_of<TYPE>(v.at[i]) >> shift; /* two steps: together all of its bits */
            auto above = rest >> 16;
            bin[i] = NO_BIN;
            if (i < here && may_be_in(list, static_cast<unsigned>(above))) {
                unsigned p = number_of(list, n, static_cast<uint64_t>(above));
                if (p < n)
                    bin[i] = p * GF_KEY_BINS + (static_cast<uint32_t>(rest) & 0xffff);
            }
        }
        count_some<N>(bin, &run, counters);
    });
    flush(&run, counters);
}

/* ---- the choice ---- */

/* Fewer samples are not worth clearing and emptying every block's counters. */
constexpr uint64_t LEAST_FULL = 1 << 15;
constexpr uint32_t FULL_WORDS = GF_KEY_BINS / 2;

template <gf_type TYPE>
cudaError_t launch_full(const struct key_device *device, uint32_t words, const void *samples,
                        uint64_t count, unsigned shift, unsigned long long *counts,
                        cudaStream_t stream)
{
    const unsigned blocks = static_cast<unsigned>(
        gf_min(device->processors, gf_ceil_div(count, batch<TYPE>::samples)));

    for (uint32_t first = 0; first < GF_KEY_BINS; first += 2 * words) {
        cudaError_t error = launch(count_full<TYPE>, dim3(blocks), dim3(FULL_THREADS),
                                   words * sizeof(unsigned), stream,
                                   static_cast<const typename stored<TYPE>::type *>(samples),
                                   count, shift, first, words, counts);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

/* Enough blocks of `threads` to fill the device, no more than there is work for. */
template <gf_type TYPE>
unsigned blocks_for(const struct key_device *device, uint64_t count, unsigned threads)
{
    return static_cast<unsigned>(gf_min(static_cast<uint64_t>(device->processors) * 2048 / threads,
                                        gf_ceil_div(count, threads * vector_of<TYPE>::size)));
}

template <gf_type TYPE>
cudaError_t launch_type(const struct key_device *device, const struct gf_key_count *keys,
                        const void *samples, uint64_t count, const uint64_t *prefix,
                        unsigned long long *counts, cudaStream_t stream)
{
    const auto *from = static_cast<const typename stored<TYPE>::type *>(samples);
    const unsigned width = 8 * stored<TYPE>::bytes;
    uint32_t words = device->shared >= FULL_WORDS * sizeof(unsigned) ? FULL_WORDS : FULL_WORDS / 2;

    if constexpr (stored<TYPE>::bytes == 1) {
        return launch(count_bytes<TYPE>, dim3(blocks_for<TYPE>(device, count, BYTE_THREADS)),
                      dim3(BYTE_THREADS), BYTE_WARPS * BYTE_BINS * sizeof(unsigned), stream, from,
                      count, counts);
    } else {
        if (keys->shift + 16 == width && count >= LEAST_FULL)
            return launch_full<TYPE>(device, words, samples, count, keys->shift, counts, stream);
        return launch(count_below<TYPE>, dim3(blocks_for<TYPE>(device, count, BELOW_THREADS)),
                      dim3(BELOW_THREADS), sizeof(struct prefixes), stream, from, count,
                      keys->shift, prefix, keys->prefixes, counts);
    }
}

}

cudaError_t launch_keys(const struct key_device *device, enum gf_type type,
                        const struct gf_key_count *keys, const void *samples, uint64_t count,
                        const uint64_t *prefix, unsigned long long *counts, cudaStream_t stream)
{
    return with_type(type, [=](auto of) {
        return launch_type<decltype(of)::value>(device, keys, samples, count, prefix, counts,
                                                stream);
    });
}

}
