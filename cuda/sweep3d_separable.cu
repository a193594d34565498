/* Separable masks over volumes in one pass over memory: for each plane the x pass from the
 * tile into a second one, the y pass from there into registers, and the z pass by sums that
 * wait in registers for the planes to come. */
#include "family.h"
#include "plane.cuh"

namespace GF_DEVICE {
namespace {

constexpr int MOST = 33;    /* taps along an axis */
constexpr int OCTET = 8;    /* x sums of a lane */

__constant__ float float_taps[3][MOST];
__constant__ int32_t integer_taps[MOST];    /* along z, where sums there are integers */

/* How a kernel is built: KXY taps along x and y, 0 for any odd number up to MOST; as many along
 * z as KZ, or up to PADS fewer; a thread computes VY outputs of a column. */
template <int KXY_, int KZ_, int PADS_, int TX_, int VY_, int THREADS_, int STAGES_, int BLOCKS_,
          int ALIGN>
struct march_build {
    static constexpr int KXY = KXY_, KZ = KZ_, PADS = PADS_, TX = TX_, VY = VY_;
    static constexpr int THREADS = THREADS_, STAGES = STAGES_, BLOCKS = BLOCKS_;
    static constexpr int TY = THREADS / TX * VY;
    static constexpr int SUMS_PITCH = TX + 4;       /* of the x sums; see tile_shape */
    static constexpr int X_ROWS = 32 * OCTET / TX;  /* rows of the tile that a warp sums at once */
    /* Where all warps together sum few rows too many, there is room for these. */
    static constexpr int X_STEP = THREADS / 32 * X_ROWS, ROWS = TY + KXY - 1;
    static constexpr int ROUND = KXY > 0 && (X_STEP - ROWS % X_STEP) % X_STEP <= 4 ? X_STEP : 1;
    using shape = tile_shape<KXY, TX, TY, THREADS, (KXY > 0 ? KXY : MOST), ALIGN, ROUND>;
};

/* ---- along x ---- */

/* A lane's share of a warp's rows, 8 outputs of one. Lanes 0 to 7 take 4 octets of 2 rows, so
 * that their loads, 8 words apart, meet in no bank. */
struct x_share {
    int32_t row, from, to;
};

template <class B> __device__ inline struct x_share find_share(const typename B::shape &s)
{
    constexpr int OCTETS = B::TX / OCTET;
    struct x_share x;
    int lane = static_cast<int>(threadIdx.x) % 32;
    int high = lane / 8, octet = lane % 4 + high * 4 % OCTETS;

    x.row = static_cast<int>(threadIdx.x) / 32 * B::X_ROWS + lane / 4 % 2 + high * 4 / OCTETS * 2;
    x.from = x.row * s.pitch() + octet * OCTET + s.lead() / 4 * 4;
    x.to = x.row * B::SUMS_PITCH + octet * OCTET;
    GF_KEEP(x.from);
    GF_KEEP(x.to);
    return x;
}

/* Quads of words under `taps` taps of an octet. */
GF_INLINE constexpr int quads_of(int lead, int taps) { return (lead + OCTET + taps - 1 + 3) / 4; }

__device__ inline void store_octet(float *to, const float *sum)
{
    store_words(to, sum[0], sum[1], sum[2], sum[3]);
    store_words(to + 4, sum[4], sum[5], sum[6], sum[7]);
}

template <int K> __device__ inline void sum_x(const float *tile, float *sums)
{
    constexpr int LEAD = lead_of(K, 4), QUADS = quads_of(LEAD, K);
    float w[QUADS * 4], sum[OCTET];

    GF_UNROLL for (int q = 0; q < QUADS; q++)
        load_words(tile + q * 4, &w[4 * q]);
    GF_UNROLL for (int i = 0; i < K; i++)
        GF_UNROLL for (int o = 0; o < OCTET; o++)
            sum[o] = fmaf(float_taps[0][i], w[LEAD + o + i], i > 0 ? sum[o] : 0.0f);
    store_octet(sums, sum);
}

/* Odd widths that are known at run time only begin with FIRST taps, 1, 3, 5 or 7, and go on
 * with 8 at a time: all of one FIRST have the same lead modulo 4. Here taps from I on. */
template <int LEAD, int I>
__device__ inline void add_taps_x(const float *tile, int taps, float *w, float *sum, float *sums)
{
    if constexpr (I + 8 > MOST) {
        store_octet(sums, sum);
    } else {
        if (I >= taps) {
            store_octet(sums, sum);
            return;
        }
        GF_UNROLL for (int q = quads_of(LEAD, I); q < quads_of(LEAD, I + 8); q++)
            load_words(tile + q * 4, &w[4 * q]);
        GF_UNROLL for (int i = I; i < I + 8; i++)
            GF_UNROLL for (int o = 0; o < OCTET; o++)
                sum[o] = fmaf(float_taps[0][i], w[LEAD + o + i], sum[o]);
        add_taps_x<LEAD, I + 8>(tile, taps, w, sum, sums);
    }
}

template <int FIRST>
__device__ inline void sum_any_x(const struct march &m, const float *tile, float *sums)
{
    constexpr int LEAD = lead_of(FIRST, 4);
    float w[quads_of(LEAD, MOST) * 4], sum[OCTET];

    GF_UNROLL for (int q = 0; q < quads_of(LEAD, FIRST); q++)
        load_words(tile + q * 4, &w[4 * q]);
    GF_UNROLL for (int i = 0; i < FIRST; i++)
        GF_UNROLL for (int o = 0; o < OCTET; o++)
            sum[o] = fmaf(float_taps[0][i], w[LEAD + o + i], i > 0 ? sum[o] : 0.0f);
    if (FIRST == 1 && m.skips[0])
        GF_UNROLL for (int o = 0; o < OCTET; o++)
            sum[o] = w[LEAD + o];
    add_taps_x<LEAD, FIRST>(tile, m.taps[0], w, sum, sums);
}

template <class B>
__device__ inline void pass_x(const struct march &m, const typename B::shape &s,
                              const struct x_share &x, const float *tile, float *sums)
{
    if constexpr (B::KXY > 0) {
        GF_UNROLL for (int n = 0; n < B::ROWS; n += B::X_STEP)
            if (B::ROUND == B::X_STEP || n + B::X_STEP <= B::ROWS || x.row + n < B::ROWS)
                sum_x<B::KXY>(tile + x.from + n * s.pitch(), sums + x.to + n * B::SUMS_PITCH);
    } else {
        for (int n = 0; x.row + n < s.rows(); n += B::X_STEP) {
            const float *from = tile + x.from + n * s.pitch();
            float *to = sums + x.to + n * B::SUMS_PITCH;
            switch (m.taps[0] % 8) {
            case 1: sum_any_x<1>(m, from, to); break;
            case 3: sum_any_x<3>(m, from, to); break;
            case 5: sum_any_x<5>(m, from, to); break;
            default: sum_any_x<7>(m, from, to); break;
            }
        }
    }
}

/* ---- along y ---- */

/* Odd widths as along x, for VY outputs one below the other; `from` is under the first tap of
 * the first. Here taps from J on. */
template <class B, int J>
__device__ inline void add_taps_y(const float *from, int taps, float *w, float (&h)[B::VY])
{
    constexpr int VY = B::VY;

    if constexpr (J + 8 <= MOST) {
        if (J >= taps)
            return;
        GF_UNROLL for (int j = J; j < J + 8; j++) {
            w[j + VY - 1] = from[(j + VY - 1) * B::SUMS_PITCH];
            GF_UNROLL for (int v = 0; v < VY; v++)
                h[v] = fmaf(float_taps[1][j], w[j + v], h[v]);
        }
        add_taps_y<B, J + 8>(from, taps, w, h);
    }
}

template <class B, int FIRST>
__device__ inline void sum_any_y(const struct march &m, const float *from, float (&h)[B::VY])
{
    constexpr int VY = B::VY;
    float w[VY + MOST - 1];

    GF_UNROLL for (int i = 0; i < VY + FIRST - 1; i++)
        w[i] = from[i * B::SUMS_PITCH];
    GF_UNROLL for (int j = 0; j < FIRST; j++)
        GF_UNROLL for (int v = 0; v < VY; v++)
            h[v] = fmaf(float_taps[1][j], w[j + v], j > 0 ? h[v] : 0.0f);
    if (FIRST == 1 && m.skips[1])
        GF_UNROLL for (int v = 0; v < VY; v++)
            h[v] = w[v];
    add_taps_y<B, FIRST>(from, m.taps[1], w, h);
}

template <class B>
__device__ inline void pass_y(const struct march &m, const float *from, float (&h)[B::VY])
{
    constexpr int VY = B::VY, K = B::KXY;

    if constexpr (K > 0) {
        GF_UNROLL for (int i = 0; i < VY + K - 1; i++) {
            float value = from[i * B::SUMS_PITCH];
            GF_UNROLL for (int v = 0; v < VY; v++)
                if (i - v >= 0 && i - v < K)
                    h[v] = fmaf(float_taps[1][i - v], value, i > v ? h[v] : 0.0f);
        }
    } else {
        switch (m.taps[1] % 8) {
        case 1: sum_any_y<B, 1>(m, from, h); break;
        case 3: sum_any_y<B, 3>(m, from, h); break;
        case 5: sum_any_y<B, 5>(m, from, h); break;
        default: sum_any_y<B, 7>(m, from, h); break;
        }
    }
}

/* ---- along z ---- */

__device__ inline float z_value(float h, float) { return h; }
__device__ inline int32_t z_value(float h, int32_t) { return __float2int_rn(h); }
template <typename Z> __device__ inline Z z_tap(int k)
{
    if constexpr (std::is_same_v<Z, float>)
        return float_taps[2][k];
    else
        return integer_taps[k];
}

template <class B> constexpr int PERIOD = B::KZ > 1 ? B::KZ - 1 : 1;

/* One plane of the z pass. Sums of KZ - 1 outputs wait; the one that is done gives its place to
 * the one that begins, so that no sum moves where the plane modulo KZ - 1 is a template
 * parameter. Of the KZ taps the first `pads` are none: a sum stays 0 there. */
template <class B, int PHASE, typename Z>
__device__ inline void pass_z(int pads, const float (&h)[B::VY], Z (&waiting)[PERIOD<B>][B::VY],
                              Z (&done)[B::VY])
{
    GF_UNROLL for (int v = 0; v < B::VY; v++)
        done[v] = multiply_add(z_tap<Z>(B::KZ - 1), z_value(h[v], Z()), waiting[PHASE][v]);
    GF_UNROLL for (int i = 0; i < B::KZ - 1; i++) {
        /* The output that waits at i began (PHASE - i) modulo KZ - 1 planes ago. */
        int k = (PHASE - i + B::KZ - 1) % (B::KZ - 1);
        bool none = k < B::PADS && k < pads;
        GF_UNROLL for (int v = 0; v < B::VY; v++)
            waiting[i][v] = none ? 0 : multiply_add(z_tap<Z>(k), z_value(h[v], Z()),
                                                    k > 0 ? waiting[i][v] : 0);
    }
}

template <class B, typename Z>
__device__ inline void pass_z(const struct march &m, int phase, const float (&h)[B::VY],
                              Z (&waiting)[PERIOD<B>][B::VY], Z (&done)[B::VY])
{
    int pads = B::PADS > 0 ? B::KZ - m.taps[2] : 0;

    if constexpr (B::KZ == 1) {
        GF_UNROLL for (int v = 0; v < B::VY; v++)
            done[v] = m.skips[2] ? z_value(h[v], Z())
                                 : multiply_add(z_tap<Z>(0), z_value(h[v], Z()), Z(0));
        return;
    }
    switch (phase) {
#define PHASE(n)                                                    \
    case n:                                                         \
        if constexpr (n < B::KZ - 1)                                \
            pass_z<B, n, Z>(pads, h, waiting, done);                \
        break;
#define PHASES(n) PHASE(n) PHASE(n + 1) PHASE(n + 2) PHASE(n + 3)
        PHASES(0) PHASES(4) PHASES(8) PHASES(12) PHASES(16) PHASES(20) PHASES(24) PHASES(28)
#undef PHASES
#undef PHASE
    default: break;
    }
}

/* ---- the march ---- */

/* Stores VY samples, one below the other: those with a bit in `inside`. */
template <int VY, typename T>
__device__ inline void store_samples(const struct march &m, char *to, const uint32_t (&bits)[VY],
                                     uint32_t inside)
{
    if (inside == (1u << VY) - 1) {
        GF_UNROLL for (int v = 0; v < VY; v++, to += m.out_row)
            *reinterpret_cast<T *>(to) = static_cast<T>(bits[v]);
    } else {
        GF_UNROLL for (int v = 0; v < VY; v++, to += m.out_row)
            if (inside >> v & 1)
                *reinterpret_cast<T *>(to) = static_cast<T>(bits[v]);
    }
}

template <int BYTES, int VY, typename Z>
__device__ inline void store_sums(const struct march &m, char *to, const Z (&sum)[VY],
                                  uint32_t inside, uint32_t *clipped)
{
    uint32_t bits[VY];

    if constexpr (BYTES == 4) {
        GF_UNROLL for (int v = 0; v < VY; v++)
            bits[v] = sum[v] != sum[v] ? QUIET_NAN : __float_as_uint(sum[v]);
    } else {
        nearest_samples(m.nearest, sum, bits, inside, clipped);
    }
    store_samples<VY, typename sized<BYTES>::type>(m, to, bits, inside);
}

template <class B> GF_INLINE size_t shared_words(const typename B::shape &s)
{
    return static_cast<size_t>(B::STAGES * s.words() + 2 * s.held() * B::SUMS_PITCH +
                               s.edge_words() + s.COUNTERS);
}

template <int BYTES, typename Z, class B>
__global__ __launch_bounds__(B::THREADS, B::BLOCKS) void separable_kernel(const march m)
{
    constexpr int VY = B::VY, STAGES = B::STAGES;
    typename B::shape s = {m.taps[0], m.taps[1]};
    struct tile_place t = place_of_block(m, B::TX, B::TY);
    int words = s.words(), sums_words = s.held() * B::SUMS_PITCH;
    float *tiles = shared_memory<float>(), *sums = tiles + STAGES * words;
    struct tile_copies copies;
    struct chunk_places<typename B::shape> places;
    struct plane_copy<typename B::shape, BYTES, float> copy = {};
    int pads = B::PADS > 0 ? B::KZ - m.taps[2] : 0;
    int32_t before = B::KZ - 1 - pads, in_planes = static_cast<int32_t>(t.planes) + before;
    int column = static_cast<int>(threadIdx.x) % B::TX;
    int row = static_cast<int>(threadIdx.x) / B::TX * VY;
    int32_t x = t.x + column, read = row * B::SUMS_PITCH + column;
    char *out = m.out + t.z * m.out_plane +
                (t.y + static_cast<uint32_t>(row)) * static_cast<size_t>(m.out_row) +
                static_cast<size_t>(x < 0 ? 0 : x) * BYTES;
    struct x_share share = find_share<B>(s);
    struct plane_slots slots = {m.plane_slot + t.z, in_planes, 0, 0, false};
    uint32_t *tables = reinterpret_cast<uint32_t *>(sums + 2 * sums_words);
    uint32_t *clipped = tables + s.edge_words();
    uint32_t inside = 0;    /* a bit each of the thread's outputs that is one */
    Z waiting[PERIOD<B>][VY];

    GF_KEEP(read);
    if (x >= 0 && x < m.out_width)
        GF_UNROLL for (int v = 0; v < VY; v++)
            inside |= (t.y + static_cast<uint32_t>(row + v) < m.rows ? 1u : 0u) << v;
    find_copies(m, s, t, tables, copies);
    if (threadIdx.x < 3)
        clipped[threadIdx.x] = 0;
    for (int n = 0; n < STAGES; n++)
        fill_tile(m, s, tiles + n * words);
    for (int i = static_cast<int>(threadIdx.x); i < 2 * sums_words; i += B::THREADS)
        sums[i] = 0;
    __syncthreads();
    find_places(m, s, t, copies, places);
    GF_UNROLL for (int n = 0; n < STAGES - 1; n++) {
        copy.begin(m, s, copies, places, slots.at(n), tiles + n * words);
        copy.end(m, s, copies, places, tiles + n * words);
        __pipeline_commit();
    }
    GF_UNROLL for (int k = 0; k < PERIOD<B>; k++)
        GF_UNROLL for (int v = 0; v < VY; v++)
            waiting[k][v] = 0;

    /* In every turn: plane p through y and z, p + 1 through x, p + STAGES on its way. Plane -1
     * is zeros, and adds to nothing that is stored. */
    int stage = 0, last = STAGES - 1, half = 1, phase = pads % PERIOD<B>;
    int32_t slot = slots.at(STAGES - 1);
    for (int32_t p = -1; p < in_planes; p++) {
        float *next = tiles + last * words;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        copy.begin(m, s, copies, places, slot, next);
        __pipeline_commit();
        slot = slots.at(p + STAGES + 1);
        pass_x<B>(m, s, share, tiles + stage * words, sums + (half ^ 1) * sums_words);

        Z done[VY];
        float h[VY];
        pass_y<B>(m, sums + half * sums_words + read, h);
        pass_z<B, Z>(m, phase, h, waiting, done);
        if (p >= before) {
            store_sums<BYTES, VY, Z>(m, out, done, inside, clipped);
            out += m.out_plane;
        }
        copy.end(m, s, copies, places, next);
        phase = phase + 1 == PERIOD<B> ? 0 : phase + 1;
        last = stage;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        half ^= 1;
    }
    __pipeline_wait_prior(0); /* a copy must not outlive the shared memory it goes to */
    if (BYTES != 4 && m.nearest.clips)
        add_clipped(m, clipped);
}

/* ---- host ---- */

constexpr unsigned FLOAT_SAMPLES = 1, FLOAT_SUMS = 2, INTEGER_SUMS = 4;
constexpr unsigned ALL_FLOAT = FLOAT_SAMPLES | FLOAT_SUMS;
constexpr unsigned INTEGER_SAMPLES = FLOAT_SUMS | INTEGER_SUMS;
constexpr unsigned ANY = FLOAT_SAMPLES | INTEGER_SAMPLES;
constexpr uint32_t NARROWEST = 64; /* tile */

/* The device's limit on a block's shared memory, after asking. */
size_t most_shared()
{
    int device, bytes;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess)
        return 0;
    return static_cast<size_t>(bytes);
}

template <class B> typename B::shape shape_of(const struct gf_plan *plan)
{
    return {static_cast<int32_t>(plan->size[0]), static_cast<int32_t>(plan->size[1])};
}

/* A range of 32 times the halo costs 3 % of the reads; of few planes at least 128. */
template <class B>
struct cut cut_of(const struct gf_plan *plan, const typename B::shape &s)
{
    uint32_t longest = static_cast<uint32_t>(gf_max(128, 32 * (plan->size[2] - 1)));
    return {B::TX, B::TY, static_cast<uint32_t>(s.lead()), B::shape::ALIGN, longest};
}

template <int SIZE, typename Z, class B>
cudaError_t launch_build(const struct gf_plan *plan, const struct gf_chunk *chunk,
                         cudaStream_t stream)
{
    typename B::shape s = shape_of<B>(plan);
    size_t shared = shared_words<B>(s) * sizeof(float);
    uint32_t resident;
    cudaError_t status =
        march_resident(separable_kernel<SIZE, Z, B>, B::THREADS, shared, &resident);

    if (status != cudaSuccess)
        return status;
    struct march m = march_of(plan, chunk, cut_of<B>(plan, s), resident);
    for (int a = 0; a < 3; a++)
        m.skips[a] = gf_plan_skips(plan, a);
    if (SIZE != 4)
        nearest_of(plan, std::is_same_v<Z, float>, &m.nearest);
    return launch(separable_kernel<SIZE, Z, B>, dim3(static_cast<unsigned>(march_blocks(m))),
                  dim3(B::THREADS), shared, stream, m);
}

/* A build with its kernels, one a kind, NULL for those that it is not for. */
struct choice {
    uint32_t xy, least_z, most_z, tx;
    size_t (*shared)(const struct gf_plan *plan);
    cudaError_t (*launch[KINDS])(const struct gf_plan *, const struct gf_chunk *, cudaStream_t);
};

template <class B> size_t shared_of(const struct gf_plan *plan)
{
    return shared_words<B>(shape_of<B>(plan)) * sizeof(float);
}

template <unsigned FOR, int... P> constexpr struct choice choice_for()
{
    using B = march_build<P...>;
    struct choice c = {B::KXY, B::KZ - B::PADS, B::KZ, B::TX, shared_of<B>, {}};

    if constexpr ((FOR & FLOAT_SAMPLES) != 0)
        c.launch[FLOATS] = launch_build<4, float, B>;
    if constexpr ((FOR & FLOAT_SUMS) != 0) {
        c.launch[BYTES] = launch_build<1, float, B>;
        c.launch[SHORTS] = launch_build<2, float, B>;
    }
    if constexpr ((FOR & INTEGER_SUMS) != 0) {
        c.launch[BYTES_INTEGER] = launch_build<1, int32_t, B>;
        c.launch[SHORTS_INTEGER] = launch_build<2, int32_t, B>;
    }
    return c;
}

/* The first that fits is taken. Measured on an H200; the parameters are march_build's. */
const struct choice choices[] = {
    choice_for<ANY, 3, 3, 0, 64, 14, 128, 2, 4, 4>(),
    choice_for<FLOAT_SAMPLES, 5, 5, 0, 128, 14, 256, 2, 2, 8>(),
    choice_for<ANY, 5, 5, 0, 64, 14, 128, 2, 4, 4>(),
    choice_for<FLOAT_SAMPLES, 7, 7, 0, 64, 7, 512, 3, 1, 8>(),
    choice_for<INTEGER_SAMPLES, 7, 7, 0, 64, 7, 512, 2, 1, 4>(),
    choice_for<FLOAT_SAMPLES, 9, 9, 0, 64, 7, 512, 3, 1, 8>(),
    choice_for<INTEGER_SAMPLES, 9, 9, 0, 64, 7, 512, 2, 1, 4>(),
    choice_for<FLOAT_SAMPLES, 13, 13, 0, 64, 7, 256, 3, 2, 8>(),
    choice_for<FLOAT_SUMS, 13, 13, 0, 64, 6, 256, 2, 2, 4>(),
    choice_for<ALL_FLOAT, 17, 17, 0, 64, 5, 512, 2, 1, 8>(),
    choice_for<ALL_FLOAT, 0, 1, 0, 64, 6, 512, 2, 1, 8>(),
    choice_for<ANY, 0, 9, 7, 64, 5, 512, 2, 1, 8>(),
    choice_for<ALL_FLOAT, 0, 13, 3, 64, 4, 512, 2, 1, 8>(),
    choice_for<ANY, 0, 17, 7, 64, 4, 512, 2, 1, 8>(),
    choice_for<ALL_FLOAT, 0, 25, 7, 64, 3, 512, 2, 1, 8>(),
    choice_for<ANY, 0, 33, 15, 64, 2, 512, 2, 1, 8>(),
};

bool odd(uint32_t taps) { return taps % 2 == 1 && taps <= MOST; }

const struct choice *choice_of(const struct gf_plan *plan)
{
    const uint32_t *size = plan->size;
    enum kind kind = kind_of(plan);
    size_t most = most_shared();

    /* Sums along x and y are float whatever the kind. */
    if (integer_kind(kind) && march_bound(plan, 2) > EXACT_IN_FLOAT)
        return nullptr;
    for (size_t i = 0; i < GF_COUNT(choices) && kind != KINDS; i++) {
        const struct choice *c = &choices[i];
        bool xy = c->xy == 0 ? odd(size[0]) && odd(size[1])
                             : size[0] == c->xy && size[1] == c->xy;
        if (xy && size[2] >= c->least_z && size[2] <= c->most_z && c->launch[kind] != nullptr &&
            (c->tx == NARROWEST || march_covers(plan, c->tx)) && c->shared(plan) <= most)
            return c;
    }
    return nullptr;
}

bool takes(const struct gf_plan *plan, bool aligned)
{
    struct nearest r;

    return plan->separable && marches(plan, aligned) && choice_of(plan) != nullptr &&
           (kind_of(plan) == FLOATS || nearest_of(plan, !integer_kind(kind_of(plan)), &r));
}

float float_tap(const struct gf_plan *plan, int a, uint32_t i)
{
    if (plan->factor[a] == nullptr)
        return 1.0f;
    return plan->arith == GF_EXACT
               ? static_cast<float>(static_cast<const int32_t *>(plan->factor[a])[i])
               : static_cast<const float *>(plan->factor[a])[i];
}

/* The last tap along z is the last one of the build's. */
cudaError_t prepare(const struct gf_plan *plan, const struct gf_device_mask *, cudaStream_t stream)
{
    const struct choice *c = choice_of(plan);
    float taps[3][MOST] = {};
    int32_t integers[MOST] = {};
    cudaError_t status;

    for (int a = 0; a < 3; a++) {
        uint32_t first = a == 2 ? c->most_z - plan->size[2] : 0;
        for (uint32_t i = 0; i < plan->size[a]; i++)
            taps[a][first + i] = float_tap(plan, a, i);
    }
    for (uint32_t i = 0; i < MOST && plan->arith == GF_EXACT; i++)
        integers[i] = static_cast<int32_t>(taps[2][i]);
    status = cudaMemcpyToSymbolAsync(float_taps, taps, sizeof taps, 0, cudaMemcpyHostToDevice,
                                     stream);
    if (status == cudaSuccess && plan->arith == GF_EXACT)
        status = cudaMemcpyToSymbolAsync(integer_taps, integers, sizeof integers, 0,
                                         cudaMemcpyHostToDevice, stream);
    return status;
}

cudaError_t launch_plan(const struct gf_plan *plan, const struct gf_chunk *chunk,
                        cudaStream_t stream)
{
    return choice_of(plan)->launch[kind_of(plan)](plan, chunk, stream);
}

}

const struct gf_family sweep3d_separable = {"sweep3d_separable", takes, nullptr, prepare,
                                            launch_plan};

}
