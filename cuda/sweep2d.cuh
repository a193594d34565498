/* The family sweep2d: planes filtered by warps that march down strips of columns. What its
 * kernels share: what a thread reads and stores, and the walk of a warp. */
#ifndef GPUFILT_CUDA_SWEEP2D_CUH
#define GPUFILT_CUDA_SWEEP2D_CUH

#include "sweep2d.h"

#include <type_traits>

namespace GF_DEVICE {

/* Where a thread's outputs go: VX samples side by side, and VX more a warp's width on for every
 * further group. */
struct sweep2d_out {
    unsigned char *at;          /* its first sample in the next row */
    size_t row;
    bool whole;                 /* all are in the output and on a boundary of their size */
    uint32_t which;             /* otherwise: bit i set where sample i is in the output */
};

template <gf_type TYPE, int VX, int GROUPS>
__device__ inline struct sweep2d_out sweep2d_out_of(const struct sweep2d_params &p, int64_t strip,
                                                    int lane)
{
    struct sweep2d_out o;
    int64_t x = p.out_first + strip * GROUPS * WARP * VX + lane * VX;

    static_assert(GROUPS * VX <= 32, "a bit each");
    o.row = p.out_row;
    o.at = p.out + x * static_cast<int>(stored<TYPE>::bytes);
    o.which = 0;
    for (int i = 0; i < GROUPS * VX; i++) {
        int64_t to = x + i / VX * WARP * VX + i % VX;
        o.which |= (to >= 0 && to < p.out_width ? 1u : 0u) << i;
    }
    o.whole = o.which == 0xffffffffu >> (32 - GROUPS * VX) && x % VX == 0;
    return o;
}

/* Stores the samples of all groups, packed in words. */
template <bool EDGE, gf_type TYPE, int VX, int GROUPS>
__device__ inline void sweep2d_store(const struct sweep2d_out &o, const uint32_t *words)
{
    using sample = typename stored<TYPE>::type;
    constexpr int count = VX / word_samples<TYPE>;
    static_assert(count == 4 || count == 2, "one access");

    GF_UNROLL
    for (int g = 0; g < GROUPS; g++, words += count) {
        sample *to = reinterpret_cast<sample *>(o.at) + g * WARP * VX;
        if (!EDGE || o.whole) {
#ifdef PLAIN
            if constexpr (count == 4)
                *reinterpret_cast<uint4 *>(to) = make_uint4(words[0], words[1], words[2], words[3]);
            else
#endif
            if constexpr (count == 4)
                __stcs(reinterpret_cast<uint4 *>(to),
                       make_uint4(words[0], words[1], words[2], words[3]));
            else
                __stcs(reinterpret_cast<uint2 *>(to), make_uint2(words[0], words[1]));
        } else {
            GF_UNROLL
            for (int i = 0; i < VX; i++) {
                uint32_t bits = words[i / word_samples<TYPE>] >>
                                (8 * stored<TYPE>::bytes * (i % word_samples<TYPE>));
                sample value;
                memcpy(&value, &bits, sizeof value);
                if (o.which >> (g * VX + i) & 1)
                    to[i] = value;
            }
        }
    }
}

/* Reads COUNT words from word FROM on, counted from a boundary of WIDEST words, in the widest
 * accesses. */
template <int FROM, int COUNT, int WIDEST>
__device__ inline void sweep2d_read(const unsigned char *at, uint32_t *words)
{
    if constexpr (COUNT > 0) {
        constexpr bool four = WIDEST >= 4 && FROM % 4 == 0 && COUNT >= 4;
        constexpr bool two = !four && FROM % 2 == 0 && COUNT >= 2;
        constexpr int n = four ? 4 : two ? 2 : 1;
        const unsigned char *p = at + 4 * FROM;
        if constexpr (four) {
            uint4 v = *reinterpret_cast<const uint4 *>(p);
            words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
        } else if constexpr (two) {
            uint2 v = *reinterpret_cast<const uint2 *>(p);
            words[0] = v.x, words[1] = v.y;
        } else {
            words[0] = *reinterpret_cast<const uint32_t *>(p);
        }
        sweep2d_read<FROM + n, COUNT - n, WIDEST>(at, words + n);
    }
}

/* A thread's window of a row: SIZE / 2 columns on both sides of its own, from the start of a
 * word. `at` is where its own columns are. */
template <gf_type TYPE, int VX, int SIZE> struct window {
    static constexpr int per_word = word_samples<TYPE>;
    static constexpr int before = (SIZE / 2 + per_word - 1) / per_word; /* words */
    static constexpr int aside = before * per_word - SIZE / 2;  /* columns that are not needed */
    static constexpr int count = VX / per_word + 2 * before;
    uint32_t words[count];
};
template <gf_type TYPE, int VX, int SIZE>
__device__ inline void window_read(struct window<TYPE, VX, SIZE> &w, const unsigned char *at)
{
    sweep2d_read<-w.before, w.count, VX / w.per_word>(at, w.words);
}

/* The walk of a warp, near an edge of the image or not. */
template <bool EDGE, gf_type TYPE, int VX, int SIZE, typename S, typename Add, typename Done>
__device__ inline void sweep2d_rows(S &s, struct sweep2d_out out, uint32_t first, int lane,
                                    Add add, Done done)
{
    constexpr int groups = S::columns / (WARP * VX), group_words = VX / word_samples<TYPE>;

    strip_sweep<EDGE>(s, first, lane, [&](const unsigned char *row, uint32_t r) {
        add(row + 16 * S::side + lane * VX * S::size);
        if (r < first + SIZE - 1)
            return;
        uint32_t words[groups * group_words];
        bool nan = done(words, EDGE ? out.which : 0xffffffffu);
        sweep2d_store<EDGE, TYPE, VX, groups>(out, words);
        if (nan) { /* rare: once more */
            canonical_lanes<groups * group_words>(words);
            sweep2d_store<EDGE, TYPE, VX, groups>(out, words);
        }
        out.at += out.row;
    });
}

/* Walks a warp down its strip: add(row) takes a row of input, `row` being where the thread's
 * columns are in shared memory; after SIZE - 1 rows, done(words, which) gives the samples of an output
 * row, group after group, and returns whether they hold NaN; it counts those that are in the
 * output, bit i of `which` for the thread's i-th. */
template <gf_type TYPE, typename S, int VX, int SIZE, typename Add, typename Done>
__device__ inline void sweep2d_walk(const struct sweep2d_params &p, Add add, Done done)
{
    int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    uint64_t index = static_cast<uint64_t>(blockIdx.x) * SWEEP_WARPS +
                     static_cast<uint64_t>(warp);
    uint32_t range = static_cast<uint32_t>(index / p.strips);
    int64_t strip = static_cast<int64_t>(index % p.strips);
    S s;

    if (range >= p.ranges)
        return;
    uint32_t first = range * p.range, last = min(first + p.range, p.rows);
    struct strip_source source = p.source;
    source.in += static_cast<uint32_t>(p.plane_slot[blockIdx.y]) * p.in_plane;
    struct sweep2d_out out =
        sweep2d_out_of<TYPE, VX, S::columns / (WARP * VX)>(p, strip, lane);
    out.at += blockIdx.y * p.out_plane + first * p.out_row;

    bool edge = strip_begin(s, source, strip, first, last + SIZE - 1,
                            shared_memory<unsigned char>() + warp * S::bytes, lane);
    if (edge || !__all_sync(ALL_LANES, out.whole))
        sweep2d_rows<true, TYPE, VX, SIZE>(s, out, first, lane, add, done);
    else
        sweep2d_rows<false, TYPE, VX, SIZE>(s, out, first, lane, add, done);
}

}

#endif
