/* The right answers of the ladders' convolutions: against a plain loop, and whether wrong results
 * are found. */
#include "bench/expect.h"
#include "util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a result in binary32, computed by a plain loop ---- */

struct wrong {
    bool clamp;             /* at the border, where 0 is right */
    int shift_z;            /* planes */
    uint64_t without;       /* 1 + a tap that is left out */
};
enum order { FUSED, BACKWARDS, ROUNDED };

static float sample_at(const struct gf_ladder_work *w, const float *in, int64_t x, int64_t y,
                       int64_t z, const struct wrong *wrong)
{
    int64_t at[3] = {x, y, z};

    for (int a = 0; a < 3; a++) {
        int64_t n = (int64_t)w->size[a];
        if (wrong->clamp)
            at[a] = at[a] < 0 ? 0 : at[a] >= n ? n - 1 : at[a];
        if (at[a] < 0 || at[a] >= n)
            return 0;
    }
    return in[((uint64_t)at[2] * w->size[1] + (uint64_t)at[1]) * w->size[0] + (uint64_t)at[0]];
}

static float sum_at(const struct gf_ladder_work *w, const float *mask, const float *in,
                    const uint64_t out[3], enum order order, const struct wrong *wrong)
{
    int64_t m = w->taps, r = m / 2, lead = w->valid ? 0 : r;
    int64_t taps = gf_expect_taps(w), flat = w->ladder == GF_CONV2D;
    float sum = 0;

    for (int64_t n = 0; n < taps; n++) {
        int64_t t = order == BACKWARDS ? taps - 1 - n : n;
        int64_t z = flat ? 0 : t / m / m - lead + wrong->shift_z;
        float s = sample_at(w, in, (int64_t)out[0] + t % m - lead,
                            (int64_t)out[1] + t / m % m - lead, (int64_t)out[2] + z, wrong);
        volatile float product = mask[t] * s;
        if (wrong->without == (uint64_t)t + 1)
            continue;
        sum = order == ROUNDED ? sum + product : fmaf(mask[t], s, sum);
    }
    return sum;
}

/* A case: its input, its mask, and what is to be compared. */
struct made {
    struct gf_ladder_work work;
    uint64_t out[3];
    uint64_t pitch, plane;
    float mask[GF_EXPECT_MOST_TAPS];
    float *in, *got;
    struct gf_expect *expect;
    double tolerance;
};

static void compute(struct made *c, const float *mask, enum order order, struct wrong wrong)
{
    for (uint64_t z = 0; z < c->out[2]; z++)
        for (uint64_t y = 0; y < c->out[1]; y++)
            for (uint64_t x = 0; x < c->out[0]; x++)
                c->got[z * c->plane + y * c->pitch + x] =
                    sum_at(&c->work, mask, c->in, (uint64_t[]){x, y, z}, order, &wrong);
}

static double error_of(const struct made *c)
{
    return gf_expect_error(c->expect, c->got, c->pitch, c->plane);
}

/* `threads` workers; the result's rows are padded by 5 samples that are NaN. */
static void make(struct made *c, struct gf_ladder_work work, unsigned threads)
{
    struct gf_error e = {""};
    uint64_t samples = work.size[0] * work.size[1] * work.size[2];

    memset(c, 0, sizeof *c);
    c->work = work;
    gf_expect_size(&work, c->out);
    gf_expect_mask(&work, c->mask);
    c->tolerance = gf_expect_tolerance(&work);
    c->pitch = c->out[0] + 5;
    c->plane = c->pitch * (c->out[1] + 2);
    c->in = malloc(samples * sizeof *c->in);
    c->got = malloc((c->plane * c->out[2] + 1) * sizeof *c->got);
    assert_non_null(c->in);
    assert_non_null(c->got);
    for (uint64_t i = 0; i < samples; i++)
        c->in[i] = gf_ladder_sample(i, work.stress);
    memset(c->got, 0xff, (c->plane * c->out[2] + 1) * sizeof *c->got);
    assert_int_equal(gf_expect_open(&work, c->mask, c->in, threads, &c->expect, &e), GF_OK);
}

static void end(struct made *c)
{
    gf_expect_close(c->expect);
    free(c->in);
    free(c->got);
}

#define FLAT(w, h, m, s) {.ladder = GF_CONV2D, .size = {w, h, 1}, .taps = m, .stress = s}
#define SOLID(w, h, d, m, v, s) \
    {.ladder = GF_CONV3D, .size = {w, h, d}, .taps = m, .valid = v, .stress = s}

static const struct gf_ladder_work works[] = {
    FLAT(1, 1, 3, false), FLAT(1, 1, 9, true), FLAT(5, 2, 9, true), FLAT(1, 37, 5, false),
    FLAT(1031, 3, 3, true), FLAT(513, 9, 9, false), FLAT(512, 4, 7, true), FLAT(67, 41, 5, false),
    SOLID(1, 1, 1, 3, false, false), SOLID(3, 3, 3, 3, true, true),
    SOLID(2, 3, 1, 7, false, true), SOLID(19, 11, 8, 3, false, true),
    SOLID(19, 11, 8, 7, true, true), SOLID(17, 7, 9, 5, false, false),
    SOLID(17, 7, 9, 5, true, false), SOLID(517, 8, 7, 7, true, true),
    SOLID(9, 9, 9, 7, false, true),
};

/* ---- tests ---- */

/* One sample of 1 shows the mask turned round: the correlation's sum is as the mask is written. */
static void orientation(void **state)
{
    struct gf_ladder_work w = SOLID(7, 7, 7, 5, false, false);
    struct gf_expect *expect;
    struct gf_error e;
    float in[343] = {0}, got[343] = {0}, mask[125];
    (void)state;

    gf_expect_mask(&w, mask);
    in[(3 * 7 + 3) * 7 + 3] = 1;
    for (int n = 0; n < 125; n++)
        got[((5 - n / 25) * 7 + 5 - n / 5 % 5) * 7 + 5 - n % 5] = mask[n];
    assert_int_equal(gf_expect_open(&w, mask, in, 1, &expect, &e), GF_OK);
    assert_true(gf_expect_error(expect, got, 7, 49) == 0);
    got[0] = 1e-30f; /* where 0 is right nothing else is near it */
    assert_true(isinf(gf_expect_error(expect, got, 7, 49)));
    gf_expect_close(expect);
}

/* `turned`: the tap that takes the place of (i, j, k). */
static bool differs(const float *mask, uint32_t m, uint32_t depth, const int to[3],
                    const bool back[3])
{
    for (uint32_t n = 0; n < m * m * depth; n++) {
        uint32_t at[3] = {n % m, n / m % m, n / m / m}, turned[3];
        for (int a = 0; a < 3; a++)
            turned[a] = back[a] ? m - 1 - at[to[a]] : at[to[a]];
        if (mask[(turned[2] * m + turned[1]) * m + turned[0]] != mask[n])
            return true;
    }
    return false;
}

static void mask_is_its_own(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0},
                                    {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    (void)state;

    for (uint32_t m = 3; m <= 9; m += 2)
        for (int dimensions = 2; dimensions <= (m <= 7 ? 3 : 2); dimensions++) {
            struct gf_ladder_work w = {.ladder = dimensions == 2 ? GF_CONV2D : GF_CONV3D,
                                       .taps = m};
            uint32_t depth = dimensions == 2 ? 1 : m;
            float mask[GF_EXPECT_MOST_TAPS];
            double sum = 0;
            gf_expect_mask(&w, mask);
            assert_int_equal(gf_expect_taps(&w), m * m * depth);
            for (uint32_t n = 0; n < m * m * depth; n++) {
                assert_true(mask[n] > 1.0 / 8192);
                sum += (double)mask[n];
            }
            assert_true(fabs(sum - 1) < 1e-6);
            for (size_t o = 0; o < (dimensions == 2 ? 2 : GF_COUNT(orders)); o++)
                for (unsigned b = 0; b < (dimensions == 2 ? 4 : 8); b++) {
                    bool back[3] = {b & 1, b & 2, b & 4};
                    assert_true(differs(mask, m, depth, orders[o], back) == (o > 0 || b > 0));
                }
        }
}

/* In any order of additions, fused or not, with any number of threads. */
static void right_results_pass(void **state)
{
    (void)state;

    for (size_t i = 0; i < GF_COUNT(works); i++)
        for (int order = FUSED; order <= ROUNDED; order++) {
            struct made c;
            make(&c, works[i], 1 + (unsigned)(i % 3));
            compute(&c, c.mask, (enum order)order, (struct wrong){0});
            if (!(error_of(&c) <= c.tolerance))
                fail_msg("case %zu: error %g, tolerance %g", i, error_of(&c), c.tolerance);
            end(&c);
        }
}

/* The double answer by itself: of whole numbers it is exact. */
static void whole_numbers_are_exact(void **state)
{
    struct gf_ladder_work w = SOLID(12, 7, 6, 3, false, false);
    struct gf_expect *expect;
    struct gf_error e;
    float in[12 * 7 * 6], got[12 * 7 * 6], mask[27];
    (void)state;

    for (int n = 0; n < 27; n++)
        mask[n] = (float)(1 + n * 7 % 11);
    for (int n = 0; n < 12 * 7 * 6; n++)
        in[n] = (float)(n * 37 % 101);
    for (uint64_t n = 0; n < 12 * 7 * 6; n++)
        got[n] = sum_at(&w, mask, in, (uint64_t[]){n % 12, n / 12 % 7, n / 84}, FUSED,
                        &(struct wrong){0});
    assert_int_equal(gf_expect_open(&w, mask, in, 2, &expect, &e), GF_OK);
    assert_true(gf_expect_error(expect, got, 12, 84) == 0);
    gf_expect_close(expect);
}

static void expect_found(const struct made *c, const char *what, size_t i)
{
    if (!(error_of(c) > c->tolerance))
        fail_msg("%s is not found in case %zu: error %g", what, i, error_of(c));
}

/* Each of the outputs at the corners and edges, wrong by little, NaN, and not written. */
static void wrong_samples_are_found(void **state)
{
    (void)state;

    for (size_t i = 0; i < GF_COUNT(works); i++) {
        struct made c;
        make(&c, works[i], 2);
        assert_true(isinf(error_of(&c))); /* nothing was written */
        compute(&c, c.mask, FUSED, (struct wrong){0});
        for (int place = 0; place < 27; place++) {
            uint64_t at[3], steps[3] = {(uint64_t)place % 3, (uint64_t)place / 3 % 3,
                                        (uint64_t)place / 9};
            for (int a = 0; a < 3; a++)
                at[a] = steps[a] * (c.out[a] - 1) / 2;
            float *sample = c.got + at[2] * c.plane + at[1] * c.pitch + at[0], right = *sample;
            *sample = right * (float)(1 + 2.5 * c.tolerance);
            expect_found(&c, "a sample that is a little too large", i);
            *sample = right * (float)(1 - 2.5 * c.tolerance);
            expect_found(&c, "a sample that is a little too small", i);
            *sample = NAN;
            assert_true(isinf(error_of(&c)));
            memset(sample, 0xff, sizeof *sample);
            assert_true(isinf(error_of(&c)));
            *sample = INFINITY;
            assert_true(isinf(error_of(&c)));
            *sample = right;
        }
        assert_true(error_of(&c) <= c.tolerance);
        end(&c);
    }
}

static void swap_axes(const struct made *c, int a, int b, float *swapped)
{
    uint32_t m = c->work.taps;

    for (uint32_t n = 0; n < gf_expect_taps(&c->work); n++) {
        uint32_t at[3] = {n % m, n / m % m, n / m / m}, t = at[a];
        at[a] = at[b];
        at[b] = t;
        swapped[n] = c->mask[(at[2] * m + at[1]) * m + at[0]];
    }
}

static void turn_axis(const struct made *c, int a, float *turned)
{
    uint32_t m = c->work.taps;

    for (uint32_t n = 0; n < gf_expect_taps(&c->work); n++) {
        uint32_t at[3] = {n % m, n / m % m, n / m / m};
        at[a] = m - 1 - at[a];
        turned[n] = c->mask[(at[2] * m + at[1]) * m + at[0]];
    }
}

/* What a kernel may do wrong: another mask, another border, one tap too few. */
static void wrong_kernels_are_found(void **state)
{
    static const struct gf_ladder_work all[] = {
        FLAT(33, 21, 3, false), FLAT(33, 21, 9, true), FLAT(33, 21, 9, false),
        SOLID(13, 11, 10, 3, false, false), SOLID(13, 11, 10, 7, false, true),
        SOLID(13, 11, 10, 7, false, false), SOLID(13, 11, 10, 7, true, false),
    };
    (void)state;

    for (size_t i = 0; i < GF_COUNT(all); i++) {
        struct made c;
        float mask[GF_EXPECT_MOST_TAPS];
        int axes = all[i].ladder == GF_CONV2D ? 2 : 3;
        make(&c, all[i], 2);
        for (int a = 0; a < axes; a++) {
            turn_axis(&c, a, mask);
            compute(&c, mask, FUSED, (struct wrong){0});
            expect_found(&c, "a mask turned round along an axis", i);
            swap_axes(&c, a, (a + 1) % axes, mask);
            compute(&c, mask, FUSED, (struct wrong){0});
            expect_found(&c, "a mask with two axes swapped", i);
        }
        if (!all[i].valid) {
            compute(&c, c.mask, FUSED, (struct wrong){.clamp = true});
            expect_found(&c, "a border that is not 0", i);
        }
        if (axes == 3) {
            compute(&c, c.mask, FUSED, (struct wrong){.shift_z = 1});
            expect_found(&c, "a shift by a plane", i);
        }
        for (uint64_t t = 0; t < gf_expect_taps(&c.work); t += 1 + (uint64_t)axes) {
            compute(&c, c.mask, FUSED, (struct wrong){.without = t + 1});
            expect_found(&c, "a tap that is left out", i);
        }
        end(&c);
    }
}

static void sizes(void **state)
{
    struct gf_ladder_work fits = SOLID(9, 8, 7, 7, true, false);
    struct gf_ladder_work not = SOLID(9, 8, 6, 7, true, false);
    struct gf_ladder_work flat = FLAT(2, 1, 9, false);
    struct gf_error e = {""};
    uint64_t size[3];
    struct gf_expect *expect;
    float mask[GF_EXPECT_MOST_TAPS], in[9 * 8 * 7] = {0};
    (void)state;

    gf_expect_size(&fits, size);
    assert_true(size[0] == 3 && size[1] == 2 && size[2] == 1);
    gf_expect_size(&not, size);
    assert_true(size[0] == 0 && size[1] == 0 && size[2] == 0);
    for (int a = 0; a < 2; a++) {
        struct gf_ladder_work narrow = fits;
        narrow.size[a] = 6;
        gf_expect_size(&narrow, size);
        assert_true(size[0] == 0 && size[1] == 0 && size[2] == 0);
    }
    flat.valid = true; /* means nothing in 2D */
    gf_expect_size(&flat, size);
    assert_true(size[0] == 2 && size[1] == 1 && size[2] == 1);
    gf_expect_mask(&not, mask);
    assert_int_equal(gf_expect_open(&not, mask, in, 1, &expect, &e), GF_OK);
    assert_true(gf_expect_error(expect, in, 9, 72) == 0);
    gf_expect_close(expect);
    gf_expect_close(NULL);
    fits.taps = 11;
    assert_int_equal(gf_expect_open(&fits, mask, in, 1, &expect, &e), GF_EUSAGE);
    fits.taps = 3;
    fits.size[0] = UINT64_C(1) << 60;
    assert_int_equal(gf_expect_open(&fits, mask, in, 1, &expect, &e), GF_EMEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation),
        cmocka_unit_test(mask_is_its_own),
        cmocka_unit_test(right_results_pass),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(wrong_samples_are_found),
        cmocka_unit_test(wrong_kernels_are_found),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
