#include "bins.h"
#include "plot.h"
#include "report_layout.h"

#include "../util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BIN_LABEL 64

/* Columns that there are where no terminal says how many: lines of a table, and of bars. */
#define WIDTH 100
#define BAR_WIDTH 80

#define BETWEEN "  "            /* cells of a table */

/* A row: the file, the line that stands above it when it is the only one, the parts, the
 * statistics. */
enum { FILE_NAME, TITLE, FIRST_PART, FIRST_STATISTIC = FIRST_PART + GF_PARTS };
#define CELLS (FIRST_STATISTIC + GF_COLUMNS)

static unsigned cell_count(const struct gf_report *r)
{
    return FIRST_STATISTIC + r->columns->count;
}

static const char *cell_name(const struct gf_report *r, unsigned i)
{
    if (i < FIRST_PART)
        return "file";
    return i < FIRST_STATISTIC ? gf_part_names[i - FIRST_PART]
                               : r->columns->column[i - FIRST_STATISTIC].name;
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

static void title_cell(struct gf_buffer *t, const struct gf_stats *stats)
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

static void add_cells(struct gf_report *r, const struct gf_stats *stats)
{
    struct gf_buffer *t = &r->cells;
    gf_buffer_escaped(t, stats->file, strlen(stats->file));
    gf_buffer_append(t, "", 1);
    title_cell(t, stats);
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
        gf_plot_bars(t, &stats->histogram, r->width > 0 ? r->width : BAR_WIDTH);
}

static void row(struct gf_report *r, const struct gf_stats *stats)
{
    r->left_out = r->left_out || stats->n_nan > 0 || stats->n_plus_inf > 0 ||
                  stats->n_minus_inf > 0;
    add_cells(r, stats);
    add_histogram(r, stats);
}

/* ---- all rows ---- */

/* Rows that stand together, with common columns. */
struct grid {
    const char *cells;          /* of the first row */
    uint64_t rows;
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

static const char *next_cell(const char *cell) { return cell + strlen(cell) + 1; }

static const char *next_row(const struct gf_report *r, const char *cell)
{
    for (unsigned i = 0; i < cell_count(r); i++)
        cell = next_cell(cell);
    return cell;
}

static bool is_quiet(const struct gf_report *r, unsigned i)
{
    return i >= FIRST_STATISTIC && r->columns->column[i - FIRST_STATISTIC].quiet;
}

/* Not shown: titles, the file when all rows are of one, what rows are not divided by, what is
 * quiet and 0 in all of them, and what is no number or place. */
static void measure(const struct gf_report *r, struct grid *g, const char *cells, uint64_t rows)
{
    const char *cell = cells;

    *g = (struct grid){.cells = cells, .rows = rows};
    for (uint64_t k = 0; k < rows; k++)
        for (unsigned i = 0; i < cell_count(r); i++, cell = next_cell(cell)) {
            int width = characters(cell);
            if (i == TITLE || (is_quiet(r, i) && strcmp(cell, "0") == 0 && g->width[i] == 0))
                continue;
            if (i == FILE_NAME && strcmp(cell, cells) == 0 && g->width[i] == 0)
                continue;
            g->width[i] = width > g->width[i] ? width : g->width[i];
        }
    if (g->width[FILE_NAME] > 0 && characters(cells) > g->width[FILE_NAME])
        g->width[FILE_NAME] = characters(cells);
    for (unsigned i = 0; i < cell_count(r); i++) {
        int width = characters(cell_name(r, i));
        if (g->width[i] > 0 && width > g->width[i])
            g->width[i] = width;
        g->statistics = g->statistics || (i >= FIRST_STATISTIC && g->width[i] > 0);
    }
}

static void print_list(struct gf_report *r, const struct grid *g)
{
    const char *cell = g->cells;
    int widest = 0;
    for (unsigned i = 0; i < cell_count(r); i++) {
        int width = characters(cell_name(r, i));
        widest = g->width[i] > 0 && width > widest ? width : widest;
    }
    for (unsigned i = 0; i < cell_count(r); i++, cell = next_cell(cell))
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
    gf_buffer_text(r->out, *first ? "" : BETWEEN);
    *first = false;
    if (i == FILE_NAME)
        gf_buffer_printf(r->out, "%s%*s", text, blanks, "");
    else
        gf_buffer_printf(r->out, "%*s%s", blanks, "", text);
}

static void print_table(struct gf_report *r, const struct grid *g)
{
    const char *cell = g->cells;
    bool first = true;
    for (unsigned i = 0; i < cell_count(r); i++)
        print_cell(r, g, i, cell_name(r, i), &first);
    gf_buffer_text(r->out, "\n");
    for (uint64_t k = 0; k < g->rows; k++) {
        first = true;
        for (unsigned i = 0; i < cell_count(r); i++, cell = next_cell(cell))
            print_cell(r, g, i, cell, &first);
        gf_buffer_text(r->out, "\n");
    }
}

/* Of one file, under its title, or of several. */
static void print_rows(struct gf_report *r, const struct grid *g)
{
    if (g->width[FILE_NAME] == 0)
        gf_buffer_text(r->out, next_cell(g->cells));
    if (g->statistics && g->rows == 1)
        print_list(r, g);
    else if (g->statistics)
        print_table(r, g);
}

/* Whether a table of several files is wider than what shows it. */
static bool is_wide(const struct gf_report *r, const struct grid *g)
{
    const int most = r->width > 0 ? (int)r->width : WIDTH;
    int width = -(int)strlen(BETWEEN);
    for (unsigned i = 0; i < cell_count(r); i++)
        width += g->width[i] > 0 ? g->width[i] + (int)strlen(BETWEEN) : 0;
    return g->width[FILE_NAME] > 0 && width > most;
}

/* A block for each file, as if it were the only one. */
static void print_files(struct gf_report *r)
{
    const char *cells = r->cells.data, *past = cells;
    uint64_t rows = 0;
    struct grid g;
    for (uint64_t k = 0; k < r->rows; k++) {
        past = next_row(r, past);
        rows++;
        if (k + 1 < r->rows && strcmp(past, cells) == 0)
            continue;
        gf_buffer_text(r->out, cells == r->cells.data ? "" : "\n");
        measure(r, &g, cells, rows);
        print_rows(r, &g);
        cells = past;
        rows = 0;
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
    if (r->rows == 0 || r->cells.failed || r->histograms.failed)
        return;
    measure(r, &g, r->cells.data, r->rows);
    if (is_wide(r, &g))
        print_files(r);
    else
        print_rows(r, &g);
    if (g.statistics)
        print_definitions(r);
    gf_buffer_append(r->out, r->histograms.data, r->histograms.size);
}

const struct gf_report_layout gf_report_text = {NULL, row, end};
