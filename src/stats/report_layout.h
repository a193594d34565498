/* What a layout of the report is. For report*.c alone. */
#ifndef GPUFILT_SRC_STATS_REPORT_LAYOUT_H
#define GPUFILT_SRC_STATS_REPORT_LAYOUT_H

#include "report.h"

struct gf_report_layout {
    void (*begin)(struct gf_report *report);    /* may be NULL, like end */
    void (*row)(struct gf_report *report, const struct gf_stats *stats);
    void (*end)(struct gf_report *report);
};

extern const struct gf_report_layout gf_report_text, gf_report_json, gf_report_jsonl,
    gf_report_table;

#endif
