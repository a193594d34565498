/* The ladder of 2D convolutions. Each output is the sum of M x M samples around it, each times its
 * weight; the mask is applied as written, not turned round, and what stands outside the image
 * is 0. All steps add in the same order, x fastest, and so give the same bits.
 *
 * An output costs 2 M^2 operations and, at least, 8 bytes of memory: one read and one write. What
 * the steps change is how often a sample is read again, and from where. */
#include "conv.cuh"

namespace GF_DEVICE {
namespace {

/* Constant memory has a cache of its own, and one address in it for all threads of a warp costs a
 * multiply-add no more than a register would. */
__constant__ float weights[9 * 9];

struct image {
    const float *in;
    float *out;
    int64_t in_pitch, out_pitch; /* samples from a row to the next */
    int width, height;
};

__device__ inline float sample_at(const struct image &m, int x, int y)
{
    return within(x, m.width) && within(y, m.height) ? m.in[y * m.in_pitch + x] : 0.0f;
}

/* ---- naive ---- */

/* A thread computes an output and reads all its M^2 samples from global memory. The caches hide
 * most of the repetition, but not the requests: M^2 for each output, each with its test whether
 * the sample is in the image. */
constexpr int NAIVE_X = 32, NAIVE_Y = 8;

template <int M>
__global__ void __launch_bounds__(NAIVE_X *NAIVE_Y) naive_kernel(const struct image m)
{
    int x = coordinate(blockIdx.x, NAIVE_X, threadIdx.x);

    if (x >= m.width)
        return;
    for (int y = coordinate(blockIdx.y, NAIVE_Y, threadIdx.y); y < m.height;
         y += stride(gridDim.y, NAIVE_Y)) {
        float sum = 0;
        GF_UNROLL
        for (int j = 0; j < M; j++)
            GF_UNROLL
            for (int i = 0; i < M; i++)
                sum = fmaf(weights[j * M + i], sample_at(m, x + i - M / 2, y + j - M / 2), sum);
        m.out[y * m.out_pitch + x] = sum;
    }
}

/* ---- tiled with halo, one load a thread ---- */

/* A block brings its tile of the input, with M / 2 samples more on every side (the halo), to shared
 * memory, one sample a thread, and all its outputs read from there: a sample is read from global
 * memory about once. Tests whether a sample is in the image are left in this load alone.
 *
 * What it costs: the threads over the halo load and then watch the others compute, all but
 * (32 - M + 1)^2 of 1024; between both stands a barrier for all of them; and M^2 requests for each
 * output are there still, to shared memory. A row of a tile is a warp's 32 words, each in a bank of
 * its own. */
constexpr int LOADS = 32; /* along both sides of a block */

template <int M>
__global__ void __launch_bounds__(LOADS *LOADS) tiled_kernel(const struct image m)
{
    constexpr int TILE = LOADS - M + 1;
    float *tile = shared_memory<float>();
    int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    int x = coordinate(blockIdx.x, TILE, threadIdx.x); /* of the output */

    for (int top = coordinate(blockIdx.y, TILE, 0); top < m.height;
         top += stride(gridDim.y, TILE)) {
        int y = top + row;
        tile[row * LOADS + column] = sample_at(m, x - M / 2, y - M / 2);
        __syncthreads();
        if (column < TILE && row < TILE && x < m.width && y < m.height) {
            float sum = 0;
            GF_UNROLL
            for (int j = 0; j < M; j++)
                GF_UNROLL
                for (int i = 0; i < M; i++)
                    sum = fmaf(weights[j * M + i], tile[(row + j) * LOADS + column + i], sum);
            m.out[y * m.out_pitch + x] = sum;
        }
        __syncthreads(); /* before the next tile takes its place */
    }
}

/* ---- tiled and coarsened 2 x 2 ---- */

/* A thread computes 2 x 2 outputs. Their windows overlap, so that it reads (M + 1)^2 samples into
 * registers for 4 M^2 multiply-adds: M^2 words from shared memory for an output become a quarter of
 * (M + 1)^2. M + 1 is even and a thread's window begins at an even column, so that two words are
 * read at a time, which halves the requests once more. Pairs are served to half a warp at once,
 * whose 16 threads read 32 words side by side, each from a bank of its own. The tile is 32 x 32
 * without threads that only watch, so the halo weighs less.
 *
 * What it costs: registers, a loop over the load, and threads that are fewer by four: a small image
 * does not fill the device. */
constexpr int SIDE = 16, BOTH = 2, WIDE = SIDE * BOTH; /* threads, outputs of each, outputs */

template <int M> struct wide_tile {
    static constexpr int COLUMNS = WIDE + M - 1, WORDS = COLUMNS * COLUMNS;
};

template <int M>
__device__ inline void load_wide(const struct image &m, float *tile, int left, int top)
{
    constexpr int COLUMNS = wide_tile<M>::COLUMNS;
    int thread = static_cast<int>(threadIdx.y) * SIDE + static_cast<int>(threadIdx.x);

    for (int n = thread; n < COLUMNS * COLUMNS; n += SIDE * SIDE)
        tile[n] = sample_at(m, left + n % COLUMNS - M / 2, top + n / COLUMNS - M / 2);
}

/* `window`: the sample under the first tap of the thread's first output. */
template <int M> __device__ inline void add_wide(const float *window, float (&sum)[BOTH][BOTH])
{
    constexpr int COLUMNS = wide_tile<M>::COLUMNS;

    GF_UNROLL
    for (int r = 0; r < M + 1; r++) {
        float v[M + 1];
        GF_UNROLL
        for (int c = 0; c < M + 1; c += 2) {
            float2 pair = *reinterpret_cast<const float2 *>(window + r * COLUMNS + c);
            v[c] = pair.x;
            v[c + 1] = pair.y;
        }
        GF_UNROLL
        for (int y = 0; y < BOTH; y++)
            GF_UNROLL
            for (int i = 0; i < M; i++)
                GF_UNROLL
                for (int x = 0; x < BOTH; x++)
                    if (r - y >= 0 && r - y < M)
                        sum[y][x] = fmaf(weights[(r - y) * M + i], v[x + i], sum[y][x]);
    }
}

template <int M>
__global__ void __launch_bounds__(SIDE *SIDE) coarsened_kernel(const struct image m)
{
    float *tile = shared_memory<float>();
    int column = BOTH * static_cast<int>(threadIdx.x), row = BOTH * static_cast<int>(threadIdx.y);
    int left = coordinate(blockIdx.x, WIDE, 0), x = left + column;
    bool pairs = m.out_pitch % 2 == 0 && x + 1 < m.width;

    for (int top = coordinate(blockIdx.y, WIDE, 0); top < m.height;
         top += stride(gridDim.y, WIDE)) {
        float sum[BOTH][BOTH] = {};
        load_wide<M>(m, tile, left, top);
        __syncthreads();
        add_wide<M>(tile + row * wide_tile<M>::COLUMNS + column, sum);
        GF_UNROLL
        for (int y = 0; y < BOTH; y++) {
            float *out = m.out + (top + row + y) * m.out_pitch + x;
            if (top + row + y >= m.height)
                break;
            if (pairs) {
                *reinterpret_cast<float2 *>(out) = make_float2(sum[y][0], sum[y][1]);
            } else {
                GF_UNROLL
                for (int i = 0; i < BOTH; i++)
                    if (x + i < m.width)
                        out[i] = sum[y][i];
            }
        }
        __syncthreads();
    }
}

/* ---- host ---- */

struct image image_of(const struct ladder_data *d)
{
    return {d->in, d->out, static_cast<int64_t>(d->in_pitch), static_cast<int64_t>(d->out_pitch),
            static_cast<int>(d->work->size[0]), static_cast<int>(d->work->size[1])};
}

cudaError_t prepare(const struct ladder_data *data, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(weights, data->mask,
                                   gf_expect_taps(data->work) * sizeof(float), 0,
                                   cudaMemcpyHostToDevice, stream);
}

/* A block for each `tile_x` by `tile_y` outputs. */
cudaError_t start(void (*kernel)(const struct image), const struct ladder_data *data, int tile_x,
                  int tile_y, dim3 block, size_t shared_samples, cudaStream_t stream,
                  struct launched *first)
{
    uint64_t across = gf_ceil_div(data->work->size[0], static_cast<uint64_t>(tile_x));

    first->function = reinterpret_cast<const void *>(kernel);
    first->grid = dim3(static_cast<unsigned>(across),
                       grid_side(data->work->size[1], static_cast<unsigned>(tile_y)));
    first->block = block;
    first->shared = shared_samples * sizeof(float);
    return launch(kernel, first->grid, first->block, first->shared, stream, image_of(data));
}

cudaError_t run_naive(const struct ladder_data *data, cudaStream_t stream,
                      struct launched *first)
{
    return with_side<9>(data->work->taps, [=](auto side) {
        constexpr int M = decltype(side)::value;
        return start(naive_kernel<M>, data, NAIVE_X, NAIVE_Y, dim3(NAIVE_X, NAIVE_Y), 0, stream,
                     first);
    });
}

cudaError_t run_tiled(const struct ladder_data *data, cudaStream_t stream,
                      struct launched *first)
{
    return with_side<9>(data->work->taps, [=](auto side) {
        constexpr int M = decltype(side)::value, TILE = LOADS - M + 1;
        return start(tiled_kernel<M>, data, TILE, TILE, dim3(LOADS, LOADS), LOADS * LOADS, stream,
                     first);
    });
}

cudaError_t run_coarsened(const struct ladder_data *data, cudaStream_t stream,
                          struct launched *first)
{
    return with_side<9>(data->work->taps, [=](auto side) {
        constexpr int M = decltype(side)::value;
        return start(coarsened_kernel<M>, data, WIDE, WIDE, dim3(SIDE, SIDE), wide_tile<M>::WORDS,
                     stream, first);
    });
}

/* ---- theory, of a tile that is all in the image ---- */

double square(double v) { return v * v; }

/* Global reads for an output: one for each tap, or the tile's share of what its block loads,
 * ((TILE + M - 1) / TILE)^2. */
double naive_reads(const struct gf_ladder_work *work) { return square(work->taps); }
double tile_reads(double tile, double m) { return square((tile + m - 1) / tile); }

/* How often a sample in shared memory is used: TILE^2 outputs use M^2 each, of (TILE + M - 1)^2. */
double tile_reuse(double tile, double m) { return square(tile * m / (tile + m - 1)); }

double tiled_side(const struct gf_ladder_work *work) { return LOADS + 1.0 - work->taps; }
double tiled_reads(const struct gf_ladder_work *work)
{
    return tile_reads(tiled_side(work), work->taps);
}
double tiled_reuse(const struct gf_ladder_work *work)
{
    return tile_reuse(tiled_side(work), work->taps);
}
double coarsened_reads(const struct gf_ladder_work *work) { return tile_reads(WIDE, work->taps); }
double coarsened_reuse(const struct gf_ladder_work *work) { return tile_reuse(WIDE, work->taps); }

constexpr struct ladder_version version(enum gf_ladder_step_id step, ladder_run *run,
                                        ladder_theory *reads, ladder_theory *reuse)
{
    struct ladder_version v = conv_version(step, run, prepare);

    v.reads = reads;
    v.reuse = reuse;
    return v;
}

}

const struct ladder_version conv2d_versions[] = {
    version(GF_STEP_CONV2D_NAIVE, run_naive, naive_reads, nullptr),
    version(GF_STEP_CONV2D_TILED, run_tiled, tiled_reads, tiled_reuse),
    version(GF_STEP_CONV2D_COARSENED, run_coarsened, coarsened_reads, coarsened_reuse),
    filters_version(GF_STEP_CONV2D_FILTERS),
    {},
};

}
