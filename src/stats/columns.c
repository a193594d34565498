#include "columns.h"

#include "../util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct gf_column_row gf_column_rows[GF_COLUMN_COUNT] = {
#define COLUMN(id, name, group, kind, value, definition) \
    {GF_COLUMN_##id, name, GF_GROUP_##group, GF_KIND_##kind, definition},
#include "columns.def"
#undef COLUMN
};

/* ---- names ---- */

/* "p99.9" and the like; false when it is no such name. */
static bool percentile_name(const char *name, double *p)
{
    return name[0] == 'p' && (gf_is_digit(name[1]) || name[1] == '.') &&
           gf_parse_double(name + 1, false, p);
}

static void percentile_column(struct gf_column *column, double p)
{
    char number[GF_NUMBER_TEXT];
    *column = (struct gf_column){.row = &gf_column_rows[GF_COLUMN_PERCENTILE]};
    column->p = p == 0 ? 0 : p; /* not -0 */
    snprintf(column->name, sizeof column->name, "p%s", gf_format_double(number, column->p));
}

static void table_column(struct gf_column *column, enum gf_column_id id)
{
    *column = (struct gf_column){.row = &gf_column_rows[id]};
    strcpy(column->name, gf_column_rows[id].name);
}

static bool is_number(const struct gf_column_row *row)
{
    return row->kind != GF_KIND_PLACE && row->kind != GF_KIND_HISTOGRAM;
}

/* Offers what the option can take: a list all of them, --assert the numbers. */
static enum gf_status unknown_name(const char *name, const char *option, struct gf_error *e)
{
    const bool shown = strcmp(option, "--assert") != 0;
    const char *names[GF_COLUMN_COUNT], *closest;
    struct gf_error list = {""};
    size_t used = 0, count = 0;

    for (size_t i = 0; i < GF_COLUMN_COUNT; i++) {
        if (!shown && !is_number(&gf_column_rows[i]))
            continue;
        if (i != GF_COLUMN_PERCENTILE) /* "pNN" itself is no name */
            names[count++] = gf_column_rows[i].name;
        used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s%s",
                                 used > 0 ? ", " : "", gf_column_rows[i].name);
    }
    if (shown)
        names[count++] = "all";
    closest = gf_closest(name, names, count);
    if (closest != NULL)
        return gf_fail(e, GF_EUSAGE, "%s: there is no statistic '%s'; did you mean '%s'?", option,
                       name, closest);
    return gf_fail(e, GF_EUSAGE, "%s: there is no statistic '%s'; there are %s%s", option, name,
                   list.text, shown ? ", all" : "");
}

enum gf_status gf_column_find(struct gf_column *column, const char *name, size_t length,
                              const char *option, struct gf_error *e)
{
    char word[64];
    double p;

    snprintf(word, sizeof word, "%.*s", (int)gf_min(length, sizeof word), name);
    if (length >= sizeof word)
        gf_cut_short(word);
    if (percentile_name(word, &p)) {
        if (p > 100)
            return gf_fail(e, GF_EUSAGE, "%s: %s: percentiles are 0 to 100", option, word);
        percentile_column(column, p);
        return GF_OK;
    }
    for (int i = 0; i < GF_COLUMN_COUNT; i++)
        if (i != GF_COLUMN_PERCENTILE && strcmp(gf_column_rows[i].name, word) == 0) {
            table_column(column, gf_column_rows[i].id);
            return GF_OK;
        }
    return unknown_name(word, option, e);
}

/* ---- what must be computed ---- */

static enum gf_status need_percentile(struct gf_columns *columns, double p, struct gf_error *e)
{
    unsigned at = 0;
    while (at < columns->percentiles && columns->percentile[at] < p)
        at++;
    if (at < columns->percentiles && columns->percentile[at] == p)
        return GF_OK;
    if (columns->percentiles == GF_PERCENTILES)
        return gf_fail(e, GF_EUSAGE, "more than %d percentiles; ask for fewer", GF_PERCENTILES);
    memmove(columns->percentile + at + 1, columns->percentile + at,
            (columns->percentiles - at) * sizeof *columns->percentile);
    columns->percentile[at] = p;
    columns->percentiles++;
    return GF_OK;
}

enum gf_status gf_columns_need(struct gf_columns *columns, const struct gf_column *column,
                               struct gf_error *e)
{
    switch (column->row->group) {
    case GF_GROUP_MOMENTS:
        columns->need_moments = true;
        break;
    case GF_GROUP_MEDIAN:
        columns->need_median = true;
        break;
    case GF_GROUP_PERCENTILES:
        return need_percentile(columns, column->p, e);
    case GF_GROUP_HISTOGRAM:
        columns->need_histogram = true;
        break;
    }
    return GF_OK;
}

/* ---- what is shown ---- */

/* Once: a name that is there already stays where it is. */
static enum gf_status show(struct gf_columns *columns, const struct gf_column *column,
                           struct gf_error *e)
{
    for (unsigned i = 0; i < columns->count; i++)
        if (columns->column[i].row == column->row && columns->column[i].p == column->p)
            return GF_OK;
    GF_TRY(gf_columns_need(columns, column, e));
    columns->column[columns->count++] = *column;
    return GF_OK;
}

static enum gf_status show_all(struct gf_columns *columns, struct gf_error *e)
{
    struct gf_column column;
    for (int i = 0; i < GF_COLUMN_COUNT; i++) {
        if (i == GF_COLUMN_PERCENTILE || i == GF_COLUMN_HIST)
            continue;
        table_column(&column, gf_column_rows[i].id);
        GF_TRY(show(columns, &column, e));
    }
    return GF_OK;
}

static enum gf_status show_list(struct gf_columns *columns, const char *list, const char *option,
                                struct gf_error *e)
{
    struct gf_column column;
    for (;;) {
        size_t length;
        list += strspn(list, " ");
        length = strcspn(list, ", ");
        if (length == 0)
            return gf_fail(e, GF_EUSAGE, "%s: a name is missing before '%s'; names have commas "
                           "between them", option, *list ? list : "the end");
        if (length == 3 && strncmp(list, "all", 3) == 0) {
            GF_TRY(show_all(columns, e));
        } else {
            GF_TRY(gf_column_find(&column, list, length, option, e));
            GF_TRY(show(columns, &column, e));
        }
        list += length;
        list += strspn(list, " ");
        if (*list == '\0')
            return GF_OK;
        if (*list++ != ',')
            return gf_fail(e, GF_EUSAGE, "%s: a comma is missing before '%s'", option, list - 1);
    }
}

static enum gf_status show_defaults(struct gf_columns *columns,
                                    const struct gf_stats_options *options, struct gf_error *e)
{
    static const enum gf_column_id defaults[] = {
        GF_COLUMN_N, GF_COLUMN_N_NAN, GF_COLUMN_N_INF, GF_COLUMN_MIN, GF_COLUMN_MIN_AT,
        GF_COLUMN_MAX, GF_COLUMN_MAX_AT, GF_COLUMN_SUM, GF_COLUMN_MEAN, GF_COLUMN_STD,
        GF_COLUMN_MEDIAN,
    };
    struct gf_column column;

    for (size_t i = 0; i < GF_COUNT(defaults); i++) {
        table_column(&column, defaults[i]);
        column.quiet = defaults[i] == GF_COLUMN_N_NAN || defaults[i] == GF_COLUMN_N_INF;
        GF_TRY(show(columns, &column, e));
    }
    if ((options->bins || options->range_given) && !options->plot && !options->plot_file) {
        table_column(&column, GF_COLUMN_HIST);
        GF_TRY(show(columns, &column, e));
    }
    return GF_OK;
}

enum gf_status gf_columns_parse(const struct gf_stats_options *options,
                                struct gf_columns *columns, struct gf_error *e)
{
    *columns = (struct gf_columns){0};
    if (options->show != NULL)
        GF_TRY(show_list(columns, options->show, options->of_filter ? "--stats" : "--show", e));
    else
        GF_TRY(show_defaults(columns, options, e));
    for (unsigned i = 0; i < options->percentiles; i++) {
        struct gf_column column;
        percentile_column(&column, options->percentile[i]);
        GF_TRY(show(columns, &column, e));
    }
    if (options->plot || options->plot_file)
        columns->need_histogram = true;
    if ((options->bins || options->range_given) && !columns->need_histogram)
        return gf_fail(e, GF_EUSAGE, "%s: nothing that is shown has bins; add hist or entropy to "
                       "--show", options->bins ? "--bins" : "--range");
    return GF_OK;
}

/* ---- values ---- */

static struct gf_value real_value(double real)
{
    return (struct gf_value){.kind = GF_VALUE_REAL, .real = real};
}

static struct gf_value whole_value(struct gf_i128 whole)
{
    return (struct gf_value){.kind = GF_VALUE_WHOLE, .whole = whole};
}

static struct gf_value count_value(uint64_t count)
{
    return whole_value((struct gf_i128){.low = count});
}

/* Integer samples are integers in double; without any samples there is NaN. */
static struct gf_value sample_value(const struct gf_stats *s, double sample)
{
    int64_t whole;
    if (gf_type_row(s->type)->is_float || s->n == 0)
        return real_value(sample);
    whole = (int64_t)sample;
    return whole_value((struct gf_i128){(uint64_t)whole, whole < 0 ? UINT64_MAX : 0});
}

static struct gf_value place_value(const struct gf_stats *s, const struct gf_place *place)
{
    if (s->n == 0)
        return (struct gf_value){.kind = GF_VALUE_NONE};
    return (struct gf_value){.kind = GF_VALUE_PLACE, .place = place};
}

static struct gf_value percentile_value(const struct gf_stats *s, const double *values, double p)
{
    for (unsigned i = 0; i < s->percentiles; i++)
        if (s->p[i] == p)
            return real_value(values[i]);
    return real_value((double)NAN);
}

struct gf_value gf_column_value(const struct gf_column *column, const struct gf_stats *s)
{
#define VALUE_COUNT(value) count_value(value)
#define VALUE_SAMPLE(value) sample_value(s, value)
#define VALUE_SUM(value) s->exact_sum ? whole_value(s->whole_sum) : real_value(value)
#define VALUE_REAL(value) real_value(value)
#define VALUE_PERCENTILE(value) percentile_value(s, value, column->p)
#define VALUE_PLACE(value) place_value(s, &(value))
#define VALUE_HISTOGRAM(value) (struct gf_value){.kind = GF_VALUE_HISTOGRAM}
    switch (column->row->id) {
#define COLUMN(id, name, group, kind, value, definition) \
    case GF_COLUMN_##id:                                 \
        return VALUE_##kind(value);
#include "columns.def"
#undef COLUMN
    default:
        return (struct gf_value){.kind = GF_VALUE_NONE};
    }
}

const char *gf_value_text(char text[GF_I128_TEXT], const struct gf_value *value)
{
    switch (value->kind) {
    case GF_VALUE_WHOLE:
        return gf_i128_text(text, value->whole);
    case GF_VALUE_REAL:
        /* A NaN may have a sign, which would be printed. */
        return isnan(value->real) ? strcpy(text, "nan") : gf_format_double(text, value->real);
    default:
        return strcpy(text, "");
    }
}

/* ---- rows and places ---- */

const char *const gf_part_names[GF_PARTS] = {"page", "channel", "slice", "label"};

int64_t gf_stats_part(const struct gf_stats *stats, unsigned part)
{
    const int64_t parts[GF_PARTS] = {stats->page, stats->channel, stats->slice, stats->label};
    return parts[part];
}

void gf_stats_part_text(struct gf_buffer *text, const struct gf_stats *stats)
{
    for (unsigned i = 0; i < GF_PARTS; i++)
        if (gf_stats_part(stats, i) != GF_NO_PART)
            gf_buffer_printf(text, ", %s %lld", gf_part_names[i],
                             (long long)gf_stats_part(stats, i));
}

const char *const gf_axis_names[GF_AXES] = {"x", "y", "z", "channel", "page"};

void gf_place_axes(struct gf_axis axis[GF_AXES], const struct gf_stats *stats,
                   const struct gf_place *place)
{
    axis[0] = (struct gf_axis){place->x, true};
    axis[1] = (struct gf_axis){place->y, true};
    /* Where rows are divided by an axis the first has a place on it, as the others have. */
    axis[2] = (struct gf_axis){place->z, stats->depth > 1 || stats->volume || place->z > 0 ||
                                         stats->slice != GF_NO_PART};
    axis[3] = (struct gf_axis){place->channel, stats->channels > 1 || place->channel > 0 ||
                                               stats->channel != GF_NO_PART};
    axis[4] = (struct gf_axis){place->page, stats->pages > 1 || place->page > 0 ||
                                            stats->page != GF_NO_PART};
}
