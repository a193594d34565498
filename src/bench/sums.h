/* The right sums of a ladder's samples, exact. */
#ifndef GPUFILT_SRC_BENCH_SUMS_H
#define GPUFILT_SRC_BENCH_SUMS_H

#include "ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Marks are samples whose sum is exact in binary32 in whatever order they are added, so that the
 * right sum is one number and not a range. Up to 2^22 of them each is 1, 2 or 3; of more about
 * 2^22 are, which a hash chooses, and the others are 0. Always chosen are the first and the last
 * ones, those near powers of two, where the numbers of blocks, grids and 32-bit indices end, and
 * near multiples of 256 among the last ones, where the last blocks and vectors begin. The sum stays
 * below 3 * (2^22 + 2^14) < 2^24. It shows what a tolerance hides: samples that are left out, added
 * twice or read from another place, as they are at the ends of vectors, blocks and grids; a partial
 * sum that is lost. A single sample in the middle of more than 2^22 can still be missed. */
enum { GF_MARKS_LOG = 22, GF_MARK_NEAR = 8, GF_MARK_END = 512, GF_MARK_EDGES = 3 * 65536 };

/* So many bits of a hash have to be 0 for a mark that is not 0. */
static inline unsigned gf_mark_bits(uint64_t n)
{
    unsigned bits = 0;
    while (n >> bits > UINT64_C(1) << GF_MARKS_LOG)
        bits++;
    return bits;
}

static inline GF_HD float gf_ladder_mark(uint64_t index, uint64_t n, unsigned bits)
{
    uint64_t z = (index + 1) * UINT64_C(0xd1342543de82ef95), near = index + GF_MARK_NEAR;
    uint64_t middle = near - near % (2 * GF_MARK_NEAR); /* index is less than 9 from it */
    bool chosen;
    z = (z ^ z >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    z ^= z >> 29;
    chosen = (z & ((UINT64_C(1) << bits) - 1)) == 0 || (middle & (middle - 1)) == 0 ||
             n - index <= GF_MARK_END || (n - index <= GF_MARK_EDGES && middle % 256 == 0);
    return chosen ? (float)(1 + (z >> 40) % 3) : 0.0f;
}

enum gf_sum_of { GF_SUM_SAMPLES, GF_SUM_STRESS, GF_SUM_MARKS };

/* The sum of n of them, 1 <= n <= 2^39, rounded once. */
enum gf_status gf_ladder_sum(enum gf_sum_of of, uint64_t n, double *sum, struct gf_error *e);
/* The bits of the first n samples, joined by exclusive or. */
enum gf_status gf_ladder_parity(uint64_t n, bool stress, uint32_t *parity, struct gf_error *e);
/* Fills samples[0, n). */
enum gf_status gf_ladder_fill(float *samples, uint64_t n, bool stress, struct gf_error *e);
/* How many of samples[0, n) have other bits than they should. */
enum gf_status gf_ladder_differ(const float *samples, uint64_t n, bool stress, uint64_t *count,
                                struct gf_error *e);

#ifdef __cplusplus
}
#endif
#endif
