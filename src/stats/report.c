#include "report.h"

#include "report_layout.h"

static const struct gf_report_layout *layout(const struct gf_stats_options *options)
{
    static const struct gf_report_layout *const layouts[] = {
        [GF_LAYOUT_TEXT] = &gf_report_text,   [GF_LAYOUT_JSON] = &gf_report_json,
        [GF_LAYOUT_JSONL] = &gf_report_jsonl, [GF_LAYOUT_CSV] = &gf_report_table,
        [GF_LAYOUT_TSV] = &gf_report_table,
    };
    return layouts[options->layout];
}

enum gf_status gf_report_check(const struct gf_columns *columns,
                               const struct gf_stats_options *options, struct gf_error *e)
{
    if (options->plot && options->layout != GF_LAYOUT_TEXT)
        return gf_fail(e, GF_EUSAGE, "--plot draws bars in text; for a picture beside another "
                       "layout use --plot=FILE");
    if (options->layout != GF_LAYOUT_CSV && options->layout != GF_LAYOUT_TSV)
        return GF_OK;
    for (unsigned i = 0; i < columns->count && columns->count > 1; i++)
        if (columns->column[i].row->kind == GF_KIND_HISTOGRAM)
            return gf_fail(e, GF_EUSAGE, "%s: a histogram does not fit in a line beside other "
                           "statistics; use --json, or --show hist alone",
                           options->layout == GF_LAYOUT_CSV ? "--csv" : "--tsv");
    return GF_OK;
}

void gf_report_begin(struct gf_report *report, const struct gf_columns *columns,
                     const struct gf_stats_options *options, unsigned width, struct gf_buffer *out)
{
    *report = (struct gf_report){
        .columns = columns, .options = options, .width = width, .out = out};
    if (layout(options)->begin != NULL)
        layout(options)->begin(report);
}

void gf_report_row(struct gf_report *report, const struct gf_stats *stats)
{
    layout(report->options)->row(report, stats);
    report->rows++;
}

struct gf_report_mark gf_report_mark(const struct gf_report *r)
{
    return (struct gf_report_mark){r->out->size, r->cells.size, r->histograms.size, r->rows,
                                   r->left_out};
}

static void cut(struct gf_buffer *b, size_t size)
{
    if (b->size == size)
        return;
    b->size = size;
    b->data[size] = '\0';
}

void gf_report_rewind(struct gf_report *r, const struct gf_report_mark *mark)
{
    cut(r->out, mark->out);
    cut(&r->cells, mark->cells);
    cut(&r->histograms, mark->histograms);
    r->rows = mark->rows;
    r->left_out = mark->left_out;
}

enum gf_status gf_report_end(struct gf_report *report, struct gf_error *e)
{
    if (layout(report->options)->end != NULL)
        layout(report->options)->end(report);
    report->out->failed = report->out->failed || report->cells.failed || report->histograms.failed;
    gf_buffer_free(&report->cells);
    gf_buffer_free(&report->histograms);
    return gf_buffer_status(report->out, "the text of the statistics", e);
}
