/* Single ideas, counted on the simt device, for which alone this is compiled. */
#include "../errors.h"
#include "version.h"

#include "control.h"
#include "count.h"

#include <cstdio>

extern "C" {
#include "bench/simulate.h"
}

namespace GF_DEVICE {
namespace {

constexpr unsigned WARP = 32, BLOCK = 256, MOST_THREADS = 1024;

enum gf_status fails(struct gf_error *e, cudaError_t error)
{
    (void)cudaGetLastError();
    return gf_fail(e, error == cudaErrorMemoryAllocation ? GF_EMEMORY : GF_EDEVICE, "simt: %s",
                   error == cudaErrorLaunchFailure ? simt::last_report()
                                                   : cudaGetErrorString(error));
}

enum gf_status is_wrong(struct gf_error *e, const char *what)
{
    return gf_fail(e, GF_EDEVICE, "simt: the result of %s is wrong", what);
}

/* Device memory for as long as a function runs. */
class array {
public:
    explicit array(size_t bytes) { status = cudaMalloc(&memory, bytes); }
    ~array() { (void)cudaFree(memory); }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    template <typename T> T *of() const { return static_cast<T *>(memory); }
    cudaError_t failed() const { return status; }

private:
    void *memory = nullptr;
    cudaError_t status;
};

/* ---- rounds of a reduction ---- */

cudaError_t sum_block(enum gf_ladder_step_id form, unsigned threads, float *sum)
{
    static float host[2 * MOST_THREADS];
    array in(sizeof host), out(sizeof *sum);

    for (unsigned i = 0; i < 2 * MOST_THREADS; i++)
        host[i] = static_cast<float>(i);
    GF_CALL(in.failed());
    GF_CALL(out.failed());
    GF_CALL(cudaMemcpy(in.of<float>(), host, sizeof host, cudaMemcpyHostToDevice));
    GF_CALL(reduce_one_block(form, threads, in.of<float>(), out.of<float>(), nullptr));
    return cudaMemcpy(sum, out.of<float>(), sizeof *sum, cudaMemcpyDeviceToHost);
}

/* A round is an interval in which threads read words and write some of them: each that writes has
 * added two words, and those lie as far apart as it reached. */
void add_round(struct gf_rounds *rounds, const struct simt::interval *interval)
{
    if (interval->loads == 0 || interval->stores == 0 || rounds->count == GF_MOST_ROUNDS)
        return;
    struct gf_round *r = &rounds->round[rounds->count++];
    r->stride = static_cast<uint32_t>(interval->reach / sizeof(float));
    r->active = interval->threads;
    r->warps = interval->warps;
    r->useful = static_cast<uint32_t>(interval->stores);
    r->slots = static_cast<uint32_t>(WARP * interval->store_requests);
}

/* ---- banks of shared memory ---- */

/* A warp reads every stride-th word. Everything it reads was written, at a stride of 1, in the
 * interval before. */
template <typename Word> __global__ void read_words(Word *out, unsigned stride, unsigned words)
{
    Word *s = shared_memory<Word>();

    for (unsigned i = threadIdx.x; i < words; i += WARP)
        s[i] = static_cast<Word>(i);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * stride];
}

template <typename Word> cudaError_t read_bank(unsigned stride, bool *right)
{
    unsigned words = (WARP - 1) * stride + 1;
    Word host[WARP];
    array out(sizeof host);

    GF_CALL(out.failed());
    GF_CALL(launch(read_words<Word>, dim3(1), dim3(WARP), words * sizeof(Word), nullptr,
                   out.of<Word>(), stride, words));
    GF_CALL(cudaMemcpy(host, out.of<Word>(), sizeof host, cudaMemcpyDeviceToHost));
    *right = true;
    for (unsigned i = 0; i < WARP; i++)
        *right = *right && host[i] == i * stride;
    return cudaSuccess;
}

const struct {
    const char *name;
    unsigned stride, bytes;
} patterns[GF_BANK_PATTERNS] = {
    {"stride 1", 1, 4}, {"stride 2", 2, 4},   {"stride 4", 4, 4},
    {"stride 8", 8, 4}, {"stride 16", 16, 4}, {"stride 32", 32, 4},
    {"stride 33", 33, 4}, {"stride 3", 3, 4}, {"broadcast", 0, 4},
    {"pairs", 1, 8},
};

/* ---- reversal of a block ---- */

template <bool BARRIER> __global__ void reverse(unsigned *data)
{
    unsigned *s = shared_memory<unsigned>();

    s[threadIdx.x] = data[threadIdx.x];
    if (BARRIER)
        __syncthreads();
    data[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

cudaError_t run_reversal(bool barrier, unsigned host[BLOCK])
{
    constexpr size_t bytes = BLOCK * sizeof *host;
    array data(bytes);

    GF_CALL(data.failed());
    GF_CALL(cudaMemcpy(data.of<unsigned>(), host, bytes, cudaMemcpyHostToDevice));
    GF_CALL(launch(barrier ? reverse<true> : reverse<false>, dim3(1), dim3(BLOCK), bytes, nullptr,
                   data.of<unsigned>()));
    return cudaMemcpy(host, data.of<unsigned>(), bytes, cudaMemcpyDeviceToHost);
}

}
}

using namespace GF_DEVICE;

extern "C" enum gf_status gf_simulate_rounds(enum gf_ladder_step_id form, unsigned threads,
                                             struct gf_rounds *rounds, struct gf_error *e)
{
    static struct simt::interval intervals[GF_MOST_ROUNDS + 2];
    unsigned samples = form == GF_STEP_REDUCE_PAIRS ? 2 * threads : threads;
    struct simt::counts counts;
    float sum = 0;

    *rounds = {};
    simt::ignore_visible();
    simt::count_begin(intervals, GF_MOST_ROUNDS + 2);
    cudaError_t error = sum_block(form, threads, &sum);
    size_t count = simt::count_end(&counts);
    if (error != cudaSuccess)
        return fails(e, error);
    /* 0 + 1 + ... as halves of even numbers below 2^24: exact. */
    if (!(sum == static_cast<float>(samples) * static_cast<float>(samples - 1) / 2))
        return is_wrong(e, gf_ladder_steps[form].name);
    for (size_t i = 0; i < count; i++)
        add_round(rounds, &intervals[i]);
    return GF_OK;
}

extern "C" enum gf_status gf_simulate_banks(struct gf_bank_pattern pattern[GF_BANK_PATTERNS],
                                            struct gf_error *e)
{
    simt::ignore_visible();
    for (unsigned i = 0; i < GF_BANK_PATTERNS; i++) {
        struct simt::interval intervals[2];
        struct simt::counts counts;
        bool right = false;
        simt::count_begin(intervals, 2);
        cudaError_t error = patterns[i].bytes == 8
                                ? read_bank<unsigned long long>(patterns[i].stride, &right)
                                : read_bank<unsigned>(patterns[i].stride, &right);
        (void)simt::count_end(&counts);
        if (error != cudaSuccess)
            return fails(e, error);
        if (!right)
            return is_wrong(e, patterns[i].name);
        pattern[i] = {patterns[i].name, intervals[1].requests, intervals[1].wavefronts};
    }
    return GF_OK;
}

extern "C" enum gf_status gf_simulate_reversal(bool barrier, struct gf_reversal *r,
                                               struct gf_error *e)
{
    unsigned host[BLOCK];

    *r = {};
    for (unsigned i = 0; i < BLOCK; i++)
        host[i] = i;
    simt::ignore_visible();
    simt::clear_report();
    simt::print_failures(barrier);
    cudaError_t error = run_reversal(barrier, host);
    simt::print_failures(true);
    if (!barrier && error == cudaErrorLaunchFailure && *simt::last_report()) {
        simt::recover();
        snprintf(r->report, sizeof r->report, "%s", simt::last_report());
        return GF_OK;
    }
    if (error != cudaSuccess)
        return fails(e, error);
    r->right = true;
    for (unsigned i = 0; i < BLOCK; i++)
        r->right = r->right && host[i] == BLOCK - 1 - i;
    return GF_OK;
}
