/* Strips: the columns of one warp through all its rows. A warp brings rows of raw samples into
 * a ring of its own in shared memory, a stage or more before they are used, so that it never
 * waits for another warp. The border along x is handled here and nowhere else. */
#ifndef GPUFILT_CUDA_TILE_CUH
#define GPUFILT_CUDA_TILE_CUH

#include "launch.cuh"
#include "program.h"

namespace GF_DEVICE {

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;
/* Bytes of a line of the caches. Lines are copied to lines of shared memory: sectors that cross
 * sectors there are asked for twice. */
constexpr int LINE = 128;

/* The rows of a plane, and which samples of them are needed; the same for a whole launch. */
struct strip_source {
    const unsigned char *in;    /* sample 0 of row slot 0; on a 16-byte boundary, as all rows */
    uint32_t row;               /* bytes from a row slot to the next */
    uint32_t fill;              /* the sample that stands outside, repeated through a word */
    const int32_t *row_slot;    /* -1: a row of fill; these are at the ends of the table only */
    uint32_t slots;             /* entries of row_slot */
    uint32_t above;             /* rows before entry 0: any row will do, as after the last one */
    int64_t width;              /* samples of a row */
    int64_t first;              /* sample of the first strip's first column; a multiple of 16 */
    int64_t begin, end;         /* the samples of a row that any output needs, outside ones too */
    gf_border border;
};

/* The shape of a strip: COLUMNS of samples, REACH more on both sides, ROWS rows a stage. In a
 * row of the ring come the columns, then what is right of them, then what is left of them. */
template <typename T, int COLUMNS, int REACH, int ROWS, int STAGES> struct strip {
    using sample = T;
    static constexpr int size = sizeof(T);
    static constexpr int columns = COLUMNS;
    static constexpr int chunk = 16 / size;                     /* samples copied at once */
    static constexpr int side = (REACH + chunk - 1) / chunk;    /* chunks on each side */
    static constexpr int middle = COLUMNS / chunk;              /* chunks between them */
    static constexpr int pitch = (16 * (middle + 2 * side) + LINE - 1) / LINE * LINE;
    static constexpr int rows = ROWS, stages = STAGES;
    static constexpr int stage_bytes = pitch * ROWS, bytes = stage_bytes * STAGES;
    /* The warp copies a row's middle in passes, or several rows in one. */
    static constexpr int row_passes = middle > WARP ? middle / WARP : 1;
    static constexpr int pass_rows = middle < WARP ? WARP / middle : 1;
    static_assert(middle % WARP == 0 || WARP % middle == 0, "rows and passes fit");
    static_assert(ROWS % pass_rows == 0, "a stage is filled by whole passes");
    static_assert(2 * side * ROWS <= WARP, "the sides of a stage are copied at once");

    unsigned char *ring;        /* in shared memory */
    unsigned char *copies;      /* the same, for the addresses of copies alone: see keep() */
    const int32_t *row_slot;
    uint32_t above, last_slot;  /* entries missing before row_slot; the last that is needed */
    uint32_t end;               /* of the rows */
    uint32_t row, fill;
    int32_t slots;              /* lane n: the slot of row n of the stage to be brought next */
    /* This lane's chunks: of the middle in the first pass, and of the sides. */
    const unsigned char *middle_from, *side_from; /* in row slot 0 */
    /* The rest is for strips and rows at an edge of the image. */
    bool middle_whole[row_passes], side_whole;    /* inside the row */
    /* Where a row's end cuts a chunk, and outside the row, every sample has a lane of its own,
     * which brings it from `odd_from`, or fill where that is NULL, to `odd_to`. It is in a
     * register for the time of a stage, so that nobody waits for it. */
    bool odd;
    const T *odd_from;
    int odd_to, odd_stage;
    T odd_sample[ROWS];
};

/* Makes the compiler keep a value in a register where it would compute it again in a loop. */
template <typename T> __device__ inline void keep([[maybe_unused]] T *&pointer)
{
#ifndef GF_SIMT
    asm volatile("" : "+l"(pointer));
#endif
}

/* Where a byte of a row of the image is in a row of the ring; both counted from the first column,
 * so that what is left of it is below 0. */
template <typename S> __device__ inline int ring_byte(int at)
{
    return at >= 0 ? at : at + 16 * (S::middle + 2 * S::side);
}

/* The lane's chunks, as bytes from the first column: of the middle, and of the sides. */
template <typename S> __device__ inline int middle_byte(int lane)
{
    return 16 * (lane % S::middle);
}
template <typename S> __device__ inline int side_row(int lane) { return lane / (2 * S::side); }
template <typename S> __device__ inline int side_byte(int lane)
{
    int c = lane % (2 * S::side);
    return 16 * (c < S::side ? c - S::side : S::middle + c - S::side);
}

/* Samples that a lane brings one by one: those that are needed and in no whole chunk. `first`
 * is the sample of the first column. */
template <typename S>
__device__ inline void strip_find_odd(S &s, const struct strip_source &source, int64_t first,
                                      int lane)
{
    int64_t before = first - S::side * S::chunk;
    int64_t after = first + (S::middle + S::side) * S::chunk;
    int64_t begin = source.begin > before ? source.begin : before;
    int64_t end = source.end < after ? source.end : after;
    int64_t whole = source.width / S::chunk * S::chunk;
    int64_t left = begin < 0 ? (end < 0 ? end : 0) - begin : 0;
    int64_t right_begin = begin > whole ? begin : whole;
    int64_t right = end > right_begin ? end - right_begin : 0;
    int64_t x = lane < left ? begin + lane : right_begin + lane - left, from = -1;

    s.odd = lane < left + right;
    if (s.odd)
        from = gf_border_index(source.border, x, source.width);
    s.odd_to = ring_byte<S>(static_cast<int>(x - first) * S::size);
    s.odd_from = reinterpret_cast<const typename S::sample *>(source.in);
    s.odd_from = from >= 0 ? s.odd_from + from : nullptr;
}

/* Where row `r` lies; after the last row, that one. */
template <typename S> __device__ inline int32_t strip_slot(const S &s, uint32_t r)
{
    return s.row_slot[min(max(r, s.above) - s.above, s.last_slot)];
}

/* Rows [begin, end) of strip `index`; row 0 is `above` before the first of row_slot. Returns
 * whether an edge of the image is near, that is, whether anything but whole chunks of rows inside
 * is needed: the same for all lanes. */
template <typename S>
__device__ inline bool strip_begin(S &s, const struct strip_source &source, int64_t index,
                                   uint32_t begin, uint32_t end, unsigned char *ring, int lane)
{
    int64_t bytes = source.width * S::size;
    int64_t first = source.first + index * S::columns;
    int64_t at = first * S::size + middle_byte<S>(lane);
    bool whole = true;

    s.ring = s.copies = ring;
    keep(s.copies);
    s.row_slot = source.row_slot;
    s.above = source.above;
    s.last_slot = min(max(end - 1, s.above) - s.above, source.slots - 1);
    s.end = end;
    s.row = source.row;
    s.fill = source.fill;
    s.slots = strip_slot(s, begin + static_cast<uint32_t>(lane));
    s.middle_from = source.in + at;
    keep(s.middle_from);
    GF_UNROLL
    for (int n = 0; n < S::row_passes; n++, at += 16 * WARP) {
        s.middle_whole[n] = at >= 0 && at + 16 <= bytes;
        whole = whole && s.middle_whole[n];
    }
    at = first * S::size + side_byte<S>(lane);
    s.side_from = source.in + at;
    keep(s.side_from);
    s.side_whole = at >= 0 && at + 16 <= bytes;
    whole = whole && s.side_whole && strip_slot(s, begin) >= 0 && strip_slot(s, end - 1) >= 0;
    strip_find_odd(s, source, first, lane);
    if (__all_sync(ALL_LANES, whole))
        return false;
    /* What no output needs is read all the same, and added to sums that nobody keeps. */
    for (int i = 16 * lane; i < S::bytes; i += 16 * WARP)
        *reinterpret_cast<uint4 *>(ring + i) = make_uint4(0, 0, 0, 0);
    __syncwarp();
    return true;
}

/* Copies 16 bytes, asynchronously. The whole line is wanted soon, if not by this warp then by the
 * one beside it: said so, memory is read once for it instead of sector by sector, which makes
 * float 3 x 3 and 5 x 5 masks 2 % faster on an H200. */
__device__ inline void copy_chunk(unsigned char *to, const unsigned char *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
#else
    __pipeline_memcpy_async(to, from, 16);
#endif
}

/* A chunk of the row in `slot`; `from` is where it is in slot 0. */
template <bool EDGE, typename S>
__device__ inline void strip_chunk(const S &s, bool whole, int32_t slot,
                                   const unsigned char *from, unsigned char *to)
{
    from += static_cast<uint64_t>(s.row) * static_cast<uint32_t>(slot);
    if (!EDGE || whole)
        copy_chunk(to, from);
}

/* The same where a row of the stage is fill. */
template <typename S>
__device__ inline void strip_fill(const S &s, bool whole, int32_t slot,
                                  const unsigned char *from, unsigned char *to)
{
    if (slot >= 0)
        strip_chunk<true>(s, whole, slot, from, to);
    else if (whole)
        *reinterpret_cast<uint4 *>(to) = make_uint4(s.fill, s.fill, s.fill, s.fill);
}

/* Copies the whole chunks of a stage. */
template <bool EDGE, bool FILL, typename S>
__device__ inline void strip_copy(const S &s, int to, int lane)
{
    constexpr auto chunk = FILL ? strip_fill<S> : strip_chunk<EDGE, S>;
    unsigned char *stage = s.copies + to;
    int side = side_row<S>(lane), side_slot = __shfl_sync(ALL_LANES, s.slots, side);

    GF_UNROLL
    for (int n = 0; n < S::rows; n += S::pass_rows) {
        int row = n + (S::pass_rows > 1 ? lane / S::middle : 0);
        int32_t slot = __shfl_sync(ALL_LANES, s.slots, row);
        GF_UNROLL
        for (int pass = 0; pass < S::row_passes; pass++)
            chunk(s, s.middle_whole[pass], slot, s.middle_from + pass * 16 * WARP,
                  stage + middle_byte<S>(lane) + row * S::pitch + pass * 16 * WARP);
    }
    if (side < S::rows)
        chunk(s, s.side_whole, side_slot, s.side_from,
              stage + ring_byte<S>(side_byte<S>(lane)) + side * S::pitch);
}

/* Asks for the odd samples of the stage at byte `to` of the ring. */
template <typename S> __device__ inline void strip_ask_odd(S &s, int to)
{
    s.odd_stage = to;
    GF_UNROLL
    for (int n = 0; n < S::rows; n++) {
        int32_t slot = __shfl_sync(ALL_LANES, s.slots, n);
        memcpy(&s.odd_sample[n], &s.fill, sizeof s.odd_sample[n]);
        if (slot >= 0 && s.odd_from != nullptr)
            s.odd_sample[n] = *reinterpret_cast<const typename S::sample *>(
                reinterpret_cast<const unsigned char *>(s.odd_from) +
                static_cast<uint64_t>(s.row) * static_cast<uint32_t>(slot));
    }
}

/* Puts the odd samples that were asked for last into their stage of the ring. */
template <typename S> __device__ inline void strip_flush_odd(const S &s)
{
    GF_UNROLL
    for (int n = 0; n < S::rows; n++)
        if (s.odd)
            *reinterpret_cast<typename S::sample *>(s.ring + s.odd_stage + s.odd_to +
                                                    n * S::pitch) = s.odd_sample[n];
}

/* Asks for rows [r, r + ROWS) to come into the stage at byte `to` of the ring; nothing after the
 * last row, except that the last stage is filled up with it. Conditions are votes, for then the
 * compiler knows that the warp stays together and keeps taps in uniform registers. */
template <bool EDGE, typename S>
__device__ inline void strip_bring(S &s, uint32_t r, int to, int lane)
{
    if (__any_sync(ALL_LANES, r < s.end)) {
        if (EDGE && __any_sync(ALL_LANES, lane < S::rows && s.slots < 0))
            strip_copy<EDGE, true>(s, to, lane);
        else
            strip_copy<EDGE, false>(s, to, lane);
        if (EDGE)
            strip_ask_odd(s, to);
        s.slots = strip_slot(s, r + S::rows + static_cast<uint32_t>(lane));
    }
    __pipeline_commit();
}

/* Calls step(row of the ring, r) for every r in [begin, end), in this order. */
template <bool EDGE, typename S, typename Step>
__device__ inline void strip_sweep(S &s, uint32_t begin, int lane, Step step)
{
    uint32_t asked = begin;
    int now = 0, to = 0;

    for (; to < S::bytes - S::stage_bytes; to += S::stage_bytes, asked += S::rows) {
        strip_bring<EDGE>(s, asked, to, lane);
        if (EDGE)
            strip_flush_odd(s);
    }
    for (uint32_t r = begin; r < s.end; r += S::rows, asked += S::rows) {
        if (EDGE)
            strip_flush_odd(s);
        __pipeline_wait_prior(S::stages - 2);
        __syncwarp(); /* what other lanes brought is there; the stage before this one is free */
        strip_bring<EDGE>(s, asked, to, lane);
        to = to + S::stage_bytes == S::bytes ? 0 : to + S::stage_bytes;
        uint32_t rows = min(s.end - r, static_cast<uint32_t>(S::rows));
        const unsigned char *row = s.ring + now;
        for (uint32_t n = 0; n < rows; n++, row += S::pitch)
            step(row, r + n);
        now = now + S::stage_bytes == S::bytes ? 0 : now + S::stage_bytes;
    }
}

}

#endif
