/* Running the versions of the ladder of copies: every sample has to arrive, to the last bit. */
#include "run.h"

extern "C" {
#include "bench/sums.h"
}

#include <cstring>

namespace GF_DEVICE {
namespace {

uint64_t bytes_of(const struct ladder_state *s) { return s->work.n * sizeof(float); }

/* ---- memory of the host, made when a version wants it ---- */

enum gf_status make_host(struct ladder_state *s, enum ladder_host host, struct gf_error *e)
{
    if (host == HOST_PINNED && s->pinned == nullptr) {
        cudaError_t error = cudaMallocHost(&s->pinned, bytes_of(s));
        if (error != cudaSuccess) {
            s->pinned = nullptr;
            (void)cudaGetLastError();
            return gf_fail(e, GF_EMEMORY,
                           "copy: the driver does not pin %llu bytes of memory (%s); use a "
                           "smaller -n",
                           static_cast<unsigned long long>(bytes_of(s)),
                           cudaGetErrorName(error));
        }
    }
    if (host == HOST_PAGEABLE && s->pageable == nullptr)
        GF_TRY(gf_allocate(&s->pageable, s->work.n, sizeof(float), "the samples of copy", e));
    s->data.pinned = s->pinned;
    s->data.pageable = s->pageable;
    return GF_OK;
}

void *host_of(const struct ladder_state *s, enum ladder_host host)
{
    return host == HOST_PINNED ? s->pinned : host == HOST_PAGEABLE ? s->pageable : nullptr;
}

/* ---- a run ---- */

/* Whether the last run did what it should. */
enum gf_status look_at(struct ladder_state *s, const struct ladder_version *v, bool *right,
                       struct gf_error *e)
{
    struct block_of_rows in = {s->in.data, {s->work.n, 1, 1}, s->work.n, s->work.n}, out = in;
    unsigned long long print[2] = {};
    uint64_t differ = 0;
    uint32_t parity = 0;
    cudaError_t error;

    if (v->to_host) {
        const float *got = static_cast<const float *>(host_of(s, v->host));
        GF_TRY(gf_ladder_differ(got, s->work.n, s->work.stress, &differ, e));
        *right = differ == 0;
        return GF_OK;
    }
    if (v->step == GF_STEP_COPY_READ) {
        error = cudaMemcpy(&parity, s->out.data, sizeof parity, cudaMemcpyDeviceToHost);
        *right = parity == s->parity;
        return error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
    }
    out.data = s->out.data;
    error = fingerprint(&in, s->print, s->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&print[0], s->print, sizeof *print, cudaMemcpyDeviceToHost,
                                s->stream);
    if (error == cudaSuccess)
        error = fingerprint(&out, s->print, s->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&print[1], s->print, sizeof *print, cudaMemcpyDeviceToHost,
                                s->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(s->stream);
    *right = print[0] == print[1];
    return error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
}

/* `in`, and what goes to the device, hold the samples; what comes from there is poison first. */
enum gf_status prepare_host(struct ladder_state *s, const struct ladder_version *v,
                            struct gf_error *e)
{
    void *host;

    GF_TRY(make_host(s, v->host, e));
    host = host_of(s, v->host);
    if (host != nullptr && v->to_host)
        memset(host, 0xff, bytes_of(s));
    else if (host != nullptr)
        return gf_ladder_fill(static_cast<float *>(host), s->work.n, s->work.stress, e);
    return GF_OK;
}

enum gf_status one_copy(struct ladder_state *s, const struct ladder_version *v, bool *right,
                        struct gf_ladder_run *run, struct gf_error *e)
{
    GF_TRY(prepare_host(s, v, e));
    cudaError_t error = run_once(s, v, run);
    if (error != cudaSuccess)
        return ladder_failed(s, error, 0, e);
    return look_at(s, v, right, e);
}

}

enum gf_status copy_open(struct ladder_state *s, struct gf_error *e)
{
    struct block_of_rows all = {nullptr, {s->work.n, 1, 1}, s->work.n, s->work.n};
    cudaError_t error = guarded_make(&s->in, s->work.n);

    if (error == cudaSuccess)
        error = guarded_make(&s->out, s->work.n);
    if (error == cudaSuccess)
        error = guarded_poison(&s->in, s->stream);
    all.data = s->in.data;
    if (error == cudaSuccess)
        error = fill_samples(&all, s->work.stress, s->stream);
    if (error != cudaSuccess)
        return ladder_failed(s, error, 2 * bytes_of(s), e);
    s->data.in = s->in.data;
    return gf_ladder_parity(s->work.n, s->work.stress, &s->parity, e);
}

enum gf_status copy_run(struct ladder_state *s, const struct ladder_version *v,
                        struct gf_ladder_run *run, struct gf_error *e)
{
    bool intact = false, again = true;
    cudaError_t error;

    GF_TRY(make_room(s, v, s->work.n, e));
    GF_TRY(one_copy(s, v, &run->right, run, e));
    run->same_bits = true;
    for (unsigned i = 1; i < s->work.same_runs; i++) {
        GF_TRY(one_copy(s, v, &again, nullptr, e));
        run->same_bits = run->same_bits && again;
    }
    error = time_version(s, v, run);
    if (error == cudaSuccess)
        error = all_intact(s, &intact);
    if (error != cudaSuccess)
        return ladder_failed(s, error, 0, e);
    /* Within the device each sample is read and written; over the bus it passes once. */
    run->bytes = static_cast<double>(bytes_of(s)) * (v->step == GF_STEP_COPY_DEVICE ? 2 : 1);
    run->error = run->right ? 0 : static_cast<double>(INFINITY);
    run->right = run->right && intact;
    return GF_OK;
}

void copy_close(struct ladder_state *s)
{
    if (s->pinned != nullptr)
        (void)cudaFreeHost(s->pinned);
    gf_free(s->pageable);
}

}
