#include "devices_command.h"

#include "alloc.h"
#include "cpu/kernels.h"
#include "devices.h"
#include "output.h"
#include "processors.h"
#include "text.h"

#include <string.h>

/* What there is. */
struct machine {
    const char *instructions;
    unsigned processors;
    struct gf_gpu_info *gpu;      /* owned */
    unsigned gpus;
    struct gf_error why_none;     /* "" when there are GPUs */
};

static enum gf_status look(struct machine *m, struct gf_error *e)
{
    const struct gf_kernels *kernels;
    enum gf_status status;
    *m = (struct machine){.processors = gf_processors()};
    GF_TRY(gf_kernels_choose(&kernels, e));
    m->instructions = kernels->name;
    status = gf_devices_list(&m->gpu, &m->gpus, &m->why_none);
    if (status == GF_OK || status == GF_EDEVICE)
        return GF_OK;
    return gf_fail(e, status, "%s", m->why_none.text);
}

/* ---- text ---- */

static void text_gpu(struct gf_buffer *t, const struct gf_gpu_info *g)
{
    char number[GF_NUMBER_TEXT];
    gf_buffer_printf(t, "cuda:%-4d ", g->index);
    gf_buffer_escaped(t, g->name, strlen(g->name));
    if (g->memory)
        gf_buffer_printf(t, ", %s", gf_format_bytes(number, g->memory));
    if (g->memory_free)
        gf_buffer_printf(t, " (%s free)", gf_format_bytes(number, g->memory_free));
    gf_buffer_printf(t, ", compute capability %d.%d, %d multiprocessors", g->major, g->minor,
                     g->processors);
    if (*g->bus)
        gf_buffer_printf(t, ", %s", g->bus);
    gf_buffer_text(t, g->usable ? "\n" : "\n          cannot be used: ");
    if (!g->usable) {
        gf_buffer_escaped(t, g->why_not, strlen(g->why_not));
        gf_buffer_text(t, "\n");
    }
}

static void text_version(struct gf_buffer *t, const char *name, int version, const char *more)
{
    gf_buffer_printf(t, "%-9s CUDA %d.%d%s\n", name, version / 1000, version % 1000 / 10, more);
}

static void text_machine(struct gf_buffer *t, const struct machine *m)
{
    gf_buffer_printf(t, "cpu       %s, %u processor%s\n", m->instructions, m->processors,
                     m->processors == 1 ? "" : "s");
    for (unsigned i = 0; i < m->gpus; i++)
        text_gpu(t, &m->gpu[i]);
    if (m->gpus) {
        text_version(t, "driver", m->gpu->driver, "");
        text_version(t, "runtime", m->gpu->runtime, ", built in");
    } else {
        gf_buffer_text(t, "cuda      none: ");
        gf_buffer_escaped(t, m->why_none.text, strlen(m->why_none.text));
        gf_buffer_text(t, "\n");
    }
}

/* ---- JSON ---- */

static void json_or_null(struct gf_buffer *t, const char *name, const char *text)
{
    gf_buffer_printf(t, ", \"%s\": ", name);
    if (text && *text)
        gf_buffer_json(t, text);
    else
        gf_buffer_text(t, "null");
}

static void json_gpu(struct gf_buffer *t, const struct gf_gpu_info *g)
{
    gf_buffer_printf(t, "{\"device\": \"cuda:%d\", \"name\": ", g->index);
    gf_buffer_json(t, g->name);
    json_or_null(t, "bus", g->bus);
    gf_buffer_printf(t, ", \"memory_bytes\": %llu, \"memory_free_bytes\": %llu, "
                     "\"compute_capability\": \"%d.%d\", \"multiprocessors\": %d, \"usable\": %s",
                     (unsigned long long)g->memory, (unsigned long long)g->memory_free, g->major,
                     g->minor, g->processors, g->usable ? "true" : "false");
    json_or_null(t, "why_not", g->why_not);
    gf_buffer_text(t, "}");
}

static void json_version(struct gf_buffer *t, const char *name, int version)
{
    gf_buffer_printf(t, ", \"%s\": \"%d.%d\"", name, version / 1000, version % 1000 / 10);
}

static void json_machine(struct gf_buffer *t, const struct machine *m)
{
    gf_buffer_printf(t, "{\"cpu\": {\"instructions\": \"%s\", \"processors\": %u},\n \"cuda\": "
                     "{\"gpus_visible\": %u", m->instructions, m->processors, m->gpus);
    json_or_null(t, "built", gf_devices_built());
    if (m->gpus) {
        json_version(t, "driver", m->gpu->driver);
        json_version(t, "runtime", m->gpu->runtime);
    }
    json_or_null(t, "why_none", m->why_none.text);
    gf_buffer_text(t, ", \"gpus\": [");
    for (unsigned i = 0; i < m->gpus; i++) {
        gf_buffer_text(t, i ? ",\n  " : "\n  ");
        json_gpu(t, &m->gpu[i]);
    }
    gf_buffer_text(t, "]}}\n");
}

enum gf_status gf_devices_run(const struct gf_request *r, struct gf_error *e)
{
    struct gf_buffer text = {0};
    struct machine m;
    GF_TRY(look(&m, e));
    if (r->json)
        json_machine(&text, &m);
    else
        text_machine(&text, &m);
    gf_free(m.gpu);
    return gf_output_text(&text, false, e);
}
