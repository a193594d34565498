/* Entropy of a histogram. */
#ifndef GPUFILT_SRC_STATS_ENTROPY_H
#define GPUFILT_SRC_STATS_ENTROPY_H

#include <stdint.h>

/* The sum of c/n * log2(n/c) over the counts c that are not 0, n their sum, in bits; NaN when n is
 * 0. The logarithm is made of additions, multiplications and divisions only, so that every machine
 * gives the same bits (the C library's depend on the processor). Relative error below 1e-14. */
double gf_entropy(const uint64_t *count, uint64_t bins);

#endif
