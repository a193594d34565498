#include "chart.h"

#include "../picture.h"

#include <math.h>

static const struct gf_ink black = {{0, 0, 0}}, blue = {{0x3b, 0x6e, 0xa5}};

static int to_pixel(double at) { return (int)floor(at + 0.5); }

static void draw_bars(struct gf_canvas *to, const struct gf_chart *c)
{
    for (unsigned i = 0; i < c->bars.count; i++) {
        const struct gf_bar *bar = &c->bars.bar[i];
        int left = to_pixel(gf_chart_x(c, bar->low - c->margin));
        int right = to_pixel(gf_chart_x(c, bar->high + c->margin));
        int top = to_pixel(gf_chart_y(c, (double)bar->count));
        /* What is not empty is seen. */
        if (bar->count > 0 && top == GF_CHART_BOTTOM)
            top--;
        gf_canvas_fill(to, left, top, right, GF_CHART_BOTTOM, blue);
    }
}

static void draw_axes(struct gf_canvas *to, const struct gf_chart *c)
{
    char number[GF_NUMBER_TEXT];
    int free_from = 0;          /* labels to the left end there */

    gf_canvas_fill(to, GF_CHART_LEFT - 1, GF_CHART_TOP, GF_CHART_LEFT, GF_CHART_BOTTOM + 1, black);
    gf_canvas_fill(to, GF_CHART_LEFT - 1, GF_CHART_BOTTOM, GF_CHART_RIGHT, GF_CHART_BOTTOM + 1,
                   black);
    for (unsigned i = 0; i < c->x.count; i++) {
        int x = to_pixel(gf_chart_x(c, c->x.at[i]));
        int width = gf_canvas_text_width(gf_chart_x_label(number, c->x.at[i]));
        int left = x - width / 2;
        gf_canvas_fill(to, x, GF_CHART_BOTTOM, x + 1, GF_CHART_BOTTOM + 6, black);
        if (left + width > GF_CHART_WIDTH)
            left = GF_CHART_WIDTH - width;
        if (left < free_from)
            continue;
        gf_canvas_text(to, left, GF_CHART_BOTTOM + 12, number);
        free_from = left + width + GF_CANVAS_ADVANCE;
    }
    for (unsigned i = 0; i < c->y.count; i++) {
        int y = to_pixel(gf_chart_y(c, c->y.at[i]));
        int left = GF_CHART_LEFT - 10 - gf_canvas_text_width(gf_chart_y_label(number, c->y.at[i]));
        gf_canvas_fill(to, GF_CHART_LEFT - 6, y, GF_CHART_LEFT, y + 1, black);
        gf_canvas_text(to, left > 0 ? left : 0, y - GF_CANVAS_LETTER / 2, number);
    }
}

enum gf_status gf_plot_png(const char *path, const struct gf_stats *stats,
                           const struct gf_chart *chart, const struct gf_out_options *options,
                           struct gf_error *e)
{
    struct gf_canvas canvas;
    enum gf_status status;

    (void)stats;
    GF_TRY(gf_canvas_open(&canvas, GF_CHART_WIDTH, GF_CHART_HEIGHT, "the picture of a histogram",
                          e));
    draw_bars(&canvas, chart);
    draw_axes(&canvas, chart);
    status = gf_canvas_write(&canvas, path, options, e);
    gf_canvas_close(&canvas);
    return status;
}
