/* Copies and memset. What comes from pageable memory is taken at the call, and what goes there
 * is there when the call returns; pinned memory is read and written when the stream comes to
 * it. */
#include "machine_internal.h"
#include "memory.h"
#include "runtime.h"

#include <cstring>

extern "C" char __start_simt_constant[] __attribute__((weak));
extern "C" char __stop_simt_constant[] __attribute__((weak));

namespace simt {

/* A box of bytes in memory; 1D and 2D copies are boxes of height or depth 1. */
struct box {
    char *first;
    size_t pitch, plane;
};
struct copy {
    struct box to, from;
    size_t width, height, depth;
    bool to_device, from_device;
};

static size_t extent_of(const struct box &b, const struct copy &c)
{
    return (c.depth - 1) * b.plane + (c.height - 1) * b.pitch + c.width;
}

static cudaError_t set_direction(struct copy *c, cudaMemcpyKind kind)
{
    bool to = in_device_memory(c->to.first), from = in_device_memory(c->from.first);

    switch (kind) {
    case cudaMemcpyHostToHost: c->to_device = c->from_device = false; break;
    case cudaMemcpyHostToDevice: c->to_device = true; c->from_device = false; break;
    case cudaMemcpyDeviceToHost: c->to_device = false; c->from_device = true; break;
    case cudaMemcpyDeviceToDevice: c->to_device = c->from_device = true; break;
    case cudaMemcpyDefault: c->to_device = to; c->from_device = from; break;
    default: return cudaErrorInvalidMemcpyDirection;
    }
    if (c->to_device != to || c->from_device != from) {
        report("copy: the %s is %s memory, against the direction given",
               c->to_device != to ? "destination" : "source",
               (c->to_device != to ? to : from) ? "device" : "host");
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* An end that is device memory lies in one allocation. */
static cudaError_t check_end(const struct copy &c, const struct box &b, const char *what)
{
    size_t bytes = extent_of(b, c);

    if (device_range(b.first, bytes))
        return cudaSuccess;
    const struct allocation *a = allocation_at(reinterpret_cast<uintptr_t>(b.first));
    if (a)
        report("copy: the %s reaches %zu bytes beyond an allocation of %zu bytes", what,
               reinterpret_cast<uintptr_t>(b.first) - a->first + bytes - a->bytes, a->bytes);
    else
        report("copy: the %s %p is in no allocation of device memory", what,
               static_cast<void *>(b.first));
    return cudaErrorInvalidValue;
}

static void move(const struct copy &c)
{
    for (size_t z = 0; z < c.depth; z++)
        for (size_t y = 0; y < c.height; y++) {
            const char *from = c.from.first + z * c.from.plane + y * c.from.pitch;
            char *to = c.to.first + z * c.to.plane + y * c.to.pitch;
            const void *unwritten = c.from_device ? first_unwritten(from, c.width) : nullptr;
            if (unwritten) {
                const struct allocation *a =
                    allocation_at(reinterpret_cast<uintptr_t>(unwritten));
                report("copy: reads device memory that nothing wrote: byte %zu of an "
                       "allocation of %zu bytes (byte %zu of row %zu of plane %zu of the copy)",
                       reinterpret_cast<uintptr_t>(unwritten) - a->first, a->bytes,
                       static_cast<size_t>(static_cast<const char *>(unwritten) - from), y, z);
                poison(cudaErrorLaunchFailure);
                return;
            }
            memcpy(to, from, c.width);
            if (c.to_device)
                mark_written(to, c.width);
        }
}

/* A copy that owns the bytes it moves. */
static std::function<void()> staged(const struct copy &c)
{
    auto bytes = std::make_shared<std::vector<char>>(c.width * c.height * c.depth);
    struct copy in = c, out = c;

    in.to = out.from = {bytes->data(), c.width, c.width * c.height};
    in.to_device = false;
    move(in);
    return [bytes, out] { move(out); };
}

static cudaError_t start(struct copy *c, cudaMemcpyKind kind, cudaStream_t stream, bool async)
{
    auto s = stream_of(stream);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (c->width == 0 || c->height == 0 || c->depth == 0)
        return cudaSuccess;
    if (c->width > c->to.pitch || c->width > c->from.pitch)
        return cudaErrorInvalidPitchValue;
    cudaError_t wrong = set_direction(c, kind);
    if (!wrong && c->to_device)
        wrong = check_end(*c, c->to, "destination");
    if (!wrong && c->from_device)
        wrong = check_end(*c, c->from, "source");
    if (wrong)
        return wrong;

    bool from_pinned = !c->from_device && is_pinned(c->from.first, extent_of(c->from, *c));
    bool to_pinned = !c->to_device && is_pinned(c->to.first, extent_of(c->to, *c));
    if (c->from_device || from_pinned)
        enqueue(s, [copy = *c] { move(copy); });
    else
        enqueue(s, staged(*c));
    bool waits = !c->to_device ? !async || !to_pinned : !async && from_pinned;
    if (waits)
        run_all(s);
    return poisoned();
}

static cudaError_t fill(struct copy *c, int value, cudaStream_t stream)
{
    auto s = stream_of(stream);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (c->width == 0 || c->height == 0)
        return cudaSuccess;
    if (c->width > c->to.pitch)
        return cudaErrorInvalidPitchValue;
    cudaError_t wrong = check_end(*c, c->to, "destination of memset");
    if (wrong)
        return wrong;
    enqueue(s, [copy = *c, value] {
        for (size_t y = 0; y < copy.height; y++) {
            memset(copy.to.first + y * copy.to.pitch, value, copy.width);
            mark_written(copy.to.first + y * copy.to.pitch, copy.width);
        }
    });
    return cudaSuccess;
}

static struct box rows(const void *p, size_t pitch, size_t height)
{
    return {static_cast<char *>(const_cast<void *>(p)), pitch, pitch * height};
}

namespace api {

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, cudaMemcpyKind kind,
                           cudaStream_t stream, bool async)
{
    call c;
    struct copy k = {rows(to, to_pitch, height), rows(from, from_pitch, height),
                     width, height, 1, false, false};

    if (c.failed())
        return c.failed();
    return c.done(start(&k, kind, stream, async));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return copy_2d(to, bytes, from, bytes, bytes, 1, kind, nullptr, false);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_2d(to, bytes, from, bytes, bytes, 1, kind, stream, true);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr, false);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, true);
}

static struct box box_of(const cudaPitchedPtr &p, const cudaPos &at)
{
    size_t plane = p.pitch * p.ysize;
    return {static_cast<char *>(p.ptr) + at.z * plane + at.y * p.pitch + at.x, p.pitch, plane};
}

static cudaError_t copy_3d(const cudaMemcpy3DParms *p, cudaStream_t stream, bool async)
{
    call c;

    if (c.failed())
        return c.failed();
    if (p->srcArray || p->dstArray || !p->srcPtr.ptr || !p->dstPtr.ptr)
        return c.done(cudaErrorInvalidValue);
    struct copy k = {box_of(p->dstPtr, p->dstPos), box_of(p->srcPtr, p->srcPos),
                     p->extent.width, p->extent.height, p->extent.depth, false, false};
    if (k.depth > 1 && (k.height > p->srcPtr.ysize || k.height > p->dstPtr.ysize))
        return c.done(cudaErrorInvalidValue);
    return c.done(start(&k, p->kind, stream, async));
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) { return copy_3d(p, nullptr, false); }

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_3d(p, stream, true);
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    call c;
    struct copy k = {rows(p, pitch, height), {}, width, height, 1, true, false};

    if (c.failed())
        return c.failed();
    return c.done(fill(&k, value, stream));
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(p, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(p, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return cudaMemset2DAsync(p, bytes, value, bytes, 1, nullptr);
}

/* ---- constant memory ---- */

static bool is_symbol(const void *p, size_t bytes)
{
    const char *first = static_cast<const char *>(p);
    return first >= __start_simt_constant && first < __stop_simt_constant &&
           static_cast<size_t>(__stop_simt_constant - first) >= bytes;
}

cudaError_t symbol_copy(const void *symbol, const void *from, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool async)
{
    call c;
    char *to = static_cast<char *>(const_cast<void *>(symbol)) + offset;
    auto s = stream_of(stream);

    if (c.failed())
        return c.failed();
    if (!s)
        return c.done(cudaErrorInvalidResourceHandle);
    if (!is_symbol(to, bytes))
        return c.done(cudaErrorInvalidSymbol);
    if (bytes == 0)
        return cudaSuccess;
    struct copy k = {{to, bytes, bytes}, rows(from, bytes, 1), bytes, 1, 1, false, false};
    k.from_device = kind == cudaMemcpyDeviceToDevice ||
                    (kind == cudaMemcpyDefault && in_device_memory(from));
    if (k.from_device != in_device_memory(from))
        return c.done(cudaErrorInvalidValue);
    if (k.from_device && check_end(k, k.from, "source"))
        return c.done(cudaErrorInvalidValue);
    if (k.from_device || is_pinned(from, bytes))
        enqueue(s, [k] { move(k); });
    else
        enqueue(s, staged(k));
    if (!async && !k.from_device && is_pinned(from, bytes))
        run_all(s);
    return c.done(poisoned());
}

cudaError_t symbol_address(void **p, const void *symbol)
{
    call c;

    if (c.failed())
        return c.failed();
    if (!is_symbol(symbol, 1))
        return c.done(cudaErrorInvalidSymbol);
    *p = const_cast<void *>(symbol);
    return cudaSuccess;
}

}
}
