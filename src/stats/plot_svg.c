#include "chart.h"
#include "columns.h"

#include "../text.h"

#include <string.h>

/* Characters that mean something in XML become references; those it forbids U+FFFD. */
static void xml_text(struct gf_buffer *t, const char *text)
{
    struct gf_buffer shown = {0};
    gf_buffer_escaped(&shown, text, strlen(text));
    t->failed = t->failed || shown.failed;
    for (const char *c = shown.failed ? "" : shown.data ? shown.data : ""; *c != '\0'; c++) {
        if (*c == '&')
            gf_buffer_text(t, "&amp;");
        else if (*c == '<')
            gf_buffer_text(t, "&lt;");
        else if (*c == '>')
            gf_buffer_text(t, "&gt;");
        else if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0) {
            gf_buffer_text(t, "\xef\xbf\xbd");
            c += 2;
        } else
            gf_buffer_append(t, c, 1);
    }
    gf_buffer_free(&shown);
}

static void whole_title(struct gf_buffer *t, const struct gf_stats *stats)
{
    struct gf_buffer part = {0};
    xml_text(t, stats->file);
    gf_stats_part_text(&part, stats);
    gf_buffer_append(t, part.data, part.size);
    t->failed = t->failed || part.failed;
    gf_buffer_free(&part);
}

static void head(struct gf_buffer *t, const struct gf_stats *stats)
{
    gf_buffer_printf(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                     "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
                     GF_CHART_WIDTH, GF_CHART_HEIGHT, GF_CHART_WIDTH, GF_CHART_HEIGHT);
    whole_title(t, stats);
    gf_buffer_text(t, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    gf_buffer_printf(t, "<text x=\"%d\" y=\"24\" font-size=\"16\">", GF_CHART_LEFT);
    whole_title(t, stats);
    gf_buffer_text(t, "</text>\n");
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
    struct gf_out *out = NULL;
    enum gf_status status;

    head(&t, stats);
    bars(&t, chart);
    axes(&t, chart);
    status = gf_buffer_status(&t, "the picture of a histogram", e);
    if (status == GF_OK)
        status = gf_out_open(&out, path, options, e);
    if (status == GF_OK)
        status = gf_out_write(out, t.data, t.size, e);
    if (status == GF_OK)
        status = gf_out_commit(&out, e);
    gf_out_abort(&out);
    gf_buffer_free(&t);
    return status;
}
