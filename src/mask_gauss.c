/* Masks that are computed: sampled Gaussians, their Laplacian, boxes. */
#include "alloc.h"
#include "mask_internal.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* An unevaluated sum hi + lo with about 106 bits. */
struct pair {
    double hi, lo;
};

static struct pair pair_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (struct pair){sum, (a - (sum - part)) + (b - part)};
}

static struct pair pair_product(struct pair a, struct pair b)
{
    double product = a.hi * b.hi;
    double error = fma(a.hi, b.hi, -product) + (a.hi * b.lo + a.lo * b.hi);
    return pair_sum(product, error);
}

static struct pair pair_quotient(struct pair a, double b)
{
    double quotient = a.hi / b;
    return pair_sum(quotient, (fma(-quotient, b, a.hi) + a.lo) / b);
}

double gf_exp_minus(double t)
{
    const double ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
    struct pair r, sum = {1.0, 0.0};
    double k, whole;
    if (!(t < 746.0)) /* below half the smallest double; also for infinity */
        return 0.0;
    /* exp(-t) = 2^k * exp(r) with |r| <= ln(2)/2; 18 terms leave less than 2^-79. */
    k = rint(-t / ln2_hi);
    whole = k * ln2_hi;
    r = pair_sum(-t, -whole);
    r = pair_sum(r.hi, r.lo - fma(k, ln2_hi, -whole) - k * ln2_lo);
    for (int i = 18; i >= 1; i--) {
        struct pair term = pair_quotient(pair_product(r, sum), i), one = pair_sum(1.0, term.hi);
        sum = pair_sum(one.hi, one.lo + term.lo);
    }
    return ldexp(sum.hi, (int)k);
}

/* Gaussian sampled at -radius .. radius, summing to 1. The sum runs from both ends inwards,
 * smallest first. */
static void sample_gaussian(double *taps, uint32_t radius, double sigma)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < radius; i++) {
        double x = (double)(radius - i);
        taps[i] = gf_exp_minus(x * x / (2.0 * sigma * sigma));
        sum += taps[i];
    }
    sum = 2.0 * sum + 1.0;
    taps[radius] = 1.0 / sum;
    for (uint32_t i = 0; i < radius; i++) {
        taps[i] /= sum;
        taps[2 * radius - i] = taps[i];
    }
}

static enum gf_status find_radius(const double sigma[3], int dimensions, double truncate,
                                  uint32_t radius[3], struct gf_error *e)
{
    char number[GF_NUMBER_TEXT];
    if (!(truncate >= 0 && isfinite(truncate)))
        return gf_fail(e, GF_EUSAGE, "truncate %s: needed a number of 0 or more",
                       gf_format_double(number, truncate));
    for (int a = 0; a < 3; a++) {
        double reach = truncate * sigma[a] + 0.5;
        radius[a] = 0;
        if (a >= dimensions)
            continue;
        if (!(sigma[a] >= 0 && isfinite(sigma[a])))
            return gf_fail(e, GF_EUSAGE, "sigma %s along %c: needed a number of 0 or more",
                           gf_format_double(number, sigma[a]), "xyz"[a]);
        if (!(reach < GF_MASK_MAX_AXIS / 2))
            return gf_fail(e, GF_EUSAGE, "sigma %s along %c: too large, a mask has at most %u taps "
                           "an axis; use a smaller sigma or truncate",
                           gf_format_double(number, sigma[a]), "xyz"[a], GF_MASK_MAX_AXIS);
        radius[a] = (uint32_t)reach;
    }
    return GF_OK;
}

enum gf_status gf_mask_gaussian(struct gf_mask *mask, const double sigma[3], int dimensions,
                                double truncate, struct gf_error *e)
{
    uint32_t radius[3], size[3];
    memset(mask, 0, sizeof *mask);
    GF_TRY(find_radius(sigma, dimensions, truncate, radius, e));
    for (int a = 0; a < 3; a++)
        size[a] = 2 * radius[a] + 1;
    GF_TRY(gf_mask_begin(mask, "gaussian", size, false, e));
    for (int a = 0; a < 3; a++) {
        sample_gaussian(mask->factor[a], radius[a], sigma[a]);
        mask->sigma[a] = a < dimensions ? sigma[a] : 0.0;
    }
    return gf_mask_complete(mask, e);
}

/* Second derivative of the sampled Gaussian `g`. What cutting it off leaves of its sum is
 * taken away in the shape of the Gaussian, so that it sums to 0. */
static void second_derivative(const double *g, double *taps, uint32_t radius, double sigma)
{
    double sum = 0.0, variance = sigma * sigma;
    for (uint32_t i = 0; i <= 2 * radius; i++) {
        double x = (double)i - (double)radius;
        taps[i] = (x * x / variance - 1.0) / variance * g[i];
        sum += taps[i];
    }
    for (uint32_t i = 0; i <= 2 * radius; i++)
        taps[i] -= sum * g[i];
}

enum gf_status gf_mask_log_taps(struct gf_mask *mask, const char *name, const double sigma[3],
                                const uint32_t radius[3], int dimensions, struct gf_error *e)
{
    uint32_t size[3] = {1, 1, 1};
    double *smooth[3] = {NULL, NULL, NULL}, *second[3] = {NULL, NULL, NULL}, *tap;
    enum gf_status status;
    for (int a = 0; a < dimensions; a++)
        size[a] = 2 * radius[a] + 1;
    GF_TRY(gf_mask_begin(mask, name, size, true, e));
    status = GF_OK;
    for (int a = 0; a < 3 && status == GF_OK; a++) {
        void *block = NULL;
        status = gf_allocate(&block, size[a], 2 * sizeof(double), "a mask", e);
        if (status != GF_OK)
            break;
        smooth[a] = block;
        second[a] = smooth[a] + size[a];
        sample_gaussian(smooth[a], size[a] / 2, sigma[a]);
        if (size[a] > 1)
            second_derivative(smooth[a], second[a], size[a] / 2, sigma[a]);
        else
            second[a][0] = 0.0;
    }
    tap = mask->taps;
    for (uint32_t k = 0; k < size[2] && status == GF_OK; k++)
        for (uint32_t j = 0; j < size[1]; j++)
            for (uint32_t i = 0; i < size[0]; i++)
                *tap++ = second[0][i] * (smooth[1][j] * smooth[2][k]) +
                         second[1][j] * (smooth[0][i] * smooth[2][k]) +
                         second[2][k] * (smooth[0][i] * smooth[1][j]);
    for (int a = 0; a < 3; a++)
        gf_free(smooth[a]);
    if (status != GF_OK)
        gf_mask_free(mask);
    return status;
}

enum gf_status gf_mask_log(struct gf_mask *mask, const double sigma[3], int dimensions,
                           double truncate, struct gf_error *e)
{
    uint32_t radius[3];
    memset(mask, 0, sizeof *mask);
    GF_TRY(find_radius(sigma, dimensions, truncate, radius, e));
    if (radius[0] + radius[1] + radius[2] == 0)
        return gf_fail(e, GF_EUSAGE, "log: the mask would be a single tap; use a larger sigma");
    GF_TRY(gf_mask_log_taps(mask, "log", sigma, radius, dimensions, e));
    return gf_mask_complete(mask, e);
}

enum gf_status gf_mask_box(struct gf_mask *mask, const char *name, const uint32_t size[3],
                           struct gf_error *e)
{
    double divisor = 1.0;
    GF_TRY(gf_mask_begin(mask, name, size, false, e));
    for (int a = 0; a < 3; a++) {
        divisor *= size[a];
        for (uint32_t i = 0; i < size[a]; i++)
            mask->factor[a][i] = 1.0;
    }
    mask->divisor = divisor;
    if (divisor > 0x1p53) {
        gf_mask_free(mask);
        return gf_fail(e, GF_EUSAGE, "%s: more than 2^53 taps; use a smaller box", name);
    }
    return gf_mask_complete(mask, e);
}
