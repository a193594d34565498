/* Exact results against recorded ones, and the moments with their error bounds against exact
 * results. `test_wide report` prints how much of each bound the worst data use up, and judges
 * nothing. */
#include "stats/measure.h"
#include "stats/moments.h"
#include "stats/wide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct integer_case {
    uint64_t n;
    unsigned ddof;
    uint64_t parts[4], expected[5];
};
struct run {
    uint64_t bits;
    unsigned times;
};
struct float_case {
    enum gf_type type;
    unsigned first, runs, n, ddof;
    uint64_t expected[5];
};

#include "stats_values.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool report;

/* ---- recorded results ---- */

static bool same(double value, uint64_t expected)
{
    double e;
    memcpy(&e, &expected, sizeof e);
    return isnan(e) ? isnan(value) : memcmp(&value, &e, sizeof e) == 0;
}

static void check_results(const char *what, size_t i, struct gf_moments_results r,
                          const uint64_t expected[5])
{
    const double found[5] = {r.sum, r.mean, r.variance, r.std, r.rms};
    static const char *const name[5] = {"sum", "mean", "variance", "std", "rms"};
    for (int k = 0; k < 5; k++)
        if (!same(found[k], expected[k]))
            fail_msg("%s %zu: %s is %a, not bits %llx", what, i, name[k], found[k],
                     (unsigned long long)expected[k]);
    assert_true(r.sure);
}

static void integers_as_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(integer_cases); i++) {
        const struct integer_case *c = &integer_cases[i];
        struct gf_i128 sum = {c->parts[0], c->parts[1]}, squares = {c->parts[2], c->parts[3]};
        check_results("integer case", i, gf_integer_results(c->n, sum, squares, c->ddof),
                      c->expected);
    }
}

static void add_run(struct gf_exact *exact, enum gf_type type, struct run run)
{
    uint64_t samples[1000] = {0};
    char *to = (char *)samples;
    unsigned bytes = gf_type_bytes(type);
    assert_true(run.times <= 1000);
    for (unsigned k = 0; k < run.times; k++)
        memcpy(to + k * bytes, &run.bits, bytes); /* little end first, as all we build for */
    gf_exact_add(exact, type, samples, run.times);
}

/* Half of the runs each in two accumulators, which are joined. */
static void floats_as_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(float_cases); i++) {
        const struct float_case *c = &float_cases[i];
        struct gf_exact *half[2] = {gf_exact_new(), gf_exact_new()};
        assert_non_null(half[0]);
        assert_non_null(half[1]);
        for (unsigned k = 0; k < c->runs; k++)
            add_run(half[k % 2], c->type, runs[c->first + k]);
        gf_exact_join(half[0], half[1]);
        assert_int_equal(gf_exact_count(half[0]), c->n);
        check_results("float case", i, gf_exact_results(half[0], c->ddof), c->expected);
        gf_exact_free(half[0]);
        gf_exact_free(half[1]);
    }
}

/* So many of the largest squares of an exponent that they pass 128 bits, in one accumulator or
 * when two are joined. */
static void many_squares_do_not_overflow(void **state)
{
    const double x = 0x1.fffffffffffffp0;
    double samples[1000];
    (void)state;
    for (unsigned i = 0; i < COUNT(samples); i++)
        samples[i] = x;
    for (unsigned thousands = 3000; thousands <= 5000; thousands += 2000) {
        struct gf_exact *half[2] = {gf_exact_new(), gf_exact_new()};
        struct gf_moments_results r;
        assert_non_null(half[0]);
        assert_non_null(half[1]);
        for (unsigned k = 0; k < 2 * thousands; k++)
            gf_exact_add(half[k % 2], GF_F64, samples, COUNT(samples));
        gf_exact_join(half[0], half[1]);
        r = gf_exact_results(half[0], 1);
        assert_int_equal(gf_exact_count(half[0]), 2000 * thousands);
        assert_true(r.mean == x && r.rms == x && r.variance == 0);
        gf_exact_free(half[0]);
        gf_exact_free(half[1]);
    }
}

static void integers_as_text(void **state)
{
    static const struct {
        uint64_t high, low;
        const char *text;
    } cases[] = {
        {0, 0, "0"},
        {0, 7, "7"},
        {UINT64_MAX, UINT64_MAX, "-1"},
        {1, 0, "18446744073709551616"},
        {0x7fffffffffffffff, UINT64_MAX, "170141183460469231731687303715884105727"},
        {0x8000000000000000, 0, "-170141183460469231731687303715884105728"},
    };
    char text[GF_I128_TEXT];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct gf_i128 value = {cases[i].low, cases[i].high};
        assert_string_equal(gf_i128_text(text, value), cases[i].text);
    }
}

/* ---- moments by the definition ---- */

/* Bounds are checked for every strand, and for the whole. */
struct bounds {
    double s1, s2;              /* the largest error beside its bound, below 1 */
};

static struct gf_exact *fresh(void)
{
    struct gf_exact *exact = gf_exact_new();
    assert_non_null(exact);
    return exact;
}

static void add_values(struct gf_exact *exact, struct gf_dd v)
{
    const double parts[2] = {v.hi, v.lo};
    gf_exact_add(exact, GF_F64, parts, 2);
}

/* The size of what is in it. */
static double left_in(struct gf_exact *exact)
{
    double sum = gf_exact_results(exact, 0).sum;
    gf_exact_free(exact);
    return fabs(sum);
}

/* The error as a part of the bound, which may be none. Below 1e-310 a product of doubles is not
 * hi + lo: finish() has to see to what is lost there. */
static double part_of(double error, double bound)
{
    if (error < 1e-310 || !(bound < (double)INFINITY))
        return 0;
    return bound > 0 ? error / bound : (double)INFINITY;
}

/* Compares the sums with exact ones. With x - center = a + b, its square is a^2 + 2ab + b^2. */
static void check_bounds(struct bounds *worst, const struct gf_moments *m, const double *x,
                         uint64_t count)
{
    struct gf_exact *s1 = fresh(), *s2 = fresh();
    double p1, p2;
    for (uint64_t i = 0; i < count; i++) {
        struct gf_dd d = gf_two_sum(x[i], -m->center);
        if (!isfinite(x[i]))
            continue;
        add_values(s1, d);
        add_values(s2, gf_two_product(d.hi, d.hi));
        add_values(s2, gf_two_product(2 * d.hi, d.lo));
        add_values(s2, gf_two_product(d.lo, d.lo));
    }
    add_values(s1, (struct gf_dd){-m->s1.hi, -m->s1.lo});
    add_values(s2, (struct gf_dd){-m->s2.hi, -m->s2.lo});
    p1 = part_of(left_in(s1), m->e1);
    p2 = part_of(left_in(s2), m->e2);
    worst->s1 = p1 > worst->s1 ? p1 : worst->s1;
    worst->s2 = p2 > worst->s2 ? p2 : worst->s2;
}

/* A part of a strand: the tiles that go on with one scale. */
struct part {
    struct gf_scale scale;
    uint64_t n;
    double least;
    struct gf_lane_sums lane[GF_LANES];
};

static void end_part(struct gf_moments *strand, const struct part *part, bool fine)
{
    struct gf_lane_sums sum;
    double column[GF_LANES];
    if (part->n == 0)
        return;
#define TOTAL(name)                                 \
    for (int i = 0; i < GF_LANES; i++)              \
        column[i] = part->lane[i].name;             \
    sum.name = gf_lanes_total(column)
    TOTAL(h1);
    TOTAL(l1);
    TOTAL(h2);
    TOTAL(l2);
#undef TOTAL
    *strand = gf_moments_merge(*strand,
                               gf_strand_end(part->scale, part->n, &sum, fine, part->least));
}

static void add_tile(struct gf_moments *strand, struct part *part, const double *x, uint64_t count,
                     bool single)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    struct gf_scale scale;
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(x[i])) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
    if (low > high)
        return;
    scale = gf_scale_of(low, high);
    if (part->n == 0 || !gf_scale_goes_on(part->scale, scale)) {
        end_part(strand, part, !single);
        memset(part, 0, sizeof *part);
        part->scale = scale;
        part->least = (double)INFINITY;
    }
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(x[i])) {
            double size = fabs(x[i]);
            gf_lane_add(&part->lane[i % GF_LANES], x[i], part->scale.center,
                        gf_power_of_two(-part->scale.exponent), !single);
            part->least = size > 0 && size < part->least ? size : part->least;
            part->n++;
        }
}

static struct gf_moments strand_of(const double *x, uint64_t count, bool single)
{
    struct gf_moments strand;
    struct part part;
    memset(&strand, 0, sizeof strand);
    part.n = 0;
    for (uint64_t at = 0; at < count; at += GF_TILE)
        add_tile(&strand, &part, x + at, count - at < GF_TILE ? count - at : GF_TILE, single);
    end_part(&strand, &part, !single);
    return strand;
}

/* Pairwise by index, a missing partner skipped: the definition, by recursion. */
static struct gf_moments merged(const struct gf_moments *part, uint64_t count)
{
    uint64_t half = 1;
    if (count == 1)
        return part[0];
    while (half * 2 < count)
        half *= 2;
    return gf_moments_merge(merged(part, half), merged(part + half, count - half));
}

/* `single`: the samples are binary32. */
static struct gf_moments moments_of(struct bounds *worst, const double *x, uint64_t count,
                                    bool single)
{
    struct gf_moments_tree tree;
    struct gf_moments all;
    memset(&tree, 0, sizeof tree);
    for (uint64_t at = 0; at < count; at += GF_LEAF) {
        struct gf_moments strand[GF_LEAF_STRANDS];
        unsigned strands = 0;
        for (uint64_t s = at; s < count && s < at + GF_LEAF; s += GF_STRAND) {
            uint64_t size = count - s < GF_STRAND ? count - s : GF_STRAND;
            strand[strands] = strand_of(x + s, size, single);
            check_bounds(worst, &strand[strands++], x + s, size);
        }
        gf_moments_tree_add(&tree, 0, merged(strand, strands));
    }
    all = gf_moments_tree_total(&tree);
    check_bounds(worst, &all, x, count);
    return all;
}

/* ---- data ---- */

static uint64_t seed = 1;

/* xorshift64*: Marsaglia 2003, Vigna 2016. */
static uint64_t random_bits(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(2685821657736338717);
}

/* [0, 1) */
static double uniform(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

static double sign(void) { return random_bits() >> 63 ? -1 : 1; }

/* Any mantissa, 2^low to 2^high. */
static double any(int low, int high)
{
    return sign() * ldexp(1 + uniform(), low + (int)(uniform() * (high - low)));
}

/* X(name, what double and single data of it are good for, sample i). SURE: the bounds must
 * vouch for the results; ANY: they may not. */
#define KINDS(X)                                                                        \
    X(uniform, SURE, SURE, uniform())                                                   \
    X(shifted, SURE, SURE, 15 + uniform())                                              \
    X(wide_shift, SURE, SURE, 3.7 + 0.26 * uniform())                                   \
    X(negative, SURE, SURE, -100 - uniform())                                           \
    X(normal, ANY, SURE, normal())                                                      \
    X(normal_100_3, SURE, SURE, 100 + 3 * normal())                                     \
    X(normal_5_1, SURE, SURE, 5 + normal())                                             \
    X(normal_1_1, SURE, SURE, 1 + normal())                                             \
    X(exponential, SURE, SURE, -log(1 - uniform()))                                     \
    X(million, SURE, SURE, 1e6 + 2 * uniform() - 1)                                     \
    X(million_close, SURE, ANY, 1e6 + 2e-3 * uniform() - 1e-3)                          \
    X(million_normal, SURE, SURE, 1e6 + normal())                                       \
    X(constant, SURE, SURE, 0.1)                                                        \
    X(zero, SURE, SURE, 0)                                                              \
    X(bytes, SURE, SURE, (double)(random_bits() % 256))                                 \
    X(words, SURE, SURE, (double)(random_bits() % 65536))                               \
    X(ramp, SURE, SURE, 0.001 * (double)(i + 1))                                        \
    X(spots, SURE, SURE, random_bits() % 100 ? 0 : 1000 * uniform())                    \
    X(gaps, SURE, SURE, random_bits() % 3 ? (double)NAN : uniform())                    \
    X(steps, SURE, SURE, (double)(1 + i / GF_TILE % 7))                                 \
    X(outliers, ANY, SURE, random_bits() % 2000 ? 1003 : 1003 + uniform())              \
    X(mixed_3, ANY, ANY, sign() * (i % 2 ? 1e3 : 1e-3) * (1 + uniform()))               \
    X(mixed_30, ANY, ANY, sign() * (i % 3 ? 1e30 : 1e-30) * (1 + uniform()))            \
    X(mixed_tiles, ANY, ANY, (i / GF_TILE % 2 ? 1e15 : 1e-15) * (1 + uniform()))        \
    X(mixed_runs, ANY, ANY, any(-8, -7) * (i / 300 % 3 ? 1 : 0x1p-13))                  \
    X(all_single, ANY, ANY, any(-149, 127))                                             \
    X(cancel, ANY, ANY, i % 2 ? 1.1 : -1.1)                                             \
    X(cancel_almost, ANY, ANY, i % 2 ? 1e10 : i % 4 ? -1e10 : -1e10 + 1e3 * uniform())  \
    X(neighbours, ANY, ANY, 1 + (double)(random_bits() % 4) * 0x1p-52)                  \
    X(drift, ANY, ANY, exp2((double)(i / GF_TILE % 60)) * (1 + 0x1p-8 * uniform()))     \
    X(tile_constants, ANY, ANY, cos((double)(i / GF_TILE)) * 1e5)                       \
    X(tile_offsets, ANY, ANY, cos((double)(i / GF_TILE)) * 1e5 + uniform() * 1e-4)      \
    X(drop_4, ANY, ANY, sign() * exp2(-(double)(i / GF_TILE % 4 * 4)) * uniform())      \
    X(two_values, ANY, ANY, (i ^ n) & 64 ? 0.7 + 0x1p-22 - 0x1p-45 : -0.3)              \
    X(small_and_less, ANY, ANY,                                                         \
      i % 512 ? (i % 2 ? 0x1p-22 : 0x1p-47) * (1 + uniform()) : 1)                      \
    X(tiny_single, ANY, ANY, sign() * 0x1p-140 * uniform())

/* Beyond the range of binary32. */
#define DOUBLE_KINDS(X)                                                                 \
    X(all_double, ANY, ANY, any(-1073, 1023))                                           \
    X(limits, ANY, ANY, any(1000, 1024))                                                \
    X(limits_400, ANY, ANY, any(390, 405))                                              \
    X(limits_390, ANY, ANY, any(380, 399))                                              \
    X(big_constants, ANY, ANY, (i / GF_TILE % 2 ? 1e300 : -1e300))                      \
    X(big_and_one, ANY, ANY, (i / GF_TILE % 2 ? 1e300 : uniform()))                     \
    X(below_400, ANY, ANY, any(-404, -396))                                             \
    X(centre_400, ANY, ANY, 0x1p-397 * (1 + 0x1p-6 * uniform()))                        \
    X(below_500, ANY, ANY, any(-510, -490))                                             \
    X(below_600, ANY, ANY, any(-620, -590))                                             \
    X(below_700, ANY, ANY, any(-720, -690))                                             \
    X(subnormal, ANY, ANY, any(-1074, -1030))                                           \
    X(tiny_constants, ANY, ANY, 0x1p-600 * (double)(i / GF_TILE % 5))

enum mark { SURE, ANY };

#define X(name, doubles, singles, sample)                       \
    static double kind_##name(uint64_t i, uint64_t n)           \
    {                                                           \
        (void)i, (void)n;                                       \
        return sample;                                          \
    }
KINDS(X)
DOUBLE_KINDS(X)
#undef X

static const struct kind {
    const char *name;
    enum mark mark[2];          /* double, single */
    double (*sample)(uint64_t i, uint64_t n);
} kinds[] = {
#define X(name, doubles, singles, sample) {#name, {doubles, singles}, kind_##name},
    KINDS(X) DOUBLE_KINDS(X)
#undef X
};
#define X(name, doubles, singles, sample) +1
enum { SINGLE_KINDS = 0 KINDS(X) };
#undef X

/* ---- finish() against exact results ---- */

/* How many doubles lie between them and one more; far apart when one is NaN alone. */
static uint64_t ulps(double a, double b)
{
    int64_t i, k;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : UINT64_MAX;
    memcpy(&i, &a, sizeof i);
    memcpy(&k, &b, sizeof k);
    i = i < 0 ? INT64_MIN - i : i;
    k = k < 0 ? INT64_MIN - k : k;
    return i > k ? (uint64_t)i - (uint64_t)k : (uint64_t)k - (uint64_t)i;
}

static uint64_t farthest(struct gf_moments_results a, struct gf_moments_results b)
{
    const uint64_t all[5] = {ulps(a.sum, b.sum), ulps(a.mean, b.mean),
                             ulps(a.variance, b.variance), ulps(a.std, b.std),
                             ulps(a.rms, b.rms)};
    uint64_t most = 0;
    for (int k = 0; k < 5; k++)
        most = all[k] > most ? all[k] : most;
    return most;
}

struct outcome {
    struct bounds worst;
    uint64_t runs, sure, off, most; /* off: not the nearest doubles */
};

static void check_data(struct outcome *o, const char *name, bool must, const double *x, uint64_t n,
                       bool single)
{
    struct gf_moments m = moments_of(&o->worst, x, n, single);
    struct gf_exact *exact = fresh();
    gf_exact_add(exact, GF_F64, x, n);
    assert_int_equal(m.n, gf_exact_count(exact));
    for (unsigned ddof = 0; ddof < 2; ddof++) {
        struct gf_moments_results r = gf_moments_finish(&m, ddof);
        o->runs++;
        if (r.sure) {
            uint64_t most = farthest(r, gf_exact_results(exact, ddof));
            o->sure++;
            o->off += most > 0;
            o->most = most > o->most ? most : o->most;
        } else if (must && !report) {
            fail_msg("%s, %s, n = %llu: not sure", name, single ? "f32" : "f64",
                     (unsigned long long)n);
        }
    }
    gf_exact_free(exact);
    if (!report && !(o->worst.s1 <= 1 && o->worst.s2 <= 1 && o->most <= 1))
        fail_msg("%s, %s, n = %llu: errors are %g and %g of the bounds; %llu ulp", name,
                 single ? "f32" : "f64", (unsigned long long)n, o->worst.s1, o->worst.s2,
                 (unsigned long long)o->most);
}

static void print_outcome(const char *name, bool single, const struct outcome *o)
{
    if (report)
        printf("%-16s %s  sure %4llu of %4llu, %llu ulp; of the bounds %.3f %.3f\n", name,
               single ? "f32" : "f64", (unsigned long long)o->sure, (unsigned long long)o->runs,
               (unsigned long long)o->most, o->worst.s1, o->worst.s2);
}

static double *buffer(uint64_t n)
{
    double *x = malloc((n ? n : 1) * sizeof *x);
    assert_non_null(x);
    return x;
}

static void moments_keep_their_bounds(void **state)
{
    static const uint64_t sizes[] = {0,    1,    2,    3,     5,     127,   128,    129,   999,
                                     1023, 1024, 1025, 2048,  2049,  4095,  4096,   4097,  5000,
                                     8192, 9999, 32768, 32769, 99991};
    double *x = buffer(sizes[COUNT(sizes) - 1]);
    uint64_t all = 0, off = 0;
    (void)state;
    for (int single = 0; single < 2; single++)
        for (size_t k = 0; k < (single ? (size_t)SINGLE_KINDS : COUNT(kinds)); k++) {
            struct outcome o = {{0, 0}, 0, 0, 0, 0};
            for (size_t s = 0; s < COUNT(sizes); s++) {
                for (uint64_t i = 0; i < sizes[s]; i++) {
                    x[i] = kinds[k].sample(i, sizes[s]);
                    x[i] = single ? (double)(float)x[i] : x[i];
                }
                check_data(&o, kinds[k].name, kinds[k].mark[single] == SURE, x, sizes[s], single);
            }
            print_outcome(kinds[k].name, single, &o);
            all += o.sure;
            off += o.off;
        }
    assert_true(off * 50 <= all); /* hi + lo has many more digits than a double */
    free(x);
}

/* ---- data made to be wrong by as much as can be ---- */

/* The next sample of a lane, of 64 tried the one that rounds its sum of d - g (or of l * (2h + l))
 * the most, always upwards. */
static double worst_sample(struct gf_lane_sums *lane, bool second)
{
    double best = 0, most = -1;
    struct gf_lane_sums after;
    for (int k = 0; k < 64; k++) {
        /* Only small samples have bits below what l1 can hold, and only large ones a large l2. */
        double x = second ? 1 - 0x1p-21 - uniform() * 0x1p-27 : 0x1p-42 - uniform() * 0x1p-48;
        double h = (x + GF_SPLITTER) - GF_SPLITTER, l = x - h;
        double term = second ? l * (2 * h + l) : x, old = second ? lane->l2 : lane->l1;
        double error;
        after = *lane;
        gf_lane_add(&after, x, 0, 1, true);
        error = ((second ? after.l2 : after.l1) - old) - term;
        if (error > most) {
            most = error;
            best = x;
        }
    }
    gf_lane_add(lane, best, 0, 1, true);
    return best;
}

/* All lanes alike, so that their errors add up; two samples see to the scale. A strand far away
 * comes first, to whose centre the others are moved. */
static void greedy_data_keep_the_bounds(void **state)
{
    double *x = buffer(5 * GF_STRAND);
    (void)state;
    for (uint64_t i = 0; i < GF_STRAND; i++)
        x[i] = 1000;
    for (int second = 0; second < 2; second++) {
        struct outcome o = {{0, 0}, 0, 0, 0, 0};
        for (int round = 0; round < 12; round++) {
            struct gf_lane_sums lane = {0, 0, 0, 0};
            uint64_t n = (round % 2 ? 5 : 2) * (uint64_t)GF_STRAND;
            for (uint64_t i = GF_STRAND; i < n; i += GF_LANES) {
                double sample;
                if (i % GF_STRAND == 0)
                    memset(&lane, 0, sizeof lane);
                sample = worst_sample(&lane, second);
                for (uint64_t k = 0; k < GF_LANES; k++)
                    x[i + k] = sample;
                if (i % GF_TILE == 0) {
                    x[i] = 0.75;
                    x[i + 1] = -0.75;
                }
            }
            check_data(&o, "greedy", false, x, n, false);
            check_data(&o, "greedy", false, x + GF_STRAND, n - GF_STRAND, false);
        }
        print_outcome(second ? "greedy l2" : "greedy l1", false, &o);
    }
    free(x);
}

/* ---- the tree ---- */

/* Leaves one by one, or an aligned group at once: the same bits. */
static void tree_is_pairwise(void **state)
{
    struct gf_moments leaf[40];
    (void)state;
    for (unsigned i = 0; i < COUNT(leaf); i++) {
        double x[3] = {uniform(), 1e5 * uniform(), (double)i};
        leaf[i] = strand_of(x, i % 5 ? 3 : 0, false);
    }
    for (unsigned n = 1; n <= COUNT(leaf); n++) {
        struct gf_moments_tree one, groups;
        struct gf_moments all = merged(leaf, n), a, b;
        unsigned i = 0;
        memset(&one, 0, sizeof one);
        memset(&groups, 0, sizeof groups);
        for (unsigned k = 0; k < n; k++)
            gf_moments_tree_add(&one, 0, leaf[k]);
        for (; i + 8 <= n; i += 8)
            gf_moments_tree_add(&groups, 3, merged(leaf + i, 8));
        for (; i < n; i++)
            gf_moments_tree_add(&groups, 0, leaf[i]);
        a = gf_moments_tree_total(&one);
        b = gf_moments_tree_total(&groups);
        assert_int_equal(one.leaves, n);
        assert_int_equal(groups.leaves, n);
        assert_memory_equal(&a, &all, sizeof all);
        assert_memory_equal(&b, &all, sizeof all);
    }
}

static void nothing_and_one(void **state)
{
    struct gf_moments_tree tree;
    struct gf_moments m;
    struct gf_moments_results r;
    const double x = -1.7e308;
    (void)state;
    memset(&tree, 0, sizeof tree);
    m = gf_moments_tree_total(&tree);
    r = gf_moments_finish(&m, 1);
    assert_true(r.sure && r.sum == 0);
    assert_true(isnan(r.mean) && isnan(r.variance) && isnan(r.std) && isnan(r.rms));
    m = strand_of(&x, 1, false);
    r = gf_moments_finish(&m, 1);
    assert_true(r.sure && r.sum == x && r.mean == x && r.rms == -x);
    assert_true(isnan(r.variance) && isnan(r.std));
    r = gf_moments_finish(&m, 0);
    assert_true(r.sure && r.variance == 0 && r.std == 0);
}

/* Sums that cancel: 4 million binary64 about 0 have a sum of a few thousand, which one pass has to
 * vouch for. With |d| split at 2^-20, as the narrow types are, it could not. */
static void zero_mean_is_sure(void **state)
{
    const uint64_t count = UINT64_C(1) << 22;
    double *x = malloc(count * sizeof *x);
    (void)state;
    assert_non_null(x);
    for (unsigned round = 0; round < 4; round++) {
        const struct gf_measure measure = {.type = GF_F64, .moments = true, .threads = 2};
        struct gf_measured found;
        struct gf_exact *exact = fresh();
        void *opened = NULL;
        for (uint64_t i = 0; i < count; i++)
            x[i] = normal() * (round < 2 ? 1 : 1e-9);
        gf_exact_add(exact, GF_F64, x, count);
        assert_int_equal(gf_measurer_cpu.open(&measure, &opened, NULL), GF_OK);
        assert_int_equal(gf_measurer_cpu.feed(opened, x, count, NULL), GF_OK);
        assert_int_equal(gf_measurer_cpu.finish(opened, &found, NULL), GF_OK);
        gf_measurer_cpu.close(opened);
        for (unsigned ddof = 0; ddof < 2; ddof++) {
            struct gf_moments_results r = gf_moments_finish(&found.moments, ddof);
            assert_true(fabs(r.mean) < 0.01 * r.std);
            assert_true(r.sure);
            assert_true(farthest(r, gf_exact_results(exact, ddof)) <= 1);
        }
        gf_exact_free(exact);
    }
    free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_as_recorded),
        cmocka_unit_test(floats_as_recorded),
        cmocka_unit_test(many_squares_do_not_overflow),
        cmocka_unit_test(integers_as_text),
        cmocka_unit_test(nothing_and_one),
        cmocka_unit_test(tree_is_pairwise),
        cmocka_unit_test(moments_keep_their_bounds),
        cmocka_unit_test(greedy_data_keep_the_bounds),
        cmocka_unit_test(zero_mean_is_sure),
    };
    report = argc > 1 && strcmp(argv[1], "report") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
