/* What kernels do, counted as a GPU would do it: by warps.
 *
 * The threads of a block do not run in step here, so a warp's steps are put together afterwards.
 * Each lane's way (the basic blocks it went through, and its accesses in them) is kept until
 * the warp meets: at __syncthreads(), in an operation of all its lanes, at its end.
 * Then the ways are walked through as one: lanes at the same place take a step together, which
 * is one warp instruction; where they part, each group goes alone up to the block that all ways
 * lead through again (the nearest post-dominator, as far as the ways are known), and they go on
 * together from there. The numbers are the same in every run of a program.
 *
 * Counted are kernels compiled with -fsanitize-coverage=trace-pc too (the argument COUNTED of
 * gpufilt_simt_kernels() in CMakeLists.txt); of others the lanes' ways are not known, so that
 * steps may be taken apart that a GPU takes together.
 *
 * What is not seen, or otherwise than on a GPU:
 *   - Instructions that touch no memory and no other lane: arithmetic, addresses, jumps, and
 *     local variables.
 *   - The accesses are those that the host's compiler left: what it keeps in a register is not
 *     read again, and a structure (float4) may be one access of its size or one of each member.
 *   - Branches are those that it left, too. A branch that every thread took the same way in
 *     every launch is none.
 *   - Lanes that part meet again as early as they can. A GPU since Volta may let them part longer,
 *     and short branches it does not take at all, but masks the instructions.
 *   - Caches: each request of global memory counts all its sectors. */
#ifndef GPUFILT_SIMT_COUNT_H
#define GPUFILT_SIMT_COUNT_H

#include <cstddef>
#include <cstdint>

namespace simt {

struct counts {
    uint64_t blocks, threads;
    /* Accesses to shared, device and constant memory, atomics, async copies, barriers, and what
     * lanes do together (shuffles, votes, __syncwarp()): executed for a warp, and the lanes that
     * took part. */
    uint64_t warp_instructions, lane_operations;
    /* Ends of basic blocks, reached by a warp or a part of it, after which threads were seen to
     * go on in more than one way; divergent: these lanes did. */
    uint64_t branches, divergent_branches;
    uint64_t barriers;          /* __syncthreads() and its kin, once a block */
    /* Of shared memory: 32 banks of 4 bytes. A warp's access is one request, of 8 bytes to each
     * lane two (for each half of the warp), of 16 bytes four. A request takes as many wavefronts
     * as there are different words in the bank that has most; of an atomic, as there are lanes in
     * that bank, for those to one word come one after another. */
    uint64_t shared_requests, shared_wavefronts;
    uint64_t global_requests, global_sectors;   /* a warp's accesses; different 32 bytes of each */
    uint64_t atomics;           /* a warp's, on shared and on device memory */
};

/* What a block did to shared memory between two barriers, or before the first or after the last
 * one. */
struct interval {
    uint64_t loads, stores;     /* of lanes; not atomics */
    uint64_t store_requests;    /* of warps */
    uint64_t requests, wavefronts; /* of all kinds */
    unsigned threads, warps;    /* that stored */
    size_t reach;               /* bytes from the lowest address to the highest one that a thread
                                 * touched which stored: the largest */
};

/* Counts all kernels that run from now on; with `intervals`, also keeps the first `most`
 * intervals of them, block after block. Work that is still in streams has not run. */
void count_begin(struct interval *intervals = nullptr, size_t most = 0);
/* Ends it, and says how many intervals were kept. */
size_t count_end(struct counts *counts);

}

#endif
