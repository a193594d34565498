#include "stats/columns.h"

#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made_stats.h"

/* The names with blanks between them. */
static const char *names(const struct gf_columns *c)
{
    static char list[4096];
    list[0] = '\0';
    for (unsigned i = 0; i < c->count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? " " : "",
                 c->column[i].name);
    return list;
}

static struct gf_columns parsed(const struct gf_stats_options *o)
{
    struct gf_columns c;
    struct gf_error e = {""};
    if (gf_columns_parse(o, &c, &e) != GF_OK)
        fail_msg("%s", e.text);
    return c;
}

static void defaults(void **state)
{
    struct gf_stats_options o = {.percentile = {99.9, 1, 50, 1}, .percentiles = 4};
    struct gf_columns c = parsed(&o);
    (void)state;
    assert_string_equal(names(&c), "n n_nan n_inf min min_at max max_at sum mean std median p99.9 "
                                   "p1 p50");
    for (unsigned i = 0; i < c.count; i++)
        assert_int_equal(c.column[i].quiet, i == 1 || i == 2);
    assert_true(c.need_moments && c.need_median && !c.need_histogram);
    assert_int_equal(c.percentiles, 3);
    assert_true(c.percentile[0] == 1 && c.percentile[1] == 50 && c.percentile[2] == 99.9);
}

static void lists(void **state)
{
    static const struct {
        const char *show, *names;
        bool moments, median, histogram;
    } cases[] = {
        {"mean", "mean", true, false, false},
        {"std, mean ,std", "std mean", true, false, false},
        {"median", "median", false, true, false},
        {"entropy", "entropy", false, false, true},
        {"hist", "hist", false, false, true},
        {"p50,p5,p99.90,p.5", "p50 p5 p99.9 p0.5", false, false, false},
        {"p-0", NULL, false, false, false},
        {"all", "n n_nan n_inf n_plus_inf n_minus_inf min min_at max max_at sum mean std var rms "
                "median entropy", true, true, true},
        {"max,all,hist", "max n n_nan n_inf n_plus_inf n_minus_inf min min_at max_at sum mean std "
                         "var rms median entropy hist", true, true, true},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        struct gf_stats_options o = {.show = cases[i].show};
        struct gf_columns c;
        if (cases[i].names == NULL) {
            assert_int_equal(gf_columns_parse(&o, &c, NULL), GF_EUSAGE);
            continue;
        }
        c = parsed(&o);
        assert_string_equal(names(&c), cases[i].names);
        assert_int_equal(c.need_moments, cases[i].moments);
        assert_int_equal(c.need_median, cases[i].median);
        assert_int_equal(c.need_histogram, cases[i].histogram);
        for (unsigned k = 0; k < c.count; k++)
            assert_false(c.column[k].quiet);
    }
}

static void histograms(void **state)
{
    struct gf_stats_options o = {.bins = 10};
    struct gf_columns c = parsed(&o);
    struct gf_error e = {""};
    (void)state;
    assert_int_equal(c.column[c.count - 1].row->id, GF_COLUMN_HIST);
    o.plot = true;
    c = parsed(&o);
    assert_string_equal(c.column[c.count - 1].name, "median");
    assert_true(c.need_histogram);
    o = (struct gf_stats_options){.plot_file = "a.svg", .show = "mean"};
    assert_true(parsed(&o).need_histogram);
    o = (struct gf_stats_options){.range_given = true, .high = 1, .show = "mean"};
    assert_int_equal(gf_columns_parse(&o, &c, &e), GF_EUSAGE);
    assert_string_equal(e.text, "--range: nothing that is shown has bins; add hist or entropy to "
                                "--show");
}

static void errors(void **state)
{
    static const struct {
        const char *show, *message;
    } cases[] = {
        {"meen", "--show: there is no statistic 'meen'; did you mean 'mean'?"},
        {"mean,stdd", "--show: there is no statistic 'stdd'; did you mean 'std'?"},
        {"al", "--show: there is no statistic 'al'; did you mean 'all'?"},
        {"p101", "--show: p101: percentiles are 0 to 100"},
        {"", "--show: a name is missing before 'the end'; names have commas between them"},
        {"mean,", "--show: a name is missing before 'the end'; names have commas between them"},
        {",mean", "--show: a name is missing before ',mean'; names have commas between them"},
        {"mean std", "--show: a comma is missing before 'std'"},
        {"pNN", NULL}, {"p", NULL}, {"p1x", NULL}, {"p1e", NULL}, {"p-1", NULL}, {"pnan", NULL},
        {"p0x10", NULL}, {"p1e999", NULL}, {"zzzzzzzzzz", NULL}, {"\xff\x01", NULL},
        {"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm", NULL},
    };
    struct gf_stats_options many = {.show = "p64.5", .percentiles = GF_PERCENTILES};
    struct gf_columns c;
    struct gf_error e;

    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        struct gf_stats_options o = {.show = cases[i].show};
        assert_int_equal(gf_columns_parse(&o, &c, &e), GF_EUSAGE);
        if (cases[i].message != NULL)
            assert_string_equal(e.text, cases[i].message);
        else
            assert_non_null(strstr(e.text, "; there are n, n_nan, "));
    }
    for (unsigned i = 0; i < GF_PERCENTILES; i++)
        many.percentile[i] = i;
    assert_int_equal(gf_columns_parse(&many, &c, &e), GF_EUSAGE);
    many.show = "all,hist";
    assert_int_equal(gf_columns_parse(&many, &c, &e), GF_OK);
    assert_int_equal(c.percentiles, GF_PERCENTILES);
    assert_int_equal(c.count, GF_COLUMN_COUNT - 1 + GF_PERCENTILES);
}

static void table(void **state)
{
    (void)state;
    for (int i = 0; i < GF_COLUMN_COUNT; i++) {
        const struct gf_column_row *row = &gf_column_rows[i];
        assert_int_equal(row->id, i);
        assert_true(strlen(row->definition) > 5);
        assert_null(strpbrk(row->definition, "\n\t"));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(row->name, gf_column_rows[k].name);
    }
}

static void assert_value(const struct gf_stats *s, const char *name, const char *text)
{
    char buffer[GF_I128_TEXT];
    struct gf_column column;
    struct gf_value value;
    assert_int_equal(gf_column_find(&column, name, strlen(name), "--show", NULL), GF_OK);
    value = gf_column_value(&column, s);
    assert_string_equal(gf_value_text(buffer, &value), text);
}

static void values(void **state)
{
    struct gf_stats s = made_stats(), empty = made_empty();
    (void)state;
    assert_value(&s, "n", "12");
    assert_value(&s, "std", "0.3333333333333333");
    assert_value(&s, "p99.9", "65000.125");
    assert_value(&s, "p2", "nan");
    assert_value(&s, "max", "65535");
    assert_value(&s, "sum", "65547");
    assert_value(&s, "min_at", "");
    assert_value(&empty, "n_inf", "3");
    assert_value(&empty, "sum", "0");
    assert_value(&empty, "min", "nan");
    assert_value(&empty, "std", "nan");
    /* -2^127 and 2^64 - 1. */
    s.whole_sum = (struct gf_i128){0, UINT64_C(1) << 63};
    assert_value(&s, "sum", "-170141183460469231731687303715884105728");
    s.n = UINT64_MAX;
    assert_value(&s, "n", "18446744073709551615");
    s.type = GF_I32;
    s.min = -2147483648.0;
    assert_value(&s, "min", "-2147483648");
    s.type = GF_F64;
    s.min = -INFINITY;
    s.max = 1e300;
    assert_value(&s, "min", "-inf");
    assert_value(&s, "max", "1e+300");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults), cmocka_unit_test(lists), cmocka_unit_test(histograms),
        cmocka_unit_test(errors),   cmocka_unit_test(table), cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
