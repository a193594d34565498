/* The last step of the convolution ladders: what `gpufilt correlate` runs, on an image that is in
 * device memory already. The families in cuda/ want a plan and a chunk; the plan is written here,
 * as the planner makes it for a mask of floats, and all of the image is one chunk. */
#include "../errors.h"
#include "../family.h"
#include "conv.cuh"

/* The simt device has the families in builds with test hooks. */
#if !defined(GF_SIMT) || defined(GPUFILT_TEST_HOOKS)
#define GF_HAS_FAMILIES 1
#endif

namespace GF_DEVICE {

#ifdef GF_HAS_FAMILIES

namespace {

struct gf_plan plan_of(const struct gf_ladder_work *work, const float *mask)
{
    struct gf_plan p = {};
    uint64_t out[3];
    bool valid = work->ladder == GF_CONV3D && work->valid;

    gf_expect_size(work, out);
    p.in.width = work->size[0];
    p.in.height = work->size[1];
    p.in.depth = work->size[2];
    p.in.channels = 1;
    p.in.type = GF_F32;
    p.in.color = GF_GRAY;
    p.in.alpha = -1;
    p.out = p.in;
    p.out.width = out[0];
    p.out.height = out[1];
    p.out.depth = out[2];
    p.dimensions = work->ladder == GF_CONV3D ? 3 : 2;
    p.border = valid ? GF_BORDER_VALID : GF_BORDER_CONSTANT;
    p.arith = GF_FLOAT;
    for (int a = 0; a < 3; a++) {
        p.size[a] = a < p.dimensions ? work->taps : 1;
        p.origin[a] = p.size[a] / 2;
        p.shift[a] = valid ? p.origin[a] : 0;
    }
    p.taps = const_cast<float *>(mask); /* nobody writes to a plan's taps */
    p.divisor = 1;
    p.gain = 1;
    p.alpha_scale = 1;
    p.threads = 1;
    return p;
}

/* Scratch memory: counters of clipped samples, which floats have none of; taps; tables. */
constexpr uint64_t COUNTERS = 4;
struct scratch {
    unsigned long long *counts;
    float *taps;
    int32_t *row_slot, *plane_slot;
};

uint64_t tap_count(const struct gf_plan &p)
{
    return static_cast<uint64_t>(p.size[0]) * p.size[1] * p.size[2];
}
uint64_t row_slots(const struct gf_plan &p) { return p.out.height + p.size[1] - 1; }
uint64_t plane_slots(const struct gf_plan &p) { return p.out.depth + p.size[2] - 1; }

struct scratch scratch_of(const struct gf_plan &p, float *memory)
{
    struct scratch s = {};

    s.counts = reinterpret_cast<unsigned long long *>(memory);
    s.taps = reinterpret_cast<float *>(s.counts + COUNTERS);
    s.row_slot = reinterpret_cast<int32_t *>(s.taps + tap_count(p));
    s.plane_slot = s.row_slot + row_slots(p);
    return s;
}

bool aligned(const struct ladder_data *d)
{
    auto at_16 = [](const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };

    return at_16(d->in) && at_16(d->out) && d->in_pitch % 4 == 0 && d->in_plane % 4 == 0 &&
           d->out_pitch % 4 == 0 && d->out_plane % 4 == 0;
}

/* Waits, so that `from` may go. */
cudaError_t upload(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    GF_CALL(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    return cudaStreamSynchronize(stream);
}

/* The input row or plane, of `in`, under each tap of each output row or plane. */
cudaError_t upload_slots(int32_t *to, const struct gf_plan &p, int axis, uint64_t in,
                         uint64_t count, cudaStream_t stream)
{
    int32_t *slots = static_cast<int32_t *>(gf_alloc(count, sizeof *slots));
    cudaError_t status;

    if (slots == nullptr)
        return cudaErrorMemoryAllocation;
    for (uint64_t i = 0; i < count; i++)
        slots[i] = static_cast<int32_t>(
            gf_border_index(p.border, static_cast<int64_t>(i) + p.shift[axis] - p.origin[axis],
                            static_cast<int64_t>(in)));
    status = upload(to, slots, count * sizeof *slots, stream);
    gf_free(slots);
    return status;
}

uint64_t scratch_samples(const struct gf_ladder_work *work, unsigned)
{
    struct gf_plan p = plan_of(work, nullptr);

    return 2 * COUNTERS + tap_count(p) + row_slots(p) + plane_slots(p);
}

cudaError_t prepare(const struct ladder_data *data, cudaStream_t stream)
{
    struct gf_plan p = plan_of(data->work, data->mask);
    struct scratch s = scratch_of(p, data->scratch);
    struct gf_device_mask mask = {};

    mask.taps = s.taps;
    GF_CALL(cudaMemsetAsync(s.counts, 0, COUNTERS * sizeof *s.counts, stream));
    GF_CALL(upload(s.taps, data->mask, tap_count(p) * sizeof(float), stream));
    GF_CALL(upload_slots(s.row_slot, p, 1, p.in.height, row_slots(p), stream));
    GF_CALL(upload_slots(s.plane_slot, p, 2, p.in.depth, plane_slots(p), stream));
    return family_for(&p, aligned(data))->prepare(&p, &mask, stream);
}

cudaError_t run(const struct ladder_data *data, cudaStream_t stream, struct launched *first)
{
    struct gf_plan p = plan_of(data->work, data->mask);
    struct scratch s = scratch_of(p, data->scratch);
    struct gf_device_mask mask = {};
    struct gf_chunk c = {};

    mask.taps = s.taps;
    c.in = data->in;
    c.in_row = data->in_pitch * sizeof(float);
    c.in_plane = data->in_plane * sizeof(float);
    c.in_rows = static_cast<uint32_t>(p.in.height);
    c.in_planes = static_cast<uint32_t>(p.in.depth);
    c.out = data->out;
    c.out_row = data->out_pitch * sizeof(float);
    c.out_plane = data->out_plane * sizeof(float);
    c.rows = static_cast<uint32_t>(p.out.height);
    c.planes = static_cast<uint32_t>(p.out.depth);
    c.row_slot = s.row_slot;
    c.plane_slot = s.plane_slot;
    c.mask = &mask;
    c.counts = s.counts;
    watch_launch(first);
    cudaError_t error = family_for(&p, aligned(data))->launch(&p, &c, stream);
    watch_launch(nullptr);
    return error;
}

}

struct ladder_version filters_version(enum gf_ladder_step_id step)
{
    struct ladder_version v = conv_version(step, run, prepare);

    v.scratch = scratch_samples;
    return v;
}

#else

namespace {

const char *cannot(const struct gf_ladder_work *)
{
    return "this build's simt device has no kernels of the filters";
}
cudaError_t run(const struct ladder_data *, cudaStream_t, struct launched *)
{
    return cudaErrorNotSupported;
}

}

struct ladder_version filters_version(enum gf_ladder_step_id step)
{
    struct ladder_version v = conv_version(step, run, nullptr);

    v.cannot = cannot;
    return v;
}

#endif

}
