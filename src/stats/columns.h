/* The statistics by name: which are shown, in which order, what must be computed for them, and
 * their values. columns.def is the table. */
#ifndef GPUFILT_SRC_STATS_COLUMNS_H
#define GPUFILT_SRC_STATS_COLUMNS_H

#include "stats.h"
#include "wide.h"

#include "../text.h"

#include <stddef.h>

/* ---- the table ---- */

enum gf_column_id {
#define COLUMN(id, name, group, kind, value, definition) GF_COLUMN_##id,
#include "columns.def"
#undef COLUMN
    GF_COLUMN_COUNT
};

/* What has to be found for a statistic. */
enum gf_column_group {
    GF_GROUP_MOMENTS,           /* counts, extremes and sums: one pass */
    GF_GROUP_MEDIAN,
    GF_GROUP_PERCENTILES,
    GF_GROUP_HISTOGRAM
};

enum gf_column_kind {
    GF_KIND_COUNT,              /* an integer */
    GF_KIND_SAMPLE,             /* an integer when the samples are */
    GF_KIND_SUM,                /* an integer when it is known to the last digit */
    GF_KIND_REAL,
    GF_KIND_PERCENTILE,         /* a real, with a number in its name */
    GF_KIND_PLACE,
    GF_KIND_HISTOGRAM
};

struct gf_column_row {
    enum gf_column_id id;
    const char *name;           /* "pNN" stands for every percentile */
    enum gf_column_group group;
    enum gf_column_kind kind;
    const char *definition;     /* one line */
};

extern const struct gf_column_row gf_column_rows[GF_COLUMN_COUNT];

/* ---- what is shown and computed ---- */

struct gf_column {
    const struct gf_column_row *row;
    double p;                   /* of a percentile */
    char name[GF_NUMBER_TEXT + 1]; /* "p99.9" */
    bool quiet;                 /* in text, hidden where it is 0 */
};

#define GF_COLUMNS ((int)GF_COLUMN_COUNT + GF_PERCENTILES)

struct gf_columns {
    unsigned count;
    struct gf_column column[GF_COLUMNS]; /* no two the same */
    bool need_moments, need_median, need_histogram;
    unsigned percentiles;
    double percentile[GF_PERCENTILES]; /* needed: ascending, no two the same */
};

/* Which columns the options show. --show lists names with commas between them; `all` is every
 * statistic but percentiles and hist. By default these are n, n_nan and n_inf (quiet), min, min_at,
 * max, max_at, sum, mean, std and median, and hist where --bins or --range ask for it and no plot
 * does. The percentiles of -p follow. GF_EUSAGE for a name that is none, and for --bins or --range
 * that nothing uses. */
enum gf_status gf_columns_parse(const struct gf_stats_options *options,
                                struct gf_columns *columns, struct gf_error *e);
/* The statistic of a name of `length` bytes, not `all`; GF_EUSAGE with a suggestion when there is
 * none. `option` is where the name stands, for the message. */
enum gf_status gf_column_find(struct gf_column *column, const char *name, size_t length,
                              const char *option, struct gf_error *e);
/* Marks what has to be found for a statistic; GF_EUSAGE when there are too many percentiles. */
enum gf_status gf_columns_need(struct gf_columns *columns, const struct gf_column *column,
                               struct gf_error *e);

/* ---- values ---- */

enum gf_value_kind {
    GF_VALUE_NONE,              /* a place where there are no samples */
    GF_VALUE_WHOLE,
    GF_VALUE_REAL,
    GF_VALUE_PLACE,
    GF_VALUE_HISTOGRAM
};

struct gf_value {
    enum gf_value_kind kind;
    struct gf_i128 whole;
    double real;
    const struct gf_place *place; /* in the gf_stats */
};

/* A percentile that was not computed is NaN. */
struct gf_value gf_column_value(const struct gf_column *column, const struct gf_stats *stats);
/* All digits of a number: integers whole, doubles as short as they read back; "nan", "inf" and
 * "-inf". "" for what is no number. Returns `text`. */
const char *gf_value_text(char text[GF_I128_TEXT], const struct gf_value *value);

/* ---- which row this is ---- */

/* What a row may be one of: page, channel, slice and label, in this order. */
#define GF_PARTS 4
extern const char *const gf_part_names[GF_PARTS];
/* Its number, or GF_NO_PART. */
int64_t gf_stats_part(const struct gf_stats *stats, unsigned part);
/* Appends ", page 0, channel 2": nothing for a whole file. */
void gf_stats_part_text(struct gf_buffer *text, const struct gf_stats *stats);

/* ---- places ---- */

struct gf_axis {
    uint64_t at;
    bool exists;                /* x, y; others that the image extends along, as far as is known
                                 * from a region of it */
};

/* x, y, z, channel and page, in this order. */
#define GF_AXES 5
extern const char *const gf_axis_names[GF_AXES];
void gf_place_axes(struct gf_axis axis[GF_AXES], const struct gf_stats *stats,
                   const struct gf_place *place);

#endif
