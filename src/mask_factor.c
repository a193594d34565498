/* Exact factoring of integer masks. Every number here is an integer below 2^31, so all
 * products of two are exact in int64_t. */
#include "alloc.h"
#include "mask_internal.h"

#include <math.h>

/* Copies the line of taps through the pivot along axis `a`, divided by its greatest common
 * divisor. The sign makes the sum positive; where the sum is 0, the first tap that is not 0
 * is negative, as derivatives are written. True when the sum is 0. */
static bool primitive_line(const struct gf_mask *mask, const uint32_t pivot[3], int a, double *line)
{
    int64_t divisor = 0, sum = 0, first = 0;
    uint32_t at[3] = {pivot[0], pivot[1], pivot[2]};
    for (uint32_t i = 0; i < mask->size[a]; i++) {
        int64_t tap;
        at[a] = i;
        line[i] = gf_mask_tap(mask, at[0], at[1], at[2]);
        tap = (int64_t)line[i];
        divisor = gf_mask_gcd(divisor, tap);
        sum += tap;
        first = first != 0 ? first : tap;
    }
    if (sum < 0 || (sum == 0 && first > 0))
        divisor = -divisor;
    for (uint32_t i = 0; i < mask->size[a]; i++)
        line[i] = (double)((int64_t)line[i] / divisor);
    return sum == 0;
}

/* Whether scale * z * y * x gives every tap. */
static bool multiplies_out(const struct gf_mask *mask, double *const line[3], int64_t scale)
{
    const int64_t limit = (int64_t)GF_MASK_TAP_LIMIT;
    for (uint32_t k = 0; k < mask->size[2]; k++)
        for (uint32_t j = 0; j < mask->size[1]; j++) {
            int64_t zy = (int64_t)line[2][k] * (int64_t)line[1][j];
            /* Each line holds a tap that is not 0, so a product beyond the limit cannot
             * be part of the mask; this keeps the next products in range. */
            if (zy <= -limit || zy >= limit)
                return false;
            zy *= scale;
            if (zy <= -limit || zy >= limit)
                return false;
            for (uint32_t i = 0; i < mask->size[0]; i++)
                if (zy * (int64_t)line[0][i] != (int64_t)gf_mask_tap(mask, i, j, k))
                    return false;
        }
    return true;
}

/* The scale that makes the three lines give the pivot tap; 0 when there is none. */
static int64_t find_scale(const struct gf_mask *mask, double *const line[3],
                          const uint32_t pivot[3])
{
    int64_t scale = (int64_t)gf_mask_tap(mask, pivot[0], pivot[1], pivot[2]);
    for (int a = 0; a < 3; a++) {
        int64_t part = (int64_t)line[a][pivot[a]];
        if (scale % part != 0)
            return 0;
        scale /= part;
    }
    return scale;
}

static bool find_pivot(const struct gf_mask *mask, uint32_t pivot[3])
{
    uint64_t count = gf_mask_count(mask);
    for (uint64_t i = 0; i < count; i++)
        if (mask->taps[i] != 0) {
            uint64_t row = i / mask->size[0];
            pivot[0] = (uint32_t)(i % mask->size[0]);
            pivot[1] = (uint32_t)(row % mask->size[1]);
            pivot[2] = (uint32_t)(row / mask->size[1]);
            return true;
        }
    return false;
}

static void scale_line(double *line, uint32_t count, int64_t scale)
{
    for (uint32_t i = 0; i < count; i++)
        line[i] = (double)((int64_t)line[i] * scale);
}

enum gf_status gf_mask_factor(struct gf_mask *mask, struct gf_error *e)
{
    uint32_t pivot[3];
    double *line[3] = {NULL, NULL, NULL};
    bool zero_sum[3] = {false, false, false};
    enum gf_status status = GF_OK;
    int64_t scale = 0;
    if (mask->separable || !mask->integer || !find_pivot(mask, pivot))
        return GF_OK;
    for (int a = 0; a < 3 && status == GF_OK; a++) {
        void *block = NULL;
        status = gf_allocate(&block, mask->size[a], sizeof(double), "the factors of a mask", e);
        line[a] = block;
        if (status == GF_OK)
            zero_sum[a] = primitive_line(mask, pivot, a, line[a]);
    }
    if (status == GF_OK)
        scale = find_scale(mask, line, pivot);
    if (scale == 0 || !multiplies_out(mask, line, scale)) {
        for (int a = 0; a < 3; a++)
            gf_free(line[a]);
        return status;
    }
    /* The size of the scale goes to the first axis that has taps, a negative sign to the
     * first derivative among the axes, if any. */
    {
        int wide = mask->size[0] > 1 ? 0 : mask->size[1] > 1 ? 1 : mask->size[2] > 1 ? 2 : 0;
        int sign = zero_sum[0] ? 0 : zero_sum[1] ? 1 : zero_sum[2] ? 2 : wide;
        scale_line(line[wide], mask->size[wide], scale < 0 ? -scale : scale);
        if (scale < 0)
            scale_line(line[sign], mask->size[sign], -1);
    }
    for (int a = 0; a < 3; a++)
        mask->factor[a] = line[a];
    mask->separable = true;
    if (gf_mask_count(mask) > GF_MASK_DENSE_TAPS) {
        gf_free(mask->taps);
        mask->taps = NULL;
    }
    return GF_OK;
}
