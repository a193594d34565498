/* The switch is a few instructions on x86-64 and ARM64; elsewhere ucontext does it, with system
 * calls. */
#include "fiber.h"

#include <cstring>
#include <sys/mman.h>

#if !defined(SIMT_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define SIMT_UCONTEXT 1
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif

/* There where the program is linked with AddressSanitizer, which must know the stack. */
extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **save, const void *bottom,
                                                          size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *saved, const void **old_bottom,
                                                           size_t *old_size);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *p, size_t bytes);
}

namespace simt {

uintptr_t stacks_first;
size_t stacks_span;

static struct {
    const void *stack;
    size_t bytes;
} host;                                 /* the host thread's stack, learnt at the first switch */
static struct fiber *left, *entered;    /* the last switch */

bool reserve_fibers(size_t count)
{
    size_t span = (count + 1) * stack_stride;
    void *p;

    if (stacks_first)
        return true;
    p = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    stacks_first = (reinterpret_cast<uintptr_t>(p) + stack_stride - 1) & ~(stack_stride - 1);
    stacks_span = count * stack_stride;
    for (size_t i = 0; i < count; i++)
        if (mprotect(reinterpret_cast<char *>(stacks_first) + i * stack_stride + stack_bytes,
                     stack_bytes, PROT_READ | PROT_WRITE) != 0) {
            stacks_first = 0;
            return false;
        }
    return true;
}

#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)

/* Saves what a call must keep, changes the stack, restores. */
extern "C" void simt_switch(void **save, void *load);
__asm__(R"(
    .text
    .globl simt_switch
    .hidden simt_switch
    .type simt_switch, @function
    .p2align 4
simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size simt_switch, . - simt_switch
)");

static void *first_context(char *top, void (*entry)())
{
    void **sp = reinterpret_cast<void **>(top);

    *--sp = nullptr;        /* entry()'s return address: the end of a backtrace */
    *--sp = reinterpret_cast<void *>(entry);
    for (int i = 0; i < 6; i++)
        *--sp = nullptr;
    return sp;
}

#elif defined(__aarch64__) && !defined(SIMT_UCONTEXT)

extern "C" void simt_switch(void **save, void *load);
__asm__(R"(
    .text
    .globl simt_switch
    .hidden simt_switch
    .type simt_switch, %function
    .p2align 4
simt_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size simt_switch, . - simt_switch
)");

static void *first_context(char *top, void (*entry)())
{
    void **sp = reinterpret_cast<void **>(top) - 20;

    memset(sp, 0, 20 * sizeof *sp);
    sp[11] = reinterpret_cast<void *>(entry);       /* x30 */
    return sp;
}

#else

static ucontext_t contexts[1026];
static size_t contexts_made;

static void simt_switch(void **save, void *load)
{
    if (!*save)
        *save = &contexts[contexts_made++];
    swapcontext(static_cast<ucontext_t *>(*save), static_cast<ucontext_t *>(load));
}

static void *first_context(char *top, void (*entry)())
{
    uintptr_t last = reinterpret_cast<uintptr_t>(top) - 1;
    uintptr_t stack = last & ~(uintptr_t(stack_bytes) - 1);
    ucontext_t *c = &contexts[1 + (stack - stacks_first) / stack_stride];

    getcontext(c);
    c->uc_stack.ss_sp = reinterpret_cast<void *>(stack);
    c->uc_stack.ss_size = reinterpret_cast<uintptr_t>(top) - stack;
    c->uc_link = nullptr;
    makecontext(c, entry, 0);
    return c;
}

#endif

void make_fiber(struct fiber *f, size_t i, void (*entry)())
{
    char *stack = reinterpret_cast<char *>(stacks_first) + i * stack_stride + stack_bytes;

    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(stack, stack_bytes);
    f->stack = stack;
    f->shadow_stack = nullptr;
    /* Not all at the same place of a page: the processor's cache would hold only a few. */
    f->context = first_context(stack + stack_bytes - i % 32 * 192, entry);
}

void fiber_entered()
{
    const void *bottom;
    size_t bytes;

    if (!__sanitizer_finish_switch_fiber)
        return;
    __sanitizer_finish_switch_fiber(entered->shadow_stack, &bottom, &bytes);
    if (!left->stack) {
        host.stack = bottom;
        host.bytes = bytes;
    }
}

void switch_fiber(struct fiber *from, struct fiber *to)
{
    if (__sanitizer_start_switch_fiber) {
        left = from;
        entered = to;
        if (to->stack)
            __sanitizer_start_switch_fiber(&from->shadow_stack, to->stack, stack_bytes);
        else
            __sanitizer_start_switch_fiber(&from->shadow_stack, host.stack, host.bytes);
    }
    simt_switch(&from->context, to->context);
    fiber_entered();
}

}
