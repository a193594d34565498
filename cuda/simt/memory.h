/* Device memory: one range of addresses, a part of it for each device, where allocations lie far
 * apart. Each byte has a state byte, so that reading what nothing wrote is found. */
#ifndef GPUFILT_SIMT_MEMORY_H
#define GPUFILT_SIMT_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr int max_devices = 16;
constexpr size_t one_device_span = size_t(1) << 33;
constexpr size_t device_span = max_devices * one_device_span;
extern uintptr_t device_first;          /* device_span addresses; 0 before memory_begin() */
extern uintptr_t kernel_first;          /* those of the device that runs a kernel */
extern unsigned char *device_state;     /* 1: written; 0: not, or in no allocation */

struct allocation {
    uintptr_t first;
    size_t bytes;
    int device;
};

/* Reserves the addresses; false when the process may not. */
bool memory_begin();
/* NULL when less than `bytes` are left of the device's memory. */
void *device_allocate(size_t bytes, int device);
bool device_release(void *p);           /* false: not what device_allocate() gave */
/* The one that holds the address, or NULL; the nearest one that begins there or before it, and
 * the nearest one that begins after it. */
const struct allocation *allocation_at(uintptr_t address);
const struct allocation *allocation_before(uintptr_t address);
const struct allocation *allocation_after(uintptr_t address);
size_t device_used(int device);
/* Drops all of the device. */
void forget_memory(int device);
size_t device_allocations(int device, size_t *bytes);

/* Whether [p, p + bytes) lies in one allocation. */
bool device_range(const void *p, size_t bytes);
inline bool in_device_memory(const void *p)
{
    return reinterpret_cast<uintptr_t>(p) - device_first < device_span;
}
void mark_written(const void *p, size_t bytes);
/* The first byte of the range that nothing wrote, or NULL. */
const void *first_unwritten(const void *p, size_t bytes);

}

#endif
