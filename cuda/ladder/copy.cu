/* Moving n samples: within the device, into its registers, and over the bus. What the other
 * ladders' times are measured against. */
#include "../errors.h"
#include "version.h"

namespace GF_DEVICE {
namespace {

constexpr unsigned THREADS = 256;
constexpr unsigned BLOCKS = 16; /* on each processor: two rounds of those it holds */

uint64_t bytes_of(const struct ladder_data *data) { return data->work->n * sizeof(float); }

/* ---- device to device ---- */

/* By the driver, which knows the fastest way. Read and written once: twice n samples move. */
cudaError_t run_device(const struct ladder_data *data, cudaStream_t stream,
                       struct launched *first)
{
    *first = {};
    return cudaMemcpyAsync(data->out, data->in, bytes_of(data), cudaMemcpyDeviceToDevice, stream);
}

/* ---- read only ---- */

__device__ __forceinline__ unsigned joined(uint4 v) { return (v.x ^ v.y) ^ (v.z ^ v.w); }

/* Reads all samples, 16 bytes at a time and four times that in flight, and writes nearly nothing:
 * their bits joined by exclusive or, an atomic a block, so that the reads are for something and
 * can be checked, whatever their order. `to` is 0 first. */
__global__ void read_only(const float *in, uint64_t n, unsigned *to)
{
    unsigned *all = shared_memory<unsigned>();
    const uint4 *vector = reinterpret_cast<const uint4 *>(in);
    uint64_t t = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x, i = t;
    uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x, vectors = n / 4;
    unsigned mine = 0;

    for (; i + 3 * step < vectors; i += 4 * step) {
        uint4 a = vector[i], b = vector[i + step];
        uint4 c = vector[i + 2 * step], d = vector[i + 3 * step];
        mine ^= (joined(a) ^ joined(b)) ^ (joined(c) ^ joined(d));
    }
    for (; i < vectors; i += step)
        mine ^= joined(vector[i]);
    if (t < n % 4)
        mine ^= __float_as_uint(in[4 * vectors + t]);

    if (threadIdx.x == 0)
        *all = 0;
    __syncthreads();
    atomicXor(all, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicXor(to, *all);
}

cudaError_t run_read(const struct ladder_data *data, cudaStream_t stream,
                     struct launched *first)
{
    uint64_t blocks = gf_min(gf_ceil_div(data->work->n, 4 * THREADS),
                             static_cast<uint64_t>(BLOCKS) * data->processors);

    *first = {reinterpret_cast<const void *>(read_only), dim3(static_cast<unsigned>(blocks)),
              dim3(THREADS), sizeof(unsigned)};
    GF_CALL(cudaMemsetAsync(data->out, 0, sizeof *data->out, stream));
    return launch(read_only, first->grid, first->block, first->shared, stream, data->in,
                  data->work->n, reinterpret_cast<unsigned *>(data->out));
}

/* ---- over the bus ---- */

/* From pinned memory the device fetches by itself; pageable memory goes through the driver's own
 * pinned pages, a piece at a time. */
template <bool PINNED, bool TO_HOST>
cudaError_t run_bus(const struct ladder_data *data, cudaStream_t stream,
                    struct launched *first)
{
    void *host = PINNED ? data->pinned : data->pageable;

    *first = {};
    return TO_HOST
               ? cudaMemcpyAsync(host, data->in, bytes_of(data), cudaMemcpyDeviceToHost, stream)
               : cudaMemcpyAsync(data->out, host, bytes_of(data), cudaMemcpyHostToDevice, stream);
}

template <bool PINNED, bool TO_HOST>
constexpr struct ladder_version by_bus(enum gf_ladder_step_id step)
{
    struct ladder_version v = {};

    v.step = step;
    v.run = run_bus<PINNED, TO_HOST>;
    v.host = PINNED ? HOST_PINNED : HOST_PAGEABLE;
    v.to_host = TO_HOST;
    return v;
}

constexpr struct ladder_version in_device(enum gf_ladder_step_id step,
                                          cudaError_t (*run)(const struct ladder_data *,
                                                             cudaStream_t, struct launched *))
{
    struct ladder_version v = {};

    v.step = step;
    v.run = run;
    return v;
}

}

const struct ladder_version copy_versions[] = {
    in_device(GF_STEP_COPY_DEVICE, run_device),
    in_device(GF_STEP_COPY_READ, run_read),
    by_bus<true, false>(GF_STEP_COPY_TO_DEVICE_PINNED),
    by_bus<false, false>(GF_STEP_COPY_TO_DEVICE_PAGEABLE),
    by_bus<true, true>(GF_STEP_COPY_TO_HOST_PINNED),
    by_bus<false, true>(GF_STEP_COPY_TO_HOST_PAGEABLE),
    {},
};

}
