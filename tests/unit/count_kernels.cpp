#include "program.h" /* first: C headers in C++ */
#include "launch.cuh"

#include "control.h"
#include "count.h"
#include "count_kernels.h"

namespace GF_DEVICE {

static constexpr unsigned words = 4096;     /* of each array */
static __constant__ unsigned table[32];

static __global__ void copy(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = in[i];
}

static __global__ void guard(const unsigned *in, unsigned *out)
{
    unsigned i = threadIdx.x;

    if (i < 40)
        out[i] = in[i];
}

static __global__ void two_ways(const unsigned *, unsigned *out)
{
    if (threadIdx.x % 2)
        atomicAdd(&out[0], 1u);
    else
        out[threadIdx.x + 1] = 7;
}

static __global__ void trips(const unsigned *, unsigned *out)
{
    for (unsigned i = 0; i <= threadIdx.x % 4; i++)
        atomicAdd(&out[0], 1u);
    out[1 + threadIdx.x] = 7;
}

/* Lanes 0 and 1 go through the inner loop twice. */
static __global__ void nested(const unsigned *, unsigned *out)
{
    unsigned t = threadIdx.x, turns = t < 2 ? 2 : 1;

    for (unsigned o = 0; o < 2; o++)
        for (unsigned i = 0; i < turns; i++)
            out[(2 * o + i) * 64 + t] = 7;
}

/* In each turn another half of the warp leaves out the atomic. */
static __global__ void skipped_turn(const unsigned *, unsigned *out)
{
    for (unsigned i = 0; i < 2; i++) {
        if (threadIdx.x / 16 == i)
            atomicAdd(&out[0], 1u);
        out[64 + 64 * i + threadIdx.x] = 7;
    }
}

static __global__ void exchange(const unsigned *in, unsigned *out)
{
    unsigned *s = shared_memory<unsigned>(), t = threadIdx.x;

    s[t] = in[t];
    __syncthreads();
    unsigned v = s[blockDim.x - 1 - t];
    out[t] = v + __shfl_xor_sync(0xffffffffu, v, 1);
}

static __global__ void part_of_warp(const unsigned *, unsigned *out)
{
    unsigned v = 0;

    if (threadIdx.x >= 24)
        v = __ballot_sync(0xff000000u, 1);
    out[threadIdx.x] = v;
}

static __global__ void early_return(const unsigned *, unsigned *out)
{
    if (threadIdx.x < 16)
        return;
    __syncwarp(0xffff0000u);
    out[threadIdx.x] = 7;
}

/* To one word of shared memory, to as many as there are lanes, and to device memory. */
static __global__ void atomics(const unsigned *, unsigned *out)
{
    unsigned *s = shared_memory<unsigned>(), t = threadIdx.x;

    s[t] = 0;
    __syncthreads();
    atomicAdd(&s[0], 1u);
    atomicAdd(&s[t], 1u);
    atomicAdd(&out[0], 1u);
}

/* From the 16th lane on only zeros arrive. */
static __global__ void async(const unsigned *in, unsigned *out)
{
    unsigned *s = shared_memory<unsigned>(), t = threadIdx.x;

    __pipeline_memcpy_async(s + 4 * t, in + 4 * t, 16, t < 16 ? 0 : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t];
}

static __global__ void constant(const unsigned *, unsigned *out)
{
    out[threadIdx.x] = table[threadIdx.x];
}

static __global__ void far_apart(const unsigned *in, unsigned *out)
{
    out[threadIdx.x] = in[8 * threadIdx.x + 7];
}

/* Pairs of lanes on a word, all words in one bank; eight bytes a lane at a stride of two. */
static __global__ void banks(const unsigned *, unsigned *out)
{
    unsigned *s = shared_memory<unsigned>(), t = threadIdx.x;
    unsigned long long *l = reinterpret_cast<unsigned long long *>(s + 512);

    for (unsigned i = t; i < 512; i += 32)
        s[i] = i;
    for (unsigned i = t; i < 64; i += 32)
        l[i] = i;
    __syncthreads();
    out[t] = s[t / 2 * 32] + static_cast<unsigned>(l[2 * t]);
}

/* A tree whose barrier is in a loop, under which the ways part. */
static __global__ void rounds(const unsigned *in, unsigned *out)
{
    unsigned *s = shared_memory<unsigned>(), t = threadIdx.x;

    s[t] = in[t];
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];
    }
    if (t == 0)
        out[0] = s[0];
}

static __global__ void race(const unsigned *in, unsigned *out)
{
    unsigned *s = shared_memory<unsigned>(), t = threadIdx.x;

    s[t] = in[t];
    out[t] = s[blockDim.x - 1 - t];
}

static void (*const kernels[COUNTED_KERNELS])(const unsigned *, unsigned *) = {
    copy, guard, two_ways, trips, nested, skipped_turn, exchange, part_of_warp, early_return,
    atomics, async, constant, far_apart, banks, rounds, race
};

static bool run(enum counted_kernel kernel, unsigned blocks, unsigned threads)
{
    static const unsigned zeros[words] = {};
    unsigned *in = nullptr, *out = nullptr;
    bool good = cudaMalloc(&in, sizeof zeros) == cudaSuccess &&
                cudaMalloc(&out, sizeof zeros) == cudaSuccess &&
                cudaMemcpy(in, zeros, sizeof zeros, cudaMemcpyHostToDevice) == cudaSuccess &&
                cudaMemcpy(out, zeros, sizeof zeros, cudaMemcpyHostToDevice) == cudaSuccess &&
                cudaMemcpyToSymbol(table, zeros, sizeof table) == cudaSuccess &&
                launch(kernels[kernel], blocks, threads, 4096, nullptr, in, out) == cudaSuccess &&
                cudaDeviceSynchronize() == cudaSuccess;

    if (!good)
        simt::recover();
    return cudaFree(in) == cudaSuccess && cudaFree(out) == cudaSuccess && good;
}

}

bool run_counted(enum counted_kernel kernel, unsigned blocks, unsigned threads, bool counted,
                 struct gf_ladder_counts *counts)
{
    struct simt::counts c;

    simt::ignore_visible();
    simt::print_failures(kernel != COUNTED_RACE);
    if (counted)
        simt::count_begin();
    bool good = GF_DEVICE::run(kernel, blocks, threads);
    if (!counted)
        simt::count_begin();
    simt::count_end(&c);
    simt::print_failures(true);
    *counts = {c.blocks, c.threads, c.warp_instructions, c.lane_operations, c.branches,
               c.divergent_branches, c.barriers, c.shared_requests, c.shared_wavefronts,
               c.global_requests, c.global_sectors, c.atomics};
    return good;
}
