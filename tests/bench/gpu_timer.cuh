/* What the programs that time work on a GPU share: a check of every call, random samples
 * made on the device, medians by events, and one line a result. */
#ifndef GPUFILT_TESTS_BENCH_GPU_TIMER_CUH
#define GPUFILT_TESTS_BENCH_GPU_TIMER_CUH

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define GPU(call)                                                                         \
    do {                                                                                  \
        cudaError_t gpu_status = (call);                                                  \
        if (gpu_status != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                 \
                    cudaGetErrorString(gpu_status));                                      \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

__device__ inline uint32_t hashed(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return static_cast<uint32_t>(z >> 32);
}

/* A float type is uniform in [0, 1), an integer type over its whole range. */
__device__ inline void random_sample(uint32_t bits, float *to)
{
    *to = static_cast<float>(bits >> 8) * 0x1p-24f;
}
__device__ inline void random_sample(uint32_t bits, double *to)
{
    *to = static_cast<double>(bits) * 0x1p-32;
}
__device__ inline void random_sample(uint32_t bits, uint8_t *to)
{
    *to = static_cast<uint8_t>(bits);
}
__device__ inline void random_sample(uint32_t bits, uint16_t *to)
{
    *to = static_cast<uint16_t>(bits);
}

template <typename T> __global__ void random_kernel(T *to, size_t row, size_t pitch, size_t count)
{
    size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = first; i < count; i += step)
        random_sample(hashed(i), &to[i / row * pitch + i % row]);
}

/* `rows` rows of `row` samples, `pitch` samples apart; what is between them stays unwritten, so
 * that initcheck sees who reads it. */
template <typename T> void fill_random(T *to, size_t row, size_t pitch, size_t rows)
{
    random_kernel<<<2048, 256>>>(to, row, pitch, row * rows);
    GPU(cudaGetLastError());
}

template <typename T> void fill_random(T *to, size_t count) { fill_random(to, count, count, 1); }

struct gpu_time {
    float ms, low, high; /* the median, the fastest, the slowest */
    int repeats;
};

inline int compare_times(const void *a, const void *b)
{
    float x = *static_cast<const float *>(a), y = *static_cast<const float *>(b);
    return (x > y) - (x < y);
}

/* About 100 us. What is queued behind it begins without waiting for the host. */
static __global__ void hold()
{
    long long begin = clock64();
    while (clock64() - begin < 200000)
        ;
}

/* Times work(), which queues something on the default stream: twice to warm up, then
 * `repeats` times, fewer where one takes so long that they would need more than a second. */
template <typename Work> struct gpu_time timed(Work work, int repeats = 20)
{
    enum { MOST = 100, LEAST = 5 };
    float times[MOST];
    cudaEvent_t begin, end;

    GPU(cudaEventCreate(&begin));
    GPU(cudaEventCreate(&end));
    repeats = repeats < 1 ? 1 : repeats > MOST ? MOST : repeats;
    for (int i = -2; i < repeats; i++) {
        float ms;
        hold<<<1, 1>>>();
        GPU(cudaEventRecord(begin));
        work();
        GPU(cudaEventRecord(end));
        GPU(cudaEventSynchronize(end));
        GPU(cudaEventElapsedTime(&ms, begin, end));
        if (i == -1 && ms * static_cast<float>(repeats) > 1000)
            repeats = ms * LEAST > 1000 ? LEAST : static_cast<int>(1000 / ms);
        if (i >= 0)
            times[i] = ms;
    }
    GPU(cudaEventDestroy(begin));
    GPU(cudaEventDestroy(end));
    qsort(times, static_cast<size_t>(repeats), sizeof times[0], compare_times);
    return {times[repeats / 2], times[0], times[repeats - 1], repeats};
}

/* One result as a line of JSON. `bytes`: read and written at least; `flop`: two for each tap
 * and output sample. */
inline void print_result(const char *tool, const char *what, const char *row, struct gpu_time t,
                         double bytes, double flop, const char *check)
{
    printf("{\"tool\": \"%s\", \"what\": \"%s\", \"row\": \"%s\", \"ms\": %.4f, \"low\": %.4f, "
           "\"high\": %.4f, \"repeats\": %d, \"bytes\": %.0f, \"flop\": %.0f, \"check\": \"%s\"}\n",
           tool, what, row, static_cast<double>(t.ms), static_cast<double>(t.low),
           static_cast<double>(t.high), t.repeats, bytes, flop, check);
    fflush(stdout);
}

/* The copy that everything is compared with: 4 GiB from device memory to device memory. */
inline void measure_copy(const char *tool)
{
    const size_t bytes = static_cast<size_t>(4) << 30;
    void *from, *to;

    GPU(cudaMalloc(&from, bytes));
    GPU(cudaMalloc(&to, bytes));
    fill_random(static_cast<float *>(from), bytes / sizeof(float));
    struct gpu_time t = timed([=] { GPU(cudaMemcpyAsync(to, from, bytes,
                                                        cudaMemcpyDeviceToDevice)); });
    print_result(tool, "cudaMemcpy", "copy", t, 2.0 * static_cast<double>(bytes), 0, "");
    GPU(cudaFree(from));
    GPU(cudaFree(to));
}

#endif
