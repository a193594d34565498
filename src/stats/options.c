#include "options.h"

#include "../text.h"

#include <math.h>
#include <string.h>

/* Numbers with commas between them, at most `room`; how many, 0 when something is none. */
static unsigned parse_numbers(const char *value, double *number, unsigned room)
{
    unsigned count = 0;
    for (const char *s = value;; s++) {
        size_t length = strcspn(s, ",");
        char text[64];
        if (count == room || length >= sizeof text)
            return 0;
        memcpy(text, s, length);
        text[length] = '\0';
        if (!gf_parse_double(text, false, &number[count]))
            return 0;
        count++;
        s += length;
        if (*s == '\0')
            return count;
    }
}

static enum gf_status take_percentiles(struct gf_stats_options *o, const char *value,
                                       struct gf_error *e)
{
    o->percentiles = parse_numbers(value, o->percentile, GF_PERCENTILES);
    for (unsigned i = 0; i < o->percentiles; i++)
        if (!(o->percentile[i] >= 0 && o->percentile[i] <= 100))
            o->percentiles = 0;
    if (o->percentiles == 0)
        return gf_fail(e, GF_EUSAGE, "--percentiles '%s': expected numbers from 0 to 100 with "
                       "commas between them, at most %d, for example 1,50,99.9", value,
                       GF_PERCENTILES);
    return GF_OK;
}

static enum gf_status take_range(struct gf_stats_options *o, const char *value, struct gf_error *e)
{
    double limits[2];
    if (parse_numbers(value, limits, 2) != 2 || !(limits[0] < limits[1]) ||
        !isfinite(limits[1] - limits[0]))
        return gf_fail(e, GF_EUSAGE, "--range '%s': expected two numbers, the smaller first, for "
                       "example 0,4095", value);
    o->range_given = true;
    o->low = limits[0];
    o->high = limits[1];
    return GF_OK;
}

static enum gf_status take_per(struct gf_stats_options *o, const char *value, struct gf_error *e)
{
    static const char *const names[] = {[GF_PER_FILE] = "file", [GF_PER_PAGE] = "page",
                                        [GF_PER_CHANNEL] = "channel", [GF_PER_SLICE] = "slice"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            o->per = (enum gf_per)i;
            return GF_OK;
        }
    return gf_fail(e, GF_EUSAGE, "--per '%s': expected file, page, channel or slice", value);
}

static enum gf_status take_layout(struct gf_stats_options *o, enum gf_stats_layout layout,
                                  struct gf_error *e)
{
    if (o->layout != GF_LAYOUT_TEXT && o->layout != layout)
        return gf_fail(e, GF_EUSAGE, "--json, --jsonl, --csv and --tsv exclude each other; give "
                       "one");
    o->layout = layout;
    return GF_OK;
}

static enum gf_status take_plot(struct gf_stats_options *o, const char *value, struct gf_error *e)
{
    if (value && *value == '\0')
        return gf_fail(e, GF_EUSAGE, "--plot=: the name is empty; name a file, or say --plot for "
                       "bars of text");
    o->plot = o->plot || !value;
    o->plot_file = value ? value : o->plot_file;
    return GF_OK;
}

enum gf_status gf_stats_take(struct gf_request *r, enum gf_option_id id, const char *value,
                             struct gf_error *e)
{
    struct gf_stats_options *o = &r->stats;
    uint64_t number;
    switch (id) {
    case GF_OPTION_SHOW: o->show = value; return GF_OK;
    case GF_OPTION_OUTPUT_STATS:
        r->stats_wanted = true;
        o->show = value;
        o->of_filter = true;
        return GF_OK;
    case GF_OPTION_STATS_MASK: o->mask = value; return GF_OK;
    case GF_OPTION_LABELS: o->labels = value; return GF_OK;
    case GF_OPTION_ASSERT: o->assertion = value; return GF_OK;
    case GF_OPTION_PERCENTILES: return take_percentiles(o, value, e);
    case GF_OPTION_PER: return take_per(o, value, e);
    case GF_OPTION_RANGE: return take_range(o, value, e);
    case GF_OPTION_PLOT: return take_plot(o, value, e);
    case GF_OPTION_JSON: return take_layout(o, GF_LAYOUT_JSON, e);
    case GF_OPTION_JSONL: return take_layout(o, GF_LAYOUT_JSONL, e);
    case GF_OPTION_CSV: return take_layout(o, GF_LAYOUT_CSV, e);
    case GF_OPTION_TSV: return take_layout(o, GF_LAYOUT_TSV, e);
    case GF_OPTION_BINS:
        if (!gf_parse_u64(value, &number) || number < 1 || number > GF_MOST_BINS)
            return gf_fail(e, GF_EUSAGE, "--bins '%s': expected a whole number from 1 to %d", value,
                           GF_MOST_BINS);
        o->bins = (uint32_t)number;
        return GF_OK;
    case GF_OPTION_DDOF:
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
            return gf_fail(e, GF_EUSAGE, "--ddof '%s': expected 0 or 1", value);
        o->ddof = (unsigned)(*value - '0');
        return GF_OK;
    default: return GF_OK;
    }
}
