/* The backend on a GPU: cuts the output slab into chunks and moves them through the device,
 * where uploading, computing and downloading of neighbouring chunks overlap.
 *
 *     upload    | in 0 | in 1 |      | in 2 |        three streams, tied by the events of
 *     compute          |  0   |  1   |      |  2     the two sets of buffers: a set's input
 *     download                | out 0| out 1|        is written again when it was computed
 *                                                    from, its output when it was downloaded */
#include "buffers.h"
#include "errors.h"
#include "feed.h"
#include "gather.h"

extern "C" {
#include "signals.h"
}

#include <cstdlib>
#include <cstring>
#include <pthread.h>

#ifdef GF_SIMT
#define GF_BACKEND gf_backend_simt
#else
#define GF_BACKEND gf_backend_cuda
#endif

namespace GF_DEVICE {
namespace {

/* Left free of what the device says is free: kernels' stacks and code, and what the driver
 * cuts allocations into. */
constexpr uint64_t MARGIN = 64 << 20;
constexpr uint64_t MARGIN_SHARE = 16;

/* Of the memory for buffers, what a measurer may take where it would like more. */
constexpr uint64_t MEASURED_SHARE = 4;

/* Constant memory holds one plan's mask, so one plan at a time runs on a device. */
struct owner {
    pthread_mutex_t mutex;
    uint64_t serial;            /* of the state whose mask is there */
};
constexpr int OWNERS = 16;
struct owner owners[OWNERS] = {
#define GF_OWNER {PTHREAD_MUTEX_INITIALIZER, 0}
    GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER,
    GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER, GF_OWNER,
#undef GF_OWNER
};
uint64_t last_serial;           /* atomic */

struct owner *owner_of(const struct state *s) { return &owners[s->device.index % OWNERS]; }

/* ---- open ---- */

/* An array of the plan and the pointer to its copy on the device. */
struct array {
    const void *from;
    uint64_t bytes;
    void **to;
};

/* Lists the mask's arrays; how many. */
unsigned mask_arrays(struct state *s, struct array list[8])
{
    const struct gf_plan *plan = s->plan;
    uint64_t tap = plan->arith == GF_DOUBLE ? 8 : 4, box = sizeof(double), taps = tap;
    bool normalize = plan->border == GF_BORDER_NORMALIZE;
    unsigned n = 0;

    for (int a = 0; a < 3; a++) {
        taps = product_of(taps, plan->size[a]);
        box = product_of(box, plan->size[a] + UINT64_C(1));
        if (plan->factor[a] != nullptr)
            list[n++] = {plan->factor[a], plan->size[a] * tap, &s->mask.factor[a]};
        if (normalize && plan->inside_sum[a] != nullptr)
            list[n++] = {plan->inside_sum[a], (plan->size[a] + UINT64_C(1)) * sizeof(double),
                         reinterpret_cast<void **>(&s->mask.inside_sum[a])};
    }
    if (plan->taps != nullptr)
        list[n++] = {plan->taps, taps, &s->mask.taps};
    if (normalize && plan->inside_box != nullptr)
        list[n++] = {plan->inside_box, box, reinterpret_cast<void **>(&s->mask.inside_box)};
    return n;
}

uint64_t array_bytes(const struct array *a) { return gf_ceil_div(a->bytes, 16) * 16; }

/* What is there as long as the state: the counters, and the mask in one block. */
cudaError_t make_fixed(struct state *s)
{
    struct array list[8];
    const unsigned n = mask_arrays(s, list);
    const uint64_t counts_bytes = 3 * sizeof *s->counts;
    uint64_t mask_bytes = 0, at = 0;
    void *block;

    for (unsigned i = 0; i < n; i++)
        mask_bytes += array_bytes(&list[i]);
    s->fixed_bytes = counts_bytes + mask_bytes;
    if (s->plan->gpu_memory > 0 && s->fixed_bytes > s->plan->gpu_memory)
        return cudaErrorMemoryAllocation;
    GF_CALL(cudaMalloc(&block, counts_bytes));
    s->counts = static_cast<unsigned long long *>(block);
    GF_CALL(cudaMallocHost(&block, counts_bytes));
    s->host_counts = static_cast<unsigned long long *>(block);
    if (n == 0)
        return cudaSuccess;
    GF_CALL(cudaMalloc(&s->mask_block, mask_bytes));
    for (unsigned i = 0; i < n; i++) {
        *list[i].to = static_cast<char *>(s->mask_block) + at;
        at += array_bytes(&list[i]);
        GF_CALL(cudaMemcpyAsync(*list[i].to, list[i].from, list[i].bytes,
                                cudaMemcpyHostToDevice, s->compute));
    }
    return cudaSuccess;
}

cudaError_t make_streams(struct state *s)
{
    cudaStream_t *const streams[] = {&s->upload, &s->compute, &s->download};

    for (cudaStream_t *stream : streams)
        GF_CALL(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    /* Threads that wait leave the processor to those that read and write files. */
    GF_CALL(cudaEventCreateWithFlags(&s->finished,
                                     cudaEventDisableTiming | cudaEventBlockingSync));
    for (struct set &set : s->set) {
        cudaEvent_t *const events[] = {&set.uploaded, &set.computed, &set.downloaded};
        for (cudaEvent_t *event : events)
            GF_CALL(cudaEventCreateWithFlags(event,
                                             cudaEventDisableTiming | cudaEventBlockingSync));
    }
    return cudaSuccess;
}

cudaError_t set_limit(struct state *s)
{
    size_t available, total;

    if (s->plan->gpu_memory > 0) {
        s->limit = s->plan->gpu_memory - s->fixed_bytes;
        return cudaSuccess;
    }
    GF_CALL(cudaMemGetInfo(&available, &total));
    s->limit = available - gf_min(available / 2, gf_max(MARGIN, available / MARGIN_SHARE));
    return cudaSuccess;
}

cudaError_t start(struct state *s)
{
    GF_CALL(device_start(&s->device));
    GF_CALL(make_streams(s));
    GF_CALL(make_fixed(s));
    return set_limit(s);
}

/* Waits until nothing is in flight, whatever went wrong, so that the caller's buffers and
 * ours may be freed. */
void settle(struct state *s)
{
    const cudaStream_t streams[] = {s->upload, s->compute, s->download};

    for (cudaStream_t stream : streams)
        if (stream != nullptr)
            (void)cudaStreamSynchronize(stream);
}

void close(void *state)
{
    struct state *s = static_cast<struct state *>(state);

    if (s == nullptr)
        return;
    /* After an error that ended the context these calls do nothing but say so again. */
    (void)cudaSetDevice(s->device.index);
    settle(s);
    buffers_free(s);
    if (s->mask_block != nullptr)
        (void)cudaFree(s->mask_block);
    if (s->counts != nullptr)
        (void)cudaFree(s->counts);
    if (s->host_counts != nullptr)
        (void)cudaFreeHost(s->host_counts);
    for (struct set &set : s->set) {
        const cudaEvent_t events[] = {set.uploaded, set.computed, set.downloaded};
        for (cudaEvent_t event : events)
            if (event != nullptr)
                (void)cudaEventDestroy(event);
    }
    if (s->finished != nullptr)
        (void)cudaEventDestroy(s->finished);
    const cudaStream_t streams[] = {s->upload, s->compute, s->download};
    for (cudaStream_t stream : streams)
        if (stream != nullptr)
            (void)cudaStreamDestroy(stream);
    (void)cudaGetLastError();
    gf_free(s);
}

/* ---- what it takes at least ---- */

const struct shape least_shape = {1, 1, 1};

uint64_t output_row(const struct state *s) { return s->plan->out.width * s->plan->out.channels; }

enum gf_status no_room(const struct state *s, struct gf_error *e)
{
    const bool measured = s->measuring != nullptr;
    uint64_t bytes = sum_of(shape_bytes(s, &least_shape), s->fixed_bytes);

    if (measured)
        bytes = sum_of(bytes, gather_plan(s->measuring, output_row(s), 0));
    return no_memory(e, &s->device, "one row of the output takes", bytes,
                     measured ? "with all that it reads, the mask and the statistics"
                              : "with all that it reads and the mask",
                     s->plan->gpu_memory);
}

enum gf_status failure(const struct state *s, cudaError_t error, struct gf_error *e)
{
    return error == cudaErrorMemoryAllocation ? no_room(s, e) : failed(e, &s->device, error);
}

bool whole_vectors(const struct state *s) { return s->in_row % 16 == 0 && s->out_row % 16 == 0; }

bool choose_packed(const struct state *s)
{
    bool should = should_pack(s->in_row) || should_pack(s->out_row);
#ifdef GPUFILT_TEST_HOOKS
    /* Small test images are to be pitched as well. */
    should = should && getenv("GPUFILT_TEST_PITCHED") == nullptr;
#endif
    return s->plan->packed || should || must_pack(s->in_row) || must_pack(s->out_row);
}

enum gf_status open(const struct gf_plan *plan, void **state, struct gf_error *e)
{
    struct state *s;
    void *block;
    cudaError_t error;

    GF_TRY(gf_allocate(&block, 1, sizeof *s, "the filter", e));
    memset(block, 0, sizeof *s);
    s = static_cast<struct state *>(block);
    s->plan = plan;
    s->device.index = plan->gpu;
    s->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
    s->in_row = gf_row_bytes(&plan->in);
    s->out_row = gf_row_bytes(&plan->out);
    s->packed = choose_packed(s);
    s->family = family_for(plan, !s->packed || whole_vectors(s));
    error = start(s);
    if (error != cudaSuccess) {
        enum gf_status status = failure(s, error, e);
        close(s);
        return status;
    }
    *state = s;
    return GF_OK;
}

/* ---- run ---- */

/* A chunk on its way, for the download. */
struct job {
    struct set *set;            /* NULL: none */
    struct gf_chunk chunk;
};

cudaError_t download(struct state *s, const struct job *job, const struct gf_slab *out)
{
    struct rows to;

    if (job->set == nullptr)
        return cudaSuccess;
    to.row = out->row_stride;
    to.plane = out->plane_stride;
    to.data = static_cast<char *>(out->data) + (job->chunk.z - out->z) * to.plane +
              (job->chunk.y - out->y) * to.row;
    GF_CALL(cudaStreamWaitEvent(s->download, job->set->computed, 0));
    GF_CALL(copy_rows(to, job->set->out, s->out_row, job->chunk.rows, job->chunk.planes,
                      cudaMemcpyDeviceToHost, s->download));
    return cudaEventRecord(job->set->downloaded, s->download);
}

cudaError_t measure_chunk(const struct state *s, const struct set *set,
                          const struct gf_chunk *chunk)
{
    const uint64_t row = output_row(s), rows = chunk->z * s->plan->out.height + chunk->y;
    const uint64_t first = s->measured_before + rows * row;

    return gather_rows(s->measuring, first, set->out, row, chunk->rows, chunk->planes, s->compute);
}

/* Uploads and computes a chunk whose y, z, rows and planes are set. */
cudaError_t compute(struct state *s, const struct gf_slab *in, struct job *job)
{
    struct set *set = &s->set[s->turn % s->shape.sets];
    struct set *before = &s->set[(s->turn + 1) % s->shape.sets];
    struct gf_chunk *chunk = &job->chunk;

    job->set = set;
    s->turn++;
    GF_CALL(cudaEventSynchronize(set->uploaded));
    GF_CALL(cudaStreamWaitEvent(s->upload, set->computed, 0));
    GF_CALL(feed(s, set, before != set ? before : nullptr, in, chunk));
    GF_CALL(cudaEventRecord(set->uploaded, s->upload));
    chunk->out = set->out.data;
    chunk->out_row = set->out.row;
    chunk->out_plane = set->out.plane;
    chunk->mask = &s->mask;
    chunk->work = s->work;
    chunk->counts = s->counts;
    GF_CALL(cudaStreamWaitEvent(s->compute, set->uploaded, 0));
    GF_CALL(cudaStreamWaitEvent(s->compute, set->downloaded, 0));
    GF_CALL(s->family->launch(s->plan, chunk, s->compute));
    if (s->measuring != nullptr)
        GF_CALL(measure_chunk(s, set, chunk));
    return cudaEventRecord(set->computed, s->compute);
}

/* The `index`-th chunk of a slab. Planes that overlap in what they read come one after the
 * other; otherwise rows do, and where samples are measured in their order. */
struct gf_chunk chunk_at(const struct state *s, const struct gf_slab *out,
                         const struct shape *shape, uint64_t index)
{
    uint64_t bands = gf_ceil_div(out->rows, shape->rows);
    uint64_t layers = gf_ceil_div(out->planes, shape->planes);
    bool deep = s->plan->size[2] > 1 && s->measuring == nullptr;
    uint64_t y = (deep ? index / layers : index % bands) * shape->rows;
    uint64_t z = (deep ? index % layers : index / bands) * shape->planes;
    struct gf_chunk c = {};

    c.y = out->y + y;
    c.z = out->z + z;
    c.rows = static_cast<uint32_t>(gf_min(shape->rows, out->rows - y));
    c.planes = static_cast<uint32_t>(gf_min(shape->planes, out->planes - z));
    return c;
}

/* Uploads, computes and downloads the slab; *stopped by a signal. */
cudaError_t compute_slab(struct state *s, const struct gf_slab *in, const struct gf_slab *out,
                         bool *stopped)
{
    struct owner *owner = owner_of(s);
    struct job job = {}, previous = {};
    struct shape shape;
    uint64_t chunks;

    GF_CALL(cudaSetDevice(s->device.index));
    GF_CALL(buffers_make(s, out->rows, out->planes, &shape));
    if (s->measuring != nullptr && shape.rows < out->rows)
        shape.planes = 1;
    if (owner->serial != s->serial) {
        owner->serial = 0;
        GF_CALL(s->family->prepare(s->plan, &s->mask, s->compute));
        owner->serial = s->serial;
    }
    GF_CALL(cudaMemsetAsync(s->counts, 0, 3 * sizeof *s->counts, s->compute));
    chunks = gf_ceil_div(out->rows, shape.rows) * gf_ceil_div(out->planes, shape.planes);
    for (uint64_t i = 0; i < chunks; i++) {
        *stopped = gf_signal_pending() != 0;
        if (*stopped)
            return cudaSuccess;
        job.chunk = chunk_at(s, out, &shape, i);
        /* A single set's output is written again as soon as it was downloaded. */
        if (shape.sets == 1) {
            GF_CALL(download(s, &previous, out));
            previous.set = nullptr;
        }
        GF_CALL(compute(s, in, &job));
        /* The only set is needed again at once. With two the download waits until the next
         * chunk is on its way, because with memory that is not pinned the call returns only
         * when the bytes are there. */
        if (shape.sets == 1) {
            GF_CALL(download(s, &job, out));
            continue;
        }
        GF_CALL(download(s, &previous, out));
        previous = job;
    }
    GF_CALL(download(s, &previous, out));
    GF_CALL(cudaMemcpyAsync(s->host_counts, s->counts, 3 * sizeof *s->counts,
                            cudaMemcpyDeviceToHost, s->download));
    GF_CALL(cudaEventRecord(s->finished, s->download));
    return cudaEventSynchronize(s->finished);
}

/* What a set holds is not known after a run that did not end well. */
void forget(struct state *s)
{
    for (struct set &set : s->set)
        set.row_slots = set.plane_slots = {};
    owner_of(s)->serial = 0;
}

enum gf_status run(void *state, const struct gf_slab *in, struct gf_slab *out,
                   struct gf_counts *counts, struct gf_error *e)
{
    struct state *s = static_cast<struct state *>(state);
    struct owner *owner = owner_of(s);
    enum gf_status status = GF_OK;
    bool stopped = false;
    cudaError_t error;

    if (out->rows == 0 || out->planes == 0)
        return GF_OK;
    pthread_mutex_lock(&owner->mutex);
    for (;;) {
        error = compute_slab(s, in, out, &stopped);
        if (error == cudaSuccess && !stopped)
            break;
        settle(s);
        forget(s);
        if (error != cudaErrorMemoryAllocation || !buffers_shrink(s))
            break;
        (void)cudaGetLastError();
    }
    pthread_mutex_unlock(&owner->mutex);
    if (error != cudaSuccess)
        status = failure(s, error, e);
    else if (stopped)
        status = GF_ESIGNAL;
    if (status != GF_OK)
        return status;
    counts->clipped_low += s->host_counts[0];
    counts->clipped_high += s->host_counts[1];
    counts->nan += s->host_counts[2];
    return GF_OK;
}

/* The measurer may have a share of the memory, so that it is given enough samples at a time. */
void watch(void *state, void *measuring)
{
    struct state *s = static_cast<struct state *>(state);
    const uint64_t beside = s->limit - gf_min(s->limit, shape_bytes(s, &least_shape));

    s->measuring = measuring;
    s->measured_before = gather_taken(measuring);
    s->limit -= gf_min(s->limit, gather_plan(measuring, output_row(s),
                                             gf_min(s->limit / MEASURED_SHARE, beside)));
}

/* ---- host memory ---- */

void pin(void *state, void *data, size_t bytes)
{
    (void)cudaSetDevice(static_cast<struct state *>(state)->device.index);
    if (bytes > 0 && cudaHostRegister(data, bytes, cudaHostRegisterDefault) != cudaSuccess)
        (void)cudaGetLastError();
}

void unpin(void *state, void *data)
{
    (void)cudaSetDevice(static_cast<struct state *>(state)->device.index);
    if (cudaHostUnregister(data) != cudaSuccess)
        (void)cudaGetLastError();
}

}
}

extern "C" const struct gf_backend GF_BACKEND = {
    GF_BACKEND_NAME, GF_DEVICE::open, GF_DEVICE::run, GF_DEVICE::close, GF_DEVICE::pin,
    GF_DEVICE::unpin, GF_DEVICE::watch,
};
