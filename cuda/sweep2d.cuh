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
    bool whole;                 /* all of the warp are in the output, on boundaries of VX */
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
    o.whole = __all_sync(ALL_LANES, o.which == 0xffffffffu >> (32 - GROUPS * VX) && x % VX == 0);
    return o;
}

/* Stores the samples of all groups, packed in words; `whole` is o.whole. */
template <gf_type TYPE, int VX, int GROUPS>
__device__ inline void sweep2d_store(const struct sweep2d_out &o, bool whole,
                                     const uint32_t *words)
{
    using sample = typename stored<TYPE>::type;
    constexpr int count = VX / word_samples<TYPE>;
    static_assert(count == 4 || count == 2, "one access");

    GF_UNROLL
    for (int g = 0; g < GROUPS; g++, words += count) {
        sample *to = reinterpret_cast<sample *>(o.at) + g * WARP * VX;
        if (whole) {
            if constexpr (count == 4)
                *reinterpret_cast<uint4 *>(to) = make_uint4(words[0], words[1], words[2],
                                                            words[3]);
            else
                *reinterpret_cast<uint2 *>(to) = make_uint2(words[0], words[1]);
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

/* A thread's window of a row: VX columns of its own, SIZE / 2 on both sides of them, from the
 * start of a word. */
template <gf_type TYPE, int VX, int SIZE> struct window {
    static constexpr int per_word = word_samples<TYPE>, own = VX / per_word;
    static constexpr int before = (SIZE / 2 + per_word - 1) / per_word; /* words */
    static constexpr int aside = before * per_word - SIZE / 2;  /* columns that are not needed */
    uint32_t words[before + own + before];
};

/* Reads the window of a group. Words left of the first columns lie behind those at the right of
 * the last ones. */
template <typename S, gf_type TYPE, int VX, int SIZE>
__device__ inline void window_read(struct window<TYPE, VX, SIZE> &w, const unsigned char *row,
                                   int group, int lane)
{
    using view = window<TYPE, VX, SIZE>;
    constexpr int before = view::before, own = view::own;
    constexpr int near = before < own ? before : own, far = before - near;
    int at = 4 * own * (group * WARP + lane);

    if constexpr (far > 0) {
        int left = group == 0 ? ring_byte<S>(at - 8 * own) : at - 8 * own;
        sweep2d_read<own - far, far, own>(row + left, w.words);
    }
    int left = group == 0 ? ring_byte<S>(at - 4 * own) : at - 4 * own;
    sweep2d_read<own - near, near, own>(row + left, w.words + far);
    sweep2d_read<0, own + before, own>(row + at, w.words + before);
}

/* The walk of a warp, near an edge of the image or not. */
template <bool EDGE, gf_type TYPE, int VX, int SIZE, typename S, typename Add, typename Done>
__device__ inline void sweep2d_rows(S &s, struct sweep2d_out out, uint32_t first, int lane,
                                    Add add, Done done)
{
    constexpr int groups = S::columns / (WARP * VX), group_words = VX / word_samples<TYPE>;

    strip_sweep<EDGE>(s, first, lane, [&](const unsigned char *row, uint32_t r) {
        add(row, lane);
        if (r < first + SIZE - 1)
            return;
        uint32_t words[groups * group_words];
        bool nan = done(words, EDGE ? out.which : 0xffffffffu);
        bool whole = !EDGE || __any_sync(ALL_LANES, out.whole);
        sweep2d_store<TYPE, VX, groups>(out, whole, words);
        if (nan) { /* rare: once more */
            canonical_lanes<groups * group_words>(words);
            sweep2d_store<TYPE, VX, groups>(out, whole, words);
        }
        out.at += out.row;
    });
}

/* The strip and the range of a warp. First come those at both ends of the rows, which take
 * longest, then the others, neighbours side by side. */
__device__ inline int64_t sweep2d_strip(const struct sweep2d_params &p, uint64_t index,
                                        uint32_t *range)
{
    uint32_t ends = min(p.strips, 2u), inner = p.strips - ends;
    uint64_t first = static_cast<uint64_t>(ends) * p.ranges;

    if (index < first || inner == 0) {
        *range = static_cast<uint32_t>(index / ends);
        return index % ends == 0 ? 0 : p.strips - 1;
    }
    *range = static_cast<uint32_t>((index - first) / inner);
    return 1 + static_cast<int64_t>((index - first) % inner);
}

/* Walks a warp down its strip: add(row, lane) takes a row of input from shared memory; after
 * SIZE - 1 rows, done(words, which) gives the samples of an output row, group after group, and
 * returns whether they hold NaN; it counts those that are in the output, bit i of `which` for the
 * thread's i-th. */
template <gf_type TYPE, typename S, int VX, int SIZE, typename Add, typename Done>
__device__ inline void sweep2d_walk(const struct sweep2d_params &p, Add add, Done done)
{
    int lane = static_cast<int>(threadIdx.x) % WARP;
    /* By a shuffle, so that the compiler knows it to be the same for all lanes. */
    int warp = __shfl_sync(ALL_LANES, static_cast<int>(threadIdx.x) / WARP, 0);
    uint64_t index = static_cast<uint64_t>(blockIdx.x) * (blockDim.x / WARP) +
                     static_cast<uint64_t>(warp);
    uint32_t range;
    int64_t strip = sweep2d_strip(p, index, &range);
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
    if (__any_sync(ALL_LANES, edge || !out.whole))
        sweep2d_rows<true, TYPE, VX, SIZE>(s, out, first, lane, add, done);
    else
        sweep2d_rows<false, TYPE, VX, SIZE>(s, out, first, lane, add, done);
}

}

#endif
