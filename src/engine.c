#include "engine.h"

#include "alloc.h"
#include "devices.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool built_with_cuda(void) { return gf_devices_built() != NULL; }

bool gf_is_gpu(const struct gf_backend *backend)
{
    return backend != &gf_backend_cpu && backend != &gf_backend_reference;
}

/* ---- choosing ---- */

/* The message of a GPU that was asked for, with what was asked. A backend begins with its own
 * name for the device, "cuda:1 (NVIDIA H200): ...". */
static enum gf_status refuse(const struct gf_engine *engine, enum gf_status status,
                             const struct gf_error *inner, struct gf_error *e)
{
    const char *word = engine->request->device_word;
    if (strncmp(inner->text, word, strlen(word)) == 0)
        return gf_fail(e, status, "--device %s", inner->text);
    return gf_fail(e, status, "--device %s: %s", word, inner->text);
}

enum gf_status gf_engine_init(struct gf_engine *engine, const struct gf_request *r,
                              struct gf_error *e)
{
    *engine = (struct gf_engine){.request = r, .automatic = strcmp(r->device, "auto") == 0};
    if (strcmp(r->device, "cuda") == 0 && !built_with_cuda()) {
        struct gf_gpu_info gpu;
        struct gf_error mine;
        return refuse(engine, gf_device_find(r->gpu, &gpu, &mine), &mine, e);
    }
    return GF_OK;
}

/* The backend that auto takes where a GPU pays, or NULL. */
static const struct gf_backend *automatic_gpu(const struct gf_engine *engine,
                                              const struct gf_cost *cost)
{
    if (engine->gpu_failed)
        return NULL;
#ifdef GPUFILT_TEST_HOOKS
    /* Small test images are to be worth a GPU as well: GPUFILT_TEST_AUTO=BACKEND. */
    if (getenv("GPUFILT_TEST_AUTO"))
        return gf_backend_by_name(getenv("GPUFILT_TEST_AUTO"));
#endif
    return built_with_cuda() && gf_cost_gpu_pays(cost) ? &gf_backend_cuda : NULL;
}

void gf_engine_choose(const struct gf_engine *engine, const struct gf_plan *plan, uint64_t alike,
                      struct gf_choice *choice)
{
    *choice = (struct gf_choice){.cost = gf_cost_estimate(plan, alike)};
    choice->backend = engine->automatic ? automatic_gpu(engine, &choice->cost)
                                        : gf_backend_by_name(engine->request->device);
    if (!choice->backend)
        choice->backend = &gf_backend_cpu;
}

/* An image that takes too much memory says nothing of the next one. */
static void give_up(struct gf_engine *engine, enum gf_status status, const struct gf_error *e)
{
    engine->gpu_failed = status != GF_EMEMORY;
    engine->why = *e;
}

enum gf_status gf_engine_look(struct gf_engine *engine, struct gf_choice *choice,
                              struct gf_error *e)
{
    struct gf_gpu_info gpu;
    struct gf_error mine = {""};
    enum gf_status status;
    if (choice->backend != &gf_backend_cuda || engine->gpu[0] != '\0')
        return GF_OK;
    status = gf_device_find(engine->request->gpu, &gpu, &mine);
    if (status == GF_OK)
        snprintf(engine->gpu, sizeof engine->gpu, "%s", gpu.name);
    if (status != GF_OK && engine->automatic) {
        give_up(engine, status, &mine);
        choice->backend = &gf_backend_cpu;
        return GF_OK;
    }
    return status == GF_OK ? GF_OK : refuse(engine, status, &mine, e);
}

/* Two digits are more than an estimate is worth. */
static void append_seconds(struct gf_buffer *t, double seconds)
{
    gf_buffer_printf(t, seconds < 10 ? "%.2g s" : "%.0f s", seconds);
}

void gf_engine_describe(struct gf_buffer *t, const struct gf_engine *engine,
                        const struct gf_choice *choice, const struct gf_plan *plan)
{
    bool on_gpu = gf_is_gpu(choice->backend);
    double here = on_gpu ? choice->cost.gpu : choice->cost.cpu;
    double there = on_gpu ? choice->cost.cpu : choice->cost.gpu;
    if (on_gpu) {
        gf_buffer_printf(t, "%s:%d%s", choice->backend->name, plan->gpu, *engine->gpu ? ", " : "");
        gf_buffer_escaped(t, engine->gpu, strlen(engine->gpu));
    } else {
        gf_buffer_printf(t, "cpu, %u thread%s", plan->threads, plan->threads == 1 ? "" : "s");
    }
    if (!engine->automatic) {
        gf_buffer_text(t, " (asked for)");
    } else if (engine->gpu_failed) {
        gf_buffer_text(t, " (auto: ");
        gf_buffer_escaped(t, engine->why.text, strlen(engine->why.text));
        gf_buffer_text(t, ")");
    } else {
        gf_buffer_text(t, " (auto: estimated ");
        append_seconds(t, here);
        gf_buffer_text(t, on_gpu ? ", on the CPU " : ", on a GPU ");
        append_seconds(t, there);
        gf_buffer_text(t, on_gpu || built_with_cuda() ? ")" : ", but built without CUDA)");
    }
}

/* ---- running ---- */

/* *state is NULL after a failure. */
static enum gf_status open_one(const struct gf_backend *backend, const struct gf_plan *plan,
                               void **state, struct gf_error *e)
{
    enum gf_status status;
    *state = NULL;
    status = backend->open(plan, state, e);
    if (status != GF_OK) {
        backend->close(*state);
        *state = NULL;
    }
    return status;
}

enum gf_status gf_engine_open(struct gf_engine *engine, const struct gf_backend **backend,
                              const struct gf_plan *plan, const char *name, void **state,
                              struct gf_error *e)
{
    struct gf_error mine = {""};
    enum gf_status status;
    if (!gf_is_gpu(*backend))
        return open_one(*backend, plan, state, e);
    if (!engine->gpu_failed) {
        status = open_one(*backend, plan, state, &mine);
        if (status == GF_OK || status == GF_ESIGNAL)
            return status;
        if (!engine->automatic)
            return refuse(engine, status, &mine, e);
        give_up(engine, status, &mine);
        gf_print_note("%s: done on the CPU: %s", name, mine.text);
    }
    *backend = &gf_backend_cpu;
    return open_one(*backend, plan, state, e);
}

bool gf_engine_gives_up(struct gf_engine *engine, const struct gf_backend *backend,
                        enum gf_status status, const char *name, const struct gf_error *e)
{
    if (status == GF_OK || status == GF_ESIGNAL || !engine->automatic || !gf_is_gpu(backend))
        return false;
    give_up(engine, status, e);
    gf_print_warning("%s: the rest is done on the CPU: %s", name, e->text);
    return true;
}
