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

/* Keeps a value in its register, where the compiler would compute it again in every turn. */
#ifdef GF_SIMT
#define GF_KEEP(value)
#else
#define GF_KEEP(value) asm volatile("" : "+r"(value))
#endif

#ifdef __CUDACC__
#define GF_INLINE __host__ __device__ inline
#else
#define GF_INLINE inline
#endif

namespace GF_DEVICE {

/* What a kernel that marches is told. Offsets inside a plane fit into 32 bits. */
struct march {
    const char *in;
    char *out;
    size_t in_plane, out_plane;     /* bytes */
    uint32_t in_row, out_row;
    const int32_t *row_slot, *plane_slot;
    int32_t width, out_width;
    uint32_t rows, planes;          /* outputs of the chunk */
    uint32_t range;                 /* output planes of a block */
    uint32_t tiles_x, tiles_y;
    int32_t taps[3];
    bool skips[3];                  /* separable: the axis has no pass */
    int32_t lead;                   /* see tile_shape */
    int32_t first_in;               /* input column of the first tile's column 0; a multiple of 4 */
    int32_t first_out;              /* output column of the first tile's first output, -3 .. 0 */
    gf_border border;
    uint32_t bytes;                 /* of a sample: 1, 2, 4 */
    uint32_t flip;                  /* the sign bit of every sample of a word, where it has one */
    int32_t bias;                   /* what the flip adds to a sample */
    float fill;
    struct nearest nearest;         /* for integer types */
    unsigned long long *counts;
};

/* A tile of TX by TY outputs under kx by ky taps, as it lies in shared memory; K taps along
 * both where K is not 0. Column `lead` is under the first tap of the first output: with a
 * centred mask and no shift, column 0 is then a multiple of 4 of the image, and rows are copied
 * in chunks of 4 samples. The pitch is 4 modulo 8, so that lanes 8 words apart in two
 * neighbouring rows meet in no bank. */
template <int K, int TX_, int TY_, int THREADS_, int MOST> struct tile_shape {
    static constexpr int TX = TX_, TY = TY_, THREADS = THREADS_;
    int32_t x_taps, y_taps, first_tap;

    GF_INLINE int kx() const { return K > 0 ? K : x_taps; }
    GF_INLINE int ky() const { return K > 0 ? K : y_taps; }
    GF_INLINE int lead() const { return K > 0 ? (4 - K / 2 % 4) % 4 : first_tap; }
    GF_INLINE int rows() const { return TY + ky() - 1; }
    GF_INLINE int columns() const { return (lead() + TX + kx() - 1 + 3) / 4 * 4; }
    GF_INLINE int pitch() const { return columns() % 8 == 4 ? columns() : columns() + 4; }
    GF_INLINE int words() const { return rows() * pitch(); }
    /* Threads copy one chunk of copied() rows at a time, at most EACH times. */
    GF_INLINE int chunks() const { return columns() / 4; }
    GF_INLINE int copied() const { return THREADS / chunks(); }
    static constexpr int WIDEST = (3 + TX + MOST - 1 + 3) / 4, TALLEST = TY + MOST - 1;
    static constexpr int EACH = (TALLEST + THREADS / WIDEST - 1) / (THREADS / WIDEST);
    /* What find_edges needs. */
    GF_INLINE int edge_words() const { return (rows() + columns() + 3) / 4 * 4; }
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

/* What a block, and a thread in it, copies of every plane. Columns [0, left) and [right, end)
 * of the tile are not copied in whole chunks, because the row begins or ends there; columns from
 * `end` on are under no output. */
struct tile_copies {
    const uint32_t *row_from;       /* shared, one a row of the tile: offset in the plane */
    const uint32_t *column_from;    /* shared, one an edge column: offset in the row */
    int32_t left, right, columns;   /* columns: of the edges */
    int32_t shift;                  /* lanes of an edge row are 2^shift */
    int32_t row, to;                /* the thread's first chunk: row, or beyond all; first word */
    uint32_t from;                  /* its offset in the row */
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
    int32_t column = thread % s.chunks() * 4;
    c.row = thread / s.chunks();
    c.to = c.row * s.pitch() + column;
    c.from = static_cast<uint32_t>(t.in_x + column) * m.bytes;
    if (c.row >= s.copied() || column < c.left || column >= c.right)
        c.row = rows;
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

__device__ inline unsigned read_sample(const struct march &m, const char *from)
{
    return m.bytes == 1 ? *reinterpret_cast<const uint8_t *>(from)
                        : *reinterpret_cast<const uint16_t *>(from);
}

template <typename W> __device__ inline W word_of(const struct march &m, unsigned sample)
{
    W word;
    to_word(m, word_bits<W> | (sample ^ (m.bytes == 1 ? m.flip & 0xff : m.flip & 0xffff)), &word);
    return word;
}

template <typename W>
__device__ inline void convert_four(const struct march &m, uint2 bits, W *to)
{
    constexpr unsigned high = word_bits<W>;
    unsigned a = bits.x ^ m.flip, b = bits.y ^ m.flip, v[4];
    W w[4];

    if (m.bytes == 1) {
        v[0] = __byte_perm(a, high, 0x7440);
        v[1] = __byte_perm(a, high, 0x7441);
        v[2] = __byte_perm(a, high, 0x7442);
        v[3] = __byte_perm(a, high, 0x7443);
    } else {
        v[0] = __byte_perm(a, high, 0x7410);
        v[1] = __byte_perm(a, high, 0x7432);
        v[2] = __byte_perm(b, high, 0x7410);
        v[3] = __byte_perm(b, high, 0x7432);
    }
    GF_UNROLL for (int i = 0; i < 4; i++)
        to_word(m, v[i], &w[i]);
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

/* A plane on its way into a tile that holds `fill` where nothing is copied. Float samples are
 * copied asynchronously by begin(); the caller commits and waits. Integer samples are read by
 * begin(), kept in registers, and written by end(). */
template <class S, bool FLOATS, typename W> struct plane_copy {
    uint2 bits[FLOATS ? 1 : S::EACH];
    unsigned edge;                  /* of the thread's first row of edges */
    const char *plane;

    __device__ void begin(const struct march &m, const S &s, const struct tile_copies &c,
                          int32_t slot, W *tile)
    {
        int32_t thread = static_cast<int32_t>(threadIdx.x);

        plane = slot < 0 ? nullptr : m.in + static_cast<size_t>(slot) * m.in_plane;
        if (slot < 0) {
            fill_tile(m, s, tile);
            return;
        }
        GF_UNROLL for (int n = 0; n < S::EACH; n++) {
            int32_t row = c.row + n * s.copied();
            uint32_t from = row < s.rows() ? c.row_from[row] : NOWHERE;
            const char *chunk = plane + (c.from + from);
            if (from == NOWHERE)
                continue;
            if constexpr (FLOATS)
                __pipeline_memcpy_async(tile + c.to + n * s.copied() * s.pitch(), chunk, 16);
            else if (m.bytes == 1)
                bits[n].x = *reinterpret_cast<const uint32_t *>(chunk);
            else
                bits[n] = *reinterpret_cast<const uint2 *>(chunk);
        }
        if (c.columns == 0)
            return;
        for (int32_t r = thread >> c.shift; r < s.rows(); r += S::THREADS >> c.shift) {
            int32_t to = 0;
            uint32_t from = edge_sample(s, c, r, &to);
            if constexpr (FLOATS) {
                if (from != NOWHERE)
                    __pipeline_memcpy_async(tile + to, plane + from, 4);
            } else {
                edge = from == NOWHERE ? 0 : read_sample(m, plane + from);
                break;
            }
        }
    }

    __device__ void end(const struct march &m, const S &s, const struct tile_copies &c, W *tile)
    {
        if constexpr (!FLOATS) {
            int32_t first = static_cast<int32_t>(threadIdx.x) >> c.shift;

            if (plane == nullptr)
                return;
            GF_UNROLL for (int n = 0; n < S::EACH; n++) {
                int32_t row = c.row + n * s.copied();
                if (row < s.rows() && c.row_from[row] != NOWHERE)
                    convert_four(m, bits[n], tile + c.to + n * s.copied() * s.pitch());
            }
            if (c.columns == 0)
                return;
            for (int32_t r = first; r < s.rows(); r += S::THREADS >> c.shift) {
                int32_t to = 0;
                uint32_t from = edge_sample(s, c, r, &to);
                if (from != NOWHERE)
                    tile[to] = word_of<W>(m, r == first ? edge : read_sample(m, plane + from));
            }
        }
    }
};

/* ---- host ---- */

/* Whether the kernels can take it as far as they are alike: one channel, a type that they load,
 * a border that tiles can hold, offsets that fit. */
bool marches(const struct gf_plan *plan, bool aligned);

/* Everything but `nearest`, for tiles of tx by ty; `resident` blocks run at once. */
struct march march_of(const struct gf_plan *plan, const struct gf_chunk *chunk, uint32_t tx,
                      uint32_t ty, int lead, uint32_t resident);
/* Blocks of a kernel that run at once on the current device. */
template <typename Kernel>
cudaError_t march_resident(Kernel *kernel, int threads, size_t shared, uint32_t *resident)
{
    int device, processors = 1, blocks = 1;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
    *resident = static_cast<uint32_t>(processors * (blocks > 0 ? blocks : 1));
    return status;
}

/* The largest absolute value of the exact sums after the first `axes` passes. */
double march_bound(const struct gf_plan *plan, int axes);
uint64_t march_blocks(const struct march &m);

}

#endif
