/* Times of versions, by the device's own clock. GPUs alone. */
#include "run.h"

#include <algorithm>
#include <vector>

namespace GF_DEVICE {
namespace {

/* Before the first time that counts: until clocks have risen and caches are as they will be. */
constexpr float WARM_MILLISECONDS = 30;
constexpr unsigned LEAST_WARM = 2, MOST_WARM = 100;

/* About 100 us. What is queued behind it begins without waiting for the host. */
__global__ void hold()
{
    long long begin = clock64();
    while (clock64() - begin < 200000)
        ;
}

struct clock {
    cudaEvent_t begin, end;
};

cudaError_t time_one(struct ladder_state *s, const struct ladder_version *v,
                     const struct clock *clock, float *milliseconds)
{
    struct launched first;

    GF_CALL(launch(hold, dim3(1), dim3(1), 0, s->stream));
    GF_CALL(cudaEventRecord(clock->begin, s->stream));
    GF_CALL(v->run(&s->data, s->stream, &first));
    GF_CALL(cudaEventRecord(clock->end, s->stream));
    GF_CALL(cudaEventSynchronize(clock->end));
    return cudaEventElapsedTime(milliseconds, clock->begin, clock->end);
}

cudaError_t time_all(struct ladder_state *s, const struct ladder_version *v,
                     const struct clock *clock, std::vector<float> *times)
{
    float warm = 0, one;

    for (unsigned i = 0; i < LEAST_WARM || (i < MOST_WARM && warm < WARM_MILLISECONDS); i++) {
        GF_CALL(time_one(s, v, clock, &one));
        warm += one;
    }
    for (float &time : *times) {
        if (gf_signal_pending() != 0)
            return cudaErrorUnknown; /* ladder_failed() knows what it means */
        GF_CALL(time_one(s, v, clock, &time));
    }
    return cudaSuccess;
}

}

cudaError_t time_version(struct ladder_state *s, const struct ladder_version *v,
                         struct gf_ladder_run *run)
{
    struct clock clock = {};
    cudaError_t error;

    if (s->work.repeats == 0)
        return cudaSuccess;
    std::vector<float> times(s->work.repeats);
    error = cudaEventCreate(&clock.begin);
    if (error == cudaSuccess)
        error = cudaEventCreate(&clock.end);
    if (error == cudaSuccess)
        error = time_all(s, v, &clock, &times);
    for (cudaEvent_t event : {clock.begin, clock.end})
        if (event != nullptr)
            (void)cudaEventDestroy(event);
    GF_CALL(error);
    std::sort(times.begin(), times.end());
    run->seconds = static_cast<double>(times[times.size() / 2]) * 1e-3;
    run->fastest = static_cast<double>(times.front()) * 1e-3;
    run->slowest = static_cast<double>(times.back()) * 1e-3;
    return cudaSuccess;
}

}
