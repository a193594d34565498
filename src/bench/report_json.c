#include "report.h"

#include "../json.h"

/* ---- pieces ---- */

static void triple(struct gf_buffer *t, const char *name, uint64_t x, uint64_t y, uint64_t z)
{
    gf_json_key(t, name);
    if (x == 0)
        gf_buffer_text(t, "null");
    else
        gf_buffer_printf(t, "[%llu, %llu, %llu]", (unsigned long long)x, (unsigned long long)y,
                         (unsigned long long)z);
}

static void known(struct gf_buffer *t, const char *name, double value)
{
    gf_json_real(t, name, value > 0 ? value : (double)NAN);
}

static void nothing(struct gf_buffer *t, const char *name)
{
    gf_json_key(t, name);
    gf_buffer_text(t, "null");
}

static void work(struct gf_buffer *t, const struct gf_ladder_work *w)
{
    const bool conv = w->ladder == GF_CONV2D || w->ladder == GF_CONV3D;
    gf_json_text(t, "ladder", gf_ladder_names[w->ladder]);
    gf_json_key(t, "work");
    gf_buffer_text(t, "{");
    if (conv) {
        nothing(t, "n");
        triple(t, "size", w->size[0], w->size[1], w->size[2]);
        gf_json_count(t, "taps", w->taps);
    } else {
        gf_json_count(t, "n", w->n);
        nothing(t, "size");
        nothing(t, "taps");
    }
    gf_json_bool(t, "valid", w->valid);
    gf_json_bool(t, "stress", w->stress);
    gf_json_count(t, "repeats", w->repeats);
    gf_json_count(t, "same_runs", w->same_runs);
    gf_buffer_text(t, "}");
}

static void shape(struct gf_buffer *t, const struct gf_ladder_run *r)
{
    const struct gf_ladder_shape *s = &r->shape;
    triple(t, "grid", s->grid[0], s->grid[1], s->grid[2]);
    triple(t, "block", s->block[0], s->block[1], s->block[2]);
    known(t, "registers", s->registers);
    if (s->block[0] > 0)
        gf_json_count(t, "shared_bytes", s->shared);
    else
        nothing(t, "shared_bytes");
    known(t, "occupancy", s->occupancy);
    known(t, "reads_per_output", r->reads);
    known(t, "reuse", r->reuse);
}

static void answer(struct gf_buffer *t, const struct gf_bench_table *table,
                   const struct gf_ladder_run *r)
{
    gf_json_real(t, "error", r->error);
    gf_json_real(t, "tolerance", r->tolerance);
    gf_json_bool(t, "pass", gf_bench_right(r));
    if (table->work.same_runs > 1)
        gf_json_bool(t, "same_bits", r->same_bits);
    else
        nothing(t, "same_bits");
}

static void speeds(struct gf_buffer *t, const struct gf_ladder_machine *m,
                   const struct gf_bench_table *table, const struct gf_bench_row *row)
{
    const struct gf_ladder_run *r = &row->run;
    const double bytes = gf_bench_bytes_rate(r), flops = gf_bench_flops_rate(r);
    known(t, "seconds", r->seconds);
    known(t, "fastest_seconds", r->fastest);
    known(t, "slowest_seconds", r->slowest);
    gf_json_real(t, "bytes", r->bytes);
    gf_json_real(t, "flops", r->flops);
    gf_json_real(t, "bytes_per_second", bytes);
    gf_json_real(t, "flops_per_second", flops);
    gf_json_real(t, "of_copy", gf_bench_ratio(bytes, m->copy_bytes));
    gf_json_real(t, "of_peak", gf_bench_ratio(bytes, m->peak_bytes));
    gf_json_real(t, "of_peak_flops", gf_bench_ratio(flops, m->peak_flops));
    gf_json_real(t, "times_first", gf_bench_speedup(table, row));
}

static void counts(struct gf_buffer *t, const struct gf_gpu *gpu, const struct gf_ladder_counts *c)
{
    gf_json_count(t, "blocks", c->blocks);
    gf_json_count(t, "threads", c->threads);
    gf_json_count(t, "warp_instructions", c->warp_instructions);
    gf_json_count(t, "lane_operations", c->lane_operations);
    gf_json_real(t, "simt_efficiency", gf_counts_simt(c));
    gf_json_count(t, "branches", c->branches);
    gf_json_count(t, "divergent_branches", c->divergent_branches);
    gf_json_count(t, "barriers", c->barriers);
    gf_json_count(t, "shared_requests", c->shared_requests);
    gf_json_count(t, "shared_wavefronts", c->shared_wavefronts);
    gf_json_real(t, "bank_conflicts", gf_counts_banks(c));
    gf_json_count(t, "global_requests", c->global_requests);
    gf_json_count(t, "global_sectors", c->global_sectors);
    gf_json_count(t, "atomics", c->atomics);
    gf_json_real(t, "issue_seconds", gf_gpu_issue_time(gpu, c));
    gf_json_real(t, "memory_seconds", gf_gpu_memory_time(gpu, c));
}

/* `m` or `gpu` is NULL. */
static void ladders(struct gf_buffer *t, const struct gf_bench_table *table, unsigned count,
                    const struct gf_ladder_machine *m, const struct gf_gpu *gpu)
{
    gf_json_key(t, "ladders");
    gf_buffer_text(t, "[");
    for (unsigned i = 0; i < count; i++) {
        gf_buffer_text(t, i ? ",\n  {" : "\n  {");
        work(t, &table[i].work);
        gf_json_key(t, "steps");
        gf_buffer_text(t, "[");
        for (unsigned k = 0; k < table[i].count; k++) {
            const struct gf_bench_row *row = &table[i].row[k];
            gf_buffer_text(t, k ? ",\n   {" : "\n   {");
            gf_json_text(t, "step", gf_ladder_steps[row->step].key);
            gf_json_text(t, "name", gf_ladder_steps[row->step].name);
            gf_json_text(t, "skipped", row->run.skipped);
            if (!row->run.skipped) {
                shape(t, &row->run);
                if (m)
                    speeds(t, m, &table[i], row);
                else
                    counts(t, gpu, &row->run.counts);
                answer(t, &table[i], &row->run);
            }
            gf_buffer_text(t, "}");
        }
        gf_buffer_text(t, "]}");
    }
    gf_buffer_text(t, "]");
}

/* ---- ideas ---- */

static void rounds(struct gf_buffer *t, const struct gf_bench_ideas *ideas)
{
    gf_json_key(t, "rounds");
    gf_buffer_text(t, "[");
    for (unsigned i = 0; i < GF_BENCH_FORMS; i++) {
        gf_buffer_text(t, i ? ",\n  {" : "\n  {");
        gf_json_text(t, "step", gf_ladder_steps[ideas->form[i]].key);
        gf_json_count(t, "threads", GF_BENCH_THREADS);
        gf_json_key(t, "rounds");
        gf_buffer_text(t, "[");
        for (unsigned k = 0; k < ideas->rounds[i].count && k < GF_MOST_ROUNDS; k++) {
            const struct gf_round *r = &ideas->rounds[i].round[k];
            gf_buffer_text(t, k ? ",\n   {" : "\n   {");
            gf_json_count(t, "stride", r->stride);
            gf_json_count(t, "active", r->active);
            gf_json_count(t, "warps", r->warps);
            gf_json_count(t, "useful", r->useful);
            gf_json_count(t, "slots", r->slots);
            gf_buffer_text(t, "}");
        }
        gf_buffer_text(t, "]}");
    }
    gf_buffer_text(t, "]");
}

static void banks(struct gf_buffer *t, const struct gf_bank_pattern *pattern)
{
    gf_json_key(t, "banks");
    gf_buffer_text(t, "[");
    for (unsigned i = 0; i < GF_BANK_PATTERNS; i++) {
        gf_buffer_text(t, i ? ",\n  {" : "\n  {");
        gf_json_text(t, "pattern", pattern[i].name);
        gf_json_count(t, "requests", pattern[i].requests);
        gf_json_count(t, "wavefronts", pattern[i].wavefronts);
        gf_buffer_text(t, "}");
    }
    gf_buffer_text(t, "]");
}

static void reversals(struct gf_buffer *t, const struct gf_reversal *reversal)
{
    gf_json_key(t, "reversal");
    gf_buffer_text(t, "[");
    for (unsigned i = 0; i < 2; i++) {
        gf_buffer_text(t, i ? ",\n  {" : "\n  {");
        gf_json_bool(t, "barrier", i == 0);
        gf_json_bool(t, "right", reversal[i].right);
        gf_json_text(t, "race", *reversal[i].report ? reversal[i].report : NULL);
        gf_buffer_text(t, "}");
    }
    gf_buffer_text(t, "]");
}

/* ---- the document ---- */

static void machine(struct gf_buffer *t, const struct gf_ladder_machine *m)
{
    gf_json_text(t, "name", m->name);
    gf_json_key(t, "compute_capability");
    gf_buffer_printf(t, "\"%d.%d\"", m->major, m->minor);
    gf_json_count(t, "multiprocessors", m->processors);
    known(t, "clock_hz", m->clock);
    known(t, "peak_bytes_per_second", m->peak_bytes);
    known(t, "peak_flops_per_second", m->peak_flops);
    known(t, "copy_bytes_per_second", m->copy_bytes);
}

static void model(struct gf_buffer *t, const struct gf_gpu *gpu)
{
    gf_json_key(t, "model");
    gf_buffer_text(t, "{");
    gf_json_text(t, "gpu", gpu->key);
    gf_json_text(t, "name", gpu->name);
    gf_json_count(t, "multiprocessors", gpu->processors);
    gf_json_count(t, "schedulers", gpu->schedulers);
    gf_json_real(t, "clock_hz", gpu->clock);
    gf_json_real(t, "bytes_per_second", gpu->bytes);
    gf_buffer_text(t, "}");
}

void gf_bench_json(struct gf_buffer *t, const struct gf_bench *b)
{
    gf_buffer_text(t, "{");
    gf_json_text(t, "schema", GF_BENCH_SCHEMA);
    gf_buffer_text(t, ",\n\"gpu\": ");
    if (b->timed) {
        gf_buffer_text(t, "{");
        machine(t, &b->machine);
        ladders(t, b->timed_table, b->timed_count, &b->machine, NULL);
        gf_buffer_text(t, "}");
    } else {
        gf_buffer_text(t, "null");
    }
    gf_buffer_text(t, ",\n\"simulation\": ");
    if (b->counted) {
        gf_buffer_text(t, "{");
        model(t, b->gpu);
        ladders(t, b->counted_table, b->counted_count, NULL, b->gpu);
        if (b->has_ideas) {
            rounds(t, &b->ideas);
            banks(t, b->ideas.bank);
            reversals(t, b->ideas.reversal);
        }
        gf_buffer_text(t, "}");
    } else {
        gf_buffer_text(t, "null");
    }
    gf_buffer_text(t, "}\n");
}
