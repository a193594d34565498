/* Natural numbers wide enough for n * sum(x^2) of any doubles, and what they come to. */
#ifndef GPUFILT_SRC_STATS_WIDE_INTERNAL_H
#define GPUFILT_SRC_STATS_WIDE_INTERNAL_H

#include "moments.h"

__extension__ typedef unsigned __int128 gf_u128;
__extension__ typedef __int128 gf_s128;

/* In units of 2^-2148, the square of the least double, n * sum(x^2) of n < 2^64 doubles is below
 * 2^4324: 68 words. A quotient takes 4 more. */
#define GF_WIDE_WORDS 72

/* Little end first. */
struct gf_wide {
    uint64_t word[GF_WIDE_WORDS];
};

/* Adds value * 2^shift; what is beyond the last word is lost. */
void gf_wide_add(struct gf_wide *to, gf_u128 value, unsigned shift);
/* Takes b from a; true when that is below zero, and then a holds b - a. */
bool gf_wide_subtract(struct gf_wide *a, const struct gf_wide *b);

/* The results, each rounded once, of n samples whose sum is `sum` * 2^exponent (negated with
 * `negative`) and whose sum of squares is `squares` * 2^(2 * exponent). */
struct gf_moments_results gf_wide_results(uint64_t n, bool negative, const struct gf_wide *sum,
                                          const struct gf_wide *squares, int exponent,
                                          unsigned ddof);

#endif
