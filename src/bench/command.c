#include "command.h"

#include "../alloc.h"
#include "../devices.h"
#include "../message.h"
#include "../output.h"
#include "measure.h"
#include "options.h"
#include "report.h"

#include <string.h>

struct session {
    const struct gf_request *request;
    bool wanted[GF_LADDERS], all;
    struct gf_bench *bench;     /* owned */
    struct gf_buffer text;      /* what is not yet printed */
};

static bool is_text(const struct session *s)
{
    return s->request->stats.layout == GF_LAYOUT_TEXT;
}

/* A ladder takes a while; what is known is shown. */
static enum gf_status show(struct session *s, struct gf_error *e)
{
    return is_text(s) ? gf_output_text(&s->text, false, e) : GF_OK;
}

/* ---- on a GPU ---- */

/* *found: a GPU that can be used. Where none was asked for by name, none is no error. */
static enum gf_status find_gpu(struct session *s, bool *found, struct gf_error *e)
{
    const struct gf_request *r = s->request;
    struct gf_error why = {""};
    enum gf_status status;
    *found = false;
    if (r->bench.simulate)
        return GF_OK;
    status = gf_ladder_cuda.machine(r->gpu, true, &s->bench->machine, &why);
    *found = status == GF_OK;
    if (status == GF_OK)
        return GF_OK;
    if (status != GF_EDEVICE || strcmp(r->device, "cuda") == 0)
        return gf_fail(e, status, "%s", why.text);
    gf_print_warning("bench: nothing is timed, the kernels are counted instead (--simulate): %s",
                     why.text);
    return GF_OK;
}

static enum gf_status time_ladders(struct session *s, struct gf_error *e)
{
    struct gf_bench *b = s->bench;
    struct gf_gpu_info info = {0};
    b->timed = true;
    if (gf_device_find(s->request->gpu, &info, NULL) != GF_OK)
        info.memory_free = 0;
    if (is_text(s))
        gf_bench_text_machine(&s->text, &b->machine);
    GF_TRY(show(s, e));
    for (unsigned l = 0; l < GF_LADDERS; l++) {
        struct gf_bench_table *table = &b->timed_table[b->timed_count];
        struct gf_ladder_work work;
        if (!s->wanted[l])
            continue;
        work = gf_bench_work(&s->request->bench, (enum gf_ladder)l, info.memory_free);
        GF_TRY(gf_bench_measure(&gf_ladder_cuda, s->request->gpu, &work, table, e));
        b->timed_count++;
        if (is_text(s))
            gf_bench_text_timed(&s->text, &b->machine, table);
        GF_TRY(show(s, e));
    }
    return GF_OK;
}

/* ---- on the simt device ---- */

static enum gf_status count_ladders(struct session *s, struct gf_error *e)
{
    const struct gf_bench_options *o = &s->request->bench;
    struct gf_bench *b = s->bench;
    b->counted = true;
    b->gpu = o->gpu ? o->gpu : &gf_gpus[0];
    if (is_text(s)) {
        gf_buffer_text(&s->text, b->timed ? "\n" : "");
        gf_bench_text_model(&s->text, b->gpu);
    }
    GF_TRY(show(s, e));
    for (unsigned l = 0; l < GF_LADDERS; l++) {
        struct gf_bench_table *table = &b->counted_table[b->counted_count];
        struct gf_ladder_work work;
        if (!s->wanted[l])
            continue;
        work = gf_bench_simulated(o, (enum gf_ladder)l);
        GF_TRY(gf_bench_measure(&gf_ladder_simt, 0, &work, table, e));
        b->counted_count++;
        if (is_text(s))
            gf_bench_text_counted(&s->text, b->gpu, table);
        GF_TRY(show(s, e));
    }
    if (!s->wanted[GF_REDUCE])
        return GF_OK;
    GF_TRY(gf_bench_ideas(&b->ideas, e));
    b->has_ideas = true;
    if (is_text(s))
        gf_bench_text_ideas(&s->text, &b->ideas);
    return show(s, e);
}

/* ---- the whole ---- */

static enum gf_status run(struct session *s, struct gf_error *e)
{
    const struct gf_request *r = s->request;
    bool gpu;
    GF_TRY(find_gpu(s, &gpu, e));
    if (gpu)
        GF_TRY(time_ladders(s, e));
    if (!gpu || s->all)
        GF_TRY(count_ladders(s, e));
    if (!is_text(s)) {
        if (r->stats.layout == GF_LAYOUT_JSON)
            gf_bench_json(&s->text, s->bench);
        else
            gf_bench_csv(&s->text, s->bench);
        GF_TRY(gf_output_text(&s->text, false, e));
    }
    if (r->bench.plot)
        GF_TRY(gf_bench_plot(r->bench.plot, s->bench, &r->out, e));
    return gf_bench_verdict(s->bench, e);
}

enum gf_status gf_bench_run(const struct gf_request *r, struct gf_error *e)
{
    struct session s = {.request = r};
    void *block = NULL;
    enum gf_status status;
    s.all = gf_bench_ladders(r, s.wanted);
    GF_TRY(gf_allocate(&block, 1, sizeof *s.bench, "the tables", e));
    s.bench = memset(block, 0, sizeof *s.bench);
    status = run(&s, e);
    gf_buffer_free(&s.text);
    gf_free(s.bench);
    return status;
}
