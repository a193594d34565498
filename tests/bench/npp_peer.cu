/* NVIDIA's NPP at the rows it can do, replicated border, on samples in device memory. One line
 * of JSON a result; the sizes and masks are those of bench_rows.c, the results are not
 * checked.
 *
 *   npp_peer */
#include "gpu_timer.cuh"

#include <nppcore.h>
#include <nppi_filtering_functions.h>

#include <cmath>
#include <vector>

namespace {

enum { SIDE = 16384 };

void npp(NppStatus status, const char *what)
{
    if (status != NPP_SUCCESS) {
        fprintf(stderr, "%s: NPP status %d\n", what, static_cast<int>(status));
        exit(1);
    }
}

NppStreamContext context()
{
    NppStreamContext c = {};
    cudaDeviceProp p;

    GPU(cudaGetDevice(&c.nCudaDeviceId));
    GPU(cudaGetDeviceProperties(&p, c.nCudaDeviceId));
    c.nMultiProcessorCount = p.multiProcessorCount;
    c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
    c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
    c.nSharedMemPerBlock = p.sharedMemPerBlock;
    c.nCudaDevAttrComputeCapabilityMajor = p.major;
    c.nCudaDevAttrComputeCapabilityMinor = p.minor;
    GPU(cudaStreamGetFlags(c.hStream, &c.nStreamFlags));
    return c;
}

template <typename T> struct pair {
    T *in, *out;
};

template <typename T> struct pair<T> images()
{
    struct pair<T> p;
    size_t bytes = static_cast<size_t>(SIDE) * SIDE * sizeof(T);

    GPU(cudaMalloc(&p.in, bytes));
    GPU(cudaMalloc(&p.out, bytes));
    fill_random(p.in, bytes / sizeof(T));
    return p;
}

template <typename T, typename Work>
void measure(const char *what, const char *row, double taps, Work work)
{
    double samples = static_cast<double>(SIDE) * SIDE;
    struct pair<T> p = images<T>();
    struct gpu_time t = timed([&] { npp(work(p.in, p.out), what); });

    print_result("npp", what, row, t, 2 * samples * sizeof(T), 2 * samples * taps, "");
    GPU(cudaFree(p.in));
    GPU(cudaFree(p.out));
}

template <typename T> T *to_device(const std::vector<T> &v)
{
    T *to;
    GPU(cudaMalloc(&to, v.size() * sizeof(T)));
    GPU(cudaMemcpy(to, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

void direct(int w, const char *row, const NppStreamContext &c)
{
    const NppiSize size = {SIDE, SIDE}, kernel = {w, w};
    const NppiPoint origin = {0, 0}, anchor = {w / 2, w / 2};
    std::vector<Npp32f> taps(static_cast<size_t>(w) * w);

    for (size_t i = 0; i < taps.size(); i++)
        taps[i] = static_cast<float>(i * 7 % 11 + 1) / (6.0f * static_cast<float>(taps.size()));
    Npp32f *mask = to_device(taps);
    measure<Npp32f>("FilterBorder", row, w * w, [&](Npp32f *in, Npp32f *out) {
        return nppiFilterBorder_32f_C1R_Ctx(in, SIDE * 4, size, origin, out, SIDE * 4, size, mask,
                                            kernel, anchor, NPP_BORDER_REPLICATE, c);
    });
    GPU(cudaFree(mask));
}

/* The three types by one name; NPP names each function by its types. */
#define GAUSS(type, ctype, row_name)                                                             \
    measure<ctype>("FilterGaussBorder", row_name " gauss5", 10, [&](ctype *in, ctype *out) {     \
        return nppiFilterGaussBorder_##type##_C1R_Ctx(                                           \
            in, SIDE * static_cast<int>(sizeof(ctype)), size, origin, out,                       \
            SIDE * static_cast<int>(sizeof(ctype)), size, NPP_MASK_SIZE_5_X_5,                   \
            NPP_BORDER_REPLICATE, c);                                                            \
    });                                                                                          \
    measure<ctype>("FilterGaussAdvancedBorder", row_name " sigma 2", 34,                         \
                   [&](ctype *in, ctype *out) {                                                  \
        return nppiFilterGaussAdvancedBorder_##type##_C1R_Ctx(                                   \
            in, SIDE * static_cast<int>(sizeof(ctype)), size, origin, out,                       \
            SIDE * static_cast<int>(sizeof(ctype)), size, 17, mask, NPP_BORDER_REPLICATE, c);    \
    })

void gaussians(const NppStreamContext &c)
{
    const NppiSize size = {SIDE, SIDE};
    const NppiPoint origin = {0, 0};
    std::vector<Npp32f> taps(17);
    float sum = 0;

    for (int i = 0; i < 17; i++)
        sum += taps[static_cast<size_t>(i)] = expf(static_cast<float>(-(i - 8) * (i - 8)) / 8.0f);
    for (Npp32f &tap : taps)
        tap /= sum;
    Npp32f *mask = to_device(taps);
    GAUSS(8u, Npp8u, "u8");
    GAUSS(16u, Npp16u, "u16");
    GAUSS(32f, Npp32f, "f32");
    GPU(cudaFree(mask));
}

}

int main()
{
    NppStreamContext c = context();

    direct(3, "f32 3x3", c);
    direct(5, "f32 5x5", c);
    direct(7, "f32 7x7", c);
    direct(9, "f32 9x9", c);
    gaussians(c);
    return 0;
}
