/* Every access of a kernel to memory passes here: to the stack of its thread it is free, to
 * shared and device memory it is looked at, elsewhere only constants may be read. */
#ifndef GPUFILT_SIMT_CHECK_H
#define GPUFILT_SIMT_CHECK_H

#include "counter.h"
#include "fiber.h"
#include "memory.h"
#include "race.h"

#include <cstring>

namespace simt {

/* Of device memory, where some bytes were not written so far. */
void check_device(enum access a, uintptr_t address, size_t bytes, const void *site);
/* Neither the thread's stack nor shared nor device memory. */
void check_elsewhere(enum access a, uintptr_t address, size_t bytes, const void *site);
[[noreturn]] void fail_misaligned(enum access a, uintptr_t address, size_t bytes,
                                  const void *site);
/* Code of the host in a kernel's file. */
[[noreturn]] void host_touches_device(const void *site);

/* check() where kernels are counted. */
void check_and_count(enum access a, const volatile void *p, size_t bytes, bool aligned,
                     const void *site);

/* Whether the state bytes of a range are all 1. */
inline bool all_written(const unsigned char *state, size_t bytes)
{
    constexpr uint64_t ones = 0x0101010101010101u;
    uint64_t w = 0;

    switch (bytes) {
    case 1: return *state == 1;
    case 2: memcpy(&w, state, 2); return w == (ones & 0xffff);
    case 4: memcpy(&w, state, 4); return w == (ones & 0xffffffffu);
    case 8: memcpy(&w, state, 8); return w == ones;
    case 16: return all_written(state, 8) && all_written(state + 8, 8);
    default: return !memchr(state, 0, bytes);
    }
}

/* `site` is the code that makes the access; `aligned` that the device wants it on a multiple of
 * its size; `counted` that it is one of the kernel's own. */
__attribute__((always_inline)) inline void check(enum access a, const volatile void *p,
                                                 size_t bytes, bool aligned, const void *site,
                                                 bool counted = true)
{
    uintptr_t address = reinterpret_cast<uintptr_t>(p);
    uintptr_t stack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));

    if ((address ^ stack) < stack_bytes)
        return;
    if (stack - stacks_first >= stacks_span) {
        if (address - device_first < device_span)
            host_touches_device(site);
        return;
    }
    if (counted && __builtin_expect(counting, false)) {
        check_and_count(a, p, bytes, aligned, site);
        return;
    }
    if (address - shared_first < shared_span) {
        if (aligned && address % bytes != 0)
            fail_misaligned(a, address, bytes, site);
        check_shared(a, address, bytes, site);
    } else if (address - kernel_first < one_device_span) {
        if (aligned && address % bytes != 0)
            fail_misaligned(a, address, bytes, site);
        if (!all_written(device_state + (address - device_first), bytes))
            check_device(a, address, bytes, site);
    } else {
        check_elsewhere(a, address, bytes, site);
    }
}

/* Whether the code that calls this runs in a kernel. */
__attribute__((always_inline)) inline bool in_kernel()
{
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - stacks_first < stacks_span;
}

}

#endif
