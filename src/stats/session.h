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
    uint64_t rows;
    struct gf_error no;         /* the last row for which the assertion did not hold, or "" */
};

/* GF_EUSAGE for what cannot be shown, or goes together with nothing else that is asked for. */
enum gf_status gf_stats_session_begin(struct gf_stats_session *s, const struct gf_request *request,
                                      struct gf_error *e);
/* The row of a file or a part of it; GF_NO_PART in page, channel, slice and label. */
struct gf_stats gf_stats_new(const char *file);
/* Measures a source; `stats` says what it is, and is used up. */
enum gf_status gf_stats_session_row(struct gf_stats_session *s, const struct gf_source *source,
                                    struct gf_stats *stats, struct gf_error *e);
/* Prints the report. Then GF_NO, and the message, when an assertion did not hold. */
enum gf_status gf_stats_session_end(struct gf_stats_session *s, bool to_stderr,
                                    struct gf_error *e);
/* Prints nothing; after an error. */
void gf_stats_session_drop(struct gf_stats_session *s);

#endif
