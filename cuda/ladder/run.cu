/* Runs the versions of the ladders: data, right answers, runs, and what the table says of them. */
#include "run.h"

extern "C" {
#include "text.h"
}

#ifdef GF_SIMT
#include "control.h"
#include "count.h"
#define GF_LADDER_DEVICE gf_ladder_simt
#else
#define GF_LADDER_DEVICE gf_ladder_cuda
#endif

#include <cstdio>
#include <cstring>

namespace GF_DEVICE {
namespace {

/* ---- ladders ---- */

struct ladder {
    const struct ladder_version *versions;
    enum gf_status (*open)(struct ladder_state *s, struct gf_error *e);
    enum gf_status (*run)(struct ladder_state *s, const struct ladder_version *v,
                          struct gf_ladder_run *run, struct gf_error *e);
    void (*close)(struct ladder_state *s);
};

void nothing_to_close(struct ladder_state *) {}

/* By enum gf_ladder. */
const struct ladder ladders[GF_LADDERS] = {
    {reduce_versions, reduce_open, reduce_run, nothing_to_close},
    {conv2d_versions, conv_open, conv_run, conv_close},
    {conv3d_versions, conv_open, conv_run, conv_close},
    {copy_versions, copy_open, copy_run, copy_close},
};

/* ---- the machine ---- */

cudaError_t attribute(int *value, cudaDeviceAttr which, const struct device *device)
{
    return cudaDeviceGetAttribute(value, which, device->index);
}

#ifndef GF_SIMT
/* Of a multiprocessor, for binary32. */
int lanes_of(const struct device *device)
{
    int version = 10 * device->major + device->minor;

    return version == 60 || version == 70 || version == 72 || version == 75 || version == 80
               ? 64 : 128;
}
#endif

cudaError_t describe(const struct device *device, struct gf_ladder_machine *m)
{
    int processors;

    snprintf(m->name, sizeof m->name, "%s", device->name);
    m->major = device->major;
    m->minor = device->minor;
    GF_CALL(attribute(&processors, cudaDevAttrMultiProcessorCount, device));
    m->processors = static_cast<unsigned>(processors);
#ifndef GF_SIMT
    int khz, memory_khz, bits;
    GF_CALL(attribute(&khz, cudaDevAttrClockRate, device));
    GF_CALL(attribute(&memory_khz, cudaDevAttrMemoryClockRate, device));
    GF_CALL(attribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
    m->clock = khz * 1e3;
    m->peak_bytes = 2.0 * memory_khz * 1e3 * bits / 8; /* both edges of the clock */
    m->peak_flops = 2.0 * m->clock * processors * lanes_of(device);
#endif
    return cudaSuccess;
}

#ifndef GF_SIMT
constexpr uint64_t MOST_COPIED = UINT64_C(1) << 30, LEAST_COPIED = UINT64_C(1) << 24; /* samples */

/* The largest two blocks of equal size that the device has room for, up to 4 GiB. */
cudaError_t make_copy(struct ladder_state *s)
{
    cudaError_t error = cudaErrorMemoryAllocation;

    for (uint64_t n = MOST_COPIED; n >= LEAST_COPIED; n /= 2) {
        error = guarded_make(&s->in, n);
        if (error == cudaSuccess)
            error = guarded_make(&s->out, n);
        if (error != cudaErrorMemoryAllocation)
            return error;
        (void)cudaGetLastError();
        guarded_free(&s->in);
    }
    return error;
}

cudaError_t time_copy_of(struct ladder_state *s, struct gf_ladder_machine *m)
{
    struct gf_ladder_run run = {};
    struct block_of_rows all = {};

    GF_CALL(make_copy(s));
    s->work = {};
    s->work.ladder = GF_COPY;
    s->work.n = s->in.samples;
    s->work.repeats = 20;
    s->data.work = &s->work;
    all = {s->in.data, {s->work.n, 1, 1}, s->work.n, s->work.n};
    GF_CALL(fill_samples(&all, false, s->stream));
    s->data.in = s->in.data;
    s->data.out = s->out.data;
    GF_CALL(time_version(s, copy_versions, &run));
    m->copy_bytes = 2.0 * static_cast<double>(s->work.n) * sizeof(float) / run.seconds;
    return cudaSuccess;
}
#endif

/* ---- states ---- */

void close_state(struct ladder_state *s)
{
    (void)cudaSetDevice(s->device.index);
    if (s->stream != nullptr)
        (void)cudaStreamSynchronize(s->stream);
    for (struct guarded *g : {&s->in, &s->out, &s->scratch})
        guarded_free(g);
    if (s->print != nullptr)
        (void)cudaFree(s->print);
    if (s->stream != nullptr)
        (void)cudaStreamDestroy(s->stream);
    (void)cudaGetLastError();
    gf_free(s);
}

cudaError_t start_state(struct ladder_state *s)
{
    int processors;

    GF_CALL(device_start(&s->device));
    GF_CALL(attribute(&processors, cudaDevAttrMultiProcessorCount, &s->device));
    s->processors = s->data.processors = static_cast<unsigned>(processors);
    GF_CALL(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    return cudaMalloc(&s->print, sizeof *s->print);
}

/* Only close_state() frees it, also where this fails. */
enum gf_status make_state(unsigned gpu, struct ladder_state **state, struct gf_error *e)
{
    struct ladder_state *s;
    void *block;

#ifdef GF_SIMT
    simt::ignore_visible();
    simt::stop_when([] { return gf_signal_pending() != 0; });
#endif
    GF_TRY(gf_allocate(&block, 1, sizeof *s, "the ladder", e));
    memset(block, 0, sizeof *s);
    *state = s = static_cast<struct ladder_state *>(block);
    s->device.index = static_cast<int>(gpu);
    cudaError_t error = start_state(s);
    return error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
}

/* ---- the device's functions ---- */

enum gf_status machine(unsigned gpu, bool time_copy, struct gf_ladder_machine *m,
                       struct gf_error *e)
{
    struct ladder_state *s = nullptr;
    enum gf_status status = make_state(gpu, &s, e);
    cudaError_t error = cudaSuccess;

    *m = {};
    if (status == GF_OK) {
        error = describe(&s->device, m);
#ifdef GF_SIMT
        (void)time_copy;
#else
        if (error == cudaSuccess && time_copy)
            error = time_copy_of(s, m);
#endif
        if (error != cudaSuccess)
            status = ladder_failed(s, error, 8 * s->in.samples, e);
    }
    if (s != nullptr)
        close_state(s);
    return status;
}

void close(void *state)
{
    struct ladder_state *s = static_cast<struct ladder_state *>(state);

    if (s == nullptr)
        return;
    (void)cudaSetDevice(s->device.index);
    (void)cudaStreamSynchronize(s->stream);
    ladders[s->work.ladder].close(s);
    close_state(s);
}

enum gf_status open(unsigned gpu, const struct gf_ladder_work *work, void **state,
                    struct gf_error *e)
{
    struct ladder_state *s = nullptr;
    enum gf_status status = make_state(gpu, &s, e);

    *state = nullptr;
    if (s != nullptr) {
        s->work = *work;
        s->data.work = &s->work;
    }
    if (status == GF_OK)
        status = ladders[work->ladder].open(s, e);
    if (status == GF_OK)
        *state = s;
    else
        close(s);
    return status;
}

enum gf_status run(void *state, enum gf_ladder_step_id step, struct gf_ladder_run *run,
                   struct gf_error *e)
{
    struct ladder_state *s = static_cast<struct ladder_state *>(state);
    const struct ladder *ladder = &ladders[s->work.ladder];
    const struct ladder_version *v = ladder->versions;

    *run = {};
    while (v->run != nullptr && v->step != step)
        v++;
    if (v->run == nullptr)
        run->skipped = "not in this build";
    else if (v->cannot != nullptr)
        run->skipped = v->cannot(&s->work);
    if (run->skipped != nullptr)
        return GF_OK;
    cudaError_t error = cudaSetDevice(s->device.index);
    if (error != cudaSuccess)
        return ladder_failed(s, error, 0, e);
    run->reads = v->reads != nullptr ? v->reads(&s->work) : 0;
    run->reuse = v->reuse != nullptr ? v->reuse(&s->work) : 0;
    return ladder->run(s, v, run, e);
}

/* ---- one run ---- */

/* Resident warps by those that fit. */
cudaError_t occupancy_of(const struct device *device, const struct launched *kernel,
                         double *occupancy)
{
    int blocks, threads = static_cast<int>(kernel->block.x * kernel->block.y * kernel->block.z);
    int most;

    GF_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel->function, threads,
                                                          kernel->shared));
    GF_CALL(attribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    *occupancy = static_cast<double>(blocks) * ((threads + 31) / 32 * 32) / most;
    return cudaSuccess;
}

cudaError_t describe_kernel(const struct device *device, const struct launched *kernel,
                            struct gf_ladder_shape *shape)
{
    cudaFuncAttributes attributes;

    *shape = {};
    if (kernel->function == nullptr)
        return cudaSuccess;
    const dim3 &grid = kernel->grid, &block = kernel->block;
    for (int i = 0; i < 3; i++) {
        shape->grid[i] = i == 0 ? grid.x : i == 1 ? grid.y : grid.z;
        shape->block[i] = i == 0 ? block.x : i == 1 ? block.y : block.z;
    }
    GF_CALL(cudaFuncGetAttributes(&attributes, kernel->function));
    shape->shared = static_cast<uint32_t>(attributes.sharedSizeBytes + kernel->shared);
#ifdef GF_SIMT
    (void)device; /* registers are the compiler's, and so is what fits */
    (void)occupancy_of;
    return cudaSuccess;
#else
    shape->registers = static_cast<uint32_t>(attributes.numRegs);
    return occupancy_of(device, kernel, &shape->occupancy);
#endif
}

#ifdef GF_SIMT
void take_counts(struct gf_ladder_counts *to)
{
    struct simt::counts c = {};

    simt::count_end(&c);
    to->blocks = c.blocks;
    to->threads = c.threads;
    to->warp_instructions = c.warp_instructions;
    to->lane_operations = c.lane_operations;
    to->branches = c.branches;
    to->divergent_branches = c.divergent_branches;
    to->barriers = c.barriers;
    to->shared_requests = c.shared_requests;
    to->shared_wavefronts = c.shared_wavefronts;
    to->global_requests = c.global_requests;
    to->global_sectors = c.global_sectors;
    to->atomics = c.atomics;
}
#endif

/* All that the version queues; its end is waited for. */
cudaError_t run_and_wait(struct ladder_state *s, const struct ladder_version *v,
                         struct launched *first)
{
    GF_CALL(v->run(&s->data, s->stream, first));
    return cudaStreamSynchronize(s->stream);
}

}

cudaError_t run_once(struct ladder_state *s, const struct ladder_version *v,
                     struct gf_ladder_run *run)
{
    struct launched first = {};
    cudaError_t error;

    GF_CALL(guarded_poison(&s->out, s->stream));
    if (v->prepare == nullptr) /* else it may hold what that put there */
        GF_CALL(guarded_poison(&s->scratch, s->stream));
    GF_CALL(cudaStreamSynchronize(s->stream));
    if (run == nullptr)
        return run_and_wait(s, v, &first);
#ifdef GF_SIMT
    simt::count_begin();
    error = run_and_wait(s, v, &first);
    take_counts(&run->counts);
#else
    error = run_and_wait(s, v, &first);
#endif
    GF_CALL(error);
    return describe_kernel(&s->device, &first, &run->shape);
}

cudaError_t all_intact(const struct ladder_state *s, bool *intact)
{
    bool here;

    *intact = true;
    for (const struct guarded *g : {&s->in, &s->out, &s->scratch}) {
        GF_CALL(guarded_intact(g, &here));
        *intact = *intact && here;
    }
    return cudaSuccess;
}

enum gf_status make_room(struct ladder_state *s, const struct ladder_version *v, uint64_t out,
                         struct gf_error *e)
{
    uint64_t scratch = v->scratch != nullptr ? v->scratch(&s->work, s->processors) : 0;
    cudaError_t error = cudaSuccess;

    if (s->out.base == nullptr || s->out.samples != out)
        error = guarded_make(&s->out, out);
    guarded_free(&s->scratch);
    if (error == cudaSuccess && scratch > 0)
        error = guarded_make(&s->scratch, scratch);
    if (error == cudaSuccess)
        error = guarded_poison(&s->scratch, s->stream);
    s->data.out = s->out.data;
    s->data.scratch = s->scratch.data;
    if (error == cudaSuccess && v->prepare != nullptr)
        error = v->prepare(&s->data, s->stream);
    if (error != cudaSuccess)
        return ladder_failed(s, error, (s->in.samples + out + scratch) * sizeof(float), e);
    return GF_OK;
}

enum gf_status ladder_failed(const struct ladder_state *s, cudaError_t error, uint64_t needed,
                             struct gf_error *e)
{
    static const char cpu[] = "or use --device cpu", simulate[] = "or use --simulate";
    char title[320], bytes[GF_NUMBER_TEXT], free_bytes[GF_NUMBER_TEXT];
    size_t available = 0, total = 0;
    enum gf_status status;

    if (gf_signal_pending() != 0)
        return GF_ESIGNAL;
    if (error != cudaErrorMemoryAllocation || needed == 0) {
        status = failed(e, &s->device, error);
        char *advice = e != nullptr ? strstr(e->text, cpu) : nullptr;
        if (advice != nullptr)
            snprintf(advice, sizeof cpu, "%s", simulate);
        return status;
    }
    (void)cudaGetLastError();
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        (void)cudaGetLastError();
    return gf_fail(e, GF_EMEMORY,
                   "%s: %s of GPU memory are needed and %s more are free; use a smaller -n or "
                   "--size, or end other programs that use the GPU",
                   device_title(title, &s->device), gf_format_bytes(bytes, needed),
                   gf_format_bytes(free_bytes, available));
}

#ifdef GF_SIMT
cudaError_t time_version(struct ladder_state *, const struct ladder_version *,
                         struct gf_ladder_run *)
{
    return cudaSuccess; /* its time says nothing of a GPU's */
}
#endif

}

extern "C" const struct gf_ladder_device GF_LADDER_DEVICE = {
    GF_BACKEND_NAME, GF_DEVICE::machine, GF_DEVICE::open, GF_DEVICE::run, GF_DEVICE::close,
};
