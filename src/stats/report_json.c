#include "report_layout.h"

#include "../json.h"

#include <math.h>

static bool is_first(const struct gf_buffer *t)
{
    return t->size == 0 || t->data[t->size - 1] == '{';
}

static void part(struct gf_buffer *t, const struct gf_stats *stats, unsigned i)
{
    if (gf_stats_part(stats, i) == GF_NO_PART)
        return;
    gf_json_key(t, gf_part_names[i]);
    gf_buffer_printf(t, "%lld", (long long)gf_stats_part(stats, i));
}

/* ---- values ---- */

static void number(struct gf_buffer *t, const struct gf_value *value)
{
    char text[GF_I128_TEXT];
    if (value->kind == GF_VALUE_REAL && !isfinite(value->real))
        gf_buffer_text(t, "null");
    else
        gf_buffer_text(t, gf_value_text(text, value));
}

static void real(struct gf_buffer *t, const char *name, double value)
{
    struct gf_value v = {.kind = GF_VALUE_REAL, .real = value};
    gf_json_key(t, name);
    number(t, &v);
}

static void place(struct gf_buffer *t, const struct gf_stats *stats, const struct gf_place *at)
{
    struct gf_axis axis[GF_AXES];
    gf_place_axes(axis, stats, at);
    gf_buffer_text(t, "{");
    for (unsigned i = 0; i < GF_AXES; i++)
        if (axis[i].exists)
            gf_json_count(t, gf_axis_names[i], axis[i].at);
    gf_buffer_text(t, "}");
}

static void histogram(struct gf_buffer *t, const struct gf_histogram *h)
{
    if (h->kind == GF_BINS_NONE) {
        gf_buffer_text(t, "null");
        return;
    }
    gf_buffer_text(t, "{");
    gf_json_key(t, "kind");
    gf_buffer_json(t, h->kind == GF_BINS_VALUES ? "values" : "range");
    real(t, "low", h->low);
    real(t, "high", h->high);
    gf_json_count(t, "bins", h->bins);
    gf_json_key(t, "counts");
    for (uint32_t i = 0; i < h->bins; i++)
        gf_buffer_printf(t, "%s%llu", i == 0 ? "[" : ",", (unsigned long long)h->count[i]);
    gf_buffer_text(t, "]");
    gf_json_count(t, "below", h->below);
    gf_json_count(t, "above", h->above);
    gf_buffer_text(t, "}");
}

static void percentiles(struct gf_buffer *t, const struct gf_columns *columns,
                        const struct gf_stats *stats)
{
    gf_buffer_text(t, "{");
    for (unsigned i = 0; i < columns->count; i++) {
        const struct gf_column *c = &columns->column[i];
        struct gf_value value;
        if (c->row->kind != GF_KIND_PERCENTILE)
            continue;
        value = gf_column_value(c, stats);
        gf_json_key(t, c->name + 1);
        number(t, &value);
    }
    gf_buffer_text(t, "}");
}

/* ---- rows ---- */

static const char *column_key(const struct gf_column *c)
{
    return c->row->kind == GF_KIND_PERCENTILE  ? "percentiles"
           : c->row->kind == GF_KIND_HISTOGRAM ? "histogram"
                                               : c->name;
}

/* All percentiles go into one member, where the first of them is. */
static bool has_member(const struct gf_columns *columns, unsigned i)
{
    if (columns->column[i].row->kind == GF_KIND_PERCENTILE)
        for (unsigned k = 0; k < i; k++)
            if (columns->column[k].row->kind == GF_KIND_PERCENTILE)
                return false;
    return true;
}

static void statistic(struct gf_report *r, const struct gf_stats *stats, const struct gf_column *c)
{
    struct gf_value value = gf_column_value(c, stats);
    gf_json_key(r->out, column_key(c));
    if (c->row->kind == GF_KIND_PERCENTILE)
        percentiles(r->out, r->columns, stats);
    else if (value.kind == GF_VALUE_HISTOGRAM)
        histogram(r->out, &stats->histogram);
    else if (value.kind == GF_VALUE_PLACE)
        place(r->out, stats, value.place);
    else if (value.kind == GF_VALUE_NONE)
        gf_buffer_text(r->out, "null");
    else
        number(r->out, &value);
}

static void members(struct gf_report *r, const struct gf_stats *stats)
{
    struct gf_buffer *t = r->out;
    gf_json_key(t, "file");
    gf_buffer_json(t, stats->file);
    gf_json_key(t, "type");
    gf_buffer_json(t, gf_type_name(stats->type));
    gf_json_count(t, "width", stats->width);
    gf_json_count(t, "height", stats->height);
    gf_json_count(t, "depth", stats->depth);
    gf_json_count(t, "channels", stats->channels);
    gf_json_count(t, "pages", stats->pages);
    for (unsigned i = 0; i < GF_PARTS; i++)
        part(t, stats, i);
    for (unsigned i = 0; i < r->columns->count; i++)
        if (has_member(r->columns, i))
            statistic(r, stats, &r->columns->column[i]);
}

static void schema(struct gf_report *r)
{
    gf_buffer_text(r->out, "{");
    gf_json_key(r->out, "schema");
    gf_buffer_json(r->out, GF_STATS_SCHEMA);
    gf_json_count(r->out, "ddof", r->options->ddof);
}

static void begin_document(struct gf_report *r)
{
    schema(r);
    gf_buffer_text(r->out, ",\n\"definitions\": {");
    for (unsigned i = 0; i < r->columns->count; i++)
        if (has_member(r->columns, i)) {
            gf_buffer_text(r->out, is_first(r->out) ? "\n" : ",\n");
            gf_buffer_json(r->out, column_key(&r->columns->column[i]));
            gf_buffer_text(r->out, ": ");
            gf_buffer_json(r->out, r->columns->column[i].row->definition);
        }
    gf_buffer_text(r->out, "},\n\"results\": [");
}

static void document_row(struct gf_report *r, const struct gf_stats *stats)
{
    gf_buffer_text(r->out, r->rows == 0 ? "\n{" : ",\n{");
    members(r, stats);
    gf_buffer_text(r->out, "}");
}

static void end_document(struct gf_report *r)
{
    gf_buffer_text(r->out, "]}\n");
}

const struct gf_report_layout gf_report_json = {begin_document, document_row, end_document};

static void line_row(struct gf_report *r, const struct gf_stats *stats)
{
    schema(r);
    members(r, stats);
    gf_buffer_text(r->out, "}\n");
}

const struct gf_report_layout gf_report_jsonl = {NULL, line_row, NULL};
