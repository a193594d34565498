#include "report.h"
#include "table.h"

#include "../util.h"

#include <string.h>

static bool is_conv(const struct gf_bench_table *table)
{
    return table->work.ladder == GF_CONV2D || table->work.ladder == GF_CONV3D;
}

static unsigned long long whole(uint64_t value) { return (unsigned long long)value; }

/* ---- numbers, few digits ---- */

static void four_digits(struct gf_table *t, double value)
{
    gf_table_real(t, value < 1 ? 4 : value < 10 ? 3 : value < 100 ? 2 : 1, value, "");
}

static void rate_cell(struct gf_table *t, double rate)
{
    gf_table_real(t, rate < 100e9 ? 1 : 0, rate / 1e9, "");
}

static void percent_cell(struct gf_table *t, double share)
{
    gf_table_real(t, 1, 100 * share, "");
}

static void count_cell(struct gf_table *t, uint64_t count)
{
    gf_table_cell(t, "%llu", whole(count));
}

static void error_cell(struct gf_table *t, double error)
{
    if (error == 0)
        gf_table_cell(t, "0");
    else
        gf_table_cell(t, "%.1e", error);
}

static void check_cell(struct gf_table *t, const struct gf_ladder_run *r)
{
    gf_table_cell(t, gf_bench_right(r) ? "PASS" : "FAIL");
}

/* ---- heads ---- */

static void work_line(struct gf_buffer *t, const struct gf_ladder_work *w)
{
    char bytes[GF_NUMBER_TEXT];
    gf_buffer_printf(t, "\n%s: ", gf_ladder_names[w->ladder]);
    if (w->ladder == GF_REDUCE || w->ladder == GF_COPY) {
        gf_buffer_printf(t, "%llu sample%s, %s", whole(w->n), w->n == 1 ? "" : "s",
                         gf_format_bytes(bytes, 4 * w->n));
    } else if (w->ladder == GF_CONV2D) {
        gf_buffer_printf(t, "%llux%llu samples, %ux%u taps, zero outside", whole(w->size[0]),
                         whole(w->size[1]), w->taps, w->taps);
    } else {
        gf_buffer_printf(t, "%llux%llux%llu samples, %ux%ux%u taps, %s", whole(w->size[0]),
                         whole(w->size[1]), whole(w->size[2]), w->taps, w->taps, w->taps,
                         w->valid ? "valid outputs alone" : "zero outside");
    }
    if (w->stress)
        gf_buffer_text(t, ", 10^3 and 10^-3 mixed");
    if (w->repeats > 0)
        gf_buffer_printf(t, "; %u run%s timed", w->repeats, w->repeats == 1 ? "" : "s");
    if (w->same_runs > 1)
        gf_buffer_printf(t, ", %u compared", w->same_runs);
    gf_buffer_text(t, "\n");
}

void gf_bench_text_machine(struct gf_buffer *t, const struct gf_ladder_machine *m)
{
    gf_buffer_escaped(t, m->name, strlen(m->name));
    gf_buffer_printf(t, ": compute capability %d.%d, %u multiprocessors", m->major, m->minor,
                     m->processors);
    if (m->clock > 0)
        gf_buffer_printf(t, " at %.0f MHz", m->clock / 1e6);
    if (m->peak_flops > 0)
        gf_buffer_printf(t, ", peak %.1f TFLOP/s", m->peak_flops / 1e12);
    gf_buffer_text(t, "\n");
    if (m->peak_bytes > 0)
        gf_buffer_printf(t, "memory %.0f GB/s peak, by its clock and width\n", m->peak_bytes / 1e9);
    if (m->copy_bytes > 0)
        gf_buffer_printf(t, "memory %.0f GB/s in cudaMemcpy, read and written\n",
                         m->copy_bytes / 1e9);
}

void gf_bench_text_model(struct gf_buffer *t, const struct gf_gpu *gpu)
{
    gf_buffer_printf(t,
        "Counted on a GPU in software; times, in microseconds, are a model of one %s\n"
        "issue:  warp instructions / (%u multiprocessors * %u schedulers * %.0f MHz)\n"
        "memory: sectors * 32 bytes / %.0f GB/s\n", gpu->name, gpu->processors, gpu->schedulers,
        gpu->clock / 1e6, gpu->bytes / 1e9);
}

/* ---- timed ---- */

static void timed_row(struct gf_table *t, const struct gf_ladder_machine *m,
                      const struct gf_bench_table *table, const struct gf_bench_row *row)
{
    const struct gf_ladder_run *r = &row->run;
    const double bytes = gf_bench_bytes_rate(r), flops = gf_bench_flops_rate(r);
    four_digits(t, r->seconds > 0 ? r->seconds * 1e3 : (double)NAN);
    percent_cell(t, gf_bench_spread(r));
    rate_cell(t, bytes);
    percent_cell(t, gf_bench_ratio(bytes, m->copy_bytes));
    percent_cell(t, gf_bench_ratio(bytes, m->peak_bytes));
    rate_cell(t, flops);
    percent_cell(t, is_conv(table) ? gf_bench_ratio(flops, m->peak_flops) : (double)NAN);
    gf_table_real(t, 2, gf_bench_speedup(table, row), "");
    error_cell(t, r->error);
    check_cell(t, r);
    gf_table_cell(t, table->work.same_runs < 2 ? "-" : r->same_bits ? "yes" : "no");
}

static void timed_table(struct gf_buffer *out, const struct gf_ladder_machine *m,
                        const struct gf_bench_table *table)
{
    static const char *const titles[] = {"<step", "ms", "+-%", "GB/s", "%copy", "%peak", "GFLOP/s",
                                         "%flops", "x", "error", "check", "same"};
    struct gf_table t;
    gf_table_begin(&t, titles, GF_COUNT(titles));
    for (unsigned i = 0; i < table->count; i++) {
        const struct gf_bench_row *row = &table->row[i];
        gf_table_cell(&t, "%s", gf_ladder_steps[row->step].key);
        if (row->run.skipped)
            gf_table_rest(&t, row->run.skipped);
        else
            timed_row(&t, m, table, row);
    }
    gf_table_end(&t, out);
}

/* ---- launches ---- */

static void extent_cell(struct gf_table *t, uint64_t x, uint64_t y, uint64_t z)
{
    if (x == 0)
        gf_table_cell(t, "-");
    else if (z > 1)
        gf_table_cell(t, "%llux%llux%llu", whole(x), whole(y), whole(z));
    else if (y > 1)
        gf_table_cell(t, "%llux%llu", whole(x), whole(y));
    else
        gf_table_cell(t, "%llu", whole(x));
}

static void launch_row(struct gf_table *t, const struct gf_ladder_run *r)
{
    const struct gf_ladder_shape *s = &r->shape;
    const bool kernel = !r->skipped && s->grid[0] > 0;
    extent_cell(t, kernel ? s->grid[0] : 0, s->grid[1], s->grid[2]);
    extent_cell(t, kernel ? s->block[0] : 0, s->block[1], s->block[2]);
    gf_table_real(t, 0, kernel && s->registers ? s->registers : (double)NAN, "");
    gf_table_real(t, 0, kernel ? s->shared : (double)NAN, "");
    gf_table_real(t, 0, kernel && s->occupancy > 0 ? 100 * s->occupancy : (double)NAN, "");
    gf_table_real(t, 2, !r->skipped && r->reads > 0 ? r->reads : (double)NAN, "");
    gf_table_real(t, 2, !r->skipped && r->reuse > 0 ? r->reuse : (double)NAN, "");
}

static void launch_table(struct gf_buffer *out, const struct gf_bench_table *table)
{
    static const char *const titles[] = {"<step", "grid", "block", "regs", "shared", "%occ",
                                         "reads", "reuse", "<what it is"};
    struct gf_table t;
    gf_table_begin(&t, titles, GF_COUNT(titles));
    for (unsigned i = 0; i < table->count; i++) {
        const struct gf_bench_row *row = &table->row[i];
        gf_table_cell(&t, "%s", gf_ladder_steps[row->step].key);
        launch_row(&t, &row->run);
        gf_table_cell(&t, "%s", gf_ladder_steps[row->step].name);
    }
    gf_buffer_text(out, "\n");
    gf_table_end(&t, out);
}

void gf_bench_text_timed(struct gf_buffer *t, const struct gf_ladder_machine *m,
                         const struct gf_bench_table *table)
{
    work_line(t, &table->work);
    timed_table(t, m, table);
    launch_table(t, table);
}

/* ---- counted ---- */

static void counted_row(struct gf_table *t, const struct gf_gpu *gpu, const struct gf_ladder_run *r)
{
    const struct gf_ladder_counts *c = &r->counts;
    count_cell(t, c->blocks);
    count_cell(t, c->warp_instructions);
    percent_cell(t, gf_counts_simt(c));
    count_cell(t, c->branches);
    count_cell(t, c->divergent_branches);
    gf_table_real(t, 2, gf_counts_banks(c), "");
    count_cell(t, c->barriers);
    count_cell(t, c->global_sectors);
    four_digits(t, 1e6 * gf_gpu_issue_time(gpu, c));
    four_digits(t, 1e6 * gf_gpu_memory_time(gpu, c));
    check_cell(t, r);
}

void gf_bench_text_counted(struct gf_buffer *out, const struct gf_gpu *gpu,
                           const struct gf_bench_table *table)
{
    static const char *const titles[] = {"<step", "blocks", "instr", "%simt", "branches", "split",
                                         "banks", "barriers", "sectors", "issue", "memory",
                                         "check"};
    struct gf_table t;
    work_line(out, &table->work);
    gf_table_begin(&t, titles, GF_COUNT(titles));
    for (unsigned i = 0; i < table->count; i++) {
        const struct gf_bench_row *row = &table->row[i];
        gf_table_cell(&t, "%s", gf_ladder_steps[row->step].key);
        if (row->run.skipped)
            gf_table_rest(&t, row->run.skipped);
        else if (row->run.counts.blocks == 0 && gf_bench_right(&row->run))
            gf_table_rest(&t, "a copy without a kernel: nothing to count; PASS");
        else
            counted_row(&t, gpu, &row->run);
    }
    gf_table_end(&t, out);
    launch_table(out, table);
}

/* ---- ideas ---- */

static void rounds_table(struct gf_buffer *out, enum gf_ladder_step_id form,
                         const struct gf_rounds *rounds)
{
    static const char *const titles[] = {"round", "stride", "active", "warps", "useful", "slots",
                                         "%use"};
    const unsigned count = rounds->count < GF_MOST_ROUNDS ? rounds->count : GF_MOST_ROUNDS;
    uint64_t useful = 0, slots = 0;
    struct gf_table t;
    gf_buffer_printf(out, "\nrounds of a block of %d threads: %s (%s)\n", GF_BENCH_THREADS,
                     gf_ladder_steps[form].key, gf_ladder_steps[form].name);
    gf_table_begin(&t, titles, GF_COUNT(titles));
    for (unsigned i = 0; i < count; i++) {
        const struct gf_round *r = &rounds->round[i];
        count_cell(&t, i + 1);
        count_cell(&t, r->stride);
        count_cell(&t, r->active);
        count_cell(&t, r->warps);
        count_cell(&t, r->useful);
        count_cell(&t, r->slots);
        percent_cell(&t, gf_bench_ratio(r->useful, r->slots));
        useful += r->useful;
        slots += r->slots;
    }
    gf_table_cell(&t, "all");
    for (unsigned i = 0; i < 3; i++)
        gf_table_cell(&t, " ");
    count_cell(&t, useful);
    count_cell(&t, slots);
    percent_cell(&t, gf_bench_ratio((double)useful, (double)slots));
    gf_table_end(&t, out);
}

static void banks_table(struct gf_buffer *out, const struct gf_bank_pattern *pattern)
{
    static const char *const titles[] = {"<pattern", "rounds"};
    struct gf_table t;
    gf_buffer_text(out, "\nbank conflicts: a warp reads shared memory\n");
    gf_table_begin(&t, titles, GF_COUNT(titles));
    for (unsigned i = 0; i < GF_BANK_PATTERNS; i++) {
        gf_table_cell(&t, "%s", pattern[i].name);
        gf_table_real(&t, 0, gf_bench_ratio((double)pattern[i].wavefronts,
                                            (double)pattern[i].requests), "");
    }
    gf_table_end(&t, out);
}

/* Words, in lines that begin with blanks. */
static void wrapped(struct gf_buffer *out, const char *text)
{
    enum { WIDTH = 100, INDENT = 4 };
    size_t column = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (column == 0 || column + 1 + length > WIDTH) {
            gf_buffer_printf(out, "%s%*s", column ? "\n" : "", INDENT, "");
            column = INDENT;
        } else {
            gf_buffer_text(out, " ");
            column++;
        }
        gf_buffer_escaped(out, text, length);
        column += length;
        text += length + strspn(text + length, " ");
    }
    gf_buffer_text(out, "\n");
}

void gf_bench_text_ideas(struct gf_buffer *t, const struct gf_bench_ideas *ideas)
{
    for (unsigned i = 0; i < GF_BENCH_FORMS; i++)
        rounds_table(t, ideas->form[i], &ideas->rounds[i]);
    banks_table(t, ideas->bank);
    gf_buffer_text(t, "\na block reverses its elements through shared memory\n");
    for (unsigned i = 0; i < 2; i++) {
        const struct gf_reversal *r = &ideas->reversal[i];
        gf_buffer_printf(t, "  %s its barrier: %s, %s\n", i == 0 ? "with" : "without",
                         r->right ? "right" : "wrong", *r->report ? "a race:" : "no race");
        if (*r->report)
            wrapped(t, r->report);
    }
}
