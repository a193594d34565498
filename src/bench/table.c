#include "table.h"

#include "../util.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Begins a cell that fills the rest of its row. */
#define REST '\1'

void gf_table_begin(struct gf_table *t, const char *const *titles, unsigned columns)
{
    *t = (struct gf_table){.columns = columns};
    for (unsigned i = 0; i < columns; i++)
        t->title[i] = titles[i];
}

void gf_table_cell(struct gf_table *t, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    gf_buffer_append(&t->cells, text, strlen(text) + 1);
}

void gf_table_real(struct gf_table *t, int decimals, double value, const char *unit)
{
    if (isnan(value))
        gf_table_cell(t, "-");
    else
        gf_table_cell(t, "%.*f%s", decimals, value, unit);
}

void gf_table_rest(struct gf_table *t, const char *text)
{
    const char rest[] = {REST, '\0'};
    gf_buffer_text(&t->cells, rest);
    gf_buffer_append(&t->cells, text, strlen(text) + 1);
}

static bool is_left(const struct gf_table *t, unsigned column) { return *t->title[column] == '<'; }

static const char *title(const struct gf_table *t, unsigned column)
{
    return t->title[column] + is_left(t, column);
}

static void put(struct gf_buffer *out, const char *text, int width, bool left, bool last)
{
    if (left && last)
        gf_buffer_printf(out, "  %s", text);
    else
        gf_buffer_printf(out, left ? "  %-*s" : "  %*s", width, text);
}

void gf_table_end(struct gf_table *t, struct gf_buffer *out)
{
    const char *cell = t->cells.data, *end = cell + t->cells.size;
    int width[GF_TABLE_COLUMNS] = {0};  /* 0: left out */
    unsigned column = 0, last = 0;

    out->failed = out->failed || t->cells.failed;
    if (t->cells.size == 0 || t->cells.failed)
        return gf_buffer_free(&t->cells);
    for (; cell < end; cell += strlen(cell) + 1) {
        if (*cell != REST && strcmp(cell, "-") != 0)
            width[column] = (int)gf_max((uint64_t)width[column], strlen(cell));
        column = *cell == REST ? 0 : (column + 1) % t->columns;
    }
    for (unsigned i = 0; i < t->columns; i++)
        if (width[i] > 0) {
            width[i] = (int)gf_max((uint64_t)width[i], strlen(title(t, i)));
            last = i;
        }
    for (unsigned i = 0; i <= last; i++)
        if (width[i] > 0)
            put(out, title(t, i), width[i], is_left(t, i), i == last);
    column = 0;
    for (cell = t->cells.data; cell < end; cell += strlen(cell) + 1) {
        if (column == 0)
            gf_buffer_text(out, "\n");
        if (*cell == REST)
            gf_buffer_printf(out, "  %s", cell + 1);
        else if (width[column] > 0)
            put(out, cell, width[column], is_left(t, column), column == last);
        column = *cell == REST ? 0 : (column + 1) % t->columns;
    }
    gf_buffer_text(out, "\n");
    gf_buffer_free(&t->cells);
}
