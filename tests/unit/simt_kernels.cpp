/* Each wrong kernel is caught with the right words, its twin runs. */
#include "simt_test.h"
#include "wrong_kernels.cuh"

namespace GF_DEVICE {

struct wrong {
    const char *name;
    void (*bad)(arrays), (*good)(arrays);
    unsigned blocks, threads;
    size_t shared;                  /* bytes */
    cudaError_t error;
    const char *words;              /* of the report */
};

#define KERNEL(name) #name, name<false>, name<true>

static const struct wrong table[] = {
    {KERNEL(reverse_block), 3, 256, 1024, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(overwrite_neighbour), 1, 96, 384, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(two_writers), 1, 64, 256, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(neighbour_bytes), 2, 64, 64, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(sum_of_warp), 1, 64, 256, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(halves_of_warp), 1, 32, 128, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(write_by_lower_half), 1, 32, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(write_by_upper_half), 1, 32, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(reader_of_other_warp), 1, 64, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(bytes_of_word), 1, 32, 32, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(order_through_another_lane), 1, 4, 4, cudaErrorLaunchFailure,
     "race on shared memory"},
    {KERNEL(shuffle_as_barrier), 1, 32, 128, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(counter_not_ready), 2, 40, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(counter_read_early), 1, 40, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(write_after_reads), 1, 20, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(count_after_reads), 1, 20, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(read_after_counts), 1, 20, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(write_after_counts), 1, 20, 4, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(tiles_in_turns), 1, 128, 1024, cudaErrorLaunchFailure, "race on shared memory"},

    {KERNEL(barrier_after_return), 1, 100, 0, cudaErrorLaunchFailure,
     "barrier not reached by all threads of the block"},
    {KERNEL(return_before_barrier), 1, 100, 0, cudaErrorLaunchFailure,
     "barrier not reached by all threads of the block"},
    {KERNEL(two_barriers), 1, 64, 0, cudaErrorLaunchFailure,
     "threads of a block wait at different barriers"},
    {KERNEL(barrier_against_shuffle), 1, 32, 0, cudaErrorLaunchFailure,
     "barrier not reached by all threads of the block"},

    {KERNEL(lane_returned), 1, 32, 0, cudaErrorLaunchFailure, "lane 7 of mask 0xffffffff"},
    {KERNEL(lane_does_not_exist), 1, 20, 0, cudaErrorLaunchFailure,
     "absent lane: lane 20 of mask 0xffffffff does not exist"},
    {KERNEL(lane_outside_own_mask), 1, 32, 0, cudaErrorLaunchFailure,
     "by lane 0, which is not in its mask 0xfffffffe"},
    {KERNEL(source_outside_mask), 1, 32, 0, cudaErrorLaunchFailure,
     "__shfl_sync reads lane 16, which is not in the mask 0x0000ffff"},
    {KERNEL(different_operations), 1, 32, 0, cudaErrorLaunchFailure,
     "lanes of a warp meet in different operations"},
    {KERNEL(different_masks), 1, 32, 0, cudaErrorLaunchFailure,
     "lanes of a warp meet in different operations"},
    {KERNEL(lane_does_not_come), 1, 32, 0, cudaErrorLaunchFailure,
     "lanes of a warp meet in different operations"},

    {KERNEL(read_beyond), 1, 256, 0, cudaErrorIllegalAddress,
     "read of 4 bytes outside device memory, 0 bytes after the end of an allocation of 1024"},
    {KERNEL(read_before), 1, 256, 0, cudaErrorIllegalAddress,
     "read of 4 bytes outside device memory, 4 bytes before an allocation of 1024"},
    {KERNEL(write_beyond), 1, 256, 0, cudaErrorIllegalAddress,
     "write of 4 bytes outside device memory, 0 bytes after the end of an allocation of 1024"},
    {KERNEL(copy_beyond), 1, 256, 0, cudaErrorIllegalAddress,
     "read of 1025 bytes crosses the end of an allocation of 1024"},
#ifndef __clang__       /* which splits both into smaller accesses, or calls memcpy() unseen */
    {KERNEL(struct_beyond), 1, 256, 0, cudaErrorIllegalAddress,
     "read of 68 bytes crosses the end of an allocation of 1024"},
    {KERNEL(misaligned), 1, 32, 0, cudaErrorMisalignedAddress, "more than a multiple of that"},
#endif
    {KERNEL(atomic_beyond), 1, 32, 0, cudaErrorIllegalAddress,
     "atomic access of 4 bytes outside device memory"},
    {KERNEL(shared_beyond), 1, 32, 128, cudaErrorIllegalAddress,
     "write of 4 bytes at byte 128 of shared memory, of which the block has 128"},
    {KERNEL(shared_before), 1, 32, 128, cudaErrorIllegalAddress,
     "read of 4 bytes at byte -4 of shared memory"},
    {KERNEL(shared_of_other_block), 2, 32, 128, cudaErrorLaunchFailure,
     "of shared memory, which no thread of the block wrote"},
    {KERNEL(shared_unwritten), 1, 32, 128, cudaErrorLaunchFailure,
     "of shared memory, which no thread of the block wrote"},
    {KERNEL(device_unwritten), 1, 256, 0, cudaErrorLaunchFailure,
     "of device memory, of which nothing wrote byte"},
    {KERNEL(write_constant), 1, 32, 0, cudaErrorIllegalAddress, "of constant memory"},

    {KERNEL(async_not_awaited), 1, 32, 128, cudaErrorLaunchFailure,
     "which an async copy fills that was not waited for"},
    {KERNEL(async_of_neighbour), 1, 64, 256, cudaErrorLaunchFailure, "race on shared memory"},
    {KERNEL(async_second_group), 1, 32, 256, cudaErrorLaunchFailure,
     "which an async copy fills that was not waited for"},
    {KERNEL(async_uncommitted), 1, 32, 128, cudaErrorLaunchFailure,
     "which an async copy fills that was not waited for"},
    {KERNEL(async_overwritten), 1, 32, 128, cudaErrorLaunchFailure,
     "which an async copy fills that was not waited for"},
    {KERNEL(async_misaligned), 1, 32, 128, cudaErrorMisalignedAddress,
     "more than a multiple of that"},
};

static constexpr int most = 256;
static int host[most];

/* Runs it on fresh arrays of 256 ints, of which only `in` is written. */
template <typename Kernel, typename... More>
static cudaError_t run(Kernel kernel, unsigned blocks, unsigned threads, size_t shared,
                       More... more)
{
    int *in, *out;
    cudaError_t status;

    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    arrays a = {in, out, static_cast<int>(threads)};
    simt::clear_report();
    status = launch(kernel, blocks, threads, shared, nullptr, a, more...);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return status;
}

/* Zero first: what an atomic changes must have been written. */
static __global__ void clear(arrays a) { a.out[rank()] = 0; }

static cudaError_t run_cleared(void (*kernel)(arrays), unsigned threads)
{
    int *out;
    cudaError_t status;

    cudaMalloc(&out, threads * sizeof *out);
    arrays a = {nullptr, out, static_cast<int>(threads)};
    simt::clear_report();
    launch(clear, 1, threads, 0, nullptr, a);
    launch(kernel, 1, threads, 0, nullptr, a);
    status = cudaDeviceSynchronize();
    cudaFree(out);
    return status;
}

/* GCC with -fsanitize=undefined gives one line of the header to this file. */
static bool line_told()
{
    return strstr(simt::last_report(), "simt_kernels.cpp:") || reported("wrong_kernels.cuh:");
}

/* Which of a kernel's wrong threads is caught depends on the order. */
static void test_row(const struct wrong &w, bool in_order)
{
    bool cleared = w.good == atomic_beyond<true>;
    cudaError_t status = cleared ? run_cleared(w.bad, w.threads)
                                 : run(w.bad, w.blocks, w.threads, w.shared);

    if (in_order)
        checked(status == w.error && reported(w.words), "%s is caught", w.name);
    else
        checked(status != cudaSuccess, "%s is caught in another order", w.name);
    checked(line_told(), "%s: the line is told", w.name);
    checked(cudaDeviceSynchronize() == status, "%s: the error stays", w.name);
    cudaDeviceReset();
    status = cleared ? run_cleared(w.good, w.threads)
                     : run(w.good, w.blocks, w.threads, w.shared);
    checked(status == cudaSuccess && !*simt::last_report(), "%s corrected runs", w.name);
    cudaDeviceReset();
}

static void test_host_memory()
{
    int *pinned;

    checked(run(host_memory<false>, 1, 32, 0, host) == cudaErrorIllegalAddress &&
                reported("of host memory"), "a kernel that reads the host's memory is caught");
    cudaDeviceReset();
    cudaMallocHost(&pinned, sizeof host);
    checked(run(host_memory<false>, 1, 32, 0, pinned) == cudaErrorIllegalAddress &&
                reported("of host memory"), "pinned memory too");
    cudaDeviceReset();
    cudaFreeHost(pinned);
    checked(run(host_memory<true>, 1, 32, 0, host) == cudaSuccess, "corrected runs");
}

}

using namespace GF_DEVICE;

void test_wrong_kernels(bool in_order)
{
    int v[4] = {};

    for (int i = 0; i < most; i++)
        host[i] = i;
    cudaMemcpyToSymbol(constant, v, sizeof v);
    for (const auto &w : table)
        test_row(w, in_order);
    test_host_memory();
}
