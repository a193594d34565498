/* The sum of n samples, slowest idea first. A block adds up a run of samples and leaves one partial
 * sum; further launches of the same kernel add the partial sums up until one is left. The versions
 * without passes say what they do instead.
 *
 * Blocks have 256 threads where a version does not say otherwise. 64-bit indices throughout. A
 * missing sample counts as 0, so that any n will do. */
#include "../errors.h"
#include "../warp.cuh"
#include "version.h"

namespace GF_DEVICE {
namespace {

constexpr unsigned THREADS = 256;
constexpr uint64_t MOST_BLOCKS = 0x7fffffff; /* of a grid along x */
constexpr uint64_t MOST_ATOMICS = 4194304;
/* An array that another one follows in scratch memory ends on a boundary of so many samples. */
constexpr uint64_t BOUNDARY = 64;

__device__ __forceinline__ uint64_t first_of_block(unsigned samples)
{
    return static_cast<uint64_t>(blockIdx.x) * samples;
}

__device__ __forceinline__ float at(const float *in, uint64_t i, uint64_t n)
{
    return i < n ? in[i] : 0;
}

/* ---- 1: interleaved, two elements a thread ---- */

/* Each round adds neighbours that are `stride` pairs apart: the textbook's tree, written down as
 * it is drawn. Of T threads 1 in `stride` works, so that after the first round every warp still
 * runs, for one lane in 2, 4, 8 ...; t % stride, by a number the compiler does not know, is a
 * division. */
__global__ void pairs(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;
    uint64_t i = first_of_block(2 * blockDim.x) + t;

    s[t] = at(in, i, n);
    s[t + blockDim.x] = at(in, i + blockDim.x, n);
    for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        if (t % stride == 0)
            s[2 * t] += s[2 * t + stride];
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

/* ---- 2: interleaved, tid % 2s ---- */

/* One sample a thread. Less shared memory; but half of the threads load a sample and never add,
 * and twice as many blocks leave twice as many partial sums. */
__global__ void modulo(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;

    s[t] = at(in, first_of_block(blockDim.x) + t, n);
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        if (t % (2 * stride) == 0)
            s[t] += s[t + stride];
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

/* ---- 3: strided index ---- */

/* The same additions by the first threads of the block: whole warps run out of work and stop, and
 * there is no division. But the lanes of a warp now reach for words 2 * stride apart, which lie
 * in the same banks of shared memory: from a stride of 16 on a read takes 32 turns. */
__global__ void strided(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;

    s[t] = at(in, first_of_block(blockDim.x) + t, n);
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        unsigned to = 2 * stride * t;
        __syncthreads();
        if (to < blockDim.x)
            s[to] += s[to + stride];
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

/* ---- 4: sequential addresses ---- */

/* A thread adds the word half the rest away: the lanes of a warp read neighbours, each from a bank
 * of its own. The order of additions is another one, which costs nothing. */
__device__ __forceinline__ void add_halves(float *s, unsigned t, unsigned from, unsigned to)
{
    for (unsigned half = from; half >= to; half /= 2) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];
    }
}

__global__ void sequential(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;

    s[t] = at(in, first_of_block(blockDim.x) + t, n);
    add_halves(s, t, blockDim.x / 2, 1);
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

/* ---- 5: two per thread, added on loading ---- */

/* In 4 half of the threads had nothing to do but load. Here they add as well: half the blocks, and
 * two loads of a thread are on their way at the same time. */
__device__ __forceinline__ float load_two(const float *in, uint64_t n, unsigned threads)
{
    uint64_t i = first_of_block(2 * threads) + threadIdx.x;

    return at(in, i, n) + at(in, i + threads, n);
}

__global__ void two(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;

    s[t] = load_two(in, n, blockDim.x);
    add_halves(s, t, blockDim.x / 2, 1);
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

/* ---- 6: last warp unrolled ---- */

/* Once 64 words are left, one warp does the rest, without barriers of the block and without a loop.
 * It needs barriers of its own: since Volta the lanes of a warp need not run in step, and one that
 * is ahead would write a word that another has yet to read. All 32 take part to the end, though
 * only the first ones' sums still matter; the result is lane 0's, in a register, for in s[0]
 * another lane may still be reading. */
__device__ __forceinline__ float add_in_warp(float *s, unsigned t)
{
    float sum = s[t] + s[t + 32];

    GF_UNROLL
    for (unsigned half = 16; half > 0; half /= 2) {
        __syncwarp(); /* what was at s[t] has been read */
        s[t] = sum;
        __syncwarp(); /* and what is there now has been written */
        sum += s[(t + half) % 32];
    }
    return sum;
}

__global__ void last_warp(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;

    s[t] = load_two(in, n, blockDim.x);
    add_halves(s, t, blockDim.x / 2, 64);
    __syncthreads();
    if (t >= 32)
        return;
    float sum = add_in_warp(s, t);
    if (t == 0)
        sums[blockIdx.x] = sum;
}

/* ---- 7: fully unrolled ---- */

/* The compiler knows the number of threads and writes the rounds out one after the other. Costs a
 * kernel for each number; a larger block leaves fewer partial sums, and has more barriers at which
 * most of its warps wait. */
template <unsigned T> __global__ void unrolled(const float *in, uint64_t n, float *sums)
{
    float *s = shared_memory<float>();
    unsigned t = threadIdx.x;

    s[t] = load_two(in, n, T);
    GF_UNROLL
    for (unsigned half = T / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];
    }
    __syncthreads();
    if (t >= 32)
        return;
    float sum = add_in_warp(s, t);
    if (t == 0)
        sums[blockIdx.x] = sum;
}

/* ---- 8: warp shuffle in two levels ---- */

/* The sum of v over the block, in its first thread: over each warp by shuffles, which pass
 * registers from lane to lane, then over the warps' sums by the first warp. One barrier and one
 * shared word a warp, instead of a barrier and a pass over shared memory for each round. Needs
 * whole warps, 32 of them at most. */
__device__ __forceinline__ float lanes_total(float v)
{
    GF_UNROLL
    for (unsigned half = 16; half > 0; half /= 2)
        v += __shfl_down_sync(ALL_LANES, v, half);
    return v;
}

__device__ __forceinline__ float block_total(float v)
{
    float *of_warp = shared_memory<float>();

    v = lanes_total(v);
    if (lane_number() == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32)
        return 0;
    return lanes_total(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0);
}

__global__ void shuffle(const float *in, uint64_t n, float *sums)
{
    float sum = block_total(load_two(in, n, blockDim.x));

    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* ---- 9: float4 loads, grid stride ---- */

__device__ __forceinline__ float total_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

/* The samples [begin, end) of this thread, where `threads` threads share the work and this is
 * number `t`: vectors of four, four of them on their way at the same time; then the vectors that
 * are left, then the samples. `in` is aligned to 16 bytes. */
__device__ __forceinline__ float thread_total(const float *in, uint64_t n, uint64_t t,
                                              uint64_t threads)
{
    const float4 *vector = reinterpret_cast<const float4 *>(in);
    uint64_t vectors = n / 4, i = t;
    float sum[4] = {0, 0, 0, 0};

    for (; i + 3 * threads < vectors; i += 4 * threads) {
        float4 v[4];
        GF_UNROLL
        for (unsigned k = 0; k < 4; k++)
            v[k] = vector[i + k * threads];
        GF_UNROLL
        for (unsigned k = 0; k < 4; k++)
            sum[k] += total_of(v[k]);
    }
    for (; i < vectors; i += threads)
        sum[0] += total_of(vector[i]);
    if (t < n % 4)
        sum[1] += in[4 * vectors + t];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* As many blocks as the device holds at a time, whatever n is, so that threads are started once
 * and keep their sums in registers; four times the bytes for each load instruction. A second
 * launch, of one block, adds the few partial sums. Costs accuracy: a thread's sum is a chain that
 * grows with n, and the result depends on the device's size. */
__global__ void float4_stride(const float *in, uint64_t n, float *sums)
{
    uint64_t t = first_of_block(blockDim.x) + threadIdx.x;
    float sum = block_total(thread_total(in, n, t, static_cast<uint64_t>(gridDim.x) * blockDim.x));

    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* ---- 10: coarsened by four, one atomic a block ---- */

/* Each thread adds four samples, and each block adds its sum to the result: one launch, no partial
 * sums in memory. The result has to be 0 before. The atomics queue for one address, in the order
 * in which blocks happen to end: the last bits differ from run to run, and the chain of additions
 * is as long as the grid. */
__global__ void coarsened(const float *in, uint64_t n, float *out)
{
    uint64_t i = first_of_block(4 * blockDim.x) + threadIdx.x;
    float sum = 0;

    GF_UNROLL
    for (unsigned k = 0; k < 4; k++)
        sum += at(in, i + k * blockDim.x, n);
    sum = block_total(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

/* ---- 11: stages of fixed shape ---- */

/* The loads of 9 without its dependence on the device: a block has 16384 samples, always, and the
 * same kernel adds the partial sums. So the order of additions follows from n alone and the same
 * bits come from every device. Costs one launch or two more than 9. */
constexpr unsigned STAGE = 64 * THREADS;

__global__ void stage(const float *in, uint64_t n, float *sums)
{
    uint64_t first = first_of_block(STAGE), rest = n - first;
    float sum = block_total(
        thread_total(in + first, rest < STAGE ? rest : STAGE, threadIdx.x, blockDim.x));

    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* ---- 12: one atomic a thread ---- */

/* The whole reduction in a line. All samples queue for one address, and the sum is a chain of n
 * additions in no order. */
__global__ void atomic(const float *in, uint64_t n, float *out)
{
    uint64_t i = first_of_block(blockDim.x) + threadIdx.x;

    if (i < n)
        atomicAdd(out, in[i]);
}

/* ---- launching: passes until one sum is left ---- */

using kernel_of_sums = void (*)(const float *in, uint64_t n, float *sums);

struct passes {
    kernel_of_sums kernel;
    unsigned threads, samples;  /* of a block */
    unsigned words;             /* of shared memory */
    unsigned depth;             /* additions in a row, of one pass */
};

uint64_t blocks_of(uint64_t n, unsigned samples) { return gf_ceil_div(n, samples); }

uint64_t on_boundary(uint64_t n) { return gf_ceil_div(n, BOUNDARY) * BOUNDARY; }

struct launched kernel_at(kernel_of_sums kernel, uint64_t blocks, unsigned threads,
                               unsigned words)
{
    return {reinterpret_cast<const void *>(kernel), dim3(static_cast<unsigned>(blocks)),
            dim3(threads), words * sizeof(float)};
}

cudaError_t launch_at(kernel_of_sums kernel, const struct launched &at, cudaStream_t stream,
                      const float *in, uint64_t n, float *sums)
{
    return launch(kernel, at.grid, at.block, at.shared, stream, in, n, sums);
}

/* From data->in to one half of the scratch memory, to the other, and so on, and to data->out. */
template <const struct passes &P>
cudaError_t run_passes(const struct ladder_data *data, cudaStream_t stream,
                       struct launched *first)
{
    const float *from = data->in;
    uint64_t n = data->work->n, blocks = blocks_of(n, P.samples);
    float *half[2] = {data->scratch, data->scratch + on_boundary(blocks)};

    *first = kernel_at(P.kernel, blocks, P.threads, P.words);
    for (unsigned pass = 0; blocks > 1; pass++) {
        GF_CALL(launch_at(P.kernel, kernel_at(P.kernel, blocks, P.threads, P.words), stream, from,
                          n, half[pass % 2]));
        from = half[pass % 2];
        n = blocks;
        blocks = blocks_of(n, P.samples);
    }
    return launch_at(P.kernel, kernel_at(P.kernel, 1, P.threads, P.words), stream, from, n,
                     data->out);
}

template <const struct passes &P>
uint64_t scratch_of_passes(const struct gf_ladder_work *work, unsigned)
{
    uint64_t blocks = blocks_of(work->n, P.samples);

    return on_boundary(blocks) + blocks_of(blocks, P.samples);
}

template <const struct passes &P>
uint64_t depth_of_passes(const struct gf_ladder_work *work, unsigned)
{
    uint64_t depth = P.depth;

    for (uint64_t n = work->n; n > P.samples; n = blocks_of(n, P.samples))
        depth += P.depth;
    return depth;
}

/* More blocks than a grid has: beyond any memory. */
template <const struct passes &P> const char *passes_cannot(const struct gf_ladder_work *work)
{
    return blocks_of(work->n, P.samples) > MOST_BLOCKS ? "more blocks than a grid can have"
                                                       : nullptr;
}

const struct passes pairs_of_256 = {pairs, 256, 512, 512, 9};
const struct passes modulo_of_256 = {modulo, 256, 256, 256, 8};
const struct passes strided_of_256 = {strided, 256, 256, 256, 8};
const struct passes sequential_of_256 = {sequential, 256, 256, 256, 8};
const struct passes two_of_256 = {two, 256, 512, 256, 9};
const struct passes last_warp_of_256 = {last_warp, 256, 512, 256, 9};
const struct passes unrolled_of_128 = {unrolled<128>, 128, 256, 128, 8};
const struct passes unrolled_of_256 = {unrolled<256>, 256, 512, 256, 9};
const struct passes unrolled_of_512 = {unrolled<512>, 512, 1024, 512, 10};
const struct passes shuffle_of_256 = {shuffle, 256, 512, 32, 1 + 5 + 5};
/* Of 16 vectors a thread adds every fourth one: 2 + 4, the last one's rest 4 more; 2 to join its
 * four sums. */
const struct passes stage_of_256 = {stage, 256, STAGE, 32, 2 + 4 + 4 + 2 + 5 + 5};

/* ---- launching: the others ---- */

constexpr unsigned STRIDE_BLOCKS = 8; /* of 256 threads, on a processor of 2048 */

uint64_t stride_blocks(const struct gf_ladder_work *work, unsigned processors)
{
    uint64_t all = blocks_of(work->n, 4 * THREADS);

    return gf_min(all, static_cast<uint64_t>(STRIDE_BLOCKS) * processors);
}

cudaError_t run_float4(const struct ladder_data *data, cudaStream_t stream,
                       struct launched *first)
{
    uint64_t blocks = stride_blocks(data->work, data->processors);
    float *sums = blocks > 1 ? data->scratch : data->out;

    *first = kernel_at(float4_stride, blocks, THREADS, 32);
    GF_CALL(launch_at(float4_stride, *first, stream, data->in, data->work->n, sums));
    if (blocks == 1)
        return cudaSuccess;
    return launch_at(float4_stride, kernel_at(float4_stride, 1, THREADS, 32), stream, sums, blocks,
                     data->out);
}

uint64_t scratch_float4(const struct gf_ladder_work *work, unsigned processors)
{
    return stride_blocks(work, processors);
}

/* A thread's vectors: its share of them by four, one after the other, and up to three more; then as
 * in a stage. */
uint64_t depth_float4_pass(uint64_t n, uint64_t blocks)
{
    return 2 + blocks_of(n, 16) / (blocks * THREADS) + 1 + 3 + 1 + 2 + 5 + 5;
}

uint64_t depth_float4(const struct gf_ladder_work *work, unsigned processors)
{
    uint64_t blocks = stride_blocks(work, processors), depth = depth_float4_pass(work->n, blocks);

    return blocks == 1 ? depth : depth + depth_float4_pass(blocks, 1);
}

/* Adds to data->out, which is 0 first. */
cudaError_t run_atomics(kernel_of_sums kernel, const struct ladder_data *data,
                        const struct launched &at, cudaStream_t stream)
{
    GF_CALL(cudaMemsetAsync(data->out, 0, sizeof *data->out, stream));
    return launch_at(kernel, at, stream, data->in, data->work->n, data->out);
}

template <unsigned T>
cudaError_t run_coarsened(const struct ladder_data *data, cudaStream_t stream,
                          struct launched *first)
{
    *first = kernel_at(coarsened, blocks_of(data->work->n, 4 * T), T, 32);
    return run_atomics(coarsened, data, *first, stream);
}

template <unsigned T> uint64_t depth_coarsened(const struct gf_ladder_work *work, unsigned)
{
    return 4 + 5 + 5 + blocks_of(work->n, 4 * T);
}

template <unsigned T> const char *coarsened_cannot(const struct gf_ladder_work *work)
{
    return blocks_of(work->n, 4 * T) > MOST_BLOCKS ? "more blocks than a grid can have" : nullptr;
}

cudaError_t run_atomic(const struct ladder_data *data, cudaStream_t stream,
                       struct launched *first)
{
    *first = kernel_at(atomic, blocks_of(data->work->n, THREADS), THREADS, 0);
    return run_atomics(atomic, data, *first, stream);
}

uint64_t depth_atomic(const struct gf_ladder_work *work, unsigned) { return work->n; }

const char *atomic_cannot(const struct gf_ladder_work *work)
{
    return work->n > MOST_ATOMICS ? "one atomic a thread: only up to 4194304 samples" : nullptr;
}

/* ---- the table ---- */

template <const struct passes &P>
constexpr struct ladder_version by_passes(enum gf_ladder_step_id step)
{
    struct ladder_version v = {};

    v.step = step;
    v.scratch = scratch_of_passes<P>;
    v.cannot = passes_cannot<P>;
    v.run = run_passes<P>;
    v.depth = depth_of_passes<P>;
    return v;
}

constexpr struct ladder_version by_stride(enum gf_ladder_step_id step)
{
    struct ladder_version v = {};

    v.step = step;
    v.scratch = scratch_float4;
    v.run = run_float4;
    v.depth = depth_float4;
    return v;
}

template <unsigned T> constexpr struct ladder_version by_blocks(enum gf_ladder_step_id step)
{
    struct ladder_version v = {};

    v.step = step;
    v.cannot = coarsened_cannot<T>;
    v.run = run_coarsened<T>;
    v.depth = depth_coarsened<T>;
    return v;
}

constexpr struct ladder_version by_threads(enum gf_ladder_step_id step)
{
    struct ladder_version v = {};

    v.step = step;
    v.cannot = atomic_cannot;
    v.run = run_atomic;
    v.depth = depth_atomic;
    return v;
}

}

const struct ladder_version reduce_versions[] = {
    by_passes<pairs_of_256>(GF_STEP_REDUCE_PAIRS),
    by_passes<modulo_of_256>(GF_STEP_REDUCE_MODULO),
    by_passes<strided_of_256>(GF_STEP_REDUCE_STRIDED),
    by_passes<sequential_of_256>(GF_STEP_REDUCE_SEQUENTIAL),
    by_passes<two_of_256>(GF_STEP_REDUCE_TWO),
    by_passes<last_warp_of_256>(GF_STEP_REDUCE_LAST_WARP),
    by_passes<unrolled_of_128>(GF_STEP_REDUCE_UNROLLED_128),
    by_passes<unrolled_of_256>(GF_STEP_REDUCE_UNROLLED_256),
    by_passes<unrolled_of_512>(GF_STEP_REDUCE_UNROLLED_512),
    by_passes<shuffle_of_256>(GF_STEP_REDUCE_SHUFFLE),
    by_stride(GF_STEP_REDUCE_FLOAT4),
    by_blocks<256>(GF_STEP_REDUCE_COARSENED_256),
    by_blocks<512>(GF_STEP_REDUCE_COARSENED_512),
    by_passes<stage_of_256>(GF_STEP_REDUCE_STAGES),
    by_threads(GF_STEP_REDUCE_ATOMIC),
    library_version(),
    stats_version(),
    {},
};

cudaError_t reduce_one_block(enum gf_ladder_step_id step, unsigned threads, const float *in,
                             float *out, cudaStream_t stream)
{
    auto kernel = step == GF_STEP_REDUCE_PAIRS    ? pairs
                  : step == GF_STEP_REDUCE_MODULO ? modulo
                                                  : sequential;
    unsigned samples = step == GF_STEP_REDUCE_PAIRS ? 2 * threads : threads;

    return launch(kernel, dim3(1), dim3(threads), samples * sizeof(float), stream, in,
                  static_cast<uint64_t>(samples), out);
}

}
