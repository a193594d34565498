/* The right answers of the ladders' convolutions: all outputs in double, on the host, and how far
 * a result is from them. */
#ifndef GPUFILT_SRC_BENCH_EXPECT_H
#define GPUFILT_SRC_BENCH_EXPECT_H

#include "ladder.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GF_EXPECT_MOST_TAPS = 7 * 7 * 7 };

/* Of the mask along all axes; 2D and 3D. */
uint32_t gf_expect_taps(const struct gf_ladder_work *work);
/* Outputs along x, y, z. All 0 where the whole mask must lie inside and does not fit. */
void gf_expect_size(const struct gf_ladder_work *work, uint64_t size[3]);
/* Fills the weights, x fastest: 1 + i + 2j + 4k (k is 0 in 2D) by the sum of all, rounded to
 * binary32. Positive, and rising along every axis at a rate of its own: a mask that is turned
 * round, or has two axes swapped, is another one. */
void gf_expect_mask(const struct gf_ladder_work *work, float *mask);

struct gf_expect;

/* Computes the correlation of `in` (work->size samples, rows and planes without padding) with the
 * mask: output (x, y, z) is the sum over all taps of mask[k][j][i] * in[z + k][y + j][x + i],
 * indices counted from the output's first sample, where the same size is asked for that of
 * the centre less taps / 2; 0 outside. 8 bytes an output are allocated. */
enum gf_status gf_expect_open(const struct gf_ladder_work *work, const float *mask,
                              const float *in, unsigned threads, struct gf_expect **expect,
                              struct gf_error *e);
/* |got - want| / |want|: 0 where they are equal, infinite where one is NaN or only `want` is 0. */
static inline double gf_relative_error(double got, double want)
{
    double error = got == want ? 0 : fabs(got - want) / fabs(want);
    return error >= 0 ? error : (double)INFINITY;
}
/* The largest relative error of the outputs `got`, rows `pitch` and planes `plane` samples apart;
 * infinite where one is NaN, which is also what a sample must hold that was not written. 0 without
 * outputs. */
double gf_expect_error(const struct gf_expect *expect, const float *got, uint64_t pitch,
                       uint64_t plane);
/* What the order of additions may cost a right result. */
double gf_expect_tolerance(const struct gf_ladder_work *work);
/* Accepts NULL. */
void gf_expect_close(struct gf_expect *expect);

#ifdef __cplusplus
}
#endif
#endif
