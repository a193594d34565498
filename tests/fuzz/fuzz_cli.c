/* Lines as the words of a command line, with "gpufilt" before them. A request that is accepted
 * makes sense; a filter is then planned and run on a small image, by the CPU backend and by the
 * reference, and both must give the same. Files are not touched. */
#include "fuzz.h"

#include "alloc.h"
#include "backend.h"
#include "cli.h"
#include "filter.h"
#include "message.h"
#include "planner.h"
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 64
#define MOST_TAPS 4096

static char *copy_word(const uint8_t *from, size_t size)
{
    char *word = malloc(size + 1);
    fuzz_need(word != NULL, "no memory");
    memcpy(word, from, size);
    word[size] = '\0';
    return word;
}

static void check_request(const struct gf_request *r)
{
    fuzz_need(r->help || r->version || r->command, "no command");
    fuzz_need((unsigned)r->border < GF_BORDER_COUNT, "border %d", (int)r->border);
    fuzz_need((unsigned)r->type < GF_TYPE_COUNT, "type %d", (int)r->type);
    fuzz_need(r->sigma_count <= 3, "%u sigmas", r->sigma_count);
    for (unsigned i = 0; i < r->sigma_count; i++)
        fuzz_need(r->sigma[i].value >= 0 && isfinite(r->sigma[i].value), "sigma %g",
                  r->sigma[i].value);
    fuzz_need(r->truncate > 0 && isfinite(r->truncate), "truncate %g", r->truncate);
    for (int i = 0; i < 3; i++)
        fuzz_need(r->spacing[i] >= 0 && isfinite(r->spacing[i]), "spacing %g", r->spacing[i]);
    fuzz_need(r->dimensions == 0 || r->dimensions == 2 || r->dimensions == 3, "%d dimensions",
              r->dimensions);
    fuzz_need(!r->roi_given || r->roi_axes == 2 || r->roi_axes == 3, "%u axes", r->roi_axes);
    for (unsigned i = 0; r->roi_given && i < r->roi_axes; i++)
        fuzz_need(r->roi_size[i] > 0, "an empty part");
    fuzz_need(r->write.level >= -1 && r->write.level <= 9, "level %d", r->write.level);
}

/* The whole output at once. */
static void *run(const struct gf_backend *backend, const struct gf_plan *plan, const void *samples,
                 struct gf_counts *counts)
{
    const struct gf_slab in = {.data = (void *)(uintptr_t)samples,
                               .row_stride = gf_row_bytes(&plan->in),
                               .plane_stride = gf_row_bytes(&plan->in) * plan->in.height,
                               .rows = plan->in.height, .planes = plan->in.depth};
    struct gf_slab out = {.row_stride = gf_row_bytes(&plan->out),
                          .plane_stride = gf_row_bytes(&plan->out) * plan->out.height};
    struct gf_error e = {""};
    enum gf_status status;
    void *state = NULL;

    out.data = malloc(gf_image_bytes(&plan->out));
    fuzz_need(out.data != NULL, "no memory");
    status = backend->open(plan, &state, &e);
    uint64_t planes = plan->dimensions == 3 ? 1 : plan->out.depth;
    for (uint64_t z = 0; status == GF_OK && z < planes; z++) {
        struct gf_slab from = in, to = out;
        to.rows = plan->out.height;
        to.planes = plan->dimensions == 3 ? plan->out.depth : 1;
        to.z = z;
        to.data = (char *)out.data + z * out.plane_stride;
        if (plan->dimensions == 2) {
            from.z = z + (uint64_t)plan->shift[2];
            from.data = (char *)in.data + from.z * in.plane_stride;
            from.planes = 1;
        }
        status = backend->run(state, &from, &to, counts, &e);
    }
    fuzz_need_status(status, 1u << GF_OK | 1u << GF_EMEMORY, &e);
    backend->close(state);
    if (status == GF_OK)
        return out.data;
    free(out.data);
    return NULL;
}

static void compare(const struct gf_plan *plan, const void *samples)
{
    struct gf_counts counts[2] = {{0}};
    void *wanted = run(&gf_backend_reference, plan, samples, &counts[0]);
    void *found = run(&gf_backend_cpu, plan, samples, &counts[1]);
    if (wanted && found) {
        fuzz_need(memcmp(wanted, found, gf_image_bytes(&plan->out)) == 0,
                  "the CPU backend and the reference differ");
        fuzz_need(memcmp(&counts[0], &counts[1], sizeof counts[0]) == 0, "counts differ");
    }
    free(wanted);
    free(found);
}

static void filter(const struct gf_request *r, uint32_t choice)
{
    static const uint32_t channels[] = {1, 3, 2, 4};
    struct gf_image image = {.width = 1 + choice % 9, .height = 1 + choice / 9 % 5, .alpha = -1,
                             .channels = channels[choice / 45 % 4], .color = GF_GRAY};
    struct gf_error e = {""};
    struct gf_kernel kernel = {0};
    struct gf_mask own = {0};
    const struct gf_mask *mask = NULL;
    struct gf_plan plan = {0};
    enum gf_status status;

    image.depth = choice / 180 % 3 == 0 ? 3 : 1;
    image.volume = image.depth > 1;
    image.type = (enum gf_type)(choice / 540 % GF_TYPE_COUNT);
    image.color = image.channels > 2 ? GF_RGB : GF_GRAY;
    image.alpha = image.channels % 2 == 0 ? (int)image.channels - 1 : -1;
    image.meta.spacing[0] = image.meta.spacing[1] = choice & 1 ? 0.5 : 0;
    image.meta.spacing[2] = choice & 1 ? 2 : 0;
    status = gf_kernel_load(&kernel, r, &e);
    if (status == GF_OK)
        status = gf_filter_mask(r, &kernel, &image, "in", &own, &mask, &e);
    fuzz_need_status(status, 1u << GF_OK | 1u << GF_EUSAGE | 1u << GF_EFEATURE | 1u << GF_EMEMORY,
                     &e);
    if (status == GF_OK) {
        status = gf_plan_make(&plan, r, mask, &image, false, "in", &e);
        fuzz_need_status(status, 1u << GF_OK | 1u << GF_EUSAGE | 1u << GF_EFEATURE |
                         1u << GF_EMEMORY, &e);
        uint64_t taps = (uint64_t)mask->size[0] * mask->size[1] * mask->size[2];
        if (status == GF_OK && taps < MOST_TAPS) {
            /* The block is just as large as the samples. */
            uint64_t bytes = gf_image_bytes(&image);
            uint8_t *samples = malloc(bytes);
            fuzz_need(samples != NULL, "no memory");
            for (uint64_t i = 0; i < bytes; i++)
                samples[i] = (uint8_t)((choice = choice * 1664525u + 1013904223u) >> 24);
            compare(&plan, samples);
            free(samples);
        }
        gf_plan_free(&plan);
    }
    gf_mask_free(&own);
    gf_kernel_free(&kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MOST_WORDS + 2], *argv[MOST_WORDS + 2];
    struct gf_request r;
    struct gf_error e = {""};
    enum gf_status status;
    int count = 0;

    gf_message_set_verbosity(GF_QUIET);
    gf_memory_set_limit(FUZZ_MEMORY);
    words[count++] = copy_word((const uint8_t *)"gpufilt", 7);
    for (size_t at = 0; at < size && count <= MOST_WORDS;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        words[count++] = copy_word(data + at, length);
        at += length + 1;
    }
    memcpy(argv, words, sizeof *argv * (size_t)count);
    argv[count] = NULL;
    status = gf_cli_parse(&r, count, argv, &e);
    fuzz_need_status(status, 1u << GF_OK | 1u << GF_EUSAGE | 1u << GF_EFEATURE, &e);
    if (status == GF_OK) {
        check_request(&r);
        /* A mask in a file is none of this target's business. */
        if (r.command && (r.command->bit & GF_FILTERS) && !r.help && !r.version &&
            (!r.kernel || (r.kernel[0] != '@' && !strchr(r.kernel, '/') &&
                           !strstr(r.kernel, ".mask"))))
            filter(&r, fuzz_hash(data, size));
    }
    gf_request_free(&r);
    fuzz_need(gf_memory_used() == 0, "%llu bytes of memory were not given back",
              (unsigned long long)gf_memory_used());
    for (int i = 0; i < count; i++)
        free(words[i]);
    return 0;
}
