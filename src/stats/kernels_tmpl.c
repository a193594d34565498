/* The measurer's inner loops, compiled once for each instruction set from a file that defines
 *   GF_KERNELS        the name of the table to define
 *   GF_KERNELS_NAME   its name as a string,
 * and is given the instruction set by the compiler's flags. Loops over integers are left to the
 * compiler's vectoriser. Everything is static: a function with a vector instruction must not be
 * picked by the linker for a machine without it. */
#include "kernels.h"
#include "keys.h"

#include "../cpu/simd.h"

/* clang unrolls what it vectorises, but does not vectorise what it is told to unroll. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

#include "integers_tmpl.h"

/* ---- floats ---- */

/* The extremes of a tile's finite samples, and the smallest size that is not 0 (infinite where all
 * are; 0: not known). */
struct tile {
    double lowest, highest, least;
};

/* The lanes of gf_lane_add. */
struct lanes {
    double h1[GF_LANES], l1[GF_LANES], h2[GF_LANES], l2[GF_LANES];
};

/* Tiles of a strand that are added up under one scale. */
struct run {
    uint64_t n;
    struct gf_scale scale;
    double least;
    struct lanes lanes;
};

static void run_end(const struct run *run, bool fine, struct gf_part *found)
{
    struct gf_lane_sums sum;

    if (run->n == 0)
        return;
    sum.h1 = gf_lanes_total(run->lanes.h1);
    sum.l1 = gf_lanes_total(run->lanes.l1);
    sum.h2 = gf_lanes_total(run->lanes.h2);
    sum.l2 = gf_lanes_total(run->lanes.l2);
    found->moments = gf_moments_merge(found->moments,
                                      gf_strand_end(run->scale, run->n, &sum, fine,
                                                    run->least));
}

/* Counts a tile of `n` finite samples in, ending the run where it cannot go on. False when the
 * lanes need not be told: nothing would be added, or it would not be looked at. */
static bool run_takes(struct run *run, bool fine, const struct tile *tile, uint64_t n,
                      struct gf_part *found)
{
    struct gf_scale scale = gf_scale_of(tile->lowest, tile->highest);

    if (run->n == 0 || !gf_scale_goes_on(run->scale, scale)) {
        run_end(run, fine, found);
        *run = (struct run){.scale = scale, .least = tile->least};
    }
    run->n += n;
    run->least = tile->least < run->least ? tile->least : run->least;
    return scale.exponent != GF_CONSTANT && run->scale.exponent <= GF_HIGHEST_EXPONENT;
}

/* w * x + a for an exact product, which is rounded once either way. Products by a power of two
 * are, or else they are so far below `a` that it makes no difference or `a` is 0; and so are
 * h * h of 2 * 20 bits. */
static inline f64_vec exact_fma(f64_vec w, f64_vec x, f64_vec a)
{
#if GF_SIMD_FUSED
    return f64_fma(w, x, a);
#else
    return w * x + a;
#endif
}

typedef float sample_f32;
typedef double sample_f64;

/* l has at most 24 bits of a binary32's 24, and 2h + l at most 26: a product of 50. */
#define F f32
#define B uint32_t
#define I int32_t
#define INFINITE GF_INFINITE_BITS_4
#define WIDEN f64_load_f32
#define FMA exact_fma
#define FINE 0
#include "floats_tmpl.h"
#define F f64
#define B uint64_t
#define I int64_t
#define INFINITE GF_INFINITE_BITS_8
#define WIDEN f64_load
#define FMA f64_fma
#define FINE 1
#include "floats_tmpl.h"

static void f16_to_f32(const uint16_t *from, float *to, size_t count)
{
    size_t i = 0;

#ifdef __F16C__
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
#endif
    for (; i < count; i++)
        to[i] = gf_f16_to_f32(from[i]);
}

static void strand_f16(const void *samples, size_t count, struct gf_part *found)
{
    float wide[GF_STRAND];

    f16_to_f32(samples, wide, count);
    strand_f32(wide, count, found);
}

#include "keys_tmpl.h"

#define X(NAME, name, ctype, bytes, is_float, lowest, highest) [GF_##NAME] = strand_##name,
const struct gf_stats_kernels GF_KERNELS = {
    .name = GF_KERNELS_NAME,
    .strand = {GF_TYPES(X)},
    .count_top = {top_8, top_8, top_16, top_16, top_u32, top_i32, top_16, top_f32, top_f64},
    .count_below = {[GF_U32] = below_u32, [GF_I32] = below_i32, [GF_F32] = below_f32,
                    [GF_F64] = below_f64},
};
