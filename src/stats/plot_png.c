#include "chart.h"

#include "../alloc.h"
#include "../io/format.h"
#include "../text.h"
#include "../util.h"

#include <math.h>
#include <string.h>

/* ---- pixels ---- */

struct color {
    uint8_t rgb[3];
};

static const struct color black = {{0, 0, 0}}, blue = {{0x3b, 0x6e, 0xa5}};

/* [x0, x1) x [y0, y1), which lies within the picture. */
static void fill(uint8_t *pixels, int x0, int y0, int x1, int y1, struct color color)
{
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            memcpy(pixels + 3 * (y * GF_CHART_WIDTH + x), color.rgb, 3);
}

/* ---- numbers ---- */

/* 5 x 7 dots, a row a number, the left dot being 16. Drawn twice as large. */
static const struct glyph {
    char c;
    uint8_t row[7];
} glyphs[] = {
    {'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}},
    {'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'2', {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}},
    {'3', {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e}},
    {'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}},
    {'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
    {'6', {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}},
    {'7', {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    {'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}},
    {'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}},
    {'+', {0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00}},
    {'-', {0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
    {'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
};

enum { DOT = 2, ADVANCE = 6 * DOT, GLYPH_HEIGHT = 7 * DOT };

static int text_width(const char *text) { return (int)strlen(text) * ADVANCE - DOT; }

/* The upper left of the text is at x, y; it lies within the picture. */
static void draw_text(uint8_t *pixels, int x, int y, const char *text)
{
    for (; *text != '\0'; text++, x += ADVANCE)
        for (size_t i = 0; i < GF_COUNT(glyphs); i++)
            for (int k = 0; k < 35 && glyphs[i].c == *text; k++) {
                int left = x + k % 5 * DOT, top = y + k / 5 * DOT;
                if (glyphs[i].row[k / 5] >> (4 - k % 5) & 1)
                    fill(pixels, left, top, left + DOT, top + DOT, black);
            }
}

/* ---- the picture ---- */

static int to_pixel(double at) { return (int)floor(at + 0.5); }

static void draw_bars(uint8_t *pixels, const struct gf_chart *c)
{
    for (unsigned i = 0; i < c->bars.count; i++) {
        const struct gf_bar *bar = &c->bars.bar[i];
        int left = to_pixel(gf_chart_x(c, bar->low - c->margin));
        int right = to_pixel(gf_chart_x(c, bar->high + c->margin));
        int top = to_pixel(gf_chart_y(c, (double)bar->count));
        /* What is not empty is seen. */
        if (bar->count > 0 && top == GF_CHART_BOTTOM)
            top--;
        fill(pixels, left, top, right, GF_CHART_BOTTOM, blue);
    }
}

static void draw_axes(uint8_t *pixels, const struct gf_chart *c)
{
    char number[GF_NUMBER_TEXT];
    int free_from = 0;          /* labels to the left end there */

    fill(pixels, GF_CHART_LEFT - 1, GF_CHART_TOP, GF_CHART_LEFT, GF_CHART_BOTTOM + 1, black);
    fill(pixels, GF_CHART_LEFT - 1, GF_CHART_BOTTOM, GF_CHART_RIGHT, GF_CHART_BOTTOM + 1, black);
    for (unsigned i = 0; i < c->x.count; i++) {
        int x = to_pixel(gf_chart_x(c, c->x.at[i]));
        int width = text_width(gf_chart_x_label(number, c->x.at[i]));
        int left = x - width / 2;
        fill(pixels, x, GF_CHART_BOTTOM, x + 1, GF_CHART_BOTTOM + 6, black);
        if (left + width > GF_CHART_WIDTH)
            left = GF_CHART_WIDTH - width;
        if (left < free_from)
            continue;
        draw_text(pixels, left, GF_CHART_BOTTOM + 12, number);
        free_from = left + width + ADVANCE;
    }
    for (unsigned i = 0; i < c->y.count; i++) {
        int y = to_pixel(gf_chart_y(c, c->y.at[i]));
        int left = GF_CHART_LEFT - 10 - text_width(gf_chart_y_label(number, c->y.at[i]));
        fill(pixels, GF_CHART_LEFT - 6, y, GF_CHART_LEFT, y + 1, black);
        draw_text(pixels, left > 0 ? left : 0, y - GLYPH_HEIGHT / 2, number);
    }
}

static enum gf_status write_picture(const char *path, const uint8_t *pixels,
                                    const struct gf_out_options *options, struct gf_error *e)
{
    const struct gf_image image = {.width = GF_CHART_WIDTH, .height = GF_CHART_HEIGHT, .depth = 1,
                                   .channels = 3, .type = GF_U8, .color = GF_RGB, .alpha = -1};
    struct gf_writer *w = NULL;
    enum gf_status status = gf_writer_open(&w, path, &gf_format_png, 1, gf_image_bytes(&image),
                                           NULL, options, e);
    if (status == GF_OK)
        status = gf_writer_begin(w, &image, e);
    if (status == GF_OK)
        status = gf_writer_rows(w, pixels, image.height, e);
    if (status == GF_OK)
        status = gf_writer_end(w, e);
    if (status == GF_OK)
        return gf_writer_commit(&w, e);
    gf_writer_abort(&w);
    return status;
}

enum gf_status gf_plot_png(const char *path, const struct gf_stats *stats,
                           const struct gf_chart *chart, const struct gf_out_options *options,
                           struct gf_error *e)
{
    const size_t size = (size_t)GF_CHART_WIDTH * GF_CHART_HEIGHT * 3;
    enum gf_status status;
    void *pixels = NULL;

    (void)stats;
    GF_TRY(gf_allocate(&pixels, size, 1, "the picture of a histogram", e));
    memset(pixels, 0xff, size);
    draw_bars(pixels, chart);
    draw_axes(pixels, chart);
    status = write_picture(path, pixels, options, e);
    gf_free(pixels);
    return status;
}
