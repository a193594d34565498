/* The functions that a compiler calls for each access under -fsanitize=thread, and for each basic
 * block under -fsanitize-coverage=trace-pc. The kernels are compiled with these options for the
 * calls alone; no sanitizer's library is linked. */
#include "check.h"

#include <cstdint>
#include <cstring>

#define SITE __builtin_return_address(0)
#define ACCESS(bytes)                                                                    \
    void __tsan_read##bytes(void *p) { check(READ, p, bytes, true, SITE); }              \
    void __tsan_write##bytes(void *p) { check(WRITE, p, bytes, true, SITE); }
#define UNALIGNED(bytes)                                                                 \
    void __tsan_unaligned_read##bytes(void *p) { check(READ, p, bytes, false, SITE); }   \
    void __tsan_unaligned_write##bytes(void *p) { check(WRITE, p, bytes, false, SITE); }

#define ATOMIC(bits, type)                                                               \
    type __tsan_atomic##bits##_load(const volatile type *p, int) { return *p; }          \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int) { *p = v; }          \
    CHANGE(bits, type, exchange, __atomic_exchange_n)                                    \
    CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                    \
    CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                    \
    CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                    \
    CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                      \
    CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                    \
    CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                                  \
    SWAP_IF(bits, type, strong)                                                          \
    SWAP_IF(bits, type, weak)                                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type e, type v,    \
                                                    int, int)                            \
    {                                                                                    \
        __atomic_compare_exchange_n(p, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return e;                                                                        \
    }
#define CHANGE(bits, type, name, operation)                                              \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int)                     \
    {                                                                                    \
        return operation(p, v, __ATOMIC_SEQ_CST);                                        \
    }
#define SWAP_IF(bits, type, name)                                                        \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *e, type v, \
                                                      int, int)                          \
    {                                                                                    \
        return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST,             \
                                           __ATOMIC_SEQ_CST);                            \
    }

using namespace simt;

static void check_range(enum access a, const void *p, size_t bytes, const void *site)
{
    if (bytes)
        check(a, p, bytes, false, site);
}

extern "C" {

void __sanitizer_cov_trace_pc();
void __sanitizer_cov_trace_pc()
{
    if (counting && in_kernel())
        count_way(SITE);
}

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

void __tsan_read_range(void *p, size_t bytes) { check_range(READ, p, bytes, SITE); }
void __tsan_write_range(void *p, size_t bytes) { check_range(WRITE, p, bytes, SITE); }

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    check_range(READ, from, bytes, SITE);
    check_range(WRITE, to, bytes, SITE);
    return memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    check_range(READ, from, bytes, SITE);
    check_range(WRITE, to, bytes, SITE);
    return memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes)
{
    check_range(WRITE, to, bytes, SITE);
    return memset(to, value, bytes);
}

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}
