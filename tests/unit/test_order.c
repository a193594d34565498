/* Order statistics against a sorted array, and the arithmetic of percentiles against numpy's. */
#include "stats/order.h"

#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 1000

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 33 ^ seed << 31;
}

/* ---- samples ---- */

static double value_of(enum gf_type type, const void *samples, size_t i)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)      \
    case GF_##NAME:                                                 \
        if (GF_##NAME == GF_F16)                                    \
            return gf_f16_to_f32(((const uint16_t *)samples)[i]);   \
        return (double)((const ctype *)samples)[i];
    GF_TYPES(X)
#undef X
    case GF_TYPE_COUNT:
        break;
    }
    return NAN;
}

static int by_value(const void *a, const void *b)
{
    const double *l = a, *r = b;
    return (*l > *r) - (*l < *r);
}

/* Kinds: any bits; any in the low bits alone, so that all have one prefix or few; few values;
 * zeros of both signs. */
enum { KINDS = 4 };

static void make(enum gf_type type, int kind, void *samples, size_t n)
{
    const unsigned bytes = gf_type_bytes(type);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = next_random();
        if (kind == 1)
            bits = bits & 0x1ffff;
        if (kind == 2)
            bits = bits % 3 << (8 * bytes - 6);
        if (kind == 3)
            bits = bits << (8 * bytes - 1) | (bits >> 40) % 2;
        memcpy((char *)samples + i * bytes, &bits, bytes);
    }
}

/* ---- selection ---- */

/* What a measurer does: counts the digits of the keys of each prefix. */
static void count_keys(const struct gf_order *o, const uint64_t *keys, size_t n,
                       const uint64_t *prefix, unsigned prefixes, uint64_t *count)
{
    const unsigned shift = gf_order_shift(o);
    memset(count, 0, prefixes * sizeof *count * GF_KEY_BINS);
    for (size_t i = 0; i < n; i++)
        for (unsigned p = 0; p < prefixes; p++)
            if ((shift == 48 ? 0 : keys[i] >> (shift + 16)) == prefix[p])
                count[(size_t)p * GF_KEY_BINS + (keys[i] >> shift & 0xffff)]++;
}

static void select_all(struct gf_order *o, const uint64_t *keys, size_t n)
{
    uint64_t prefix[GF_RANKS], *count = malloc(GF_RANKS * sizeof *count * GF_KEY_BINS);
    assert_non_null(count);
    while (o->level < o->levels) {
        unsigned prefixes = gf_order_prefixes(o, prefix);
        assert_in_range(prefixes, 1, o->count);
        for (unsigned p = 1; p < prefixes; p++)
            assert_true(prefix[p - 1] < prefix[p]);
        count_keys(o, keys, n, prefix, prefixes, count);
        gf_order_next(o, prefix, prefixes, count);
    }
    free(count);
}

static void check_ranks(enum gf_type type, const uint64_t *keys, const double *sorted, size_t n)
{
    uint64_t rank[12] = {0, n - 1, n / 2, n / 2, n - 1, 0};
    struct gf_order o, at_once;
    uint64_t ascending[MOST];
    for (unsigned i = 6; i < GF_COUNT(rank); i++)
        rank[i] = next_random() % n;
    gf_order_begin(&o, type, rank, GF_COUNT(rank));
    select_all(&o, keys, n);
    /* A few insertions: keys in ascending order. */
    for (size_t i = 0; i < n; i++) {
        size_t k = i;
        for (; k > 0 && ascending[k - 1] > keys[i]; k--)
            ascending[k] = ascending[k - 1];
        ascending[k] = keys[i];
    }
    gf_order_begin(&at_once, type, rank, GF_COUNT(rank));
    gf_order_sorted(&at_once, ascending);
    for (unsigned i = 0; i < GF_COUNT(rank); i++) {
        if (!(gf_order_value(&o, i) == sorted[rank[i]]))
            fail_msg("%s, n = %zu, rank %llu: %.17g, not %.17g", gf_type_name(type), n,
                     (unsigned long long)rank[i], gf_order_value(&o, i), sorted[rank[i]]);
        assert_true(gf_order_value(&at_once, i) == sorted[rank[i]]);
        /* Never -0. */
        assert_false(gf_order_value(&o, i) == 0 && signbit(gf_order_value(&o, i)));
    }
}

static void against_qsort(void **state)
{
    static uint64_t samples[MOST], keys[MOST];
    static double sorted[MOST];
    static const size_t counts[] = {1, 2, 3, 100, MOST};
    (void)state;
    for (unsigned t = 0; t < GF_TYPE_COUNT; t++)
        for (unsigned k = 0; k < KINDS * GF_COUNT(counts); k++) {
            size_t made = counts[k / KINDS], n = 0;
            make((enum gf_type)t, (int)(k % KINDS), samples, made);
            gf_keys_of((enum gf_type)t, samples, made, keys);
            for (size_t i = 0; i < made; i++) {
                double value = value_of((enum gf_type)t, samples, i);
                assert_int_equal(isfinite(value) != 0, keys[i] != GF_NO_KEY);
                if (!isfinite(value))
                    continue;
                sorted[n] = value;
                keys[n++] = keys[i];
            }
            qsort(sorted, n, sizeof *sorted, by_value);
            if (n > 0)
                check_ranks((enum gf_type)t, keys, sorted, n);
        }
}

/* As many prefixes as there can be. */
static void every_rank_its_own_prefix(void **state)
{
    uint64_t rank[GF_RANKS], keys[GF_RANKS];
    double values[GF_RANKS];
    struct gf_order o;
    (void)state;
    for (unsigned i = 0; i < GF_RANKS; i++) {
        values[i] = ldexp(1.5 + i, (int)i) * (i % 2 ? -1 : 1);
        rank[i] = i;
    }
    gf_keys_of(GF_F64, values, GF_RANKS, keys);
    qsort(values, GF_RANKS, sizeof *values, by_value);
    gf_order_begin(&o, GF_F64, rank, GF_RANKS);
    select_all(&o, keys, GF_RANKS);
    for (unsigned i = 0; i < GF_RANKS; i++)
        assert_true(gf_order_value(&o, i) == values[i]);
}

/* ---- percentiles ---- */

/* numpy 2.4: percentile(k * 0.1 for k in range(n), [0, 0.1, 12.5, 33.3, 50, 66.6, 99.9, 100]). */
static void percentiles(void **state)
{
    static const double p[] = {0, 0.1, 12.5, 33.3, 50, 66.6, 99.9, 100};
    static const struct {
        uint64_t n;
        double value[GF_COUNT(p)];
    } cases[] = {
        {1, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
        {2, {0.0, 0.0001, 0.0125, 0.033299999999999996, 0.05, 0.06659999999999999,
             0.09990000000000002, 0.1}},
        {3, {0.0, 0.0002, 0.025, 0.06659999999999999, 0.1, 0.13319999999999999,
             0.19980000000000003, 0.2}},
        {7, {0.0, 0.0006000000000000001, 0.07500000000000001, 0.19979999999999998,
             0.30000000000000004, 0.39959999999999996, 0.5994000000000002, 0.6000000000000001}},
        {10, {0.0, 0.0009000000000000002, 0.1125, 0.2997, 0.45, 0.5994, 0.8991000000000001, 0.9}},
        {101, {0.0, 0.010000000000000002, 1.25, 3.33, 5.0, 6.66, 9.99, 10.0}},
        {1000, {0.0, 0.0999, 12.4875, 33.2667, 49.95, 66.5334, 99.80010000000001, 99.9}},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++)
        for (size_t k = 0; k < GF_COUNT(p); k++) {
            uint64_t below;
            double part, value;
            gf_percentile_rank(cases[i].n, p[k], &below, &part);
            assert_true(below < cases[i].n && part >= 0 && part < 1);
            assert_true(below + 1 < cases[i].n || part == 0);
            value = gf_percentile_value((double)below * 0.1, (double)(below + 1) * 0.1, part);
            if (!(value == cases[i].value[k]))
                fail_msg("n = %d, p%g: %.17g, not %.17g", (int)cases[i].n, p[k], value,
                         cases[i].value[k]);
        }
}

/* numpy 2.4: percentile([a, b], p). Above the middle the way is measured from b. */
static void either_side(void **state)
{
    static const double cases[][4] = {
        {-0.3085991705824951, 0.10571915258593023, 88.0, 0.0560009538057192},
        {-0.5624379253246228, -0.08079306852453283, 70.0, -0.22528652556455983},
        {-0.7999994578077456, 0.8443771249397749, 45.0, -0.06002999557136135},
        {-0.4316812666121037, 0.9469028097760528, 30.0, -0.01810604369565677},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        uint64_t rank;
        double part;
        gf_percentile_rank(2, cases[i][2], &rank, &part);
        assert_true(gf_percentile_value(cases[i][0], cases[i][1], part) == cases[i][3]);
    }
}

/* Between the limits of double: numpy gives infinities there. */
static void extremes(void **state)
{
    const double top = gf_type_row(GF_F64)->highest;
    uint64_t below;
    double part;
    (void)state;
    assert_true(gf_percentile_value(-top, top, 0.5) == 0);
    assert_true(fabs(gf_percentile_value(-top, top, 0.25) / (-top / 2) - 1) <= 0x1p-52);
    assert_true(fabs(gf_percentile_value(-top, top, 0.75) / (top / 2) - 1) <= 0x1p-52);
    assert_true(gf_percentile_value(-top, top, 0) == -top);
    assert_true(gf_percentile_value(top, top, 0.3) == top);
    assert_true(gf_percentile_value(0x1p-1074, 3 * 0x1p-1074, 0.5) == 2 * 0x1p-1074);
    gf_percentile_rank(UINT64_C(1) << 53, 100, &below, &part);
    assert_true(below == (UINT64_C(1) << 53) - 1 && part == 0);
    gf_percentile_rank(UINT64_C(1000000001), 50, &below, &part);
    assert_true(below == 500000000 && part == 0);
}

/* The mean of the middle two, rounded once: interpolation would lose what b - a rounds away. */
static void median(void **state)
{
    const double top = gf_type_row(GF_F64)->highest, b = 0x1.00f1d8a3c5b79p+0;
    (void)state;
    assert_true(gf_median_value(-1, b) == (b - 1) / 2); /* b - 1 is exact */
    assert_true(gf_percentile_value(-1, b, 0.5) != (b - 1) / 2);
    assert_true(gf_median_value(3, 4) == 3.5);
    assert_true(gf_median_value(top, top) == top && gf_median_value(-top, top) == 0);
    assert_true(gf_median_value(0x1p-1074, 0x1p-1074) == 0x1p-1074);
    assert_true(isnan(gf_median_value(NAN, NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_qsort),
        cmocka_unit_test(every_rank_its_own_prefix),
        cmocka_unit_test(percentiles),
        cmocka_unit_test(either_side),
        cmocka_unit_test(extremes),
        cmocka_unit_test(median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
