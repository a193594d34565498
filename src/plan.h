/* The plan: everything that decides the value of every output sample, validated and
 * immutable. Made from the request, the file's header and the mask; a backend trusts it
 * and decides nothing. Readable from C17 and C++17. */
#ifndef GPUFILT_SRC_PLAN_H
#define GPUFILT_SRC_PLAN_H

#include "border.h"
#include "image.h"
#include "inside.h"
#include "sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type the taps, the sums and the intermediate of separable passes have. */
enum gf_arith {
    GF_EXACT,  /* int32_t; the final division by the divisor is rounded once */
    GF_FLOAT,  /* float;  acc = fmaf(tap, sample, acc) from +0 */
    GF_DOUBLE, /* double; acc = fma(tap, sample, acc) from +0 */
    GF_ARITH_COUNT
};

/* One image through one mask.
 *
 * Loading. A sample becomes an accumulator lane: its value converted to the arithmetic's
 * type; with alpha_multiply a colour lane is value * alpha (in that type, one rounding)
 * and the alpha lane is alpha. Outside the image: the sample at gf_border_index an axis,
 * or, where that is -1 for any axis, `fill` in every lane (fill*fill in a colour lane
 * with alpha_multiply; 0 for NORMALIZE).
 *
 * Summing. Separable: pass x over factor[0], then y over factor[1], then z over factor[2],
 * each acc from 0 in rising tap order, the intermediate in the arithmetic's type; passes
 * of axes with size 1 and tap 1 are skipped (so a -0 stays one). Direct: acc over taps, x
 * fastest, then y, then z. Output sample (x, y, z) of the output image is centred on
 * input sample (x + shift[0], y + shift[1], z + shift[2]): tap i of axis a lies over input
 * index  out + shift[a] - origin[a] + i.
 *
 * Finishing, for a lane `acc`, with r = 1 except for NORMALIZE (below):
 *   plain lane             v = acc * r / divisor
 *   with alpha_divide:
 *     alpha lane           v = acc * r / (divisor * gain)
 *     colour lane          v = acc * gain * alpha_scale / alpha acc; 0 where alpha acc <= 0
 *                          or is NaN
 *   alpha_keep: the alpha lane is the input's alpha at the centre, copied.
 * EXACT: v is the exact rational (64-bit integers suffice: divisor, tap_total and alpha_scale are
 *   integers; gain = tap_total / divisor), rounded once to an integer type; for a float type it
 *   is (double)numerator / (double)denominator, then rounded to the type. A denominator of 0
 *   (NORMALIZE with no weight inside) gives what that division gives: infinite or NaN.
 * FLOAT and DOUBLE: taps already hold the weight (tap / divisor, rounded to the type), so the
 *   divisor is 1 there: v = acc for a plain lane; acc * (T)r for NORMALIZE; colour lane
 *   (acc / alpha_acc) * (T)(gain * alpha_scale); alpha lane (acc * (T)r) / (T)gain; every
 *   operation rounded in the arithmetic's type T, r computed in double; "* (T)r" only for
 *   NORMALIZE.
 *
 * NORMALIZE. Axis a keeps, when separable, the prefix sums of its factor: inside_sum[a][i] =
 * sum of the first i taps (size[a] + 1 values, double); the weight inside is the product
 * over x, y, z in this order of inside_sum[a][hi] - inside_sum[a][lo], where [lo, hi) are the
 * taps over the image. Direct: inside_box holds 3D prefix sums of the taps, (size+1) values an
 * axis, x fastest, and the weight inside is by inclusion and exclusion over the eight corners,
 * in the order of gf_inside_weight. r = total / inside, from gf_plan_total and gf_plan_inside.
 * EXACT: both are integers: acc * total / (divisor * inside).
 *
 * Storing. Integer types: round to nearest, ties to even; below lowest or above highest:
 * saturated and counted as clipped; NaN: 0 and counted. Float types: rounded to the type;
 * a finite value that becomes infinite is counted as clipped; NaN: the quiet NaN of sign 0
 * and payload 0 (0x7e00, 0x7fc00000, 0x7ff8000000000000), because which NaN a sum gives
 * depends on the machine. alpha_keep copies bits where the type stays, else it stores as above. */
struct gf_plan {
    struct gf_image in, out;    /* shapes only: meta is empty */
    int dimensions;             /* 2: every plane by itself; 3 */
    enum gf_border border;
    double fill;                /* for CONSTANT */
    enum gf_arith arith;
    bool separable;
    uint32_t size[3], origin[3];
    int64_t shift[3];           /* first output sample's place in the input (valid, roi) */
    void *factor[3];            /* separable: size[a] taps of the arithmetic's type */
    void *taps;                 /* direct: all taps of the arithmetic's type, x fastest */
    int64_t divisor;            /* EXACT: > 0; 1 otherwise */
    int64_t tap_total;          /* EXACT: sum of the taps */
    double gain;                /* sum of the weights; exactly 1 for a unit-sum mask */
    bool alpha_multiply, alpha_divide, alpha_keep;
    double alpha_scale;         /* 1 with alpha_multiply; else the highest alpha: 255, 65535, 1.0 */
    double *inside_sum[3];      /* NORMALIZE and separable */
    double *inside_box;         /* NORMALIZE and direct */

    /* What it will cost; also in --explain. */
    uint64_t slab;              /* output rows (2D) or planes (3D) handled at a time */
    unsigned buffers;           /* 1, or 2 of each kind when the stages overlap */
    uint64_t host_bytes;        /* buffers of samples, besides what the coding keeps */
    unsigned threads;           /* >= 1; never changes the result */

    /* For a backend on a GPU; 0 and false are the defaults. Never change the result. */
    int gpu;                    /* index among the visible devices */
    uint64_t gpu_memory;        /* most bytes to allocate there; 0: what is free, less a margin */
    bool packed;                /* rows without padding between them (--layout packed) */
};

/* Whether a separable plan has no pass along an axis: one tap of 1, or none. */
bool gf_plan_skips(const struct gf_plan *plan, int axis);

/* The plan's prefix sums as gf_inside_at and gf_inside_total read them; borrowed. */
struct gf_inside gf_plan_inside_of(const struct gf_plan *plan);
/* Weight inside for output sample (x, y, z), as NORMALIZE defines it above. */
double gf_plan_inside(const struct gf_plan *plan, uint64_t x, uint64_t y, uint64_t z);
/* The weight inside when no tap is outside. */
double gf_plan_total(const struct gf_plan *plan);

/* Input indices [*first, *last) of axis `axis` that output indices [begin, end) read,
 * border included. */
void gf_plan_reach(const struct gf_plan *plan, int axis, uint64_t begin, uint64_t end,
                   uint64_t *first, uint64_t *last);

/* A wrapped image seen as a longer one that does not reach outside along the axis in which slabs
 * are cut (y in 2D, z in 3D): `before` rows or planes of its end stand before it and `after` of its
 * start behind it, again and again where the mask is larger than the image. The same sums of the
 * same samples, and a slab then needs only what lies under the mask. */
struct gf_unrolled {
    struct gf_plan plan;        /* over the longer image; borrows the arrays, not to be freed */
    uint64_t before, after;     /* 0 for every border but WRAP */
};
struct gf_unrolled gf_plan_unroll(const struct gf_plan *plan);

#endif
