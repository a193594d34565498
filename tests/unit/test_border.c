/* Borders: the literal rows of the manual, a second implementation that walks, and indices
 * millions of periods away. */
#include "border.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* `a b c d` extended by nine on both sides: '-' where nothing stands. */
static void literal_rows(void **state)
{
    static const struct {
        enum gf_border mode;
        const char *row;
    } rows[] = {
        {GF_BORDER_CONSTANT, "---------abcd---------"},
        {GF_BORDER_NORMALIZE, "---------abcd---------"},
        {GF_BORDER_CLAMP, "aaaaaaaaaabcdddddddddd"},
        {GF_BORDER_WRAP, "dabcdabcdabcdabcdabcda"},
        {GF_BORDER_SYMMETRIC, "aabcddcbaabcddcbaabcdd"},
        {GF_BORDER_REFLECT101, "dcbabcdcbabcdcbabcdcba"},
    };

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        assert_int_equal(strlen(rows[r].row), 22);
        for (int64_t i = -9; i < 13; i++) {
            char want = rows[r].row[i + 9];
            int64_t got = gf_border_index(rows[r].mode, i, 4);
            assert_int_equal(got, want == '-' ? -1 : want - 'a');
        }
    }
}

static void size_one(void **state)
{
    static const int64_t places[] = {-10000000, -3, -2, -1, 1, 2, 3, 10000000};

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(gf_border_index(GF_BORDER_CONSTANT, places[i], 1), -1);
        assert_int_equal(gf_border_index(GF_BORDER_NORMALIZE, places[i], 1), -1);
        assert_int_equal(gf_border_index(GF_BORDER_CLAMP, places[i], 1), 0);
        assert_int_equal(gf_border_index(GF_BORDER_WRAP, places[i], 1), 0);
        assert_int_equal(gf_border_index(GF_BORDER_SYMMETRIC, places[i], 1), 0);
        assert_int_equal(gf_border_index(GF_BORDER_REFLECT101, places[i], 1), 0);
    }
    for (int mode = 0; mode < GF_BORDER_COUNT; mode++)
        assert_int_equal(gf_border_index((enum gf_border)mode, 0, 1), 0);
}

/* A walker: at every step it stands on a sample and moves by what the mode does at an edge. */
struct walker {
    enum gf_border mode;
    int64_t at, step, n;
};

static void step(struct walker *w)
{
    int64_t next = w->at + w->step;

    if (next >= 0 && next < w->n) {
        w->at = next;
        return;
    }
    switch (w->mode) {
    case GF_BORDER_WRAP: w->at = w->step > 0 ? 0 : w->n - 1; break;
    case GF_BORDER_SYMMETRIC: w->step = -w->step; break; /* the edge sample twice */
    case GF_BORDER_REFLECT101:
        if (w->n > 1) {
            w->step = -w->step;
            w->at += w->step;
        }
        break;
    default: break; /* clamp stays */
    }
}

static void walked(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 100};
    static const enum gf_border modes[] = {GF_BORDER_CLAMP, GF_BORDER_WRAP, GF_BORDER_SYMMETRIC,
                                           GF_BORDER_REFLECT101};

    (void)state;
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            int64_t n = sizes[s];
            struct walker right = {modes[m], 0, 1, n}, left = {modes[m], 0, -1, n};
            for (int64_t i = 0; i < 1000; i++) {
                assert_int_equal(gf_border_index(modes[m], i, n), right.at);
                assert_int_equal(gf_border_index(modes[m], -i, n), left.at);
                step(&right);
                step(&left);
            }
        }
}

/* Ten million steps away, and as far as the type goes: the walk is replaced by what does
 * not change when whole periods are added. */
static void far_away(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 64, 101};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int64_t n = sizes[s];
        struct walker wrap = {GF_BORDER_WRAP, 0, 1, n}, back = {GF_BORDER_WRAP, 0, -1, n};
        struct walker symmetric = {GF_BORDER_SYMMETRIC, 0, 1, n};
        struct walker reflect = {GF_BORDER_REFLECT101, 0, -1, n};
        for (int64_t i = 0; i < 10000000; i++) {
            step(&wrap);
            step(&back);
            step(&symmetric);
            step(&reflect);
        }
        assert_int_equal(gf_border_index(GF_BORDER_WRAP, 10000000, n), wrap.at);
        assert_int_equal(gf_border_index(GF_BORDER_WRAP, -10000000, n), back.at);
        assert_int_equal(gf_border_index(GF_BORDER_SYMMETRIC, 10000000, n), symmetric.at);
        assert_int_equal(gf_border_index(GF_BORDER_REFLECT101, -10000000, n), reflect.at);
        for (int mode = 0; mode < GF_BORDER_COUNT; mode++)
            for (int64_t i = 0; i < 100; i++) {
                bool absent = mode == GF_BORDER_CONSTANT || mode == GF_BORDER_NORMALIZE ||
                              mode == GF_BORDER_VALID;
                int64_t high = gf_border_index((enum gf_border)mode, INT64_MAX - i, n);
                int64_t low = gf_border_index((enum gf_border)mode, INT64_MIN + i, n);
                assert_true(absent ? high == -1 : high >= 0 && high < n);
                assert_true(absent ? low == -1 : low >= 0 && low < n);
            }
        assert_int_equal(gf_border_index(GF_BORDER_CLAMP, INT64_MAX, n), n - 1);
        assert_int_equal(gf_border_index(GF_BORDER_CLAMP, INT64_MIN, n), 0);
        /* 2^62 - 2^62 mod n is a multiple of n: index 0 of the wrapped row. */
        int64_t whole = (INT64_C(1) << 62) - (INT64_C(1) << 62) % n;
        assert_int_equal(gf_border_index(GF_BORDER_WRAP, whole, n), 0);
        assert_int_equal(gf_border_index(GF_BORDER_WRAP, -whole, n), 0);
        assert_int_equal(gf_border_index(GF_BORDER_WRAP, whole - 1, n), n - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_rows),
        cmocka_unit_test(size_one),
        cmocka_unit_test(walked),
        cmocka_unit_test(far_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
