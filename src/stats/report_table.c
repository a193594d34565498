/* CSV and TSV. */
#include "bins.h"
#include "report_layout.h"

#include <string.h>

/* ---- fields ---- */

static void quoted(struct gf_buffer *t, const char *text)
{
    gf_buffer_text(t, "\"");
    while (*text != '\0') {
        size_t length = strcspn(text, "\"");
        gf_buffer_append(t, text, length);
        text += length;
        if (*text == '"') {
            gf_buffer_text(t, "\"\"");
            text++;
        }
    }
    gf_buffer_text(t, "\"");
}

/* The first field of a line: the only one that may be any text. */
static void file_field(struct gf_report *r, const char *file)
{
    if (r->options->layout == GF_LAYOUT_TSV)
        gf_buffer_escaped(r->out, file, strlen(file));
    else if (file[strcspn(file, ",\"\r\n")] != '\0' || file[0] == ' ')
        quoted(r->out, file);
    else
        gf_buffer_text(r->out, file);
}

static void field(struct gf_report *r, const char *text)
{
    gf_buffer_text(r->out, r->options->layout == GF_LAYOUT_TSV ? "\t" : ",");
    gf_buffer_text(r->out, text);
}

static void count_field(struct gf_report *r, uint64_t count)
{
    field(r, "");
    gf_buffer_printf(r->out, "%llu", (unsigned long long)count);
}

static void real_field(struct gf_report *r, double value)
{
    char text[GF_NUMBER_TEXT];
    field(r, gf_format_double(text, value));
}

static void head_fields(struct gf_report *r, const struct gf_stats *stats)
{
    file_field(r, stats->file);
    for (unsigned i = 0; i < GF_PARTS; i++) {
        field(r, "");
        if (gf_stats_part(stats, i) != GF_NO_PART)
            gf_buffer_printf(r->out, "%lld", (long long)gf_stats_part(stats, i));
    }
}

/* ---- a histogram, a line a bin ---- */

static void outside_line(struct gf_report *r, const struct gf_stats *stats, bool below)
{
    head_fields(r, stats);
    if (below) {
        field(r, "");
        real_field(r, stats->histogram.low);
        count_field(r, stats->histogram.below);
    } else {
        real_field(r, stats->histogram.high);
        field(r, "");
        count_field(r, stats->histogram.above);
    }
    gf_buffer_text(r->out, "\n");
}

static void bin_lines(struct gf_report *r, const struct gf_stats *stats)
{
    const struct gf_histogram *h = &stats->histogram;
    if (h->kind == GF_BINS_NONE)
        return;
    if (h->kind == GF_BINS_RANGE)
        outside_line(r, stats, true);
    for (uint32_t i = 0; i < h->bins; i++) {
        head_fields(r, stats);
        real_field(r, gf_bin_low(h, i));
        real_field(r, gf_bin_high(h, i));
        count_field(r, h->count[i]);
        gf_buffer_text(r->out, "\n");
    }
    if (h->kind == GF_BINS_RANGE)
        outside_line(r, stats, false);
}

/* ---- statistics, a line a row ---- */

static bool histogram_alone(const struct gf_report *r)
{
    return r->columns->count == 1 && r->columns->column[0].row->kind == GF_KIND_HISTOGRAM;
}

static void place_names(struct gf_report *r, const char *name)
{
    const int length = (int)(strlen(name) - strlen("_at"));
    for (unsigned i = 0; i < GF_AXES; i++) {
        field(r, "");
        gf_buffer_printf(r->out, "%.*s_%s", length, name, gf_axis_names[i]);
    }
}

static void header(struct gf_report *r)
{
    gf_buffer_text(r->out, "file");
    for (unsigned i = 0; i < GF_PARTS; i++)
        field(r, gf_part_names[i]);
    for (unsigned i = 0; i < r->columns->count && !histogram_alone(r); i++) {
        const struct gf_column *c = &r->columns->column[i];
        if (c->row->kind == GF_KIND_PLACE)
            place_names(r, c->name);
        else
            field(r, c->name);
    }
    if (histogram_alone(r)) {
        field(r, "low");
        field(r, "high");
        field(r, "count");
    }
    gf_buffer_text(r->out, "\n");
}

static void place_fields(struct gf_report *r, const struct gf_stats *stats,
                         const struct gf_place *place)
{
    struct gf_axis axis[GF_AXES] = {{0}};
    if (place != NULL)
        gf_place_axes(axis, stats, place);
    for (unsigned i = 0; i < GF_AXES; i++)
        if (axis[i].exists)
            count_field(r, axis[i].at);
        else
            field(r, "");
}

static void row(struct gf_report *r, const struct gf_stats *stats)
{
    char text[GF_I128_TEXT];
    if (histogram_alone(r)) {
        bin_lines(r, stats);
        return;
    }
    head_fields(r, stats);
    for (unsigned i = 0; i < r->columns->count; i++) {
        struct gf_value value = gf_column_value(&r->columns->column[i], stats);
        if (r->columns->column[i].row->kind == GF_KIND_PLACE)
            place_fields(r, stats, value.place);
        else
            field(r, gf_value_text(text, &value));
    }
    gf_buffer_text(r->out, "\n");
}

const struct gf_report_layout gf_report_table = {header, row, NULL};
