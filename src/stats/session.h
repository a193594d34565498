/* A run that reports statistics: what is asked for, read once, and the report's rows. */
#ifndef GPUFILT_SRC_STATS_SESSION_H
#define GPUFILT_SRC_STATS_SESSION_H

#include "../cli.h"
#include "assert.h"
#include "collect.h"
#include "report.h"

struct gf_stats_session {
    const struct gf_request *request;
    const struct gf_stats_options *options;
    struct gf_columns columns;
    struct gf_assert assertion;
    struct gf_measuring how;
    struct gf_buffer text;
    struct gf_report report;
    struct gf_buffer no;        /* of each row for which the assertion did not hold, a message and
                                   a 0 */
    struct gf_stats pictured;   /* the row of which there will be a picture */
    struct gf_report_mark mark; /* where the file under way begins, */
    size_t mark_no;             /* and its messages */
};

/* GF_EUSAGE for what cannot be shown, or goes together with nothing else that is asked for. */
enum gf_status gf_stats_session_begin(struct gf_stats_session *s, const struct gf_request *request,
                                      struct gf_error *e);
/* The row of a file or a part of it; GF_NO_PART in page, channel, slice and label. */
struct gf_stats gf_stats_new(const char *file);
/* Rows belong to files: begin one, add its rows, end it with the status it came to. Of a file that
 * failed nothing is left: no row, no picture, no word about the assertion. Otherwise the picture is
 * drawn. Returns `status`, or what became of the picture. */
void gf_stats_session_file(struct gf_stats_session *s);
enum gf_status gf_stats_session_file_end(struct gf_stats_session *s, enum gf_status status,
                                         struct gf_error *e);
/* Measures a source; `stats` says what it is, and is used up. */
enum gf_status gf_stats_session_row(struct gf_stats_session *s, const struct gf_source *source,
                                    struct gf_stats *stats, struct gf_error *e);
/* Prints the report, and for which rows the assertion did not hold: the last message is the error
 * of GF_NO. */
enum gf_status gf_stats_session_end(struct gf_stats_session *s, bool to_stderr,
                                    struct gf_error *e);
/* Prints nothing; after an error. */
void gf_stats_session_drop(struct gf_stats_session *s);

#endif
