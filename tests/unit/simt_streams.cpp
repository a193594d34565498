/* Streams run as late as they may: what is not synchronised shows. */
#include "simt_test.h"

#include <cstring>

namespace GF_DEVICE {

static __global__ void set(int *p, int v) { p[threadIdx.x] = v; }
static __global__ void add(int *p, int v) { p[threadIdx.x] += v; }

static constexpr unsigned n = 32;

/* What every test has: two streams, an event, memory of both sides. */
struct setting {
    cudaStream_t a, b;
    cudaEvent_t event;
    int *device, *other, *pinned;
};

static struct setting begin(unsigned flags)
{
    struct setting s;

    cudaStreamCreateWithFlags(&s.a, flags);
    cudaStreamCreateWithFlags(&s.b, flags);
    cudaEventCreateWithFlags(&s.event, cudaEventDisableTiming);
    cudaMalloc(&s.device, n * sizeof(int));
    cudaMalloc(&s.other, n * sizeof(int));
    cudaMallocHost(&s.pinned, n * sizeof(int));
    cudaMemset(s.device, 0, n * sizeof(int));
    cudaMemset(s.other, 0, n * sizeof(int));
    cudaDeviceSynchronize();
    for (unsigned i = 0; i < n; i++)
        s.pinned[i] = -1;
    return s;
}

static void end(const struct setting &s)
{
    cudaDeviceSynchronize();
    cudaStreamDestroy(s.a);
    cudaStreamDestroy(s.b);
    cudaEventDestroy(s.event);
    cudaFree(s.device);
    cudaFree(s.other);
    cudaFreeHost(s.pinned);
}

static void download(const struct setting &s, cudaStream_t stream)
{
    cudaMemcpyAsync(s.pinned, s.device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
}

static void test_host_reads_early()
{
    struct setting s = begin(cudaStreamNonBlocking);

    launch(set, 1, n, 0, s.a, s.device, 7);
    download(s, s.a);
    checked(s.pinned[0] == -1, "a result is not there before the stream is waited for");
    cudaStreamSynchronize(s.b);
    checked(s.pinned[0] == -1, "nor when another one is");
    cudaStreamSynchronize(s.a);
    checked(s.pinned[0] == 7 && s.pinned[n - 1] == 7, "it is there after that");
    end(s);
}

static void test_host_overwrites_early()
{
    struct setting s = begin(cudaStreamNonBlocking);
    int pageable[n];

    for (unsigned i = 0; i < n; i++)
        s.pinned[i] = pageable[i] = 3;
    cudaMemcpyAsync(s.device, s.pinned, n * sizeof(int), cudaMemcpyHostToDevice, s.a);
    cudaMemcpyAsync(s.other, pageable, n * sizeof(int), cudaMemcpyHostToDevice, s.a);
    s.pinned[0] = pageable[0] = 99;
    cudaStreamSynchronize(s.a);
    download(s, s.a);
    cudaStreamSynchronize(s.a);
    checked(s.pinned[0] == 99, "pinned memory that changes too early is copied changed");
    cudaMemcpyAsync(pageable, s.other, n * sizeof(int), cudaMemcpyDeviceToHost, s.a);
    checked(pageable[0] == 3, "pageable memory is taken at the call, and filled at the call");
    end(s);
}

static void test_two_streams(bool ordered)
{
    struct setting s = begin(cudaStreamNonBlocking);

    launch(set, 1, n, 0, s.a, s.device, 5);
    if (ordered) {
        cudaEventRecord(s.event, s.a);
        cudaStreamWaitEvent(s.b, s.event);
    }
    launch(add, 1, n, 0, s.b, s.device, 1);
    download(s, s.b);
    cudaStreamSynchronize(s.b);
    checked(s.pinned[0] == (ordered ? 6 : 1), "two streams %s", ordered ? "ordered by an event"
                                                                        : "without order");
    end(s);
}

/* A buffer is filled again while it is still copied from. */
static void test_reuse(bool ordered)
{
    struct setting s = begin(cudaStreamNonBlocking);

    launch(set, 1, n, 0, s.a, s.device, 5);
    cudaEventRecord(s.event, s.a);
    cudaStreamWaitEvent(s.b, s.event);
    download(s, s.b);
    if (ordered) {
        cudaEventRecord(s.event, s.b);
        cudaStreamWaitEvent(s.a, s.event);
    }
    launch(set, 1, n, 0, s.a, s.device, 8);
    cudaStreamSynchronize(s.a);
    cudaStreamSynchronize(s.b);
    checked(s.pinned[0] == (ordered ? 5 : 8), "a buffer used again %s its copy",
            ordered ? "after" : "before");
    end(s);
}

static void test_default_stream()
{
    struct setting s = begin(cudaStreamDefault);

    launch(set, 1, n, 0, s.a, s.device, 5);
    launch(add, 1, n, 0, nullptr, s.device, 1);
    launch(add, 1, n, 0, s.b, s.device, 10);
    download(s, s.b);
    cudaStreamSynchronize(s.b);
    checked(s.pinned[0] == 16, "the default stream is ordered with blocking streams");
    end(s);

    s = begin(cudaStreamNonBlocking);
    launch(set, 1, n, 0, s.a, s.device, 5);
    launch(add, 1, n, 0, nullptr, s.device, 1);
    cudaMemcpy(s.pinned, s.device, n * sizeof(int), cudaMemcpyDeviceToHost);
    checked(s.pinned[0] == 1, "it is not with the others");
    end(s);
}

static void test_queries()
{
    struct setting s = begin(cudaStreamNonBlocking);
    unsigned asked = 0;

    checked(cudaEventQuery(s.event) == cudaSuccess, "an event that was not recorded has come");
    launch(set, 1, n, 0, s.a, s.device, 5);
    cudaEventRecord(s.event, s.a);
    download(s, s.a);
    checked(cudaStreamQuery(s.b) == cudaSuccess, "a stream without work is done");
    checked(cudaEventQuery(s.event) == cudaErrorNotReady, "an event comes late");
    while (cudaEventQuery(s.event) == cudaErrorNotReady && asked < 100)
        asked++;
    checked(asked < 100 && s.pinned[0] == -1, "it comes, and what is after it does not");
    checked(cudaPeekAtLastError() == cudaSuccess, "not ready is no error");
    while (cudaStreamQuery(s.a) == cudaErrorNotReady && asked < 100)
        asked++;
    checked(asked < 100 && s.pinned[0] == 5, "the stream comes to its end");
    end(s);
}

static void test_late_failure()
{
    struct setting s = begin(cudaStreamNonBlocking);

    checked(launch(set, 1, n + 1, 0, s.a, s.device, 5) == cudaSuccess &&
                cudaStreamSynchronize(s.b) == cudaSuccess,
            "a kernel that will fail is launched");
    checked(cudaStreamSynchronize(s.a) == cudaErrorIllegalAddress, "who waits learns it");
    checked(launch(set, 1, n, 0, s.b, s.device, 5) == cudaErrorIllegalAddress &&
                cudaGetLastError() == cudaErrorIllegalAddress &&
                cudaGetLastError() == cudaErrorIllegalAddress,
            "and every call after that");
    end(s);
    cudaDeviceReset();
    checked(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
            "until the device is reset");
    checked(simt::leaks() == 0, "what was released meanwhile is released");
}

static void test_times()
{
    cudaEvent_t a, b;
    float ms = -1;

    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventRecord(a);
    cudaEventRecord(b);
    checked(cudaEventElapsedTime(&ms, a, b) == cudaErrorNotReady, "no time before it is there");
    cudaEventSynchronize(b);
    checked(cudaEventElapsedTime(&ms, a, b) == cudaSuccess && ms >= 0, "time between events");
    cudaEventDestroy(a);
    cudaEventDestroy(b);
}

}

using namespace GF_DEVICE;

void test_streams()
{
    test_host_reads_early();
    test_host_overwrites_early();
    test_two_streams(false);
    test_two_streams(true);
    test_reuse(false);
    test_reuse(true);
    test_default_stream();
    test_queries();
    test_late_failure();
    test_times();
}
