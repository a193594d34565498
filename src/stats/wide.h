/* Exact sums of integers and of floats, and what they come to as a double, rounded once. */
#ifndef GPUFILT_SRC_STATS_WIDE_H
#define GPUFILT_SRC_STATS_WIDE_H

#include "measure.h"
#include "moments.h"

/* ---- integers ---- */

/* Digits of a 128-bit two's complement integer in decimal. */
#define GF_I128_TEXT 48
const char *gf_i128_text(char text[GF_I128_TEXT], struct gf_i128 value);

/* Results of n integer samples from their exact sum and sum of squares, each the double nearest
 * to the true value (ties to even); NaN where there is none (n = 0; n <= ddof for deviations). */
struct gf_moments_results gf_integer_results(uint64_t n, struct gf_i128 sum,
                                             struct gf_i128 squares, unsigned ddof);

/* ---- floats ---- */

/* An exact accumulator of doubles and their squares: fixed point over the whole range of double
 * (Kulisch), with carries put off as in R. M. Neal, "Fast exact summation using small and large
 * superaccumulators", 2015. The order of additions makes no difference, so parts made by several
 * threads may be joined in any order. */
struct gf_exact;

/* NULL when there is no memory. */
struct gf_exact *gf_exact_new(void);
void gf_exact_free(struct gf_exact *exact);
/* Adds `count` samples of a float type; NaN and infinities are left out. */
void gf_exact_add(struct gf_exact *exact, enum gf_type type, const void *samples, uint64_t count);
/* Adds what is in `from`. */
void gf_exact_join(struct gf_exact *exact, const struct gf_exact *from);
/* As for integers; `sure` is true. A sum beyond the range of double is infinite. */
struct gf_moments_results gf_exact_results(const struct gf_exact *exact, unsigned ddof);
/* How many samples were added. */
uint64_t gf_exact_count(const struct gf_exact *exact);

#endif
