/* NVIDIA's NPP at the rows it can do, replicated border, on samples in device memory. One line
 * of JSON a result; the sizes and masks are those of bench_rows.c, the results are not
 * checked.
 *
 *   npp_peer */
#include "gpu_timer.cuh"

#include <nppcore.h>
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>

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

/* Mean and standard deviation, and extremes: of SIDE x SIDE samples, read once by each. */
void statistics(const NppStreamContext &c)
{
    const NppiSize size = {SIDE, SIDE};
    struct pair<Npp32f> p = images<Npp32f>();
    size_t room = 0, more = 0;
    Npp8u *scratch;
    Npp64f *mean;
    Npp32f *extremes;

    GPU(cudaMalloc(&mean, 2 * sizeof *mean));
    GPU(cudaMalloc(&extremes, 2 * sizeof *extremes));
    npp(nppiMeanStdDevGetBufferHostSize_32f_C1R_Ctx(size, &room, c), "buffer");
    npp(nppiMinMaxGetBufferHostSize_32f_C1R_Ctx(size, &more, c), "buffer");
    GPU(cudaMalloc(&scratch, room > more ? room : more));
    struct gpu_time t = timed([&] {
        npp(nppiMean_StdDev_32f_C1R_Ctx(p.in, SIDE * 4, size, scratch, mean, mean + 1, c),
            "Mean_StdDev");
    });
    print_result("npp Mean_StdDev, 2^28", "stats", "moments f32", t, 4.0 * SIDE * SIDE, 0, "");
    t = timed([&] {
        npp(nppiMinMax_32f_C1R_Ctx(p.in, SIDE * 4, size, extremes, extremes + 1, scratch, c),
            "MinMax");
    });
    print_result("npp MinMax, 2^28", "stats", "moments f32", t, 4.0 * SIDE * SIDE, 0, "");
    GPU(cudaFree(scratch));
    GPU(cudaFree(extremes));
    GPU(cudaFree(mean));
    GPU(cudaFree(p.in));
    GPU(cudaFree(p.out));
}

}

int main()
{
    NppStreamContext c = context();

    statistics(c);

    direct(3, "f32 3x3", c);
    direct(5, "f32 5x5", c);
    direct(7, "f32 7x7", c);
    direct(9, "f32 9x9", c);
    gaussians(c);
    return 0;
}
