/* What the files of the machine share. */
#ifndef GPUFILT_SIMT_MACHINE_INTERNAL_H
#define GPUFILT_SIMT_MACHINE_INTERNAL_H

#include "api.h"
#include "fiber.h"
#include "launch.h"
#include "machine.h"

namespace simt {

using namespace api;

/* ---- block.cpp ---- */

struct thread {
    struct place place;
    unsigned number;                /* in the block, x fastest */
    struct fiber *fiber;            /* NULL before it starts */
    enum { READY, AT_BARRIER, AT_WARP, RETURNED } state;
    /* What it waits for: */
    int kind;
    unsigned mask, lane;
    int width;
    const char *file;
    int line;
    const void *site;               /* the code */
    uint64_t value, result;
};

extern struct thread *self;         /* the one that runs; NULL between kernels */
extern struct thread threads[max_threads];
extern unsigned thread_count;       /* of the block */

/* Runs all blocks; the result is what was wrong with them. */
cudaError_t run_grid(const struct kernel_call *call, dim3 grid, dim3 block, size_t shared);

/* ---- report.cpp ---- */

/* Ends the launch: from a thread of a kernel, with what it did wrong. `site` and `other` are
 * code addresses: the line begins with the place of the first and ends with `other_text` and the
 * place of the second, where that is not NULL. */
struct failure {
    cudaError_t error;
    const void *site, *other;
    const char *other_text;
    const char *file;           /* instead of site, when a source line is known */
    int line;
    char text[600];
};
extern struct failure failure;
[[noreturn]] void fail(cudaError_t error, const void *site, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void fail_at_line(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void abandon_block();
/* Prints the line on standard error and keeps it for last_report(). */
void report_failure();
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "thread (5,0,0) of block (0,1,0)", in one of a few buffers. */
const char *name_of(const struct thread *t);
const char *thread_of(const struct thread *t);      /* without the block */

}

#endif
