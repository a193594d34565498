#include "bins.h"
#include "plot.h"
#include "report_layout.h"

#include "../util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BIN_LABEL 64

/* A line: the file, the parts, the statistics. */
#define CELLS (1 + GF_PARTS + GF_COLUMNS)

static unsigned cell_count(const struct gf_report *r) { return 1 + GF_PARTS + r->columns->count; }

static const char *cell_name(const struct gf_report *r, unsigned i)
{
    if (i == 0)
        return "file";
    return i <= GF_PARTS ? gf_part_names[i - 1] : r->columns->column[i - 1 - GF_PARTS].name;
}

/* ---- a row's cells ---- */

/* Whether rows are divided by this axis, so that a column says where on it they are. */
static bool has_column(const struct gf_stats *stats, const char *axis)
{
    for (unsigned i = 0; i < GF_PARTS; i++)
        if (strcmp(gf_part_names[i], axis) == 0 && gf_stats_part(stats, i) != GF_NO_PART)
            return true;
    return false;
}

static void place_cell(struct gf_buffer *t, const struct gf_stats *stats,
                       const struct gf_place *place)
{
    struct gf_axis axis[GF_AXES];
    gf_place_axes(axis, stats, place);
    for (unsigned i = 0; i < GF_AXES; i++) {
        if (!axis[i].exists || has_column(stats, gf_axis_names[i]))
            continue;
        if (i < 3)
            gf_buffer_text(t, i > 0 ? "," : "");
        else
            gf_buffer_printf(t, " %s ", gf_axis_names[i]);
        gf_buffer_printf(t, "%llu", (unsigned long long)axis[i].at);
    }
}

static void value_cell(struct gf_buffer *t, const struct gf_stats *stats,
                       const struct gf_value *value)
{
    char text[GF_I128_TEXT];
    if (value->kind == GF_VALUE_PLACE)
        place_cell(t, stats, value->place);
    else if (value->kind == GF_VALUE_NONE)
        gf_buffer_text(t, "-");
    else if (value->kind == GF_VALUE_REAL && !isnan(value->real))
        gf_buffer_printf(t, "%.10g", value->real);
    else
        gf_buffer_text(t, gf_value_text(text, value));
}

static void add_cells(struct gf_report *r, const struct gf_stats *stats)
{
    struct gf_buffer *t = &r->cells;
    gf_buffer_escaped(t, stats->file, strlen(stats->file));
    gf_buffer_append(t, "", 1);
    for (unsigned i = 0; i < GF_PARTS; i++) {
        if (gf_stats_part(stats, i) != GF_NO_PART)
            gf_buffer_printf(t, "%lld", (long long)gf_stats_part(stats, i));
        gf_buffer_append(t, "", 1);
    }
    for (unsigned i = 0; i < r->columns->count; i++) {
        struct gf_value value = gf_column_value(&r->columns->column[i], stats);
        value_cell(t, stats, &value);
        gf_buffer_append(t, "", 1);
    }
}

static void set_title(struct gf_buffer *t, const struct gf_stats *stats)
{
    gf_buffer_escaped(t, stats->file, strlen(stats->file));
    gf_buffer_printf(t, ": %llu x %llu", (unsigned long long)stats->width,
                     (unsigned long long)stats->height);
    if (stats->depth > 1)
        gf_buffer_printf(t, " x %llu", (unsigned long long)stats->depth);
    if (stats->channels > 1)
        gf_buffer_printf(t, ", %llu channels", (unsigned long long)stats->channels);
    if (stats->pages > 1)
        gf_buffer_printf(t, ", %llu pages", (unsigned long long)stats->pages);
    gf_buffer_printf(t, ", %s\n", gf_type_name(stats->type));
}

/* ---- histograms ---- */

/* Line `i` of the list: below the range, the bins, above it. False where there is none: values
 * have no outside, and those that do not occur no line. */
static bool bin_line(char label[BIN_LABEL], uint64_t *count, const struct gf_histogram *h,
                     uint32_t i)
{
    const bool values = h->kind == GF_BINS_VALUES;
    const uint32_t bin = i - 1;
    if (i == 0 || bin == h->bins) {
        *count = i == 0 ? h->below : h->above;
        snprintf(label, BIN_LABEL, "%s %.10g", i == 0 ? "below" : "above",
                 i == 0 ? h->low : h->high);
        return !values;
    }
    *count = h->count[bin];
    if (values)
        snprintf(label, BIN_LABEL, "%.10g", gf_bin_low(h, bin));
    else
        snprintf(label, BIN_LABEL, "%.10g to %.10g", gf_bin_low(h, bin), gf_bin_high(h, bin));
    return !values || *count > 0;
}

static void list_bins(struct gf_buffer *t, const struct gf_histogram *h)
{
    const uint32_t lines = h->bins + 2;
    char label[BIN_LABEL], digits[GF_NUMBER_TEXT];
    int label_width = 0, count_width = 0;
    uint64_t count;

    for (uint32_t i = 0; i < lines; i++)
        if (bin_line(label, &count, h, i)) {
            int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
            label_width = (int)gf_max((uint64_t)label_width, strlen(label));
            count_width = length > count_width ? length : count_width;
        }
    for (uint32_t i = 0; i < lines; i++)
        if (bin_line(label, &count, h, i))
            gf_buffer_printf(t, "  %*s  %*llu\n", label_width, label, count_width,
                             (unsigned long long)count);
}

static void add_histogram(struct gf_report *r, const struct gf_stats *stats)
{
    struct gf_buffer *t = &r->histograms;
    bool listed = false;
    for (unsigned i = 0; i < r->columns->count; i++)
        listed = listed || r->columns->column[i].row->kind == GF_KIND_HISTOGRAM;
    if ((!listed && !r->options->plot) || stats->histogram.kind == GF_BINS_NONE)
        return;
    gf_buffer_text(t, "\nhistogram of ");
    gf_buffer_escaped(t, stats->file, strlen(stats->file));
    gf_stats_part_text(t, stats);
    gf_buffer_text(t, ":\n");
    if (listed)
        list_bins(t, &stats->histogram);
    if (r->options->plot)
        gf_plot_bars(t, &stats->histogram, r->width);
}

static void row(struct gf_report *r, const struct gf_stats *stats)
{
    if (r->rows == 0)
        set_title(&r->title, stats);
    r->left_out = r->left_out || stats->n_nan > 0 || stats->n_plus_inf > 0 ||
                  stats->n_minus_inf > 0;
    add_cells(r, stats);
    add_histogram(r, stats);
}

/* ---- all rows ---- */

struct grid {
    unsigned count;             /* of cells in a row */
    int width[CELLS];           /* of the widest cell or name, in characters; 0: not shown */
    bool statistics;            /* some are shown */
};

/* Characters of UTF-8. */
static int characters(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static bool is_quiet(const struct gf_report *r, unsigned i)
{
    return i > GF_PARTS && r->columns->column[i - 1 - GF_PARTS].quiet;
}

/* Not shown: the file when all rows are of one, what rows are not divided by, what is quiet and 0
 * in all of them, and what is no number or place. */
static void measure(const struct gf_report *r, struct grid *g)
{
    const char *cell = r->cells.data;
    const char *first_file = cell;

    *g = (struct grid){.count = cell_count(r)};
    for (uint64_t k = 0; k < r->rows; k++)
        for (unsigned i = 0; i < g->count; i++, cell += strlen(cell) + 1) {
            int width = characters(cell);
            if (is_quiet(r, i) && strcmp(cell, "0") == 0 && g->width[i] == 0)
                continue;
            if (i == 0 && strcmp(cell, first_file) == 0 && g->width[i] == 0)
                continue;
            g->width[i] = width > g->width[i] ? width : g->width[i];
        }
    if (g->width[0] > 0 && characters(first_file) > g->width[0])
        g->width[0] = characters(first_file);
    for (unsigned i = 0; i < g->count; i++) {
        int width = characters(cell_name(r, i));
        if (g->width[i] > 0 && width > g->width[i])
            g->width[i] = width;
        g->statistics = g->statistics || (i > GF_PARTS && g->width[i] > 0);
    }
}

static void print_list(struct gf_report *r, const struct grid *g)
{
    const char *cell = r->cells.data;
    int widest = 0;
    for (unsigned i = 0; i < g->count; i++) {
        int width = characters(cell_name(r, i));
        widest = g->width[i] > 0 && width > widest ? width : widest;
    }
    for (unsigned i = 0; i < g->count; i++, cell += strlen(cell) + 1)
        if (g->width[i] > 0)
            gf_buffer_printf(r->out, "%-*s  %s\n", widest, cell_name(r, i), cell);
}

/* File names to the left, all else to the right. */
static void print_cell(struct gf_report *r, const struct grid *g, unsigned i, const char *text,
                       bool *first)
{
    int blanks = g->width[i] - characters(text);
    if (g->width[i] == 0)
        return;
    gf_buffer_text(r->out, *first ? "" : "  ");
    *first = false;
    if (i == 0)
        gf_buffer_printf(r->out, "%s%*s", text, blanks, "");
    else
        gf_buffer_printf(r->out, "%*s%s", blanks, "", text);
}

static void print_table(struct gf_report *r, const struct grid *g)
{
    const char *cell = r->cells.data;
    bool first = true;
    for (unsigned i = 0; i < g->count; i++)
        print_cell(r, g, i, cell_name(r, i), &first);
    gf_buffer_text(r->out, "\n");
    for (uint64_t k = 0; k < r->rows; k++) {
        first = true;
        for (unsigned i = 0; i < g->count; i++, cell += strlen(cell) + 1)
            print_cell(r, g, i, cell, &first);
        gf_buffer_text(r->out, "\n");
    }
}

/* One line with what the names alone leave open. */
static void print_definitions(struct gf_report *r)
{
    bool deviation = false, order = false;
    char ddof[32] = "";
    const char *between = "";

    for (unsigned i = 0; i < r->columns->count; i++) {
        const struct gf_column_row *c = r->columns->column[i].row;
        deviation = deviation || c->id == GF_COLUMN_STD || c->id == GF_COLUMN_VAR;
        order = order || c->group == GF_GROUP_MEDIAN || c->group == GF_GROUP_PERCENTILES;
    }
    if (!deviation && !order && !r->left_out)
        return;
    gf_buffer_text(r->out, "(");
    if (deviation) {
        if (r->options->ddof > 0)
            snprintf(ddof, sizeof ddof, " - %u", r->options->ddof);
        gf_buffer_printf(r->out, "std and var divide by n%s", ddof);
        between = "; ";
    }
    if (order) {
        gf_buffer_printf(r->out, "%spercentiles: linear interpolation between exact order "
                         "statistics", between);
        between = "; ";
    }
    if (r->left_out)
        gf_buffer_printf(r->out, "%sNaN and infinities left out", between);
    gf_buffer_text(r->out, ")\n");
}

static void end(struct gf_report *r)
{
    struct grid g;
    if (r->rows == 0 || r->cells.failed || r->title.failed || r->histograms.failed)
        return;
    measure(r, &g);
    if (g.width[0] == 0)
        gf_buffer_append(r->out, r->title.data, r->title.size);
    if (g.statistics) {
        if (r->rows == 1)
            print_list(r, &g);
        else
            print_table(r, &g);
        print_definitions(r);
    }
    gf_buffer_append(r->out, r->histograms.data, r->histograms.size);
}

const struct gf_report_layout gf_report_text = {NULL, row, end};
