/* Read-modify-write operations: plain ones, for one thread runs at a time. */
#include "machine_internal.h"
#include "check.h"

#include <cstring>

namespace simt {

template <typename T, typename F> static T change(T *p, F f, const void *site)
{
    T old;

    check(ATOMIC, p, sizeof *p, true, site);
    memcpy(&old, p, sizeof old);
    T changed = f(old);
    memcpy(p, &changed, sizeof changed);
    return old;
}

/* Integer sums wrap. */
static int sum(int a, int b)
{
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
static unsigned sum(unsigned a, unsigned b) { return a + b; }
static unsigned long long sum(unsigned long long a, unsigned long long b) { return a + b; }
static float sum(float a, float b) { return a + b; }
static double sum(double a, double b) { return a + b; }

#define CHANGE(type, name, result)                                                  \
    type name(type *p, type v)                                                      \
    {                                                                               \
        return change(p, [v](type old) -> type { return result; },                  \
                      __builtin_return_address(0));                                 \
    }
#define ANY(type)                                                                   \
    CHANGE(type, atomic_add, sum(old, v))                                           \
    CHANGE(type, atomic_min, v < old ? v : old)                                     \
    CHANGE(type, atomic_max, v > old ? v : old)                                     \
    CHANGE(type, atomic_exchange, ((void)old, v))
SIMT_ATOMIC_TYPES(ANY)
#define BITS(type)                                                                  \
    CHANGE(type, atomic_and, old & v)                                               \
    CHANGE(type, atomic_or, old | v)                                                \
    CHANGE(type, atomic_xor, old ^ v)                                               \
    type atomic_swap_if(type *p, type expected, type v)                             \
    {                                                                               \
        return change(p, [=](type old) -> type { return old == expected ? v : old; }, \
                      __builtin_return_address(0));                                 \
    }
SIMT_ATOMIC_BIT_TYPES(BITS)
CHANGE(unsigned, atomic_increment, old >= v ? 0 : old + 1)

}
