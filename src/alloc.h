/* The allocator of pixels and of everything whose size comes from a file: counted
 * against --max-memory, overflow-checked, and able to fail on request in tests.
 * Thread-safe. */
#ifndef GPUFILT_SRC_ALLOC_H
#define GPUFILT_SRC_ALLOC_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

/* `count` * `size` bytes, not initialised, aligned to 64 bytes; from 4 MiB up the
 * kernel is asked for huge pages, because touching fresh 4 KiB pages costs more
 * than filtering them. NULL when the product overflows, the limit would be passed
 * or the system has none left. A size of 0 gives a valid pointer. */
void *gf_alloc(uint64_t count, uint64_t size);
/* The same, filled with zero bytes. */
void *gf_alloc_zero(uint64_t count, uint64_t size);
/* Grows or shrinks to `count` * `size` bytes; on NULL the old block is untouched. */
void *gf_realloc(void *block, uint64_t count, uint64_t size);
/* Accepts NULL. */
void gf_free(void *block);

/* gf_alloc for callers that report: on failure GF_EMEMORY and a line that names
 * `what`, the bytes needed, the bytes left and the option that changes it. */
enum gf_status gf_allocate(void **block, uint64_t count, uint64_t size, const char *what,
                           struct gf_error *e);
/* Refuses early: GF_EMEMORY with the line of gf_allocate when `bytes` more do not
 * fit under the limit. Nothing is allocated. */
enum gf_status gf_memory_check(uint64_t bytes, const char *what, struct gf_error *e);

void gf_memory_set_limit(uint64_t bytes);
uint64_t gf_memory_limit(void);
uint64_t gf_memory_used(void);
uint64_t gf_memory_peak(void);

/* Test hook: the n-th allocation from now on (1 is the next) fails, and with
 * `sticky` every one after it; 0 switches it off. In builds with test hooks the
 * variable GPUFILT_TEST_ALLOC=N or N+ (sticky) does the same from the start. */
void gf_alloc_fail_at(uint64_t n, int sticky);
/* Allocations made since the last gf_alloc_fail_at, for sweeping over all of them. */
uint64_t gf_alloc_calls(void);

#endif
