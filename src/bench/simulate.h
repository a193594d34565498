/* What the simt device shows of single ideas: lanes at work in each round of a reduction, bank
 * conflicts, a race. Counted, not timed: the same numbers on every machine. */
#ifndef GPUFILT_SRC_BENCH_SIMULATE_H
#define GPUFILT_SRC_BENCH_SIMULATE_H

#include "ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A round of a block's tree, between two barriers, as it was counted. */
struct gf_round {
    uint32_t stride;
    uint32_t active;        /* threads that added */
    uint32_t warps;         /* with at least one of them */
    uint32_t useful;        /* lane operations: additions */
    uint32_t slots;         /* issued: 32 * warps */
};
enum { GF_MOST_ROUNDS = 16 };
struct gf_rounds {
    struct gf_round round[GF_MOST_ROUNDS];
    unsigned count;
};

/* The rounds of one block of `threads` (a power of two, 32..1024) of the step `form`:
 * GF_STEP_REDUCE_PAIRS, GF_STEP_REDUCE_MODULO or GF_STEP_REDUCE_SEQUENTIAL. */
enum gf_status gf_simulate_rounds(enum gf_ladder_step_id form, unsigned threads,
                                  struct gf_rounds *rounds, struct gf_error *e);

/* A warp's read of 4-byte words (pairs: of 8 bytes) from shared memory. */
struct gf_bank_pattern {
    const char *name;       /* "stride 2", "broadcast", "pairs" */
    uint64_t requests, wavefronts; /* of one read by a warp; wavefronts / requests: rounds */
};
/* Strides 1, 2, 4, 8, 16, 32, 33, 3, broadcast, pairs. */
enum { GF_BANK_PATTERNS = 10 };
enum gf_status gf_simulate_banks(struct gf_bank_pattern pattern[GF_BANK_PATTERNS],
                                 struct gf_error *e);

/* A block reverses its elements through shared memory. Without the barrier that is a race:
 * `report` then is the simt device's line on it, with threads, warps and address. */
struct gf_reversal {
    bool right;
    char report[600];       /* "" when there was none */
};
enum gf_status gf_simulate_reversal(bool barrier, struct gf_reversal *r, struct gf_error *e);

#ifdef __cplusplus
}
#endif
#endif
