/* The CUDA backend on the simt device when CUDA fails: every call of open, run and close in
 * turn. Then too little memory, GPUs that are not there, and signals. */
#include "backend.h"
#include "make_plan.h"
#include "signals.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault_sweep.h"

/* ---- plans, and running them ---- */

enum { WIDTH = 9, HEIGHT = 8, DEPTH = 5, SAMPLES = WIDTH * HEIGHT * DEPTH };

static uint8_t input[SAMPLES];
static float wanted[SAMPLES], got[SAMPLES];

/* What one plan needs on the device: taps in factors and two dimensions, or in a box and three,
 * with the prefix sums of NORMALIZE. */
static void make_plan(struct gf_plan *p, bool volume)
{
    static const double factor[] = {1, 4, 6, 4, 1}, one[] = {1};
    static const double *const factors[] = {factor, factor, one};
    static const uint32_t flat[] = {5, 5, 1}, deep[] = {3, 3, 3};
    double box[27];

    plan_begin(p, volume ? GF_FLOAT : GF_EXACT, volume ? GF_BORDER_NORMALIZE : GF_BORDER_WRAP,
               WIDTH, HEIGHT, DEPTH, 1, GF_U8, volume ? GF_F32 : GF_U8);
    if (volume) {
        for (int i = 0; i < 27; i++)
            box[i] = (1 + i % 4) / 64.0;
        plan_direct(p, deep, box);
    } else {
        plan_separable(p, flat, factors);
        p->divisor = 200; /* below the sum of 256, so that samples are clipped */
    }
}

static struct gf_slab slab(const struct gf_image *image, void *data, uint64_t z, uint64_t planes)
{
    struct gf_slab s = {.row_stride = gf_row_bytes(image), .z = z, .rows = HEIGHT,
                        .planes = planes};
    s.plane_stride = s.row_stride * HEIGHT;
    s.data = (char *)data + z * s.plane_stride;
    return s;
}

/* The image in two slabs, with buffers that are pinned where that works. */
static enum gf_status filter(const struct gf_backend *backend, const struct gf_plan *p, void *to,
                             struct gf_counts *counts, struct gf_error *e)
{
    struct gf_slab in = slab(&p->in, input, 0, DEPTH);
    void *state = NULL;
    enum gf_status status = backend->open(p, &state, e);

    memset(counts, 0, sizeof *counts);
    if (status == GF_OK && backend->pin != NULL)
        backend->pin(state, input, sizeof input);
    for (uint64_t z = 0; z < DEPTH && status == GF_OK; z += 3) {
        struct gf_slab out = slab(&p->out, to, z, gf_min(3, DEPTH - z));
        status = backend->run(state, &in, &out, counts, e);
    }
    if (state != NULL && backend->unpin != NULL)
        backend->unpin(state, input);
    backend->close(state);
    return status;
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++)
        input[i] = (uint8_t)(i * 37 + i / 7);
    /* Several chunks of each slab. */
    setenv("GPUFILT_TEST_CHUNK", "3x3", 1);
    return 0;
}

static size_t output_bytes(const struct gf_plan *p) { return gf_image_bytes(&p->out); }

/* ---- every call ---- */

struct filtering {
    struct gf_plan plan;
    struct gf_counts expected;
};
static struct gf_counts counted;

static enum gf_status run(const void *of, struct gf_error *e)
{
    const struct filtering *f = of;
    memset(got, 0x5a, sizeof got);
    return filter(&gf_backend_simt, &f->plan, got, &counted, e);
}

static void assert_right(const void *of)
{
    const struct filtering *f = of;
    assert_memory_equal(got, wanted, output_bytes(&f->plan));
    assert_memory_equal(&counted, &f->expected, sizeof counted);
}

static void sweep(bool volume)
{
    struct filtering f;
    const struct fault_job job = {&f, run, assert_right, 3, 10};
    struct gf_error e = {""};
    struct fault_tallies t;

    make_plan(&f.plan, volume);
    assert_int_equal(filter(&gf_backend_reference, &f.plan, wanted, &f.expected, &e), GF_OK);
    t = fault_sweep(&job);
    /* A call that fails for want of memory once, after open, costs no more than a smaller chunk;
     * other errors do no harm where something is pinned or released. */
    assert_true(t.memory.fine > t.memory.runs / 4);
    assert_true(t.others.fine < t.others.runs / 2);
    plan_end(&f.plan);
}

static void test_every_call_2d(void **state)
{
    (void)state;
    sweep(false);
}

static void test_every_call_3d(void **state)
{
    (void)state;
    sweep(true);
}

/* ---- memory ---- */

/* As little as is needed, found by doubling; the same bytes, and less is refused. */
static void test_gpu_memory(void **state)
{
    struct gf_plan p;
    struct gf_counts expected, counts;
    struct gf_error e = {""};
    unsigned refused = 0, fine = 0;

    (void)state;
    for (int volume = 0; volume < 2; volume++) {
        make_plan(&p, volume);
        p.packed = volume;
        assert_int_equal(filter(&gf_backend_reference, &p, wanted, &expected, &e), GF_OK);
        for (p.gpu_memory = 1; p.gpu_memory < 1 << 20; p.gpu_memory += p.gpu_memory / 8 + 1) {
            enum gf_status status = filter(&gf_backend_simt, &p, got, &counts, &e);
            if (status == GF_OK) {
                fine++;
                assert_memory_equal(got, wanted, output_bytes(&p));
                assert_memory_equal(&counts, &expected, sizeof counts);
            } else {
                refused++;
                assert_int_equal(fine, 0);
                assert_int_equal(status, GF_EMEMORY);
                fault_assert_line(&e);
                assert_non_null(strstr(e.text, "--gpu-memory"));
            }
            fault_assert_nothing_left();
        }
        assert_true(refused > 0 && fine > 0);
        refused = fine = 0;
        plan_end(&p);
    }
}

/* A device that has less than it says when it is asked. */
static void test_small_device(void **state)
{
    struct gf_plan p;
    struct gf_counts expected, counts;
    struct gf_error e = {""};
    enum gf_status before = GF_EMEMORY;

    (void)state;
    make_plan(&p, true);
    p.gpu_memory = UINT64_C(1) << 40;
    assert_int_equal(filter(&gf_backend_reference, &p, wanted, &expected, &e), GF_OK);
    for (size_t bytes = 256; bytes < 1 << 20; bytes += bytes / 4) {
        simt_limit_memory(bytes);
        enum gf_status status = filter(&gf_backend_simt, &p, got, &counts, &e);
        if (status == GF_OK) {
            assert_memory_equal(got, wanted, output_bytes(&p));
            assert_memory_equal(&counts, &expected, sizeof counts);
        } else {
            assert_int_equal(status, GF_EMEMORY);
            assert_int_equal(before, GF_EMEMORY);
            fault_assert_line(&e);
        }
        fault_assert_nothing_left();
        before = status;
    }
    assert_int_equal(before, GF_OK);
    simt_limit_memory((size_t)2 << 30);
    plan_end(&p);
}

/* ---- devices ---- */

static void test_absent_device(void **state)
{
    struct gf_plan p;
    struct gf_error e = {""};
    struct gf_counts counts;

    (void)state;
    make_plan(&p, false);
    for (int i = 0; i < 2; i++) {
        p.gpu = i == 0 ? 1 : -1;
        assert_int_equal(filter(&gf_backend_simt, &p, got, &counts, &e), GF_EDEVICE);
        assert_non_null(strstr(e.text, i == 0 ? "simt:1: there is 1 GPU" : "simt:-1: "));
        fault_assert_nothing_left();
    }
    plan_end(&p);
}

static void test_list(void **state)
{
    struct gf_gpu_info *list;
    struct gf_error e = {""};
    unsigned long long before = simt_calls(), calls;
    unsigned count;

    (void)state;
    assert_int_equal(gf_simt_devices_list(&list, &count, &e), GF_OK);
    calls = simt_calls() - before;
    assert_int_equal(count, 1);
    assert_true(list[0].usable);
    assert_string_equal(list[0].name, "simt");
    assert_true(list[0].memory_free > 0 && list[0].memory_free <= list[0].memory);
    gf_free(list);
    for (unsigned long long n = 1; n <= calls; n++)
        for (size_t i = 0; i < 2 * GF_COUNT(fault_errors); i++) {
            simt_fail_at(n, fault_errors[i / 2], i % 2 == 1);
            enum gf_status status = gf_simt_devices_list(&list, &count, &e);
            if (status == GF_OK) {
                assert_int_equal(count, 1);
                if (!list[0].usable)
                    assert_non_null(strstr(list[0].why_not, "--device cpu"));
            } else {
                assert_int_equal(status, GF_EDEVICE);
                assert_null(list);
                assert_non_null(strstr(e.text, "--device cpu"));
            }
            gf_free(list);
            simt_reset();
        }
    fault_assert_nothing_left();
}

/* ---- several plans on one device ---- */

/* Constant memory holds the taps of one plan; whose turn it is again puts its own there. */
static void test_plans_in_turn(void **state)
{
    struct gf_plan p[2];
    struct gf_counts expected, counts = {0};
    struct gf_error e = {""};
    void *opened[2] = {NULL, NULL};
    static float all[2][SAMPLES];

    (void)state;
    for (int i = 0; i < 2; i++) {
        make_plan(&p[i], i == 1);
        assert_int_equal(filter(&gf_backend_reference, &p[i], all[i], &expected, &e), GF_OK);
        assert_int_equal(gf_backend_simt.open(&p[i], &opened[i], &e), GF_OK);
    }
    for (int turn = 0; turn < 6; turn++) {
        int i = turn % 2;
        struct gf_slab in = slab(&p[i].in, input, 0, DEPTH), out = slab(&p[i].out, got, 0, DEPTH);
        assert_int_equal(gf_backend_simt.run(opened[i], &in, &out, &counts, &e), GF_OK);
        assert_memory_equal(got, all[i], output_bytes(&p[i]));
    }
    for (int i = 0; i < 2; i++) {
        gf_backend_simt.close(opened[i]);
        plan_end(&p[i]);
    }
    fault_assert_nothing_left();
}

/* ---- signals ---- */

static void test_signal(void **state)
{
    pid_t child = fork();
    int result;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        struct gf_plan p;
        struct gf_counts counts;
        struct gf_error e = {""};

        make_plan(&p, true);
        signal(SIGTERM, SIG_DFL);
        gf_signals_install();
        raise(SIGTERM);
        enum gf_status status = filter(&gf_backend_simt, &p, got, &counts, &e);
        plan_end(&p);
        _exit(status == GF_ESIGNAL && simt_leaks() == 0 && gf_memory_used() == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_2d),
        cmocka_unit_test(test_every_call_3d),
        cmocka_unit_test(test_gpu_memory),
        cmocka_unit_test(test_small_device),
        cmocka_unit_test(test_absent_device),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_plans_in_turn),
        cmocka_unit_test(test_signal),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
