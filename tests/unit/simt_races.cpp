/* Random programs of accesses and barriers: a race is found exactly where a plain opinion, which
 * knows the whole past of every thread, says there is one. */
#include "simt_test.h"

#include <cstdlib>
#include <cstring>

namespace GF_DEVICE {

constexpr int length = 20, threads = 48, bytes = 16;

struct step {
    enum { BARRIER, SYNCWARP, READ, WRITE, COUNT } what;
    int warp;                   /* SYNCWARP */
    unsigned mask;
    int thread, byte, size;     /* the others */
};
struct program {
    struct step steps[length];
};

template <typename T> __device__ inline void touch(const struct step &s, int *sink)
{
    T *p = reinterpret_cast<T *>(shared_memory<char>() + s.byte);

    if (s.what == step::WRITE)
        *p = static_cast<T>(s.thread);
    else
        *sink += static_cast<int>(*p);
}

static __global__ void run(const struct program *p, int *out)
{
    int me = static_cast<int>(threadIdx.x), sink = 0;

    if (me < bytes)
        shared_memory<char>()[me] = 0;
    __syncthreads();
    for (int i = 0; i < length; i++) {
        struct step s = p->steps[i];
        if (s.what == step::BARRIER) {
            __syncthreads();
        } else if (s.what == step::SYNCWARP) {
            if (me / 32 == s.warp && (s.mask >> me % 32 & 1))
                __syncwarp(s.mask);
        } else if (s.thread != me) {
            continue;
        } else if (s.what == step::COUNT) {
            atomicAdd(shared_memory<int>() + s.byte / 4, 1);
        } else if (s.size == 1) {
            touch<unsigned char>(s, &sink);
        } else if (s.size == 2) {
            touch<unsigned short>(s, &sink);
        } else if (s.size == 4) {
            touch<unsigned>(s, &sink);
        } else {
            touch<unsigned long long>(s, &sink);
        }
    }
    out[me] = sink;
}

/* ---- the opinion ---- */

/* knows[t][i]: thread t comes after step i. */
static bool knows[threads][length];

static void meet(const bool *who)
{
    bool all[length] = {};

    for (int t = 0; t < threads; t++)
        for (int i = 0; i < length; i++)
            all[i] = all[i] || (who[t] && knows[t][i]);
    for (int t = 0; t < threads; t++)
        if (who[t])
            memcpy(knows[t], all, sizeof all);
}

static bool conflict(const struct step &a, const struct step &b)
{
    bool apart = a.byte + a.size <= b.byte || b.byte + b.size <= a.byte;
    bool reads = a.what == step::READ && b.what == step::READ;
    bool counts = a.what == step::COUNT && b.what == step::COUNT;

    return a.what >= step::READ && b.what >= step::READ && a.thread != b.thread && !apart &&
           !reads && !counts;
}

static bool races(const struct program *p)
{
    bool found = false;

    memset(knows, 0, sizeof knows);
    for (int i = 0; i < length; i++) {
        const struct step &s = p->steps[i];
        bool who[threads];
        for (int t = 0; t < threads; t++)
            who[t] = s.what == step::BARRIER ||
                     (t / 32 == s.warp && (s.mask >> t % 32 & 1));
        if (s.what <= step::SYNCWARP) {
            meet(who);
            continue;
        }
        for (int j = 0; j < i; j++)
            found = found || (conflict(p->steps[j], s) && !knows[s.thread][j]);
        knows[s.thread][i] = true;
    }
    return found;
}

/* ---- random programs ---- */

static int below(int n) { return rand() % n; }

/* Few threads and few bytes, so that they meet; most barriers hold those that are used. */
static struct program random_program()
{
    static const int used[] = {0, 1, 31, 5, 32, 40};
    struct program p;

    memset(&p, 0, sizeof p);
    for (struct step &s : p.steps) {
        int kind = below(20);
        s.what = kind < 2 ? step::BARRIER : kind < 12 ? step::SYNCWARP : kind < 16 ? step::READ
                 : kind < 19 ? step::WRITE : step::COUNT;
        s.thread = used[below(below(2) ? 6 : 3)];
        s.size = s.what == step::COUNT ? 4 : 1 << below(4);
        s.byte = below(bytes / s.size) * s.size;
        s.warp = below(2);
        unsigned exists = s.warp ? 0xffffu : 0xffffffffu;
        unsigned some = 0;
        for (int t : used)
            if (t / 32 == s.warp && below(3))
                some |= 1u << t % 32;
        s.mask = below(3) || !some ? exists : some;
    }
    return p;
}

}

using namespace GF_DEVICE;

void test_random_races()
{
    int wrong = 0, with = 0, total = 2000;

    srand(20261);
    for (int i = 0; i < total; i++) {
        struct program p = random_program(), *device;
        int *out;
        bool expected = races(&p);
        cudaMalloc(&device, sizeof p);
        cudaMalloc(&out, threads * sizeof *out);
        cudaMemcpy(device, &p, sizeof p, cudaMemcpyHostToDevice);
        launch(run, 1, threads, bytes, nullptr, device, out);
        bool found = cudaDeviceSynchronize() != cudaSuccess;
        if (found && !strstr(simt::last_report(), "race on shared memory"))
            wrong++;
        wrong += found != expected;
        with += expected;
        cudaFree(device);
        cudaFree(out);
        if (found)
            cudaDeviceReset();
    }
    checked(with > total / 10 && with < total * 9 / 10,
            "of %d random programs some race and some do not (%d)", total, with);
    checked(wrong == 0, "races are found where they are: %d wrong", wrong);
}
