/* Allocation: of device memory, and of pinned memory of the host. */
#include "machine_internal.h"
#include "memory.h"
#include "runtime.h"

#include <cstdlib>
#include <map>

namespace simt {

struct pinned {
    size_t bytes;
    bool ours;          /* allocated, not registered */
};
static std::map<uintptr_t, struct pinned> pinned_memory;

static std::map<uintptr_t, struct pinned>::iterator pinned_before(uintptr_t address)
{
    auto next = pinned_memory.upper_bound(address);
    return next == pinned_memory.begin() ? pinned_memory.end() : std::prev(next);
}

bool is_pinned(const void *p, size_t bytes)
{
    uintptr_t first = reinterpret_cast<uintptr_t>(p);
    auto found = pinned_before(first);

    return found != pinned_memory.end() && first - found->first < found->second.bytes &&
           found->second.bytes - (first - found->first) >= bytes;
}

size_t pinned_leaks()
{
    size_t n = pinned_memory.size(), bytes = 0;

    for (const auto &entry : pinned_memory)
        bytes += entry.second.bytes;
    if (n)
        report("leaked: %zu piece%s of pinned memory, %zu bytes", n, n > 1 ? "s" : "", bytes);
    return n;
}

static cudaError_t allocate(void **p, size_t bytes)
{
    *p = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    size_t used = device_used(current_device());
    if (used > memory_limit() || bytes > memory_limit() - used)
        return cudaErrorMemoryAllocation;
    *p = device_allocate(bytes, current_device());
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

static constexpr size_t pitch_alignment = 512;

static size_t pitch_of(size_t width)
{
    return (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
}

namespace api {

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    call c;

    if (c.failed())
        return c.failed();
    return c.done(allocate(p, bytes));
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    call c;
    size_t bytes;

    if (c.failed())
        return c.failed();
    *pitch = pitch_of(width);
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        return c.done(cudaErrorMemoryAllocation);
    return c.done(allocate(p, bytes));
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent)
{
    call c;
    size_t rows, bytes;

    if (c.failed())
        return c.failed();
    p->pitch = pitch_of(extent.width);
    p->xsize = extent.width;
    p->ysize = extent.height;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows) ||
        __builtin_mul_overflow(rows, p->pitch, &bytes))
        return c.done(cudaErrorMemoryAllocation);
    return c.done(allocate(&p->ptr, bytes));
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream)
{
    call c;

    if (c.failed())
        return c.failed();
    if (!stream_of(stream))
        return c.done(cudaErrorInvalidResourceHandle);
    return c.done(allocate(p, bytes));
}

/* Waits for the whole device, as CUDA's does. */
cudaError_t cudaFree(void *p)
{
    call c(call::RELEASE);

    if (!p)
        return c.done(cudaSuccess);
    const struct allocation *a = allocation_at(reinterpret_cast<uintptr_t>(p));
    if (a)
        run_device(a->device);
    if (!device_release(p)) {
        report("cudaFree of %p, which is not the beginning of an allocation", p);
        return c.done(cudaErrorInvalidValue);
    }
    return c.done(poisoned());
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    call c(call::RELEASE);
    auto s = stream_of(stream);

    if (!s)
        return c.done(cudaErrorInvalidResourceHandle);
    if (!p)
        return c.done(cudaErrorInvalidValue);
    const struct allocation *a = allocation_at(reinterpret_cast<uintptr_t>(p));
    if (!a || a->first != reinterpret_cast<uintptr_t>(p)) {
        report("cudaFreeAsync of %p, which is not the beginning of an allocation", p);
        return c.done(cudaErrorInvalidValue);
    }
    if (poisoned())
        device_release(p);
    else
        enqueue(s, [p] { device_release(p); });
    return c.done(cudaSuccess);
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    call c;

    if (c.failed())
        return c.failed();
    if (flags > 7)
        return c.done(cudaErrorInvalidValue);
    *p = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (posix_memalign(p, 4096, bytes) != 0) {
        *p = nullptr;
        return c.done(cudaErrorMemoryAllocation);
    }
    pinned_memory[reinterpret_cast<uintptr_t>(*p)] = {bytes, true};
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes, unsigned flags)
{
    return cudaHostAlloc(p, bytes, flags);
}

static cudaError_t unpin(void *p, bool ours)
{
    auto found = pinned_memory.find(reinterpret_cast<uintptr_t>(p));

    if (found == pinned_memory.end() || found->second.ours != ours)
        return ours ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered;
    for (int device = 0; device < visible_devices(); device++)
        run_device(device);
    pinned_memory.erase(found);
    if (ours)
        free(p);
    return poisoned();
}

cudaError_t cudaFreeHost(void *p)
{
    call c(call::RELEASE);
    return c.done(p ? unpin(p, true) : cudaSuccess);
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    call c;

    if (c.failed())
        return c.failed();
    if (!p || bytes == 0 || flags > 15)
        return c.done(cudaErrorInvalidValue);
    uintptr_t first = reinterpret_cast<uintptr_t>(p);
    auto before = pinned_before(first + bytes - 1);
    if (before != pinned_memory.end() && before->first + before->second.bytes > first)
        return c.done(cudaErrorHostMemoryAlreadyRegistered);
    pinned_memory[first] = {bytes, false};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *p)
{
    call c(call::RELEASE);
    return c.done(unpin(p, false));
}

}
}
