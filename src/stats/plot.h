/* Histograms as bars of text and as pictures. */
#ifndef GPUFILT_SRC_STATS_PLOT_H
#define GPUFILT_SRC_STATS_PLOT_H

#include "stats.h"

#include "../io/file.h"
#include "../text.h"

/* Appends lines of plain ASCII, none of them wider than `width` columns (at least 40 are taken):
 * bins, their count and a bar of #, the longest being that of the largest count; what is not empty
 * has a bar. More than 32 bins are put together in equal numbers; of values, those outside the
 * least and the greatest that occur are left out. */
void gf_plot_bars(struct gf_buffer *text, const struct gf_histogram *histogram, unsigned width);

/* GF_EUSAGE when the name does not end in .svg or .png. */
enum gf_status gf_plot_check(const char *path, struct gf_error *e);
/* Writes the picture of a row's histogram, 800 x 480 with axes; SVG also has a title and names the
 * axes. The same histogram gives the same bytes. GF_EUSAGE as above, and without a histogram. */
enum gf_status gf_plot_file(const char *path, const struct gf_stats *stats,
                            const struct gf_out_options *options, struct gf_error *e);

#endif
