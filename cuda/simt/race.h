/* Shared memory: which threads touched each byte last, and whether that is ordered with the
 * thread that touches it now. */
#ifndef GPUFILT_SIMT_RACE_H
#define GPUFILT_SIMT_RACE_H

#include "machine.h"

namespace simt {

/* Addresses around the block's shared memory that count as an access beside it. */
constexpr size_t shared_margin = 1 << 20;
constexpr size_t shared_span = 2 * shared_margin + (256 << 10);
extern uintptr_t shared_first;      /* of the span; 0 before shared_begin() */

enum access { READ, WRITE, ATOMIC };
extern const char *const access_names[];

/* By the thread that runs, at an address in the span; `site` is the code. */
void check_shared(enum access a, uintptr_t address, size_t bytes, const void *site);
/* A copy into shared memory begins; it is there when it has ended. */
void check_async_begin(uintptr_t address, size_t bytes, const void *site);
void check_async_end(uintptr_t address, size_t bytes);

bool shared_begin();
void race_launch(size_t shared);    /* bytes of each block */
void race_block();                  /* a new block: its shared memory holds nothing */
/* Fails where a thread read what nobody has written since: at a barrier, at the end of a block,
 * before another failure, which may come of it. */
void fail_if_unwritten();
void race_thread(unsigned number);  /* this one runs from now on, or again */
void race_barrier();                /* all threads of the block met */
/* These lanes of a warp met; `all`: it has no others. */
void race_syncwarp(unsigned warp, unsigned mask, bool all);

}

#endif
