#include "stats/chart.h"
#include "stats/plot.h"

#include "alloc.h"
#include "io/format.h"
#include "util.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"
#include "made_stats.h"

static void assert_bars(const struct gf_histogram *h, unsigned width, const char *text)
{
    struct gf_buffer t = {0};
    gf_plot_bars(&t, h, width);
    assert_string_equal(t.data, text);
    gf_buffer_free(&t);
}

/* ---- text ---- */

static void few_bins(void **state)
{
    uint64_t values[256] = {0}, range[3] = {1, 1000, 500};
    struct gf_histogram h = {.kind = GF_BINS_VALUES, .low = -128, .high = 127, .bins = 256,
                             .count = values};
    (void)state;
    assert_bars(&h, 80, "  no samples\n");
    values[126] = 10;
    values[129] = 5;
    assert_bars(&h, 40, "  -2  10  ##############################\n"
                        "  -1   0\n"
                        "   0   0\n"
                        "   1   5  ###############\n");
    h = (struct gf_histogram){.kind = GF_BINS_RANGE, .low = 0, .high = 0.75, .bins = 3,
                              .count = range, .below = 2, .above = 9};
    assert_bars(&h, 1, "  below: 2\n"
                       "    0 to 0.25     1  #\n"
                       "  0.25 to 0.5  1000  ###################\n"
                       "  0.5 to 0.75   500  ##########\n"
                       "  above: 9\n");
}

/* All counts are in the lines, at most 32 of them, none too wide. */
static void many_bins(void **state)
{
    static uint64_t count[100003];
    uint64_t sum = 0, seen = 0;
    unsigned lines = 0;
    struct gf_histogram h = {.kind = GF_BINS_RANGE, .low = -1e300, .high = 1e300,
                             .bins = GF_COUNT(count), .count = count};
    struct gf_buffer t = {0};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(count); i++)
        sum += count[i] = i * i % 1009;
    gf_plot_bars(&t, &h, 70);
    assert_non_null(strstr(t.data, " to 1e+300 "));
    for (char *line = strtok(t.data, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long long number;
        double low, high;
        assert_int_equal(sscanf(line, "%lf to %lf %llu", &low, &high, &number), 3);
        assert_true(strlen(line) <= 70);
        seen += number;
        lines++;
    }
    assert_int_equal(seen, sum);
    assert_int_equal(lines, 32);
    gf_buffer_free(&t);

    memset(count, 0, sizeof count);
    count[30000] = 7;
    count[30063] = 3;
    h = (struct gf_histogram){.kind = GF_BINS_VALUES, .low = 0, .high = 65535, .bins = 65536,
                              .count = count};
    gf_plot_bars(&t, &h, 80);
    assert_int_equal(strncmp(t.data, "  30000 to 30001  7  #####", 25), 0);
    assert_non_null(strstr(t.data, "  30062 to 30063  3  ###"));
    gf_buffer_free(&t);
}

/* ---- pictures ---- */

static void names(void **state)
{
    static const char *const good[] = {"a.svg", "x/y.PNG", "a.b.SvG"};
    static const char *const bad[] = {"", "-", "a", "svg", "a.pdf", "a.svg/b", "a.png.gz", "a."};
    struct gf_stats s = made_stats();
    struct gf_error e;
    (void)state;
    for (size_t i = 0; i < GF_COUNT(good); i++)
        assert_int_equal(gf_plot_check(good[i], &e), GF_OK);
    for (size_t i = 0; i < GF_COUNT(bad); i++) {
        assert_int_equal(gf_plot_check(bad[i], &e), GF_EUSAGE);
        assert_int_equal(gf_plot_file(bad[i], &s, NULL, &e), GF_EUSAGE);
    }
    assert_int_equal(gf_plot_file("none.svg", &s, NULL, &e), GF_EUSAGE);
    assert_int_equal(entries("."), 0);
}

static const struct gf_out_options quick = {.sync = GF_SYNC_NONE};

/* A small row with a histogram of values in `count`. */
static struct gf_stats with_values(uint64_t count[4])
{
    struct gf_stats s = made_stats();
    count[0] = 5;
    count[1] = 0;
    count[2] = 10;
    count[3] = 1;
    s.histogram = (struct gf_histogram){.kind = GF_BINS_VALUES, .low = 7, .high = 10, .bins = 4,
                                        .count = count};
    return s;
}

static void svg(void **state)
{
    uint64_t count[4];
    struct gf_stats s = with_values(count);
    static char text[20000], again[20000];
    ssize_t size;
    (void)state;
    s.file = "<a>&\"'\x01\xff\xef\xbf\xbf\xc3\xa4.tif";
    s.channel = 2;
    assert_int_equal(gf_plot_file("a.svg", &s, &quick, NULL), GF_OK);
    size = get("a.svg", text, sizeof text - 1);
    assert_true(size > 0);
    text[size] = '\0';
    assert_non_null(strstr(text, "<title>&lt;a&gt;&amp;\"'\\x01\\xff\xef\xbf\xbd\xc3\xa4.tif, "
                                 "channel 2</title>"));
    /* 680 pixels for four values, 370 for ten samples; the empty bin has none. */
    assert_non_null(strstr(text, "<g fill=\"#3b6ea5\">\n"
        "<rect x=\"100.00\" y=\"235.00\" width=\"170.00\" height=\"185.00\"/>\n"
        "<rect x=\"440.00\" y=\"50.00\" width=\"170.00\" height=\"370.00\"/>\n"
        "<rect x=\"610.00\" y=\"383.00\" width=\"170.00\" height=\"37.00\"/>\n</g>\n"));
    assert_non_null(strstr(text, "<text x=\"185.00\" y=\"440\">7</text>\n"
                                 "<text x=\"355.00\" y=\"440\">8</text>\n"));
    assert_non_null(strstr(text, "<text x=\"92\" y=\"54.00\">10</text>\n"));
    assert_null(strstr(text, "outside"));
    assert_int_equal(gf_plot_file("b.svg", &s, &quick, NULL), GF_OK);
    assert_int_equal(get("b.svg", again, sizeof again), size);
    assert_memory_equal(text, again, size);
    s.histogram.kind = GF_BINS_RANGE;
    s.histogram.above = 3;
    assert_int_equal(gf_plot_file("b.svg", &s, &quick, NULL), GF_OK);
    size = get("b.svg", text, sizeof text - 1);
    text[size] = '\0';
    assert_non_null(strstr(text, ">outside: 0 below, 3 above</text>"));
}

/* Values have no ticks between them. */
static void whole_ticks(void **state)
{
    uint64_t count[4];
    struct gf_stats s = with_values(count);
    struct gf_chart chart;
    (void)state;
    count[0] = 0;
    gf_chart_make(&chart, &s.histogram);
    assert_true(chart.low == 8.5 && chart.high == 10.5);
    assert_int_equal(chart.x.count, 2);
    assert_true(chart.x.at[0] == 9 && chart.x.at[1] == 10);
}

static uint8_t pixels[480][800][3];

static void read_picture(const char *path)
{
    struct gf_reader *r;
    struct gf_image image;
    assert_int_equal(gf_reader_open(&r, path, NULL, NULL), GF_OK);
    assert_int_equal(gf_reader_select(r, 0, &image, NULL), GF_OK);
    assert_true(image.width == 800 && image.height == 480 && image.channels == 3);
    assert_int_equal(gf_reader_rows(r, 0, 480, pixels, NULL), GF_OK);
    assert_int_equal(gf_reader_finish(r, NULL), GF_OK);
    gf_meta_free(&image.meta);
    gf_reader_close(&r);
}

static bool is_blue(int x, int y) { return memcmp(pixels[y][x], "\x3b\x6e\xa5", 3) == 0; }
static bool is_white(int x, int y) { return memcmp(pixels[y][x], "\xff\xff\xff", 3) == 0; }

static void png(void **state)
{
    uint64_t count[4];
    struct gf_stats s = with_values(count);
    unsigned black = 0;
    (void)state;
    assert_int_equal(gf_plot_file("a.png", &s, &quick, NULL), GF_OK);
    read_picture("a.png");
    assert_true(is_blue(100, 235) && is_white(100, 234) && is_blue(269, 419) && is_white(270, 419));
    assert_true(is_blue(440, 50) && is_white(440, 49) && is_blue(609, 50) && is_white(610, 50));
    assert_true(is_blue(779, 383) && is_white(780, 383) && is_white(779, 382));
    /* The number 7 under the middle of the first bar: its upper edge of 5 dots, 2 x 2 each. */
    for (int x = 0; x < 800; x++)
        black += !is_white(x, 432) && x < 270;
    assert_int_equal(black, 10);
    assert_true(!is_white(182, 445) && !is_white(183, 444) && is_white(181, 444) &&
                is_white(184, 445) && is_white(182, 446));
}

/* Anything can be drawn: nothing is outside the picture, nothing hangs. */
static void odd_axes(void **state)
{
    static const struct {
        double low, high;
    } ranges[] = {
        {0, 1}, {-1e300, 1e300}, {0, 5e-324}, {1e300, 1.0000000000000002e300}, {-1e-310, 1e-310},
        {123456789012.25, 123456789012.5}, {-0.3, 0.1}, {0, DBL_MAX}, {-DBL_MAX / 2, DBL_MAX / 2},
        {9007199254740992.0, 9007199254740994.0}, {-1e9, -1e9 + 1e-6},
        {1.2345678901199e-100, 1.23456789022e-100},
    };
    static uint64_t count[1000];
    static char text[100000];
    (void)state;
    for (size_t i = 0; i < GF_COUNT(ranges); i++)
        for (uint64_t most = 0; most < 3; most++) {
            struct gf_stats s = made_stats();
            static struct gf_chart chart;
            ssize_t size;
            for (size_t k = 0; k < GF_COUNT(count); k++)
                count[k] = most == 2 ? UINT64_C(99999999999) * k : most * (k == 500);
            s.histogram = (struct gf_histogram){.kind = GF_BINS_RANGE, .low = ranges[i].low,
                                                .high = ranges[i].high, .bins = 1000,
                                                .count = count};
            assert_int_equal(gf_plot_file("odd.svg", &s, &quick, NULL), GF_OK);
            size = get("odd.svg", text, sizeof text - 1);
            text[size] = '\0';
            assert_null(strstr(text, "nan"));
            assert_null(strstr(text, "inf"));
            assert_int_equal(gf_plot_file("odd.png", &s, &quick, NULL), GF_OK);
            read_picture("odd.png");
            /* Just above the labels: of one that is too far left some would be at the right. */
            for (int x = 0; x < 800; x++)
                assert_true(is_white(x, 431));
            gf_chart_make(&chart, &s.histogram);
            assert_true(chart.y.count >= 2 && chart.y.at[0] == 0);
            for (unsigned k = 0; k < chart.x.count; k++)
                assert_true(chart.x.at[k] > (k ? chart.x.at[k - 1] : -INFINITY) &&
                            chart.x.at[k] <= s.histogram.high);
        }
}

static void failures(void **state)
{
    static const char *const paths[] = {"f.svg", "f.png"};
    uint64_t count[4];
    struct gf_stats s = with_values(count);
    struct gf_error e = {""};
    int before = entries(".");
    (void)state;
    for (int i = 0; i < 2; i++) {
        for (uint64_t at = 1, calls = 1; at <= calls; at++) {
            gf_alloc_fail_at(at, 1);
            if (gf_plot_file(paths[i], &s, &quick, &e) != GF_OK) {
                calls = at + 1;
                assert_int_equal(entries("."), before);
            }
            gf_alloc_fail_at(0, 0);
            assert_int_equal(gf_memory_used(), 0);
        }
        unlink(paths[i]);
    }
    assert_int_equal(gf_plot_file("no/such/f.svg", &s, &quick, &e), GF_EOUTPUT);
    put_text("kept.png", "old");
    assert_int_equal(gf_plot_file("kept.png", &s, &(struct gf_out_options){.no_clobber = true}, &e),
                     GF_EOUTPUT);
    assert_file("kept.png", "old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_bins), cmocka_unit_test(many_bins), cmocka_unit_test(names),
        cmocka_unit_test(svg),      cmocka_unit_test(png),       cmocka_unit_test(odd_axes),
        cmocka_unit_test(failures), cmocka_unit_test(whole_ticks),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
