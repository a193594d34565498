/* A job on the simt device while CUDA fails: every call of it in turn, with several kinds of error,
 * once and for good. Never a crash, never a leak, and either the right numbers or one line that
 * names the device and what to do. After <cmocka.h> and what it needs. */
#ifndef GPUFILT_TESTS_UNIT_FAULT_SWEEP_H
#define GPUFILT_TESTS_UNIT_FAULT_SWEEP_H

#include "alloc.h"
#include "simt_control.h"
#include "status.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

/* By number, as cudaError_t has them; simt does not name them all. */
enum { FAULT_OUT_OF_MEMORY = 2 };
static const int fault_errors[] = {
    35 /* InsufficientDriver */, 46 /* DevicesUnavailable */, 100 /* NoDevice */,
    201 /* DeviceUninitialized */, 209 /* NoKernelImageForDevice */, 214 /* ECCUncorrectable */,
    700 /* IllegalAddress */, 702 /* LaunchTimeout */, 719 /* LaunchFailure */,
    803 /* SystemDriverMismatch */, 999 /* Unknown */,
};

struct fault_job {
    const void *of;             /* for those two */
    enum gf_status (*run)(const void *of, struct gf_error *e);
    void (*assert_right)(const void *of); /* of what a run made that went well */
    unsigned kinds;             /* of errors at each call, beside too little memory */
    unsigned openers;           /* so many calls open the device: all kinds are tried there */
};

struct fault_tally {
    unsigned runs, fine;
};
struct fault_tallies {
    struct fault_tally memory, others;
};

static void fault_assert_line(const struct gf_error *e)
{
    if (strncmp(e->text, "simt:0", 6) != 0 || strchr(e->text, '\n') != NULL ||
        strstr(e->text, "--device cpu") == NULL)
        fail_msg("%s", e->text);
}

static void fault_assert_nothing_left(void)
{
    assert_int_equal(simt_leaks(), 0);
    assert_int_equal(gf_memory_used(), 0);
}

/* Call n fails; what comes back must be one of the few things allowed. */
static void fault_at(const struct fault_job *job, unsigned long long n, int error, bool sticky,
                     struct fault_tally *tally)
{
    struct gf_error e = {""};
    enum gf_status status;

    simt_fail_at(n, error, sticky);
    status = job->run(job->of, &e);
    tally->runs++;
    if (status == GF_OK) {
        tally->fine++;
        job->assert_right(job->of);
    } else {
        if (status != (error == FAULT_OUT_OF_MEMORY ? GF_EMEMORY : GF_EDEVICE))
            fail_msg("call %llu, error %d%s: status %d, %s", n, error, sticky ? " for good" : "",
                     (int)status, e.text);
        fault_assert_line(&e);
    }
    fault_assert_nothing_left();
    simt_reset();
}

/* How often it went well all the same. */
static struct fault_tallies fault_sweep(const struct fault_job *job)
{
    struct fault_tallies t = {{0, 0}, {0, 0}};
    struct gf_error e = {""};
    unsigned long long before = simt_calls(), calls;

    assert_int_equal(job->run(job->of, &e), GF_OK);
    calls = simt_calls() - before;
    job->assert_right(job->of);
    fault_assert_nothing_left();
    for (unsigned long long n = 1; n <= calls; n++) {
        const unsigned kinds = n <= job->openers ? GF_COUNT(fault_errors) : job->kinds;
        fault_at(job, n, FAULT_OUT_OF_MEMORY, false, &t.memory);
        fault_at(job, n, FAULT_OUT_OF_MEMORY, true, &t.memory);
        for (unsigned i = 0; i < kinds; i++)
            fault_at(job, n, fault_errors[(job->kinds * n + i) % GF_COUNT(fault_errors)],
                     n % 2 == 0, &t.others);
    }
    fprintf(stderr, "%llu calls; %u of %u runs short of memory went well, %u of %u others\n",
            calls, t.memory.fine, t.memory.runs, t.others.fine, t.others.runs);
    return t;
}

#endif
