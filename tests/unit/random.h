/* Random numbers of the tests that draw their cases: the same sequence from the same seed. */
#ifndef GPUFILT_TESTS_UNIT_RANDOM_H
#define GPUFILT_TESTS_UNIT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static uint64_t rng;            /* the seed */

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next(void)
{
    uint64_t z = (rng += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t n) { return next() % n; }
static bool one_in(uint64_t n) { return below(n) == 0; }
static double uniform(void) { return (double)(next() >> 11) * 0x1p-53; }

#endif
