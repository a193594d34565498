#include "chart.h"
#include "columns.h"

#include "../picture.h"

static void whole_title(struct gf_buffer *t, const struct gf_stats *stats)
{
    struct gf_buffer part = {0};
    gf_svg_text(t, stats->file);
    gf_stats_part_text(&part, stats);
    gf_buffer_append(t, part.data, part.size);
    t->failed = t->failed || part.failed;
    gf_buffer_free(&part);
}

static void head(struct gf_buffer *t, const struct gf_stats *stats)
{
    struct gf_buffer title = {0};
    whole_title(&title, stats);
    t->failed = t->failed || title.failed;
    gf_svg_begin(t, GF_CHART_WIDTH, GF_CHART_HEIGHT, title.data ? title.data : "");
    gf_buffer_printf(t, "<text x=\"%d\" y=\"24\" font-size=\"16\">", GF_CHART_LEFT);
    gf_buffer_append(t, title.data, title.size);
    gf_buffer_text(t, "</text>\n");
    gf_buffer_free(&title);
    if (stats->histogram.below > 0 || stats->histogram.above > 0)
        gf_buffer_printf(t, "<text x=\"%d\" y=\"42\">outside: %llu below, %llu above</text>\n",
                         GF_CHART_LEFT, (unsigned long long)stats->histogram.below,
                         (unsigned long long)stats->histogram.above);
}

static void bars(struct gf_buffer *t, const struct gf_chart *c)
{
    gf_buffer_text(t, "<g fill=\"#3b6ea5\">\n");
    for (unsigned i = 0; i < c->bars.count; i++) {
        const struct gf_bar *bar = &c->bars.bar[i];
        double left = gf_chart_x(c, bar->low - c->margin);
        double y = gf_chart_y(c, (double)bar->count);
        if (bar->count > 0)
            gf_buffer_printf(t, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                             left, y, gf_chart_x(c, bar->high + c->margin) - left,
                             GF_CHART_BOTTOM - y);
    }
    gf_buffer_text(t, "</g>\n");
}

static void axes(struct gf_buffer *t, const struct gf_chart *c)
{
    char number[GF_NUMBER_TEXT];
    gf_buffer_printf(t, "<path d=\"M%d %dV%dH%d", GF_CHART_LEFT, GF_CHART_TOP, GF_CHART_BOTTOM,
                     GF_CHART_RIGHT);
    for (unsigned i = 0; i < c->x.count; i++)
        gf_buffer_printf(t, "M%.2f %dv5", gf_chart_x(c, c->x.at[i]), GF_CHART_BOTTOM);
    for (unsigned i = 0; i < c->y.count; i++)
        gf_buffer_printf(t, "M%d %.2fh-5", GF_CHART_LEFT, gf_chart_y(c, c->y.at[i]));
    gf_buffer_text(t, "\" fill=\"none\" stroke=\"#000000\"/>\n<g text-anchor=\"middle\">\n");
    for (unsigned i = 0; i < c->x.count; i++)
        gf_buffer_printf(t, "<text x=\"%.2f\" y=\"%d\">%s</text>\n", gf_chart_x(c, c->x.at[i]),
                         GF_CHART_BOTTOM + 20, gf_chart_x_label(number, c->x.at[i]));
    gf_buffer_printf(t, "<text x=\"%d\" y=\"%d\">value</text>\n",
                     (GF_CHART_LEFT + GF_CHART_RIGHT) / 2, GF_CHART_BOTTOM + 45);
    gf_buffer_printf(t, "<text transform=\"translate(20 %d) rotate(-90)\">samples</text>\n",
                     (GF_CHART_TOP + GF_CHART_BOTTOM) / 2);
    gf_buffer_text(t, "</g>\n<g text-anchor=\"end\">\n");
    for (unsigned i = 0; i < c->y.count; i++)
        gf_buffer_printf(t, "<text x=\"%d\" y=\"%.2f\">%s</text>\n", GF_CHART_LEFT - 8,
                         gf_chart_y(c, c->y.at[i]) + 4, gf_chart_y_label(number, c->y.at[i]));
    gf_buffer_text(t, "</g>\n</svg>\n");
}

enum gf_status gf_plot_svg(const char *path, const struct gf_stats *stats,
                           const struct gf_chart *chart, const struct gf_out_options *options,
                           struct gf_error *e)
{
    struct gf_buffer t = {0};

    head(&t, stats);
    bars(&t, chart);
    axes(&t, chart);
    return gf_svg_write(&t, path, "the picture of a histogram", options, e);
}
