/* Kernels that march along z. A block owns a tile of output columns and rows and goes through
 * a range of planes; each input plane's part of the tile, halo included, is brought into shared
 * memory once, as words of the sums' type, while planes before it are computed. Blocks that are
 * neighbours along x and y are at the same z at about the same time, so that what they both
 * read comes from the L2 cache. */
#ifndef GPUFILT_CUDA_PLANE_CUH
#define GPUFILT_CUDA_PLANE_CUH

#include "chunk.h"
#include "launch.cuh"
#include "nearest.cuh"

#include <type_traits>

/* Keeps a 32-bit value or a pointer in its register, where the compiler would compute it again
 * in every turn. */
#ifdef GF_SIMT
#define GF_KEEP(value)
#define GF_KEEP_POINTER(value)
#else
#define GF_KEEP(value) asm volatile("" : "+r"(value))
#define GF_KEEP_POINTER(value) asm volatile("" : "+l"(value))
#endif

#ifdef __CUDACC__
#define GF_INLINE __host__ __device__ inline
#else
#define GF_INLINE inline
#endif

namespace GF_DEVICE {

constexpr unsigned ALL_LANES = 0xffffffffu;

/* What a kernel that marches is told. Offsets inside a plane fit into 32 bits. */
struct march {
    const char *in;
    char *out;
    size_t out_plane;               /* bytes */
    uint32_t in_plane, in_row, out_row;
    const int32_t *row_slot, *plane_slot;
    int32_t width, out_width;
    uint32_t rows, planes;          /* outputs of the chunk */
    uint32_t range;                 /* output planes of a block */
    uint32_t tiles_x, tiles_y;
    int32_t taps[3];
    bool skips[3];                  /* separable: the axis has no pass */
    int32_t first_in;               /* input column of the first tile's column 0 */
    int32_t first_out;              /* output column of the first tile's first output; at most 0 */
    gf_border border;
    uint32_t bytes;                 /* of a sample */
    uint32_t flip;                  /* the sign bit of every sample of a word, where it has one */
    int32_t bias;                   /* what the flip adds to a sample */
    float fill;
    struct nearest nearest;         /* for integer types */
    unsigned long long *counts;
};

/* Words in front of the first tap, so that the centre of `taps` taps is on a multiple of
 * `align`. */
GF_INLINE constexpr int lead_of(int taps, int align)
{
    return (align - taps / 2 % align) % align;
}

/* A tile of TX by TY outputs under kx by ky taps, as it lies in shared memory; K taps along
 * both where K is not 0. Column lead() is under the first tap of the first output: with a centred
 * mask and no shift, column 0 is then a multiple of ALIGN of the image. Rows are copied in
 * chunks of 4 samples; an ALIGN of 8 makes whole sectors of the L2 cache of floats. The pitch is
 * 4 modulo 8, so that lanes 8 words apart in two neighbouring rows meet in no bank. There is
 * room for a multiple of ROUND rows. */
template <int K, int TX_, int TY_, int THREADS_, int MOST, int ALIGN_, int ROUND = 1>
struct tile_shape {
    static constexpr int TX = TX_, TY = TY_, THREADS = THREADS_, ALIGN = ALIGN_;
    int32_t x_taps, y_taps; /* where K is 0 */

    GF_INLINE int kx() const { return K > 0 ? K : x_taps; }
    GF_INLINE int ky() const { return K > 0 ? K : y_taps; }
    GF_INLINE int lead() const { return lead_of(kx(), ALIGN); }
    GF_INLINE int rows() const { return TY + ky() - 1; }
    GF_INLINE int columns() const { return (lead() + TX + kx() - 1 + 3) / 4 * 4; }
    GF_INLINE int pitch() const { return columns() % 8 == 4 ? columns() : columns() + 4; }
    GF_INLINE int held() const { return (rows() + ROUND - 1) / ROUND * ROUND; }
    GF_INLINE int words() const { return held() * pitch(); }
    /* Threads copy one chunk of copied() rows at a time, at most EACH times. */
    GF_INLINE int chunks() const { return columns() / 4; }
    GF_INLINE int copied() const { return THREADS / chunks(); }
    static constexpr int WIDEST = (ALIGN - 1 + TX + MOST - 1 + 3) / 4, TALLEST = TY + MOST - 1;
    static constexpr int EACH = (TALLEST + THREADS / WIDEST - 1) / (THREADS / WIDEST);
    /* What find_copies needs, and the three counters of clipped samples. */
    GF_INLINE int edge_words() const { return (rows() + columns() + 3) / 4 * 4; }
    static constexpr int COUNTERS = 4;
};

/* Where a block's tile lies. */
struct tile_place {
    int32_t in_x, x;        /* input column of the tile's column 0; output column of its first */
    uint32_t y, z, planes;  /* first output row and plane in the chunk; output planes */
};

__device__ inline struct tile_place place_of_block(const struct march &m, int tx, int ty)
{
    struct tile_place t;
    uint32_t column = blockIdx.x % m.tiles_x, rest = blockIdx.x / m.tiles_x;

    t.in_x = m.first_in + static_cast<int32_t>(column) * tx;
    t.x = m.first_out + static_cast<int32_t>(column) * tx;
    t.y = rest % m.tiles_y * static_cast<uint32_t>(ty);
    t.z = rest / m.tiles_y * m.range;
    t.planes = m.planes - t.z < m.range ? m.planes - t.z : m.range;
    return t;
}

/* A byte offset that is none: nothing is to be copied, `fill` stays. */
constexpr uint32_t NOWHERE = UINT32_MAX;

/* What a block copies of every plane. Columns [0, left) and [right, end) of the tile are not
 * copied in whole chunks, because the row begins or ends there; columns from `end` on are under
 * no output. */
struct tile_copies {
    const uint32_t *row_from;       /* shared, one a row of the tile: offset in the plane */
    const uint32_t *column_from;    /* shared, one an edge column: offset in the row */
    int32_t left, right, columns;   /* columns: of the edges */
    int32_t shift;                  /* lanes of an edge row are 2^shift */
};

/* A thread's chunks: the first's word in the tile, the others are copied() rows apart; their
 * offsets in a plane. */
template <class S> struct chunk_places {
    int32_t to;
    uint32_t from[S::EACH];
};

__device__ inline int32_t clamped(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Fills the two tables in `words`; a barrier must follow. */
template <class S>
__device__ inline void find_copies(const struct march &m, const S &s, const struct tile_place &t,
                                   uint32_t *words, struct tile_copies &c)
{
    int32_t thread = static_cast<int32_t>(threadIdx.x), rows = s.rows();
    int32_t end = clamped(s.lead() + m.out_width - t.x + s.kx() - 1, 0, s.columns());
    int32_t needed = clamped(static_cast<int32_t>(m.rows - t.y), 0, S::TY) + s.ky() - 1;
    uint32_t *row_from = words, *column_from = words + rows;

    c.left = clamped(-t.in_x, 0, end);
    c.right = clamped((m.width - t.in_x) / 4 * 4, c.left, end);
    c.columns = c.left + end - c.right;
    c.shift = 0;
    while (1 << c.shift < c.columns)
        c.shift++;
    for (int32_t r = thread; r < rows; r += S::THREADS) {
        int32_t slot = r < needed ? m.row_slot[t.y + static_cast<uint32_t>(r)] : -1;
        row_from[r] = slot < 0 ? NOWHERE : static_cast<uint32_t>(slot) * m.in_row;
    }
    for (int32_t i = thread; i < c.columns; i += S::THREADS) {
        int64_t x = t.in_x + (i < c.left ? i : i - c.left + c.right);
        x = gf_border_index(m.border, x, m.width);
        column_from[i] = x < 0 ? NOWHERE : static_cast<uint32_t>(x) * m.bytes;
    }
    c.row_from = row_from;
    c.column_from = column_from;
}

/* After that barrier. */
template <class S>
__device__ inline void find_places(const struct march &m, const S &s, const struct tile_place &t,
                                   const struct tile_copies &c, struct chunk_places<S> &places)
{
    int32_t thread = static_cast<int32_t>(threadIdx.x);
    int32_t row = thread / s.chunks(), column = thread % s.chunks() * 4;
    bool copies = row < s.copied() && column >= c.left && column < c.right;

    places.to = row * s.pitch() + column;
    GF_UNROLL for (int n = 0; n < S::EACH; n++) {
        int32_t r = row + n * s.copied();
        uint32_t from = copies && r < s.rows() ? c.row_from[r] : NOWHERE;
        if (from != NOWHERE)
            from += static_cast<uint32_t>(t.in_x + column) * m.bytes;
        places.from[n] = from;
    }
}

template <typename W> struct four_words;
template <> struct four_words<float> {
    using type = float4;
};
template <> struct four_words<int32_t> {
    using type = int4;
};

template <typename W> __device__ inline void store_words(W *to, W a, W b, W c, W d)
{
    typename four_words<W>::type v = {a, b, c, d};
    *reinterpret_cast<typename four_words<W>::type *>(to) = v;
}

template <typename W> __device__ inline void load_words(const W *from, W *words)
{
    typename four_words<W>::type v = *reinterpret_cast<const typename four_words<W>::type *>(from);
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
}

/* What stands where nothing is copied, ever. */
template <class S, typename W>
__device__ inline void fill_tile(const struct march &m, const S &s, W *tile)
{
    W fill = static_cast<W>(m.fill);
    for (int i = static_cast<int>(threadIdx.x) * 4; i < s.words(); i += S::THREADS * 4)
        store_words(tile + i, fill, fill, fill, fill);
}

/* Samples by their size, one and four of them; those of 4 bytes are floats. */
template <int BYTES> struct sized;
template <> struct sized<1> {
    using type = uint8_t;
    using four = uint32_t;
};
template <> struct sized<2> {
    using type = uint16_t;
    using four = uint2;
};
template <> struct sized<4> {
    using type = uint32_t;
    using four = uint4;
};

constexpr uint32_t QUIET_NAN = 0x7fc00000u; /* the one NaN that is stored */

/* An integer sample as a word. As a float: 2^23 + v has the bits 0x4b000000 + v, and subtracting
 * 2^23, and what the flip of the sign bit added, is exact. */
constexpr unsigned TWO_23 = 0x4b000000u;
template <typename W> constexpr unsigned word_bits = std::is_same_v<W, float> ? TWO_23 : 0;

__device__ inline void to_word(const struct march &m, unsigned bits, float *word)
{
    *word = __uint_as_float(bits) - (8388608.0f + static_cast<float>(m.bias));
}
__device__ inline void to_word(const struct march &m, unsigned bits, int32_t *word)
{
    *word = static_cast<int32_t>(bits) - m.bias;
}

template <typename W, typename T> __device__ inline W word_of(const struct march &m, T sample)
{
    W word;
    to_word(m, word_bits<W> | static_cast<T>(sample ^ m.flip), &word);
    return word;
}

template <typename W>
__device__ inline void convert_four(const struct march &m, uint32_t bits, W *to)
{
    constexpr unsigned high = word_bits<W>;
    unsigned a = bits ^ m.flip;
    W w[4];

    to_word(m, __byte_perm(a, high, 0x7440), &w[0]);
    to_word(m, __byte_perm(a, high, 0x7441), &w[1]);
    to_word(m, __byte_perm(a, high, 0x7442), &w[2]);
    to_word(m, __byte_perm(a, high, 0x7443), &w[3]);
    store_words(to, w[0], w[1], w[2], w[3]);
}

template <typename W>
__device__ inline void convert_four(const struct march &m, uint2 bits, W *to)
{
    constexpr unsigned high = word_bits<W>;
    unsigned a = bits.x ^ m.flip, b = bits.y ^ m.flip;
    W w[4];

    to_word(m, __byte_perm(a, high, 0x7410), &w[0]);
    to_word(m, __byte_perm(a, high, 0x7432), &w[1]);
    to_word(m, __byte_perm(b, high, 0x7410), &w[2]);
    to_word(m, __byte_perm(b, high, 0x7432), &w[3]);
    store_words(to, w[0], w[1], w[2], w[3]);
}

/* A thread's edge sample in row `r`: its offset in the plane, or NOWHERE; its word in the tile. */
template <class S>
__device__ inline uint32_t edge_sample(const S &s, const struct tile_copies &c, int32_t r,
                                       int32_t *to)
{
    int32_t n = static_cast<int32_t>(threadIdx.x) & ((1 << c.shift) - 1);
    uint32_t row, column;

    if (n >= c.columns || r >= s.rows())
        return NOWHERE;
    row = c.row_from[r];
    column = c.column_from[n];
    *to = r * s.pitch() + (n < c.left ? n : n - c.left + c.right);
    return row == NOWHERE || column == NOWHERE ? NOWHERE : row + column;
}

/* The slots of a block's input planes, which a warp reads 32 at a time. Most are one more than
 * the one before; then they are counted. */
struct plane_slots {
    const int32_t *slots;
    int32_t count;          /* of the planes */
    int32_t read, first;    /* of 32: this lane's, lane 0's */
    bool counted;

    /* Planes are asked for in rising order from 0 on; those after the last are the last. */
    __device__ int32_t at(int32_t plane)
    {
        if ((plane & 31) == 0) {
            int32_t lane = static_cast<int32_t>(threadIdx.x) % 32, n = plane + lane;
            read = slots[n < count ? n : count - 1];
            first = __shfl_sync(ALL_LANES, read, 0);
            counted = __all_sync(ALL_LANES, first >= 0 && read == first + lane);
        }
        int32_t n = plane & 31;
        return counted ? first + n : __shfl_sync(ALL_LANES, read, n);
    }
};

/* A plane on its way into a tile that holds `fill` where nothing is copied. Samples of 4 bytes
 * are floats and are copied asynchronously by begin(); the caller commits and waits. Integer
 * samples are read by begin(), kept in registers, and written by end(). */
template <class S, int BYTES, typename W> struct plane_copy {
    using sample = typename sized<BYTES>::type;
    using four = typename sized<BYTES>::four;
    four fours[BYTES == 4 ? 1 : S::EACH];
    sample edge;                    /* in the thread's first row of edges */
    const char *plane;

    __device__ void begin(const struct march &m, const S &s, const struct tile_copies &c,
                          const struct chunk_places<S> &places, int32_t slot, W *tile)
    {
        const char *chunk[S::EACH];
        W *to = tile + places.to;

        plane = nullptr;
        if (slot < 0) {
            fill_tile(m, s, tile);
            return;
        }
        plane = m.in + static_cast<uint64_t>(m.in_plane) * static_cast<uint32_t>(slot);
        GF_KEEP_POINTER(plane);
        GF_UNROLL for (int n = 0; n < S::EACH; n++)
            chunk[n] = plane + places.from[n];
        GF_UNROLL for (int n = 0; n < S::EACH; n++) {
            if (places.from[n] == NOWHERE)
                continue;
            if constexpr (BYTES == 4)
                __pipeline_memcpy_async(to + n * s.copied() * s.pitch(), chunk[n], 16);
            else
                fours[n] = __ldg(reinterpret_cast<const four *>(chunk[n]));
        }
        if (c.columns > 0)
            begin_edges(s, c, tile);
    }

    __device__ void begin_edges(const S &s, const struct tile_copies &c, W *tile)
    {
        int32_t first = static_cast<int32_t>(threadIdx.x) >> c.shift, to = 0;

        if constexpr (BYTES == 4) {
            for (int32_t r = first; r < s.rows(); r += S::THREADS >> c.shift) {
                uint32_t from = edge_sample(s, c, r, &to);
                if (from != NOWHERE)
                    __pipeline_memcpy_async(tile + to, plane + from, 4);
            }
        } else {
            uint32_t from = edge_sample(s, c, first, &to);
            edge = 0;
            if (from != NOWHERE)
                edge = __ldg(reinterpret_cast<const sample *>(plane + from));
        }
    }

    __device__ void end(const struct march &m, const S &s, const struct tile_copies &c,
                        const struct chunk_places<S> &places, W *tile)
    {
        if constexpr (BYTES != 4) {
            if (plane == nullptr)
                return;
            GF_UNROLL for (int n = 0; n < S::EACH; n++)
                if (places.from[n] != NOWHERE)
                    convert_four(m, fours[n], tile + places.to + n * s.copied() * s.pitch());
            if (c.columns > 0)
                end_edges(m, s, c, tile);
        }
    }

    __device__ void end_edges(const struct march &m, const S &s, const struct tile_copies &c,
                              W *tile)
    {
        int32_t first = static_cast<int32_t>(threadIdx.x) >> c.shift, to = 0;
        uint32_t from = edge_sample(s, c, first, &to);

        if (from != NOWHERE)
            tile[to] = word_of<W>(m, edge);
        for (int32_t r = first + (S::THREADS >> c.shift); r < s.rows();
             r += S::THREADS >> c.shift) {
            from = edge_sample(s, c, r, &to);
            if (from != NOWHERE)
                tile[to] = word_of<W>(m, __ldg(reinterpret_cast<const sample *>(plane + from)));
        }
    }
};

/* After the last plane: the block's counters go to the device's. */
__device__ inline void add_clipped(const struct march &m, const uint32_t *clipped)
{
    __syncthreads();
    if (threadIdx.x < 3 && clipped[threadIdx.x] > 0)
        atomicAdd(&m.counts[threadIdx.x], static_cast<unsigned long long>(clipped[threadIdx.x]));
}

/* ---- host ---- */

/* Whether the kernels can take it as far as they are alike: one channel, a type that they load,
 * a border that tiles can hold, offsets that fit. */
bool marches(const struct gf_plan *plan, bool aligned);

/* How a kernel cuts a chunk; `longest`: the most planes of a block. */
struct cut {
    uint32_t tx, ty, lead, align, longest;
};

/* Everything but `nearest`; `resident` blocks run at once. */
struct march march_of(const struct gf_plan *plan, const struct gf_chunk *chunk,
                      const struct cut &cut, uint32_t resident);

/* Whether tiles `tx` wide cover an output row with little left over. */
bool march_covers(const struct gf_plan *plan, uint32_t tx);

/* Blocks of a kernel that run at once on the current device. */
template <typename Kernel>
cudaError_t march_resident(Kernel *kernel, int threads, size_t shared, uint32_t *resident)
{
    int device, processors = 1, blocks = 1;
    cudaError_t status = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));

    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
    *resident = static_cast<uint32_t>(processors * (blocks > 0 ? blocks : 1));
    return status;
}

/* The largest absolute value of the exact sums after the first `axes` passes. */
double march_bound(const struct gf_plan *plan, int axes);

/* Integers up to this are floats. */
constexpr double EXACT_IN_FLOAT = 16777216;

/* What kernels are made for: the samples' bytes, 4 for floats, and the type of the sums. */
enum kind { FLOATS, BYTES, SHORTS, BYTES_INTEGER, SHORTS_INTEGER, KINDS };

inline bool integer_kind(enum kind k) { return k == BYTES_INTEGER || k == SHORTS_INTEGER; }

/* The kind of a plan that marches; KINDS for none. */
enum kind kind_of(const struct gf_plan *plan);
uint64_t march_blocks(const struct march &m);

}

#endif
