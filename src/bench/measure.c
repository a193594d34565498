#include "measure.h"

#include "../signals.h"

#include <stdio.h>
#include <string.h>

static enum gf_status run_steps(const struct gf_ladder_device *device, void *state,
                                struct gf_bench_table *table, struct gf_error *e)
{
    for (unsigned i = 0; i < GF_STEPS; i++) {
        struct gf_bench_row *row = &table->row[table->count];
        if (gf_ladder_steps[i].ladder != table->work.ladder)
            continue;
        if (gf_signal_pending())
            return GF_ESIGNAL;
        memset(row, 0, sizeof *row);
        row->step = (enum gf_ladder_step_id)i;
        GF_TRY(device->run(state, row->step, &row->run, e));
        table->count++;
    }
    return gf_signal_pending() ? GF_ESIGNAL : GF_OK;
}

enum gf_status gf_bench_measure(const struct gf_ladder_device *device, unsigned gpu,
                                const struct gf_ladder_work *work, struct gf_bench_table *table,
                                struct gf_error *e)
{
    void *state = NULL;
    enum gf_status status;
    table->work = *work;
    table->count = 0;
    if (gf_signal_pending())
        return GF_ESIGNAL;
    GF_TRY(device->open(gpu, work, &state, e));
    status = run_steps(device, state, table, e);
    device->close(state);
    return status;
}

double gf_bench_speedup(const struct gf_bench_table *table, const struct gf_bench_row *row)
{
    for (unsigned i = 0; i < table->count; i++)
        if (!table->row[i].run.skipped && table->row[i].run.seconds > 0)
            return gf_bench_ratio(table->row[i].run.seconds, row->run.seconds);
    return (double)NAN;
}

enum gf_status gf_bench_ideas(struct gf_bench_ideas *ideas, struct gf_error *e)
{
    static const enum gf_ladder_step_id forms[GF_BENCH_FORMS] = {
        GF_STEP_REDUCE_PAIRS, GF_STEP_REDUCE_MODULO, GF_STEP_REDUCE_SEQUENTIAL};
    for (unsigned i = 0; i < GF_BENCH_FORMS; i++) {
        ideas->form[i] = forms[i];
        GF_TRY(gf_simulate_rounds(forms[i], GF_BENCH_THREADS, &ideas->rounds[i], e));
    }
    GF_TRY(gf_simulate_banks(ideas->bank, e));
    for (unsigned i = 0; i < 2; i++)
        GF_TRY(gf_simulate_reversal(i == 0, &ideas->reversal[i], e));
    return GF_OK;
}

/* ---- the verdict ---- */

struct wrong {
    unsigned steps, failed;
    char list[400];
};

static void add_wrong(struct wrong *w, const char *ladder, const char *step)
{
    const size_t used = strlen(w->list);
    w->failed++;
    if (used + 48 < sizeof w->list)
        snprintf(w->list + used, sizeof w->list - used, "%s%s %s", used ? ", " : "", ladder, step);
    else if (w->list[used - 1] != '.')
        strcpy(w->list + used, ", ...");
}

static void look_at(struct wrong *w, const struct gf_bench_table *table)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct gf_bench_row *row = &table->row[i];
        if (row->run.skipped)
            continue;
        w->steps++;
        if (!gf_bench_right(&row->run))
            add_wrong(w, gf_ladder_names[table->work.ladder], gf_ladder_steps[row->step].key);
    }
}

enum gf_status gf_bench_verdict(const struct gf_bench *bench, struct gf_error *e)
{
    struct wrong w = {0};
    for (unsigned i = 0; i < bench->timed_count; i++)
        look_at(&w, &bench->timed_table[i]);
    for (unsigned i = 0; i < bench->counted_count; i++)
        look_at(&w, &bench->counted_table[i]);
    if (w.failed == 0)
        return GF_OK;
    return gf_fail(e, GF_NO, "bench: %u of %u steps FAILED: %s", w.failed, w.steps, w.list);
}
