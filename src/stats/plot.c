#include "plot.h"

#include "chart.h"

#include "../picture.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

/* ---- text ---- */

#define TEXT_BARS 32
#define LEAST_WIDTH 40
#define LABEL 32

static void print_label(char label[LABEL], const struct gf_bar *bar, bool values)
{
    if (!values)
        snprintf(label, LABEL, "%.6g to %.6g", bar->low, bar->high);
    else if (bar->low == bar->high)
        snprintf(label, LABEL, "%.0f", bar->low);
    else
        snprintf(label, LABEL, "%.0f to %.0f", bar->low, bar->high);
}

static void print_outside(struct gf_buffer *text, const char *side, uint64_t count)
{
    if (count > 0)
        gf_buffer_printf(text, "  %s: %llu\n", side, (unsigned long long)count);
}

void gf_plot_bars(struct gf_buffer *text, const struct gf_histogram *h, unsigned width)
{
    const bool values = h->kind == GF_BINS_VALUES;
    char label[LABEL], number[GF_NUMBER_TEXT];
    int widest = 0, digits, room;
    struct gf_bars bars;

    gf_bars_make(&bars, h, TEXT_BARS);
    for (unsigned i = 0; i < bars.count; i++) {
        print_label(label, &bars.bar[i], values);
        widest = (int)gf_max((uint64_t)widest, strlen(label));
    }
    digits = snprintf(number, sizeof number, "%llu", (unsigned long long)bars.largest);
    room = (int)gf_min(gf_max(width, LEAST_WIDTH), 1000) - 2 - widest - 2 - digits - 2;
    room = room < 1 ? 1 : room;
    if (bars.count == 0)
        gf_buffer_text(text, "  no samples\n");
    print_outside(text, "below", h->below);
    for (unsigned i = 0; i < bars.count; i++) {
        const uint64_t count = bars.bar[i].count;
        int length = 0;
        if (count > 0)
            length = (int)gf_max(1, (uint64_t)((double)count / (double)bars.largest * room + 0.5));
        print_label(label, &bars.bar[i], values);
        gf_buffer_printf(text, "  %*s  %*llu", widest, label, digits, (unsigned long long)count);
        gf_buffer_text(text, length > 0 ? "  " : "");
        for (int k = 0; k < length; k++)
            gf_buffer_text(text, "#");
        gf_buffer_text(text, "\n");
    }
    print_outside(text, "above", h->above);
}

/* ---- pictures ---- */

enum gf_status gf_plot_check(const char *path, struct gf_error *e)
{
    if (gf_picture_kind(path) == GF_PICTURE_NONE)
        return gf_fail(e, GF_EUSAGE, "%s: the picture of a histogram is an .svg or a .png file",
                       path);
    return GF_OK;
}

enum gf_status gf_plot_file(const char *path, const struct gf_stats *stats,
                            const struct gf_out_options *options, struct gf_error *e)
{
    struct gf_chart chart;

    GF_TRY(gf_plot_check(path, e));
    if (stats->histogram.kind == GF_BINS_NONE)
        return gf_fail(e, GF_EUSAGE, "%s: there is no histogram of %s to draw", path, stats->file);
    gf_chart_make(&chart, &stats->histogram);
    if (gf_picture_kind(path) == GF_PICTURE_SVG)
        return gf_plot_svg(path, stats, &chart, options, e);
    return gf_plot_png(path, stats, &chart, options, e);
}
