/* Running the versions of the ladder of reductions.
 *
 * WHAT A RIGHT SUM IS. All samples are positive or 0, so that sum |x| is the sum itself, and a
 * sample that takes part in at most d additions in a row comes into the result with a factor of
 * (1 + e1) ... (1 + ed), |e| <= u = 2^-24. Hence for certain |got - want| <= d u / (1 - d u) want
 * (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). For long chains that
 * allows far too much: d independent roundings with mean 0 come to no more than lambda sqrt(d) u,
 * but for a probability of 2 exp(-lambda^2 / 2) a sample (Higham and Mary, "A new approach to
 * probabilistic rounding error analysis", 2019). With lambda = 10 that is 1e-12 for 2^31 samples.
 * The smaller of both is the tolerance; but the roundings of a chain of 2^17 links or more are not
 * of mean 0: each adds much the same number, which is a few units of the sum's last place, and is
 * rounded much the same way. There only what is certain counts.
 *
 * Even that is more than one sample of 2^30. What it hides the marks show, whose sum has to be
 * right to the last bit (bench/sums.h). */
#include "run.h"

extern "C" {
#include "bench/sums.h"
#include "processors.h"
}

#include <cmath>
#include <cstring>

namespace GF_DEVICE {
namespace {

constexpr double UNIT = 0x1p-24;    /* half an ulp of 1 in binary32 */
constexpr double LAMBDA = 10;
constexpr double MOST_RANDOM = 131072; /* links of a chain whose roundings have mean 0 */

/* Of a result that is not from a chain of binary32 additions, but a double rounded once. */
constexpr double OF_DOUBLE = 0x1p-52;

double tolerance_of(const struct ladder_state *s, const struct ladder_version *v)
{
    double depth, certain;

    if (v->depth == nullptr)
        return OF_DOUBLE;
    depth = static_cast<double>(v->depth(&s->work, s->processors));
    certain = depth * UNIT < 1 ? depth * UNIT / (1 - depth * UNIT) : INFINITY;
    return depth < MOST_RANDOM ? fmin(certain, LAMBDA * sqrt(depth) * UNIT) : certain;
}

/* Opens the version's measurer, where it has one. */
enum gf_status open_measurer(struct ladder_state *s, const struct ladder_version *v,
                             struct gf_measure *measure, struct gf_error *e)
{
    *measure = {};
    measure->type = GF_F32;
    measure->moments = true;
    measure->threads = 1;
    measure->gpu = static_cast<unsigned>(s->device.index);
    s->data.measurer = nullptr;
    return v->measurer != nullptr ? v->measurer->open(measure, &s->data.measurer, e) : GF_OK;
}

void close_measurer(struct ladder_state *s, const struct ladder_version *v)
{
    if (v->measurer != nullptr)
        v->measurer->close(s->data.measurer);
    s->data.measurer = nullptr;
}

/* The sum that the last run left. */
enum gf_status read_sum(struct ladder_state *s, const struct ladder_version *v, double *sum,
                        struct gf_error *e)
{
    if (v->measurer != nullptr) {
        struct gf_measured found;
        GF_TRY(v->measurer->finish(s->data.measurer, &found, e));
        *sum = gf_moments_finish(&found.moments, 0).sum;
        return GF_OK;
    }
    float value;
    cudaError_t error = cudaMemcpy(&value, s->out.data, sizeof value, cudaMemcpyDeviceToHost);
    *sum = static_cast<double>(value);
    return error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
}

/* One run, from poison to its sum; `run` as in run_once(). */
enum gf_status one_sum(struct ladder_state *s, const struct ladder_version *v, double *sum,
                       struct gf_ladder_run *run, struct gf_error *e)
{
    struct gf_measure measure;
    enum gf_status status = open_measurer(s, v, &measure, e);
    cudaError_t error;

    if (status != GF_OK)
        return status;
    error = run_once(s, v, run);
    status = error == cudaSuccess ? read_sum(s, v, sum, e) : ladder_failed(s, error, 0, e);
    close_measurer(s, v);
    return status;
}

/* Makes `in` hold samples or marks, unless it does. */
enum gf_status fill(struct ladder_state *s, bool marks, struct gf_error *e)
{
    struct block_of_rows all = {s->in.data, {s->work.n, 1, 1}, s->work.n, s->work.n};
    cudaError_t error = cudaSuccess;

    if (s->holds == (marks ? s->MARKS : s->SAMPLES))
        return GF_OK;
    error = marks ? fill_marks(s->in.data, s->work.n, s->stream)
                  : fill_samples(&all, s->work.stress, s->stream);
    s->holds = marks ? s->MARKS : s->SAMPLES;
    return error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
}

/* Whether marks come to their sum, to the last bit. */
enum gf_status check_marks(struct ladder_state *s, const struct ladder_version *v, bool *right,
                           struct gf_error *e)
{
    double sum = 0;

    GF_TRY(fill(s, true, e));
    GF_TRY(one_sum(s, v, &sum, nullptr, e));
    *right = sum == s->marks;
    return GF_OK;
}

enum gf_status check_same(struct ladder_state *s, const struct ladder_version *v, double first,
                          bool *same, struct gf_error *e)
{
    double sum = 0;

    *same = true;
    for (unsigned i = 1; i < s->work.same_runs; i++) {
        GF_TRY(one_sum(s, v, &sum, nullptr, e));
        *same = *same && memcmp(&sum, &first, sizeof sum) == 0;
    }
    return GF_OK;
}

}

enum gf_status reduce_open(struct ladder_state *s, struct gf_error *e)
{
    if (s->work.n > UINT64_C(1) << 39)
        return gf_fail(e, GF_EUSAGE, "reduce: at most 2^39 samples");
    cudaError_t error = guarded_make(&s->in, s->work.n);
    if (error == cudaSuccess)
        error = guarded_poison(&s->in, s->stream);
    if (error != cudaSuccess)
        return ladder_failed(s, error, s->work.n * sizeof(float), e);
    s->data.in = s->in.data;
    GF_TRY(gf_ladder_sum(GF_SUM_MARKS, s->work.n, &s->marks, e));
    return gf_ladder_sum(s->work.stress ? GF_SUM_STRESS : GF_SUM_SAMPLES, s->work.n, &s->sum, e);
}

enum gf_status reduce_run(struct ladder_state *s, const struct ladder_version *v,
                          struct gf_ladder_run *run, struct gf_error *e)
{
    double sum = 0;
    bool exact = false, intact = false;
    struct gf_measure measure;
    enum gf_status status;

    GF_TRY(make_room(s, v, 1, e));
    GF_TRY(check_marks(s, v, &exact, e));
    GF_TRY(fill(s, false, e));
    GF_TRY(one_sum(s, v, &sum, run, e));
    GF_TRY(check_same(s, v, sum, &run->same_bits, e));

    GF_TRY(open_measurer(s, v, &measure, e));
    cudaError_t error = time_version(s, v, run);
    close_measurer(s, v);
    if (error == cudaSuccess)
        error = all_intact(s, &intact);
    status = error == cudaSuccess ? GF_OK : ladder_failed(s, error, 0, e);
    run->bytes = static_cast<double>(s->work.n) * sizeof(float) + sizeof(float);
    run->flops = static_cast<double>(s->work.n);
    run->error = gf_relative_error(sum, s->sum);
    run->tolerance = tolerance_of(s, v);
    run->right = exact && intact && run->error <= run->tolerance;
    return status;
}

}
