/* What the mask files share among themselves; nobody else includes this. */
#ifndef GPUFILT_SRC_MASK_INTERNAL_H
#define GPUFILT_SRC_MASK_INTERNAL_H

#include "mask.h"

#include <stddef.h>

/* Separable masks with more taps than this keep their factors alone. */
#define GF_MASK_DENSE_TAPS (1u << 16)
/* Taps of an integer mask are smaller than this, as the plan's int32_t needs. */
#define GF_MASK_TAP_LIMIT 2147483648.0

/* Fills in name, size, the middle as origin and divisor 1; GF_EUSAGE when an axis or, with
 * `dense`, the product is beyond the limits. Allocates all taps (dense) or the three
 * factors, zeroed. On an error the mask is empty. */
enum gf_status gf_mask_begin(struct gf_mask *mask, const char *name, const uint32_t size[3],
                             bool dense, struct gf_error *e);
/* Derives everything else from the taps or factors, divisor and sigma: makes the divisor
 * positive, multiplies factors out, sets integer, unit_sum and normalize, factors integer
 * taps. On an error the mask is freed. */
enum gf_status gf_mask_complete(struct gf_mask *mask, struct gf_error *e);

/* exp(-t) for t >= 0, the same bits on every processor: the C library picks its code by
 * CPU and may differ in the last bit. */
double gf_exp_minus(double t);
/* Laplacian of Gaussian, dense, over 2 * radius + 1 taps an axis (gpufilt-mask(5), make
 * log). Not yet completed. */
enum gf_status gf_mask_log_taps(struct gf_mask *mask, const char *name, const double sigma[3],
                                const uint32_t radius[3], int dimensions, struct gf_error *e);
/* Finds factors of an integer mask that multiply out exactly; sets separable. A mask that
 * has no exact integer factors, or only zeros, stays as it is. */
enum gf_status gf_mask_factor(struct gf_mask *mask, struct gf_error *e);

/* A tap as it was written: a fraction is kept exact until it is known whether all taps of
 * the mask fit over one divisor. */
struct gf_mask_number {
    double numerator, denominator;  /* both integers, without common factor, unless the
                                     * denominator is 1 */
};
/* What is wrong with the text of a number. */
enum gf_mask_fault {
    GF_FAULT_NONE,
    GF_FAULT_NO_NUMBER,
    GF_FAULT_NOT_FINITE,
    GF_FAULT_TOO_LONG,
    GF_FAULT_NO_FRACTION,
    GF_FAULT_BY_ZERO
};
/* Reads a number or, with `fraction`, also a fraction from `length` bytes. */
enum gf_mask_fault gf_mask_number(const char *text, size_t length, bool fraction,
                                  struct gf_mask_number *number);
/* The fault as a clause such as "is not finite", to follow the text. */
const char *gf_mask_fault_words(enum gf_mask_fault fault);
/* Greatest common divisor, 0 only of 0 and 0. */
int64_t gf_mask_gcd(int64_t a, int64_t b);
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
