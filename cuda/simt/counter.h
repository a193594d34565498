/* What the machine tells the counters (count.h) while a block runs. Only to be called when
 * `counting`. */
#ifndef GPUFILT_SIMT_COUNTER_H
#define GPUFILT_SIMT_COUNTER_H

#include "machine.h"
#include "race.h"

namespace simt {

extern bool counting;

void count_block_begins();
void count_block_ends();            /* also one that was given up, as far as its warps had met */
/* By the running thread: it enters a basic block, it touches shared, device or constant memory, it
 * copies (no `global`: only zeros). `site` is the code. */
void count_way(const void *site);
void count_access(enum access a, uintptr_t address, size_t bytes, const void *site);
void count_async(uintptr_t shared, uintptr_t global, size_t bytes, size_t zeros,
                 const void *site);
/* Thread `number` has come to where its warp meets, and goes on from there. */
void count_arrives(unsigned number, const void *site);
void count_goes_on(unsigned number, const void *site);
void count_returns(unsigned number);
/* The lanes of a warp have all arrived or returned. */
void count_met(unsigned warp);
/* An operation of these lanes. */
void count_together(unsigned mask);
void count_barrier();               /* of all threads, which have arrived */

}

#endif
