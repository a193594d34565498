#include "report.h"

#include <string.h>

/* ---- fields; each begins with its comma ---- */

static void real(struct gf_buffer *t, double value)
{
    char text[GF_NUMBER_TEXT];
    gf_buffer_printf(t, ",%s", gf_format_double(text, value));
}

/* NaN: not known. */
static void maybe(struct gf_buffer *t, double value)
{
    if (isnan(value))
        gf_buffer_text(t, ",");
    else
        real(t, value);
}

static void known(struct gf_buffer *t, double value)
{
    maybe(t, value > 0 ? value : (double)NAN);
}

static void count(struct gf_buffer *t, uint64_t value)
{
    gf_buffer_printf(t, ",%llu", (unsigned long long)value);
}

static void count_or_empty(struct gf_buffer *t, uint64_t value)
{
    if (value > 0)
        count(t, value);
    else
        gf_buffer_text(t, ",");
}

static void yes_or_no(struct gf_buffer *t, bool value)
{
    gf_buffer_text(t, value ? ",yes" : ",no");
}

/* As in RFC 4180. */
static void text(struct gf_buffer *t, const char *value)
{
    const bool quote = value[strcspn(value, ",\"\r\n")] != '\0';
    gf_buffer_text(t, quote ? ",\"" : ",");
    for (; *value; value++) {
        if (*value == '"')
            gf_buffer_text(t, "\"");
        gf_buffer_append(t, value, 1);
    }
    gf_buffer_text(t, quote ? "\"" : "");
}

/* ---- groups of columns ---- */

struct line {
    const struct gf_bench *bench;
    const struct gf_bench_table *table;
    const struct gf_bench_row *row;
    bool timed;
};

static void work_fields(struct gf_buffer *t, const struct line *l)
{
    const struct gf_ladder_work *w = &l->table->work;
    gf_buffer_text(t, l->timed ? "gpu" : "simulation");
    text(t, l->timed ? l->bench->machine.name : l->bench->gpu->name);
    text(t, gf_ladder_names[w->ladder]);
    text(t, gf_ladder_steps[l->row->step].key);
    count_or_empty(t, w->n);
    for (unsigned a = 0; a < 3; a++)
        count_or_empty(t, w->n ? 0 : w->size[a]);
    count_or_empty(t, w->taps);
    yes_or_no(t, w->valid);
    yes_or_no(t, w->stress);
    text(t, l->row->run.skipped ? l->row->run.skipped : "");
}

static void shape_fields(struct gf_buffer *t, const struct line *l)
{
    const struct gf_ladder_shape *s = &l->row->run.shape;
    for (unsigned a = 0; a < 3; a++)
        count_or_empty(t, s->grid[a]);
    for (unsigned a = 0; a < 3; a++)
        count_or_empty(t, s->block[a]);
    count_or_empty(t, s->registers);
    if (s->block[0] > 0)
        count(t, s->shared);
    else
        gf_buffer_text(t, ",");
    known(t, s->occupancy);
    known(t, l->row->run.reads);
    known(t, l->row->run.reuse);
}

static void speed_fields(struct gf_buffer *t, const struct line *l)
{
    const struct gf_ladder_machine *m = &l->bench->machine;
    const struct gf_ladder_run *r = &l->row->run;
    const double bytes = gf_bench_bytes_rate(r), flops = gf_bench_flops_rate(r);
    known(t, r->seconds);
    known(t, r->fastest);
    known(t, r->slowest);
    maybe(t, bytes);
    maybe(t, flops);
    maybe(t, gf_bench_ratio(bytes, m->copy_bytes));
    maybe(t, gf_bench_ratio(bytes, m->peak_bytes));
    maybe(t, gf_bench_ratio(flops, m->peak_flops));
    maybe(t, gf_bench_speedup(l->table, l->row));
}

static void answer_fields(struct gf_buffer *t, const struct line *l)
{
    const struct gf_ladder_run *r = &l->row->run;
    real(t, r->error);
    real(t, r->tolerance);
    yes_or_no(t, gf_bench_right(r));
    if (l->table->work.same_runs > 1)
        yes_or_no(t, r->same_bits);
    else
        gf_buffer_text(t, ",");
}

static void count_fields(struct gf_buffer *t, const struct line *l)
{
    const struct gf_ladder_counts *c = &l->row->run.counts;
    count(t, c->blocks);
    count(t, c->warp_instructions);
    count(t, c->lane_operations);
    maybe(t, gf_counts_simt(c));
    count(t, c->branches);
    count(t, c->divergent_branches);
    maybe(t, gf_counts_banks(c));
    count(t, c->barriers);
    count(t, c->global_sectors);
    count(t, c->atomics);
    real(t, gf_gpu_issue_time(l->bench->gpu, c));
    real(t, gf_gpu_memory_time(l->bench->gpu, c));
}

static const struct group {
    const char *names;
    unsigned columns;
    void (*write)(struct gf_buffer *t, const struct line *line);
    enum { ALWAYS, RAN, TIMED, COUNTED } when;
} groups[] = {
    {"device,name,ladder,step,n,width,height,depth,taps,valid,stress,skipped", 12, work_fields,
     ALWAYS},
    {",grid_x,grid_y,grid_z,block_x,block_y,block_z,registers,shared_bytes,occupancy,"
     "reads_per_output,reuse", 11, shape_fields, RAN},
    {",seconds,fastest_seconds,slowest_seconds,bytes_per_second,flops_per_second,of_copy,of_peak,"
     "of_peak_flops,times_first", 9, speed_fields, TIMED},
    {",error,tolerance,pass,same_bits", 4, answer_fields, RAN},
    {",blocks,warp_instructions,lane_operations,simt_efficiency,branches,divergent_branches,"
     "bank_conflicts,barriers,global_sectors,atomics,issue_seconds,memory_seconds", 12,
     count_fields, COUNTED},
};

static bool applies(const struct group *g, const struct line *l)
{
    if (g->when == ALWAYS)
        return true;
    if (l->row->run.skipped)
        return false;
    return g->when == RAN || (g->when == TIMED) == l->timed;
}

static void lines(struct gf_buffer *t, const struct gf_bench *b, const struct gf_bench_table *table,
                  unsigned count, bool timed)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < table[i].count; k++) {
            const struct line l = {b, &table[i], &table[i].row[k], timed};
            for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
                if (applies(&groups[g], &l))
                    groups[g].write(t, &l);
                for (unsigned c = 0; c < groups[g].columns && !applies(&groups[g], &l); c++)
                    gf_buffer_text(t, ",");
            }
            gf_buffer_text(t, "\n");
        }
}

void gf_bench_csv(struct gf_buffer *t, const struct gf_bench *b)
{
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        gf_buffer_text(t, groups[g].names);
    gf_buffer_text(t, "\n");
    lines(t, b, b->timed_table, b->timed_count, true);
    lines(t, b, b->counted_table, b->counted_count, false);
}
