/* One panel a ladder, one below the other; in each a bar a step, from the left. */
#include "report.h"

#include "../picture.h"

#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 800,
    LEFT = 240,                 /* where bars begin; the steps' names stand before */
    RIGHT = 700,                /* where the longest ends; its number stands behind */
    MARGIN = 16,
    HEAD = 34,                  /* a panel's title */
    ROW = 24,
    BAR = 16,                   /* its height */
    MOST_PANELS = 2 * GF_LADDERS
};

struct panel {
    const struct gf_bench_table *table;
    const struct gf_gpu *model; /* NULL: timed */
    const char *unit;
    double value[GF_STEPS];     /* in that unit; NaN: none */
    double largest;             /* above 0 */
    char title[96];
    int top;
};

struct picture {
    struct panel panel[MOST_PANELS];
    unsigned count;
    int height;
    char title[300];
};

/* What the model allows: the larger of its two times. */
static double seconds(const struct panel *p, const struct gf_ladder_run *r)
{
    if (!p->model)
        return r->seconds;
    return fmax(gf_gpu_issue_time(p->model, &r->counts), gf_gpu_memory_time(p->model, &r->counts));
}

static void add_panel(struct picture *pic, const struct gf_bench_table *table,
                      const struct gf_gpu *model)
{
    struct panel *p = &pic->panel[pic->count++];
    const enum gf_ladder ladder = table->work.ladder;
    const bool flops = ladder == GF_CONV2D || ladder == GF_CONV3D;
    *p = (struct panel){.table = table, .model = model, .top = pic->height,
                        .unit = flops ? "GFLOP/s" : "GB/s"};
    snprintf(p->title, sizeof p->title, "%s %s%s", gf_ladder_names[ladder], p->unit,
             model ? " at most by the model" : "");
    for (unsigned i = 0; i < table->count; i++) {
        const struct gf_ladder_run *r = &table->row[i].run;
        p->value[i] = r->skipped ? (double)NAN
                                 : gf_bench_ratio(flops ? r->flops : r->bytes, seconds(p, r)) / 1e9;
        if (isfinite(p->value[i]))
            p->largest = fmax(p->largest, p->value[i]);
    }
    pic->height += HEAD + ROW * (int)table->count;
}

static void lay_out(struct picture *pic, const struct gf_bench *b)
{
    *pic = (struct picture){.height = 2 * MARGIN};
    for (unsigned i = 0; i < b->timed_count; i++)
        add_panel(pic, &b->timed_table[i], NULL);
    for (unsigned i = 0; i < b->counted_count; i++)
        add_panel(pic, &b->counted_table[i], b->gpu);
    pic->height += MARGIN;
    snprintf(pic->title, sizeof pic->title, "gpufilt bench: %s%s%s",
             b->timed ? b->machine.name : "", b->timed && b->counted ? "; model: " : "",
             b->counted ? b->gpu->name : "");
}

static int row_top(const struct panel *p, unsigned i) { return p->top + HEAD + ROW * (int)i; }

static int bar_end(const struct panel *p, unsigned i)
{
    if (!(p->value[i] > 0) || !isfinite(p->value[i]))
        return LEFT;
    return LEFT + (int)(p->value[i] / p->largest * (RIGHT - LEFT) + 0.5);
}

/* "-" where there is none. */
static const char *label(char text[GF_NUMBER_TEXT], double value)
{
    if (isfinite(value))
        snprintf(text, GF_NUMBER_TEXT, value < 100 ? "%.1f" : "%.0f", value);
    else
        strcpy(text, "-");
    return text;
}

static const char *key(const struct panel *p, unsigned i)
{
    return gf_ladder_steps[p->table->row[i].step].key;
}

/* ---- SVG ---- */

static void svg_panel(struct gf_buffer *t, const struct panel *p)
{
    char number[GF_NUMBER_TEXT];
    gf_buffer_printf(t, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">", MARGIN, p->top + 24);
    gf_svg_text(t, p->title);
    gf_buffer_text(t, "</text>\n");
    for (unsigned i = 0; i < p->table->count; i++) {
        const int top = row_top(p, i), end = bar_end(p, i);
        gf_buffer_printf(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8, top + 13);
        gf_svg_text(t, key(p, i));
        gf_buffer_printf(t, "</text>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                         "fill=\"#3b6ea5\"/>\n<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, top,
                         end - LEFT, BAR, end + 8, top + 13, label(number, p->value[i]));
    }
}

static enum gf_status write_svg(const char *path, const struct picture *pic,
                                const struct gf_out_options *options, struct gf_error *e)
{
    struct gf_buffer t = {0}, title = {0};
    gf_svg_text(&title, pic->title);
    gf_svg_begin(&t, WIDTH, pic->height, title.data ? title.data : "");
    gf_buffer_printf(&t, "<text x=\"%d\" y=\"24\" font-size=\"16\">", MARGIN);
    gf_buffer_append(&t, title.data, title.size);
    gf_buffer_text(&t, "</text>\n");
    for (unsigned i = 0; i < pic->count; i++)
        svg_panel(&t, &pic->panel[i]);
    gf_buffer_text(&t, "</svg>\n");
    t.failed = t.failed || title.failed;
    gf_buffer_free(&title);
    return gf_svg_write(&t, path, "the picture of the steps", options, e);
}

/* ---- PNG: of fewer words, for there are few letters ---- */

static void png_panel(struct gf_canvas *c, const struct panel *p)
{
    static const struct gf_ink blue = {{0x3b, 0x6e, 0xa5}};
    char number[GF_NUMBER_TEXT];
    gf_canvas_text(c, MARGIN, p->top + 10, p->title);
    for (unsigned i = 0; i < p->table->count; i++) {
        const int top = row_top(p, i), end = bar_end(p, i);
        gf_canvas_text(c, LEFT - 8 - gf_canvas_text_width(key(p, i)), top + 1, key(p, i));
        gf_canvas_fill(c, LEFT, top, end, top + BAR, blue);
        gf_canvas_text(c, end + 8, top + 1, label(number, p->value[i]));
    }
}

static enum gf_status write_png(const char *path, const struct picture *pic,
                                const struct gf_out_options *options, struct gf_error *e)
{
    struct gf_canvas canvas;
    enum gf_status status;
    GF_TRY(gf_canvas_open(&canvas, WIDTH, pic->height, "the picture of the steps", e));
    for (unsigned i = 0; i < pic->count; i++)
        png_panel(&canvas, &pic->panel[i]);
    status = gf_canvas_write(&canvas, path, options, e);
    gf_canvas_close(&canvas);
    return status;
}

enum gf_status gf_bench_plot(const char *path, const struct gf_bench *bench,
                             const struct gf_out_options *options, struct gf_error *e)
{
    struct picture pic;
    lay_out(&pic, bench);
    if (gf_picture_kind(path) == GF_PICTURE_PNG)
        return write_png(path, &pic, options, e);
    return write_svg(path, &pic, options, e);
}
