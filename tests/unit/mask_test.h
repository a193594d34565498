/* What test_mask and test_mask_text share. */
#ifndef GPUFILT_TESTS_UNIT_MASK_TEST_H
#define GPUFILT_TESTS_UNIT_MASK_TEST_H

#include "alloc.h"
#include "mask.h"
#include "mask_internal.h"
#include "util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 1;

static inline uint32_t random_below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

static inline bool same(double a, double b)
{
    return a == b && signbit(a) == signbit(b);
}

/* Every field but the name. Prints the first that differs. */
static inline bool masks_equal(const struct gf_mask *a, const struct gf_mask *b)
{
    const char *field = NULL;
    if (memcmp(a->size, b->size, sizeof a->size) != 0)
        field = "size";
    else if (memcmp(a->origin, b->origin, sizeof a->origin) != 0)
        field = "origin";
    else if (!same(a->divisor, b->divisor))
        field = "divisor";
    else if (a->integer != b->integer || a->separable != b->separable)
        field = "integer or separable";
    else if (a->unit_sum != b->unit_sum || a->normalize != b->normalize)
        field = "unit_sum or normalize";
    else if (memcmp(a->sigma, b->sigma, sizeof a->sigma) != 0)
        field = "sigma";
    else if ((a->taps == NULL) != (b->taps == NULL))
        field = "taps";
    for (int d = 0; d < 3 && field == NULL && a->separable; d++)
        for (uint32_t i = 0; i < a->size[d]; i++)
            if (!same(a->factor[d][i], b->factor[d][i]))
                field = "factor";
    for (uint64_t i = 0; field == NULL && a->taps != NULL && i < gf_mask_count(a); i++)
        if (!same(a->taps[i], b->taps[i]))
            field = "a tap";
    if (field != NULL)
        print_error("%s: %s differs\n", a->name, field);
    return field == NULL;
}

#endif
