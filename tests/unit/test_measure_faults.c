/* The measurer on the simt device when CUDA fails: every call of open, feed, finish and close in
 * turn. Then too little memory, GPUs that are not there, and signals; and bins that are fuller than
 * the counters of a block. Of the CPU's measurer, samples that cannot be read. */
#include "signals.h"
#include "stats/measure.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault_sweep.h"

/* ---- what is measured ---- */

/* Two chunks and a bit, so that both sets of buffers are used and one is used again. */
enum { SAMPLES = 4 * GF_LEAF + 77, BINS = 10, PREFIXES = 2 };

static float floats[SAMPLES];
static uint16_t shorts[2 * SAMPLES];
static const uint64_t first_prefix[] = {0}, prefixes[PREFIXES] = {0xbf00, 0xbf80};

struct found {
    struct gf_measured measured;
    uint64_t keys[PREFIXES * GF_KEY_BINS], range[BINS];
};
static struct found wanted, got;

/* Floats: moments, keys below two prefixes and a range. Integers: moments, and all of the keys. */
static void make(struct gf_measure *m, bool is_float, struct found *to)
{
    *m = (struct gf_measure){.type = is_float ? GF_F32 : GF_U16, .moments = true, .threads = 1};
    memset(to, 0, sizeof *to);
    m->keys = (struct gf_key_count){.prefixes = is_float ? PREFIXES : 1,
                                    .prefix = is_float ? prefixes : first_prefix,
                                    .count = to->keys};
    if (is_float)
        m->range = (struct gf_range_count){.bins = BINS, .low = -1, .high = 2, .count = to->range};
}

static enum gf_status measure(const struct gf_measurer *measurer, const struct gf_measure *m,
                              struct gf_measured *measured, struct gf_error *e)
{
    const char *samples = m->type == GF_F32 ? (const char *)floats : (const char *)shorts;
    uint64_t count = m->type == GF_F32 ? SAMPLES : 2 * SAMPLES;
    void *state = NULL;
    enum gf_status status = measurer->open(m, &state, e);

    /* In two feeds; the second one is longer. */
    if (status == GF_OK)
        status = measurer->feed(state, samples, GF_LEAF, e);
    if (status == GF_OK)
        status = measurer->feed(state, samples + (size_t)GF_LEAF * gf_type_bytes(m->type),
                                count - GF_LEAF, e);
    if (status == GF_OK)
        status = measurer->finish(state, measured, e);
    measurer->close(state);
    return status;
}

static void assert_same(bool is_float)
{
    const struct gf_measured *a = &wanted.measured, *b = &got.measured;

    assert_memory_equal(wanted.keys, got.keys, sizeof got.keys);
    assert_memory_equal(wanted.range, got.range, sizeof got.range);
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->nan, b->nan);
    assert_int_equal(a->min_at, b->min_at);
    assert_int_equal(a->max_at, b->max_at);
    assert_memory_equal(&a->min, &b->min, sizeof a->min);
    assert_memory_equal(&a->max, &b->max, sizeof a->max);
    if (is_float) {
        assert_memory_equal(&a->moments, &b->moments, sizeof a->moments);
    } else {
        assert_memory_equal(&a->sum, &b->sum, sizeof a->sum);
        assert_memory_equal(&a->squares, &b->squares, sizeof a->squares);
    }
}

static void make_wanted(bool is_float)
{
    struct gf_measure m;
    struct gf_error e = {""};

    make(&m, is_float, &wanted);
    assert_int_equal(measure(&gf_measurer_reference, &m, &wanted.measured, &e), GF_OK);
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++)
        floats[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-23f - 0.5f;
    floats[SAMPLES - 1] = (float)NAN;
    for (int i = 0; i < 2 * SAMPLES; i++)
        shorts[i] = (uint16_t)((uint32_t)i * 2654435761u >> 16);
    setenv("GPUFILT_TEST_MEASURE_CHUNK", "2", 1);
    return 0;
}

/* ---- every call ---- */

static enum gf_status run(const void *of, struct gf_error *e)
{
    struct gf_measure m;
    make(&m, *(const bool *)of, &got);
    return measure(&gf_measurer_simt, &m, &got.measured, e);
}

static void assert_right(const void *of) { assert_same(*(const bool *)of); }

static void sweep(bool is_float)
{
    const struct fault_job job = {&is_float, run, assert_right, 1, 0};
    struct fault_tallies t;

    make_wanted(is_float);
    t = fault_sweep(&job);
    /* Memory that is short once costs no more than smaller chunks. */
    assert_true(t.memory.fine > t.others.fine);
    assert_true(t.others.fine < t.others.runs / 2);
}

static void test_every_call_of_floats(void **state)
{
    (void)state;
    sweep(true);
}

static void test_every_call_of_integers(void **state)
{
    (void)state;
    sweep(false);
}

/* ---- memory ---- */

/* As little as is needed; the same numbers, and less is refused. */
static void test_gpu_memory(void **state)
{
    struct gf_measure m;
    struct gf_error e = {""};
    unsigned refused = 0, fine = 0;

    (void)state;
    make_wanted(true);
    for (uint64_t bytes = 1; bytes < 1 << 24; bytes += bytes / 2 + 1) {
        enum gf_status status;
        make(&m, true, &got);
        m.gpu_memory = bytes;
        simt_limit_memory(bytes + (1 << 16)); /* each allocation takes a little more */
        status = measure(&gf_measurer_simt, &m, &got.measured, &e);
        if (status == GF_OK) {
            fine++;
            assert_same(true);
        } else {
            refused++;
            assert_int_equal(fine, 0);
            assert_int_equal(status, GF_EMEMORY);
            fault_assert_line(&e);
            assert_non_null(strstr(e.text, "--gpu-memory"));
        }
        fault_assert_nothing_left();
    }
    simt_limit_memory((size_t)2 << 30);
    assert_true(refused > 0 && fine > 0);
}

/* A device that has less than it says when it is asked. */
static void test_small_device(void **state)
{
    struct gf_measure m;
    struct gf_error e = {""};
    enum gf_status before = GF_EMEMORY;

    (void)state;
    make_wanted(true);
    for (size_t bytes = 1 << 16; bytes < 1 << 24; bytes += bytes / 4) {
        enum gf_status status;
        make(&m, true, &got);
        simt_limit_memory(bytes);
        status = measure(&gf_measurer_simt, &m, &got.measured, &e);
        if (status == GF_OK) {
            assert_same(true);
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
}

/* The program's own memory. */
static void test_host_memory(void **state)
{
    struct gf_measure m;
    struct gf_error e = {""};

    (void)state;
    for (uint64_t n = 1; n <= 2; n++) {
        make(&m, true, &got);
        gf_alloc_fail_at(n, 0);
        assert_int_equal(measure(&gf_measurer_simt, &m, &got.measured, &e), GF_EMEMORY);
        gf_alloc_fail_at(0, 0);
        fault_assert_nothing_left();
    }
}

/* ---- bins that overflow ---- */

/* Counters in shared memory have 16 bits. Samples of two values that share a word, so that each
 * has more than that in every block: alternating, in runs that end inside vectors, and all the
 * same; against a plain count. */
static void test_crowded_bins(void **state)
{
    enum { COUNT = 24 * GF_LEAF };
    static const unsigned runs[] = {1, 3, 8, COUNT};
    static uint16_t crowd[COUNT];

    (void)state;
    setenv("GPUFILT_TEST_MEASURE_CHUNK", "100", 1);
    for (size_t i = 0; i < 2 * GF_COUNT(runs); i++) {
        struct gf_measure m;
        struct gf_error e = {""};
        void *opened = NULL;

        make(&m, false, &got);
        memset(&wanted, 0, sizeof wanted);
        for (unsigned j = 0; j < COUNT; j++) {
            crowd[j] = (uint16_t)(j / runs[i / 2] % 2 ? 40000 : 40000 - 32768);
            wanted.keys[crowd[j]]++;
        }
        m.moments = false;
        /* All bins at a time, and half of them. */
        setenv("GPUFILT_TEST_MEASURE_SHARED", i % 2 ? "65536" : "131072", 1);
        assert_int_equal(gf_measurer_simt.open(&m, &opened, &e), GF_OK);
        assert_int_equal(gf_measurer_simt.feed(opened, crowd, COUNT, &e), GF_OK);
        assert_int_equal(gf_measurer_simt.finish(opened, &got.measured, &e), GF_OK);
        gf_measurer_simt.close(opened);
        assert_memory_equal(wanted.keys, got.keys, sizeof got.keys);
        fault_assert_nothing_left();
    }
    unsetenv("GPUFILT_TEST_MEASURE_SHARED");
    setup(NULL);
}

/* ---- the CPU, when samples cannot be read ---- */

/* Each leaf from a certain one on fails, with its number as the message and, so that others fail
 * sooner, the first of them last. */
struct broken {
    uint64_t leaf;
    bool alone;                 /* those after it can be read */
};

static enum gf_status read_broken(const void *of, uint64_t first, uint64_t count, void *to,
                                  struct gf_error *e)
{
    const struct broken *b = of;
    const uint64_t leaf = first / GF_LEAF;

    if (leaf < b->leaf || (b->alone && leaf > b->leaf)) {
        memset(to, 1, count * sizeof(uint16_t));
        return GF_OK;
    }
    if (leaf == b->leaf)
        usleep(5000);
    return gf_fail(e, GF_EINPUT, "leaf %u", (unsigned)leaf);
}

static void test_unreadable(void **state)
{
    enum { LEAVES = 1040 };     /* two batches */
    static const uint64_t at[] = {0, 7, 1023, 1024, LEAVES - 1};

    (void)state;
    for (size_t i = 0; i < 6 * GF_COUNT(at); i++) {
        const struct broken broken = {at[i / 6], i % 2 == 0};
        const struct gf_supply supply = {read_broken, &broken};
        struct gf_measure m;
        struct gf_error e = {""};
        char text[32];
        void *opened = NULL;

        make(&m, false, &got);
        m.threads = 1 + (unsigned)(i % 6 / 2);
        snprintf(text, sizeof text, "leaf %u", (unsigned)broken.leaf);
        assert_int_equal(gf_measurer_cpu.open(&m, &opened, &e), GF_OK);
        assert_int_equal(gf_measurer_cpu.pull(opened, &supply, (uint64_t)LEAVES * GF_LEAF, &e),
                         GF_EINPUT);
        assert_string_equal(e.text, text);
        gf_measurer_cpu.close(opened);
        fault_assert_nothing_left();
    }
}

/* ---- devices and signals ---- */

static void test_absent_device(void **state)
{
    struct gf_measure m;
    struct gf_error e = {""};

    (void)state;
    make(&m, true, &got);
    m.gpu = 1;
    assert_int_equal(measure(&gf_measurer_simt, &m, &got.measured, &e), GF_EDEVICE);
    assert_non_null(strstr(e.text, "simt:1: there is 1 GPU"));
    fault_assert_nothing_left();
}

static void test_signal(void **state)
{
    pid_t child = fork();
    int result;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        struct gf_measure m;
        struct gf_error e = {""};

        make(&m, true, &got);
        signal(SIGTERM, SIG_DFL);
        gf_signals_install();
        raise(SIGTERM);
        enum gf_status status = measure(&gf_measurer_simt, &m, &got.measured, &e);
        _exit(status == GF_ESIGNAL && simt_leaks() == 0 && gf_memory_used() == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_of_floats),
        cmocka_unit_test(test_every_call_of_integers),
        cmocka_unit_test(test_gpu_memory),
        cmocka_unit_test(test_small_device),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_crowded_bins),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_absent_device),
        cmocka_unit_test(test_signal),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
