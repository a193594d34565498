#include "stats/report.h"

#include "alloc.h"
#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "json_check.h"
#include "made_stats.h"

/* A name with what hurts: quote, comma, line, controls, bad UTF-8, writing turned round. */
#define HOSTILE "a\"b,c\nd\te\x1b[31m\xff<&>\xe2\x80\xae.tif"

static void print(struct gf_buffer *out, const struct gf_stats_options *o,
                  const struct gf_stats *rows, unsigned count)
{
    struct gf_columns columns;
    struct gf_report report;
    struct gf_error e = {""};

    if (gf_columns_parse(o, &columns, &e) != GF_OK || gf_report_check(&columns, o, &e) != GF_OK)
        fail_msg("%s", e.text);
    gf_report_begin(&report, &columns, o, 60, out);
    for (unsigned i = 0; i < count; i++)
        gf_report_row(&report, &rows[i]);
    assert_int_equal(gf_report_end(&report, &e), GF_OK);
}

static void assert_report(const struct gf_stats_options *o, const struct gf_stats *rows,
                          unsigned count, const char *text)
{
    struct gf_buffer out = {0};
    print(&out, o, rows, count);
    assert_string_equal(out.data ? out.data : "", text);
    if (o->layout == GF_LAYOUT_JSON)
        assert_true(is_json(out.data));
    gf_buffer_free(&out);
    assert_int_equal(gf_memory_used(), 0);
}

/* ---- text ---- */

static void text_of_one_row(void **state)
{
    struct gf_stats_options o = {.ddof = 1, .percentile = {1, 99.9}, .percentiles = 2};
    struct gf_stats s = made_stats(), empty = made_empty();
    (void)state;
    assert_report(&o, &s, 1,
        "a.tif: 4 x 3, u16\n"
        "n       12\n"
        "min     1\n"
        "min_at  0,0\n"
        "max     65535\n"
        "max_at  3,2\n"
        "sum     65547\n"
        "mean    5462.25\n"
        "std     0.3333333333\n"
        "median  1.5\n"
        "p1      1\n"
        "p99.9   65000.125\n"
        "(std and var divide by n - 1; percentiles: linear interpolation between exact order "
        "statistics)\n");
    o.percentiles = 0;
    assert_report(&o, &empty, 1,
        "a.tif: 4 x 3, f32\n"
        "n       0\n"
        "n_nan   9\n"
        "n_inf   3\n"
        "min     nan\n"
        "min_at  -\n"
        "max     nan\n"
        "max_at  -\n"
        "sum     0\n"
        "mean    nan\n"
        "std     nan\n"
        "median  nan\n"
        "(std and var divide by n - 1; percentiles: linear interpolation between exact order "
        "statistics; NaN and infinities left out)\n");
    o.show = "std,n_nan";
    o.ddof = 0;
    assert_report(&o, &s, 1, "a.tif: 4 x 3, u16\nstd    0.3333333333\nn_nan  0\n"
                             "(std and var divide by n)\n");
    assert_report(&o, &s, 0, "");
}

static void text_of_a_volume(void **state)
{
    struct gf_stats_options o = {.show = "n,max_at,sum"};
    struct gf_stats s = made_stats();
    (void)state;
    s.depth = 20;
    s.channels = 3;
    s.pages = 2;
    s.page = 1;
    s.max_at = (struct gf_place){UINT64_C(5000000000), 2, 19, 2, 1};
    s.whole_sum = (struct gf_i128){0, 1};
    assert_report(&o, &s, 1,
        "a.tif: 4 x 3 x 20, 3 channels, 2 pages, u16\n"
        "page    1\n"
        "n       12\n"
        "max_at  5000000000,2,19 channel 2\n"
        "sum     18446744073709551616\n");
}

static void text_of_rows(void **state)
{
    struct gf_stats_options o = {.show = "n,mean,max_at"};
    struct gf_stats rows[3] = {made_stats(), made_stats(), made_empty()};
    (void)state;
    rows[0].channel = 0;
    rows[1].channel = 10;
    rows[2].channel = 2;
    assert_report(&o, rows, 3,
        "a.tif: 4 x 3, u16\n"
        "channel   n     mean  max_at\n"
        "      0  12  5462.25     3,2\n"
        "     10  12  5462.25     3,2\n"
        "      2   0      nan       -\n"
        "(NaN and infinities left out)\n");
    rows[0].channel = rows[1].channel = rows[2].channel = GF_NO_PART;
    rows[1].file = HOSTILE;
    rows[2].file = "\xc3\xa4";
    o.show = "n";
    assert_report(&o, rows, 3,
        "file                                             n\n"
        "a.tif                                           12\n"
        "a\"b,c\\x0ad\\x09e\\x1b[31m\\xff<&>\\xe2\\x80\\xae.tif  12\n"
        "\xc3\xa4                                                0\n"
        "(NaN and infinities left out)\n");
}

/* Hidden while it is 0 everywhere, shown in every row when it is not. */
static void quiet_columns(void **state)
{
    struct gf_stats_options o = {.ddof = 1};
    struct gf_stats rows[3] = {made_stats(), made_stats(), made_stats()};
    struct gf_buffer out = {0};
    (void)state;
    print(&out, &o, rows, 3);
    assert_null(strstr(out.data, "n_nan"));
    gf_buffer_free(&out);
    rows[1].n_nan = 7;
    print(&out, &o, rows, 3);
    assert_non_null(strstr(out.data, "n  n_nan  min"));
    assert_non_null(strstr(out.data, "12      0    1"));
    assert_non_null(strstr(out.data, "12      7    1"));
    assert_null(strstr(out.data, "n_inf"));
    gf_buffer_free(&out);
}

static void histograms(void **state)
{
    struct gf_stats_options o = {.show = "hist"};
    struct gf_stats s = made_stats();
    uint64_t values[5] = {0, 3, 0, 9, 0}, range[2] = {1, UINT64_C(5000000000)};
    (void)state;
    s.channel = 1;
    s.histogram = (struct gf_histogram){.kind = GF_BINS_VALUES, .low = -2, .high = 2, .bins = 5,
                                        .count = values};
    assert_report(&o, &s, 1, "a.tif: 4 x 3, u16\n\nhistogram of a.tif, channel 1:\n"
                             "  -1  3\n   1  9\n");
    o.layout = GF_LAYOUT_CSV;
    assert_report(&o, &s, 1, "file,page,channel,slice,label,low,high,count\n"
                             "a.tif,,1,,,-2,-2,0\na.tif,,1,,,-1,-1,3\na.tif,,1,,,0,0,0\n"
                             "a.tif,,1,,,1,1,9\na.tif,,1,,,2,2,0\n");
    s.histogram = (struct gf_histogram){.kind = GF_BINS_RANGE, .low = 0, .high = 0.25, .bins = 2,
                                        .count = range, .below = 4, .above = 6};
    assert_report(&o, &s, 1, "file,page,channel,slice,label,low,high,count\n"
                             "a.tif,,1,,,,0,4\na.tif,,1,,,0,0.125,1\n"
                             "a.tif,,1,,,0.125,0.25,5000000000\na.tif,,1,,,0.25,,6\n");
    o.layout = GF_LAYOUT_TEXT;
    assert_report(&o, &s, 1, "a.tif: 4 x 3, u16\n\nhistogram of a.tif, channel 1:\n"
                             "        below 0           4\n"
                             "     0 to 0.125           1\n"
                             "  0.125 to 0.25  5000000000\n"
                             "     above 0.25           6\n");
    o.show = "n";
    o.plot = true;
    assert_report(&o, &s, 1, "a.tif: 4 x 3, u16\nchannel  1\nn        12\n\n"
                             "histogram of a.tif, channel 1:\n  below: 4\n"
                             "     0 to 0.125           1  #\n"
                             "  0.125 to 0.25  5000000000  "
                             "###############################\n  above: 6\n");
}

/* ---- JSON ---- */

static void json(void **state)
{
    struct gf_stats_options o = {.show = "n,p1,min,min_at,sum,mean,p99.9,hist", .ddof = 1,
                                 .layout = GF_LAYOUT_JSON};
    struct gf_stats rows[2] = {made_stats(), made_empty()};
    uint64_t counts[2] = {1, UINT64_MAX};
    (void)state;
    rows[0].histogram = (struct gf_histogram){.kind = GF_BINS_RANGE, .low = 0, .high = 0.3,
                                              .bins = 2, .count = counts, .above = 6};
    rows[0].whole_sum = (struct gf_i128){0, 1};
    rows[1].file = HOSTILE;
    rows[1].slice = 4;
    assert_report(&o, rows, 2,
        "{\"schema\": \"gpufilt-stats-1\", \"ddof\": 1,\n"
        "\"definitions\": {\n"
        "\"n\": \"finite samples; NaN and infinities are counted and left out of everything "
        "else\",\n"
        "\"percentiles\": \"percentile NN (p1, p99.9): linear interpolation between the two exact "
        "order statistics beside rank (n - 1) * NN / 100, counted from 0\",\n"
        "\"min\": \"least sample\",\n"
        "\"min_at\": \"where the first sample equal to min is, counted from 0\",\n"
        "\"sum\": \"sum of the samples; of integers to the last digit\",\n"
        "\"mean\": \"sum / n\",\n"
        "\"histogram\": \"histogram: one bin a value for 8 and 16 bits, else equal bins (--bins, "
        "--range)\"},\n"
        "\"results\": [\n"
        "{\"file\": \"a.tif\", \"type\": \"u16\", \"width\": 4, \"height\": 3, \"depth\": 1, "
        "\"channels\": 1, \"pages\": 1, \"n\": 12, \"percentiles\": {\"1\": 1, \"99.9\": "
        "65000.125}, \"min\": 1, \"min_at\": {\"x\": 0, \"y\": 0}, \"sum\": 18446744073709551616, "
        "\"mean\": 5462.25, \"histogram\": {\"kind\": \"range\", \"low\": 0, \"high\": 0.3, "
        "\"bins\": 2, \"counts\": [1,18446744073709551615], \"below\": 0, \"above\": 6}},\n"
        "{\"file\": \"a\\\"b,c\\u000ad\\u0009e\\u001b[31m\\ufffd<&>\\ufffd\\ufffd\\ufffd.tif\", "
        "\"type\": \"f32\", \"width\": 4, \"height\": 3, \"depth\": 1, \"channels\": 1, "
        "\"pages\": 1, \"slice\": 4, \"n\": 0, \"percentiles\": {\"1\": null, \"99.9\": null}, "
        "\"min\": null, \"min_at\": null, \"sum\": 0, \"mean\": null, \"histogram\": null}]}\n");
    assert_report(&(struct gf_stats_options){.show = "n", .layout = GF_LAYOUT_JSON}, rows, 0,
        "{\"schema\": \"gpufilt-stats-1\", \"ddof\": 0,\n\"definitions\": {\n\"n\": \"finite "
        "samples; NaN and infinities are counted and left out of everything else\"},\n"
        "\"results\": []}\n");
}

static void json_numbers(void **state)
{
    struct gf_stats_options o = {.show = "mean,std,var,rms,max_at", .ddof = 2,
                                 .layout = GF_LAYOUT_JSONL};
    struct gf_stats s = made_stats();
    (void)state;
    s.moments.mean = 1e300;
    s.moments.std = INFINITY;
    s.moments.variance = -4.9406564584124654e-324;
    s.moments.rms = -0.0;
    s.channels = 2;
    s.label = -5;
    s.max_at.z = 7; /* a region of one plane */
    assert_report(&o, &s, 1,
        "{\"schema\": \"gpufilt-stats-1\", \"ddof\": 2, \"file\": \"a.tif\", \"type\": \"u16\", "
        "\"width\": 4, \"height\": 3, \"depth\": 1, \"channels\": 2, \"pages\": 1, "
        "\"label\": -5, \"mean\": 1e+300, \"std\": null, \"var\": -4.94065645841247e-324, "
        "\"rms\": -0, \"max_at\": {\"x\": 3, \"y\": 2, \"z\": 7, \"channel\": 0}}\n");
}

/* Every statistic, every layout, every name that a byte makes: strict JSON. */
static void json_is_strict(void **state)
{
    struct gf_stats_options o = {.show = "all,p1,hist", .layout = GF_LAYOUT_JSONL};
    struct gf_buffer out = {0};
    (void)state;
    for (int i = 1; i < 256; i++) {
        char name[4] = {'a', (char)i, 'b', '\0'};
        struct gf_stats s = i % 2 ? made_stats() : made_empty();
        s.file = name;
        s.label = i;
        print(&out, &o, &s, 1);
        assert_true(is_json(out.data));
        assert_int_equal(strcspn(out.data, "\n") + 1, out.size);
        gf_buffer_free(&out);
    }
    /* The checker itself. */
    assert_true(is_json(" [1, -0.5e+3, \"\\u12aB\", {\"a\": []}] "));
    static const char *const bad[] = {"", "nan", "[1,]", "{\"a\" 1}", "01", "1.", "+1", "\"\n\"",
                                      "\"\xff\"", "\"\\x\"", "[1] 2", "{a: 1}", "[1", "\"a", "inf"};
    for (size_t i = 0; i < GF_COUNT(bad); i++)
        assert_false(is_json(bad[i]));
}

/* ---- taking rows back ---- */

/* As if the rows after the mark had never been, in every layout, also when nothing was before. */
static void rewinding(void **state)
{
    const struct gf_stats good = made_stats(), bad = made_empty();
    (void)state;
    for (unsigned layout = GF_LAYOUT_TEXT; layout <= GF_LAYOUT_TSV; layout++)
        for (unsigned before = 0; before < 3; before++) {
            const struct gf_stats_options o = {.show = "n,mean,min_at",
                                               .layout = (enum gf_stats_layout)layout};
            struct gf_stats rows[] = {good, good, good};
            struct gf_buffer wanted = {0}, out = {0};
            struct gf_report r;
            struct gf_report_mark mark;
            struct gf_columns c;
            print(&wanted, &o, rows, before + 1);
            assert_int_equal(gf_columns_parse(&o, &c, NULL), GF_OK);
            gf_report_begin(&r, &c, &o, 80, &out);
            for (unsigned i = 0; i < before; i++)
                gf_report_row(&r, &good);
            mark = gf_report_mark(&r);
            gf_report_row(&r, &bad);
            gf_report_row(&r, &bad);
            gf_report_rewind(&r, &mark);
            gf_report_row(&r, &good);
            assert_int_equal(gf_report_end(&r, NULL), GF_OK);
            assert_string_equal(out.data, wanted.data);
            gf_buffer_free(&out);
            gf_buffer_free(&wanted);
        }
}

/* ---- tables ---- */

static void tables(void **state)
{
    struct gf_stats_options o = {.show = "n,max_at,std,sum", .layout = GF_LAYOUT_CSV,
                                 .percentile = {99.9}, .percentiles = 1};
    struct gf_stats rows[3] = {made_stats(), made_empty(), made_stats()};
    (void)state;
    rows[0].page = rows[0].max_at.page = 3;
    rows[0].label = -65536;
    rows[1].file = HOSTILE;
    rows[2].file = " b";
    rows[2].pages = 9;
    rows[2].moments.std = -INFINITY;
    assert_report(&o, rows, 3,
        "file,page,channel,slice,label,n,max_x,max_y,max_z,max_channel,max_page,std,sum,p99.9\n"
        "a.tif,3,,,-65536,12,3,2,,,3,0.3333333333333333,65547,65000.125\n"
        "\"a\"\"b,c\nd\te\x1b[31m\xff<&>\xe2\x80\xae.tif\",,,,,0,,,,,,nan,0,nan\n"
        "\" b\",,,,,12,3,2,,,0,-inf,65547,65000.125\n");
    o.layout = GF_LAYOUT_TSV;
    o.show = "n";
    o.percentiles = 0;
    assert_report(&o, rows, 3,
        "file\tpage\tchannel\tslice\tlabel\tn\n"
        "a.tif\t3\t\t\t-65536\t12\n"
        "a\"b,c\\x0ad\\x09e\\x1b[31m\\xff<&>\\xe2\\x80\\xae.tif\t\t\t\t\t0\n"
        " b\t\t\t\t\t12\n");
}

/* Each alone is a reason for quotes; a name without them has none. */
static void quotes(void **state)
{
    static const char *const names[][2] = {{"a,b", "\"a,b\""}, {"a\"", "\"a\"\"\""},
                                           {"a\nb", "\"a\nb\""}, {"a\r", "\"a\r\""},
                                           {" a", "\" a\""}, {"a b;'\t", "a b;'\t"}, {"-", "-"}};
    struct gf_stats_options o = {.show = "n", .layout = GF_LAYOUT_CSV};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(names); i++) {
        struct gf_stats s = made_stats();
        char text[200];
        s.file = names[i][0];
        snprintf(text, sizeof text, "file,page,channel,slice,label,n\n%s,,,,,12\n", names[i][1]);
        assert_report(&o, &s, 1, text);
    }
}

static void refusals(void **state)
{
    static const struct {
        const char *show;
        enum gf_stats_layout layout;
        bool plot;
        enum gf_status status;
        const char *word;
    } cases[] = {
        {"n,hist", GF_LAYOUT_CSV, false, GF_EUSAGE, "--csv: "},
        {"hist,n", GF_LAYOUT_TSV, false, GF_EUSAGE, "--tsv: "},
        {"hist", GF_LAYOUT_CSV, false, GF_OK, ""},
        {"n,hist", GF_LAYOUT_JSON, false, GF_OK, ""},
        {"n", GF_LAYOUT_JSON, true, GF_EUSAGE, "--plot=FILE"},
        {"n", GF_LAYOUT_TEXT, true, GF_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        struct gf_stats_options o = {.show = cases[i].show, .layout = cases[i].layout,
                                     .plot = cases[i].plot};
        struct gf_columns c;
        struct gf_error e = {""};
        assert_int_equal(gf_columns_parse(&o, &c, &e), GF_OK);
        assert_int_equal(gf_report_check(&c, &o, &e), cases[i].status);
        assert_non_null(strstr(e.text, cases[i].word));
    }
}

/* Memory runs out anywhere: it is told, and nothing is kept. */
static void no_memory(void **state)
{
    (void)state;
    for (int layout = GF_LAYOUT_TEXT; layout <= GF_LAYOUT_TSV; layout++)
        for (uint64_t at = 1, sticky = 0, calls = 1; at <= calls; at += sticky, sticky = !sticky) {
            struct gf_stats_options o = {.show = "all", .layout = (enum gf_stats_layout)layout};
            struct gf_stats s = made_stats();
            uint64_t values[300] = {1, 2, 3};
            struct gf_columns columns;
            struct gf_buffer out = {0};
            struct gf_report report;
            struct gf_error e;

            o.plot = layout == GF_LAYOUT_TEXT;
            s.histogram = (struct gf_histogram){.kind = GF_BINS_RANGE, .high = 1, .bins = 300,
                                                .count = values};
            assert_int_equal(gf_columns_parse(&o, &columns, &e), GF_OK);
            gf_alloc_fail_at(at, (int)sticky);
            gf_report_begin(&report, &columns, &o, 80, &out);
            for (int i = 0; i < 50; i++)
                gf_report_row(&report, &s);
            if (gf_report_end(&report, &e) != GF_OK) {
                assert_non_null(strstr(e.text, "not enough memory"));
                calls = at + 1;
            } else {
                assert_true(gf_alloc_calls() < at);
            }
            gf_alloc_fail_at(0, 0);
            gf_buffer_free(&out);
            assert_int_equal(gf_memory_used(), 0);
            assert_true(at < 100);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_one_row), cmocka_unit_test(text_of_a_volume),
        cmocka_unit_test(text_of_rows),    cmocka_unit_test(quiet_columns),
        cmocka_unit_test(histograms),      cmocka_unit_test(json),
        cmocka_unit_test(json_numbers),    cmocka_unit_test(json_is_strict),
        cmocka_unit_test(tables),          cmocka_unit_test(quotes),
        cmocka_unit_test(refusals),        cmocka_unit_test(no_memory),
        cmocka_unit_test(rewinding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
