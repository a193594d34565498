/* What the mask files share among themselves; nobody else includes this. */
#ifndef GPUFILT_SRC_MASK_INTERNAL_H
#define GPUFILT_SRC_MASK_INTERNAL_H

#include "mask.h"

#include <stddef.h>

/* Separable masks with more taps than this keep their factors alone. */
#define GF_MASK_DENSE_TAPS (1u << 16)
/* Taps of an integer mask are smaller than this, as the plan's int32_t needs. */
#define GF_MASK_TAP_LIMIT 2147483648.0

/* Number of taps, all axes multiplied out. Fits: axes are at most 2^20. */
static inline uint64_t gf_mask_count(const struct gf_mask *mask)
{
    return (uint64_t)mask->size[0] * mask->size[1] * mask->size[2];
}

/* Fills in name, size, the middle as origin and divisor 1; GF_EUSAGE when an axis or, with
 * `dense`, the product is beyond the limits. Allocates all taps (dense) or the three
 * factors, zeroed. On an error the mask is empty. */
enum gf_status gf_mask_begin(struct gf_mask *mask, const char *name, const uint32_t size[3],
                             bool dense, struct gf_error *e);
/* Derives everything else from the taps or factors, divisor and sigma: makes the divisor
 * positive, multiplies factors out, sets integer, unit_sum and normalize. On an error the
 * mask is freed. */
enum gf_status gf_mask_complete(struct gf_mask *mask, struct gf_error *e);

/* exp(-t) for t >= 0, the same bits on every processor: the C library picks its code by
 * CPU and may differ in the last bit. */
double gf_exp_minus(double t);
/* Laplacian of Gaussian, dense, over 2 * radius + 1 taps an axis (gpufilt-mask(5), make
 * log). Not yet completed. */
enum gf_status gf_mask_log_taps(struct gf_mask *mask, const char *name, const double sigma[3],
                                const uint32_t radius[3], int dimensions, struct gf_error *e);
/* As `masks make log`: radius (int)(truncate * sigma + 0.5). */
enum gf_status gf_mask_log(struct gf_mask *mask, const double sigma[3], int dimensions,
                           double truncate, struct gf_error *e);
/* Ones over their count, any size. */
enum gf_status gf_mask_box(struct gf_mask *mask, const char *name, const uint32_t size[3],
                           struct gf_error *e);

/* A tap as it was written: a fraction is kept exact until it is known whether all taps of
 * the mask fit over one divisor. */
struct gf_mask_number {
    double numerator, denominator;  /* both integers, without common factor, unless the
                                     * denominator is 1 */
};
/* Reads a number or, with `fraction`, also a fraction from `length` bytes. On failure *why is
 * a clause such as "is not a number". */
bool gf_mask_number(const char *text, size_t length, bool fraction,
                    struct gf_mask_number *number, const char **why);
/* Writes number * *scale to `taps`: integers with the least common denominator as the scale
 * where all fit, else the nearest doubles with the scale 1. */
void gf_mask_scale(const struct gf_mask_number *number, uint64_t count, double *taps,
                   double *scale);

/* The files of masks/, built in by masks/embed.cmake; a row without a name ends the list. */
struct gf_mask_file {
    const char *name;           /* "gauss5-3d" */
    const unsigned char *text;
    size_t length;
};
extern const struct gf_mask_file gf_mask_files[];

/* The name in the table of named masks. */
bool gf_mask_is_named(const char *name);
/* Fails with GF_EUSAGE and what was perhaps meant. */
enum gf_status gf_mask_unknown(const char *name, struct gf_error *e);

#endif
