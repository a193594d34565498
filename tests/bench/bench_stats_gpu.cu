/* The statistics' passes of cuda/ by themselves: checked against the CPU, to the last bit, and
 * timed on samples that are in device memory already, beside a plain read and CUB.
 *
 *   bench_stats_gpu [--rows TEXT] [--repeat N] [--small]
 *
 * --rows: only those whose name holds TEXT. --small: checks a few samples and times nothing. One
 * line of JSON a result. Exit status 1 when something differs. */
#include "gpu_timer.cuh"
#include "measure.h"

#include <cub/cub.cuh>

#include <string>
#include <vector>

namespace {

using GF_DEVICE::measure_queue;

struct options {
    const char *rows = "";
    int repeats = 20;
    bool small = false;
};

[[noreturn]] void give_up(const struct gf_error &e)
{
    fprintf(stderr, "%s\n", e.text);
    exit(1);
}

/* What is asked for of one kind of samples, and room for the counts. */
struct question {
    struct gf_measure measure = {};
    std::vector<uint64_t> prefix, keys;

    question(enum gf_type type, bool moments, const std::vector<uint64_t> &prefixes, unsigned shift)
        : prefix(prefixes), keys(prefixes.size() * GF_KEY_BINS)
    {
        measure.type = type;
        measure.moments = moments;
        measure.threads = 16;
        measure.keys.prefixes = static_cast<unsigned>(prefix.size());
        measure.keys.prefix = prefix.data();
        measure.keys.shift = shift;
        measure.keys.count = keys.data();
    }
    question(const question &) = delete;
    question &operator=(const question &) = delete;
};

void *opened(const struct gf_measurer &m, const struct question &q)
{
    struct gf_error e = {};
    void *state = nullptr;
    if (m.open(&q.measure, &state, &e) != GF_OK)
        give_up(e);
    return state;
}

struct gf_measured finished(const struct gf_measurer &m, void *state)
{
    struct gf_error e = {};
    struct gf_measured found = {};
    if (m.finish(state, &found, &e) != GF_OK)
        give_up(e);
    m.close(state);
    return found;
}

void queue(void *state, const void *samples, uint64_t count)
{
    GPU(measure_queue(state, samples, count, nullptr));
}

bool same(const struct gf_measured &a, const struct gf_measured &b, bool is_float)
{
    bool fine = a.n == b.n && a.nan == b.nan && a.plus_inf == b.plus_inf &&
                a.minus_inf == b.minus_inf && a.min_at == b.min_at && a.max_at == b.max_at &&
                memcmp(&a.min, &b.min, sizeof a.min) == 0 &&
                memcmp(&a.max, &b.max, sizeof a.max) == 0;
    if (is_float)
        return fine && memcmp(&a.moments, &b.moments, sizeof a.moments) == 0;
    return fine && memcmp(&a.sum, &b.sum, sizeof a.sum) == 0 &&
           memcmp(&a.squares, &b.squares, sizeof a.squares) == 0;
}

/* Whether the first `count` samples measure the same on both devices. */
bool checked(const struct question &q, const void *samples, uint64_t count)
{
    struct question gpu(q.measure.type, q.measure.moments, q.prefix, q.measure.keys.shift);
    struct question cpu(q.measure.type, q.measure.moments, q.prefix, q.measure.keys.shift);
    std::vector<char> copy(count * gf_type_bytes(q.measure.type));
    struct gf_error e = {};
    void *state = opened(gf_measurer_cuda, gpu);

    queue(state, samples, count);
    struct gf_measured got = finished(gf_measurer_cuda, state);
    GPU(cudaMemcpy(copy.data(), samples, copy.size(), cudaMemcpyDeviceToHost));
    state = opened(gf_measurer_cpu, cpu);
    if (gf_measurer_cpu.feed(state, copy.data(), count, &e) != GF_OK)
        give_up(e);
    struct gf_measured want = finished(gf_measurer_cpu, state);
    return gpu.keys == cpu.keys &&
           (!q.measure.moments || same(got, want, gf_type_row(q.measure.type)->is_float));
}

/* One row: a line, and whether it was right. */
bool run_row(const char *name, const struct question &q, const void *samples, uint64_t count,
             const struct options &o)
{
    struct gpu_time t = {};

    if (strstr(name, o.rows) == nullptr)
        return true;
    bool fine = checked(q, samples, count < (1 << 25) + 12345 ? count : (1 << 25) + 12345);
    if (!o.small && fine) {
        void *state = opened(gf_measurer_cuda, q);
        t = timed([&] { queue(state, samples, count); }, o.repeats);
        gf_measurer_cuda.close(state);
    }
    print_result("gpufilt", "stats", name, t,
                 static_cast<double>(count * gf_type_bytes(q.measure.type)), 0,
                 fine ? "same" : "WRONG");
    return fine;
}

/* ---- samples ---- */

template <typename T> T *random_samples(uint64_t count)
{
    T *samples;
    GPU(cudaMalloc(&samples, count * sizeof(T)));
    fill_random(samples, count);
    return samples;
}

/* All bytes 0x11. */
void *constant_samples(uint64_t bytes)
{
    void *samples;
    GPU(cudaMalloc(&samples, bytes));
    GPU(cudaMemset(samples, 0x11, bytes));
    return samples;
}

/* x * scale + offset for floats; the bits of binary16 in [0, 1). */
__global__ void move_samples(float *samples, size_t count, float scale, float offset)
{
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        samples[i] = samples[i] * scale + offset;
}

__global__ void make_halves(uint16_t *samples, size_t count)
{
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        samples[i] = static_cast<uint16_t>(samples[i] % 0x3c00);
}

/* The prefixes of some order statistics, after the highest 16 bits have been counted. */
std::vector<uint64_t> prefixes_of(enum gf_type type, const void *samples, uint64_t count)
{
    struct question q(type, false, {0}, 8 * gf_type_bytes(type) - 16);
    void *state = opened(gf_measurer_cuda, q);
    std::vector<uint64_t> prefixes;

    queue(state, samples, count);
    finished(gf_measurer_cuda, state);
    for (double share : {0.01, 0.5, 0.99}) {
        uint64_t rank = static_cast<uint64_t>(share * static_cast<double>(count - 1)), below = 0;
        size_t bin = 0;
        while (below + q.keys[bin] <= rank)
            below += q.keys[bin++];
        if (prefixes.empty() || prefixes.back() != bin)
            prefixes.push_back(bin);
    }
    return prefixes;
}

/* ---- peers ---- */

__global__ void read_all(const uint4 *from, size_t count, unsigned *to)
{
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned all = 0;

    for (; i + 3 * step < count; i += 4 * step) {
        uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        all ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
        all ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
    for (; i < count; i += step)
        all ^= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
    if (all == 0x12345678) /* so that the loads stay */
        *to = all;
}

void run_read(const void *samples, uint64_t bytes, const struct options &o)
{
    unsigned *to;

    GPU(cudaMalloc(&to, sizeof *to));
    for (int blocks : {132 * 8, 132 * 16, 132 * 64}) {
        struct gpu_time t = timed([=] {
            read_all<<<blocks, 256>>>(static_cast<const uint4 *>(samples), bytes / 16, to);
            GPU(cudaGetLastError());
        }, o.repeats);
        print_result("read", "stats", "plain read", t, static_cast<double>(bytes), 0, "");
    }
    GPU(cudaFree(to));
}

/* Times one of CUB's operations: call(temporary, bytes) as CUB has it. */
template <typename Call>
void run_cub(const char *name, uint64_t bytes, const struct options &o, Call call)
{
    void *temporary = nullptr;
    size_t size = 0;

    if (strstr(name, o.rows) == nullptr)
        return;
    GPU(call(temporary, size));
    GPU(cudaMalloc(&temporary, size));
    struct gpu_time t = timed([&] { GPU(call(temporary, size)); }, o.repeats);
    print_result("cub", "stats", name, t, static_cast<double>(bytes), 0, "");
    GPU(cudaFree(temporary));
}

template <typename T>
void run_cub_sum(const char *name, const T *samples, uint64_t count, const struct options &o)
{
    T *sum;

    GPU(cudaMalloc(&sum, sizeof *sum));
    run_cub(name, count * sizeof(T), o, [=](void *temporary, size_t &size) {
        return cub::DeviceReduce::Sum(temporary, size, samples, sum, static_cast<int64_t>(count));
    });
    GPU(cudaFree(sum));
}

void run_cub_histogram(const char *name, const uint16_t *samples, uint64_t count,
                       const struct options &o)
{
    unsigned *bins;

    GPU(cudaMalloc(&bins, GF_KEY_BINS * sizeof *bins));
    run_cub(name, count * sizeof *samples, o, [=](void *temporary, size_t &size) {
        return cub::DeviceHistogram::HistogramEven(temporary, size, samples, bins,
                                                   GF_KEY_BINS + 1, 0, GF_KEY_BINS,
                                                   static_cast<int64_t>(count));
    });
    GPU(cudaFree(bins));
}

/* ---- rows ---- */

bool run_f32(uint64_t count, const struct options &o)
{
    float *samples = random_samples<float>(count);
    struct question moments(GF_F32, true, {}, 0), top(GF_F32, false, {0}, 16);
    bool fine = run_row("moments f32", moments, samples, count, o);

    if (!o.small) {
        fine = run_row("moments f32, 2^27", moments, samples, count / 8, o) && fine;
        run_read(samples, count * sizeof *samples, o);
        run_cub_sum("moments f32", samples, count, o);
        run_cub_sum("moments f32, 2^27", samples, count / 8, o);
    }
    fine = run_row("keys f32, first pass", top, samples, count, o) && fine;
    struct question below(GF_F32, false, prefixes_of(GF_F32, samples, count), 0);
    fine = run_row("keys f32, second pass of 3 percentiles", below, samples, count, o) && fine;
    move_samples<<<2048, 256>>>(samples, count, 2, -1);
    GPU(cudaGetLastError());
    fine = run_row("moments f32, both signs", moments, samples, count, o) && fine;
    move_samples<<<2048, 256>>>(samples, count, 1, 1000);
    GPU(cudaGetLastError());
    fine = run_row("moments f32, far from 0", moments, samples, count, o) && fine;
    GPU(cudaFree(samples));
    return fine;
}

bool run_f16(uint64_t count, const struct options &o)
{
    uint16_t *samples = random_samples<uint16_t>(count);
    struct question moments(GF_F16, true, {}, 0);

    make_halves<<<2048, 256>>>(samples, count);
    GPU(cudaGetLastError());
    bool fine = run_row("moments f16", moments, samples, count, o);
    GPU(cudaFree(samples));
    return fine;
}

template <typename T>
bool run_moments(const char *name, enum gf_type type, uint64_t count, const struct options &o)
{
    T *samples = random_samples<T>(count);
    struct question q(type, true, {}, 0);
    bool fine = run_row(name, q, samples, count, o);

    GPU(cudaFree(samples));
    return fine;
}

bool run_u16(uint64_t count, const struct options &o)
{
    uint16_t *samples = random_samples<uint16_t>(count);
    struct question moments(GF_U16, true, {}, 0), keys(GF_U16, false, {0}, 0);
    struct question both(GF_U16, true, {0}, 0);
    bool fine = run_row("moments u16", moments, samples, count, o);

    fine = run_row("keys u16", keys, samples, count, o) && fine;
    if (!o.small)
        run_cub_histogram("keys u16", samples, count, o);
    fine = run_row("moments and keys u16", both, samples, count, o) && fine;
    GPU(cudaFree(samples));
    return fine;
}

bool run_constant(uint64_t count, const struct options &o)
{
    void *samples = constant_samples(count * sizeof(float));
    struct question narrow(GF_U16, false, {0}, 0), top(GF_F32, false, {0}, 16);
    struct question moments(GF_F32, true, {}, 0);
    bool fine = run_row("keys u16, constant", narrow, samples, count, o);

    if (!o.small)
        run_cub_histogram("keys u16, constant", static_cast<const uint16_t *>(samples), count, o);
    fine = run_row("keys f32, first pass, constant", top, samples, count, o) && fine;
    struct question below(GF_F32, false, prefixes_of(GF_F32, samples, count), 0);
    fine = run_row("keys f32, second pass, constant", below, samples, count, o) && fine;
    fine = run_row("moments f32, constant", moments, samples, count, o) && fine;
    GPU(cudaFree(samples));
    return fine;
}

}

int main(int argc, char **argv)
{
    struct options o;
    bool fine = true;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0) {
            o.small = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--rows") == 0) {
            o.rows = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--repeat") == 0) {
            o.repeats = atoi(argv[++i]);
        } else {
            fprintf(stderr, "usage: bench_stats_gpu [--rows TEXT] [--repeat N] [--small]\n");
            return 2;
        }
    }
    const uint64_t count = o.small ? 100003 : UINT64_C(1) << 30;
    fine = run_f32(count, o) && fine;
    fine = run_moments<double>("moments f64", GF_F64, count, o) && fine;
    fine = run_moments<uint8_t>("moments u8", GF_U8, count, o) && fine;
    fine = run_f16(count, o) && fine;
    fine = run_moments<float>("moments u32", GF_U32, count, o) && fine;
    fine = run_u16(count, o) && fine;
    fine = run_constant(count, o) && fine;
    return fine ? 0 : 1;
}
