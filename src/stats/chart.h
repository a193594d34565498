/* What every picture of a histogram shows, and where. For plot*.c alone. */
#ifndef GPUFILT_SRC_STATS_CHART_H
#define GPUFILT_SRC_STATS_CHART_H

#include "stats.h"

#include "../io/file.h"
#include "../text.h"

/* ---- bars ---- */

#define GF_BARS 256             /* most */

struct gf_bar {
    double low, high;           /* of values: the first and the last */
    uint64_t count;
};

struct gf_bars {
    unsigned count;
    uint64_t largest;           /* of the counts */
    struct gf_bar bar[GF_BARS];
};

/* At most `most` (<= GF_BARS) bars of equal numbers of bins, the last of the rest; of values only
 * from the least to the greatest that occur. */
void gf_bars_make(struct gf_bars *bars, const struct gf_histogram *histogram, unsigned most);

/* ---- a picture ---- */

enum {
    GF_CHART_WIDTH = 800,
    GF_CHART_HEIGHT = 480,
    GF_CHART_LEFT = 100,        /* of the plot, in pixels from the upper left */
    GF_CHART_RIGHT = 780,
    GF_CHART_TOP = 50,
    GF_CHART_BOTTOM = 420,
    GF_TICKS = 12               /* most */
};

struct gf_ticks {
    unsigned count;
    double at[GF_TICKS];
};

struct gf_chart {
    struct gf_bars bars;
    double low, high;           /* of the x axis, low < high */
    double margin;              /* a bar of values is that much wider on either side */
    double top;                 /* of the y axis, from 0 */
    struct gf_ticks x, y;
};

void gf_chart_make(struct gf_chart *chart, const struct gf_histogram *histogram);
/* Pixels. */
double gf_chart_x(const struct gf_chart *chart, double value);
double gf_chart_y(const struct gf_chart *chart, double count);
/* A tick's number: few digits on the y axis, whose ticks are multiples of one of them. Both return
 * `text`. */
const char *gf_chart_x_label(char text[GF_NUMBER_TEXT], double tick);
const char *gf_chart_y_label(char text[GF_NUMBER_TEXT], double tick);

enum gf_status gf_plot_svg(const char *path, const struct gf_stats *stats,
                           const struct gf_chart *chart, const struct gf_out_options *options,
                           struct gf_error *e);
enum gf_status gf_plot_png(const char *path, const struct gf_stats *stats,
                           const struct gf_chart *chart, const struct gf_out_options *options,
                           struct gf_error *e);

#endif
