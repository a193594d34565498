/* Sums, means and deviations of float samples: one shape of additions for every device.
 *
 * THE SHAPE. A sequence of samples is cut, by index alone, into tiles of 1024, strands of 4 tiles
 * and leaves of 8 strands (the last of each may be short; a missing sample adds nothing). Sample i
 * of a tile belongs to lane i % 128. Over a strand a lane adds up its samples in their order; the
 * 128 lanes are then added by gf_lanes_total's tree; strands and leaves are merged pairwise by
 * index: (0,1) (2,3) ..., then the pairs, and so on, a missing partner being skipped. So the
 * result depends on the samples alone: not on threads, slabs or devices.
 *
 * WHY IT IS ACCURATE. Squares of small deviations beside a large mean would cancel, and 10^9
 * roundings would add up. So a tile is shifted by a centre c and scaled by a power of two, both
 * chosen from its extremes (gf_scale_of) such that d = (x - c) / 2^e is exact and |d| < 1, and d
 * is split at 2^-20: d = h + l, |l| <= 2^-21. Then
 *     sum d   = sum h   + sum l,                 sum h and sum h*h are exact in double:
 *     sum d*d = sum h*h + sum l * (2h + l),      multiples of 2^-40 below 2^13,
 * and the rest is so small that plain double additions of it cost less than 2^-66 of the whole
 * (gf_strand_end has the bounds). Of binary64 the sum of d is split at 2^-41 instead, which the
 * narrow types do not need: theirs is exact nearly always. What follows is double-double
 * arithmetic (unevaluated sums of two doubles; Dekker 1971, error bounds by Joldes, Muller and
 * Popescu 2017), moved to a common centre when two parts are merged. A centre lies within 6 ranges
 * of the data from every sample, so subtracting sum(d)^2 / n from n samples' sum(d*d) loses at
 * most log2(n) + 7 of 106 bits.
 *
 * Each sum carries a bound of its error. Where that is not far below an ulp of what is asked for
 * (sums that cancel to nearly nothing, doubles beyond 2^400), gf_moments_finish says so and the
 * sums are made again exactly (wide.h); data need to be unusual for that.
 *
 * Written in the common subset of C17 and C++17, so that CUDA reads it too. */
#ifndef GPUFILT_SRC_STATS_MOMENTS_H
#define GPUFILT_SRC_STATS_MOMENTS_H

#include "../sample.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GF_TILE = 1024,                     /* samples */
    GF_LANES = 128,
    GF_STRAND_TILES = 4,
    GF_STRAND = GF_TILE * GF_STRAND_TILES,
    GF_LEAF_STRANDS = 8,
    GF_LEAF = GF_STRAND * GF_LEAF_STRANDS
};

/* hi + lo, |lo| at most half an ulp of hi. */
struct gf_dd {
    double hi, lo;
};

/* Sums over n finite samples x of x - center and of its square, and bounds of what these are
 * wrong by (infinite or NaN: anything). n = 0: the rest is not looked at. */
struct gf_moments {
    uint64_t n;
    double center;
    struct gf_dd s1, s2;
    double e1, e2;
};

/* ---- double-double ---- */

static inline GF_HD struct gf_dd gf_two_sum(double a, double b)
{
    struct gf_dd r;
    double t;
    r.hi = a + b;
    t = r.hi - a;
    r.lo = (a - (r.hi - t)) + (b - t);
    return r;
}

/* For |a| >= |b| or a = 0. */
static inline GF_HD struct gf_dd gf_fast_two_sum(double a, double b)
{
    struct gf_dd r;
    r.hi = a + b;
    r.lo = b - (r.hi - a);
    return r;
}

static inline GF_HD struct gf_dd gf_two_product(double a, double b)
{
    struct gf_dd r;
    r.hi = a * b;
    r.lo = fma(a, b, -r.hi);
    return r;
}

/* Relative error below 2^-104 * 3, also where a and b cancel. */
static inline GF_HD struct gf_dd gf_dd_add(struct gf_dd a, struct gf_dd b)
{
    struct gf_dd s = gf_two_sum(a.hi, b.hi), t = gf_two_sum(a.lo, b.lo);
    s = gf_fast_two_sum(s.hi, s.lo + t.hi);
    return gf_fast_two_sum(s.hi, s.lo + t.lo);
}

/* Relative error below 2^-103. */
static inline GF_HD struct gf_dd gf_dd_mul(struct gf_dd a, struct gf_dd b)
{
    struct gf_dd p = gf_two_product(a.hi, b.hi);
    return gf_fast_two_sum(p.hi, p.lo + fma(a.hi, b.lo, a.lo * b.hi));
}

/* ---- a tile's centre and scale ---- */

/* How the samples of a tile are made small: d = (x - center) * 2^-exponent. */
struct gf_scale {
    double center;
    int exponent;
};

/* Beyond these exponents squares leave the range of double. Below, samples are taken to be as
 * large as that; above, the sums are not known. */
enum {
    GF_LOWEST_EXPONENT = -400,
    GF_HIGHEST_EXPONENT = 400,
    GF_CONSTANT = GF_LOWEST_EXPONENT - 1 /* all samples are the centre */
};

/* 2^e for -1022 <= e <= 1023. */
static inline GF_HD double gf_power_of_two(int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An even e with |v| < 2^e, at least GF_LOWEST_EXPONENT; for finite v. Even, so that neighbouring
 * tiles agree more often. */
static inline GF_HD int gf_exponent_above(double v)
{
    uint64_t bits;
    int e;
    memcpy(&bits, &v, sizeof bits);
    e = (int)(bits >> 52 & 0x7ff) - 1022;
    e += e & 1;
    return e > GF_LOWEST_EXPONENT ? e : GF_LOWEST_EXPONENT;
}

/* The scale of a tile whose finite samples lie in [lowest, highest], of which both occur.
 * When they are of one sign, the centre is a multiple of a power of two above their range (the
 * unit), beside them and not farther from 0 than they; it is 0 when they come close to 0, and
 * otherwise too. x - center is exact: the unit is a multiple of x's last place, so the difference
 * is one too, and it is not larger than x. */
static inline GF_HD struct gf_scale gf_scale_of(double lowest, double highest)
{
    double far = lowest > 0 ? lowest : highest < 0 ? highest : 0; /* the sample nearest to 0 */
    double largest = -lowest > highest ? -lowest : highest;
    struct gf_scale s = {0, 0};
    if (lowest == highest) {
        s.center = lowest + 0.0; /* one zero, whichever was met first */
        s.exponent = GF_CONSTANT;
        return s;
    }
    s.exponent = gf_exponent_above(largest);
    if (far != 0 && s.exponent <= GF_HIGHEST_EXPONENT) {
        int range = gf_exponent_above(highest - lowest);
        double unit = gf_power_of_two(range);
        if (largest >= unit) {
            s.center = trunc(far * gf_power_of_two(-range)) * unit;
            s.exponent = range + 1; /* |x - center| < range + unit */
        }
    }
    return s;
}

/* Whether a tile of scale `next` can go on with the sums begun with `now`: what that costs in
 * accuracy is in the bounds. */
static inline GF_HD bool gf_scale_goes_on(struct gf_scale now, struct gf_scale next)
{
    return next.center == now.center && next.exponent <= now.exponent &&
           (next.exponent >= now.exponent - 4 || next.exponent == GF_CONSTANT);
}

/* ---- a strand ---- */

/* Adding this to |d| < 1 and taking it away again rounds d to a multiple of 2^-20, ties to even;
 * the fine one, to one of 2^-41. */
#define GF_SPLITTER 6442450944.0 /* 1.5 * 2^32 */
#define GF_FINE_SPLITTER 3072.0  /* 1.5 * 2^11 */

/* The four sums of a lane, or of lanes: of g and d - g, where g is h and, of binary64, d rounded
 * finely; of h*h and l * (2h + l). */
struct gf_lane_sums {
    double h1, l1, h2, l2;
};

/* Adds a finite sample. `shrink` is 2^-exponent; `fine`: it is a binary64. */
static inline GF_HD void gf_lane_add(struct gf_lane_sums *lane, double x, double center,
                                     double shrink, bool fine)
{
    double d = x - center;
    double h = fma(d, shrink, GF_SPLITTER) - GF_SPLITTER;
    double l = fma(d, shrink, -h);
    double g = fine ? fma(d, shrink, GF_FINE_SPLITTER) - GF_FINE_SPLITTER : h;
    lane->h1 += g;
    lane->l1 += fma(d, shrink, -g);
    lane->h2 = fma(h, h, lane->h2);
    lane->l2 = fma(l, fma(2.0, h, l), lane->l2);
}

/* The tree over one of the sums of 128 lanes: four neighbours, (0+1)+(2+3); of the 32 results
 * the one of i and of i + 16, of these 16 those of i and i + 8, and so on. */
static inline GF_HD double gf_lanes_total(const double lane[GF_LANES])
{
    double t[32];
    for (int i = 0; i < 32; i++)
        t[i] = (lane[4 * i] + lane[4 * i + 1]) + (lane[4 * i + 2] + lane[4 * i + 3]);
    for (int w = 16; w >= 1; w /= 2)
        for (int i = 0; i < w; i++)
            t[i] += t[i + w];
    return t[0];
}

/* The moments of `n` samples of one scale, at most a strand of them, from the sums over all
 * lanes. `fine`: they are binary64. Else `least` is at most the smallest |x| of them that is not 0
 * (0: not known).
 *
 * Bounds, in units of the scale, u = 2^-53: a lane adds up at most 32 terms, then there are 7
 * additions above it, none of a partial sum larger than the sum of its terms' sizes.
 *   h1: multiples of 2^-20 or 2^-41 below 2^12: exact.
 *   l1: |l| <= 2^-21, so n * (33/2 + 7) * 2^-21 * u < n * 2^-69; fine, |d - g| <= 2^-42, so
 *       n * 2^-90.
 *   l2: a term is at most 2^-21 * 3|d|, and is rounded w times: once itself, up to 32, 31, ... 1
 *       times in its lane, 7 times above. By Cauchy the sum of w|d| is at most sqrt(sum w*w) *
 *       sqrt(sum d*d), and sum w*w <= n * (9^2 + ... + 40^2) / 32 < n * 26.2^2; so
 *       3 * 26.2 * 2^-21 * u * sqrt(n * s2) < 2^-67.6 * sqrt(n * s2).
 * Samples of binary32 are multiples of 2^-23 of the least of them, and so is d. When that is
 *   2^-62 or more, l1 is exact: partial sums are below 2^-9;
 *   2^-30 or more, l2 as well: terms are multiples of 2^-60, partial sums below 2^-8.
 * Squares can underflow only below 2^-400; 1e-300 is more than all of them lose. */
static inline GF_HD struct gf_moments gf_strand_end(struct gf_scale scale, uint64_t n,
                                                    const struct gf_lane_sums *sum, bool fine,
                                                    double least)
{
    struct gf_moments m;
    double count = (double)n, unit, square;
    m.n = n;
    m.center = scale.center;
    m.s1.hi = m.s1.lo = m.s2.hi = m.s2.lo = 0;
    m.e1 = m.e2 = scale.exponent > GF_HIGHEST_EXPONENT ? (double)INFINITY : 0;
    if (scale.exponent > GF_HIGHEST_EXPONENT)
        return m;
    if (scale.exponent == GF_CONSTANT)
        return m;
    unit = gf_power_of_two(scale.exponent);
    square = unit * unit;
    m.s1 = gf_two_sum(sum->h1 * unit, sum->l1 * unit);
    m.s2 = gf_two_sum(sum->h2 * square, sum->l2 * square);
    if (fine)
        m.e1 = count * unit * 8.0779356694631609e-28; /* 2^-90 */
    else if (!(least >= unit * 1.8189894035458565e-12)) /* 2^-39 */
        m.e1 = count * unit * 1.6940658945086007e-21; /* 2^-69 */
    if (fine || !(least >= unit * 0.0078125)) { /* 2^-7 */
        double root = sqrt(count * (sum->h2 + fabs(sum->l2)));
        m.e2 = square * (6.7762635780344027e-21 * root) + 1e-300; /* 2^-67 */
    }
    return m;
}

/* ---- merging ---- */

/* Moves the sums to another centre. With D = m.center - center: s2 + 2 D s1 + n D^2, s1 + n D.
 * 1e-300 is for products that underflow. */
static inline GF_HD struct gf_moments gf_moments_move(struct gf_moments m, double center)
{
    struct gf_dd shift = gf_two_sum(m.center, -center), n, step, twice, far;
    n.hi = (double)m.n; /* exact below 2^53 samples */
    n.lo = 0;
    step = gf_dd_mul(n, shift);
    twice.hi = 2 * shift.hi;
    twice.lo = 2 * shift.lo;
    twice = gf_dd_mul(twice, m.s1);
    far = gf_dd_mul(step, shift);
    m.e2 += 2 * fabs(shift.hi) * m.e1 +
            7.8886090522101181e-31 * (fabs(m.s2.hi) + fabs(twice.hi) + fabs(far.hi)) + /* 2^-100 */
            1e-300;
    m.e1 += 7.8886090522101181e-31 * (fabs(m.s1.hi) + fabs(step.hi));
    m.s2 = gf_dd_add(m.s2, gf_dd_add(twice, far));
    m.s1 = gf_dd_add(m.s1, step);
    m.center = center;
    return m;
}

/* The moments of the samples of both; a's come first. */
static inline GF_HD struct gf_moments gf_moments_merge(struct gf_moments a, struct gf_moments b)
{
    if (b.n == 0)
        return a;
    if (a.n == 0)
        return b;
    if (a.center != b.center)
        b = gf_moments_move(b, a.center);
    a.n += b.n;
    a.s1 = gf_dd_add(a.s1, b.s1);
    a.s2 = gf_dd_add(a.s2, b.s2);
    a.e1 += b.e1 + 7.8886090522101181e-31 * fabs(a.s1.hi);
    a.e2 += b.e2 + 7.8886090522101181e-31 * fabs(a.s2.hi);
    return a;
}

/* ---- the tree over leaves ---- */

/* What has been merged of the leaves so far: at most one part for each power of two. Zeroed at
 * the start. */
struct gf_moments_tree {
    uint64_t leaves;
    struct gf_moments part[64]; /* part[k], of 2^k leaves, when bit k of `leaves` is set */
};

/* Adds a part of 2^level leaves (level 0: one leaf); `leaves` must be a multiple of that. */
void gf_moments_tree_add(struct gf_moments_tree *tree, unsigned level, struct gf_moments part);
/* All of them; n = 0 when there were none. */
struct gf_moments gf_moments_tree_total(const struct gf_moments_tree *tree);

/* ---- results ---- */

/* Each within 1 ulp of the true value when `sure`; deviations divide by n - ddof and are NaN when
 * that is not above 0. With n = 0 the sum is 0, the others NaN. */
struct gf_moments_results {
    double sum, mean, variance, std, rms;
    bool sure;          /* false: the bounds do not vouch for all of them */
};

struct gf_moments_results gf_moments_finish(const struct gf_moments *m, unsigned ddof);

#ifdef __cplusplus
}
#endif
#endif
