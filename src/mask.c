#include "mask.h"

#include "alloc.h"
#include "mask_internal.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* A sum with the rounding errors carried along (Neumaier), so that real masks that cancel
 * give 0 and not 1e-17. */
struct sum {
    double value, error;
};

static void sum_add(struct sum *sum, double x)
{
    double total = sum->value + x;
    if (fabs(sum->value) >= fabs(x))
        sum->error += (sum->value - total) + x;
    else
        sum->error += (x - total) + sum->value;
    sum->value = total;
}

static double sum_of(const double *values, uint64_t count, bool absolute)
{
    struct sum sum = {0.0, 0.0};
    for (uint64_t i = 0; i < count; i++)
        sum_add(&sum, absolute ? fabs(values[i]) : values[i]);
    return sum.value + sum.error;
}

/* Sum of all taps or of their magnitudes; exact for integers below 2^53. */
static double tap_sum(const struct gf_mask *mask, bool absolute)
{
    double product = 1.0;
    if (!mask->separable)
        return sum_of(mask->taps, gf_mask_count(mask), absolute);
    for (int a = 2; a >= 0; a--)
        product *= sum_of(mask->factor[a], mask->size[a], absolute);
    return product;
}

double gf_mask_sum(const struct gf_mask *mask)
{
    return mask->unit_sum ? 1.0 : tap_sum(mask, false) / mask->divisor;
}

double gf_mask_abs_sum(const struct gf_mask *mask)
{
    return tap_sum(mask, true);
}

double gf_mask_tap(const struct gf_mask *mask, uint32_t i, uint32_t j, uint32_t k)
{
    if (mask->taps != NULL)
        return mask->taps[((uint64_t)k * mask->size[1] + j) * mask->size[0] + i];
    return mask->factor[2][k] * mask->factor[1][j] * mask->factor[0][i];
}

void gf_mask_free(struct gf_mask *mask)
{
    for (int a = 0; a < 3; a++)
        gf_free(mask->factor[a]);
    gf_free(mask->taps);
    memset(mask, 0, sizeof *mask);
}

/* Copies as much of a name as fits, without cutting a UTF-8 character in two. */
static void set_name(struct gf_mask *mask, const char *name)
{
    size_t length = strlen(name);
    if (length >= sizeof mask->name) {
        length = sizeof mask->name - 1;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
            length--;
    }
    memcpy(mask->name, name, length);
    mask->name[length] = '\0';
}

enum gf_status gf_mask_begin(struct gf_mask *mask, const char *name, const uint32_t size[3],
                             bool dense, struct gf_error *e)
{
    enum gf_status status = GF_OK;
    void *block = NULL;
    memset(mask, 0, sizeof *mask);
    for (int a = 0; a < 3; a++)
        if (size[a] < 1 || size[a] > GF_MASK_MAX_AXIS)
            return gf_fail(e, GF_EUSAGE, "%s: %u taps along %c, needed 1 to %u", name,
                           (unsigned)size[a], "xyz"[a], GF_MASK_MAX_AXIS);
    set_name(mask, name);
    for (int a = 0; a < 3; a++) {
        mask->size[a] = size[a];
        mask->origin[a] = size[a] / 2;
    }
    mask->divisor = 1.0;
    mask->separable = !dense;
    if (dense) {
        uint64_t count = gf_mask_count(mask);
        if (count > GF_MASK_MAX_TAPS)
            status = gf_fail(e, GF_EUSAGE, "%s: %llu taps, at most %u; use a separable mask", name,
                             (unsigned long long)count, GF_MASK_MAX_TAPS);
        else
            status = gf_allocate(&block, count, sizeof(double), "a mask", e);
        if (status == GF_OK)
            memset(block, 0, (size_t)count * sizeof(double));
        mask->taps = block;
    }
    for (int a = 0; a < 3 && !dense && status == GF_OK; a++) {
        status = gf_allocate(&block, size[a], sizeof(double), "a mask", e);
        if (status == GF_OK) {
            memset(block, 0, size[a] * sizeof(double));
            mask->factor[a] = block;
        }
    }
    if (status != GF_OK)
        gf_mask_free(mask);
    return status;
}

static bool all_integers(const double *values, uint64_t count, double *largest)
{
    *largest = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        if (!(fabs(values[i]) < GF_MASK_TAP_LIMIT) || rint(values[i]) != values[i])
            return false;
        *largest = fmax(*largest, fabs(values[i]));
    }
    return true;
}

static bool is_integer(const struct gf_mask *mask)
{
    double product = 1.0, largest;
    if (!mask->separable)
        return all_integers(mask->taps, gf_mask_count(mask), &largest);
    for (int a = 0; a < 3; a++) {
        if (!all_integers(mask->factor[a], mask->size[a], &largest))
            return false;
        product *= largest;
    }
    return product < GF_MASK_TAP_LIMIT;
}

/* 1: no tap is negative, -1: none is positive, 0: neither. All zero counts as 1. */
static int sign_of(const double *values, uint64_t count)
{
    bool negative = false, positive = false;
    for (uint64_t i = 0; i < count; i++) {
        negative |= values[i] < 0;
        positive |= values[i] > 0;
    }
    return negative ? (positive ? 0 : -1) : 1;
}

static bool has_no_negative_tap(const struct gf_mask *mask)
{
    if (!mask->separable)
        return sign_of(mask->taps, gf_mask_count(mask)) > 0;
    return sign_of(mask->factor[0], mask->size[0]) * sign_of(mask->factor[1], mask->size[1]) *
               sign_of(mask->factor[2], mask->size[2]) > 0;
}

/* Negates without making a negative zero. */
static void negate(double *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        values[i] = 0.0 - values[i];
}

static enum gf_status multiply_out(struct gf_mask *mask, struct gf_error *e)
{
    uint64_t count = gf_mask_count(mask), at = 0;
    void *block = NULL;
    double *taps;
    if (count > GF_MASK_DENSE_TAPS)
        return GF_OK;
    GF_TRY(gf_allocate(&block, count, sizeof(double), "a mask", e));
    taps = block;
    for (uint32_t k = 0; k < mask->size[2]; k++)
        for (uint32_t j = 0; j < mask->size[1]; j++)
            for (uint32_t i = 0; i < mask->size[0]; i++) {
                double tap = mask->factor[2][k] * mask->factor[1][j] * mask->factor[0][i];
                taps[at++] = tap + 0.0; /* 0 * -1 is -0; adding 0 mends it */
            }
    mask->taps = taps;
    return GF_OK;
}

enum gf_status gf_mask_complete(struct gf_mask *mask, struct gf_error *e)
{
    enum gf_status status = GF_OK;
    double sum;
    if (mask->divisor < 0) {
        mask->divisor = -mask->divisor;
        if (mask->separable)
            negate(mask->factor[0], mask->size[0]);
        else
            negate(mask->taps, gf_mask_count(mask));
    }
    if (mask->separable && mask->taps == NULL)
        status = multiply_out(mask, e);
    if (status == GF_OK && !isfinite(gf_mask_abs_sum(mask) / mask->divisor))
        status = gf_fail(e, GF_EUSAGE, "%s: the weights add up to more than a number can hold; "
                         "use smaller taps or a larger divisor", mask->name);
    if (status != GF_OK) {
        gf_mask_free(mask);
        return status;
    }
    mask->integer = is_integer(mask);
    sum = tap_sum(mask, false);
    /* Below 2^53 every step of the sum of integers was exact. */
    mask->unit_sum = mask->sigma[0] > 0 || mask->sigma[1] > 0 || mask->sigma[2] > 0 ||
                     (mask->integer && sum == mask->divisor && sum <= 0x1p53);
    mask->normalize = sum > 0 && has_no_negative_tap(mask);
    status = gf_mask_factor(mask, e);
    if (status != GF_OK)
        gf_mask_free(mask);
    return status;
}

static void reverse(double *values, uint64_t count)
{
    for (uint64_t i = 0, j = count; values != NULL && i + 1 < j; i++) {
        double swap = values[--j];
        values[j] = values[i];
        values[i] = swap;
    }
}

void gf_mask_flip(struct gf_mask *mask)
{
    /* Turning round along all three axes is the same as reversing the order in memory. */
    reverse(mask->taps, mask->taps != NULL ? gf_mask_count(mask) : 0);
    for (int a = 0; a < 3; a++) {
        reverse(mask->factor[a], mask->size[a]);
        mask->origin[a] = mask->size[a] - 1 - mask->origin[a];
    }
}
