#include "entropy.h"

#include "moments.h"

/* ln(n / c) for 0 < c <= n. With n = 2^k r c, r near 1: k ln 2 + 2 artanh((r - 1) / (r + 1)), where
 * nothing cancels for c near n. */
static double log_ratio(double n, double c)
{
    double k = 0, z, square, term, sum = 0;
    while (n > 1.5 * c) {
        c *= 2;
        k++;
    }
    z = (n - c) / (n + c); /* -1/7 < z <= 1/5 */
    square = z * z;
    term = z;
    for (int i = 1; i < 30; i += 2) {
        sum += term / i;
        term *= square;
    }
    return k * 0.69314718055994531 + 2 * sum;
}

double gf_entropy(const uint64_t *count, uint64_t bins)
{
    struct gf_dd sum = {0, 0};
    uint64_t n = 0;
    for (uint64_t i = 0; i < bins; i++)
        n += count[i];
    if (n == 0)
        return NAN;
    /* Adding 0 changes nothing, and most bins of few samples are empty. */
    for (uint64_t i = 0; i < bins; i++)
        if (count[i] > 0) {
            const double c = (double)count[i];
            sum = gf_dd_add(sum, (struct gf_dd){c * log_ratio((double)n, c), 0});
        }
    return sum.hi / (double)n * 1.4426950408889634;
}
