/* The state of the runtime: which devices there are, which call fails. */
#include "runtime.h"
#include "control.h"
#include "machine_internal.h"
#include "memory.h"
#include "race.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace simt {

struct named_error {
    const char *name, *text;
    cudaError_t error;
};
static const struct named_error errors[] = {
#define SIMT_ERROR(name, number, text) {"cuda" #name, text, cuda##name},
    SIMT_ERRORS(SIMT_ERROR)
#undef SIMT_ERROR
};

static struct {
    bool begun;
    bool ignore_visible;
    int devices;                    /* before CUDA_VISIBLE_DEVICES */
    int visible;
    cudaError_t unusable;           /* why no device can be used, or cudaSuccess */
    size_t memory;                  /* bytes of each device */
    unsigned long long calls;
    unsigned long long fail_call;   /* 0: none */
    cudaError_t fail_error;
    bool fail_sticky;
    cudaError_t poison;
} state;

static std::recursive_mutex &runtime_lock()
{
    static std::recursive_mutex lock;
    return lock;
}

static thread_local cudaError_t last_error = cudaSuccess;
static thread_local int device_of_thread;

static cudaError_t error_named(const char *name, size_t length)
{
    char *end;
    long number = strtol(name, &end, 10);

    for (const auto &e : errors)
        if (strlen(e.name) == length && strncmp(e.name, name, length) == 0)
            return e.error;
    if (end == name + length && length > 0)
        return static_cast<cudaError_t>(number);
    fprintf(stderr, "simt: GPUFILT_TEST_CUDA: no error is called %.*s\n",
            static_cast<int>(length), name);
    abort();
}

const char *test_variable(const char *name)
{
#ifdef GPUFILT_TEST_HOOKS
    return getenv(name);
#else
    (void)name;
    return nullptr;
#endif
}

/* "N[:ERROR[:sticky]]" */
static void read_failure(const char *text)
{
    char *end;

    state.fail_call = strtoull(text, &end, 10);
    state.fail_error = cudaErrorMemoryAllocation;
    state.fail_sticky = false;
    if (*end != ':')
        return;
    const char *name = end + 1;
    size_t length = strcspn(name, ":");
    state.fail_error = error_named(name, length);
    state.fail_sticky = strcmp(name + length, ":sticky") == 0;
}

/* The list of CUDA_VISIBLE_DEVICES: device numbers up to the first that is none or comes
 * twice. */
static int count_visible(const char *list, int devices)
{
    bool seen[max_devices] = {};
    int n = 0;

    for (;;) {
        char *end;
        long i = strtol(list, &end, 10);
        if (end == list || i < 0 || i >= devices || seen[i])
            return n;
        seen[i] = true;
        n++;
        if (*end != ',')
            return n;
        list = end + 1;
    }
}

#ifdef GPUFILT_TEST_HOOKS
static void at_exit()
{
    if (leaks()) {
        fflush(nullptr);
        _exit(97);
    }
}
#endif

static void begin()
{
    const char *text;

    state.begun = true;
    state.devices = 1;
    state.memory = size_t(2) << 30;
    text = test_variable("GPUFILT_TEST_CUDA_DEVICES");
    if (text && strcmp(text, "driver") == 0)
        state.unusable = cudaErrorInsufficientDriver;
    else if (text)
        state.devices = atoi(text) < max_devices ? atoi(text) : max_devices;
    text = state.ignore_visible ? nullptr : getenv("CUDA_VISIBLE_DEVICES");
    state.visible = text ? count_visible(text, state.devices) : state.devices;
    if (!state.unusable && state.visible == 0)
        state.unusable = cudaErrorNoDevice;
    text = test_variable("GPUFILT_TEST_CUDA_MEMORY");
    if (text)
        state.memory = strtoull(text, nullptr, 10);
    text = test_variable("GPUFILT_TEST_CUDA");
    if (text)
        read_failure(text);
    if (!state.unusable && (!memory_begin() || !shared_begin()))
        state.unusable = cudaErrorMemoryAllocation;
#ifdef GPUFILT_TEST_HOOKS
    atexit(at_exit);
#endif
}

call::call(enum kind) : lock(runtime_lock()), error(cudaSuccess)
{
    if (!state.begun)
        begin();
    state.calls++;
    if (state.unusable)
        error = state.unusable;
    else if (state.poison)
        error = state.poison;
    else if (state.fail_call && (state.calls == state.fail_call ||
                                 (state.fail_sticky && state.calls > state.fail_call)))
        error = state.fail_error;
    if (error)
        last_error = error;
}

cudaError_t call::done(cudaError_t result)
{
    if (error)
        return error;
    if (result != cudaSuccess && result != cudaErrorNotReady)
        last_error = result;
    return result;
}

int visible_devices() { return state.visible; }
int current_device() { return device_of_thread; }
size_t memory_limit() { return state.memory; }
void poison(cudaError_t error) { state.poison = error; }
cudaError_t poisoned() { return state.poison; }

/* ---- control.h ---- */

unsigned long long calls() { return state.calls; }

void fail_at(unsigned long long n, cudaError_t error, bool sticky)
{
    std::lock_guard<std::recursive_mutex> lock(runtime_lock());

    if (!state.begun)
        begin();
    state.fail_call = n ? state.calls + n : 0;
    state.fail_error = error;
    state.fail_sticky = sticky;
}

void recover()
{
    std::lock_guard<std::recursive_mutex> lock(runtime_lock());

    state.poison = last_error = cudaSuccess;
}

void ignore_visible()
{
    std::lock_guard<std::recursive_mutex> lock(runtime_lock());

    state.ignore_visible = true;
}

void limit_memory(size_t bytes)
{
    std::lock_guard<std::recursive_mutex> lock(runtime_lock());

    if (!state.begun)
        begin();
    state.memory = bytes;
}

size_t leaks()
{
    std::lock_guard<std::recursive_mutex> lock(runtime_lock());
    size_t total = 0;

    for (int device = 0; device < max_devices; device++) {
        size_t bytes, n = device_allocations(device, &bytes);
        if (n)
            report("leaked: %zu allocation%s of device memory, %zu bytes", n, n > 1 ? "s" : "",
                   bytes);
        total += n;
    }
    return total + pinned_leaks() + stream_leaks() + event_leaks() + waiting_work();
}

/* ---- the API's functions about devices and errors ---- */

namespace api {

cudaError_t cudaGetLastError()
{
    cudaError_t e = last_error;

    last_error = state.poison;
    return e;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : errors)
        if (e.error == error)
            return e.name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : errors)
        if (e.error == error)
            return e.text;
    return "unrecognized error code";
}

cudaError_t cudaGetDeviceCount(int *count)
{
    call c;

    *count = 0;
    if (c.failed())
        return c.failed();
    *count = state.visible;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    call c;

    if (c.failed())
        return c.failed();
    if (device < 0 || device >= state.visible)
        return c.done(cudaErrorInvalidDevice);
    device_of_thread = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    call c;

    if (c.failed())
        return c.failed();
    *device = device_of_thread;
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned)
{
    call c;
    return c.failed();
}

/* All that the device holds is gone, and an error that stays with it. */
cudaError_t cudaDeviceReset()
{
    call c(call::RELEASE);
    bool stays = state.poison || state.fail_sticky;

    if (state.unusable)
        return c.failed();
    if (!stays)
        run_device(device_of_thread);
    state.poison = cudaSuccess;
    state.fail_sticky = false;
    forget_streams(device_of_thread);
    forget_memory(device_of_thread);
    last_error = cudaSuccess;
    return stays ? cudaSuccess : c.done(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize()
{
    call c;

    if (c.failed())
        return c.failed();
    run_device(device_of_thread);
    return c.done(state.poison);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    call c;

    *version = state.unusable == cudaErrorInsufficientDriver ? 11040 : CUDART_VERSION;
    return c.failed() == state.unusable ? cudaSuccess : c.failed();
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    call c;

    *version = CUDART_VERSION;
    return c.failed() == state.unusable ? cudaSuccess : c.failed();
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    call c;

    if (c.failed())
        return c.failed();
    if (device < 0 || device >= state.visible || peer < 0 || peer >= state.visible)
        return c.done(cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
    call c;
    return c.failed() ? c.failed() : c.done(cudaErrorNotSupported);
}

}
}
