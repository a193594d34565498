/* The numbers of a mask as text: decimal numbers and exact fractions. */
#include "mask_internal.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define EXACT_LIMIT 0x1p53

static double gcd(double a, double b)
{
    while (b != 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return fabs(a);
}

static bool is_whole(double value)
{
    return fabs(value) <= EXACT_LIMIT && rint(value) == value;
}

static bool read_number(const char *text, double *value, const char **why)
{
    if (!gf_parse_double(text, true, value)) {
        *why = "is not a number, or too large for one";
        return false;
    }
    if (!isfinite(*value)) {
        *why = "is not finite; write a number";
        return false;
    }
    *value += 0.0; /* -0 becomes 0 */
    return true;
}

bool gf_mask_number(const char *text, size_t length, bool fraction,
                    struct gf_mask_number *number, const char **why)
{
    char copy[400];
    char *slash;
    double common;
    if (length >= sizeof copy) {
        *why = "is longer than a number can be";
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    number->denominator = 1.0;
    slash = fraction ? strchr(copy, '/') : NULL;
    if (slash == NULL)
        return read_number(copy, &number->numerator, why);
    *slash = '\0';
    if (!read_number(copy, &number->numerator, why) ||
        !read_number(slash + 1, &number->denominator, why))
        return false;
    if (!is_whole(number->numerator) || !is_whole(number->denominator)) {
        *why = "is not a fraction of two whole numbers";
        return false;
    }
    if (number->denominator == 0) {
        *why = "divides by zero";
        return false;
    }
    common = gcd(number->numerator, number->denominator);
    if (number->denominator < 0)
        common = -common;
    number->numerator = number->numerator / common + 0.0;
    number->denominator /= common;
    return true;
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
