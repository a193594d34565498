/* A filter on the simt device whose output is measured there: every CUDA call fails in turn, also
 * in the middle of a slab, of which some rows have been measured by then. Then --gpu-memory, which
 * holds for both together: no allocation ever passes it. */
#include "backend.h"
#include "make_plan.h"
#include "stats/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fault_sweep.h"

/* Two images, one after the other; the rows of the second are longer, so that what is left of the
 * first moves to a larger buffer. Together more than two leaves. */
enum { IMAGES = 2, SMALL = 100 * 40, LARGE = 640 * 110, SAMPLES = SMALL + LARGE };
static const uint64_t width[IMAGES] = {100, 640}, height[IMAGES] = {40, 110};
/* Little enough that the device gathers no more than a row beside a leaf: every leaf is measured
 * as soon as it is there. */
enum { LITTLE = 600 << 10 };

static uint8_t input[LARGE];

struct found {
    float samples[SAMPLES];
    struct gf_measured measured;
    uint64_t keys[GF_KEY_BINS];
};
static struct found wanted, got;

/* What of it is asked for. */
struct fused {
    uint64_t memory;            /* --gpu-memory */
    bool keys;                  /* counted, which takes 512 KiB */
};

static void make_measure(struct gf_measure *m, const struct fused *f, struct found *to)
{
    static const uint64_t prefix[] = {0};

    memset(to, 0, sizeof *to);
    *m = (struct gf_measure){.type = GF_F32, .moments = true, .threads = 1,
                             .gpu_memory = f->memory};
    if (f->keys)
        m->keys = (struct gf_key_count){.prefixes = 1, .shift = 16, .prefix = prefix,
                                        .count = to->keys};
}

static void make_plan(struct gf_plan *p, const struct fused *f, unsigned image)
{
    static const double factor[] = {0.25, 0.5, 0.25}, one[] = {1};
    static const double *const factors[] = {factor, factor, one};
    static const uint32_t size[] = {3, 3, 1};

    plan_begin(p, GF_FLOAT, GF_BORDER_CLAMP, width[image], height[image], 1, 1, GF_U8, GF_F32);
    plan_separable(p, size, factors);
    p->gpu_memory = f->memory;
}

/* An image in two slabs; `measuring` NULL: it is not measured. */
static enum gf_status filter(const struct gf_backend *backend, const struct gf_plan *p, float *to,
                             void *measuring, struct gf_error *e)
{
    const uint64_t rows = p->in.height, half = (rows + 1) / 2;
    struct gf_slab in = {.data = input, .row_stride = gf_row_bytes(&p->in), .rows = rows,
                         .planes = 1};
    struct gf_counts counts = {0, 0, 0};
    void *state = NULL;
    enum gf_status status = backend->open(p, &state, e);

    in.plane_stride = in.row_stride * rows;
    if (status == GF_OK && measuring != NULL)
        backend->watch(state, measuring);
    for (uint64_t y = 0; status == GF_OK && y < rows; y += half) {
        struct gf_slab out = {.data = to + y * p->out.width, .y = y, .planes = 1,
                              .row_stride = gf_row_bytes(&p->out),
                              .rows = gf_min(half, rows - y)};
        out.plane_stride = out.row_stride * out.rows;
        status = backend->run(state, &in, &out, &counts, e);
    }
    backend->close(state);
    return status;
}

static enum gf_status run(const void *of, struct gf_error *e)
{
    const struct fused *f = of;
    struct gf_measure m;
    float *to = got.samples;
    void *measuring = NULL;
    enum gf_status status;

    make_measure(&m, f, &got);
    status = gf_measurer_simt.open(&m, &measuring, e);
    for (unsigned i = 0; status == GF_OK && i < IMAGES; i++) {
        struct gf_plan plan;
        make_plan(&plan, f, i);
        status = filter(&gf_backend_simt, &plan, to, measuring, e);
        plan_end(&plan);
        to += SMALL;
    }
    if (status == GF_OK)
        status = gf_measurer_simt.finish(measuring, &got.measured, e);
    gf_measurer_simt.close(measuring);
    return status;
}

static void assert_right(const void *of)
{
    (void)of;
    assert_memory_equal(got.samples, wanted.samples, sizeof got.samples);
    assert_memory_equal(got.keys, wanted.keys, sizeof got.keys);
    assert_memory_equal(&got.measured, &wanted.measured, sizeof got.measured);
}

/* Of the reference. */
static void make_wanted(const struct fused *f)
{
    struct gf_measure m;
    struct gf_error e = {""};
    float *to = wanted.samples;
    void *state = NULL;

    make_measure(&m, f, &wanted);
    for (unsigned i = 0; i < IMAGES; i++) {
        struct gf_plan plan;
        make_plan(&plan, f, i);
        assert_int_equal(filter(&gf_backend_reference, &plan, to, NULL, &e), GF_OK);
        plan_end(&plan);
        to += SMALL;
    }
    assert_int_equal(gf_measurer_reference.open(&m, &state, &e), GF_OK);
    assert_int_equal(gf_measurer_reference.feed(state, wanted.samples, SAMPLES, &e), GF_OK);
    assert_int_equal(gf_measurer_reference.finish(state, &wanted.measured, &e), GF_OK);
    gf_measurer_reference.close(state);
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < LARGE; i++)
        input[i] = (uint8_t)((uint32_t)i * 2654435761u >> 24);
    /* A slab is several chunks, and a leaf ends within one. */
    setenv("GPUFILT_TEST_CHUNK", "30x1", 1);
    return 0;
}

/* What was gathered, measured or counted once must not be so again. Errors but for want of memory
 * end a run, and are in the tests of either side. */
static void test_every_call(void **state)
{
    const struct fused f = {.memory = LITTLE + GF_KEY_BINS * sizeof(uint64_t), .keys = true};
    const struct fault_job job = {&f, run, assert_right, 0, 0};
    struct fault_tallies t;

    (void)state;
    make_wanted(&f);
    t = fault_sweep(&job);
    assert_true(t.memory.fine > t.memory.runs / 4);
}

/* With so much memory on the device; how many calls that took. */
static enum gf_status run_within(const struct fused *f, size_t memory, unsigned long long *calls,
                                 struct gf_error *e)
{
    unsigned long long before = simt_calls();
    enum gf_status status;

    simt_limit_memory(memory);
    status = run(f, e);
    *calls = simt_calls() - before;
    simt_limit_memory((size_t)2 << 30);
    fault_assert_nothing_left();
    return status;
}

/* The least that is enough works, and from there on everything. A device that has no more than is
 * allowed makes no difference: there would be more calls if one of them failed. */
static void test_gpu_memory(void **state)
{
    (void)state;
    for (int keys = 0; keys < 2; keys++) {
        struct fused f = {.keys = keys};
        unsigned fine = 0, refused = 0;
        make_wanted(&f);
        for (f.memory = 1; f.memory < 48 << 20; f.memory += f.memory / 3 + 1) {
            unsigned long long calls, tight;
            struct gf_error e = {""}, again = {""};
            enum gf_status status = run_within(&f, (size_t)2 << 30, &calls, &e);

            assert_int_equal(run_within(&f, f.memory, &tight, &again), status);
            assert_int_equal(calls, tight);
            if (status == GF_OK) {
                fine++;
                assert_right(&f);
                continue;
            }
            refused++;
            assert_int_equal(fine, 0);
            assert_int_equal(status, GF_EMEMORY);
            fault_assert_line(&e);
            assert_non_null(strstr(e.text, "--gpu-memory"));
        }
        assert_true(fine > 5 && refused > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),
        cmocka_unit_test(test_gpu_memory),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
