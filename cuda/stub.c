/* In place of the CUDA backend in a build without CUDA. */
#include "backend.h"
#include "devices.h"
#include "stats/measure.h"

#include <stddef.h>

static enum gf_status without_cuda(struct gf_error *e)
{
    return gf_fail(e, GF_EDEVICE,
                   "this gpufilt was built without CUDA; build it where nvcc is (12.4 or newer), "
                   "or use --device cpu");
}

static enum gf_status stub_open(const struct gf_plan *plan, void **state, struct gf_error *e)
{
    (void)plan;
    *state = NULL;
    return without_cuda(e);
}

static enum gf_status stub_run(void *state, const struct gf_slab *in, struct gf_slab *out,
                               struct gf_counts *counts, struct gf_error *e)
{
    (void)state;
    (void)in;
    (void)out;
    (void)counts;
    return without_cuda(e);
}

static void stub_close(void *state) { (void)state; }

const struct gf_backend gf_backend_cuda = {
    .name = "cuda",
    .open = stub_open,
    .run = stub_run,
    .close = stub_close,
};

static enum gf_status stub_measure(const struct gf_measure *measure, void **state,
                                   struct gf_error *e)
{
    (void)measure;
    *state = NULL;
    return without_cuda(e);
}

static enum gf_status stub_feed(void *state, const void *samples, uint64_t count,
                                struct gf_error *e)
{
    (void)state;
    (void)samples;
    (void)count;
    return without_cuda(e);
}

static enum gf_status stub_finish(void *state, struct gf_measured *measured, struct gf_error *e)
{
    (void)state;
    (void)measured;
    return without_cuda(e);
}

const struct gf_measurer gf_measurer_cuda = {
    .name = "cuda",
    .open = stub_measure,
    .feed = stub_feed,
    .finish = stub_finish,
    .close = stub_close,
};

enum gf_status gf_devices_list(struct gf_gpu_info **list, unsigned *count, struct gf_error *e)
{
    *list = NULL;
    *count = 0;
    return without_cuda(e);
}

enum gf_status gf_device_find(unsigned index, struct gf_gpu_info *info, struct gf_error *e)
{
    (void)index;
    (void)info;
    return without_cuda(e);
}

const char *gf_devices_built(void) { return NULL; }
