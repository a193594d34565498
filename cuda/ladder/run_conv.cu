/* Running the versions of the ladders of convolutions: every output is compared with the host's,
 * and what lies between rows has to stay as it was. */
#include "run.h"

extern "C" {
#include "bench/sums.h"
#include "processors.h"
}

#include <cmath>
#include <cstring>

namespace GF_DEVICE {
namespace {

constexpr uint64_t ROW_BOUNDARY = 128; /* samples: 512 bytes, as cudaMallocPitch() has it */

/* Rows of that size, padded or not; `data` is still missing. */
struct block_of_rows rows_of(const uint64_t size[3], bool packed)
{
    struct block_of_rows rows = {nullptr, {size[0], size[1], size[2]}, size[0], 0};

    if (!packed)
        rows.pitch = gf_ceil_div(size[0], ROW_BOUNDARY) * ROW_BOUNDARY;
    rows.plane = rows.pitch * size[1];
    return rows;
}

uint64_t samples_of(const struct block_of_rows *rows) { return rows->plane * rows->size[2]; }

/* The input as the version wants it; what lies between its rows is NaN. */
enum gf_status make_input(struct ladder_state *s, const struct ladder_version *v,
                          struct gf_error *e)
{
    struct block_of_rows in = rows_of(s->work.size, v->packed);
    cudaError_t error = cudaSuccess;

    if (s->in.base != nullptr && s->data.in_pitch == in.pitch)
        return GF_OK;
    error = guarded_make(&s->in, samples_of(&in));
    if (error == cudaSuccess)
        error = guarded_poison(&s->in, s->stream);
    in.data = s->in.data;
    if (error == cudaSuccess)
        error = fill_samples(&in, s->work.stress, s->stream);
    if (error != cudaSuccess)
        return ladder_failed(s, error, samples_of(&in) * sizeof(float), e);
    s->data.in = in.data;
    s->data.in_pitch = in.pitch;
    s->data.in_plane = in.plane;
    return GF_OK;
}

bool poison_between(const float *got, const struct block_of_rows *rows)
{
    uint32_t bits;

    for (uint64_t z = 0; z < rows->size[2]; z++)
        for (uint64_t y = 0; y < rows->size[1]; y++)
            for (uint64_t x = rows->size[0]; x < rows->pitch; x++) {
                memcpy(&bits, got + z * rows->plane + y * rows->pitch + x, sizeof bits);
                if (bits != UINT32_MAX)
                    return false;
            }
    return true;
}

/* The bits of all outputs of the last run. */
cudaError_t print_of(struct ladder_state *s, const struct block_of_rows *out,
                     unsigned long long *print)
{
    GF_CALL(fingerprint(out, s->print, s->stream));
    GF_CALL(cudaMemcpyAsync(print, s->print, sizeof *print, cudaMemcpyDeviceToHost, s->stream));
    return cudaStreamSynchronize(s->stream);
}

cudaError_t run_all(struct ladder_state *s, const struct ladder_version *v,
                    const struct block_of_rows *out, float *got, struct gf_ladder_run *run)
{
    unsigned long long first, again;
    bool intact, between;

    GF_CALL(run_once(s, v, run));
    GF_CALL(print_of(s, out, &first));
    GF_CALL(cudaMemcpy(got, out->data, samples_of(out) * sizeof(float), cudaMemcpyDeviceToHost));
    run->error = gf_expect_error(s->expect, got, out->pitch, out->plane);
    run->tolerance = gf_expect_tolerance(&s->work);
    between = poison_between(got, out);
    run->same_bits = true;
    for (unsigned i = 1; i < s->work.same_runs; i++) {
        GF_CALL(run_once(s, v, nullptr));
        GF_CALL(print_of(s, out, &again));
        run->same_bits = run->same_bits && again == first;
    }
    GF_CALL(time_version(s, v, run));
    GF_CALL(all_intact(s, &intact));
    run->right = run->error <= run->tolerance && between && intact;
    return cudaSuccess;
}

}

enum gf_status conv_open(struct ladder_state *s, struct gf_error *e)
{
    uint64_t n = count_of(s->work.size);
    void *in;
    enum gf_status status;

    gf_expect_size(&s->work, s->data.out_size);
    if (count_of(s->data.out_size) == 0)
        return gf_fail(e, GF_EUSAGE,
                       "the mask does not fit into the input, so that there is no output; use a "
                       "larger --size");
    gf_expect_mask(&s->work, s->mask);
    s->data.mask = s->mask;
    GF_TRY(gf_allocate(&in, n, sizeof(float), "the samples", e));
    status = gf_ladder_fill(static_cast<float *>(in), n, s->work.stress, e);
    if (status == GF_OK)
        status = gf_expect_open(&s->work, s->mask, static_cast<const float *>(in),
                                gf_processors(), &s->expect, e);
    gf_free(in);
    return status;
}

enum gf_status conv_run(struct ladder_state *s, const struct ladder_version *v,
                        struct gf_ladder_run *run, struct gf_error *e)
{
    struct block_of_rows out = rows_of(s->data.out_size, v->packed);
    double outputs = static_cast<double>(count_of(out.size));
    cudaError_t error;
    void *got;

    GF_TRY(make_input(s, v, e));
    s->data.out_pitch = out.pitch;
    s->data.out_plane = out.plane;
    GF_TRY(make_room(s, v, samples_of(&out), e));
    out.data = s->out.data;
    GF_TRY(gf_allocate(&got, samples_of(&out), sizeof(float), "the outputs", e));
    error = run_all(s, v, &out, static_cast<float *>(got), run);
    gf_free(got);
    run->bytes = (static_cast<double>(count_of(s->work.size)) + outputs) * sizeof(float);
    run->flops = 2 * outputs * gf_expect_taps(&s->work);
    return error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
}

void conv_close(struct ladder_state *s) { gf_expect_close(s->expect); }

}
