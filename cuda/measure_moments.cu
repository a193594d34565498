/* Moments of float samples, as src/stats/moments.h defines them. Each warp takes leaves in turn, by
 * itself: while one waits for its samples the others add, and the next tile comes to shared memory
 * while one is added up. What is left of a strand stays there too until there are BATCH leaves of
 * them; then they are ended and joined, a thread a strand, because that takes long chains of
 * additions in double-double. Nothing else is written than a leaf's moments: a few bytes for each
 * strand would take the memory a tenth of its time. */
#include "join.cuh"
#include "strand.cuh"

namespace GF_DEVICE {
namespace {

constexpr unsigned WARPS = 4; /* of a block */
/* Blocks of a multiprocessor: as many as leave a thread the registers for a tile of its samples. */
template <gf_type TYPE> constexpr unsigned BLOCKS = TYPE == GF_F64 ? 3 : 4;
/* Leaves whose strands a warp keeps, four at most: as many as there is shared memory for. */
template <gf_type TYPE> constexpr unsigned BATCH = TYPE == GF_F64 ? 2 : 4;

/* A warp's part of shared memory. */
template <gf_type TYPE> struct warp_memory {
    struct strand strand[BATCH<TYPE> * GF_LEAF_STRANDS];
    alignas(16) unsigned char tile[GF_TILE * stored<TYPE>::bytes];
    static_assert(sizeof(struct piece) <= sizeof(struct strand), "finish() puts one in its place");
};

/* A warp's tiles: those of its leaves, `step` samples from the end of one to the next. */
template <gf_type TYPE> struct tiles {
    const typename stored<TYPE>::type *samples;
    uint64_t count, step;
    unsigned char *next;        /* where the next one is, or will be */
    uint64_t ahead;             /* the first sample of the one to be asked for */
    unsigned left;              /* tiles of its leaf from there */

    static constexpr unsigned IN_LEAF = GF_LEAF / GF_TILE;

    __device__ __forceinline__ void ask()
    {
        const uint64_t rest = ahead < count ? count - ahead : 0;

        bring<TYPE>(samples + ahead, rest < GF_TILE ? static_cast<uint32_t>(rest) : +GF_TILE,
                    next);
        ahead += GF_TILE;
        if (--left == 0) {
            left = IN_LEAF;
            ahead += step;
        }
    }
    /* The next tile; of none nothing is loaded. */
    __device__ __forceinline__ void take(bool any, struct tile<TYPE> *tile)
    {
        __pipeline_wait_prior(0);
        __syncwarp(); /* what other lanes brought is there */
        if (any)
            tile->load(next);
        __syncwarp(); /* and has been read by all */
        ask();
    }
};

/* The strand of `count` samples, maybe none, that is next among the tiles. */
template <gf_type TYPE>
__device__ __forceinline__ void sum_strand(struct tiles<TYPE> &tiles, uint32_t count,
                                           struct strand *strand)
{
    using T = typename computed<TYPE>::type;
    struct part p;
    T lowest = static_cast<T>(INFINITY), highest = -lowest;
    unsigned parts = 0;

    begin(&p, gf_scale_of(0, 0));
    if (lane_number() == 0)
        strand->nan = strand->plus_inf = strand->minus_inf = 0;
    for (uint32_t at = 0; at < GF_STRAND; at += GF_TILE) {
        struct tile<TYPE> tile;
        struct range<TYPE> r;

        tiles.take(at < count, &tile);
        if (at >= count)
            continue;
        bool all = __all_sync(ALL_LANES, range_of_all(tile, &r));
        if (!all)
            r = range_of_some(tile, count - at < GF_TILE ? count - at : +GF_TILE, strand);
        if (r.n == 0)
            continue;
        r.lowest = warp_min(r.lowest);
        r.highest = warp_max(r.highest);
        lowest = r.lowest < lowest ? r.lowest : lowest;
        highest = r.highest > highest ? r.highest : highest;
        add_tile(tile, r, all, p, &parts, strand);
    }
    if (p.n > 0)
        end_part(p, &strand->part[parts++]);
    if (lane_number() == 0) {
        strand->lowest = static_cast<double>(lowest);
        strand->highest = static_cast<double>(highest);
        strand->parts = parts;
    }
}

/* ---- strands to leaves ---- */

template <bool SCALED> __device__ struct piece piece_of(const struct strand &s)
{
    struct piece p = no_samples();

    for (unsigned i = 0; i < s.parts; i++)
        p.moments = gf_moments_merge(p.moments, moments_of<SCALED>(s.part[i]));
    p.lowest = s.lowest;
    p.highest = s.highest;
    p.nan = s.nan;
    p.plus_inf = s.plus_inf;
    p.minus_inf = s.minus_inf;
    return p;
}

/* The strands of `count` leaves, whose pieces are `step` apart, pairs of neighbours first. */
template <bool SCALED>
__device__ __noinline__ void finish(struct strand *strands, unsigned count, uint64_t step,
                                    struct piece *pieces)
{
    const unsigned t = lane_number();
    const bool there = t < count * GF_LEAF_STRANDS;
    struct piece *mine = reinterpret_cast<struct piece *>(&strands[t]);

    __syncwarp();
    struct piece p = there ? piece_of<SCALED>(strands[t]) : no_samples();
    __syncwarp(); /* the strand gives way to its piece */
    if (there)
        *mine = p;
    for (unsigned to = 1; to < GF_LEAF_STRANDS; to *= 2) {
        __syncwarp();
        if (there && t % (2 * to) == 0)
            join(mine, reinterpret_cast<const struct piece *>(&strands[t + to]));
    }
    if (there && t % GF_LEAF_STRANDS == 0)
        pieces[t / GF_LEAF_STRANDS * step] = *mine;
    __syncwarp();
}

template <gf_type TYPE>
__global__ void __launch_bounds__(32 * WARPS, BLOCKS<TYPE>)
    sum_leaves(const typename stored<TYPE>::type *samples, uint64_t count, uint64_t leaves,
               struct piece *pieces)
{
    auto *memory = shared_memory<warp_memory<TYPE>>() + threadIdx.x / 32;
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * WARPS;
    uint64_t leaf = static_cast<uint64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
    struct tiles<TYPE> tiles = {samples, count, (step - 1) * GF_LEAF, memory->tile,
                                leaf * GF_LEAF, tiles.IN_LEAF};
    unsigned held = 0;

    tiles.ask();
    for (; leaf < leaves; leaf += step) {
        for (unsigned i = 0; i < GF_LEAF_STRANDS; i++) {
            const uint64_t first = leaf * GF_LEAF + i * GF_STRAND;
            const uint64_t rest = first < count ? count - first : 0;
            sum_strand(tiles, rest < GF_STRAND ? static_cast<uint32_t>(rest) : +GF_STRAND,
                       &memory->strand[held * GF_LEAF_STRANDS + i]);
        }
        held++;
        if (held < BATCH<TYPE> && leaf + step < leaves)
            continue;
        finish<TYPE == GF_F64>(memory->strand, held, step, pieces + leaf - (held - 1) * step);
        held = 0;
    }
}

template <gf_type TYPE>
cudaError_t launch_type(const struct key_device *device, const void *samples, uint64_t count,
                        struct piece *pieces, cudaStream_t stream)
{
    const uint64_t leaves = gf_ceil_div(count, GF_LEAF);
    const uint64_t blocks = gf_min(gf_ceil_div(leaves, WARPS),
                                   UINT64_C(1) * BLOCKS<TYPE> * device->processors);

    return launch(sum_leaves<TYPE>, dim3(static_cast<unsigned>(blocks)), dim3(32 * WARPS),
                  WARPS * sizeof(warp_memory<TYPE>), stream,
                  static_cast<const typename stored<TYPE>::type *>(samples), count, leaves,
                  pieces);
}

}

cudaError_t launch_floats(const struct key_device *device, enum gf_type type, const void *samples,
                          uint64_t count, struct piece *pieces, cudaStream_t stream)
{
    switch (type) {
    case GF_F16: return launch_type<GF_F16>(device, samples, count, pieces, stream);
    case GF_F32: return launch_type<GF_F32>(device, samples, count, pieces, stream);
    default: return launch_type<GF_F64>(device, samples, count, pieces, stream);
    }
}

}
