#include "memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <sys/mman.h>

namespace simt {

uintptr_t device_first, kernel_first;
unsigned char *device_state;

/* Unused addresses around every allocation. Allocations begin at odd multiples of 256, the
 * alignment that CUDA promises. */
static constexpr size_t red_zone = 64 * 1024;
static constexpr size_t alignment = 256;
/* Addresses are not used again before the search has gone over so many. */
static constexpr size_t resting = size_t(64) << 20;
/* Freed memory from this size on goes back to the system. */
static constexpr size_t give_back = 1 << 20;

/* Never destroyed: it is asked for leaks when the program ends. */
static std::map<uintptr_t, struct allocation> &allocations()
{
    static auto &all = *new std::map<uintptr_t, struct allocation>;
    return all;
}

/* Where the next search begins on each device: freed addresses rest. */
static uintptr_t cursors[max_devices];

static uintptr_t first_of(int device)
{
    return device_first + static_cast<size_t>(device) * one_device_span;
}

static void *reserve(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

bool memory_begin()
{
    void *bytes, *state;

    if (device_first)
        return true;
    bytes = reserve(device_span);
    state = bytes ? reserve(device_span) : nullptr;
    if (!state) {
        if (bytes)
            munmap(bytes, device_span);
        return false;
    }
    device_first = reinterpret_cast<uintptr_t>(bytes);
    device_state = static_cast<unsigned char *>(state);
    for (int i = 0; i < max_devices; i++)
        cursors[i] = first_of(i);
    return true;
}

/* The first gap of `bytes` between `from` and `end`, or 0. */
static uintptr_t find_gap(uintptr_t from, uintptr_t end, size_t bytes)
{
    auto &all = allocations();
    auto next = all.lower_bound(from);

    if (next != all.begin()) {
        const struct allocation &before = std::prev(next)->second;
        from = std::max(from, before.first + before.bytes);
    }
    for (; next != all.end() && next->first < end; ++next) {
        if (next->first - from >= bytes)
            return from;
        from = next->second.first + next->second.bytes;
    }
    return end > from && end - from >= bytes ? from : 0;
}

void *device_allocate(size_t bytes, int device)
{
    if (bytes > one_device_span / 2)
        return nullptr;
    size_t needed = bytes + 2 * red_zone + 2 * alignment;
    uintptr_t begin = first_of(device), end = begin + one_device_span;
    uintptr_t &cursor = cursors[device];
    uintptr_t gap = cursor - begin <= resting ? find_gap(cursor, end, needed) : 0;
    if (!gap)
        gap = find_gap(begin, end, needed);
    if (!gap)
        return nullptr;

    uintptr_t first = (gap + red_zone + 2 * alignment - 1) / (2 * alignment) * (2 * alignment)
                      + alignment;
    allocations()[first] = {first, bytes, device};
    cursor = first + bytes;
    return reinterpret_cast<void *>(first);
}

static void forget(uintptr_t first, size_t bytes)
{
    unsigned char *state = device_state + (first - device_first);

    if (bytes < give_back) {
        memset(state, 0, bytes);
        return;
    }
    uintptr_t from = (first + 4095) & ~uintptr_t(4095), end = (first + bytes) & ~uintptr_t(4095);
    madvise(reinterpret_cast<void *>(from), end - from, MADV_DONTNEED);
    memset(state, 0, from - first);
    madvise(device_state + (from - device_first), end - from, MADV_DONTNEED);
    memset(device_state + (end - device_first), 0, first + bytes - end);
}

bool device_release(void *p)
{
    auto found = allocations().find(reinterpret_cast<uintptr_t>(p));

    if (found == allocations().end())
        return false;
    forget(found->second.first, found->second.bytes);
    allocations().erase(found);
    return true;
}

void forget_memory(int device)
{
    auto &all = allocations();

    for (auto next = all.begin(); next != all.end();) {
        if (next->second.device == device) {
            forget(next->second.first, next->second.bytes);
            next = all.erase(next);
        } else {
            ++next;
        }
    }
}

const struct allocation *allocation_before(uintptr_t address)
{
    auto next = allocations().upper_bound(address);
    return next == allocations().begin() ? nullptr : &std::prev(next)->second;
}

const struct allocation *allocation_after(uintptr_t address)
{
    auto next = allocations().upper_bound(address);
    return next == allocations().end() ? nullptr : &next->second;
}

const struct allocation *allocation_at(uintptr_t address)
{
    const struct allocation *a = allocation_before(address);
    return a && address - a->first < a->bytes ? a : nullptr;
}

size_t device_allocations(int device, size_t *bytes)
{
    size_t n = 0;

    *bytes = 0;
    for (const auto &entry : allocations())
        if (entry.second.device == device) {
            n++;
            *bytes += entry.second.bytes;
        }
    return n;
}

size_t device_used(int device)
{
    size_t bytes;
    device_allocations(device, &bytes);
    return bytes;
}

bool device_range(const void *p, size_t bytes)
{
    uintptr_t first = reinterpret_cast<uintptr_t>(p);
    const struct allocation *a = allocation_at(first);
    return a && a->bytes - (first - a->first) >= bytes;
}

void mark_written(const void *p, size_t bytes)
{
    memset(device_state + (reinterpret_cast<uintptr_t>(p) - device_first), 1, bytes);
}

const void *first_unwritten(const void *p, size_t bytes)
{
    const unsigned char *state = device_state + (reinterpret_cast<uintptr_t>(p) - device_first);
    const void *zero = memchr(state, 0, bytes);

    return zero ? static_cast<const char *>(p) + (static_cast<const unsigned char *>(zero) - state)
                : nullptr;
}

}
