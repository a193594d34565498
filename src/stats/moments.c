#include "moments.h"

/* ---- the tree over leaves ---- */

void gf_moments_tree_add(struct gf_moments_tree *tree, unsigned level, struct gf_moments part)
{
    unsigned k = level;
    /* As in a binary counter, where a bit that is carried is a merge. */
    for (; tree->leaves >> k & 1; k++)
        part = gf_moments_merge(tree->part[k], part);
    tree->part[k] = part;
    tree->leaves += UINT64_C(1) << level;
}

struct gf_moments gf_moments_tree_total(const struct gf_moments_tree *tree)
{
    struct gf_moments total;
    memset(&total, 0, sizeof total);
    for (unsigned k = 0; k < 64; k++)
        if (tree->leaves >> k & 1)
            total = gf_moments_merge(tree->part[k], total);
    /* Sums that are not known may be any NaN, of which processors choose different ones. */
    if (!(total.e1 < INFINITY && total.e2 < INFINITY)) {
        total.s1 = total.s2 = (struct gf_dd){0, 0};
        total.e1 = total.e2 = INFINITY;
    }
    return total;
}

/* ---- results ---- */

/* A number and a bound of what it is wrong by. */
struct known {
    struct gf_dd value;
    double error;
};

/* No step of double-double arithmetic below is wrong by more than this part of its operands. */
#define STEP 7.8886090522101181e-31 /* 2^-100 */

static struct known sum_of(struct known a, struct known b)
{
    struct known r;
    r.value = gf_dd_add(a.value, b.value);
    r.error = a.error + b.error + STEP * (fabs(a.value.hi) + fabs(b.value.hi));
    return r;
}

static struct known product_of(struct known a, struct known b)
{
    struct known r;
    r.value = gf_dd_mul(a.value, b.value);
    r.error = a.error * (fabs(b.value.hi) + b.error) + fabs(a.value.hi) * b.error +
              STEP * fabs(r.value.hi);
    return r;
}

static struct known quotient_of(struct known a, double divisor)
{
    struct known r;
    double q = a.value.hi / divisor;
    r.value = gf_fast_two_sum(q, (fma(-q, divisor, a.value.hi) + a.value.lo) / divisor);
    r.error = a.error / divisor + STEP * fabs(q);
    return r;
}

/* Of a value that is not negative. */
static struct known root_of(struct known a)
{
    struct known r = {{0, 0}, a.error};
    double s = a.value.hi > 0 ? sqrt(a.value.hi) : 0;
    if (s > 0) {
        r.value = gf_fast_two_sum(s, (fma(-s, s, a.value.hi) + a.value.lo) / (2 * s));
        /* The derivative is 1 / (2 s); the rest allows for its growth over the error. */
        r.error = 0.51 * a.error / s + STEP * s;
    }
    return r;
}

/* Rounds; *sure becomes false unless the error is at most a quarter of an ulp and nothing came
 * near the ends of double's range. */
static double vouched(struct known a, bool *sure)
{
    double size = fabs(a.value.hi);
    bool good = size == 0 ? a.error == 0
                          : size >= 1e-270 && size <= 1e300 &&
                                a.error <= size * 2.7755575615628914e-17; /* 2^-55 */
    *sure = *sure && good;
    return a.value.hi;
}

/* Of n samples that all are `value`: nothing but the sum is rounded. */
static struct gf_moments_results constant_results(double n, double value, unsigned ddof)
{
    double spread = n > ddof ? 0 : (double)NAN;
    struct gf_moments_results r = {n * value, value, spread, spread, fabs(value), true};
    return r;
}

struct gf_moments_results gf_moments_finish(const struct gf_moments *m, unsigned ddof)
{
    struct gf_moments_results r = {0, (double)NAN, (double)NAN, (double)NAN, (double)NAN, true};
    double n = (double)m->n;
    struct known s1 = {m->s1, m->e1}, minus_s1 = {{-m->s1.hi, -m->s1.lo}, m->e1};
    struct known s2 = {m->s2, m->e2}, far = {{0, 0}, 0}, total;
    struct known center = {{m->center, 0}, 0}, twice = {{2 * m->center, 0}, 0};
    if (m->n == 0)
        return r;
    if (m->s2.hi == 0 && m->e2 == 0)
        return constant_results(n, m->center, ddof);
    far.value = gf_two_product(n, m->center);
    total = sum_of(far, s1);
    r.sum = vouched(total, &r.sure);
    r.mean = vouched(quotient_of(total, n), &r.sure);
    if (m->n > ddof) {
        struct known spread = sum_of(s2, quotient_of(product_of(s1, minus_s1), n));
        struct known variance = quotient_of(spread, n - ddof);
        r.variance = vouched(variance, &r.sure);
        r.std = vouched(root_of(variance), &r.sure);
    }
    total = sum_of(sum_of(product_of(far, center), product_of(twice, s1)), s2);
    r.rms = vouched(root_of(quotient_of(total, n)), &r.sure);
    return r;
}
