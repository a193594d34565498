/* Values of masks: named ones, Gaussians, factoring, sums, turning round. */
#include "mask_test.h"

static struct gf_mask named(const char *name, int dimensions)
{
    struct gf_mask mask;
    struct gf_error e = {""};
    if (gf_mask_named(&mask, name, dimensions, &e) != GF_OK)
        fail_msg("%s", e.text);
    return mask;
}

/* Holds for every mask: the taps are the products of the factors, the sums agree. */
static void check_invariants(const struct gf_mask *m)
{
    double sum = 0.0, magnitude = 0.0;
    bool negative = false;
    assert_true(m->divisor > 0 && isfinite(m->divisor));
    for (int a = 0; a < 3; a++) {
        assert_true(m->size[a] >= 1 && m->origin[a] < m->size[a]);
        assert_true((m->factor[a] != NULL) == m->separable);
    }
    assert_true(m->taps != NULL || m->separable);
    for (uint32_t k = 0; k < m->size[2]; k++)
        for (uint32_t j = 0; j < m->size[1]; j++)
            for (uint32_t i = 0; i < m->size[0]; i++) {
                double tap = gf_mask_tap(m, i, j, k);
                if (m->separable)
                    assert_true(tap == m->factor[2][k] * m->factor[1][j] * m->factor[0][i]);
                if (m->integer)
                    assert_true(tap == rint(tap) && fabs(tap) < 2147483648.0);
                sum += tap;
                magnitude += fabs(tap);
                negative = negative || tap < 0;
            }
    assert_true(fabs(gf_mask_abs_sum(m) - magnitude) <= 1e-12 * magnitude);
    assert_true(fabs(gf_mask_sum(m) - sum / m->divisor) <= 1e-9 * magnitude / m->divisor);
    assert_true(m->normalize == (!negative && sum > 0));
    if (m->integer)
        assert_true(m->unit_sum == (sum == m->divisor));
    if (m->unit_sum)
        assert_true(gf_mask_sum(m) == 1.0);
}

static void table_rows(void **state)
{
    (void)state;
    for (unsigned i = 0; gf_mask_row(i) != NULL; i++) {
        const struct gf_mask_row *row = gf_mask_row(i);
        for (int d = 2; d <= 3; d++) {
            struct gf_mask mask;
            struct gf_error e = {""};
            enum gf_status status = gf_mask_named(&mask, row->name, d, &e);
            if (row->dimensions != 0 && row->dimensions != d) {
                assert_int_equal(status, GF_EUSAGE);
                assert_non_null(strstr(e.text, d == 3 ? "--2d" : "--3d"));
                continue;
            }
            assert_int_equal(status, GF_OK);
            assert_string_equal(mask.name, row->name);
            assert_true(mask.size[2] == (d == 3 ? mask.size[0] : 1));
            assert_true(mask.integer);
            check_invariants(&mask);
            gf_mask_free(&mask);
        }
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(row->name, gf_mask_row(j)->name);
    }
    assert_null(gf_mask_row(10000));
}

/* n over k for n <= 8, as a product, not by the recurrence. */
static double choose(unsigned n, unsigned k)
{
    double above = 1, below = 1;
    for (unsigned i = 1; i <= k; i++) {
        above *= n - k + i;
        below *= i;
    }
    return above / below;
}

static void smoothing_masks(void **state)
{
    char name[16];
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (unsigned n = 3; n <= 31; n += 2)
            for (int gauss = 0; gauss <= (n <= 9); gauss++) {
                struct gf_mask m;
                double per_axis = gauss ? pow(2, n - 1) : n;
                snprintf(name, sizeof name, "%s%u", gauss ? "gauss" : "box", n);
                m = named(name, d);
                assert_true(m.size[0] == n && m.size[1] == n && m.size[2] == (d == 3 ? n : 1));
                assert_true(m.divisor == pow(per_axis, d));
                assert_true(m.separable && m.unit_sum && m.normalize && m.integer);
                for (uint32_t k = 0; k < m.size[2]; k++)
                    for (uint32_t j = 0; j < n; j++)
                        for (uint32_t i = 0; i < n; i++) {
                            double tap = gauss ? choose(n - 1, i) * choose(n - 1, j) *
                                                     (d == 3 ? choose(n - 1, k) : 1)
                                               : 1;
                            assert_true(gf_mask_tap(&m, i, j, k) == tap);
                        }
                gf_mask_free(&m);
            }
}

/* A ramp along an axis through the mask as a correlation: Σ tap * offset. */
static double ramp(const struct gf_mask *m, int axis)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < m->size[2]; k++)
        for (uint32_t j = 0; j < m->size[1]; j++)
            for (uint32_t i = 0; i < m->size[0]; i++) {
                uint32_t at[3] = {i, j, k};
                sum += gf_mask_tap(m, i, j, k) * ((double)at[axis] - (double)m->origin[axis]);
            }
    return sum;
}

static void derivative_masks(void **state)
{
    static const struct { const char *name; double weight; } families[] = {
        {"sobel", 4}, {"scharr", 16}, {"prewitt", 3},
    };
    static const double sobel_y[9] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    static const double scharr_x[9] = {-3, 0, 3, -10, 0, 10, -3, 0, 3};
    struct gf_mask m;
    (void)state;
    for (size_t f = 0; f < GF_COUNT(families); f++)
        for (int d = 2; d <= 3; d++)
            for (int axis = -1; axis < d; axis++) {
                char name[16];
                snprintf(name, sizeof name, "%s%s", families[f].name,
                         axis == 0 ? "-x" : axis == 1 ? "-y" : axis == 2 ? "-z" : "");
                m = named(name, d);
                for (int a = 0; a < d; a++)
                    assert_true(ramp(&m, a) == (a == (axis < 0 ? 0 : axis)
                                                    ? 2 * pow(families[f].weight, d - 1) : 0));
                assert_true(m.divisor == 1 && gf_mask_sum(&m) == 0 && m.separable && !m.normalize);
                gf_mask_free(&m);
            }
    m = named("sobel-y", 2);
    assert_memory_equal(m.taps, sobel_y, sizeof sobel_y);
    gf_mask_free(&m);
    m = named("scharr", 2);
    assert_memory_equal(m.taps, scharr_x, sizeof scharr_x);
    gf_mask_free(&m);
}

static void other_masks(void **state)
{
    static const struct {
        const char *name;
        int dimensions;
        double middle, face, edge, corner, sum;
    } rows[] = {
        {"laplace", 2, -4, 1, 0, 0, 0},     {"laplace", 3, -6, 1, 0, 0, 0},
        {"laplace4", 2, -4, 1, 0, 0, 0},    {"laplace8", 2, -8, 1, 1, 0, 0},
        {"laplace6", 3, -6, 1, 0, 0, 0},    {"laplace18", 3, -18, 1, 1, 0, 0},
        {"laplace26", 3, -26, 1, 1, 1, 0},  {"sharpen", 2, 5, -1, 0, 0, 1},
        {"sharpen", 3, 7, -1, 0, 0, 1},
    };
    static const double emboss[9] = {-2, -1, 0, -1, 1, 1, 0, 1, 2};
    struct gf_mask m;
    (void)state;
    for (size_t r = 0; r < GF_COUNT(rows); r++) {
        const double want[4] = {rows[r].middle, rows[r].face, rows[r].edge, rows[r].corner};
        m = named(rows[r].name, rows[r].dimensions);
        for (int k = 0; k < (int)m.size[2]; k++)
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    int steps = abs(i - 1) + abs(j - 1) + (m.size[2] > 1 ? abs(k - 1) : 0);
                    assert_true(gf_mask_tap(&m, (uint32_t)i, (uint32_t)j, (uint32_t)k) ==
                                want[steps]);
                }
        assert_true(gf_mask_sum(&m) == rows[r].sum && m.divisor == 1 && !m.normalize);
        gf_mask_free(&m);
    }
    m = named("emboss", 2);
    assert_memory_equal(m.taps, emboss, sizeof emboss);
    gf_mask_free(&m);
    m = named("emboss", 3);
    assert_true(gf_mask_tap(&m, 0, 0, 0) == -3 && gf_mask_tap(&m, 2, 2, 2) == 3);
    assert_true(gf_mask_tap(&m, 1, 1, 1) == 1 && gf_mask_sum(&m) == 1);
    gf_mask_free(&m);
    m = named("identity", 3);
    assert_true(gf_mask_count(&m) == 1 && m.taps[0] == 1 && m.unit_sum && m.normalize);
    gf_mask_free(&m);
}

/* The real 3D mask by the formula in closed form over whole-axis sums, with the C library's
 * exp(): a second way to the tables of log5 and log9. */
static double log_value(int n, double s, int x, int y, int z)
{
    double g[9], second[9], sum = 0.0, rest = 0.0;
    int r = n / 2;
    for (int i = 0; i < n; i++)
        sum += exp(-(i - r) * (i - r) / (2 * s * s));
    for (int i = 0; i < n; i++) {
        g[i] = exp(-(i - r) * (i - r) / (2 * s * s)) / sum;
        second[i] = ((i - r) * (i - r) - s * s) / (s * s * s * s) * g[i];
        rest += second[i];
    }
    for (int i = 0; i < n; i++)
        second[i] -= rest * g[i];
    return second[x] * g[y] * g[z] + g[x] * second[y] * g[z] + g[x] * g[y] * second[z];
}

static void log_masks(void **state)
{
    static const double log5[25] = {0, 0, 1, 0, 0, 0, 1, 2, 1, 0, 1, 2, -16, 2, 1,
                                     0, 1, 2, 1, 0, 0, 0, 1, 0, 0};
    static const double log9_rows[2][9] = {{1, 2, 4, 5, 5, 5, 4, 2, 1},
                                            {2, 5, 0, -24, -40, -24, 0, 5, 2}};
    static const struct { const char *name; int n; double sigma, middle; } rows[] = {
        {"log5", 5, 0.8, 54}, {"log9", 9, 1.4, 72}};
    struct gf_mask m = named("log5", 2);
    (void)state;
    assert_memory_equal(m.taps, log5, sizeof log5);
    gf_mask_free(&m);
    m = named("log9", 2);
    assert_memory_equal(m.taps + 9, log9_rows[0], sizeof log9_rows[0]);
    assert_memory_equal(m.taps + 4 * 9, log9_rows[1], sizeof log9_rows[1]);
    assert_memory_equal(m.taps + 7 * 9, log9_rows[0], sizeof log9_rows[0]);
    assert_true(gf_mask_sum(&m) == 0);
    gf_mask_free(&m);
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        int n = rows[i].n, r = n / 2;
        double scale = -rows[i].middle / log_value(n, rows[i].sigma, r, r, r);
        m = named(rows[i].name, 3);
        assert_true(gf_mask_sum(&m) == 0);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int x = 0; x < n; x++) {
                    double want = scale * log_value(n, rows[i].sigma, x, j, k);
                    double tap = gf_mask_tap(&m, (uint32_t)x, (uint32_t)j, (uint32_t)k);
                    assert_true(fabs(tap - want) < 0.4999 && !(tap == 0 && signbit(tap)));
                }
        gf_mask_free(&m);
    }
}

/* ---- Gaussians ---- */

/* The left half and the middle of what scipy 1.17.1 (numpy 2.4.6) gives for
 *   x = numpy.zeros(2 * r + 1); x[r] = 1
 *   scipy.ndimage.gaussian_filter1d(x, sigma, mode='constant', truncate=truncate)[:r + 1] */
static const struct {
    double sigma, truncate;
    uint32_t radius;
    double taps[9];
} scipy[] = {
    {0.5, 4, 2, {0.00026386508273735414, 0.10645077197359151, 0.7865707258873422}},
    {1, 4, 4, {0.00013383062461474175, 0.0044318616200312655, 0.05399112742070441,
                 0.24197144565660073, 0.39894346935609776}},
    {1.7, 4, 7, {4.883478236353765e-05, 0.00046293088219168593, 0.0031047607779788843,
                   0.014732119260603261, 0.04945695811363496, 0.11746667324173159,
                   0.1973908559009647, 0.23467373408106282}},
    {2.5, 3, 8, {0.0009542270849561244, 0.003168145492896394, 0.008963371132443686,
                   0.021609788831716978, 0.04439586785088073, 0.07772262497331667,
                   0.11594853150070399, 0.14739947215128454, 0.15967594196360177}},
};

static void gaussian_like_scipy(void **state)
{
    struct gf_error e = {""};
    (void)state;
    for (size_t s = 0; s < GF_COUNT(scipy); s++) {
        struct gf_mask m;
        uint32_t r = scipy[s].radius;
        double sigma[3] = {scipy[s].sigma, 0, scipy[s].sigma};
        assert_int_equal(gf_mask_gaussian(&m, sigma, 3, scipy[s].truncate, &e), GF_OK);
        assert_true(m.size[0] == 2 * r + 1 && m.size[1] == 1 && m.size[2] == 2 * r + 1);
        assert_true(m.separable && m.unit_sum && m.normalize && !m.integer && m.divisor == 1);
        assert_true(m.factor[1][0] == 1 && m.sigma[0] == sigma[0] && m.sigma[1] == 0);
        for (uint32_t i = 0; i <= r; i++) {
            double want = scipy[s].taps[i];
            assert_true(fabs(m.factor[0][i] - want) <= 4e-16 * 4 * want);
            assert_true(m.factor[0][i] == m.factor[0][2 * r - i]);
            assert_true(m.factor[0][i] == m.factor[2][i]);
        }
        check_invariants(&m);
        gf_mask_free(&m);
        assert_int_equal(gf_mask_gaussian(&m, sigma, 2, scipy[s].truncate, &e), GF_OK);
        assert_true(m.size[2] == 1 && m.sigma[2] == 0);
        gf_mask_free(&m);
    }
}

static void exponential(void **state)
{
    (void)state;
    assert_true(gf_exp_minus(0) == 1 && gf_exp_minus(1e300) == 0 && gf_exp_minus(INFINITY) == 0);
    for (int i = 0; i < 20000; i++) {
        double t = random_below(1u << 30) * ldexp(1, -(int)random_below(34)) / 1e3;
        long double want = expl(-(long double)t);
        if (t > 700)
            continue;
        /* A hair above half a unit in the last place: rounded as well as one can tell. */
        assert_true(fabsl(gf_exp_minus(t) - want) <= want * 1.12e-16L);
    }
    assert_true(gf_exp_minus(740) > 0 && gf_exp_minus(747) == 0);
}

static void gaussian_limits(void **state)
{
    static const double bad[] = {-1, -1e-300, NAN, INFINITY, -INFINITY, 1e6, 1e300};
    struct gf_mask m;
    struct gf_error e = {""};
    double none[3] = {0, 0, 0}, large[3] = {60, 60, 60}, tiny[3] = {1e-300, 1e-5, 0};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(bad); i++)
        for (int a = 0; a < 3; a++) {
            double sigma[3] = {1, 1, 1}, ones[3] = {1, 1, 1};
            sigma[a] = bad[i];
            e.text[0] = '\0';
            assert_int_equal(gf_mask_gaussian(&m, sigma, 3, 4, &e), GF_EUSAGE);
            assert_non_null(strstr(e.text, a == 0 ? "along x" : a == 1 ? "along y" : "along z"));
            if (i < 5)
                assert_int_equal(gf_mask_gaussian(&m, ones, 3, bad[i], &e), GF_EUSAGE);
        }
    assert_int_equal(gf_mask_gaussian(&m, none, 3, 4, &e), GF_OK);
    assert_true(gf_mask_count(&m) == 1 && m.unit_sum && gf_mask_tap(&m, 0, 0, 0) == 1);
    gf_mask_free(&m);
    assert_int_equal(gf_mask_gaussian(&m, tiny, 3, 4, &e), GF_OK);
    assert_true(gf_mask_count(&m) == 1);
    gf_mask_free(&m);
    /* 481^3 taps are more than a dense mask may have; the factors are enough. */
    assert_int_equal(gf_mask_gaussian(&m, large, 3, 4, &e), GF_OK);
    assert_true(m.size[0] == 481 && m.taps == NULL && m.normalize);
    assert_true(gf_mask_tap(&m, 1, 2, 3) == m.factor[2][3] * m.factor[1][2] * m.factor[0][1]);
    assert_true(fabs(gf_mask_abs_sum(&m) - 1) <= 1e-12);
    gf_mask_free(&m);
}

/* ---- factoring ---- */

static struct gf_mask dense(const uint32_t size[3], const double *taps)
{
    struct gf_mask m;
    struct gf_error e = {""};
    assert_int_equal(gf_mask_begin(&m, "test", size, true, &e), GF_OK);
    memcpy(m.taps, taps, gf_mask_count(&m) * sizeof(double));
    assert_int_equal(gf_mask_complete(&m, &e), GF_OK);
    return m;
}

/* Rank 1 by minors: every 2x2 minor of every pair of taps that differ in two axes vanishes,
 * in all three unfoldings. Slow, and nothing like the code under test. */
static bool is_rank_one(const struct gf_mask *m)
{
    uint64_t n = gf_mask_count(m);
    bool any = false;
    for (uint64_t p = 0; p < n; p++) {
        any = any || m->taps[p] != 0;
        for (uint64_t q = 0; q < n; q++)
            for (int a = 0; a < 3; a++) {
                uint64_t row = p / m->size[0], other = q / m->size[0];
                uint32_t u[3] = {(uint32_t)(p % m->size[0]), (uint32_t)(row % m->size[1]),
                                  (uint32_t)(row / m->size[1])};
                uint32_t v[3] = {(uint32_t)(q % m->size[0]), (uint32_t)(other % m->size[1]),
                                  (uint32_t)(other / m->size[1])};
                uint32_t swap = u[a];
                u[a] = v[a];
                v[a] = swap;
                if (m->taps[p] * m->taps[q] !=
                    gf_mask_tap(m, u[0], u[1], u[2]) * gf_mask_tap(m, v[0], v[1], v[2]))
                    return false;
            }
    }
    return any;
}

static void factoring(void **state)
{
    struct gf_error e = {""};
    unsigned separable = 0, not_separable = 0;
    (void)state;
    for (int round = 0; round < 6000; round++) {
        uint32_t size[3] = {1 + random_below(4), 1 + random_below(4),
                             random_below(2) ? 1 : 1 + random_below(4)};
        double taps[64], line[3][4];
        struct gf_mask m;
        bool want;
        uint64_t at = 0;
        int range = round % 3 == 0 ? 3 : round % 3 == 1 ? 13 : 1200;
        for (int a = 0; a < 3; a++)
            for (uint32_t i = 0; i < size[a]; i++)
                line[a][i] = (int)random_below((uint32_t)(2 * range + 1)) - range;
        for (uint32_t k = 0; k < size[2]; k++)
            for (uint32_t j = 0; j < size[1]; j++)
                for (uint32_t i = 0; i < size[0]; i++)
                    taps[at++] = line[2][k] * line[1][j] * line[0][i] + 0.0;
        if (random_below(3) == 0)
            taps[random_below((uint32_t)at)] += (int)random_below(3) - 1;
        m = dense(size, taps);
        want = is_rank_one(&m);
        assert_int_equal(gf_mask_factor(&m, &e), GF_OK);
        assert_true(m.separable == want);
        check_invariants(&m);
        for (uint64_t i = 0; i < at; i++)
            assert_true(m.taps[i] == taps[i]);
        separable += want;
        not_separable += !want;
        gf_mask_free(&m);
    }
    assert_true(separable > 1000 && not_separable > 1000);
}

static void factoring_by_rule(void **state)
{
    static const struct {
        uint32_t size[3];
        double taps[9], x[3], y[3];
    } rows[] = {
        {{3, 3, 1}, {-1, -2, -1, 0, 0, 0, 1, 2, 1}, {1, 2, 1}, {-1, 0, 1}},
        {{3, 3, 1}, {1, 0, -1, 2, 0, -2, 1, 0, -1}, {1, 0, -1}, {1, 2, 1}},
        {{3, 3, 1}, {1, 0, -1, 0, 0, 0, -1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}},
        {{3, 3, 1}, {-1, 0, 1, 0, 0, 0, 1, 0, -1}, {1, 0, -1}, {-1, 0, 1}},
        {{3, 3, 1}, {2, 4, 2, 4, 8, 4, 2, 4, 2}, {2, 4, 2}, {1, 2, 1}},
        {{3, 3, 1}, {-1, -1, -1, -1, -1, -1, -1, -1, -1}, {-1, -1, -1}, {1, 1, 1}},
        {{1, 3, 1}, {2, 4, 2}, {1}, {2, 4, 2}},
        {{3, 1, 1}, {0, -3, 0}, {0, -3, 0}, {1}},
        {{3, 2, 1}, {0, 0, 0, 5, 0, 10}, {5, 0, 10}, {0, 1}},
        {{2, 1, 1}, {2147483647, -2147483647}, {2147483647, -2147483647}, {1}},
        {{2, 2, 1}, {2147483646, 2147483646, 1073741823, 1073741823},
          {1073741823, 1073741823}, {2, 1}},
    };
    const double unlike[4] = {2147483647, 2147483646, 2147483646, 2147483645};
    const double zeros[4] = {0, 0, 0, 0}, reals[4] = {0.5, 1, 1, 2};
    const uint32_t square[3] = {2, 2, 1};
    struct gf_error e = {""};
    struct gf_mask m;
    (void)state;
    for (size_t r = 0; r < GF_COUNT(rows); r++) {
        m = dense(rows[r].size, rows[r].taps);
        assert_int_equal(gf_mask_factor(&m, &e), GF_OK);
        assert_true(m.separable);
        assert_memory_equal(m.factor[0], rows[r].x, m.size[0] * sizeof(double));
        assert_memory_equal(m.factor[1], rows[r].y, m.size[1] * sizeof(double));
        gf_mask_free(&m);
    }
    m = dense(square, unlike);
    assert_true(gf_mask_factor(&m, &e) == GF_OK && !m.separable && m.factor[0] == NULL);
    gf_mask_free(&m);
    m = dense(square, zeros);
    assert_true(gf_mask_factor(&m, &e) == GF_OK && !m.separable && !m.normalize);
    gf_mask_free(&m);
    m = dense(square, reals);
    assert_true(gf_mask_factor(&m, &e) == GF_OK && !m.separable && m.normalize);
    gf_mask_free(&m);
}

static void turning_round(void **state)
{
    struct gf_mask m = named("emboss", 3), again = named("emboss", 3);
    const uint32_t even[3] = {4, 1, 1};
    const double taps[4] = {1, 2, 3, 4};
    struct gf_error e = {""};
    (void)state;
    gf_mask_flip(&m);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t i = 0; i < 3; i++)
                assert_true(gf_mask_tap(&m, i, j, k) == gf_mask_tap(&again, 2 - i, 2 - j, 2 - k));
    gf_mask_flip(&m);
    assert_true(masks_equal(&m, &again));
    gf_mask_free(&m);
    gf_mask_free(&again);
    m = dense(even, taps);
    assert_int_equal(gf_mask_factor(&m, &e), GF_OK);
    assert_int_equal(m.origin[0], 2);
    gf_mask_flip(&m);
    assert_int_equal(m.origin[0], 1); /* the tap 3, as before */
    assert_true(m.taps[0] == 4 && m.factor[0][0] == 4 && gf_mask_tap(&m, m.origin[0], 0, 0) == 3);
    gf_mask_free(&m);
}

static void unknown_names(void **state)
{
    static const struct { const char *name, *says; } rows[] = {
        {"gaus5", "did you mean 'gauss5'"},   {"sobelx", "did you mean 'sobel"},
        {"gauss4", "gauss3, gauss5, gauss7 and gauss9"},
        {"box33", "box3, box5, ... box31"},   {"box0", "box3, box5"},
        {"log7", "log5 and log9"},            {"laplace5", "laplace4 and laplace8"},
        {"tasmanian", "masks list"},          {"", "masks list"},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(rows); i++) {
        struct gf_mask m;
        struct gf_error e = {""};
        assert_int_equal(gf_mask_named(&m, rows[i].name, 2, &e), GF_EUSAGE);
        if (strstr(e.text, rows[i].says) == NULL)
            fail_msg("%s: got '%s'", rows[i].name, e.text);
        assert_null(strchr(e.text, '\n'));
        gf_mask_free(&m);
    }
}

static void boxes(void **state)
{
    const uint32_t flat[3] = {4, 1, 3}, huge[3] = {1u << 20, 1u << 20, 1u << 20};
    const uint32_t none[3] = {0, 1, 1};
    struct gf_mask m;
    struct gf_error e = {""};
    (void)state;
    assert_int_equal(gf_mask_box(&m, "box", flat, &e), GF_OK);
    assert_true(m.divisor == 12 && m.unit_sum && m.origin[0] == 2 && m.origin[2] == 1);
    check_invariants(&m);
    gf_mask_free(&m);
    assert_int_equal(gf_mask_box(&m, "box", huge, &e), GF_EUSAGE);
    assert_int_equal(gf_mask_box(&m, "box", none, &e), GF_EUSAGE);
}

/* Every allocation of every generator fails in turn: one line, nothing left over. */
static void allocation_failures(void **state)
{
    const double sigma[3] = {1.5, 1.5, 1.5};
    (void)state;
    for (int what = 0; what < 4; what++)
        for (int sticky = 0; sticky <= 1; sticky++)
            for (uint64_t n = 1;; n++) {
                struct gf_mask m = {.name = ""};
                struct gf_error e = {""};
                enum gf_status status;
                uint64_t before = gf_memory_used();
                gf_alloc_fail_at(n, sticky);
                status = what == 0   ? gf_mask_gaussian(&m, sigma, 3, 4, &e)
                         : what == 1 ? gf_mask_named(&m, "log9", 3, &e)
                         : what == 2 ? gf_mask_named(&m, "gauss5", 2, &e)
                                     : gf_mask_parse(&m, "1 2\n2 4\n", 8, "t", &e);
                gf_alloc_fail_at(0, 0);
                if (status != GF_OK) {
                    assert_int_equal(status, GF_EMEMORY);
                    assert_true(e.text[0] != '\0');
                    assert_true(gf_memory_used() == before && m.taps == NULL);
                }
                gf_mask_free(&m);
                assert_true(gf_memory_used() == before);
                if (status == GF_OK) {
                    assert_true(n > 3);
                    break;
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_rows),          cmocka_unit_test(smoothing_masks),
        cmocka_unit_test(derivative_masks),    cmocka_unit_test(other_masks),
        cmocka_unit_test(log_masks),           cmocka_unit_test(gaussian_like_scipy),
        cmocka_unit_test(exponential),         cmocka_unit_test(gaussian_limits),
        cmocka_unit_test(factoring),           cmocka_unit_test(factoring_by_rule),
        cmocka_unit_test(turning_round),       cmocka_unit_test(unknown_names),
        cmocka_unit_test(boxes),               cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
