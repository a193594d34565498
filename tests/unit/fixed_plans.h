/* The plans that check_backend always runs, all of them. Fixed plans: every input type in the
 * arithmetic that plans give it, every output type, every border, separable and direct masks
 * in 2D and 3D, images just smaller than, as large as and just larger than the mask. Edge
 * plans: exact sums on both sides of what 16 bits, a float and 32 bits hold. */
#ifndef GPUFILT_TESTS_UNIT_FIXED_PLANS_H
#define GPUFILT_TESTS_UNIT_FIXED_PLANS_H

#include "random_plan.h"

static const struct {
    enum gf_type in;
    enum gf_arith arith;
} fixed_inputs[] = {
    {GF_U8, GF_EXACT}, {GF_I8, GF_EXACT}, {GF_U16, GF_EXACT}, {GF_I16, GF_EXACT},
    {GF_U8, GF_FLOAT}, {GF_I8, GF_FLOAT}, {GF_U16, GF_FLOAT}, {GF_I16, GF_FLOAT},
    {GF_F16, GF_FLOAT}, {GF_F32, GF_FLOAT},
    {GF_U32, GF_DOUBLE}, {GF_I32, GF_DOUBLE}, {GF_F64, GF_DOUBLE},
};

/* An odd and an even mask, and one narrow along x. */
static const uint32_t fixed_masks[][3] = {{5, 3, 1}, {4, 5, 1}, {3, 5, 3}, {2, 3, 4}};

enum {
    FIXED_INPUTS = sizeof fixed_inputs / sizeof fixed_inputs[0],
    FIXED_SHAPES = 7,
    /* in, out, border, two masks of each dimension and kind, shape */
    FIXED_PLANS = FIXED_INPUTS * GF_TYPE_COUNT * GF_BORDER_COUNT * 4 * FIXED_SHAPES
};

/* Length s of an axis for a mask of `size` taps: 1, 2, one less, as many, one more, a prime,
 * another prime longer than any vector. */
static uint64_t fixed_length(unsigned s, uint32_t size)
{
    const uint64_t lengths[FIXED_SHAPES] = {1, 2, size > 1 ? size - 1 : 1, size, size + 1, 13, 37};
    return lengths[s % FIXED_SHAPES];
}

/* Taps along an axis or of a whole mask: small integers, some of them 0 and, with `below_0`,
 * some negative; otherwise quarters of them. */
static void fixed_taps(double *taps, size_t n, size_t start, bool integers, bool below_0)
{
    static const int cycle[] = {1, 3, 0, 2, -1, 4, 1, -2, 5, 0, 1};

    for (size_t i = 0; i < n; i++) {
        double t = cycle[(i * 7 + start) % (sizeof cycle / sizeof cycle[0])];
        taps[i] = (below_0 ? t : fabs(t)) * (integers ? 1 : 0.1875);
    }
}

/* Plan `index` < FIXED_PLANS; false where the border needs a larger image. The parts of the
 * index that are not multiplied out are cycled through. */
static bool fixed_plan(struct gf_plan *p, unsigned index)
{
    unsigned shape = index % FIXED_SHAPES, kind = index / FIXED_SHAPES % 4;
    unsigned rest = index / (4 * FIXED_SHAPES);
    enum gf_border border = (enum gf_border)(rest % GF_BORDER_COUNT);
    enum gf_type out = (enum gf_type)(rest / GF_BORDER_COUNT % GF_TYPE_COUNT);
    unsigned input = rest / (GF_BORDER_COUNT * GF_TYPE_COUNT);
    bool volume = kind >= 2, direct = kind % 2 == 1, exact;
    const uint32_t *size = fixed_masks[(volume ? 2 : 0) + (shape + rest) % 2];
    double taps[64], axis[3][5];
    const double *const axes[3] = {axis[0], axis[1], axis[2]};
    /* Negative taps have no weight inside. */
    bool below_0 = border != GF_BORDER_NORMALIZE && index % 3 != 0;
    uint64_t n[3];

    exact = fixed_inputs[input].arith == GF_EXACT;
    n[0] = fixed_length(shape, size[0]);
    n[1] = fixed_length(shape + rest % 3, size[1]);
    n[2] = volume ? fixed_length(shape + 2 + rest % 2, size[2]) : 1 + index % 2;
    if (n[2] > 13)
        n[2] = 7;
    for (int a = 0; a < 3; a++)
        if (border == GF_BORDER_VALID && n[a] < size[a])
            return false;
    plan_begin(p, fixed_inputs[input].arith, border, n[0], n[1], n[2], 1 + index % 4,
               fixed_inputs[input].in, out);
    if (direct) {
        fixed_taps(taps, (size_t)size[0] * size[1] * size[2], index % 5, exact, below_0);
        plan_direct(p, size, taps);
    } else {
        for (int a = 0; a < 3; a++)
            fixed_taps(axis[a], size[a], size[a] > 1 ? (size_t)a : 0, exact, below_0);
        if (size[2] == 1)
            axis[2][0] = 1;
        plan_separable(p, size, axes);
    }
    if (border == GF_BORDER_CONSTANT)
        p->fill = index % 5 * 25;
    if (exact) {
        static const int64_t divisors[] = {16, 9, 1, 2048};
        p->divisor = index % 5 == 4 && p->tap_total > 0 ? p->tap_total : divisors[index % 4];
        p->gain = (double)p->tap_total / (double)p->divisor;
    }
    for (int a = 0; a < 3 && border == GF_BORDER_VALID; a++)
        p->shift[a] = p->origin[a];
    if (border == GF_BORDER_VALID) {
        p->out.width = n[0] - size[0] + 1;
        p->out.height = n[1] - size[1] + 1;
        p->out.depth = n[2] - size[2] + 1;
    }
    return true;
}

/* A single tap, whose product with the greatest sample is just inside or just beyond a limit
 * of some type: 2^15, 2^16, 2^22, 2^24, 2^31. */
static const int edge_taps[] = {
    128, 129, 255, 256, 257, 258, 16447, 16448, 16449, 65793, 65794, 131072, 131073, 8421504,
    1, 2, 64, 65, 511, 512, 513, 32767, 32769, 65535, 16777215,
};
static const int edge_divisors[] = {1, 3, 256, 1000};

enum {
    EDGE_TAPS = sizeof edge_taps / sizeof edge_taps[0],
    /* in, out, tap of either sign, divisor */
    EDGE_PLANS = 4 * GF_TYPE_COUNT * EDGE_TAPS * 2 * 4
};

/* Plan `index` < EDGE_PLANS; false where no exact plan may have such a tap. */
static bool edge_plan(struct gf_plan *p, unsigned index)
{
    static const uint32_t size[3] = {1, 1, 1};
    enum gf_type in = small[index % 4], out = (enum gf_type)(index / 4 % GF_TYPE_COUNT);
    unsigned rest = index / (4 * GF_TYPE_COUNT);
    double tap = edge_taps[rest / 8] * (rest % 2 == 1 ? -1.0 : 1.0);
    double highest = fmax(-gf_type_row(in)->lowest, gf_type_row(in)->highest);

    if (fabs(tap) * highest >= 2147483648.0)
        return false;
    plan_begin(p, GF_EXACT, GF_BORDER_CLAMP, 37, 2, 1, 1, in, out);
    plan_direct(p, size, &tap);
    p->divisor = edge_divisors[rest / 2 % 4];
    p->gain = tap / (double)p->divisor;
    return true;
}

#endif
