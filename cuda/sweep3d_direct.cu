/* Direct cubic masks over volumes in one pass over memory: what a plane adds to the sums of
 * all the output planes that it is in is added when it is there, so that every sum waits in a
 * register for the planes to come. */
#include "family.h"
#include "plane.cuh"

namespace GF_DEVICE {
namespace {

constexpr int MOST = 7;     /* taps along an axis */
constexpr int VX = 4;       /* outputs of a thread side by side */

__constant__ float float_taps[MOST * MOST * MOST];
__constant__ int32_t integer_taps[MOST * MOST * MOST];

template <typename A> __device__ inline A tap_at(int i)
{
    if constexpr (std::is_same_v<A, float>)
        return float_taps[i];
    else
        return integer_taps[i];
}

/* How a kernel is built for K taps along every axis; a thread computes VX by VY outputs. */
template <int K_, int TX_, int VY_, int THREADS_, int STAGES_, int BLOCKS_, int ALIGN>
struct cube_build {
    static constexpr int K = K_, TX = TX_, VY = VY_, THREADS = THREADS_;
    static constexpr int STAGES = STAGES_, BLOCKS = BLOCKS_;
    static constexpr int TY = THREADS / (TX / VX) * VY;
    using shape = tile_shape<K, TX, TY, THREADS, K, ALIGN>;
};

/* Adds a plane to K sums of each output. `tile` is the first word of the window of the
 * thread's first output. Sum k - 1 becomes sum k with the plane's first tap, so that none is moved
 * for that; the last one is complete. */
template <class B, typename A>
__device__ inline void add_plane(const A *tile, A (&sum)[B::K][B::VY][VX])
{
    constexpr int K = B::K, LEAD = lead_of(K, 4), QUADS = (LEAD + VX + K - 1 + 3) / 4;
    typename B::shape s = {};

    GF_UNROLL for (int r = 0; r < B::VY + K - 1; r++) {
        A w[QUADS * 4];
        GF_UNROLL for (int q = 0; q < QUADS; q++)
            load_words(tile + r * s.pitch() + q * 4, &w[4 * q]);
        GF_UNROLL for (int v = 0; v < B::VY; v++) {
            int j = r - v;
            if (j < 0 || j >= K)
                continue;
            GF_UNROLL for (int i = 0; i < K; i++)
                GF_UNROLL for (int k = K - 1; k >= 0; k--)
                    GF_UNROLL for (int x = 0; x < VX; x++) {
                        A before = i > 0 || j > 0 ? sum[k][v][x]
                                   : k > 0        ? sum[k > 0 ? k - 1 : 0][v][x]
                                                  : 0;
                        sum[k][v][x] = multiply_add(tap_at<A>((k * K + j) * K + i),
                                                    w[LEAD + x + i], before);
                    }
        }
    }
}

/* Which of a thread's outputs side by side are in the output, a bit each; `together` if all
 * are, on a boundary of their size. */
struct row_part {
    uint32_t inside;
    bool together;
};

/* Nothing is compared that was clamped before: ptxas 13.0 takes clamped(v, 0, N) == N for true
 * where v is 0 (VIMNMX.RELU on compute capability 9.0). */
__device__ inline struct row_part part_of(const struct march &m, int32_t x)
{
    struct row_part p = {0, x >= 0 && x % VX == 0 && x + VX <= m.out_width};

    GF_UNROLL for (int i = 0; i < VX; i++)
        p.inside |= (x + i >= 0 && x + i < m.out_width ? 1u : 0u) << i;
    return p;
}

__device__ inline void pack(const uint32_t (&bits)[VX], uint32_t *four)
{
    *four = __byte_perm(__byte_perm(bits[0], bits[1], 0x0040),
                        __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
}
__device__ inline void pack(const uint32_t (&bits)[VX], uint2 *four)
{
    *four = make_uint2(__byte_perm(bits[0], bits[1], 0x5410),
                       __byte_perm(bits[2], bits[3], 0x5410));
}
__device__ inline void pack(const uint32_t (&bits)[VX], uint4 *four)
{
    *four = make_uint4(bits[0], bits[1], bits[2], bits[3]);
}

template <int BYTES, typename A>
__device__ inline void store_sums(const struct march &m, char *to, const A (&sum)[VX],
                                  const struct row_part &p, uint32_t *clipped)
{
    using sample = typename sized<BYTES>::type;
    using four = typename sized<BYTES>::four;
    uint32_t bits[VX];

    if constexpr (BYTES == 4) {
        GF_UNROLL for (int x = 0; x < VX; x++)
            bits[x] = sum[x] != sum[x] ? QUIET_NAN : __float_as_uint(sum[x]);
    } else {
        nearest_samples(m.nearest, sum, bits, p.inside, clipped);
    }
    if (p.together) {
        four packed;
        pack(bits, &packed);
        *reinterpret_cast<four *>(to) = packed;
    } else {
        GF_UNROLL for (int x = 0; x < VX; x++)
            if (p.inside >> x & 1)
                reinterpret_cast<sample *>(to)[x] = static_cast<sample>(bits[x]);
    }
}

template <class B> GF_INLINE size_t shared_words()
{
    typename B::shape s = {};
    return static_cast<size_t>(B::STAGES * s.words() + s.edge_words() + s.COUNTERS);
}

template <int BYTES, typename A, class B>
__global__ __launch_bounds__(B::THREADS, B::BLOCKS) void direct_kernel(const march m)
{
    constexpr int K = B::K, VY = B::VY, STAGES = B::STAGES, ACROSS = B::TX / VX;
    typename B::shape s = {};
    struct tile_place t = place_of_block(m, B::TX, B::TY);
    int words = s.words();
    A *tiles = shared_memory<A>();
    struct tile_copies copies;
    struct chunk_places<typename B::shape> places;
    struct plane_copy<typename B::shape, BYTES, A> copy = {};
    int32_t in_planes = static_cast<int32_t>(t.planes) + K - 1;
    int column = static_cast<int>(threadIdx.x) % ACROSS * VX;
    int row = static_cast<int>(threadIdx.x) / ACROSS * VY;
    int32_t read = row * s.pitch() + column + s.lead() / 4 * 4, x = t.x + column;
    struct row_part part = part_of(m, x);
    int32_t rows = static_cast<int32_t>(m.rows - t.y) - row; /* from the thread's first on */
    char *out = m.out + t.z * m.out_plane +
                (t.y + static_cast<uint32_t>(row)) * static_cast<size_t>(m.out_row) +
                static_cast<ptrdiff_t>(x) * BYTES;
    struct plane_slots slots = {m.plane_slot + t.z, in_planes, 0, 0, false};
    uint32_t *tables = reinterpret_cast<uint32_t *>(tiles + STAGES * words);
    uint32_t *clipped = tables + s.edge_words();
    A sum[K][VY][VX];

    GF_KEEP(read);
    find_copies(m, s, t, tables, copies);
    if (threadIdx.x < 3)
        clipped[threadIdx.x] = 0;
    for (int n = 0; n < STAGES; n++)
        fill_tile(m, s, tiles + n * words);
    __syncthreads();
    find_places(m, s, t, copies, places);
    GF_UNROLL for (int n = 0; n < STAGES - 1; n++) {
        copy.begin(m, s, copies, places, slots.at(n), tiles + n * words);
        copy.end(m, s, copies, places, tiles + n * words);
        __pipeline_commit();
    }
    GF_UNROLL for (int k = 0; k < K; k++)
        GF_UNROLL for (int v = 0; v < VY; v++)
            GF_UNROLL for (int i = 0; i < VX; i++)
                sum[k][v][i] = 0;

    int stage = 0, last = STAGES - 1;
    int32_t slot = slots.at(STAGES - 1);
    for (int32_t p = 0; p < in_planes; p++) {
        A *next = tiles + last * words;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        copy.begin(m, s, copies, places, slot, next);
        __pipeline_commit();
        slot = slots.at(p + STAGES);
        add_plane<B, A>(tiles + stage * words + read, sum);
        if (p >= K - 1) {
            char *to = out;
            GF_UNROLL for (int v = 0; v < VY; v++, to += m.out_row)
                if (v < rows)
                    store_sums<BYTES, A>(m, to, sum[K - 1][v], part, clipped);
            out += m.out_plane;
        }
        copy.end(m, s, copies, places, next);
        last = stage;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    __pipeline_wait_prior(0); /* a copy must not outlive the shared memory it goes to */
    if (BYTES != 4 && m.nearest.clips)
        add_clipped(m, clipped);
}

/* ---- host ---- */

template <int SIZE, typename A, class B>
cudaError_t launch_build(const struct gf_plan *plan, const struct gf_chunk *chunk,
                         cudaStream_t stream)
{
    typename B::shape s = {};
    size_t shared = shared_words<B>() * sizeof(A);
    uint32_t resident;
    cudaError_t status = march_resident(direct_kernel<SIZE, A, B>, B::THREADS, shared, &resident);

    if (status != cudaSuccess)
        return status;
    struct cut cut = {B::TX, B::TY, static_cast<uint32_t>(s.lead()), B::shape::ALIGN,
                      B::K == 3 ? 128 : UINT32_MAX};
    struct march m = march_of(plan, chunk, cut, resident);
    if (SIZE != 4)
        nearest_of(plan, std::is_same_v<A, float>, &m.nearest);
    return launch(direct_kernel<SIZE, A, B>, dim3(static_cast<unsigned>(march_blocks(m))),
                  dim3(B::THREADS), shared, stream, m);
}

/* A build with its kernels, one a kind, NULL for those that it is not for. */
struct choice {
    uint32_t taps, tx;
    cudaError_t (*launch[KINDS])(const struct gf_plan *, const struct gf_chunk *, cudaStream_t);
};

template <int... P> constexpr struct choice for_floats()
{
    using B = cube_build<P...>;
    return {B::K, B::TX, {launch_build<4, float, B>, nullptr, nullptr, nullptr, nullptr}};
}

template <int... P> constexpr struct choice for_integers()
{
    using B = cube_build<P...>;
    return {B::K, B::TX, {nullptr, launch_build<1, float, B>, launch_build<2, float, B>,
                          launch_build<1, int32_t, B>, launch_build<2, int32_t, B>}};
}

/* The first that fits is taken. Measured on an H200; the parameters are cube_build's. */
const struct choice choices[] = {
    for_floats<3, 256, 4, 256, 2, 2, 8>(),
    for_floats<3, 128, 4, 256, 2, 2, 8>(),
    for_integers<3, 128, 4, 256, 2, 2, 4>(),
    for_floats<5, 64, 2, 128, 2, 5, 8>(),
    for_integers<5, 64, 2, 256, 2, 3, 4>(),
    for_floats<7, 64, 1, 256, 2, 3, 8>(),
    for_integers<7, 64, 1, 256, 2, 2, 4>(),
};
constexpr uint32_t WIDE = 256; /* a tile for rows that it covers well */

const struct choice *choice_of(const struct gf_plan *plan)
{
    const uint32_t *size = plan->size;
    enum kind kind = kind_of(plan);

    for (size_t i = 0; i < GF_COUNT(choices) && kind != KINDS; i++) {
        const struct choice *c = &choices[i];
        if (size[0] == c->taps && size[1] == size[0] && size[2] == size[0] &&
            c->launch[kind] != nullptr && (c->tx != WIDE || march_covers(plan, c->tx)))
            return c;
    }
    return nullptr;
}

bool takes(const struct gf_plan *plan, bool aligned)
{
    struct nearest r;

    return !plan->separable && marches(plan, aligned) && choice_of(plan) != nullptr &&
           (kind_of(plan) == FLOATS || nearest_of(plan, !integer_kind(kind_of(plan)), &r));
}

cudaError_t prepare(const struct gf_plan *plan, const struct gf_device_mask *, cudaStream_t stream)
{
    int count = static_cast<int>(plan->size[0] * plan->size[1] * plan->size[2]);
    size_t bytes = static_cast<size_t>(count) * 4;
    float taps[MOST * MOST * MOST];

    if (integer_kind(kind_of(plan)))
        return cudaMemcpyToSymbolAsync(integer_taps, plan->taps, bytes, 0, cudaMemcpyHostToDevice,
                                       stream);
    for (int i = 0; i < count; i++)
        taps[i] = plan->arith == GF_EXACT
                      ? static_cast<float>(static_cast<const int32_t *>(plan->taps)[i])
                      : static_cast<const float *>(plan->taps)[i];
    return cudaMemcpyToSymbolAsync(float_taps, taps, bytes, 0, cudaMemcpyHostToDevice, stream);
}

cudaError_t launch_plan(const struct gf_plan *plan, const struct gf_chunk *chunk,
                        cudaStream_t stream)
{
    return choice_of(plan)->launch[kind_of(plan)](plan, chunk, stream);
}

}

const struct gf_family sweep3d_direct = {"sweep3d_direct", takes, nullptr, prepare, launch_plan};

}
