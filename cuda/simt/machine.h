/* What a kernel's source sees of the machine that runs it: who it is, its shared memory, and
 * the operations that threads do together. A block's threads are fibers of one host thread,
 * so that everything here is ordinary memory; one block runs at a time. */
#ifndef GPUFILT_SIMT_MACHINE_H
#define GPUFILT_SIMT_MACHINE_H

#include "vectors.h"

#include <cstddef>
#include <cstdint>

namespace simt {

using api::dim3;
using api::uint3;

constexpr unsigned warp_size = 32;
constexpr unsigned max_threads = 1024;          /* of a block */
constexpr size_t default_shared = 48 * 1024;    /* bytes of a block without asking */
constexpr size_t max_shared = 227 * 1024;       /* after asking, as on compute capability 9.0 */

/* The thread that runs now. */
struct place {
    uint3 thread, block, block_dim, grid_dim;
};
extern const struct place *here;

/* A load that the instrumentation does not see. The value is the same all through a thread's
 * life, so that the compiler may keep it. */
__attribute__((always_inline)) inline unsigned own(const unsigned *p)
{
    unsigned v;
#if defined(__x86_64__)
    __asm__("movl (%1), %0" : "=r"(v) : "r"(p));
#elif defined(__aarch64__)
    __asm__("ldr %w0, [%1]" : "=r"(v) : "r"(p));
#else
    v = *p;
#endif
    return v;
}
__attribute__((always_inline)) inline const struct place *own_place()
{
    const struct place *p;
#if defined(__x86_64__)
    __asm__("movq (%1), %0" : "=r"(p) : "r"(&here));
#elif defined(__aarch64__)
    __asm__("ldr %0, [%1]" : "=r"(p) : "r"(&here));
#else
    p = here;
#endif
    return p;
}
__attribute__((always_inline)) inline uint3 own(const uint3 *v)
{
    return {own(&v->x), own(&v->y), own(&v->z)};
}

/* The block's dynamic shared memory, 1024-byte aligned. */
void *shared_memory();

/* Of __syncthreads() and its three forms that vote. */
enum barrier_kind { BARRIER, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };
int barrier(enum barrier_kind kind, int predicate, const char *file, int line);

/* What the lanes of a warp do together. Each lane gives `value` and gets its result. */
enum warp_kind {
    WARP_SYNC,
    WARP_SHUFFLE, WARP_UP, WARP_DOWN, WARP_XOR,
    WARP_BALLOT, WARP_ALL, WARP_ANY, WARP_MATCH_ANY,
    WARP_ADD, WARP_MIN_UNSIGNED, WARP_MAX_UNSIGNED, WARP_MIN_INT, WARP_MAX_INT,
    WARP_BIT_AND, WARP_BIT_OR, WARP_BIT_XOR
};
uint64_t warp(enum warp_kind kind, unsigned mask, uint64_t value, unsigned lane, int width,
              const char *file, int line);
unsigned active_lanes();        /* of the warp: those that have not returned */

/* Read-modify-write. X(type) below is every type that CUDA has them for. */
#define SIMT_ATOMIC_TYPES(X) X(int) X(unsigned) X(unsigned long long) X(float) X(double)
#define SIMT_ATOMIC(type)                                           \
    type atomic_add(type *p, type v);                               \
    type atomic_min(type *p, type v);                               \
    type atomic_max(type *p, type v);                               \
    type atomic_exchange(type *p, type v);
SIMT_ATOMIC_TYPES(SIMT_ATOMIC)
#undef SIMT_ATOMIC
#define SIMT_ATOMIC_BIT_TYPES(X) X(int) X(unsigned) X(unsigned long long)
#define SIMT_ATOMIC(type)                                           \
    type atomic_and(type *p, type v);                               \
    type atomic_or(type *p, type v);                                \
    type atomic_xor(type *p, type v);                               \
    type atomic_swap_if(type *p, type expected, type v);
SIMT_ATOMIC_BIT_TYPES(SIMT_ATOMIC)
#undef SIMT_ATOMIC
unsigned atomic_increment(unsigned *p, unsigned limit);

/* cp.async: the bytes arrive when the issuing thread waits, not before. */
void async_copy(void *shared, const void *global, size_t bytes, size_t zeros);
void async_commit();
void async_wait(unsigned groups_left);

/* assert() and __trap(). */
[[noreturn]] void trap(const char *what, const char *file, int line);

}

#endif
