/* The numbers of a mask as text: decimal numbers and exact fractions. */
#include "mask_internal.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define EXACT_LIMIT 0x1p53

int64_t gf_mask_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Of whole numbers up to 2^53. */
static double gcd(double a, double b)
{
    return (double)gf_mask_gcd((int64_t)a, (int64_t)b);
}

const char *gf_mask_fault_words(enum gf_mask_fault fault)
{
    switch (fault) {
    case GF_FAULT_NO_NUMBER: return "is not a number, or too large for one";
    case GF_FAULT_NOT_FINITE: return "is not finite; write a number";
    case GF_FAULT_TOO_LONG: return "is longer than a number can be";
    case GF_FAULT_NO_FRACTION: return "is not a fraction of two whole numbers";
    case GF_FAULT_BY_ZERO: return "divides by zero";
    default: return "is a number";
    }
}

static bool is_whole(double value)
{
    return fabs(value) <= EXACT_LIMIT && rint(value) == value;
}

static enum gf_mask_fault read_number(const char *text, double *value)
{
    if (!gf_parse_double(text, true, value))
        return GF_FAULT_NO_NUMBER;
    if (!isfinite(*value))
        return GF_FAULT_NOT_FINITE;
    *value += 0.0; /* -0 becomes 0 */
    return GF_FAULT_NONE;
}

enum gf_mask_fault gf_mask_number(const char *text, size_t length, bool fraction,
                                  struct gf_mask_number *number)
{
    enum gf_mask_fault fault;
    char copy[400];
    char *slash;
    double common;
    if (length >= sizeof copy)
        return GF_FAULT_TOO_LONG;
    memcpy(copy, text, length);
    copy[length] = '\0';
    number->denominator = 1.0;
    slash = fraction ? strchr(copy, '/') : NULL;
    if (slash == NULL)
        return read_number(copy, &number->numerator);
    *slash = '\0';
    fault = read_number(copy, &number->numerator);
    if (fault == GF_FAULT_NONE)
        fault = read_number(slash + 1, &number->denominator);
    if (fault != GF_FAULT_NONE)
        return fault;
    if (!is_whole(number->numerator) || !is_whole(number->denominator))
        return GF_FAULT_NO_FRACTION;
    if (number->denominator == 0)
        return GF_FAULT_BY_ZERO;
    common = gcd(number->numerator, number->denominator);
    if (number->denominator < 0)
        common = -common;
    number->numerator = number->numerator / common + 0.0;
    number->denominator /= common;
    return GF_FAULT_NONE;
}

/* The least common denominator; 0 when not all taps become integers with it. */
static double common_denominator(const struct gf_mask_number *number, uint64_t count)
{
    double scale = 1.0;
    for (uint64_t i = 0; i < count; i++) {
        if (!is_whole(number[i].numerator))
            return 0.0;
        scale *= number[i].denominator / gcd(scale, number[i].denominator);
        if (!(scale < GF_MASK_TAP_LIMIT))
            return 0.0;
    }
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(number[i].numerator) * (scale / number[i].denominator) < GF_MASK_TAP_LIMIT))
            return 0.0;
    return scale;
}

void gf_mask_scale(const struct gf_mask_number *number, uint64_t count, double *taps,
                   double *scale)
{
    double common = common_denominator(number, count);
    for (uint64_t i = 0; i < count; i++)
        taps[i] = common > 0 ? number[i].numerator * (common / number[i].denominator)
                             : number[i].numerator / number[i].denominator;
    *scale = common > 0 ? common : 1.0;
}
