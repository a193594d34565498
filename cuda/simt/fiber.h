/* Fibers: stacks that one host thread switches between. */
#ifndef GPUFILT_SIMT_FIBER_H
#define GPUFILT_SIMT_FIBER_H

#include <cstddef>
#include <cstdint>

namespace simt {

/* Each stack lies on a multiple of its size, so that an address on the running one is known
 * from the stack pointer. Below it is as much that cannot be touched. */
constexpr size_t stack_bytes = 128 * 1024;
constexpr size_t stack_stride = 2 * stack_bytes;

/* [first, first + span) holds every stack; 0 before the first fiber. */
extern uintptr_t stacks_first;
extern size_t stacks_span;

struct fiber {
    void *context;          /* where it goes on */
    void *stack;            /* lowest address; NULL: the host's own */
    void *shadow_stack;     /* AddressSanitizer's */
};

/* Fiber i of `count`, made on its first use; entry() never returns. */
bool reserve_fibers(size_t count);
void make_fiber(struct fiber *f, size_t i, void (*entry)());
/* Leaves `from` and goes on with `to`. */
void switch_fiber(struct fiber *from, struct fiber *to);
/* The first thing on a new fiber. */
void fiber_entered();

}

#endif
