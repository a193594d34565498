#include "selftest.h"

#include "alloc.h"
#include "devices.h"
#include "engine.h"
#include "filter.h"
#include "message.h"
#include "output.h"
#include "planner.h"
#include "processors.h"
#include "signals.h"
#include "text.h"
#include "util.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum alpha { NONE, ALPHA, STORED, DIVIDED };

struct trial {
    const char *line;
    enum gf_type type;
    uint64_t width, height, depth;
    uint32_t channels;
    enum alpha alpha;
};

static const struct trial trials[] = {
#define CASE(line, TYPE, width, height, depth, channels, alpha) \
    {line, GF_##TYPE, width, height, depth, channels, alpha},
#include "selftest.def"
#undef CASE
};

/* What is compared with the reference. */
struct subject {
    const struct gf_backend *backend;
    int gpu;
    char name[24];
};

#define MOST_SUBJECTS 64

/* Room for a part of the larger images only. */
#define SMALL_GPU (4u << 20)

struct selftest {
    const struct gf_request *request;
    struct subject subjects[MOST_SUBJECTS];
    unsigned count;
    struct gf_error no_gpu;       /* why none is compared, "" when one is */
    struct gf_buffer json;
    unsigned reported;            /* cases in `json` */
};

/* ---- what is compared ---- */

static void add_subject(struct selftest *t, const struct gf_backend *backend, int gpu)
{
    struct subject *s = &t->subjects[t->count];
    if (t->count == MOST_SUBJECTS)
        return;
    *s = (struct subject){.backend = backend, .gpu = gpu};
    if (gf_is_gpu(backend))
        snprintf(s->name, sizeof s->name, "%s:%d", backend->name, gpu);
    else
        snprintf(s->name, sizeof s->name, "%s", backend->name);
    t->count++;
}

/* The CPU, and the GPU that was asked for or all that can be used. */
static enum gf_status find_subjects(struct selftest *t, struct gf_error *e)
{
    const struct gf_request *r = t->request;
    const struct gf_backend *backend = gf_backend_by_name(r->device);
    struct gf_choice choice = {.backend = backend};
    struct gf_engine engine;
    struct gf_gpu_info *list = NULL;
    unsigned gpus = 0;
    enum gf_status status;

    add_subject(t, &gf_backend_cpu, 0);
    GF_TRY(gf_engine_init(&engine, r, e));
    if (backend == &gf_backend_cpu) {
        gf_fail(&t->no_gpu, GF_OK, "--device cpu was asked for");
    } else if (backend) {
        GF_TRY(gf_engine_look(&engine, &choice, e));
        add_subject(t, backend, (int)r->gpu);
    } else {
        status = gf_devices_list(&list, &gpus, &t->no_gpu);
        if (status != GF_OK && status != GF_EDEVICE)
            return gf_fail(e, status, "%s", t->no_gpu.text);
        for (unsigned i = 0; i < gpus; i++)
            if (list[i].usable)
                add_subject(t, &gf_backend_cuda, list[i].index);
            else
                gf_print_warning("cuda:%d is not tested: %s: %s", list[i].index, list[i].name,
                                 list[i].why_not);
        if (t->count == 1 && gpus > 0)
            gf_fail(&t->no_gpu, GF_OK, "%s: %s", list[0].name, list[0].why_not);
        gf_free(list);
    }
    return GF_OK;
}

/* ---- samples ---- */

static uint64_t next(uint64_t *rng)
{
    uint64_t z = (*rng += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Numbers of many magnitudes, and now and then one that is none. */
static double random_value(uint64_t *rng)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-310, 1e-42, 65520, 3e38};
    uint64_t bits = next(rng);
    double value = ldexp((double)(int64_t)bits * 0x1p-63, (int)(next(rng) % 21) - 4);
    return bits % 2000 == 0 ? special[next(rng) % GF_COUNT(special)] : value;
}

static void random_sample(enum gf_type type, bool alpha, uint64_t *rng, void *to)
{
    uint64_t bits = next(rng);
    double value = alpha ? (double)(bits >> 11) * 0x1p-53 : random_value(rng);
    float single = (float)value;
    uint16_t half = gf_f64_to_f16(value);
    /* Integers are often at the ends of their range, and alpha is often 0. */
    if (bits % 8 == 0)
        bits = alpha || bits % 16 == 0 ? 0 : UINT64_MAX;
    if (alpha && bits == 0)
        value = single = 0, half = 0;
    switch (type) {
    case GF_F16: memcpy(to, &half, 2); break;
    case GF_F32: memcpy(to, &single, 4); break;
    case GF_F64: memcpy(to, &value, 8); break;
    default: memcpy(to, &bits, gf_type_bytes(type)); break;
    }
}

static void fill(const struct gf_image *image, uint64_t seed, unsigned char *to)
{
    unsigned bytes = gf_type_bytes(image->type);
    uint64_t pixels = image->width * image->height * image->depth;
    for (uint64_t i = 0; i < pixels; i++)
        for (uint32_t c = 0; c < image->channels; c++, to += bytes)
            random_sample(image->type, (int)c == image->alpha, &seed, to);
}

/* ---- plans, made as for a command ---- */

/* More taps than fit into 64 KiB of floats. */
#define BIG_SIZE 131

static enum gf_status big_mask(struct gf_buffer *text, struct gf_error *e)
{
    for (unsigned i = 0; i < BIG_SIZE * BIG_SIZE; i++)
        gf_buffer_printf(text, "%s%u", i % BIG_SIZE ? "," : i ? ";" : "", (i * 7 + i / 131) % 10);
    return gf_buffer_status(text, "a mask", e);
}

static enum gf_status plan_words(struct gf_plan *plan, const struct trial *trial, int argc,
                                 char **argv, struct gf_error *e)
{
    struct gf_image image = {.width = trial->width, .height = trial->height,
                             .depth = trial->depth, .channels = trial->channels,
                             .type = trial->type, .color = GF_OTHER, .alpha = -1,
                             .volume = trial->depth > 1};
    struct gf_request r;
    struct gf_kernel kernel = {0};
    struct gf_mask own = {0};
    const struct gf_mask *mask;
    enum gf_status status = gf_cli_parse(&r, argc, argv, e);

    if (trial->alpha != NONE)
        image.alpha = (int)trial->channels - 1;
    image.alpha_associated = trial->alpha == STORED || trial->alpha == DIVIDED;
    if (status == GF_OK)
        status = gf_kernel_load(&kernel, &r, e);
    if (status == GF_OK)
        status = gf_filter_mask(&r, &kernel, &image, trial->line, &own, &mask, e);
    if (status == GF_OK)
        status = gf_plan_make(plan, &r, mask, &image, trial->alpha == DIVIDED, trial->line, e);
    gf_mask_free(&own);
    gf_kernel_free(&kernel);
    gf_request_free(&r);
    return status;
}

static enum gf_status plan_trial(struct gf_plan *plan, const struct trial *trial,
                                 struct gf_error *e)
{
    char line[128], program[] = "gpufilt", in[] = "in", out[] = "out";
    char *argv[24] = {program};
    struct gf_buffer big = {0};
    enum gf_status status = GF_OK;
    int argc = 1;

    snprintf(line, sizeof line, "%s", trial->line);
    for (char *word = strtok(line, " "); word && argc < 20; word = strtok(NULL, " ")) {
        if (strcmp(word, "BIG") == 0) {
            status = big_mask(&big, e);
            word = big.data;
        }
        argv[argc++] = word;
    }
    argv[argc++] = in;
    argv[argc++] = out;
    if (status == GF_OK)
        status = plan_words(plan, trial, argc, argv, e);
    gf_buffer_free(&big);
    return status;
}

/* ---- running ---- */

/* The whole image, as slabs of at most `units` rows (2D, plane by plane) or planes (3D). */
static enum gf_status run(const struct gf_backend *backend, const struct gf_plan *plan,
                          uint64_t units, void *in, void *out, struct gf_counts *counts,
                          struct gf_error *e)
{
    const struct gf_image *from = &plan->in, *to = &plan->out;
    const size_t in_row = gf_row_bytes(from), out_row = gf_row_bytes(to);
    const bool volume = plan->dimensions == 3;
    const uint64_t planes = volume ? units : 1, rows = volume ? to->height : units;
    void *state = NULL;
    enum gf_status status = backend->open(plan, &state, e);

    *counts = (struct gf_counts){0};
    for (uint64_t z = 0; z < to->depth && status == GF_OK; z += planes)
        for (uint64_t y = 0; y < to->height && status == GF_OK; y += rows) {
            struct gf_slab a = {.row_stride = in_row, .plane_stride = in_row * from->height};
            struct gf_slab b = {.row_stride = out_row, .plane_stride = out_row * to->height,
                                .y = y, .z = z, .rows = gf_min(rows, to->height - y),
                                .planes = gf_min(planes, to->depth - z)};
            uint64_t last;
            gf_plan_reach(plan, 1, y, y + b.rows, &a.y, &last);
            a.rows = last - a.y;
            gf_plan_reach(plan, 2, z, z + b.planes, &a.z, &last);
            a.planes = last - a.z;
            a.data = (char *)in + a.z * a.plane_stride + a.y * a.row_stride;
            b.data = (char *)out + b.z * b.plane_stride + b.y * b.row_stride;
            status = backend->run(state, &a, &b, counts, e);
        }
    backend->close(state);
    return status;
}

/* A sample as a number and its bits. */
static void show(char text[64], enum gf_type type, const unsigned char *sample)
{
    char number[GF_NUMBER_TEXT];
    uint64_t bits = 0;
    double value = 0;
    memcpy(&bits, sample, gf_type_bytes(type));
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    case GF_##NAME: {                                          \
        ctype v;                                               \
        memcpy(&v, sample, sizeof v);                          \
        value = (double)v;                                     \
        break;                                                 \
    }
        GF_TYPES(X)
#undef X
    default:
        break;
    }
    if (type == GF_F16)
        value = gf_f16_to_f32((uint16_t)bits);
    snprintf(text, 64, "%s (0x%0*" PRIx64 ")", gf_format_double(number, value),
             2 * (int)gf_type_bytes(type), bits);
}

static enum gf_status compare(const struct trial *trial, const struct subject *s,
                              const struct gf_plan *plan, const unsigned char *want,
                              const unsigned char *got, const struct gf_counts *expected,
                              const struct gf_counts *counts, struct gf_error *e)
{
    const struct gf_image *image = &plan->out;
    unsigned bytes = gf_type_bytes(image->type);
    uint64_t size = gf_image_bytes(image), i = 0, pixel;
    char a[64], b[64];
    if (memcmp(want, got, size) != 0) {
        while (memcmp(want + i, got + i, bytes) == 0)
            i += bytes;
        show(a, image->type, got + i);
        show(b, image->type, want + i);
        pixel = i / bytes / image->channels;
        return gf_fail(e, GF_NO, "selftest: %s: %s on %s samples: at %" PRIu64 ",%" PRIu64 ",%"
                       PRIu64 ", channel %u, %s, the plain loop has %s", s->name, trial->line,
                       gf_type_name(trial->type), pixel % image->width,
                       pixel / image->width % image->height, pixel / image->width / image->height,
                       (unsigned)(i / bytes % image->channels), a, b);
    }
    if (expected->clipped_low != counts->clipped_low ||
        expected->clipped_high != counts->clipped_high || expected->nan != counts->nan)
        return gf_fail(e, GF_NO, "selftest: %s: %s on %s samples: clipped %" PRIu64 " below, %"
                       PRIu64 " above, %" PRIu64 " NaN; the plain loop %" PRIu64 ", %" PRIu64
                       ", %" PRIu64, s->name, trial->line, gf_type_name(trial->type),
                       counts->clipped_low, counts->clipped_high, counts->nan,
                       expected->clipped_low, expected->clipped_high, expected->nan);
    return GF_OK;
}

#ifdef GPUFILT_TEST_HOOKS
/* GPUFILT_TEST_SELFTEST=N: the N-th result that is compared has a wrong bit. */
static void spoil(unsigned char *result)
{
    static unsigned long results;
    const char *text = getenv("GPUFILT_TEST_SELFTEST");
    if (text && ++results == strtoul(text, NULL, 10))
        *result ^= 1;
}

/* GPUFILT_TEST_CASES=N: every N-th case only, for the simt device takes its time. */
static size_t stride(void)
{
    const char *text = getenv("GPUFILT_TEST_CASES");
    return text ? gf_max(strtoul(text, NULL, 10), 1) : 1;
}
#else
static void spoil(unsigned char *result) { (void)result; }
static size_t stride(void) { return 1; }
#endif

/* Twice: as it comes; and in slabs, the other layout, little of a GPU's memory and several
 * threads. */
static enum gf_status test_subject(const struct trial *trial, const struct subject *s,
                                   struct gf_plan *plan, void *in, const unsigned char *want,
                                   unsigned char *got, const struct gf_counts *expected,
                                   struct gf_error *e)
{
    const uint64_t n = plan->dimensions == 3 ? plan->out.depth : plan->out.height;
    plan->gpu = s->gpu;
    for (int turn = 0; turn < 2; turn++) {
        struct gf_counts counts;
        plan->packed = turn == 1;
        plan->gpu_memory = turn == 1 ? SMALL_GPU : 0;
        plan->threads = turn == 1 ? (unsigned)gf_min(gf_processors(), 4) : 1;
        memset(got, 0xa5, gf_image_bytes(&plan->out));
        GF_TRY(run(s->backend, plan, turn == 1 ? gf_ceil_div(n, 3) : n, in, got, &counts, e));
        spoil(got);
        GF_TRY(compare(trial, s, plan, want, got, expected, &counts, e));
    }
    return GF_OK;
}

/* ---- the report ---- */

/* "2D separable exact" and "131x67 x4 alpha". */
static void describe(const struct trial *trial, const struct gf_plan *plan, char kind[48],
                     char shape[64])
{
    static const char *const ariths[] = {"exact", "float", "double"};
    static const char *const alphas[] = {"", " alpha", " stored", " divided"};
    size_t n;
    snprintf(kind, 48, "%dD %-9s %-6s", plan->dimensions,
             plan->separable ? "separable" : "direct", ariths[plan->arith]);
    n = (size_t)snprintf(shape, 64, "%" PRIu64 "x%" PRIu64, trial->width, trial->height);
    if (trial->depth > 1)
        n += (size_t)snprintf(shape + n, 64 - n, "x%" PRIu64, trial->depth);
    if (trial->channels > 1)
        snprintf(shape + n, 64 - n, " x%u%s", trial->channels, alphas[trial->alpha]);
}

static enum gf_status report(struct selftest *t, const struct trial *trial,
                             const struct gf_plan *plan, bool same, struct gf_error *e)
{
    struct gf_buffer line = {0};
    char kind[48], shape[64];
    describe(trial, plan, kind, shape);
    if (t->request->json) {
        gf_buffer_printf(&t->json, "%s\n  {\"command\": ", t->reported++ > 0 ? "," : "");
        gf_buffer_json(&t->json, trial->line);
        gf_buffer_printf(&t->json, ", \"type\": \"%s\", \"shape\": \"%s\", \"same\": %s}",
                         gf_type_name(trial->type), shape, same ? "true" : "false");
        return GF_OK;
    }
    gf_buffer_printf(&line, "%-4s  %s  %-3s  %-17s  %-58s ", same ? "ok" : "FAIL", kind,
                     gf_type_name(trial->type), shape, trial->line);
    for (unsigned i = 0; i < t->count; i++)
        gf_buffer_printf(&line, " %s", t->subjects[i].name);
    gf_buffer_text(&line, "\n");
    return gf_output_text(&line, false, e);
}

static enum gf_status finish(struct selftest *t, struct gf_error *e)
{
    struct gf_buffer text = {0};
    if (t->request->json) {
        gf_buffer_text(&t->json, "],\n \"devices\": [");
        for (unsigned i = 0; i < t->count; i++)
            gf_buffer_printf(&t->json, "%s\"%s\"", i ? ", " : "", t->subjects[i].name);
        gf_buffer_text(&t->json, "], \"no_gpu\": ");
        if (*t->no_gpu.text)
            gf_buffer_json(&t->json, t->no_gpu.text);
        else
            gf_buffer_text(&t->json, "null");
        gf_buffer_text(&t->json, "}\n");
        return gf_output_text(&t->json, false, e);
    }
    gf_buffer_printf(&text, "%zu cases, all the same",
                     (size_t)gf_ceil_div(GF_COUNT(trials), stride()));
    if (*t->no_gpu.text) {
        gf_buffer_text(&text, "; no GPU was tested: ");
        gf_buffer_escaped(&text, t->no_gpu.text, strlen(t->no_gpu.text));
    }
    gf_buffer_text(&text, "\n");
    return gf_output_text(&text, false, e);
}

static enum gf_status test_trial(struct selftest *t, const struct trial *trial,
                                 struct gf_error *e)
{
    struct gf_plan plan;
    struct gf_counts expected;
    struct gf_error mine = {""};
    void *in = NULL, *want = NULL, *got = NULL;
    enum gf_status status, said;

    GF_TRY(plan_trial(&plan, trial, e));
    status = gf_allocate(&in, gf_image_bytes(&plan.in), 1, "samples", &mine);
    if (status == GF_OK)
        status = gf_allocate(&want, gf_image_bytes(&plan.out), 1, "samples", &mine);
    if (status == GF_OK)
        status = gf_allocate(&got, gf_image_bytes(&plan.out), 1, "samples", &mine);
    if (status == GF_OK) {
        fill(&plan.in, (uint64_t)(trial - trials), in);
        status = run(&gf_backend_reference, &plan,
                     plan.dimensions == 3 ? plan.out.depth : plan.out.height, in, want, &expected,
                     &mine);
    }
    for (unsigned i = 0; i < t->count && status == GF_OK; i++)
        status = test_subject(trial, &t->subjects[i], &plan, in, want, got, &expected, &mine);
    if (status == GF_OK && gf_signal_pending())
        status = GF_ESIGNAL;
    if (status == GF_OK || status == GF_NO) {
        said = report(t, trial, &plan, status == GF_OK, e);
        status = said != GF_OK ? said : status;
    }
    if (status == GF_NO && e && *mine.text)
        *e = mine;
    else if (status != GF_OK && *mine.text)
        gf_fail(e, status, "selftest: %s on %s samples: %s", trial->line,
                gf_type_name(trial->type), mine.text);
    gf_plan_free(&plan);
    gf_free(in);
    gf_free(want);
    gf_free(got);
    return status;
}

enum gf_status gf_selftest_run(const struct gf_request *r, struct gf_error *e)
{
    struct selftest t = {.request = r};
    struct gf_error mine;
    enum gf_status status = find_subjects(&t, e);
    if (status == GF_OK && r->json)
        gf_buffer_text(&t.json, "{\"cases\": [");
    for (size_t i = 0; i < GF_COUNT(trials) && status == GF_OK; i += stride())
        status = test_trial(&t, &trials[i], e);
    /* The document says which case differs, the message where. */
    if (status == GF_OK || (status == GF_NO && r->json)) {
        enum gf_status said = finish(&t, &mine);
        if (said != GF_OK && e)
            *e = mine;
        return said != GF_OK ? said : status;
    }
    gf_buffer_free(&t.json);
    return status;
}
