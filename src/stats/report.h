/* Statistics as text for people, JSON or tables, one row after the other.
 *
 * TEXT. One row is a list, a line a statistic; several are a table with a header, a line a row.
 * Where a table of several files would be wider than the terminal, or than 100 columns when there
 * is none, each file has a list or table of its own. Then come histograms and bars, each under its
 * title. Real numbers have up to 10 digits.
 *
 * JSON, strict (RFC 8259): {"schema": "gpufilt-stats-1", "ddof": 1, "definitions": {...},
 * "results": [ROW...]}; JSON lines: a line a row, {"schema": ..., "ddof": ..., ROW's members}. A
 * row has file, type, width, height, depth, channels, pages; of page, channel, slice and label what
 * it is one of; then the statistics by their names, but
 *     "percentiles": {"1": 12.5, "99.9": 800}
 *     "min_at": {"x": 3, "y": 4} and z, channel, page where the image has them; null when n = 0
 *     "histogram": {"kind": "values"|"range", "low": ..., "high": ..., "bins": ...,
 *                   "counts": [...], "below": ..., "above": ...}; null where there is none.
 * Doubles have the digits that read back as the same double; integers are whole, also beyond 2^53
 * (JSON sets no limit, though a reader may round them). NaN and infinities are null.
 *
 * CSV (RFC 4180 with \n; names of files byte for byte) and TSV (no quotes; control characters and
 * what is not UTF-8 as \xNN): a header, then a line a row: file, page, channel, slice and label
 * (empty where rows are not divided by that), then the statistics; min_at is min_x, min_y, min_z,
 * min_channel and min_page (empty when n = 0, or when the image lacks the axis). NaN and infinities
 * are nan, inf and -inf. A histogram does not fit in a line: --show hist alone gives the lines
 * file, page, channel, slice, label, low, high, count, a line a bin; for values low = high; the
 * counts below and above a range have no low or no high. */
#ifndef GPUFILT_SRC_STATS_REPORT_H
#define GPUFILT_SRC_STATS_REPORT_H

#include "columns.h"
#include "stats.h"

#include "../text.h"

#define GF_STATS_SCHEMA "gpufilt-stats-1"

struct gf_report {
    const struct gf_columns *columns;
    const struct gf_stats_options *options;
    struct gf_buffer *out;
    unsigned width;             /* of the terminal in columns; 0: there is none */
    uint64_t rows;
    /* Text waits for the last row. */
    struct gf_buffer cells;     /* row by row, the file and what is in its line; each with a 0 */
    struct gf_buffer histograms;
    bool left_out;              /* there were NaN or infinities */
};

/* GF_EUSAGE when the layout cannot show what is asked for. */
enum gf_status gf_report_check(const struct gf_columns *columns,
                               const struct gf_stats_options *options, struct gf_error *e);
/* `columns`, `options` and `out`, to which is appended, must stay until gf_report_end. Between rows
 * the caller may print and empty `out`. Needs gf_report_check. */
void gf_report_begin(struct gf_report *report, const struct gf_columns *columns,
                     const struct gf_stats_options *options, unsigned width,
                     struct gf_buffer *out);
/* `stats` need not stay. */
void gf_report_row(struct gf_report *report, const struct gf_stats *stats);

/* A place of the report to go back to. */
struct gf_report_mark {
    size_t out, cells, histograms;
    uint64_t rows;
    bool left_out;
};

struct gf_report_mark gf_report_mark(const struct gf_report *report);
/* Takes back the rows since then; `out` must not have been emptied in between. */
void gf_report_rewind(struct gf_report *report, const struct gf_report_mark *mark);

/* Completes the text and releases the report; GF_EMEMORY when some of it is missing. */
enum gf_status gf_report_end(struct gf_report *report, struct gf_error *e);

#endif
