/* The inner loops of the CPU backend as a table of functions, one table for each
 * instruction set. A lane is one channel of one pixel, a row of lanes the interleaved
 * samples of a row; one tap to the side is a step of `channels` lanes. */
#ifndef GPUFILT_SRC_CPU_KERNELS_H
#define GPUFILT_SRC_CPU_KERNELS_H

#include "../backend.h"
#include "../sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a lane is while it is summed. EXACT plans use the narrowest that holds their
 * greatest sum: I16 is arithmetic modulo 2^16, read as signed or not at the end; F32 is
 * exact below 2^24. */
enum gf_lane { GF_LANE_I16, GF_LANE_I32, GF_LANE_F32, GF_LANE_F64, GF_LANE_COUNT };

/* Rows must be readable and writable this many lanes past their end: sums are made in
 * whole vectors. */
#define GF_LANE_SLACK 64

/* Rows of output that one call sums together, sharing what it loads. */
#define GF_CHAIN_ROWS 4

/* Sums of taps, in the order x, y, z, each from +0:
 *   to[o][l] = chain over k < nz, j < ny, i < nx of
 *              taps[(k*ny + j)*nx + i] * rows[k*(ny+outputs-1) + o + j][l + i*step]
 * for l < lanes. A separable pass is the case of a single axis. */
struct gf_chain {
    const void *const *rows;
    size_t nz, ny, nx, step;
    const void *taps;
    void *const *to;
    size_t outputs; /* 1 .. GF_CHAIN_ROWS */
    size_t lanes;
};

/* Division by constants of an EXACT plan with NORMALIZE or alpha. */
struct gf_ratio {
    unsigned channels;
    int alpha;              /* alpha lane to divide colour by, or -1 */
    int64_t color_factor;   /* alpha: tap_total * alpha_scale */
    int64_t plain_factor;   /* NORMALIZE: the total, else 1 */
    int64_t color_divisor;  /* divisor */
    int64_t plain_divisor;  /* divisor, tap_total for an alpha lane */
    bool wide;              /* a numerator may need more than 52 bits */
    bool to_integer;
};

struct gf_kernels {
    const char *name;
    bool fused; /* has hardware fma: float sums are cheaper than int32_t sums */

    void (*load[GF_LANE_COUNT][GF_TYPE_COUNT])(const void *from, void *to, size_t n);
    /* Colour lanes *= the pixel's alpha lane. */
    void (*premultiply[GF_LANE_COUNT])(void *lanes, size_t pixels, unsigned channels,
                                       unsigned alpha);
    void (*chain[GF_LANE_COUNT])(const struct gf_chain *chain);

    /* Widening of sums. */
    void (*i16_to_i32)(const uint16_t *from, bool is_signed, int32_t *to, size_t n);
    void (*f32_to_i32)(const float *from, int32_t *to, size_t n);
    void (*f32_to_f64)(const float *from, double *to, size_t n);

    /* Finishing in place: lanes *= r; colour = colour / alpha lane * scale, alpha lane /=
     * gain (r already applied to it). */
    void (*scale_f32)(float *v, const float *r, size_t n);
    void (*scale_f64)(double *v, const double *r, size_t n);
    void (*alpha_f32)(float *v, size_t pixels, unsigned channels, unsigned alpha, float scale,
                      float gain, float *scratch, const float *r);
    void (*alpha_f64)(double *v, size_t pixels, unsigned channels, unsigned alpha, double scale,
                      double gain, double *scratch, const double *r);
    /* v = acc / divisor, to be rounded by the store; see filter_tmpl.c for why that is
     * exact. divide_f32 demands |acc| < 2^22 and divisor < 2^24. */
    void (*divide_f32)(const int32_t *acc, int64_t divisor, float *v, size_t n);
    void (*divide_f64)(const int32_t *acc, int64_t divisor, double *v, size_t n);
    /* inside: a value a lane, or NULL without NORMALIZE. */
    void (*ratio)(const struct gf_ratio *ratio, const int32_t *acc, const double *inside,
                  double *v, size_t pixels);

    /* Storing: round, saturate, count. NULL where the wider store must be used. */
    void (*store_i16[2][GF_TYPE_COUNT])(const uint16_t *acc, unsigned shift, void *to, size_t n,
                                        struct gf_counts *counts); /* [is_signed] */
    void (*store_i32[GF_TYPE_COUNT])(const int32_t *acc, unsigned shift, void *to, size_t n,
                                     struct gf_counts *counts);
    void (*store_f32[GF_TYPE_COUNT])(const float *v, void *to, size_t n,
                                     struct gf_counts *counts);
    void (*store_f64[GF_TYPE_COUNT])(const double *v, void *to, size_t n,
                                     struct gf_counts *counts);
};

extern const struct gf_kernels gf_kernels_baseline, gf_kernels_avx2, gf_kernels_avx512;

/* The best table for this machine, or the one GPUFILT_CPU names in builds with test hooks. */
enum gf_status gf_kernels_choose(const struct gf_kernels **kernels, struct gf_error *e);

#endif
