/* Exact sums of integer samples, a block for each piece. Samples are taken as their keys (less
 * the type's lowest value), so that a width has one kernel; measure.cu moves the sums back. */
#include "measure.h"
#include "sample.cuh"
#include "warp.cuh"

namespace GF_DEVICE {
namespace {

constexpr unsigned THREADS = 256, WARPS = THREADS / 32;
constexpr unsigned VECTORS = 4; /* that a thread has in flight */

/* A warp's or a thread's sums of keys, and the least and the greatest of these. */
struct sums {
    uint64_t sum, square_low, square_high;
    uint32_t lowest, highest;
};

/* A thread's sums over 4 bytes at a time, by the bytes of a sample; a piece is 512 bytes of each
 * thread, so 32 bits hold sums of narrow samples. `vector` 1: one sample, in the low bytes. */
template <unsigned BYTES> struct thread_sums;

/* Two bytes in each half of a word, even ones and odd ones. */
template <> struct thread_sums<1> {
    uint32_t sum = 0, square = 0, lowest = 0x00ff00ffu, highest = 0;

    __device__ void extremes(uint32_t w)
    {
        lowest = __vminu2(lowest, w);
        highest = __vmaxu2(highest, w);
    }
    __device__ void add(uint32_t w)
    {
        sum = __dp4a(w, 0x01010101u, sum);
        square = __dp4a(w, w, square);
        extremes(w & 0x00ff00ffu);
        extremes(w >> 8 & 0x00ff00ffu);
    }
    __device__ void add_one(uint32_t key)
    {
        sum += key;
        square += key * key;
        extremes(key * 0x00010001u);
    }
    __device__ struct sums total() const
    {
        return {sum, square, 0, min(lowest & 0xffff, lowest >> 16),
                max(highest & 0xffff, highest >> 16)};
    }
};

template <> struct thread_sums<2> {
    uint32_t sum = 0, lowest = 0xffffffffu, highest = 0;
    uint64_t square = 0;

    __device__ void add_square(uint32_t key) { square += static_cast<uint64_t>(key) * key; }
    __device__ void extremes(uint32_t w)
    {
        lowest = __vminu2(lowest, w);
        highest = __vmaxu2(highest, w);
    }
    __device__ void add(uint32_t w)
    {
        sum = __dp2a_lo(w, 0x0101u, sum);
        add_square(w & 0xffff);
        add_square(w >> 16);
        extremes(w);
    }
    __device__ void add_one(uint32_t key)
    {
        sum += key;
        add_square(key);
        extremes(key * 0x00010001u);
    }
    __device__ struct sums total() const
    {
        return {sum, square, 0, min(lowest & 0xffff, lowest >> 16),
                max(highest & 0xffff, highest >> 16)};
    }
};

template <> struct thread_sums<4> {
    uint64_t sum = 0, square_low = 0, square_high = 0;
    uint32_t lowest = 0xffffffffu, highest = 0;

    __device__ void add(uint32_t key)
    {
        uint64_t square = static_cast<uint64_t>(key) * key;
        sum += key;
        square_low += static_cast<uint32_t>(square);
        square_high += square >> 32;
        lowest = min(lowest, key);
        highest = max(highest, key);
    }
    __device__ void add_one(uint32_t key) { add(key); }
    __device__ struct sums total() const
    {
        return {sum, square_low, square_high, lowest, highest};
    }
};

__device__ inline void join(struct sums *a, const struct sums &b)
{
    a->sum += b.sum;
    a->square_low += b.square_low;
    a->square_high += b.square_high;
    a->lowest = min(a->lowest, b.lowest);
    a->highest = max(a->highest, b.highest);
}

__device__ inline void join_warp(struct sums *s)
{
    s->sum = warp_total(s->sum);
    s->square_low = warp_total(s->square_low);
    s->square_high = warp_total(s->square_high);
    s->lowest = warp_min(s->lowest);
    s->highest = warp_max(s->highest);
}

/* `flip` turns a sample's bits into its key, in every sample of a word. */
template <unsigned BYTES>
__device__ __forceinline__ void add_vector(uint4 v, uint32_t flip, thread_sums<BYTES> &t)
{
    t.add(v.x ^ flip);
    t.add(v.y ^ flip);
    t.add(v.z ^ flip);
    t.add(v.w ^ flip);
}

/* A thread's share of `bytes`. */
template <unsigned BYTES>
__device__ __forceinline__ void sum_share(const unsigned char *from, uint32_t bytes,
                                          uint32_t flip, thread_sums<BYTES> &t)
{
    using Key = typename stored<BYTES == 1 ? GF_U8 : BYTES == 2 ? GF_U16 : GF_U32>::type;
    const uint4 *vectors = reinterpret_cast<const uint4 *>(from);
    const uint32_t count = bytes / 16;
    uint32_t i = threadIdx.x;

    for (; i + (VECTORS - 1) * THREADS < count; i += VECTORS * THREADS) {
        uint4 v[VECTORS];
        GF_UNROLL
        for (unsigned k = 0; k < VECTORS; k++)
            v[k] = vectors[i + k * THREADS];
        GF_UNROLL
        for (unsigned k = 0; k < VECTORS; k++)
            add_vector(v[k], flip, t);
    }
    for (; i < count; i += THREADS)
        add_vector(vectors[i], flip, t);
    for (i = count * 16 + threadIdx.x * BYTES; i < bytes; i += THREADS * BYTES)
        t.add_one(static_cast<Key>(*reinterpret_cast<const Key *>(from + i) ^ flip));
}

template <unsigned BYTES>
__global__ void __launch_bounds__(THREADS)
    sum_pieces(const unsigned char *samples, uint64_t bytes, uint32_t flip, double least,
               struct piece *pieces)
{
    struct sums *of_warps = shared_memory<struct sums>();
    const uint64_t first = blockIdx.x * PIECE_BYTES;
    thread_sums<BYTES> thread;
    struct sums s;

    sum_share(samples + first,
              static_cast<uint32_t>(bytes - first < PIECE_BYTES ? bytes - first : PIECE_BYTES),
              flip, thread);
    s = thread.total();
    join_warp(&s);
    if (lane_number() == 0)
        of_warps[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (unsigned i = 1; i < WARPS; i++)
        join(&s, of_warps[i]);
    struct piece p = no_samples();
    p.sum = s.sum;
    p.square_low = s.square_low;
    p.square_high = s.square_high;
    p.lowest = static_cast<double>(s.lowest) + least;
    p.highest = static_cast<double>(s.highest) + least;
    pieces[blockIdx.x] = p;
}

template <unsigned BYTES>
cudaError_t launch_width(const void *samples, uint64_t count, double least, struct piece *pieces,
                         cudaStream_t stream)
{
    /* The highest bit of each sample of a word. */
    const uint32_t bits = BYTES == 1 ? 0x80808080u : BYTES == 2 ? 0x80008000u : 0x80000000u;
    const uint64_t bytes = count * BYTES;

    return launch(sum_pieces<BYTES>,
                  dim3(static_cast<unsigned>(gf_ceil_div(bytes, PIECE_BYTES))), dim3(THREADS),
                  WARPS * sizeof(struct sums), stream,
                  static_cast<const unsigned char *>(samples), bytes, least < 0 ? bits : 0, least,
                  pieces);
}

}

cudaError_t launch_integers(enum gf_type type, const void *samples, uint64_t count,
                            struct piece *pieces, cudaStream_t stream)
{
    const double least = gf_type_row(type)->lowest;

    switch (gf_type_bytes(type)) {
    case 1: return launch_width<1>(samples, count, least, pieces, stream);
    case 2: return launch_width<2>(samples, count, least, pieces, stream);
    default: return launch_width<4>(samples, count, least, pieces, stream);
    }
}

}
