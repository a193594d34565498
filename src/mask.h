/* Masks (convolution kernels): integer or real taps over one divisor, in 1, 2 or 3
 * dimensions, with an origin; separable ones as one vector an axis. */
#ifndef GPUFILT_SRC_MASK_H
#define GPUFILT_SRC_MASK_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

/* Most taps a mask may have, all axes multiplied out; a separable one is limited by
 * GF_MASK_MAX_AXIS alone. */
#define GF_MASK_MAX_TAPS (1u << 24)
#define GF_MASK_MAX_AXIS (1u << 20)

/* Axis 0 is x, 1 is y, 2 is z everywhere. */
struct gf_mask {
    char name[64];          /* "gauss5", a file's name, "inline" */
    uint32_t size[3];       /* width, height, depth in taps, each >= 1 */
    uint32_t origin[3];     /* the tap that lies over the output sample: size/2 unless given */
    bool integer;           /* every tap (every factor's tap) is an integer, |tap| < 2^31 */
    double divisor;         /* the weight of a tap is tap / divisor; finite, > 0 */
    bool separable;         /* mask[z][y][x] = factor[2][z] * factor[1][y] * factor[0][x] */
    double *factor[3];      /* size[a] taps each when separable, else NULL */
    double *taps;           /* size[2]*size[1]*size[0], x fastest; NULL when separable and
                             * more than 2^16 taps: gf_mask_tap gives them all the same */
    double sigma[3];        /* what a sampled Gaussian was asked for; 0 otherwise */
    bool unit_sum;          /* the weights sum to 1 by definition (exactly, not by rounding) */
    bool normalize;         /* a smoothing mask: output keeps the sample type */
};

/* Every mask that the functions below make has its integer taps factored, where they have
 * exact factors. */

/* A named mask for `dimensions` 2 or 3 ("gauss5", "box3", "sobel", "log5", ...), one
 * GF_EUSAGE line with "did you mean" otherwise. Derivatives are along x; "sobel-x",
 * "sobel-y", "sobel-z" name the axis. */
enum gf_status gf_mask_named(struct gf_mask *mask, const char *name, int dimensions,
                             struct gf_error *e);

/* Sampled Gaussian: radius (int)(truncate * sigma + 0.5) an axis, taps exp(-x^2/2s^2) in
 * double, normalised (scipy.ndimage.gaussian_filter1d, order 0). Sigma 0 along an axis
 * leaves that axis alone. */
enum gf_status gf_mask_gaussian(struct gf_mask *mask, const double sigma[3], int dimensions,
                                double truncate, struct gf_error *e);

/* Laplacian of Gaussian over the same radius, sampled and made to sum to 0. */
enum gf_status gf_mask_log(struct gf_mask *mask, const double sigma[3], int dimensions,
                           double truncate, struct gf_error *e);
/* Ones over their count, any size. */
enum gf_status gf_mask_box(struct gf_mask *mask, const char *name, const uint32_t size[3],
                           struct gf_error *e);

/* Parses the text format of gpufilt-mask(5); `name` is used in messages with the line, and
 * without folder and ".mask" as the mask's name. */
enum gf_status gf_mask_parse(struct gf_mask *mask, const char *text, uint64_t length,
                             const char *name, struct gf_error *e);
/* Parses a mask given on the command line: taps by ',' or blanks, rows by ';', planes by
 * ';;', optional "WxH[xD][+X+Y[+Z]]:" before and " / N" divisor after: see gpufilt-mask(5). */
enum gf_status gf_mask_parse_inline(struct gf_mask *mask, const char *text, struct gf_error *e);

/* What -k means, in this order: "@FILE" or a path that ends in ".mask"; an inline mask
 * (numbers, or anything with ',' ';' or blanks); a path that contains '/'; a file NAME.mask
 * in GPUFILT_MASK_PATH; a named mask; a file NAME.mask in masks/ beside the binary, one up,
 * or in the install prefix; a mask built into the binary. For dimensions 3 NAME-3d.mask
 * comes before NAME.mask, and a NAME.mask does not hide a named mask's 3D form. */
enum gf_status gf_mask_find(struct gf_mask *mask, const char *spec, int dimensions,
                            struct gf_error *e);
/* True when `spec` names a file or is the mask itself, and so is the same in 2D and 3D. */
bool gf_mask_is_given(const char *spec);

/* Turned round along every axis (convolution = correlation with this). */
void gf_mask_flip(struct gf_mask *mask);
/* Sum of the weights (tap / divisor), 1 exactly when unit_sum. */
double gf_mask_sum(const struct gf_mask *mask);
/* Sum of |tap|, without the divisor. */
double gf_mask_abs_sum(const struct gf_mask *mask);
/* Number of taps, all axes multiplied out. Fits: axes are at most 2^20. */
static inline uint64_t gf_mask_count(const struct gf_mask *mask)
{
    return (uint64_t)mask->size[0] * mask->size[1] * mask->size[2];
}
/* The tap at i (x), j (y), k (z), without the divisor. */
double gf_mask_tap(const struct gf_mask *mask, uint32_t i, uint32_t j, uint32_t k);

/* The mask as text in the format of gpufilt-mask(5), shortest digits that read back the
 * same; gf_free the string. */
enum gf_status gf_mask_print(const struct gf_mask *mask, char **text, struct gf_error *e);

/* The table of named masks, for `masks list` and help; NULL past the end. */
struct gf_mask_row {
    const char *name;
    const char *summary;
    int dimensions;     /* 2, 3, or 0 for both forms */
};
const struct gf_mask_row *gf_mask_row(unsigned index);

/* Accepts a zeroed struct. */
void gf_mask_free(struct gf_mask *mask);

#endif
