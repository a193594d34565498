/* The ladder of 3D convolutions. Each output is the sum of M x M x M samples around it, each times
 * its weight; the mask is applied as written, not turned round. Two conventions: as many outputs as
 * inputs, with 0 outside; or `valid`, outputs only where all of the mask is inside. All steps add
 * in the same order, x fastest, then y, then z, and so give the same bits.
 *
 * An output costs 2 M^3 operations and, at least, 8 bytes of memory. From 5 x 5 x 5 on arithmetic
 * is what binds a kernel that brings its samples along in time. */
#include "conv.cuh"

namespace GF_DEVICE {
namespace {

__constant__ float weights[7 * 7 * 7];

struct volume {
    const float *in;
    float *out;
    int64_t in_pitch, in_plane, out_pitch, out_plane; /* samples from a row, a plane to the next */
    int width, height, depth;
    int out_width, out_height, out_depth;
    int lead;               /* taps before the first output's first sample: M / 2, or 0 if valid */
};

/* ---- naive ---- */

/* A thread computes an output and reads all its M^3 samples from global memory, each after a test
 * whether it is there; `valid` needs none. Rows follow each other without padding, so that those
 * of a width that is no multiple of 32 begin anywhere. */
constexpr int NAIVE_X = 32, NAIVE_Y = 8;

template <int M, bool VALID>
__device__ inline float naive_sum(const struct volume &m, int x, int y, int z)
{
    float sum = 0;

    for (int k = z; k < z + M; k++)
        for (int j = y; j < y + M; j++) {
            const float *row = m.in + k * m.in_plane + j * m.in_pitch;
            const float *weight = weights + ((k - z) * M + j - y) * M;
            if (!VALID && !(within(j, m.height) && within(k, m.depth)))
                continue;
            GF_UNROLL
            for (int i = 0; i < M; i++)
                if (VALID || within(x + i, m.width))
                    sum = fmaf(weight[i], row[x + i], sum);
        }
    return sum;
}

template <int M, bool VALID>
__global__ void __launch_bounds__(NAIVE_X *NAIVE_Y) naive_kernel(const struct volume m)
{
    constexpr int LEAD = VALID ? 0 : M / 2;
    int x = coordinate(blockIdx.x, NAIVE_X, threadIdx.x);

    if (x >= m.out_width)
        return;
    for (int z = coordinate(blockIdx.z, 1, 0); z < m.out_depth; z += stride(gridDim.z, 1))
        for (int y = coordinate(blockIdx.y, NAIVE_Y, threadIdx.y); y < m.out_height;
             y += stride(gridDim.y, NAIVE_Y))
            m.out[z * m.out_plane + y * m.out_pitch + x] =
                naive_sum<M, VALID>(m, x - LEAD, y - LEAD, z - LEAD);
}

/* ---- tiled with halo, coarsened in z ---- */

/* A block owns 16 x 16 columns of outputs and goes through up to 32 planes of them. Of each input
 * plane it brings its part, with M / 2 samples more on every side (the halo), to shared memory, and
 * adds that plane to the sums of all M output planes that it is in: a sample that is read once from
 * shared memory serves M multiply-adds. So the M^3 requests to global memory for an output become
 * one or two, and M^2 to shared memory. Two tiles take turns: while some threads still read one,
 * others may fill the next, and one barrier a plane is enough.
 *
 * What it costs: M sums in registers that move up at every plane; M - 1 planes more than a block
 * has outputs; and a warp is two rows of 16 threads. These begin 16 + M - 1 words apart, so that
 * the end of one and the beginning of the other share banks, and each request takes two turns.
 *
 * With row padding the rows of a tile are 48 words long instead, whatever M: half a warp's row
 * then falls into the 16 banks that the other half leaves free, and each request takes one turn. It
 * costs more than twice the shared memory, for words that nobody reads. */
constexpr int SIDE = 16, RUN = 32;

template <int M, bool PADDED> struct tile {
    static constexpr int COLUMNS = SIDE + M - 1, PITCH = PADDED ? 48 : COLUMNS;
    static constexpr int WORDS = COLUMNS * PITCH;
};

/* The block's part of plane z; column 0, row 0 is the sample at x, y. */
template <int M, bool PADDED>
__device__ inline void load_plane(const struct volume &m, float *to, int x, int y, int z)
{
    using T = tile<M, PADDED>;
    int thread = static_cast<int>(threadIdx.y) * SIDE + static_cast<int>(threadIdx.x);
    const float *plane = m.in + z * m.in_plane;

    for (int n = thread; n < T::COLUMNS * T::COLUMNS; n += SIDE * SIDE) {
        int i = n % T::COLUMNS, j = n / T::COLUMNS;
        to[j * T::PITCH + i] = within(x + i, m.width) && within(y + j, m.height)
                                   ? plane[(y + j) * m.in_pitch + x + i]
                                   : 0.0f;
    }
}

/* Sum k is that of the output plane in which this plane is under the taps k. */
template <int M, bool PADDED> __device__ inline void add_plane(const float *window, float (&sum)[M])
{
    GF_UNROLL
    for (int j = 0; j < M; j++)
        GF_UNROLL
        for (int i = 0; i < M; i++) {
            float v = window[j * tile<M, PADDED>::PITCH + i];
            GF_UNROLL
            for (int k = 0; k < M; k++)
                sum[k] = fmaf(weights[(k * M + j) * M + i], v, sum[k]);
        }
}

/* Computes `planes` output planes from z on of the columns and rows from x and y on. */
template <int M, bool PADDED>
__device__ inline void march(const struct volume &m, int x, int y, int z, int planes)
{
    using T = tile<M, PADDED>;
    float *tiles = shared_memory<float>();
    int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    bool inside = x + column < m.out_width && y + row < m.out_height;
    float *out = m.out + (y + row) * m.out_pitch + x + column;
    float sum[M] = {};

    for (int p = 0; p < planes + M - 1; p++) {
        float *to = tiles + p % 2 * T::WORDS;
        int from = z + p - m.lead;
        if (within(from, m.depth)) { /* the same for all threads; 0 adds nothing */
            load_plane<M, PADDED>(m, to, x - m.lead, y - m.lead, from);
            __syncthreads();
            add_plane<M, PADDED>(to + row * T::PITCH + column, sum);
        }
        if (p >= M - 1 && inside)
            out[(z + p - (M - 1)) * m.out_plane] = sum[M - 1];
        GF_UNROLL
        for (int k = M - 1; k > 0; k--)
            sum[k] = sum[k - 1];
        sum[0] = 0;
    }
}

template <int M, bool PADDED>
__global__ void __launch_bounds__(SIDE *SIDE) tiled_kernel(const struct volume m)
{
    int x = coordinate(blockIdx.x, SIDE, 0);

    for (int z = coordinate(blockIdx.z, RUN, 0); z < m.out_depth; z += stride(gridDim.z, RUN))
        for (int y = coordinate(blockIdx.y, SIDE, 0); y < m.out_height;
             y += stride(gridDim.y, SIDE)) {
            march<M, PADDED>(m, x, y, z, min(RUN, m.out_depth - z));
            __syncthreads(); /* before the next march fills the tiles */
        }
}

/* ---- pitched naive ---- */

/* The naive kernel once more, on rows that begin on a boundary of memory, as cudaMalloc3D lays them
 * out: 32 samples side by side then lie in 4 sectors of 32 bytes instead of 5, where the width is
 * no multiple of 8. It costs the memory between the rows, and a pitch to carry about. */

/* ---- host ---- */

struct volume volume_of(const struct ladder_data *d)
{
    const struct gf_ladder_work *w = d->work;
    struct volume m = {};

    m.in = d->in;
    m.out = d->out;
    m.in_pitch = static_cast<int64_t>(d->in_pitch);
    m.in_plane = static_cast<int64_t>(d->in_plane);
    m.out_pitch = static_cast<int64_t>(d->out_pitch);
    m.out_plane = static_cast<int64_t>(d->out_plane);
    m.width = static_cast<int>(w->size[0]);
    m.height = static_cast<int>(w->size[1]);
    m.depth = static_cast<int>(w->size[2]);
    m.out_width = static_cast<int>(d->out_size[0]);
    m.out_height = static_cast<int>(d->out_size[1]);
    m.out_depth = static_cast<int>(d->out_size[2]);
    m.lead = w->valid ? 0 : static_cast<int>(w->taps / 2);
    return m;
}

cudaError_t prepare(const struct ladder_data *data, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(weights, data->mask,
                                   gf_expect_taps(data->work) * sizeof(float), 0,
                                   cudaMemcpyHostToDevice, stream);
}

/* A block for each `tile_x` by `tile_y` by `tile_z` outputs. */
cudaError_t start(void (*kernel)(const struct volume), const struct ladder_data *data,
                  unsigned tile_x, unsigned tile_y, unsigned tile_z, dim3 block,
                  size_t shared_samples, cudaStream_t stream, struct launched *first)
{
    const uint64_t *out = data->out_size;

    first->function = reinterpret_cast<const void *>(kernel);
    first->grid = dim3(static_cast<unsigned>(gf_ceil_div(out[0], tile_x)),
                       grid_side(out[1], tile_y), grid_side(out[2], tile_z));
    first->block = block;
    first->shared = shared_samples * sizeof(float);
    return launch(kernel, first->grid, first->block, first->shared, stream, volume_of(data));
}

cudaError_t run_naive(const struct ladder_data *data, cudaStream_t stream,
                      struct launched *first)
{
    return with_side<7>(data->work->taps, [=](auto side) {
        constexpr int M = decltype(side)::value;
        return start(data->work->valid ? naive_kernel<M, true> : naive_kernel<M, false>, data,
                     NAIVE_X, NAIVE_Y, 1, dim3(NAIVE_X, NAIVE_Y), 0, stream, first);
    });
}

template <bool PADDED>
cudaError_t run_tiled(const struct ladder_data *data, cudaStream_t stream,
                      struct launched *first)
{
    return with_side<7>(data->work->taps, [=](auto side) {
        constexpr int M = decltype(side)::value;
        return start(tiled_kernel<M, PADDED>, data, SIDE, SIDE, RUN, dim3(SIDE, SIDE),
                     2 * tile<M, PADDED>::WORDS, stream, first);
    });
}

/* ---- theory, of a tile that is all in the volume ---- */

double cube(double v) { return v * v * v; }

/* Output planes of a march. */
double run_of(const struct gf_ladder_work *work)
{
    uint64_t out[3];

    gf_expect_size(work, out);
    return static_cast<double>(gf_min(out[2], RUN));
}

double naive_reads(const struct gf_ladder_work *work) { return cube(work->taps); }

/* Global reads for an output: those of the tile's share of what its block loads,
 * ((TILE + M - 1) / TILE)^2 * (RUN + M - 1) / RUN. */
double tiled_reads(const struct gf_ladder_work *work)
{
    double halo = work->taps - 1.0, run = run_of(work), side = (SIDE + halo) / SIDE;

    return side * side * (run + halo) / run;
}

/* How often a sample in shared memory is used: TILE^2 * RUN outputs use M^3 each, of
 * (TILE + M - 1)^2 * (RUN + M - 1). */
double tiled_reuse(const struct gf_ladder_work *work)
{
    return cube(work->taps) / tiled_reads(work);
}

constexpr struct ladder_version version(enum gf_ladder_step_id step, ladder_run *run, bool packed,
                                        ladder_theory *reads, ladder_theory *reuse)
{
    struct ladder_version v = conv_version(step, run, prepare);

    v.packed = packed;
    v.reads = reads;
    v.reuse = reuse;
    return v;
}

}

const struct ladder_version conv3d_versions[] = {
    version(GF_STEP_CONV3D_NAIVE, run_naive, true, naive_reads, nullptr),
    version(GF_STEP_CONV3D_TILED, run_tiled<false>, true, tiled_reads, tiled_reuse),
    version(GF_STEP_CONV3D_PADDED, run_tiled<true>, true, tiled_reads, tiled_reuse),
    version(GF_STEP_CONV3D_PITCHED, run_naive, false, naive_reads, nullptr),
    filters_version(GF_STEP_CONV3D_FILTERS),
    {},
};

}
