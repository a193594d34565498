/* A table of text for people: cells first, then the widths. */
#ifndef GPUFILT_SRC_BENCH_TABLE_H
#define GPUFILT_SRC_BENCH_TABLE_H

#include "../text.h"

enum { GF_TABLE_COLUMNS = 16 };         /* most */

struct gf_table {
    const char *title[GF_TABLE_COLUMNS]; /* those that begin with '<' are aligned to the left */
    unsigned columns;
    struct gf_buffer cells;             /* row by row, each with a 0 */
};

/* The titles must stay until the end. */
void gf_table_begin(struct gf_table *t, const char *const *titles, unsigned columns);
void gf_table_cell(struct gf_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "-" when it is NaN. */
void gf_table_real(struct gf_table *t, int decimals, double value, const char *unit);
/* The rest of the row is this text. */
void gf_table_rest(struct gf_table *t, const char *text);
/* Appends the table, each line after two blanks, and releases it. Columns are two blanks apart;
 * those without a cell that says anything ("-") in any row are left out. */
void gf_table_end(struct gf_table *t, struct gf_buffer *out);

#endif
